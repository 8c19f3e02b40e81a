//! The installation of a scheme: commands, or the reason why there are none.
use mousehole_sim::link_layer::{LinkLayer, Wire};
use mousehole_sim::scenario::install::{Installation, Line, Place, describe, plan};
use mousehole_sim::scenario::{Part, SCHEMES, Scheme};
use mousehole_sim::units::Rate;

const LINE: Line =
    Line { rate: Rate(5_000_000), buffer_packets: 50, wire: Wire::plain(0), is_upload: false, burst: None };

/// Returns the plan to install a scheme on a line; panics if the scheme is wrong.
///
/// # Errors
/// The reason why the scheme cannot be installed.
fn plan_install(scheme: &str, line: Line) -> Result<Installation, String> {
    plan(&Scheme::parse(scheme).unwrap_or_else(|error| panic!("{error}")), &line)
}

/// Returns the lines that install a scheme; panics if it cannot be installed.
fn install_lines(scheme: &str) -> Vec<String> {
    plan_install(scheme, LINE).unwrap_or_else(|reason| panic!("{scheme}: {reason}")).lines
}

/// Returns the reason why a scheme cannot be installed; panics if it can.
fn refusal_reason(scheme: &str) -> String {
    plan_install(scheme, LINE).expect_err(scheme)
}

#[test]
fn qdisc__is_written_as_tc_reads_it() {
    for (scheme, expected) in [
        ("cake", "root cake bandwidth 5mbit rtt 100ms besteffort triple-isolate"),
        ("cake(hosts=flows,rtt=50ms)", "root cake bandwidth 5mbit rtt 50ms besteffort flows"),
        ("cake(shape=95)", "root cake bandwidth 4750kbit rtt 100ms besteffort triple-isolate"),
        ("cake(ack_filter=ack-filter)", "besteffort triple-isolate ack-filter"),
        (
            "cake(ack_filter=ack-filter-aggressive,limit=1MB)",
            "triple-isolate ack-filter-aggressive memlimit 1000000",
        ),
        ("cake(limit=1MB)", "besteffort triple-isolate memlimit 1000000"),
        ("droptail", "pfifo limit 50"),
        (
            "fq-codel(ecn=false)",
            "fq_codel limit 10240 flows 1024 quantum 1500 target 5ms interval 100ms noecn",
        ),
        ("codel(limit=15kB)", "codel limit 10 target 5ms interval 100ms ecn"),
        ("pie", "pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 ecn"),
        ("sfq(perturb=10)", "sfq limit 127 flows 128 divisor 1024 depth 127 quantum 1500 perturb 10"),
        (
            "red(min=16%,max=48%,gentle=false,wait=false)",
            "red limit 75000 min 12000 max 36000 avpkt 1500 burst 14 bandwidth 5mbit probability 0.1",
        ),
    ] {
        let found = install_lines(scheme);
        assert!(found.last().unwrap().ends_with(expected), "{scheme}: {found:?}");
    }
    // Five packets are 12 ms at 5 Mbit/s, more than half of the delay of 5 ms.
    assert!(
        install_lines("ared")[1]
            .contains("min 7500 max 22500 avpkt 1500 burst 9 bandwidth 5mbit probability 0.1")
    );
    assert!(install_lines("ared")[1].ends_with(" adaptive"));
}

/// Every scheme that `mousehole-live` runs says so, whatever it differs in.
#[test]
fn live__runs_what_the_papers_have() {
    for (scheme, expected) in [
        ("rio-ps", "mousehole-live up DEV --rate 5mbit --buffer 50p --scheme rio-ps"),
        ("pias", "mousehole-live up DEV --rate 5mbit --buffer 50p --scheme pias"),
        ("lfp", "mousehole-live up DEV --rate 5mbit --buffer 50p --scheme lfp"),
        ("appl", "mousehole-live up DEV --rate 5mbit --buffer 50p --scheme appl"),
        ("er-tbm", "mousehole-live up DEV --rate 5mbit --buffer 50p --scheme er-tbm"),
        ("sfd|priority", "mousehole-live up DEV --rate 5mbit --buffer 50p --scheme 'sfd|priority'"),
        ("policer|red", "mousehole-live up DEV --rate 5mbit --buffer 50p --scheme 'policer|red'"),
        ("shred", "mousehole-live host DEV --rate 5mbit --buffer 50p --scheme shred"),
        ("tcp-ds(high=2,wq=0.1)", "mousehole-live host DEV --scheme 'tcp-ds(high=2)'"),
        ("tcp-ds(high_rate=5%)", "mousehole-live host DEV --rate 5mbit --scheme 'tcp-ds(high_rate=5%)'"),
    ] {
        assert_eq!(install_lines(scheme)[0], expected);
    }
    let shared = "# not quite as it was simulated: each class has a buffer of its own, so nothing is shared or pushed out";
    assert_eq!(install_lines("pias")[1], shared);
    assert_eq!(install_lines("sfd|priority(shared=false)").len(), 1, "that is what classes of HTB are");
    assert!(
        install_lines("lfp(shared=false)")[1]
            .ends_with("each class drops what does not fit its buffer: no RED")
    );
    assert!(
        install_lines("tcp-ds")[1]
            .starts_with("# a queue at the bottleneck must distinguish AF11, AF12 and AF13")
    );
    let up = plan_install("rio-ps", Line { wire: Wire::plain(26), ..LINE }).unwrap();
    assert!(up.lines[0].contains(" --buffer 50p --overhead 26 --scheme "));
    assert!(
        !plan_install("rio-ps", Line { wire: Wire::plain(8), ..LINE }).unwrap().lines[0]
            .contains("--overhead")
    );
    assert_eq!(up.needs, ["Linux 6.1 or later and mousehole-live"]);
}

#[test]
fn mark__stands_before_what_linux_has() {
    let found = install_lines("sfd(th=30kB)|cake(tins=bulk)");
    assert!(found[0].starts_with("tc qdisc replace dev DEV root cake bandwidth 5mbit rtt 100ms diffserv3"));
    assert_eq!(found[1..], ["mousehole-live mark DEV --marker 'sfd(th=30kB)'"]);
    let found = install_lines("demotion(first=10kB,second=1MB)|cake(tins=colour)");
    assert!(found[0].ends_with("diffserv3 triple-isolate wash"), "the marks are for CAKE alone");
    // EF, the default and LE: Voice, Best Effort and Bulk in tc-cake(8)'s diffserv3.
    let mark = "mousehole-live mark DEV --marker 'demotion(first=10kB,second=1MB)' --via dscp --dscp 46,0,1";
    assert_eq!(found[1], mark);
    let idle = install_lines("lfp|fq-codel");
    assert_eq!(idle[2], "mousehole-live mark DEV --rate 5mbit --marker lfp --via dscp --dscp 1");
    assert_eq!(idle[3], "# the queue fq-codel ignores colours, so that the marker before it changes nothing");
    assert_eq!(
        plan_install("sfd|cake(tins=bulk)", LINE).unwrap().needs,
        ["Linux 4.19 or later with the queue discipline cake", "Linux 6.1 or later and mousehole-live"]
    );
}

/// A firewall counts as the marker does where that never forgets and never promotes.
#[test]
fn firewall__does_as_its_marker() {
    for scheme in ["ct-cake", "ct-cake(th=30kB)", "sfd(th=30kB,timeout=never)|cake(tins=bulk)"] {
        let found = install_lines(scheme);
        assert!(found[0].contains("ct reply bytes '>' 30000 ip dscp set 1 "), "{scheme}: {found:?}");
        assert!(found[1].contains("cake bandwidth 5mbit rtt 100ms diffserv3"));
        assert!(found[2].starts_with("# or in the place of the rule: mousehole-live mark DEV --marker "));
    }
    assert!(
        plan_install("ct-cake", Line { is_upload: true, ..LINE }).unwrap().lines[0]
            .contains("ct original bytes")
    );
    assert!(
        install_lines("sfd(timeout=never,mode=total,th=20p)")[0]
            .contains("ct reply packets '>' 20 ip dscp set 1 ")
    );
    for forgets in ["sfd(th=30kB)|cake(tins=bulk)", "sfd(timeout=never,promotion=one-of-k)|cake(tins=bulk)"] {
        assert!(!install_lines(forgets).iter().any(|line| line.starts_with("nft")), "{forgets}");
    }
}

#[test]
fn wred__has_one_average() {
    let way = plan_install("sfd(mode=total,in_min=20%,in_max=60%,out_min=16%,out_max=48%)", LINE).unwrap();
    assert_eq!(way.place, Place::Router);
    assert_eq!(
        way.lines,
        [
            "mousehole-live mark DEV --marker sfd --via dscp --dscp 1",
            "WRED for DSCP 0: min 10, max 30 packets, drop probability 0.02; weight of the average 2^-6",
            "WRED for DSCP 1: min 8, max 24 packets, drop probability 0.1; weight of the average 2^-6",
        ]
    );
    for linux in
        ["sfd(mode=coupled)", "sfd(mode=decoupled)", "sfd(mode=total,gentle=true)", "multi-red(mode=total)"]
    {
        assert_eq!(plan_install(linux, LINE).unwrap().place, Place::Linux, "{linux}");
    }
    let hosts = plan_install("tcp-ds(mode=total)", LINE).unwrap();
    assert_eq!((hosts.place, hosts.wred.len()), (Place::Router, 3));
    assert_eq!(hosts.lines[0], "mousehole-live host DEV --scheme tcp-ds --dscp 10,12,14");
}

#[test]
fn nothing__has_its_reason() {
    for (scheme, expected) in [
        (
            "las",
            "the queue las exists in the simulator only, since it serves whoever was served least, which no queue discipline of Linux does",
        ),
        (
            "wrr",
            "the queue wrr exists in the simulator only, since it chooses what leaves next, for which nothing here makes classes",
        ),
        (
            "dualpi2",
            "the queue dualpi2 chooses what leaves next, for which nothing here makes classes; `mousehole-live up --native` runs it where the kernel takes programs as queues",
        ),
        ("ns2-sfd", "the marker ns2-sfd exists in the simulator only"),
        (
            "shred-edge|shred",
            "the marker shred-edge writes window hints, for which packets have no field here; `host` takes them from the socket",
        ),
        (
            "priority",
            "the queue priority has a class for each colour and nothing gives colours; a queue of classes needs a marker before it, such as lfp or rio-ps|priority",
        ),
        (
            "sfd|cake(tins=class)",
            "the queue cake sorts by application with tins=class, for which nothing marks packets",
        ),
        ("cake(ecn=false)", "the queue cake marks whoever uses ECN, and ecn=false has no word in tc"),
        ("ared(alpha=0.02)", "the queue ared takes other steps than Linux's red, whose are fixed"),
        ("sfq(limit=1p)", "the queue sfq has a limit of one packet, which Linux refuses"),
        (
            "sfd|rio-ps|red",
            "the scheme \"sfd|rio-ps|red\" has too many markers; one that keeps a state for each flow may stand before one that keeps it for each user",
        ),
    ] {
        assert_eq!(refusal_reason(scheme), expected);
    }
}

/// The text of the markers alone sets up the same markers, under names that schemes and parts share too.
#[test]
fn markers__alone_mean_the_same() {
    for named in SCHEMES {
        let scheme = Scheme::parse(named.name).unwrap();
        let Some(text) = scheme.markers_text() else { continue };
        let alone =
            Scheme::parse(&format!("{text}|droptail")).unwrap_or_else(|error| panic!("{text}: {error}"));
        let values = |scheme: &Scheme| {
            let mut parts: Vec<_> =
                scheme.parts().into_iter().map(|(part, values)| (part.name(), values)).collect();
            parts.pop();
            parts
        };
        assert_eq!(values(&alone), values(&scheme), "{text}");
    }
    let text = |scheme: &str| Scheme::parse(scheme).unwrap().markers_text().unwrap();
    assert_eq!(text("sfd(mode=total,th=20kB,timeout=1s)"), "sfd(th=20kB,timeout=1s)");
    assert!(text("p-sfd").starts_with("p-sfd"));
}

#[test]
fn describe__says_what_installs_every_part() {
    for part in Part::all() {
        let text = describe(part);
        assert!(
            ["`tc qdisc", "`mousehole-live ", "nothing: "].iter().any(|head| text.starts_with(head)),
            "{text}"
        );
    }
    let of = |name: &str| describe(Part::find(name).unwrap());
    assert_eq!(of("sfq"), "`tc qdisc … sfq`, Linux 3.3 or later");
    assert_eq!(of("red"), "`tc qdisc … red`, Linux 2.2 or later; `mousehole-live up`, Linux 6.1 or later");
    assert_eq!(of("window-marker"), "`mousehole-live host`, Linux 6.1 or later");
    assert_eq!(of("lfp"), "`mousehole-live mark` and `mousehole-live up`, Linux 6.1 or later");
}

/// CAKE has words for link layers; the FIFO that `mousehole-live` decides has bytes, and for ATM nothing.
#[test]
fn install__names_the_link_layer() {
    let line = |name| {
        let layer = Some(LinkLayer::find_layer("link.layer", name).unwrap());
        Line { wire: Wire { overhead: 0, layer }, rate: Rate(6_500_000), ..LINE }
    };
    for (name, keyword) in [("docsis", "docsis"), ("adsl", "pppoe-llcsnap"), ("vdsl", "pppoe-ptm")] {
        let cake = plan_install("cake", line(name)).unwrap();
        assert!(cake.lines[0].contains(" bandwidth 6500kbit "), "{name}");
        assert!(cake.lines[0].ends_with(&format!(" triple-isolate {keyword}")), "{:?}", cake.lines);
    }
    let docsis = plan_install("rio-ps", line("docsis")).unwrap();
    assert!(docsis.lines[0].contains(" --rate 6500kbit --buffer 50p --overhead 18 "), "{:?}", docsis.lines);
    assert!(docsis.lines[1].contains("at least 64 bytes"), "{:?}", docsis.lines);
    let vdsl = plan_install("rio-ps", line("vdsl")).unwrap();
    assert!(vdsl.lines[0].contains(" --rate 6400kbit --buffer 50p --overhead 30 "), "{:?}", vdsl.lines);
    let reason = plan_install("rio-ps", line("adsl")).unwrap_err();
    assert!(reason.contains("does not count the ATM cells of adsl"), "{reason}");
}
