//! Laws of every queue discipline: no packet appears or vanishes, the link is idle only when the queue is empty, and
//! a single FIFO never reorders.
use crate::common::hop::{Hop, coloured, packet};
use crate::common::params;
use mousehole_sim::flow::{Class, Flow};
use mousehole_sim::packet::{Colour, Packet, flag};
use mousehole_sim::queue::{self, *};
use mousehole_sim::scenario::native_part::Order;
use mousehole_sim::scenario::values::Values;
use mousehole_sim::scenario::{LinkContext, build};
use mousehole_sim::scenario::{Part, Role, Scheme};
use mousehole_sim::units::{Buffer, Dur, Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

const RATE: Rate = Rate(10_000_000);

/// What a discipline promises.
#[derive(Clone, Copy, PartialEq)]
struct Claims {
    work_conserving: bool,
    in_order: bool,
    /// Whether each direction of a connection keeps its order, whatever the colours.
    flows_in_order: bool,
}

const FIFO: Claims = Claims { work_conserving: true, in_order: true, flows_in_order: true };
/// A queue for each flow, or for each class of connections.
const FLOWS: Claims = Claims { work_conserving: true, in_order: false, flows_in_order: true };
/// A queue for each colour.
const MANY: Claims = Claims { work_conserving: true, in_order: false, flows_in_order: false };
const SHAPED: Claims = Claims { work_conserving: false, in_order: false, flows_in_order: true };

/// Returns the parameters of a RED from 3 to 9 packets.
fn red_params() -> mousehole_policy::Params {
    params("red", &[("min", "3"), ("max", "9"), ("wq", "0.05"), ("ecn", "true")], RATE.0 as f64)
}

/// Returns that RED as a drop policy.
fn red_policy() -> Policy {
    Policy::Dropper(Box::new(Dropper::new(red_params())))
}

/// Returns CAKE at [`RATE`] with this limit; `change` changes its parameters.
fn make_cake(limit: Buffer, change: impl Fn(&mut queue::cake::Params)) -> Queue {
    let mut params = queue::cake::Params { limit, ..queue::cake::Params::new(RATE) };
    change(&mut params);
    Queue::Cake(Box::new(Cake::new(params, 5)))
}

/// Returns a queue of the catalogue with settings, on a link of [`RATE`]; panics if the text is
/// wrong.
fn catalogue_queue(text: &str, limit: Buffer) -> Queue {
    let context =
        LinkContext { rate: RATE, bottleneck: RATE, buffer: limit, seed: 5, ..LinkContext::EXAMPLE };
    Scheme::parse(text)
        .and_then(|scheme| build::build_queue(&scheme, context))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns strict priority over one RED for each colour.
fn red_bands(settings: &str, limit: Buffer) -> Queue {
    let lines = ["green", "yellow", "red"].map(|colour| format!("{colour}_min=3,{colour}_max=9"));
    catalogue_queue(&format!("priority-red({},wq=0.05,ecn=true,{settings})", lines.join(",")), limit)
}

/// Returns a host's scheduler.
fn host_queue(limit: Buffer) -> Queue {
    let profile = params("policer", &[], RATE.0 as f64);
    Queue::HostScheduler(Box::new(HostScheduler::new(profile, true, limit)))
}

/// Returns every queue of the catalogue with its guarantees, and variants. Limits are small so that
/// overflow is common.
fn disciplines(limit: Buffer) -> Vec<(String, Queue, Claims)> {
    let variants = variants(limit).into_iter().map(|(name, queue, claims)| (name.to_string(), queue, claims));
    // A link that nobody shares has no queue.
    let queues = Part::all().into_iter().filter(|part| part.role() == Role::Queue && part.name() != "empty");
    queues.map(|part| catalogue_discipline(part, limit)).chain(variants).collect()
}

/// Returns a queue of the catalogue with its name and guarantees.
fn catalogue_discipline(part: Part, limit: Buffer) -> (String, Queue, Claims) {
    let own_limit = match limit {
        Buffer::Packets(packets) => format!("{}(limit={packets}p)", part.name()),
        Buffer::Bytes(bytes) => format!("{}(limit={bytes}B)", part.name()),
    };
    let has_limit = part.parameters().iter().any(|one| one.name == "limit");
    let text = if has_limit { own_limit } else { part.name().to_string() };
    let queue = catalogue_queue(&text, limit);
    let scheme = Scheme::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let (_, values) = scheme.parts().pop().expect("it is one part");
    let claims = match (part.order(), part.reads_colours(&Values::new("", part.parameters(), &values))) {
        (Order::Fifo, _) => FIFO,
        (Order::Several, false) => FLOWS,
        (Order::Several, true) => MANY,
    };
    (text, queue, claims)
}

/// Returns queues whose settings select other code than the defaults.
fn variants(limit: Buffer) -> Vec<(&'static str, Queue, Claims)> {
    let pie = pie::Params { limit, burst: Dur::ZERO, alpha: 10.0, beta: 100.0, ..pie::Params::default() };
    let derandomised = pie::Params { derandomise: true, cap: true, delay: pie::Delay::DepartureRate, ..pie };
    let adaptive = AdaptiveRed::new(red_params(), 0.1, Default::default()).expect("good parameters");
    let law = match limit {
        Buffer::Packets(packets) => format!("target=1ms,interval=10ms,limit={packets}p"),
        Buffer::Bytes(bytes) => format!("target=1ms,interval=10ms,limit={bytes}B"),
    };
    let srpt = |rank| Queue::Srpt(Box::new(Srpt::new(srpt::Params { rank, limit })));
    vec![
        ("droptail", Queue::Fifo(Fifo::new(limit, Policy::DropTail)), FIFO),
        ("red", Queue::Fifo(Fifo::new(limit, red_policy())), FIFO),
        ("ared", Queue::Fifo(Fifo::new(limit, Policy::Adaptive(Box::new(adaptive)))), FIFO),
        ("codel", catalogue_queue(&format!("codel({law})"), limit), FIFO),
        ("pie", Queue::Pie(Box::new(Pie::new(pie))), FIFO),
        ("pie-rate", Queue::Pie(Box::new(Pie::new(derandomised))), FIFO),
        ("fq-codel", catalogue_queue(&format!("fq-codel(flows=16,quantum=1514B,{law})"), limit), FLOWS),
        ("cake", make_cake(limit, |_| {}), FLOWS),
        ("cake-tins", make_cake(limit, |params| params.tins = Some(ClassifyBy::Class)), FLOWS),
        (
            "cake-shaped",
            make_cake(limit, |params| (params.rate, params.shape) = (Rate(RATE.0 / 2), true)),
            SHAPED,
        ),
        ("pq", red_bands("shared=false", limit), MANY),
        ("pq-shared", red_bands("pushout=false", limit), MANY),
        ("pq-push-out", red_bands("pushout=true", limit), MANY),
        ("pq-two", catalogue_queue("priority(colours=2,pushout=false)", limit), MANY),
        ("wrr", catalogue_queue("wrr(weight=99.9)", limit), FLOWS),
        ("srpt", srpt(srpt::Rank::Remaining), FLOWS),
        ("host", host_queue(limit), SHAPED),
        ("las", srpt(srpt::Rank::Attained), FLOWS),
    ]
}

/// Gap in µs, then flow, size, colour, whether ECN-capable, whether backwards.
type Arrival = (u64, u32, u16, usize, bool, bool);

/// Generates arrivals: gap, flow, bytes, colour, whether ECN-capable, whether reverse.
fn any_arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![4 => 0u64..2_000, 1 => 0u64..60_000];
    let one = (gap, 0u32..12, 40u16..=1500, 0usize..3, any::<bool>(), any::<bool>());
    prop::collection::vec(one, 1..300)
}

/// Generates buffers in packets or in bytes.
fn any_limit() -> impl Strategy<Value = Buffer> {
    prop_oneof![(1u32..40).prop_map(Buffer::Packets), (1500u64..40_000).prop_map(Buffer::Bytes)]
}

/// Plays arrivals of twelve flows until everything has left; packets are numbered in `seq`, in the
/// order of arrival.
fn play_arrivals(queue: Queue, arrivals: &[Arrival], slow: bool) -> Hop {
    let mut hop = Hop::new(RATE, queue, slow);
    for slot in 0..12 {
        let class = [Class::Interactive, Class::Web, Class::Bulk][slot as usize % 3];
        let flow = Flow { key: u64::from(slot), client: slot % 4, server: slot % 3, class };
        if hop.link.queue().is_flow_aware() {
            hop.link.queue().open(slot, &flow);
        }
    }
    let mut now = Time::ZERO;
    for (seq, &(gap, flow, bytes, colour, ect, reverse)) in arrivals.iter().enumerate() {
        now += Dur(gap * 1000);
        let flags = flag::bits_if(ect, flag::ECT) | flag::bits_if(reverse, flag::REVERSE);
        let remaining = (flow as u16 + 1) * 7;
        let plain = coloured(Colour::ALL[colour], packet(flow, seq as u32, bytes));
        hop.arrive(Packet { flags, remaining, ..plain }, now);
    }
    hop.finish();
    hop
}

/// Checks that each of `count` packets is sent or dropped, once, and unchanged but for a mark on an
/// ECN-capable one, and that none still waits.
///
/// # Errors
/// The first packet of which that is not so, with the queue's name.
fn check_conservation(name: &str, hop: &mut Hop, count: usize) -> Result<(), TestCaseError> {
    let mut fates = BTreeMap::new();
    for packet in hop.left.iter().map(|left| left.packet).chain(hop.dropped.iter().map(|drop| drop.packet)) {
        prop_assert!(fates.insert(packet.seq, packet).is_none(), "{}: packet {} twice", name, packet.seq);
        prop_assert!(!packet.has(flag::CE) || packet.has(flag::ECT), "{}: a mark on what knows none", name);
    }
    prop_assert_eq!(fates.len(), count, "{}", name);
    prop_assert_eq!(hop.link.backlog(Time(u64::MAX - 1)), (0, 0), "{}", name);
    Ok(())
}

/// Checks that the link works whenever something waits: departures are back to back from an arrival
/// on.
///
/// # Errors
/// The first packet that starts at another time, with the queue's name.
fn check_work(name: &str, hop: &Hop, arrivals: &[Arrival]) -> Result<(), TestCaseError> {
    let mut times = Vec::new();
    let mut now = Time::ZERO;
    for (gap, ..) in arrivals {
        now += Dur(gap * 1000);
        times.push(now);
    }
    let mut free = Time::ZERO;
    for left in &hop.left {
        // Between the end of the last packet and the start of this one nothing may have waited: in a queue
        // that may drop late, at least the packet that is sent must not have.
        let arrived = times[left.packet.seq as usize];
        prop_assert_eq!(left.start, free.max(arrived), "{}: packet {}", name, left.packet.seq);
        free = left.end;
    }
    Ok(())
}

/// Returns whether packets left in the order of their arrival.
fn is_in_order(hop: &Hop) -> bool {
    hop.left.windows(2).all(|pair| pair[0].packet.seq < pair[1].packet.seq)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn laws__hold_for_every_discipline(arrivals in any_arrivals(), limit in any_limit()) {
        for (name, queue, claims) in disciplines(limit) {
            let mut hop = play_arrivals(queue, &arrivals, true);
            check_conservation(&name, &mut hop, arrivals.len())?;
            if claims.work_conserving {
                check_work(&name, &hop, &arrivals)?;
            }
            prop_assert!(!claims.in_order || is_in_order(&hop), "{} reorders", name);
        }
    }

    /// Where departures are known at the arrival, both paths do the same.
    #[test]
    fn paths__fast_equals_slow(arrivals in any_arrivals(), limit in any_limit()) {
        let pairs = disciplines(limit).into_iter().zip(disciplines(limit));
        for ((name, mut fast, _), (_, slow, _)) in pairs {
            if fast.as_fifo().is_none() {
                continue;
            }
            let (fast, slow) = (play_arrivals(fast, &arrivals, false), play_arrivals(slow, &arrivals, true));
            prop_assert_eq!(&fast.left, &slow.left, "{}", name);
        }
    }

    /// Fair queues, ideals and class queues keep the order within a direction of a connection.
    #[test]
    fn order__is_kept_within_flows_where_flows_are_queued(arrivals in any_arrivals(), limit in any_limit()) {
        let keep = disciplines(limit).into_iter().filter(|(.., claims)| claims.flows_in_order);
        for (name, queue, _) in keep {
            let hop = play_arrivals(queue, &arrivals, true);
            let mut last = BTreeMap::new();
            for packet in hop.left.iter().map(|left| left.packet) {
                let before = last.insert((packet.flow, packet.is_reverse()), packet.seq);
                prop_assert!(before.is_none_or(|before| before < packet.seq), "{} reorders", name);
            }
        }
    }
}
