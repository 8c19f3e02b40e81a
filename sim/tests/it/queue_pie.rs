//! PIE against RFC 8033: the controller's steps, the rules that protect arrivals, and steps made late.
use crate::common::hop::{Hop, ms, packet};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::packet::{Packet, flag};
use mousehole_sim::queue::pie::{Controller, Delay, Params};
use mousehole_sim::queue::{Dequeued, Dropped, Pie, Queue};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::units::{Buffer, Dur, Rate, Time};
use proptest::prelude::*;

/// Returns a controller without burst allowance.
fn make_controller(probability: f64, delay_s: f64) -> Controller {
    Controller { probability, delay_s, burst: Dur::ZERO }
}

/// Returns the probability after one step at a delay.
fn probability_after_step(params: &Params, mut from: Controller, delay_s: f64) -> f64 {
    from.step(params, delay_s);
    from.probability
}

/// `alpha · (delay − target) + beta · (delay − old)`, scaled by the table of the RFC, each row by hand.
#[test]
fn step__every_row_of_the_table() {
    let params = Params::default();
    // 25 ms now, 20 ms before: 0.125 · 0.010 + 1.25 · 0.005 = 0.0075.
    let rows = [
        (0.0, 2048.0),
        (5e-6, 512.0),
        (5e-5, 128.0),
        (5e-4, 32.0),
        (5e-3, 8.0),
        (5e-2, 2.0),
        (0.1, 1.0),
        (0.5, 1.0),
    ];
    for (probability, divisor) in rows {
        let change =
            probability_after_step(&params, make_controller(probability, 0.020), 0.025) - probability;
        assert!((change - 0.0075 / divisor).abs() < 1e-12, "from {probability}: {change}");
    }
}

#[test]
fn step__decays_and_stays_a_probability() {
    let params = Params::default();
    // An empty queue twice: alpha · (−15 ms) = −0.001875, then 2 % less.
    let next = probability_after_step(&params, make_controller(0.3, 0.0), 0.0);
    assert!((next - (0.3 - 0.001875) * 0.98).abs() < 1e-12, "{next}");
    assert_eq!(probability_after_step(&params, make_controller(1e-9, 0.0), 0.0), 0.0);
    assert_eq!(probability_after_step(&params, make_controller(0.9, 0.0), 10.0), 1.0);
    let capped = Params { cap: true, ..params };
    assert!((probability_after_step(&capped, make_controller(0.2, 0.0), 1.0) - 0.22).abs() < 1e-12);
    assert!(
        (probability_after_step(&capped, make_controller(0.05, 0.0), 0.1) - (0.05 + 0.135625 / 2.0)).abs()
            < 1e-12
    );
}

struct Driven {
    pie: Pie,
    rng: Stream,
    drops: Vec<Dropped>,
}

impl Driven {
    /// Returns an empty queue.
    fn new(params: Params) -> Driven {
        Driven { pie: Pie::new(params), rng: Stream::new(3, Purpose::Queue, 0), drops: Vec::new() }
    }

    /// Adds a packet to the queue; if it is dropped it goes into `drops`.
    fn enqueue(&mut self, packet: Packet, now: Time) {
        self.pie.enqueue(packet, now, &mut self.rng, &mut self.drops);
    }

    /// Returns the next packet, `None` if none waits.
    fn dequeue(&mut self, now: Time) -> Option<Packet> {
        match self.pie.dequeue(now) {
            Dequeued::Packet(packet, _) => Some(packet),
            _ => None,
        }
    }

    /// Plays a queue that is filled to `waiting` packets at every ms before `until` and sends one.
    /// Returns the times of drops and of marks in ms, and empties `drops`.
    fn play_standing_queue(&mut self, flags: u8, waiting: u32, until: u64) -> (Vec<u64>, Vec<u64>) {
        let (mut lost, mut marked) = (Vec::new(), Vec::new());
        for now in 0..until {
            for _ in 0..waiting.saturating_sub(self.pie.backlog().0) + 1 {
                self.enqueue(Packet { flags, ..packet(1, 0, 1000) }, ms(now));
            }
            let left = self.dequeue(ms(now)).expect("a standing queue");
            marked.extend(left.has(flag::CE).then_some(now));
            lost.extend(self.drops.drain(..).map(|_| now));
        }
        (lost, marked)
    }
}

/// MAX_BURST: 150 ms and the ten steps in it pass unpunished, however long the queue.
#[test]
fn burst__is_allowed_for_150_ms() {
    let mut driven = Driven::new(Params { alpha: 50.0, beta: 0.0, ecn: false, ..Params::default() });
    let (lost, _) = driven.play_standing_queue(0, 60, 400);
    let first = *lost.first().expect("a delay of 60 ms is punished at last");
    assert!((150..170).contains(&first), "first drop at {first} ms");
}

#[test]
fn spares__a_short_queue_and_a_short_delay() {
    let eager = Params { burst: Dur::ZERO, alpha: 1000.0, ecn: false, ..Params::default() };
    // Two packets of 1500 bytes may always wait.
    let mut driven = Driven::new(eager);
    for now in 0..2000 {
        driven.enqueue(packet(1, 0, 1500), ms(now * 30));
        if driven.pie.backlog().0 > 2 {
            driven.dequeue(ms(now * 30 + 29));
        }
        if driven.pie.backlog().1 <= 1500 {
            assert!(driven.drops.is_empty());
        }
    }
    assert_eq!(driven.pie.controller().probability, 1.0, "the delay is far above the target all the time");
    assert!(driven.drops.is_empty(), "an arrival never found more than 3000 bytes");
    // A probability of zero, or a delay below half the target, drops nothing.
    let mut calm = Driven::new(Params { burst: Dur::ZERO, ..Params::default() });
    let (lost, marked) = calm.play_standing_queue(0, 5, 5000);
    assert!(lost.is_empty() && marked.is_empty());
}

/// Below 10 % ECT packets are marked; from there on they are lost like others.
#[test]
fn ecn__marks_below_ten_percent() {
    let (_, marked) = Driven::new(Params::default()).play_standing_queue(flag::ECT, 20, 3000);
    let (lost, _) = Driven::new(Params::default()).play_standing_queue(0, 20, 3000);
    assert!(!marked.is_empty() && !lost.is_empty());
    // One sender that never listens, at twice the rate: the probability passes 10 % on its way.
    let slow = Params { burst: Dur::ZERO, alpha: 0.01, beta: 0.1, ..Params::default() };
    let mut driven = Driven::new(slow);
    let (mut by_seq, mut fates) = (Vec::new(), [0; 2]);
    for now in 0..20_000 {
        driven.pie.advance(ms(now));
        for _ in 0..2 {
            driven.enqueue(Packet { flags: flag::ECT, ..packet(1, by_seq.len() as u32, 1000) }, ms(now));
            by_seq.push(driven.pie.controller().probability);
        }
        let left = driven.dequeue(ms(now)).expect("a standing queue");
        let early = driven
            .drops
            .drain(..)
            .filter(|drop| drop.reason == DropReason::Early)
            .map(|drop| drop.packet.seq);
        for seq in early {
            assert!(by_seq[seq as usize] >= 0.1);
            fates[0] += 1;
        }
        if left.has(flag::CE) {
            assert!(by_seq[left.seq as usize] < 0.1);
            fates[1] += 1;
        }
    }
    assert!(fates.iter().all(|count| *count > 10), "lost and marked: {fates:?}");
}

/// De-randomised: at a probability of p, drops are at least 0.85 / p and at most 8.5 / p arrivals apart.
#[test]
fn derandomised__drops_are_spaced() {
    let frozen = Params {
        derandomise: true,
        burst: Dur::ZERO,
        ecn: false,
        limit: Buffer::Packets(1_000_000),
        ..Params::default()
    };
    let mut driven = Driven::new(frozen);
    // Raise the probability with a long delay, then hold the clock so that it stays.
    (0..100).for_each(|_| driven.enqueue(packet(1, 0, 1000), ms(0)));
    let mut now = 100;
    while driven.pie.controller().probability < 0.05 {
        driven.dequeue(ms(now));
        driven.enqueue(packet(1, 0, 1000), ms(now));
        now += 1;
    }
    let probability = driven.pie.controller().probability;
    driven.drops.clear();
    let mut gaps = Vec::new();
    let mut since = 0u32;
    for _ in 0..20_000 {
        driven.enqueue(packet(1, 0, 1000), ms(now - 1));
        since += 1;
        if driven.drops.pop().is_some() {
            gaps.push(f64::from(std::mem::take(&mut since)));
        }
    }
    assert_eq!(driven.pie.controller().probability, probability);
    let (least, most) = ((0.85 / probability).ceil(), (8.5 / probability).ceil());
    assert!(gaps.len() > 100);
    assert!(gaps.iter().skip(1).all(|gap| (least..=most).contains(gap)), "{least} to {most}: {gaps:?}");
}

/// A link of 1000 bytes per ms: 16 KiB are 17 packets, which leave in the 17 ms after the one that started the
/// measurement (RFC 8033 appendix B: that one does not count).
#[test]
fn departure_rate__is_measured_over_16_kib() {
    let params = Params { delay: Delay::DepartureRate, ..Params::default() };
    let mut driven = Driven::new(params);
    (0..60).for_each(|seq| driven.enqueue(packet(1, seq, 1000), ms(0)));
    (0..30).for_each(|now| {
        driven.dequeue(ms(now));
    });
    // The step at 15 ms knows no rate yet, that at 30 ms does: 30 packets wait.
    driven.pie.advance(ms(30));
    let expected = 30_000.0 * 0.017 / 16_384.0;
    assert!((driven.pie.controller().delay_s - expected).abs() < 1e-9, "{:?}", driven.pie.controller());
}

/// Ten senders of a round-trip time of 100 ms as a fluid (a packet more per round trip, half at a loss) on
/// 10 Mbit/s: the mean delay is the target's, within the swing of ten senders.
#[test]
fn loop__holds_the_delay_near_the_target() {
    let pie = Pie::new(Params { ecn: false, ..Params::default() });
    let mut hop = Hop::new(Rate(10_000_000), Queue::Pie(Box::new(pie)), true);
    let (mut now, mut rate, mut seen) = (0.0f64, 8e6, 0);
    let (mut delay, mut samples) = (0.0, 0.0);
    while now < 120.0 {
        let at = Time((now * 1e9) as u64);
        hop.arrive(packet(1, 0, 1500), at);
        let step = 12_000.0 / rate;
        rate *= libm::pow(0.95, (hop.dropped.len() - seen) as f64);
        rate += 10.0 * 12_000.0 / 0.1 / 0.1 * step;
        seen = hop.dropped.len();
        if now > 40.0 {
            delay += hop.link.backlog(at).1 as f64 * 8.0 / 10e6;
            samples += 1.0;
        }
        now += step;
    }
    let mean = delay / samples;
    assert!((0.010..0.022).contains(&mean), "mean delay {mean} s");
    assert!(hop.dropped.iter().all(|drop| drop.reason == DropReason::Early));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Steps taken late equal steps taken by a timer, and drop the same packets.
    #[test]
    fn steps__taken_late_equal_timely_ones(
        gaps in prop::collection::vec((0u64..40_000, 0u8..3), 1..400),
        departure_rate in any::<bool>(),
    ) {
        let delay = if departure_rate { Delay::DepartureRate } else { Delay::Timestamp };
        let params = Params { delay, burst: Dur::from_millis(30), ..Params::default() };
        let (mut lazy, mut timed) = (Driven::new(params), Driven::new(params));
        let mut now = 0;
        for (seq, (gap_us, what)) in gaps.into_iter().enumerate() {
            let next = now + gap_us * 1000;
            (now / 15_000_000 + 1..=next / 15_000_000).for_each(|step| timed.pie.advance(Time(step * 15_000_000)));
            now = next;
            for driven in [&mut lazy, &mut timed] {
                match what {
                    0 => drop(driven.dequeue(Time(now))),
                    _ => (0..10).for_each(|_| driven.enqueue(packet(1, seq as u32, 1500), Time(now))),
                }
            }
            prop_assert_eq!(lazy.pie.controller(), timed.pie.controller());
            prop_assert_eq!(lazy.pie.backlog(), timed.pie.backlog());
        }
        let seqs = |driven: &Driven| driven.drops.iter().map(|drop| (drop.packet.seq, drop.reason)).collect::<Vec<_>>();
        prop_assert_eq!(seqs(&lazy), seqs(&timed));
        prop_assert!(lazy.drops.iter().all(|drop| matches!(drop.reason, DropReason::Early | DropReason::Forced)));
    }
}

/// A queue left alone for a year takes the steps of the year at once.
#[test]
fn steps__long_idle_is_cheap_and_forgets() {
    let mut driven = Driven::new(Params::default());
    driven.play_standing_queue(0, 60, 1000);
    let before = driven.pie.controller().probability;
    while driven.dequeue(ms(1000)).is_some() {}
    driven.pie.advance(ms(365 * 86_400_000));
    assert!(
        before > 0.0 && driven.pie.controller() == make_controller(0.0, 0.0),
        "{:?}",
        driven.pie.controller()
    );
    driven.enqueue(packet(1, 0, 1000), ms(365 * 86_400_000));
    assert_eq!(driven.pie.controller().burst, Dur::from_millis(150), "a new burst is allowed");
}
