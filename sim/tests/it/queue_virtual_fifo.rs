//! The virtual FIFO, by which programs in the kernel model a queue that they cannot see, against the simulator's
//! FIFO and against a token bucket.
use crate::common::virtual_fifo::{CAPACITY, VirtualFifo};
use mousehole_policy::{
    Backlog, COLOURS, FullBuffer, Limit, LinkContext, NEVER, Params, Verdict, View, find,
};
use mousehole_sim::link::{self, Link, Pace};
use mousehole_sim::link_layer::Wire;
use mousehole_sim::packet::{Colour, Kind, Packet, flag};
use mousehole_sim::queue::{Dropper, Fifo, Policy, Queue};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::units::{Buffer, Dur, Rate, Time};
use proptest::prelude::*;

/// An arrival: its gap to the one before in packets of 750 B at the link's rate, its bytes, its colour.
type Arrival = (f64, u16, Colour);

/// Generates an arrival: gap in full packets' times, bytes, colour.
fn any_arrival() -> impl Strategy<Value = Arrival> {
    let gap = prop_oneof![Just(0.0), Just(2.0), 0.0..1.5, 0.0..1.5, 0.0..30.0];
    let bytes = prop_oneof![Just(1500u16), 40u16..=1500, any::<u16>()];
    (gap, bytes, prop::sample::select(Colour::ALL.to_vec()))
}

/// Generates a rate in bit/s.
fn any_rate() -> impl Strategy<Value = u64> {
    prop_oneof![1_000u64..=1_000_000_000_000, (3u32..=12).prop_map(|power| 10u64.pow(power)), 1000u64..9999]
}

/// Generates parameters of RED or multi-RED, or none.
fn any_dropper() -> impl Strategy<Value = Option<Params>> {
    let params = |name: &str, settings: &[(&str, &str)]| {
        Some(Params::from_text(find(name).expect("shipped"), settings, &LinkContext::EXAMPLE).expect("valid"))
    };
    let red: &[(&str, &str)] = &[("min", "2"), ("max", "9"), ("wq", "0.2"), ("ecn", "true")];
    let lines = |mode| {
        let mut all = vec![("wq", "0.2"), ("mode", mode)];
        all.extend([("green_min", "4"), ("green_max", "20"), ("yellow_min", "2"), ("yellow_max", "9")]);
        all.extend([("red_min", "1"), ("red_max", "5"), ("gentle", "true")]);
        all
    };
    let multi = ["coupled", "decoupled", "total"].map(|mode| params("multi-red", &lines(mode)));
    let [coupled, decoupled, total] = multi;
    prop::sample::select(vec![None, params("red", red), coupled, decoupled, total])
}

/// Returns the arrivals as packets with their times in ns.
fn with_times(rate: u64, arrivals: &[Arrival]) -> Vec<(u64, Packet)> {
    let mut now = 0.0;
    let timed = arrivals.iter().map(|&(gap, bytes, colour)| {
        now += gap * 750.0 * 8e9 / rate as f64;
        (now as u64, Packet { colour, flags: flag::ECT, ..Packet::new(0, Kind::Data, 0, bytes) })
    });
    timed.collect()
}

/// The simulator's FIFO at a link, and the same dropper before a virtual one.
struct Pair {
    fifo: Fifo,
    pace: Pace,
    overhead: u32,
    busy_until: Time,
    rng: Stream,
    virtual_fifo: VirtualFifo,
    dropper: Option<Dropper>,
    draws: Stream,
    limit: u32,
}

impl Pair {
    /// Returns an empty FIFO and its virtual model.
    fn new(rate: u64, overhead: u32, limit: u32, params: Option<Params>) -> Pair {
        let dropper = params.map(Dropper::new);
        let policy = dropper.clone().map_or(Policy::DropTail, |dropper| Policy::Dropper(Box::new(dropper)));
        let stream = || Stream::new(1, Purpose::Queue, 0);
        Pair {
            fifo: Fifo::new(Buffer::Packets(limit), policy),
            pace: Pace::new(Rate(rate)),
            overhead,
            busy_until: Time::ZERO,
            rng: stream(),
            virtual_fifo: VirtualFifo::new(rate, overhead, 0),
            dropper,
            draws: stream(),
            limit,
        }
    }

    /// Passes a packet to the simulator's FIFO, which may mark it. Returns the backlog that it
    /// found, and when it starts in ns, `None` if it is dropped.
    fn pass_real(&mut self, packet: &mut Packet, now: Time) -> (Backlog, Option<u64>) {
        let start = self.fifo.pass(packet, now, self.busy_until, &mut self.rng).ok();
        let mut found = self.fifo.waiting(now);
        if let Some(start) = start {
            if start > now {
                found.remove(packet.colour, u32::from(packet.bytes));
            }
            self.busy_until = start + self.pace.tx_time(u64::from(packet.bytes) + u64::from(self.overhead));
        }
        (found, start.map(|start| start.0))
    }

    /// Passes a packet to the virtual FIFO, after the departures due by `now`. Returns the same,
    /// and whether the packet was marked.
    fn pass_virtual(&mut self, view: &View, now: Time) -> (Backlog, Option<u64>, bool) {
        let departures = self.virtual_fifo.settle(now.0);
        let found = self.virtual_fifo.backlog(view);
        let mut verdict = Verdict::Pass;
        let full = Limit::packets(self.limit).is_full(&found, view.ip_bytes, 1);
        if let Some(dropper) = &mut self.dropper {
            if dropper.policy().tracks_departures() {
                for (colour, last_ns) in departures.colours() {
                    dropper.record_departure(colour, &found, Time(last_ns));
                }
            }
            if !full || FullBuffer.asks(dropper.policy().sees_full_buffers()) {
                verdict = dropper.judge_with(view, &found, now, self.draws.bits32());
            }
        }
        if full {
            verdict = FullBuffer.verdict(verdict);
        }
        if verdict.drops() {
            return (found, None, false);
        }
        (found, self.virtual_fifo.admit(view), verdict == Verdict::Mark)
    }
}

proptest! {
    /// Backlogs, idle times, starts, marks, drops and averages are the same, for any arrivals at any rate.
    #[test]
    fn virtual_fifo__is_the_simulators_fifo(
        rate in any_rate(),
        overhead in prop::sample::select(vec![0u32, 14, 38, 64]),
        limit in 0u32..40,
        params in any_dropper(),
        arrivals in prop::collection::vec(any_arrival(), 1..400),
    ) {
        let mut pair = Pair::new(rate, overhead, limit, params);
        for (at, (now, mut packet)) in with_times(rate, &arrivals).into_iter().enumerate() {
            let (view, now) = (packet.view(), Time(now));
            let (found, start) = pair.pass_real(&mut packet, now);
            let (modelled, modelled_start, marked) = pair.pass_virtual(&view, now);
            prop_assert_eq!(found, modelled, "arrival {}", at);
            prop_assert_eq!(start, modelled_start, "arrival {}", at);
            prop_assert_eq!(packet.has(flag::CE), marked, "arrival {}", at);
            if let Some(dropper) = &pair.dropper {
                prop_assert_eq!(pair.fifo.averages(), dropper.readings(), "arrival {}", at);
            }
        }
    }

    /// So are the starts at a link with a burst, on its fast path. A burst that takes less than half a nanosecond is none,
    /// and the link a transmitter.
    #[test]
    fn virtual_fifo__is_the_simulators_token_bucket(
        rate in any_rate(),
        overhead in prop::sample::select(vec![0u32, 14, 38]),
        burst in prop_oneof![1u32..100, 1u32..100_000],
        arrivals in prop::collection::vec(any_arrival(), 1..300),
    ) {
        let queue = Queue::Fifo(Fifo::new(Buffer::Packets(u32::MAX), Policy::DropTail));
        let mut link = Link::new("bucket", 0, Rate(rate), Dur(5), queue, 0);
        link.set_wire(Wire::plain(overhead));
        link.set_burst(burst.into());
        let mut fifo = VirtualFifo::new(rate, overhead, burst);
        let is_bucket = Rate(rate).tx_time(burst.into()) > Dur::ZERO;
        for (now, mut packet) in with_times(rate, &arrivals) {
            fifo.settle(now);
            let (view, backlog) = (packet.view(), link.backlog(Time(now)));
            let found = fifo.backlog(&view);
            prop_assert_eq!((found.packets, found.bytes), backlog);
            let arrival = link.arrive(&mut packet, Time(now));
            let link::Arrival::Arrives { start, at } = arrival else { panic!("{arrival:?}") };
            let wire_bytes = u64::from(packet.bytes) + u64::from(overhead);
            let sent = if is_bucket { start } else { start + Rate(rate).tx_time(wire_bytes) };
            prop_assert_eq!((Some(start.0), at), (fifo.admit(&view), sent + Dur(5)));
            prop_assert_eq!(found.idle_since_ns != NEVER, start.0 == now);
        }
    }

    #[test]
    fn tx_ns__is_that_of_the_rate(rate in any_rate(), bytes in 0u64..1 << 21) {
        prop_assert_eq!(VirtualFifo::new(rate, 0, 0).tx_ns(bytes), Rate(rate).tx_time(bytes).0);
    }

    /// Tokens in ns, as Linux's tbf counts them: full at first, and a packet leaves when they pay for all of it.
    #[test]
    fn virtual_fifo__with_a_burst_is_a_token_bucket(
        rate in any_rate(),
        burst in 1500u32..200_000,
        arrivals in prop::collection::vec(any_arrival(), 1..300),
    ) {
        let (pace, mut fifo) = (Pace::new(Rate(rate)), VirtualFifo::new(rate, 0, burst));
        let depth = i128::from(pace.tx_time(u64::from(burst)).0);
        let (mut tokens, mut checked, mut last, mut waiting) = (depth, 0i128, 0i128, Vec::<(i128, u64)>::new());
        for (now, packet) in with_times(rate, &arrivals) {
            let bytes = packet.bytes.min(1500);
            let view = View::new(u32::from(bytes)).with_colour(packet.colour);
            fifo.settle(now);
            waiting.retain(|&(start, _)| start > i128::from(now));
            let found = fifo.backlog(&view);
            prop_assert_eq!(found.packets as usize, waiting.len());
            prop_assert_eq!(found.bytes, waiting.iter().map(|&(_, bytes)| bytes).sum::<u64>());
            // The head of the queue asks from its arrival, or from when the one before left, until there are enough.
            let price = i128::from(pace.tx_time(u64::from(bytes)).0);
            let from = last.max(i128::from(now));
            let then = depth.min(tokens + from - checked);
            let start = if then >= price { from } else { from + price - then };
            prop_assert_eq!(found.idle_since_ns != NEVER, start == i128::from(now));
            (tokens, checked, last) = (depth.min(tokens + start - checked) - price, start, start);
            prop_assert_eq!(fifo.admit(&view).map(i128::from), Some(start));
            waiting.push((start, u64::from(bytes)));
            if waiting.len() > 1000 {
                break;
            }
        }
    }
}

/// At 2001 bit/s every remainder is met. At the other rates a byte takes half a nanosecond and a sixth of one, which no
/// binary digits give exactly.
#[test]
fn tx_ns__is_rounded_to_the_nearest_with_halves_up() {
    for rate in [2001, 16_000_000_000, 48_000_000_000] {
        let fifo = VirtualFifo::new(rate, 0, 0);
        for bytes in 0..=2001 {
            let rounded = (2 * 8_000_000_000 * bytes + rate) / (2 * rate);
            assert_eq!(fifo.tx_ns(bytes), rounded, "{bytes} B at {rate} bit/s");
        }
    }
}

/// A packet has departed from its start on, whether few or many have since the last time.
#[test]
fn settle__counts_departures_to_the_nanosecond() {
    let view = View::new(1000);
    for count in 1..=20u32 {
        let start_ns = 1000 * u64::from(count);
        for (now_ns, departed) in [(start_ns - 1, count - 1), (start_ns, count), (start_ns + 1, count)] {
            let mut fifo = VirtualFifo::new(8_000_000_000, 0, 0); // 1 ns a byte
            (0..=21).for_each(|number| assert_eq!(fifo.admit(&view), Some(1000 * number)));
            assert_eq!(fifo.settle(0).packets, [1, 0, 0]);
            assert_eq!(fifo.settle(now_ns).packets, [departed, 0, 0], "{now_ns} ns");
            assert_eq!(fifo.backlog(&view).packets, 21 - departed, "{now_ns} ns");
        }
    }
}

/// Colours are listed in the order of their last departures, whichever that is.
#[test]
fn settle__lists_colours_in_the_order_of_their_last_departures() {
    use Colour::{Green, Red, Yellow};
    let orders = [
        [Green, Yellow, Red],
        [Green, Red, Yellow],
        [Yellow, Green, Red],
        [Yellow, Red, Green],
        [Red, Green, Yellow],
        [Red, Yellow, Green],
    ];
    for [first, second, third] in orders {
        let mut fifo = VirtualFifo::new(8_000_000_000, 0, 0); // 1 ns a byte
        for colour in [third, first, second, third] {
            fifo.admit(&View::new(1000).with_colour(colour));
        }
        let told: Vec<_> = fifo.settle(3000).colours().collect();
        assert_eq!(told, [(first, 1000), (second, 2000), (third, 3000)]);
    }
}

/// With a burst, the queue is idle once the bucket pays for the next packet, but not before the last one has started.
#[test]
fn virtual_fifo__with_a_burst_is_idle_since_it_pays_for_a_packet() {
    let view = View::new(1000);
    for (burst, idle_since_ns) in
        [(1000, 6_000_000), (1500, 5_500_000), (2000, 5_000_000), (10_000, 5_000_000)]
    {
        let mut fifo = VirtualFifo::new(8_000_000, 0, burst); // 1 us a byte
        fifo.settle(5_000_000);
        assert_eq!(fifo.admit(&view), Some(5_000_000));
        fifo.settle(7_000_000);
        assert_eq!(fifo.backlog(&view).idle_since_ns, idle_since_ns, "a burst of {burst} B");
    }
}

/// A super-packet is one admission: it starts and departs as a whole, and its overhead is that of its segments.
#[test]
fn virtual_fifo__takes_a_super_packet_as_a_whole() {
    let mut fifo = VirtualFifo::new(8_000_000, 10, 0); // 1 us a byte
    let view = View::new(15_000).with_segments(10);
    let small = View::new(100).with_colour(Colour::Red);
    assert_eq!(
        [&view, &view, &small].map(|view| fifo.admit(view)),
        [Some(0), Some(15_100_000), Some(30_200_000)]
    );
    fifo.settle(15_099_999);
    let found = fifo.backlog(&small);
    assert_eq!((found.packets, found.bytes), (11, 15_100));
    assert_eq!((found.colour_packets, found.colour_bytes), ([10, 0, 1], [15_000, 0, 100]));
    assert_eq!(found.idle_since_ns, NEVER);
    let departures = fifo.settle(15_100_000);
    assert_eq!((departures.packets, departures.last_ns[0]), ([10, 0, 0], 15_100_000));
    fifo.settle(40_000_000);
    assert_eq!(fifo.backlog(&small), Backlog { idle_since_ns: 30_310_000, ..Backlog::default() });
}

/// What does not fit the ring is refused and changes nothing; each departure makes room for one.
#[test]
fn virtual_fifo__refuses_what_its_ring_does_not_hold() {
    let mut fifo = VirtualFifo::new(8_000_000_000, 0, 0); // 1 ns a byte
    let view = View::new(1000);
    fifo.settle(0);
    for number in 0..=CAPACITY as u64 {
        assert_eq!(fifo.admit(&view), Some(number * 1000));
    }
    assert_eq!(fifo.admit(&view), None);
    fifo.settle(0);
    assert_eq!(fifo.backlog(&view).packets as usize, CAPACITY);
    assert_eq!(fifo.admit(&view), None);
    fifo.settle(0);
    assert_eq!(fifo.backlog(&view).packets as usize, CAPACITY);
    assert_eq!(fifo.settle(2000).packets, [2, 0, 0]);
    let starts = [0, 1, 2].map(|_| fifo.admit(&view));
    assert_eq!(starts, [Some(4_096_000), Some(4_097_000), None]);
}

/// A packet counts as at most 2^20 - 1 bytes of IP length, and takes the time of at most 2^21 - 1 bytes.
#[test]
fn virtual_fifo__limits_what_a_packet_counts() {
    const MOST: u32 = (1 << 20) - 1;
    let small = View::new(100);
    for (bytes, counted, sent) in [
        (MOST, MOST, MOST),
        (1 << 20, MOST, 1 << 20),
        ((1 << 21) - 1, MOST, (1 << 21) - 1),
        (1 << 21, MOST, (1 << 21) - 1),
    ] {
        let mut fifo = VirtualFifo::new(8_000_000, 0, 0); // 1 us a byte
        assert_eq!([small, View::new(bytes)].map(|view| fifo.admit(&view)), [Some(0), Some(100_000)]);
        fifo.settle(0);
        assert_eq!(fifo.backlog(&small).bytes, u64::from(counted), "{bytes}");
        assert_eq!(fifo.admit(&small), Some(100_000 + 1000 * u64::from(sent)), "{bytes}");
    }
}

/// The clocks of two processors may differ: time stands still instead of running backwards.
#[test]
fn virtual_fifo__does_not_go_back_in_time() {
    let mut fifo = VirtualFifo::new(8_000_000, 0, 0);
    let view = View::new(1000);
    assert_eq!([0, 1].map(|_| fifo.admit(&view)), [Some(0), Some(1_000_000)]);
    assert_eq!(fifo.settle(1_000_000).packets, [2, 0, 0]);
    assert_eq!(fifo.settle(500_000).packets, [0; COLOURS]);
    assert_eq!(fifo.backlog(&view).packets, 0);
    // Since 2 ms the queue is idle; 3 ms have been seen.
    fifo.settle(3_000_000);
    fifo.settle(2_500_000);
    assert_eq!(fifo.admit(&view), Some(3_000_000));
}
