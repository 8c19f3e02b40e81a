//! A dumbbell written out as a graph gives the dumbbell's run, bit by bit.
use crate::common::topology::{hosts, scheme, topology_between};
use crate::common::{
    ends, play, scenario, schemes_of_graphs, with_connections, with_model, with_payload, with_profile,
};
use mousehole_sim::record::Transfer;
use mousehole_sim::scenario::spec::{AccessSpec, BulkSpec, LinkSpec};
use mousehole_sim::scenario::topology::spec::{Role, TopologySpec};
use mousehole_sim::scenario::{RunResult, Scenario};

/// Asserts that both results are equal but for the names of queues and paths.
fn assert_same(one: &RunResult, other: &RunResult, case: &str) {
    let transfers = |result: &RunResult| -> Vec<Transfer> {
        result.outcome.transfers.iter().map(|one| Transfer { path: 0, ..*one }).collect()
    };
    assert_eq!(transfers(one), transfers(other), "{case}");
    let bits =
        |result: &RunResult| -> Vec<u64> { result.ideal_s.iter().map(|alone| alone.to_bits()).collect() };
    assert_eq!(bits(one), bits(other), "{case}: alone");
    assert_eq!(one.outcome.queues.len(), other.outcome.queues.len());
    for (ours, theirs) in one.outcome.queues.iter().zip(&other.outcome.queues) {
        assert_eq!(ours.colours, theirs.colours, "{case}, {}", ours.name);
        assert_eq!(ours.delay_s, theirs.delay_s, "{case}, {}", ours.name);
    }
    let counts = |result: &RunResult| {
        let outcome = &result.outcome;
        (
            outcome.goodput_bytes,
            outcome.events,
            outcome.opened,
            outcome.reordered,
            outcome.ended,
            outcome.forward_packets,
        )
    };
    assert_eq!(counts(one), counts(other), "{case}");
    assert_eq!((one.load, one.goodput_bps), (other.load, other.goodput_bps), "{case}");
    let crossed = |result: &RunResult| {
        let mut all: Vec<_> =
            result.outcome.balance.iter().map(|one| (one.arrived, one.dropped, one.sent)).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(crossed(one), crossed(other), "{case}: each link");
}

/// Returns the dumbbell with its shared access links, or without any, and the same network as a
/// graph.
fn dumbbell_and_graph(shared: bool, base: &Scenario) -> [Scenario; 2] {
    let link = LinkSpec {
        rate: Some("3mbit".into()),
        rtt: "90ms".into(),
        delay: "20ms".into(),
        buffer: "30p".into(),
        up_buffer: Some("30p".into()),
        ..LinkSpec::default()
    };
    let access = shared.then(|| AccessSpec {
        rate: "10mbit".into(),
        delay: "10ms".into(),
        client_rate: None,
        client_delay: None,
        servers: Some(3),
        clients: Some(4),
    });
    let bottleneck = vec![scheme("r0", "r1", "3mbit", "20ms", "30p")];
    let groups = vec![
        hosts(Role::Server, "s", "r0", 3, "10mbit", "10ms"),
        hosts(Role::Client, "c", "r1", 4, "10mbit", "10ms"),
    ];
    let topology = TopologySpec {
        rtt: Some("90ms".into()),
        ..match shared {
            true => TopologySpec { hosts: groups, ..topology_between(bottleneck, &[], &[]) },
            false => topology_between(bottleneck, &["r0"], &["r1"]),
        }
    };
    let graph =
        Scenario { link: LinkSpec::default(), access: None, topology: Some(topology), ..base.clone() };
    [Scenario { link, access, ..base.clone() }, graph]
}

/// Runs a scenario over dumbbell and graph, with and without access links, and asserts equal
/// results; `case` is for messages.
fn check_equal(base: &Scenario, case: &str) {
    for shared in [true, false] {
        let [dumbbell, graph] = dumbbell_and_graph(shared, base).map(|one| play(&one));
        assert!(!dumbbell.outcome.transfers.is_empty() && dumbbell.outcome.forward_packets > 500, "{case}");
        assert_same(&dumbbell, &graph, &format!("{case}, shared access {shared}"));
    }
}

#[test]
fn dumbbell__is_a_graph_under_every_scheme() {
    for scheme in schemes_of_graphs() {
        for is_both in [false, true] {
            let base =
                Scenario { warmup: "1s".into(), duration: "5s".into(), max_windows: 2, ..scenario(scheme) };
            let base = with_model(Scenario { at: ends(is_both), ..base }, "poisson", 1.1);
            check_equal(&base, &format!("{scheme}, both directions {is_both}"));
        }
    }
}

#[test]
fn dumbbell__is_a_graph_for_web_sessions_and_bulk() {
    for profile in ["rfc", "linux", "ns2-2001"] {
        let base =
            Scenario { warmup: "1s".into(), duration: "10s".into(), max_windows: 2, ..scenario("s-sfd") };
        let mut base = with_profile(with_model(base, "web:sfd", 0.8), profile);
        base.traffic.bulk = Some(BulkSpec { flows: 3, start_spread_s: 1.0, rtt_spread: 0.4 });
        check_equal(&base, profile);
    }
}

/// Round-trip times of their own, longer and shorter than the path's; several writes; uploads; losses; two events per hop.
#[test]
fn dumbbell__is_a_graph_for_connections_of_all_kinds() {
    let connections = (0..30u32).map(|index| {
        let bytes = 900 + u64::from(index) * 3571;
        let writes = [(0.0, bytes), (0.05, 2 * bytes), (0.5, 3000)];
        let mut one = crate::common::connection(0.2 * f64::from(index), &writes[..1 + index as usize % 3]);
        one.rtt_s = [None, Some(0.02), Some(0.3)][index as usize % 3];
        (one.client, one.server) = (index, index * 7);
        one
    });
    let connections: Vec<_> = connections.collect();
    for (direction, slow_path) in [("down", false), ("up", false), ("down", true)] {
        let base = Scenario { duration: "100s".into(), slow_path, ..scenario("p-sfd") };
        let mut base = with_connections(base, with_payload(direction, connections.clone()));
        base.faults = vec![crate::common::losses_at("down", &[20, 50]), crate::common::losses_at("up", &[9])];
        check_equal(&base, &format!("{direction}, slow path {slow_path}"));
    }
}
