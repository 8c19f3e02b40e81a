//! `mousehole-live check` on devices of a new namespace: what it finds, and that it changes
//! nothing. Also tests that the commands in the answer of `compare` are accepted.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

use mousehole_live::deployment::{Deployment, Shaper};
use mousehole_live::device::Device;
use mousehole_live::qdisc::{Cake, Qdisc};
use mousehole_live::request::{Mode, Request};
use serde_json::Value;
use std::process::Command;

/// The beginning of each test's script: two ends of a veth, a private BPF file system, and `state`,
/// which prints everything that a program can leave behind.
const COMMON: &str = r#"
set -eu
mount -t bpf bpf /sys/fs/bpf
ip link add v0 type veth peer name v1
ip link set v0 up
ip link set v1 up
state() {
    for device in v0 v1; do
        tc -j qdisc show dev $device
        tc class show dev $device
        for side in "" ingress egress; do tc -j filter show dev $device $side; done
    done
    bpftool -j net show
    find /sys/fs/bpf
    nft list ruleset
    # Whether there is a carrier, the kernel finds out by and by.
    ip -d -j link show | sed -E 's/"(operstate|flags)":("[A-Z]*"|\[[^]]*\]),//g'
}
# Ends the script where a command is not refused.
refused() { ! "$LIVE" "$@" > /run/out || { cat /run/out; exit 1; }; }
"#;

/// Returns the JSON that `command` prints after the commands of `setup`, and asserts that it
/// changes nothing; `None` if the test cannot be run here.
fn run_check(setup: &str, command: &str) -> Option<Value> {
    let (text, _) = run_script(&format!(
        "{setup}\nstate > /run/before; {command}; state > /run/after; cmp /run/before /run/after"
    ))?;
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}")))
}

/// Runs commands after [`COMMON`] in new namespaces, which end with them; they must succeed.
/// Returns standard output and standard error; prints why and returns `None` if the test cannot be
/// run here.
fn run_script(commands: &str) -> Option<(String, String)> {
    // SAFETY: the call reads this process's own number.
    if unsafe { libc::geteuid() } != 0 {
        println!("NOT RUN: devices and namespaces need root");
        return None;
    }
    let tools = ["unshare", "tc", "ip", "nft", "bpftool"];
    if let Some(tool) = tools.iter().find(|tool| Command::new(tool).arg("-V").output().is_err()) {
        println!("NOT RUN: {tool} is not installed");
        return None;
    }
    let script = format!("{COMMON}\nmount -t tmpfs tmpfs /run\n{commands}");
    let done = Command::new("unshare")
        .args(["--mount", "--net", "--propagation", "private", "bash", "-c", &script])
        .env("LIVE", env!("CARGO_BIN_EXE_mousehole-live"))
        .env("TESTS", concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
        .output()
        .unwrap();
    let (out, error) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
    assert!(done.status.success(), "{script}\n{out}\n{error}");
    Some((out, error))
}

/// Returns the finding with this key whose sentence contains `text`. There must be one.
#[track_caller]
fn find_finding<'a>(report: &'a Value, key: &str, text: &str) -> &'a Value {
    let all = report["findings"].as_array().unwrap();
    let one = all.iter().find(|one| one["key"] == key && one["sentence"].as_str().unwrap().contains(text));
    one.unwrap_or_else(|| panic!("no {key} with \"{text}\" in {report:#}"))
}

/// Asserts that no finding is in the way, and that exactly the harmless ones have no cure.
#[track_caller]
fn assert_nothing_in_the_way(report: &Value) {
    let all = report["findings"].as_array().unwrap();
    assert!(all.iter().all(|one| one["rank"] != "in the way"), "{report:#}");
    assert!(all.iter().all(|one| (one["rank"] == "harmless") == one["cure"].is_null()), "{report:#}");
}

/// Returns an Ethernet device that is not there.
fn make_device() -> Device {
    let name = "eth0".into();
    Device { name, index: 2, namespace: 1, address: None, link_header_bytes: 14, mtu: 1500 }
}

#[test]
fn bare_veth__can_be_shaped_and_reads_no_marks() {
    let Some(report) = run_check("", "$LIVE check v0 --json") else { return };
    assert_eq!(report["format"], "mousehole-live.check/1");
    assert_nothing_in_the_way(&report);
    for key in ["kernel", "helpers", "tcx", "bpffs", "mtu", "programs", "firewall"] {
        assert_eq!(find_finding(&report, key, "")["rank"], "harmless", "{key}");
    }
    assert_eq!(find_finding(&report, "qdisc", "noqueue")["rank"], "worth knowing");
    let mark = &report["mark"];
    assert_eq!((&mark["possible"], &mark["via"], &mark["dscp"]), (&false.into(), &Value::Null, &Value::Null));
    assert!(mark["sentence"].as_str().unwrap().contains("nothing at v0 reads marks"), "{report:#}");
    assert_eq!(report["up"]["possible"], true);
}

#[test]
fn text__ends_with_what_commands_would_do() {
    let Some((text, _)) = run_script("$LIVE check v0") else { return };
    let Some((fq, _)) = run_script("tc qdisc add dev v0 root fq 2>/dev/null && echo yes || echo no") else {
        return;
    };
    let lines: Vec<&str> = text.lines().collect();
    let [mark, up, shape] = &lines[lines.len() - 3..] else { panic!("{text}") };
    assert_eq!(
        *mark,
        "mark v0: would refuse; nothing at v0 reads marks, since its root is noqueue; `tc qdisc replace dev v0 root cake bandwidth \
         RATE diffserv4` puts one there that does, --via dscp marks for the network behind, and --shadow only counts"
    );
    assert!(up.starts_with("up v0: would put rio-ps in front of a token bucket"), "{text}");
    let would = match fq.trim() {
        "yes" => "would attach tcp-ds, and put an fq at the root, in which packets wait",
        _ => "would refuse, because the kernel has no fq; where it is a module, `modprobe sch_fq` loads it",
    };
    assert_eq!(*shape, format!("host v0 --shape: {would}"));
    assert_eq!(text.contains("no fq, which `host --shape` needs"), fq.trim() == "no", "{text}");
    let Some((htb, _)) = run_script("tc qdisc add dev v0 root htb 2>/dev/null && echo yes || echo no") else {
        return;
    };
    assert_eq!(
        text.contains("no htb, which `up"),
        htb.trim() == "no",
        "each kind is tried by itself: {text}"
    );
    for line in &lines[..lines.len() - 3] {
        assert!(
            ["harmless  ", "worth knowing  ", "in the way  "].iter().any(|rank| line.starts_with(rank)),
            "{line}"
        );
    }
}

#[test]
fn filter_of_others__is_listed_with_its_preference() {
    let setup = "tc qdisc add dev v0 clsact
        tc filter add dev v0 egress prio 5 protocol ip u32 match ip dsfield 0x20 0xfc action pass 2>/dev/null ||
        tc filter add dev v0 egress prio 5 protocol ip u32 match ip dsfield 0x20 0xfc flowid 1:1";
    let Some(report) = run_check(setup, "$LIVE check v0 --json") else { return };
    let filter = find_finding(&report, "filters", "u32 filter of preference 5");
    assert_eq!(filter["cure"], "tc filter show dev v0 egress");
    assert_nothing_in_the_way(&report);
}

#[test]
fn flow_table__is_found_in_what_nft_prints() {
    // Kernels without flow tables can be tested too: nft here prints what it prints where there is one.
    let setup = r#"mkdir /run/bin; cat > /run/bin/nft <<'END'
#!/bin/sh
case "$*" in
"-j list ruleset") echo '{"nftables": [{"flowtable": {"family": "inet", "name": "ft", "table": "filter", "handle": 3, "hook": "ingress", "prio": 0, "dev": ["v0", "v1"]}}]}';;
"list flowtables") printf 'table inet filter {\n\tflowtable ft {\n\t\tdevices = { v0, v1 }\n%s\t}\n}\n' "$FLAGS";;
esac
END
chmod +x /run/bin/nft; export FLAGS="" PATH=/run/bin:$PATH"#;
    let Some(report) = run_check(setup, "$LIVE check v0 --json") else { return };
    assert_eq!(find_finding(&report, "flow-offload", "still see them")["rank"], "worth knowing");
    let hardware =
        run_check(&format!("{setup}; export FLAGS='flags offload;\n'"), "$LIVE check v0 --json").unwrap();
    assert_eq!(find_finding(&hardware, "flow-offload", "in the hardware")["rank"], "in the way");
}

#[test]
fn htb__keeps_up_away_and_names_a_class() {
    let setup = "tc qdisc add dev v0 root handle 1: htb default 10
        tc class add dev v0 parent 1: classid 1:1 htb rate 10mbit
        tc class add dev v0 parent 1:1 classid 1:10 htb rate 5mbit ceil 10mbit";
    let Some(report) = run_check(setup, "$LIVE check v0 --json") else { return };
    let qdisc = find_finding(&report, "qdisc", "htb 1:");
    assert_eq!(qdisc["cure"], "mousehole-live mark v0 --via class --classes 1:10");
    assert_eq!(report["up"]["possible"], false);
    assert!(report["up"]["sentence"].as_str().unwrap().contains("classes or qdiscs below it"), "{report:#}");
}

#[test]
fn token_bucket_of_others__is_replaced_on_demand() {
    let setup = "tc qdisc add dev v0 root handle 5: tbf rate 5mbit burst 8k limit 100k";
    let Some(report) = run_check(setup, "$LIVE check v0 --json") else { return };
    assert_eq!(report["up"]["possible"], true);
    assert!(report["up"]["sentence"].as_str().unwrap().contains("--replace"), "{report:#}");
}

#[test]
fn burst_of_a_marker__is_judged_only_if_given() {
    let device = Device { mtu: 65_536, ..make_device() };
    let deployment = |burst: Option<&str>| {
        let burst = burst.map(String::from);
        Deployment::new(&Request { burst, ..Request::new(Mode::Mark) }, &device, None)
    };
    deployment(None).unwrap();
    deployment(Some("70kB")).unwrap();
    let fault = deployment(Some("8kB")).unwrap_err().to_string();
    assert_eq!(fault, "--burst is 8000 bytes; it must be from 65550 (a frame of eth0) to 1073741824");
}

#[test]
fn device_down__is_in_the_way() {
    let Some(report) = run_check("ip link set v0 down", "$LIVE check v0 --json") else { return };
    let state = find_finding(&report, "state", "v0 is down");
    assert_eq!((&state["rank"], &state["cure"]), (&"in the way".into(), &"ip link set v0 up".into()));
}

#[test]
fn masquerading__hides_users() {
    let setup = "nft add table ip n; nft add chain ip n p '{ type nat hook postrouting priority 100; }'
        nft add rule ip n p oifname v0 masquerade";
    let Some(report) = run_check(setup, "$LIVE check v0 --json") else { return };
    assert_eq!(find_finding(&report, "nat", "ip n p")["rank"], "worth knowing");
}

#[test]
fn what_runs__is_listed_and_would_be_refused() {
    let Some(report) = run_check("$LIVE mark v0 --via dscp >/dev/null", "$LIVE check v0 --json") else {
        return;
    };
    find_finding(&report, "ours", "mark v0 --via dscp` runs here since");
    find_finding(&report, "programs", "no programs of others");
    assert_eq!((&report["mark"]["possible"], &report["up"]["possible"]), (&false.into(), &false.into()));
}

#[test]
fn without_rights__says_what_it_cannot_see() {
    let command =
        "setpriv --reuid 65534 --clear-groups --inh-caps -all --bounding-set -all $LIVE check v0 --json";
    let Some(report) = run_check("", command) else { return };
    let rights = find_finding(&report, "privileges", "cannot be seen");
    assert_eq!(
        (&rights["rank"], &rights["cure"]),
        (&"in the way".into(), &"sudo mousehole-live check v0".into())
    );
    assert_eq!((&report["mark"]["possible"], &report["up"]["possible"]), (&false.into(), &false.into()));
    assert_eq!(find_finding(&report, "mtu", "1500")["rank"], "harmless");
}

#[test]
fn missing_tools__are_named() {
    let Some(report) = run_check("", "PATH=/nowhere $LIVE check v0 --json") else { return };
    find_finding(&report, "qdisc", "the root of v0 is noqueue");
    find_finding(&report, "mtu", "1500");
    for (key, program) in [("offload", "ethtool"), ("firewall", "nft")] {
        find_finding(&report, key, &format!("because {program} is not installed"));
    }
}

#[test]
fn no_bpf_file_system__names_the_command() {
    let Some((text, _)) = run_script(
        "umount /sys/fs/bpf; while umount /sys/fs/bpf 2>/dev/null; do :; done; $LIVE check v0 --json",
    ) else {
        return;
    };
    let report = serde_json::from_str(&text).unwrap();
    assert_eq!(
        find_finding(&report, "bpffs", "no BPF file system")["cure"],
        "mount -t bpf -o mode=0700 bpf /sys/fs/bpf"
    );
}

#[test]
fn unknown_device__is_one_sentence() {
    let Some((out, error)) = run_script("$LIVE check nowhere || echo status $?") else { return };
    assert_eq!(out, "status 2\n");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("there is no device \"nowhere\""), "{error}");
}

/// python/tests/test_advice.py tests that the answer of `compare` writes these.
#[test]
fn what_compare_writes__is_accepted() {
    let device = make_device();
    for scheme in ["rio-ps", "s-sfd", "p-sfd", "sfd(mode=coupled,in_min=20%)", "sfd|red"] {
        for overhead in [None, Some(26)] {
            let request = Request {
                scheme: scheme.into(),
                rate: Some("5mbit".into()),
                buffer: "50p".into(),
                overhead,
                ..Request::new(Mode::Up)
            };
            let deployment = Deployment::new(&request, &device, None).unwrap();
            assert!(matches!(deployment.shaper, Shaper::Fifo(_)), "{scheme}");
        }
    }
    let cake = Cake { diffserv: "diffserv3", ..Cake::default() };
    let root = Qdisc { cake, ..Qdisc::new("cake", "8001:", None) };
    for marker in ["sfd(th=30kB)", "rio-ps", "sfd(th=60kB,timeout=never)"] {
        let request = Request { scheme: marker.into(), ..Request::new(Mode::Mark) };
        let deployment = Deployment::new(&request, &device, Some(&root)).unwrap();
        assert_eq!(deployment.action.priority, [0, 0x8001_0001, 0x8001_0001], "{marker}");
    }
}

#[test]
fn queue_of_classes__needs_a_marker() {
    let device = make_device();
    let deployment = |scheme: &str| {
        let rate = Some("10mbit".into());
        Deployment::new(&Request { scheme: scheme.into(), rate, ..Request::new(Mode::Up) }, &device, None)
    };
    for queue in ["priority", "priority-red"] {
        let fault = deployment(queue).unwrap_err().to_string();
        let advice = format!("needs a marker before it, such as lfp or rio-ps|{queue}");
        assert!(fault.contains(&advice), "{fault}");
        for scheme in ["lfp".to_string(), format!("rio-ps|{queue}"), format!("policer|{queue}")] {
            let shaper = deployment(&scheme).unwrap().shaper;
            assert!(matches!(shaper, Shaper::Classes { .. }), "{scheme}: {shaper:?}");
        }
    }
}

#[test]
fn classes_that_are_not_there__are_refused() {
    let Some((out, error)) = run_script(
        r#"
        refused mark v0 --via class --classes 1:99
        "$LIVE" mark v0 --via dscp > /run/out
        refused tune v0 --classes 1:99
        "$LIVE" down v0 > /run/out
        tc qdisc add dev v0 root handle 1: htb default 10
        tc class add dev v0 parent 1: classid 1:1 htb rate 10mbit
        tc class add dev v0 parent 1:1 classid 1:10 htb rate 5mbit ceil 10mbit
        tc class add dev v0 parent 1:1 classid 1:1a htb rate 5mbit ceil 10mbit
        refused mark v0 --via class --classes 1:99
        refused mark v0 --shadow --classes 1:10,1:99
        for classes in 1:10 1:001A,1:10 1:1; do
            "$LIVE" mark v0 --classes $classes > /run/out
            refused tune v0 --classes 1:10,1:2
            "$LIVE" tune v0 --classes 1:1a > /run/out
            "$LIVE" down v0 > /run/out
        done
        "#,
    ) else {
        return;
    };
    assert_eq!(out, "");
    let lines: Vec<&str> = error.lines().collect();
    let of = |class: &str, there: &str| {
        let expected = format!("mousehole-live: --classes names {class}, which is no class here; {there}");
        lines.iter().filter(|line| line.starts_with(&expected)).count()
    };
    assert_eq!(of("1:99", "v0 has none; --via dscp needs none"), 2, "{error}");
    let (two, other) = ("the classes of v0 are 1:10, 1:1a", "the classes of v0 are 1:1a, 1:10");
    assert_eq!(of("1:99", two) + of("1:99", other), 2, "{error}");
    assert_eq!(of("1:2", two) + of("1:2", other), 3, "{error}");
    assert_eq!(lines.len(), 7, "{error}");
}

/// Makes token buckets look like CAKEs below a shaper to the program (cake.c), so that kernels
/// without CAKE can be tested too.
const CAKES_BELOW_HTB: &str = r#"cc -shared -fPIC -o /run/cake.so "$TESTS/cake.c" -ldl
tc qdisc add dev v0 root handle 1: htb default 10
for class in 10 20; do
    tc class add dev v0 parent 1: classid 1:$class htb rate 5mbit
    tc qdisc add dev v0 parent 1:$class handle 80$class: tbf rate 1gbit burst 64k limit 1m
done
LIVE="env LD_PRELOAD=/run/cake.so $LIVE""#;

#[test]
fn cakes_below_htb__are_marked_for_by_le() {
    let Some((text, _)) = run_script(&format!("{CAKES_BELOW_HTB}; $LIVE check v0 --json")) else { return };
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(find_finding(&report, "qdisc", "htb 1: with 2 CAKEs below it")["rank"], "harmless");
    let mark = &report["mark"];
    assert_eq!((&mark["possible"], &mark["via"], &mark["dscp"]), (&true.into(), &"dscp".into(), &1.into()));
    let Some((text, _)) = run_script(&format!("{CAKES_BELOW_HTB}; $LIVE mark v0 --dry-run && $LIVE mark v0"))
    else {
        return;
    };
    assert_eq!(text.matches("long flows get DSCP 1").count(), 2, "{text}");
}

#[test]
fn queue_that_reads_no_marks__is_refused_unless_asked_for() {
    let Some((out, error)) = run_script(
        r#"
        refused mark v0
        refused mark v0 --dry-run
        "$LIVE" mark v0 --shadow > /run/out
        refused tune v0 --shadow off
        "$LIVE" tune v0 --via dscp --shadow off > /run/out
        "$LIVE" down v0 > /run/out
        for way in "--via dscp" "--dscp cs1"; do
            "$LIVE" mark v0 $way > /run/out
            "$LIVE" down v0 > /run/out
        done
        tc qdisc add dev v0 root handle 5: tbf rate 5mbit burst 8k limit 100k
        refused mark v0
        tc qdisc replace dev v0 root handle 1: htb
        tc class add dev v0 parent 1: classid 1:10 htb rate 5mbit
        refused mark v0
        "#,
    ) else {
        return;
    };
    assert_eq!(out, "");
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 5, "{error}");
    for line in &lines {
        assert!(line.starts_with("mousehole-live: nothing at v0 reads marks, since its root is "), "{line}");
        assert!(line.contains("--via dscp marks for the network behind"), "{line}");
    }
    assert!(
        lines[..3].iter().all(|line| line.contains("noqueue; `tc qdisc replace dev v0 root cake")),
        "{error}"
    );
    assert!(lines[3..].iter().all(|line| !line.contains("tc qdisc replace")), "others' queues stay: {error}");
    assert!(lines[4].contains("--classes names one of its classes (1:10)"), "{error}");
}

#[test]
fn dscps_of_better_service__are_refused_for_long_flows() {
    let device = make_device();
    let deployment = |dscp: &str| {
        Deployment::new(&Request { dscp: dscp.into(), ..Request::new(Mode::Mark) }, &device, None)
    };
    for (dscp, reason) in [
        ("45", "--dscp gives long flows 45, which is NQB, for flows that build no queue"),
        ("46", "--dscp gives long flows 46, which is EF, which networks serve first"),
        ("46,1", "long flows 46"),
        ("0,45,1", "long flows 45"),
        ("46,0,46", "long flows 46"),
    ] {
        let fault = deployment(dscp).unwrap_err().to_string();
        assert!(fault.contains(reason), "{dscp}: {fault}");
    }
    // Short flows may have such a DSCP, by which CAKE gives them a better tin.
    assert_eq!(deployment("46,0,1").unwrap().action.dscp, [46, 0, 1]);
    assert_eq!(deployment("45,0,1").unwrap().action.dscp, [45, 0, 1]);
}
