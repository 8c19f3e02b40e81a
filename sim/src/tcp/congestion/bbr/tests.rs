//! Tests of BBR's model without a network: acknowledgements in, state and control parameters out.

use super::*;
use std::collections::VecDeque;

/// A path of `rate` segments per second and 100 ms, and a sender that always has data: each round trip what was in
/// flight arrives in steps of two segments.
struct Path {
    bbr: Bbr,
    now: Time,
    delivered: u32,
    /// When, with how much delivered, and at which rate segments were sent.
    sent: VecDeque<(Time, u32, f64)>,
    rate: f64,
    rtt: Dur,
    /// Share of a round trip's segments that samples report as lost.
    loss: f64,
}

impl Path {
    /// Returns a path on which a first round trip of the connection is over.
    fn new(rate: f64) -> Path {
        let params = Params::find_profile("bbr").expect("a known profile");
        let mut bbr = Bbr::new(&params, 1);
        bbr.pacing(Some(Dur::from_millis(100)), Time::ZERO);
        let now = Time::ZERO + Dur::from_millis(100);
        let sent = VecDeque::from([(Time::ZERO, 0, 100.0)]);
        Path { bbr, now, delivered: 0, sent, rate, rtt: Dur::from_millis(100), loss: 0.0 }
    }

    /// Returns the model under test.
    fn model(&self) -> &Model {
        &self.bbr.model
    }

    /// Returns the congestion window in segments.
    fn cwnd(&self) -> f64 {
        self.bbr.window.cwnd()
    }

    /// Delivers an acknowledgement of two segments. They were sent a round trip ago, at the rate of
    /// that time, and arrive at no more than the path's rate.
    fn acknowledge_two(&mut self) {
        let then = Time(self.now.0 - self.rtt.0);
        while self.sent.len() > 1 && self.sent[1].0 <= then {
            self.sent.pop_front();
        }
        let (_, prior_delivered, rate) = self.sent[0];
        let rate = rate.min(self.rate);
        self.now += Dur::from_secs(2.0 / rate);
        self.delivered += 2;
        let sending = self.model().pacing_rate.min(self.cwnd() / self.rtt.as_secs());
        self.sent.push_back((self.now, self.delivered, sending));
        let in_flight = (sending * self.rtt.as_secs()) as u32;
        let sample = RateSample {
            rate,
            delivered: self.delivered - prior_delivered,
            prior_delivered,
            lost: (self.loss * f64::from(in_flight)) as u32,
            tx_in_flight: in_flight,
            is_app_limited: false,
        };
        self.bbr.on_model_ack(&ModelAck {
            now: self.now,
            rtt: Some(self.rtt),
            newly_acked: 2,
            in_flight,
            delivered: self.delivered,
            is_window_limit: true,
            rate: Some(sample),
        });
    }

    /// Acknowledges segments until the model counts a new round trip.
    fn run_round(&mut self) {
        let round = self.model().round_count;
        while self.model().round_count == round {
            self.acknowledge_two();
        }
    }

    /// Acknowledges segments until the model is in `state`; returns the number of round trips,
    /// which must not exceed `most`.
    fn run_until(&mut self, state: State, most: u32) -> u32 {
        let begun = self.model().round_count;
        while self.model().state != state {
            self.acknowledge_two();
            let rounds = self.model().round_count - begun;
            assert!(rounds <= most, "no {state:?} in {most} rounds, but {:?}", self.model().state);
        }
        self.model().round_count - begun
    }

    /// Reports a lost segment: the `lost`th since it was sent, of `tx_in_flight` in flight.
    fn lose(&mut self, lost: u32, tx_in_flight: u32) {
        let seq = 10 * self.delivered + 2 * lost;
        let lost = LostSegment { seq, lost, tx_in_flight, is_app_limited: false };
        let delivered = self.delivered;
        self.bbr.on_lost(&lost, delivered, self.now);
    }
}

/// Section 5.6.2: the initial window over the round-trip time, times 2.77.
#[test]
fn begin__paces_the_initial_window() {
    let path = Path::new(1000.0);
    assert_eq!(path.model().pacing_rate, 2.77 * 10.0 / 0.1);
    assert_eq!((path.model().quantum, path.cwnd()), (2.0, 10.0));
}

/// Sections 5.3.1 and 5.3.2: the rate doubles until three rounds show no growth of a quarter; then the queue drains.
#[test]
fn startup__ends_when_the_rate_stops_growing() {
    let mut path = Path::new(1000.0);
    let rounds = path.run_until(State::Drain, 20);
    assert!((6..=10).contains(&rounds), "{rounds}");
    assert!((path.model().bw - 1000.0).abs() < 1.0);
    assert_eq!(path.model().pacing_gain, DRAIN_PACING_GAIN);
    // The data in flight is below the path's already when DOWN begins, which ends it at once.
    path.run_until(State::Cruise, 4);
}

/// Section 5.3.1.3: losses in six places of a round in recovery, above two per cent.
#[test]
fn startup__ends_by_loss() {
    let mut path = Path::new(1e6);
    (0..3).for_each(|_| path.run_round());
    path.bbr.enter_recovery();
    path.loss = 0.1;
    (0..5).for_each(|place| path.lose(place + 1, 40));
    path.run_round();
    path.run_round();
    assert_eq!(path.model().state, State::Startup, "five places are not enough");
    (0..6).for_each(|place| path.lose(place + 1, 40));
    path.run_round();
    path.run_round();
    assert_ne!(path.model().state, State::Startup);
    assert!(path.model().inflight_longterm.is_finite());
}

/// Section 5.3.3: DOWN, CRUISE, REFILL for a round, UP until the rate stops growing; two to three seconds a cycle.
#[test]
fn probe_bw__cycles() {
    let mut path = Path::new(1000.0);
    path.run_until(State::Cruise, 30);
    let begun = path.now;
    path.run_until(State::Refill, 40);
    let waited = path.now.since(begun).as_secs();
    assert!((1.7..=3.2).contains(&waited), "{waited}");
    assert_eq!(path.run_until(State::Up, 5), 1);
    assert_eq!((path.model().pacing_gain, path.model().cwnd_gain), (1.25, 2.25));
    path.run_until(State::Down, 8);
    assert_eq!(path.model().pacing_gain, 0.9);
}

/// Section 5.5.10.2: more than two per cent lost of what an UP had in flight bounds the data in flight.
#[test]
fn probe_bw__much_loss_sets_the_long_term_bound() {
    let mut path = Path::new(1000.0);
    path.run_until(State::Cruise, 30);
    path.run_until(State::Up, 60);
    path.lose(2, 125);
    assert_eq!(path.model().state, State::Up, "1.6 %");
    path.lose(3, 125);
    assert_eq!(path.model().state, State::Down);
    let bound = path.model().inflight_longterm;
    assert!((bound - (124.0 + (0.02 * 124.0 - 2.0) / 0.98)).abs() < 1e-9, "{bound}");
    // Section 5.3.3.6: the next probe stops when it reaches the bound.
    assert!(path.model().was_too_high);
    let headroom = path.model().inflight_with_headroom();
    assert!((headroom - 0.85 * bound).abs() < 1e-9);
}

/// Section 5.5.10.3: while cruising a loss lowers the short-term bounds, to seven tenths at most; REFILL lifts them.
#[test]
fn cruise__a_loss_lowers_the_short_term_bounds() {
    let mut path = Path::new(1000.0);
    path.run_until(State::Cruise, 40);
    path.rate = 500.0;
    (0..2).for_each(|_| path.run_round());
    path.lose(1, 100);
    (0..2).for_each(|_| path.run_round());
    let lowered = path.model().bw_shortterm / path.model().max_bw.get();
    assert!((0.69..=0.9).contains(&lowered), "{lowered}");
    assert_eq!(path.model().bw, path.model().bw_shortterm);
    path.run_until(State::Refill, 60);
    assert!(path.model().bw_shortterm.is_infinite());
}

/// Section 5.3.4: after five seconds without a lower round-trip time half of the data for 200 ms, and back.
#[test]
fn probe_rtt__halves_the_data_in_flight() {
    let mut path = Path::new(1000.0);
    path.run_until(State::Cruise, 40);
    path.rtt = Dur::from_millis(110);
    path.run_until(State::ProbeRtt, 60);
    assert!((4.9..=5.6).contains(&path.now.as_secs()), "{:?}", path.now);
    let before = path.model().prior_cwnd;
    path.rate = 400.0;
    path.run_round();
    assert!(path.cwnd() <= path.model().probe_rtt_cwnd());
    path.run_until(State::Cruise, 8);
    assert!(path.cwnd() >= 0.8 * before.min(path.model().inflight_longterm));
}

/// Section 5.6.4.4: recovery keeps the window and gives it back.
#[test]
fn recovery__gives_the_window_back() {
    let mut path = Path::new(1000.0);
    path.run_until(State::Cruise, 40);
    let before = path.cwnd();
    path.bbr.enter_recovery();
    path.bbr.window_mut().set_cwnd(1.0);
    path.bbr.end_recovery();
    assert_eq!(path.cwnd(), before);
}

/// Section 5.4.1: from idle at the bandwidth, not faster.
#[test]
fn restart_from_idle__paces_at_the_bandwidth() {
    let mut path = Path::new(1000.0);
    path.run_until(State::Cruise, 30);
    path.run_until(State::Up, 60);
    path.bbr.restart_from_idle(path.delivered, path.now);
    assert!((path.model().pacing_rate - 0.99 * path.model().bw).abs() < 1e-6);
    assert!(path.model().is_idle_restart);
}

/// Section 5.3.3.8: flows with other salts probe at other times.
#[test]
fn probe_wait__depends_on_the_salt() {
    let params = Params::find_profile("bbr").expect("a known profile");
    let wait = |salt| {
        let mut bbr = Bbr::new(&params, salt);
        bbr.model.start_down(0, Time::ZERO);
        bbr.model.probe_wait
    };
    assert_ne!(wait(1), wait(2));
    assert!((2.0..=3.0).contains(&wait(3).as_secs()));
}
