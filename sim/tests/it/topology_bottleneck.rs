//! The fields of a topology that describe its bottleneck.
use crate::common::topology::{chain_topology, kind, scenario_carrying, scenario_over, scheme, small_tree};
use crate::common::{assert_error, find_error, transfers, with_model};
use mousehole_sim::scenario::topology::spec::{TopologyLink, TopologySpec};
use mousehole_sim::scenario::{Plan, Scenario};
use mousehole_sim::units::{Buffer, Dur};

/// Returns the plan of a topology with one transfer; panics if it is refused.
fn make_plan(spec: TopologySpec) -> Plan {
    let scenario = scenario_carrying(spec, "sfd", transfers(1, 0.0, 1000));
    Plan::new(&scenario).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a field with this text.
fn some_text(value: &str) -> Option<String> {
    Some(value.into())
}

/// Returns rate in bit/s and buffer of the bottleneck, in the direction of the data, then back.
fn both_ways(plan: &Plan) -> [(u64, Buffer); 2] {
    [0, 1].map(|number| (plan.links[number].rate.0, plan.links[number].buffer))
}

#[test]
fn rate_and_buffer__are_of_both_directions_as_a_links_are() {
    let changed =
        make_plan(TopologySpec { rate: some_text("2mbit"), buffer: some_text("20p"), ..chain_topology() });
    assert_eq!(both_ways(&changed), [(2_000_000, Buffer::Packets(20)); 2]);
    assert_eq!(changed.rate.0, 2_000_000);
    let others: Vec<u64> = changed.links[2..].iter().map(|link| link.rate.0).collect();
    assert_eq!(others, [10_000_000; 4]);
    let up = TopologySpec { up: some_text("500kbit"), up_buffer: some_text("9p"), ..chain_topology() };
    let changed = make_plan(TopologySpec { rate: some_text("2mbit"), ..up });
    assert_eq!(both_ways(&changed), [(2_000_000, Buffer::Packets(30)), (500_000, Buffer::Packets(9))]);
}

/// The way back keeps what was written for it alone.
#[test]
fn rate__leaves_an_explicit_reverse_link_alone() {
    let one_way = |from, to, rate| TopologyLink { one_way: true, ..scheme(from, to, rate, "5ms", "30p") };
    let mut spec = chain_topology();
    spec.links.splice(1..2, [one_way("left", "right", "3mbit"), one_way("right", "left", "1mbit")]);
    spec.bottleneck = some_text("left-right");
    spec.rate = some_text("2mbit");
    assert_eq!(both_ways(&make_plan(spec)).map(|way| way.0), [2_000_000, 1_000_000]);
}

/// The bottleneck stays the link it was, and buffers in bandwidth-delay products follow its rate.
#[test]
fn kinds__change_the_bottleneck_alone() {
    for (name, bottleneck, others) in [
        ("y", "n3-n1", vec![("n3-n2", 10_000_000)]),
        ("two-tier", "r1-r0", vec![("r0-r2", 2_000_000)]),
        ("tree", "left-right", vec![]),
    ] {
        let spec = if name == "tree" { small_tree() } else { kind(name) };
        let changed = make_plan(TopologySpec { rate: some_text("50mbit"), ..spec });
        assert_eq!((changed.links[0].name.as_str(), changed.rate.0), (bottleneck, 50_000_000), "{name}");
        for (other, rate) in others {
            let found = changed.links.iter().find(|link| link.name == other).expect("the link");
            assert_eq!(found.rate.0, rate, "{name}");
        }
    }
    let buffer = |rate: &str| make_plan(TopologySpec { rate: some_text(rate), ..kind("y") }).links[0].buffer;
    assert_eq!((buffer("4mbit"), buffer("8mbit")), (Buffer::Bytes(60_000), Buffer::Bytes(120_000)));
}

#[test]
fn rtt__is_of_connections_whose_path_is_shorter() {
    let longer = make_plan(TopologySpec { rtt: some_text("100ms"), ..chain_topology() });
    assert_eq!((longer.own_rtt, longer.rtt), (Dur::from_millis(100), Dur::from_millis(100)));
    let spec = TopologySpec { rtt: some_text("13ms"), ..chain_topology() };
    let error = find_error(&scenario_over(spec, "sfd"));
    assert_error(&error, &["topology.rtt", "\"13ms\"", "at least 0.014s", "shortest path"]);
}

#[test]
fn faults__name_the_field() {
    let refused = |spec: TopologySpec, parts: &[&str]| {
        assert_error(&find_error(&with_model(scenario_over(spec, "sfd"), "poisson", 0.5)), parts);
    };
    refused(TopologySpec { rate: some_text("fast"), ..chain_topology() }, &["topology.rate", "\"fast\""]);
    refused(TopologySpec { buffer: some_text("0p"), ..chain_topology() }, &["topology.buffer", "\"0p\""]);
    refused(
        TopologySpec { buffer: some_text("unlimited"), ..chain_topology() },
        &["topology.buffer", "\"unlimited\"", "with a scheme"],
    );
    refused(TopologySpec { up: some_text("1"), ..chain_topology() }, &["topology.up", "\"1\""]);
    let mut two = chain_topology();
    two.links[0].scheme = true;
    refused(
        TopologySpec { rate: some_text("2mbit"), ..two.clone() },
        &["topology.rate", "\"2mbit\"", "topology.bottleneck"],
    );
    refused(
        TopologySpec { buffer: some_text("9p"), ..two.clone() },
        &["topology.buffer", "\"9p\"", "topology.bottleneck"],
    );
    make_plan(TopologySpec { rate: some_text("2mbit"), bottleneck: some_text("left-right"), ..two });
}

/// What is filled in reads the same, is accepted and means the same.
#[test]
fn filled__names_the_bottleneck_and_is_stable() {
    for spec in [
        chain_topology(),
        kind("y"),
        kind("two-tier"),
        TopologySpec { rate: some_text("1500kbit"), ..small_tree() },
    ] {
        let first = make_plan(spec);
        let filled = first.filled();
        let topology = filled.topology.clone().expect("a topology");
        assert_eq!(topology.bottleneck.as_deref(), Some(first.links[0].name.as_str()));
        assert!(topology.rate.is_some() && topology.buffer.is_some() && topology.up.is_some());
        let again =
            Scenario::from_toml(&filled.to_toml(), "filled").unwrap_or_else(|error| panic!("{error}"));
        let second = Plan::new(&again).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((second.filled(), both_ways(&second)), (filled, both_ways(&first)));
    }
}
