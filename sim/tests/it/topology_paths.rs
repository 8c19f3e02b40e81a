//! Which way packets go over a graph, and how long they take.
use crate::common::topology::{
    hosts, kind, link, scenario_carrying, scenario_over, scheme, small_tree, topology_between,
};
use crate::common::{
    connection, ends, overtakes, play, schemes_of_graphs, transfers, with_model, with_payload, with_profile,
};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::scenario::spec::{ConnectionSpec, Ends, FaultSpec};
use mousehole_sim::scenario::topology::spec::{Role, TopologyLink, TopologySpec};
use mousehole_sim::scenario::topology::{spec::HostStageSpec, write_out};
use mousehole_sim::scenario::{Plan, RunResult, Scenario};
use mousehole_sim::units::{Rate, Time};

/// Returns a connection with one write between these hosts.
fn transfer_to(client: u32, server: u32, start_s: f64, bytes: u64) -> ConnectionSpec {
    ConnectionSpec { client, server, ..connection(start_s, &[(0.0, bytes)]) }
}

/// Returns the number of packets that reached a link in the whole run; panics if there is no such
/// link.
fn count_arrived(result: &RunResult, link: &str) -> u64 {
    let found = result.outcome.balance.iter().find(|one| one.link == link);
    found.unwrap_or_else(|| panic!("no link {link}")).arrived.0
}

/// Returns the nanoseconds that one packet of 1000 bytes takes over links of (bit/s, ms).
fn packet_time_ns(links: &[(u64, u64)]) -> u64 {
    links.iter().map(|&(rate, ms)| Rate(rate).tx_time(1000).0 + ms * 1_000_000).sum()
}

/// One packet without a handshake takes the transmission and propagation times of its links, and nothing else.
#[test]
fn delay__is_the_sum_over_the_links() {
    let access = (10_000_000, 10);
    let core = [access, (3_000_000, 20)];
    let tier = |rate, ms| [access, (3_000_000, 20), (2_000_000, 30), (rate, ms)].to_vec();
    let cases = [
        (0, [core.to_vec(), vec![access]].concat()),
        (4, [core.to_vec(), vec![access]].concat()),
        (5, tier(500_000, 20)),
        (7, tier(500_000, 120)),
        (9, tier(1_000_000, 60)),
        (13, tier(2_000_000, 120)),
    ];
    for (client, links) in cases {
        for profile in ["ns2-2001", "rfc"] {
            let one =
                scenario_carrying(kind("two-tier"), "droptail", vec![transfer_to(client, 3, 1.0, 1000)]);
            let result = play(&with_profile(one, profile));
            let transfer = result.outcome.transfers[0];
            let propagation: u64 = links.iter().map(|&(_, ms)| ms * 1_000_000).sum();
            assert_eq!(transfer.rtt_ns, 2 * propagation, "client {client}");
            let expected = if profile == "rfc" {
                // SYN, SYN-ACK and request before the data.
                let sent = |bytes| links.iter().map(|&(rate, _)| Rate(rate).tx_time(bytes).0).sum::<u64>();
                4 * propagation + 2 * sent(40) + sent(440) + sent(1040)
            } else {
                packet_time_ns(&links)
            };
            assert_eq!(transfer.end.since(transfer.start).0, expected, "client {client}, {profile}");
            assert!((result.ideal_s[0] * 1e9 - expected as f64).abs() < 1.0, "client {client}, {profile}");
        }
    }
}

/// Least delay first, then fewest links, then the name of the next node.
#[test]
fn path__least_delay_then_fewest_links_then_name() {
    let last = || scheme("d", "e", "10mbit", "1ms", "50p");
    let way = |name: &str, delay: &str| [link("a", name, "10mbit", delay), link(name, "d", "10mbit", delay)];
    let cases: [(Vec<TopologyLink>, &str); 4] = [
        ([way("b", "5ms"), way("c", "4ms")].concat(), "a-c"),
        ([way("b", "5ms").to_vec(), vec![link("a", "d", "1mbit", "10ms")]].concat(), "a-d"),
        ([way("c", "5ms"), way("b", "5ms")].concat(), "a-b"),
        ([way("b", "5ms").to_vec(), vec![link("a", "d", "1mbit", "11ms")]].concat(), "a-b"),
    ];
    for (mut links, taken) in cases {
        links.push(last());
        let result = play(&scenario_carrying(
            topology_between(links, &["a"], &["e"]),
            "droptail",
            transfers(3, 0.5, 20_000),
        ));
        assert!(count_arrived(&result, taken) > 40, "{taken}");
        for other in ["a-b", "a-c", "a-d"].into_iter().filter(|other| *other != taken) {
            let found = result.outcome.balance.iter().find(|one| one.link == other);
            assert!(found.is_none_or(|one| one.arrived.0 == 0), "{taken}, not {other}");
        }
        let (from, to) = taken.split_once('-').expect("a link's name");
        assert!(count_arrived(&result, &format!("{to}-{from}")) > 10, "the way back is the same");
    }
}

/// Acknowledgements find a way of their own where a link has no opposite.
#[test]
fn path__returns_over_one_way_links() {
    let one_way = |from, to, ms| TopologyLink { one_way: true, ..link(from, to, "1mbit", ms) };
    let links = vec![
        scheme("a", "b", "5mbit", "10ms", "50p"),
        one_way("b", "c", "30ms"),
        one_way("c", "d", "1ms"),
        one_way("d", "b", "2ms"),
    ];
    let result = play(&scenario_carrying(
        topology_between(links, &["a"], &["c"]),
        "droptail",
        vec![transfer_to(0, 0, 0.0, 9000)],
    ));
    assert_eq!(result.outcome.transfers[0].rtt_ns, (10 + 30 + 1 + 2 + 10) * 1_000_000);
    assert!(count_arrived(&result, "d-b") > 3 && count_arrived(&result, "b-c") > 6);
}

/// Client and server numbers are taken modulo the hosts; each host's link carries its own.
#[test]
fn hosts__are_taken_modulo() {
    let links = vec![scheme("r0", "r1", "5mbit", "5ms", "50p")];
    let groups = vec![
        hosts(Role::Server, "s", "r0", 2, "10mbit", "1ms"),
        hosts(Role::Client, "c", "r1", 3, "10mbit", "1ms"),
    ];
    let spec = TopologySpec { hosts: groups, ..topology_between(links, &[], &["r1"]) };
    let result = play(&scenario_carrying(
        spec,
        "droptail",
        vec![transfer_to(1, 0, 0.0, 3000), transfer_to(6, 5, 1.0, 3000)],
    ));
    // The listed node r1 is client 0, the group follows; 6 modulo 4 is 2, 5 modulo 2 is 1.
    assert!(
        count_arrived(&result, "r1-c0") > 3
            && count_arrived(&result, "r1-c1") > 3
            && count_arrived(&result, "r1-c2") == 0
    );
    assert!(count_arrived(&result, "s0-r0") > 3 && count_arrived(&result, "s1-r0") > 3);
}

/// Each of the tree's groups has its round-trip time, and its hosts talk in pairs.
#[test]
fn tree__groups_have_their_round_trip_times() {
    let connections = (0..5).map(|group| transfer_to(80 * group + 7, 3, f64::from(group), 1000)).collect();
    let result = play(&scenario_carrying(kind("tree"), "droptail", connections));
    let times: Vec<u64> = result.outcome.transfers.iter().map(|one| one.rtt_ns / 1_000_000).collect();
    assert_eq!(times, [20, 40, 80, 120, 200]);
    assert_eq!(result.outcome.balance.len(), 2 * (800 + 80 + 10 + 1));
    assert!(count_arrived(&result, "source0.0.7-left0.0") > 1, "client 7's own server");
    let first = result.outcome.transfers[0];
    let rates = [1_500_000, 10_000_000, 45_000_000, 100_000_000, 45_000_000, 10_000_000, 1_500_000];
    let sent = |bytes| rates.iter().map(|&rate| Rate(rate).tx_time(bytes).0).sum::<u64>();
    assert_eq!(first.end.since(first.start).0, 40_000_000 + 2 * sent(40) + sent(440) + sent(1040));
}

/// The second set of clients lies behind the other bottleneck.
#[test]
fn y__two_bottlenecks_after_the_edge() {
    let result = play(&scenario_carrying(
        kind("y"),
        "sfd",
        vec![transfer_to(3, 0, 0.0, 50_000), transfer_to(13, 0, 5.0, 70_000)],
    ));
    let data = |link| count_arrived(&result, link);
    assert_eq!(data("n0-n3"), data("n3-n1") + data("n3-n2"));
    assert!(data("n3-n2") > data("n3-n1") && data("n3-n1") > 30);
    let names: Vec<&str> = result.outcome.queues.iter().map(|queue| queue.name.as_str()).collect();
    assert_eq!(names, ["n3-n1", "n1-n3", "n3-n2"]);
    assert!(result.outcome.transfers.iter().all(|one| one.rtt_ns == 80_000_000));
    // Colours come from the edge: after 15 kB packets are out of profile at both bottlenecks.
    for number in [0, 2] {
        let [green, yellow, _] = result.outcome.queues[number].colours;
        assert!(green.arrived.packets >= 10 && yellow.arrived.packets >= 20, "queue {number}");
    }
}

/// Nothing is lost or made on any link, under every scheme, both ways.
#[test]
fn laws__hold_on_every_link() {
    let meshed = || {
        let links = vec![
            scheme("a", "b", "2mbit", "5ms", "20p"),
            scheme("b", "c", "1mbit", "5ms", "15p"),
            scheme("a", "c", "1mbit", "9ms", "15p"),
        ];
        let groups = vec![
            hosts(Role::Server, "s", "a", 3, "10mbit", "1ms"),
            hosts(Role::Client, "near", "b", 2, "2mbit", "1ms"),
            hosts(Role::Client, "far", "c", 2, "2mbit", "30ms"),
        ];
        TopologySpec { hosts: groups, ..topology_between(links, &[], &[]) }
    };
    let kinds = || [kind("two-tier"), kind("y"), small_tree()].into_iter();
    let cases = schemes_of_graphs().map(|scheme| (scheme, meshed()));
    let of_kinds = ["sfd", "fq-codel"].into_iter().flat_map(|scheme| kinds().map(move |spec| (scheme, spec)));
    for (scheme, spec) in cases.chain(of_kinds) {
        let base = Scenario { duration: "2s".into(), max_windows: 2, ..scenario_over(spec, scheme) };
        let result = play(&with_model(Scenario { at: Some(Ends::Both), ..base }, "poisson", 1.3));
        for balance in &result.outcome.balance {
            assert!(balance.holds(), "{scheme}: {balance:?}");
        }
        assert!(result.outcome.reordered == 0 || overtakes(scheme), "{scheme}");
        assert!(result.outcome.transfers.len() > 10, "{scheme}");
        assert!(result.ideal_s.iter().all(|alone| alone.is_finite()), "{scheme}");
    }
}

/// With links of its own every transfer goes as alone, on every path.
#[test]
fn ideal_time__slowdown_without_others_is_one_on_a_graph() {
    for spec in [kind("two-tier"), kind("y"), small_tree()] {
        let one = |index: u32| {
            transfer_to(3 * index, index, 25.0 * f64::from(index), 1460 * (1 + 7 * u64::from(index)))
        };
        let base = Scenario {
            duration: "300s".into(),
            ..scenario_carrying(spec, "droptail", (0..10).map(one).collect())
        };
        let result = play(&base);
        assert_eq!(result.outcome.transfers.len(), 10);
        for (transfer, alone) in result.outcome.transfers.iter().zip(&result.ideal_s) {
            let slowdown = transfer.end.since(transfer.start).as_secs() / alone;
            assert!((slowdown - 1.0).abs() < 1e-9, "{slowdown}: {transfer:?}");
        }
    }
}

/// The fast path of FIFOs is the slow one on a graph too.
#[test]
fn paths__fast_and_slow_agree() {
    for scheme in ["droptail", "red", "p-sfd"] {
        let mut connections = transfers(40, 0.0413, 31_234);
        for (index, one) in connections.iter_mut().enumerate() {
            (one.server, one.rtt_s) = (one.client * 3, Some(0.5 + 0.001_370_127 * index as f64));
        }
        let fast =
            Scenario { duration: "300s".into(), ..scenario_carrying(kind("two-tier"), scheme, connections) };
        let slow = Scenario { slow_path: true, ..fast.clone() };
        let [fast, slow] = [fast, slow].map(|one| play(&one));
        assert_eq!(fast.outcome.transfers, slow.outcome.transfers, "{scheme}");
        assert!(slow.outcome.events > fast.outcome.events);
    }
}

/// What a kind draws gives the same run when it is written out, as text.
#[test]
fn kinds__equal_the_same_links_written_out() {
    for spec in [kind("two-tier"), kind("y"), small_tree()] {
        let written = write_out(&spec).unwrap_or_else(|error| panic!("{error}")).into_owned();
        assert!(written.kind.is_none() && written.links.len() > 2);
        let [one, other] = [spec, written].map(|spec| {
            let base = Scenario { duration: "5s".into(), max_windows: 2, ..scenario_over(spec, "sfd") };
            let text = with_model(base, "poisson", 0.9).to_toml();
            crate::common::digest(&play(&Scenario::from_toml(&text, "our own").expect("our own text")))
        });
        assert_eq!(one, other);
    }
}

/// Colours are given at the first marked link and kept, unless every marker is to mark again.
#[test]
fn marks__first_ones_are_kept() {
    let green = |remark: bool| {
        let links = vec![scheme("a", "b", "2mbit", "5ms", "90p"), scheme("b", "c", "3mbit", "5ms", "90p")];
        let spec = TopologySpec { remark, ..topology_between(links, &["a"], &["c"]) };
        let mut one = scenario_carrying(spec, "sfd(th=8kB)", vec![transfer_to(0, 0, 0.0, 60_000)]);
        // Packets that the first marker has counted are lost before they reach the second.
        one.faults = vec![FaultSpec { link: "a-b".into(), drop: vec![2, 3, 4], bernoulli: 0.0 }];
        let queues = play(&one).outcome.queues;
        let packets = |name: &str| {
            let queue = queues.iter().find(|queue| queue.name == name).expect("a queue with the scheme");
            (queue.colours[0].arrived.packets, queue.colours[0].dropped_for(DropReason::Fault).packets)
        };
        (packets("a-b"), packets("b-c"))
    };
    let ((first, lost), (second, _)) = green(false);
    assert_eq!((lost, second), (3, first - 3));
    let ((first, _), (second, _)) = green(true);
    assert!(second > first - 3, "{second} of {first}");
}

/// A queue for each user before the first link changes nothing while it takes no time.
#[test]
fn host_stage__a_fifo_without_rate_changes_nothing() {
    let shared = mousehole_sim::scenario::spec::AccessSpec {
        rate: "8mbit".into(),
        delay: "2ms".into(),
        client_rate: None,
        client_delay: None,
        servers: Some(2),
        clients: Some(3),
    };
    let dumbbell = Scenario { access: Some(shared), ..crate::common::scenario("sfd") };
    for base in [crate::common::scenario("sfd"), dumbbell, scenario_over(kind("two-tier"), "sfd")] {
        for is_both in [false, true] {
            let plain = Scenario { duration: "8s".into(), max_windows: 2, at: ends(is_both), ..base.clone() };
            let plain = with_model(plain, "poisson", 1.1);
            let stage = HostStageSpec { users: 6, rate: "unlimited".into(), mark: false };
            let staged = Scenario { host_stage: Some(stage), ..plain.clone() };
            let [plain, staged] = [plain, staged].map(|one| play(&one));
            let ends = |result: &RunResult| -> Vec<(u64, Time, u32)> {
                result.outcome.transfers.iter().map(|one| (one.key, one.end, one.retransmits)).collect()
            };
            assert_eq!(ends(&plain), ends(&staged));
            let own: Vec<u64> = (0..6).map(|user| count_arrived(&staged, &format!("host-{user}"))).collect();
            assert!(own.iter().all(|packets| *packets > 10), "{own:?}");
            assert!(staged.outcome.balance.iter().all(mousehole_sim::engine::Balance::holds));
        }
    }
}

/// With a rate each user's packets wait for each other, and for nobody else's.
#[test]
fn host_stage__users_have_queues_of_their_own() {
    let stage = HostStageSpec { users: 2, rate: "1mbit".into(), mark: true };
    let two = vec![transfer_to(0, 0, 0.0, 1000), transfer_to(1, 0, 0.0, 1000), transfer_to(2, 0, 0.0, 1000)];
    let links = vec![scheme("a", "b", "100mbit", "5ms", "50p")];
    let base = scenario_carrying(topology_between(links, &["a"], &["b"]), "sfd", two);
    let result = play(&with_profile(Scenario { host_stage: Some(stage), ..base }, "ns2-2001"));
    let ends: Vec<u64> = result.outcome.transfers.iter().map(|one| one.end.0).collect();
    let alone = packet_time_ns(&[(1_000_000, 0), (100_000_000, 5)]);
    let fast = Rate(100_000_000).tx_time(1000).0;
    // Users 0 and 1 send at once, user 0's second packet 8 ms later.
    assert_eq!(ends, [alone, alone + fast, alone + 8_000_000]);
    assert!((result.ideal_s[2] * 1e9 - alone as f64).abs() < 1.0);
}

/// Marked at the hosts, packets keep their colours at the bottleneck.
#[test]
fn host_stage__may_mark() {
    let base = with_model(
        Scenario { duration: "8s".into(), max_windows: 2, ..crate::common::scenario("sfd") },
        "poisson",
        1.2,
    );
    let stage = HostStageSpec { users: 4, rate: "unlimited".into(), mark: true };
    let [plain, staged] =
        [None, Some(stage)].map(|host_stage| play(&Scenario { host_stage, ..base.clone() }));
    assert!(plain.outcome.queues[0].colours[1].arrived.packets > 100);
    assert_eq!(plain.outcome.queues[0].colours, staged.outcome.queues[0].colours);
}

/// Uploads cross the same links in the other direction, and are the data that is counted.
#[test]
fn payload__up_runs_over_the_same_bottleneck() {
    let one = scenario_carrying(kind("y"), "droptail", with_payload("up", [transfer_to(0, 0, 0.0, 100_000)]));
    let result = play(&one);
    assert!(count_arrived(&result, "n1-n3") > 60 && result.outcome.forward_packets > 60);
    assert_eq!((result.outcome.goodput_bytes, result.outcome.goodput_up_bytes), (0, 100_000));
}

/// The bottleneck's rate is what a load means, and `bdp` is of the longest path.
#[test]
fn bottleneck__is_the_slowest_link_with_the_scheme() {
    let links = vec![
        link("s", "a", "1mbit", "1ms"),
        scheme("a", "b", "8mbit", "10ms", "2bdp"),
        TopologyLink { buffer: None, ..scheme("b", "c", "4mbit", "19ms", "") },
    ];
    let spec = topology_between(links, &["s"], &["c"]);
    let plan =
        Plan::new(&with_model(scenario_over(spec.clone(), "sfd"), "poisson", 0.5)).expect("a valid scenario");
    assert_eq!(
        (plan.rate, plan.links[0].name.as_str(), plan.links[1].name.as_str()),
        (Rate(4_000_000), "b-c", "c-b")
    );
    assert_eq!(plan.rtt.0, 60_000_000);
    let buffers: Vec<_> = plan.links.iter().map(|link| (link.name.as_str(), link.buffer)).collect();
    assert!(buffers.contains(&("b-c", mousehole_sim::units::Buffer::Bytes(30_000))), "{buffers:?}");
    assert!(buffers.contains(&("a-b", mousehole_sim::units::Buffer::Bytes(120_000))), "{buffers:?}");
    let named = TopologySpec { bottleneck: Some("a-b".into()), ..spec };
    let plan = Plan::new(&with_model(scenario_over(named, "sfd"), "poisson", 0.5)).expect("a valid scenario");
    assert_eq!(plan.rate, Rate(8_000_000));
}
