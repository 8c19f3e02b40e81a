//! The whole program in the kernel against the simulator: the same packets at the same times with
//! the same random numbers pass the parser, marker, virtual FIFO and drop policy in the kernel, and
//! the marker and FIFO of the simulator. Every decision is compared, and after every thousand
//! packets the averages and the end of the last transmission.
//!
//! The program is compiled with `ML_REPLAY`, so that it takes time and random numbers from the
//! packet's context; otherwise it is the one that is attached to devices. The token bucket has no
//! depth, since the simulator's link sends bit by bit.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

mod common;

use common::frame::{ACK, IPV4, SYN, TCP, UDP, V4, ethernet, tcp};
use common::{Config, Context, DROP, Harness, NEXT, can_run};
use mousehole_live::layout::{ACCOUNT, Flow as Account, KEEP_DSCP, Plain as _, STATE};
use mousehole_live::object::compile_with;
use mousehole_policy::{Counts, Params, State};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::flow::Flow;
use mousehole_sim::link::Pace;
use mousehole_sim::marker::PolicyMarker;
use mousehole_sim::packet::{Colour, Kind, Packet, flag};
use mousehole_sim::queue::{Dropper, Fifo, Policy};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::scenario::LinkContext;
use mousehole_sim::scenario::Scheme;
use mousehole_sim::units::{Buffer, Rate, Time};

/// How many packets each scheme gets, over all links.
const PACKETS: u32 = 1_000_000;
/// How many flows are active by turns.
const FLOWS: u64 = 200;
/// The seed of the marker's random numbers.
const SEED: u64 = 9;
/// Bytes of `struct mh_virtual_fifo`, the last member of the program's state.
const FIFO_BYTES: usize = 24 * 2 + 24 * 2 + 8 + 4096 * 32;

/// A link with its buffer.
#[derive(Debug, Clone, Copy)]
struct Link {
    rate: u64,
    overhead: u32,
    buffer: Buffer,
}

/// Links of different rates, with buffers in packets and in bytes.
const LINKS: [Link; 4] = [
    Link { rate: 10_000_000, overhead: 0, buffer: Buffer::Packets(50) },
    Link { rate: 1_234_567, overhead: 38, buffer: Buffer::Bytes(40_000) },
    Link { rate: 100_000_000, overhead: 14, buffer: Buffer::Packets(200) },
    Link { rate: 997_000_000, overhead: 14, buffer: Buffer::Bytes(150_000) },
];

/// The marker and the dropper of a scheme at a link.
struct Parts {
    marker: Option<Params>,
    dropper: Option<Params>,
}

impl Parts {
    /// Returns the parts of a scheme, which must all run in the kernel.
    ///
    /// # Panics
    /// For a scheme of which a part runs in the simulator only.
    fn new(text: &str, link: Link) -> Parts {
        let rate = Rate(link.rate);
        let context =
            LinkContext { rate, bottleneck: rate, buffer: link.buffer, seed: SEED, ..LinkContext::EXAMPLE };
        let scheme = Scheme::parse(text).expect("a scheme");
        let mut params = scheme.set_up(context).expect("it fits the link");
        let dropper = params.pop().expect("a scheme has a queue");
        assert!(params.len() < 2, "{text}");
        let marker = params.pop().flatten();
        let native: Vec<&str> = scheme.parts().iter().map(|(part, _)| part.name()).collect();
        let decided = usize::from(marker.is_some()) + usize::from(dropper.is_some());
        assert!(decided == native.len() || native.last() == Some(&"droptail"), "{native:?} in the kernel");
        Parts { marker, dropper }
    }

    /// Returns the name of the program.
    fn program_name(&self) -> String {
        let name =
            |part: &Option<Params>, none| part.as_ref().map_or(none, |params| params.policy().c_name());
        format!("{}-none-{}", name(&self.marker, "none"), name(&self.dropper, "droptail"))
    }
}

/// Generates arrivals: about a tenth more than the link carries, in bursts, with pauses in which
/// everything drains.
struct Arrivals {
    rng: Stream,
    now: f64,
    mean_gap_ns: f64,
    sent: Vec<u32>,
    /// Payload of each flow since its last SYN, bytes.
    positions: Vec<u32>,
}

impl Arrivals {
    /// Returns the arrivals at a link, before the first.
    fn new(link: Link) -> Arrivals {
        let mean_gap_ns = 800.0 * 8e9 / link.rate as f64 / 1.1;
        Arrivals {
            rng: Stream::new(1, Purpose::Arrival, 0),
            now: 1e6,
            mean_gap_ns,
            sent: vec![0; FLOWS as usize],
            positions: vec![0; FLOWS as usize],
        }
    }

    /// Returns the next packet and when it arrives; advances the time, the random stream and the
    /// flow's position.
    fn next_arrival(&mut self) -> (Time, Packet) {
        let draw = self.rng.bits();
        self.now += match draw & 0xfff {
            0 => 2e9 * self.rng.uniform(),
            1..=31 => self.mean_gap_ns * 60.0,
            32..=1023 => 0.0,
            _ => self.rng.exponential(self.mean_gap_ns),
        };
        // A few flows send most.
        let flow = match draw >> 12 & 3 {
            0 => draw >> 16 & 7,
            _ => (draw >> 16) % FLOWS,
        } as u32;
        let sent = &mut self.sent[flow as usize];
        *sent += 1;
        let (kind, bytes) = match draw >> 24 & 127 {
            0 => (Kind::Syn, 40),
            1..=12 => (Kind::Ack, 40),
            13..=40 => (Kind::Data, 41 + (draw >> 32) as u16 % 1460),
            _ => (Kind::Data, 1500),
        };
        // Some flows are of datagrams alone.
        let kind = if flow % 4 == 3 { Kind::Datagram } else { kind };
        let ect = flag::bits_if(draw >> 48 & 1 == 1, flag::ECT);
        let position = &mut self.positions[flow as usize];
        *position = match kind {
            Kind::Syn => 0,
            Kind::Data => position.wrapping_add(u32::from(bytes) - 40),
            _ => *position,
        };
        // Without a window: packets have no field for it in the kernel.
        let packet = Packet::new(flow, kind, *sent, bytes);
        let position = if kind == Kind::Datagram { 0 } else { *position };
        let packet = Packet { flags: ect, window_hint: 0, position, ..packet };
        (Time(self.now as u64), packet)
    }
}

/// The decision on a packet: its colour and whether it was marked; `None` if it was dropped.
type Decision = Option<(Colour, bool)>;

/// The simulator's marker and FIFO, with the link's state.
struct Simulator {
    marker: Option<PolicyMarker>,
    fifo: Fifo,
    pace: Pace,
    overhead: u32,
    busy_until: Time,
    rng: Stream,
    /// Packets by colour, and drops by reason: early, then forced.
    coloured: [u64; 3],
    dropped: [u64; 2],
}

impl Simulator {
    /// Returns the parts at an idle link.
    fn new(parts: &Parts, link: Link) -> Simulator {
        let policy = match &parts.dropper {
            Some(params) => Policy::Dropper(Box::new(Dropper::new(params.clone()))),
            None => Policy::DropTail,
        };
        let mut marker = parts.marker.clone().map(|params| PolicyMarker::new(params, SEED));
        if let Some(marker) = &mut marker {
            (0..FLOWS as u32).for_each(|slot| marker.open(slot, &Flow::default()));
        }
        Simulator {
            marker,
            fifo: Fifo::new(link.buffer, policy),
            pace: Pace::new(Rate(link.rate)),
            overhead: link.overhead,
            busy_until: Time::ZERO,
            rng: Stream::new(SEED, Purpose::Queue, 0),
            coloured: [0; 3],
            dropped: [0; 2],
        }
    }

    /// Returns the random numbers that marker and dropper will draw for a packet. Neither stream
    /// advances.
    fn peek_randoms(&self, packet: &Packet, now: Time) -> (u32, u32) {
        let index = u64::from(packet.seq) << 32 ^ now.0;
        let marker = Stream::new(SEED, Purpose::Marker, u64::from(packet.flow)).draw_at(index) as u32;
        (marker, { self.rng }.bits32())
    }

    /// Passes a packet through marker and FIFO, and counts the decision. Times must not decrease.
    fn pass(&mut self, mut packet: Packet, now: Time) -> Decision {
        if let Some(marker) = &mut self.marker {
            let identity = u64::from(packet.flow);
            assert!(marker.mark(&mut packet, identity, now), "no marker here discards");
        }
        self.coloured[packet.colour.index()] += 1;
        match self.fifo.pass(&mut packet, now, self.busy_until, &mut self.rng) {
            Ok(start) => {
                let wire = u64::from(packet.bytes) + u64::from(self.overhead);
                self.busy_until = start + self.pace.tx_time(wire);
                Some((packet.colour, packet.has(flag::CE)))
            }
            Err(reason) => {
                self.dropped[usize::from(reason != DropReason::Early)] += 1;
                None
            }
        }
    }
}

/// The program in the kernel, with the slow steps of its agent.
struct Kernel {
    harness: Harness,
    marker: Option<Params>,
    dropper: Option<Params>,
    /// The marker's state on the agent's side.
    state: State,
    frame: Vec<u8>,
}

/// `skb->priority` of green packets. Yellow and red follow, so that it shows the colour.
const PRIORITY: u32 = 0x10;

impl Kernel {
    /// Loads the program for a link, and runs the first slow step.
    fn new(object: &[u8], parts: &Parts, link: Link) -> Kernel {
        let params: Vec<Params> = [&parts.marker, &parts.dropper].into_iter().flatten().cloned().collect();
        let (packets, bytes) = match link.buffer {
            Buffer::Packets(packets) => (packets, 0),
            Buffer::Bytes(bytes) => (0, bytes),
        };
        let mut config = Config::new(&params)
            .with_fifo(link.rate, link.overhead, 0, packets, bytes)
            .with_dscp([KEEP_DSCP; 3]);
        config.first.action.priority = [PRIORITY, PRIORITY + 1, PRIORITY + 2];
        let mut kernel = Kernel {
            harness: Harness::load(object, 1024, &config),
            state: parts.marker.as_ref().map_or(State::new(0), |params| params.policy().new_state()),
            marker: parts.marker.clone(),
            dropper: parts.dropper.clone(),
            frame: ethernet(IPV4, &V4::new(TCP).packet(&tcp(443, 50_000, ACK, 0))),
        };
        if kernel.marker.as_ref().is_some_and(|params| params.policy().period_ns(params).is_some()) {
            kernel.run_slow_step(Time::ZERO);
        }
        kernel
    }

    /// Runs the program on a packet with these random numbers of marker and dropper. The frame ends
    /// after TCP's header, but the lengths are those of the whole packet.
    ///
    /// # Panics
    /// For a verdict that is neither to go on nor to drop.
    fn pass(&mut self, packet: &Packet, now: Time, randoms: (u32, u32)) -> Decision {
        let frame = &mut self.frame;
        frame[15] = if packet.has(flag::ECT) { 2 } else { 0 };
        frame[16..18].copy_from_slice(&packet.bytes.to_be_bytes());
        frame[26..30].copy_from_slice(&((10 << 24) | (packet.flow + 1)).to_be_bytes());
        frame[47] = if packet.kind == Kind::Syn { SYN } else { ACK };
        let (protocol, port) = if packet.kind == Kind::Datagram { (UDP, 5060_u16) } else { (TCP, 443) };
        frame[23] = protocol;
        frame[34..36].copy_from_slice(&port.to_be_bytes());
        // Each flow has another initial sequence number; a SYN's number is one less than the first byte's.
        let first = packet.flow.wrapping_mul(0x9e37_79b9).wrapping_add(u32::MAX - 20_000);
        let payload = if packet.kind == Kind::Data { u32::from(packet.bytes) - 40 } else { 0 };
        let begin = first.wrapping_add(packet.position).wrapping_sub(payload);
        let number = begin.wrapping_sub(u32::from(packet.kind == Kind::Syn));
        frame[38..42].copy_from_slice(&number.to_be_bytes());
        let context = Context {
            wire_len: u32::from(packet.bytes) + 14,
            tstamp: now.0,
            mark: randoms.0,
            cb: [randoms.1, 0, 0, 0, 0],
            ..Context::default()
        };
        let outcome = self.harness.run(&self.frame, context);
        match outcome.verdict {
            DROP => None,
            NEXT => Some((Colour::from_c(outcome.context.priority - PRIORITY), outcome.frame[15] & 3 == 3)),
            other => panic!("the program returned {other}"),
        }
    }

    /// Runs the agent's step at `now`: removes expired flows from the table, counts the others,
    /// lets the policy adapt and publishes the result. Does nothing without a marker.
    fn run_slow_step(&mut self, now: Time) {
        let Some(params) = &self.marker else { return };
        let (policy, flows) = (params.policy(), self.harness.map("ml_flows"));
        let mut counts = Counts::default();
        let keys: Vec<Vec<u8>> = flows.keys().collect();
        for key in keys {
            let Ok(Some(entry)) = flows.lookup(&key) else { continue };
            if Account::read(&entry[ACCOUNT..]).packets() == 0 {
                continue;
            }
            let flow = State::from_bytes(&entry[STATE..]);
            if policy.expired(params, &flow, now.0) {
                policy.flow_end(params, &flow, &mut self.state);
                flows.update(&key, &vec![0; entry.len()]).expect("a flow can be forgotten");
            } else {
                policy.count_flow(params, &flow, &self.state, &mut counts);
            }
        }
        policy.control(params, &mut self.state, &counts, now.0);
        // The agent writes the inactive slot and activates it; here both are written.
        let value = &self.state.bytes()[policy.published()];
        for index in 0..2u32 {
            let map = self.harness.map("ml_published");
            map.update(&index.to_ne_bytes(), value).expect("it can be written");
        }
    }

    /// Returns the program's shared state.
    fn read_state(&self) -> Vec<u8> {
        let map = self.harness.map("ml_state");
        map.lookup(&0u32.to_ne_bytes()).expect("the state can be read").expect("it exists")
    }

    /// Returns the dropper's averages, and when the last transmission ends, ns.
    fn read_averages(&self) -> (Vec<f64>, u64) {
        let all = self.read_state();
        let fifo = all.len() - FIFO_BYTES;
        let full_ns = u64::from_ne_bytes(all[fifo + 8..fifo + 16].try_into().expect("8 bytes"));
        let averages = self.dropper.as_ref().map_or(Vec::new(), |params| {
            let bytes = params.policy().sizes().2.next_multiple_of(8);
            params.policy().read(params, &State::from_bytes(&all[fifo - bytes..fifo]))
        });
        (averages, full_ns)
    }
}

/// The sums of a run: packets by colour, drops early and forced, and marked packets.
#[derive(Debug, Default)]
struct Tally {
    coloured: [u64; 3],
    dropped: [u64; 2],
    marked: u64,
}

/// Runs the same `packets` packets through both, the simulator at the first link and the kernel at
/// the second. Returns the sums.
///
/// # Errors
/// A sentence about the first packet or reading that differs.
fn compare(
    object: &[u8],
    simulated: &Parts,
    in_kernel: &Parts,
    links: (Link, Link),
    packets: u32,
) -> Result<Tally, String> {
    let mut simulator = Simulator::new(simulated, links.0);
    let mut kernel = Kernel::new(object, in_kernel, links.1);
    let mut arrivals = Arrivals::new(links.0);
    for number in 0..packets {
        let (now, packet) = arrivals.next_arrival();
        while let Some(marker) = &mut simulator.marker
            && let Some(due) = marker.control_due().filter(|due| *due <= now)
        {
            marker.control(due);
            kernel.run_slow_step(due);
        }
        let randoms = simulator.peek_randoms(&packet, now);
        let (ours, theirs) = (simulator.pass(packet, now), kernel.pass(&packet, now, randoms));
        if ours != theirs {
            return Err(format!(
                "packet {number}: {ours:?} in the simulator, {theirs:?} in the kernel; {packet:?}"
            ));
        }
        if number % 1000 == 999 {
            let (averages, full_ns) = kernel.read_averages();
            let expected = simulator.fifo.averages();
            if averages != expected {
                return Err(format!("packet {number}: averages {expected:?} and {averages:?}"));
            }
            if full_ns != simulator.busy_until.0 {
                return Err(format!("packet {number}: busy until {:?} and {full_ns}", simulator.busy_until));
            }
        }
    }
    let counters = kernel.harness.counters();
    let dropped = counters.dropped.map(|count| count.packets);
    let theirs = (counters.colour.map(|count| count.packets), [dropped[0], dropped[1] + dropped[2]]);
    let ours = (simulator.coloured, simulator.dropped);
    if ours != theirs {
        return Err(format!("colours and drops {ours:?} in the simulator, {theirs:?} in the kernel"));
    }
    Ok(Tally { coloured: ours.0, dropped: ours.1, marked: counters.ce_marked.packets })
}

/// Compiles a scheme's program so that it takes time and random numbers from the context.
///
/// # Panics
/// When clang is missing or rejects it.
fn compile_replay(parts: &Parts) -> Vec<u8> {
    compile_with(&parts.program_name(), &["-DML_REPLAY"]).unwrap_or_else(|error| panic!("{error}"))
}

/// Asserts that a scheme decides the same in both, at each link, and that every kind of decision
/// occurs. Without the right to load programs nothing is asserted.
#[track_caller]
fn assert_same(text: &str) {
    if !can_run() {
        return;
    }
    let object = compile_replay(&Parts::new(text, LINKS[0]));
    let mut all = Tally::default();
    for link in LINKS {
        let parts = Parts::new(text, link);
        let met = compare(&object, &parts, &parts, (link, link), PACKETS / LINKS.len() as u32)
            .unwrap_or_else(|difference| panic!("{text} at {link:?}: {difference}"));
        (0..3).for_each(|colour| all.coloured[colour] += met.coloured[colour]);
        (0..2).for_each(|reason| all.dropped[reason] += met.dropped[reason]);
        all.marked += met.marked;
    }
    println!("{text}: {all:?}");
    // Both sorts of decisions were met, or the comparison would say little.
    let first = Parts::new(text, LINKS[0]);
    assert_eq!(all.coloured[1] > 1000, first.marker.is_some(), "{text}: {all:?}");
    assert_eq!(all.dropped[0] > 1000, first.dropper.is_some(), "{text}: {all:?}");
    assert!(all.dropped[1] > 1000, "{text}: {all:?}");
    assert_eq!(all.marked > 1000, text.contains("ecn") || text == "rio-ps", "{text}: {all:?}");
}

#[test]
fn droptail__is_the_simulators() {
    assert_same("droptail");
}

#[test]
fn red__is_the_simulators() {
    assert_same("red(min=8,max=24,wq=0.02,wait=false,ecn=true)");
}

#[test]
fn sfd__is_the_simulators() {
    assert_same("sfd");
}

#[test]
fn excess__is_the_simulators() {
    assert_same("excess(rate=2%,datagrams=1%)|multi-red");
}

#[test]
fn p_sfd__is_the_simulators() {
    assert_same("p-sfd");
}

#[test]
fn s_sfd__is_the_simulators() {
    assert_same("s-sfd");
}

#[test]
fn rio_ps__is_the_simulators() {
    assert_same("rio-ps");
}

#[test]
fn shred__is_the_simulators() {
    assert_same("shred");
}

#[test]
fn demotion__is_the_simulators() {
    assert_same("demotion(syn=true)|multi-red");
}

/// A stateless marker: yellow beyond a position in the flow, as RuN2C has it.
const BY_POSITION: &str = r#"#include "mousehole/policy.h"
struct mh_by_position_params { u32 th; };
MH_FN u32 mh_by_position_draws(const struct mh_by_position_params *params)
{
	(void)params;
	return 0;
}
MH_FN u32 mh_by_position_packet(const struct mh_by_position_params *params, struct mh_none *flow,
				struct mh_none *state, const struct mh_view *view, u64 now_ns, u32 random)
{
	(void)flow;
	(void)state;
	(void)now_ns;
	(void)random;
	return view->sequence <= params->th ? MH_GREEN : MH_YELLOW;
}
#ifdef MH_DESCRIBE
static const struct mh_parameter mh_by_position_parameters[] = {
	{ MH_FIELD(mh_by_position_params, th), .kind = MH_SIZE, .name = "th", .value = "15kB", .least = 0,
	  .most = 4294967295.0, .meaning = "position up to which packets are green", .source = "RuN2C" },
};
#endif
MH_DRAWS(by_position)
MH_MARKER(by_position, mh_by_position_params, mh_none, mh_none, .key = MH_PER_FLOW, .returns = MH_COLOUR,
	  .summary = "marks by the position in the flow", .source = "RuN2C", .detail = "No state.",
	  MH_TABLE_OF(by_position), MH_OFFERS(by_position, draws))
"#;

/// Both count positions in bytes from a flow's first byte, wherever TCP's sequence numbers begin.
#[test]
fn position__is_the_simulators() {
    if !can_run() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("by_position.h");
    std::fs::write(&path, BY_POSITION).expect("it can be written");
    mousehole_policy::load(&path).expect("a policy");
    assert_same("by-position(th=15kB)|multi-red");
    let (one, other) = ["15000B", "14999B"]
        .map(|th| Parts::new(&format!("by-position(th={th})|multi-red"), LINKS[0]))
        .into();
    let difference = compare(&compile_replay(&one), &one, &other, (LINKS[0], LINKS[0]), PACKETS);
    assert!(difference.is_err(), "a byte less decides the same");
}

/// Packets within which a changed parameter must show.
const FEW: u32 = 100_000;

/// Each parameter is changed by the smallest step that can show: whole numbers by one, shares by a
/// thousandth.
#[test]
fn changed_parameter__is_noticed() {
    if !can_run() {
        return;
    }
    let link = LINKS[0];
    let mut unnoticed = Vec::new();
    for (text, changed) in [
        // A SYN of 40 bytes and ten full packets.
        ("sfd(th=15040B,syn=true)|multi-red", "sfd(th=15039B,syn=true)|multi-red"),
        ("sfd(th=15p)", "sfd(th=16p)"),
        ("sfd(timeout=1s)", "sfd(timeout=0.999s)"),
        ("excess(latch=false)|multi-red", "excess(latch=false,rate=160.16kbit)|multi-red"),
        ("excess(th=15kB,datagrams=100kbit)|multi-red", "excess(th=15kB,datagrams=100.1kbit)|multi-red"),
        ("excess(th=3kB)|multi-red", "excess(th=2999B)|multi-red"),
        ("sfd(wq=0.002)", "sfd(wq=0.002002)"),
        ("sfd(out_min=5)", "sfd(out_min=5.005)"),
        ("sfd(out_maxp=0.1)", "sfd(out_maxp=0.1001)"),
        ("s-sfd(k=4)", "s-sfd(k=5)"),
        ("red(min=8,max=24,wq=0.02,wait=false)", "red(min=8.008,max=24,wq=0.02,wait=false)"),
        ("red(min=8,max=24,wq=0.02,wait=false)", "red(min=8,max=24.024,wq=0.02,wait=false)"),
        ("red(min=8,max=24,wq=0.02,wait=false)", "red(min=8,max=24,wq=0.02,wait=false,maxp=0.1001)"),
        ("red(min=8,max=24,wq=0.002,wait=false)", "red(min=8,max=24,wq=0.002002,wait=false)"),
        ("rio-ps(l_t=20)", "rio-ps(l_t=21)"),
        ("rio-ps(t_c=10s)", "rio-ps(t_c=9s)"),
        ("demotion(first=10540B,syn=true)|multi-red", "demotion(first=10539B,syn=true)|multi-red"),
    ] {
        let (one, other) = (Parts::new(text, link), Parts::new(changed, link));
        let difference = compare(&compile_replay(&one), &one, &other, (link, link), FEW);
        if difference.is_ok() {
            unnoticed.push(format!("{text} in the simulator and {changed} in the kernel"));
        }
    }
    let parts = Parts::new("droptail", link);
    let object = compile_replay(&parts);
    for other in [
        Link { rate: link.rate + 10, ..link },
        Link { overhead: link.overhead + 1, ..link },
        Link { buffer: Buffer::Packets(51), ..link },
    ] {
        let difference = compare(&object, &parts, &parts, (link, other), FEW);
        if difference.is_ok() {
            unnoticed.push(format!("{link:?} in the simulator and {other:?} in the kernel"));
        }
    }
    assert!(unnoticed.is_empty(), "these decide the same: {unnoticed:#?}");
}
