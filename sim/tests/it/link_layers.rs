//! Link layers: transmission times on an empty link, loads, utilisation, and CAKE's shaper.
use crate::common::hop::{Hop, packet};
use crate::common::{connection, play, scenario, with_connections, with_model};
use mousehole_sim::link::{Arrival, Link};
use mousehole_sim::link_layer::{LinkLayer, Wire};
use mousehole_sim::queue::{Fifo, Policy, Queue};
use mousehole_sim::scenario::spec::LinkSpec;
use mousehole_sim::scenario::{LinkContext, Scenario, Scheme, build};
use mousehole_sim::units::{Buffer, Dur, Rate, Time};

/// Returns the wire of a link layer.
fn layer_wire(name: &str) -> Wire {
    Wire { overhead: 0, layer: Some(LinkLayer::find_layer("link.layer", name).unwrap()) }
}

/// Returns the scenario with a link layer.
fn with_layer(scenario: Scenario, name: &str) -> Scenario {
    Scenario { link: LinkSpec { layer: Some(name.into()), ..scenario.link.clone() }, ..scenario }
}

/// 40 bytes and 40 of PPPoE over LLC/SNAP are two cells, 1500 are 33 (tc-cake(8): pppoe-llcsnap).
#[test]
fn link__takes_the_time_of_whole_cells() {
    for (name, bytes, on_wire) in [
        ("pppoe-llcsnap", 40, 2 * 53),
        ("pppoe-llcsnap", 1500, 33 * 53),
        ("ipoa-vcmux", 40, 53),
        ("ipoa-vcmux", 41, 2 * 53),
        ("bridged-ptm", 42, 65),
        ("bridged-ptm", 43, 67),
        ("docsis", 40, 64),
        ("docsis", 47, 65),
        ("ethernet", 1500, 1538),
    ] {
        // A byte takes 1 µs.
        let queue = Queue::Fifo(Fifo::new(Buffer::Packets(9), Policy::DropTail));
        let mut link = Link::new("line", 0, Rate(8_000_000), Dur::ZERO, queue, 1);
        link.set_wire(layer_wire(name));
        let mut sent = packet(0, 0, bytes);
        let Arrival::Arrives { at, .. } = link.arrive(&mut sent, Time::ZERO) else { panic!("{name}") };
        assert_eq!(at, Time(on_wire * 1000), "{name}, {bytes} bytes");
    }
}

/// SYN up, SYN-ACK down, request up, data down, each in cells: 2, 2, 10 and 23.
#[test]
fn layer__counts_in_a_transfer_and_its_ideal_time() {
    let base = with_connections(scenario("droptail"), vec![connection(1.0, &[(0.0, 1000)])]);
    let plain = play(&base).outcome.transfers[0];
    let result = play(&with_layer(base, "adsl"));
    let transfer = result.outcome.transfers[0];
    let more: u64 =
        [(40, 2), (40, 2), (440, 10), (1040, 23)].into_iter().map(|(bytes, cells)| cells * 53 - bytes).sum();
    // A byte takes 2 µs at 4 Mb/s.
    assert_eq!(transfer.end.0 - plain.end.0, more * 2000);
    assert!((result.ideal_s[0] * 1e9 - transfer.end.since(transfer.start).0 as f64).abs() < 1.0);
}

/// Full packets fill the link at a load of 1, whatever the layer is; utilisation counts what is on the wire.
#[test]
fn load__is_of_what_full_packets_leave() {
    let run = |base: Scenario| {
        let result = play(&with_model(base, "poisson", 0.6));
        let queue = &result.outcome.queues[0];
        (queue.utilisation(), queue.sent().bytes as f64 * 8.0 / queue.window_s / queue.capacity.0 as f64)
    };
    let (plain, _) = run(scenario("droptail"));
    let (used, by_length) = run(with_layer(scenario("droptail"), "adsl"));
    assert!(
        used / by_length > 1749.0 / 1500.0,
        "small packets take more than full ones: {used}, {by_length}"
    );
    assert!((used / plain - 1.0).abs() < 0.15, "{used}, {plain}");
    assert!(used <= 1.0);
}

/// CAKE's shaper counts the layer as the kernel's does with its keyword.
#[test]
fn cake__shapes_by_bytes_on_the_wire() {
    let rate = Rate(8_000_000);
    let context = LinkContext {
        rate,
        bottleneck: rate,
        buffer: Buffer::Packets(50),
        wire: layer_wire("adsl"),
        seed: 3,
        link: 0,
    };
    let queue = build::build_queue(&Scheme::parse("cake(shape=50)").unwrap(), context).unwrap();
    let mut hop = Hop::new(rate, queue, false);
    (0..3).for_each(|number| hop.arrive(packet(0, number, 1500), Time::ZERO));
    hop.finish();
    let starts: Vec<u64> = hop.left.iter().map(|left| left.start.0).collect();
    assert_eq!(starts, [0, 2 * 1749 * 1000, 4 * 1749 * 1000]);
}
