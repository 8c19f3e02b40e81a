//! BBR congestion control, version 3 (draft-ietf-ccwg-bbr-06), in segments and seconds.
//!
//! BBR maintains a model of the path: the greatest delivery rate of the last two probing cycles, the least round-trip
//! time of ten seconds, and how much data the path has carried without much loss. It paces by the rate and bounds
//! the data in flight. It starts by doubling (section 5.3.1), drains the queue (5.3.2), and then probes for
//! bandwidth in cycles of DOWN, CRUISE, REFILL and UP (5.3.3); every five seconds it looks for the round-trip time
//! with half of the data in flight (5.3.4). Names in parentheses are the draft's.
//!
//! *Deviations*: spurious recoveries are not detected, so that nothing is undone (5.5.11); segments have one size;
//! a congestion mark (RFC 3168), on which the draft is silent, counts as a loss in its round trip; the random
//! part of a cycle's length is drawn from the connection's salt.

mod filters;

use super::Window;
use crate::tcp::profile::Params;
use crate::units::{Dur, Time};
use filters::{RecentMax, TwoCycleMax};

/// Gains of pacing and window by state (sections 2.3, 5.6.1).
const STARTUP_PACING_GAIN: f64 = 2.77;
const DRAIN_PACING_GAIN: f64 = 0.5;
const DOWN_PACING_GAIN: f64 = 0.9;
const UP_PACING_GAIN: f64 = 1.25;
const CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// Margin of the pacing rate below the bandwidth, as a share of it (`PacingMarginPercent`).
const PACING_MARGIN: f64 = 0.01;
/// Loss rate of a round trip above which a probe ends (`LossThresh`).
const LOSS_THRESHOLD: f64 = 0.02;
/// Least share of a bound that a reduction leaves (`Beta`).
const BETA: f64 = 0.7;
/// Share of the long-term bound that is left free while cruising (`Headroom`).
const HEADROOM: f64 = 0.15;
/// Least window (`MinPipeCwnd`).
const MIN_PIPE_CWND: f64 = 4.0;
/// Ranges lost in a round trip that end Startup (`StartupFullLossCnt`).
const STARTUP_LOSSES: u32 = 6;
/// Growth of the delivery rate within a round trip below which the pipe looks full, and rounds of it.
const FULL_BW_GROWTH: f64 = 1.25;
const FULL_BW_ROUNDS: u32 = 3;
/// Round trips after which Drain ends in any case.
const DRAIN_ROUNDS: u32 = 3;
/// Round trips between two probes at most, which leaves Reno and CUBIC room (section 5.3.3.8).
const MOST_PROBE_ROUNDS: f64 = 63.0;
/// Round trips in which the greatest aggregation is remembered (`ExtraAckedFilterLen`).
const AGGREGATION_ROUNDS: u32 = 10;
const MIN_RTT_WINDOW: Dur = Dur::from_millis(10_000);
const PROBE_RTT_INTERVAL: Dur = Dur::from_millis(5_000);
const PROBE_RTT_DURATION: Dur = Dur::from_millis(200);
/// Greatest quantum in bytes, and least in segments (section 5.6.3).
const GREATEST_QUANTUM: f64 = 65_536.0;
const LEAST_QUANTUM: f64 = 2.0;

/// A delivery rate sample (`RS`).
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp) struct RateSample {
    /// Segments per second; 0 if the interval is too short to tell.
    pub(in crate::tcp) rate: f64,
    /// Segments delivered in the interval.
    pub(in crate::tcp) delivered: u32,
    /// Segments delivered when the newest segment was sent.
    pub(in crate::tcp) prior_delivered: u32,
    /// Segments lost since it was sent.
    pub(in crate::tcp) lost: u32,
    /// Segments in flight when it was sent.
    pub(in crate::tcp) tx_in_flight: u32,
    pub(in crate::tcp) is_app_limited: bool,
}

/// A segment that was marked lost.
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp) struct LostSegment {
    pub(in crate::tcp) seq: u32,
    /// Segments lost since it was sent, itself included.
    pub(in crate::tcp) lost: u32,
    /// Segments in flight when it was sent.
    pub(in crate::tcp) tx_in_flight: u32,
    pub(in crate::tcp) is_app_limited: bool,
}

/// The input of BBR's model that an acknowledgement carries.
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp) struct ModelAck {
    pub(in crate::tcp) now: Time,
    /// Round-trip time of the newest segment that it delivers.
    pub(in crate::tcp) rtt: Option<Dur>,
    pub(in crate::tcp) newly_acked: u32,
    /// Segments in flight after it.
    pub(in crate::tcp) in_flight: u32,
    /// Segments delivered so far.
    pub(in crate::tcp) delivered: u32,
    /// The window limited sending in the last round trip (`C.is_cwnd_limited`).
    pub(in crate::tcp) is_window_limit: bool,
    /// The rate sample; none if nothing was delivered.
    pub(in crate::tcp) rate: Option<RateSample>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// Which part of a bandwidth probe acknowledgements report (`ack_phase`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// State of one connection. The model is in a box, as CUBIC's curve is.
#[derive(Debug, Clone)]
#[repr(C)]
pub(in crate::tcp) struct Bbr {
    window: Window,
    model: Box<Model>,
}

/// The path's model and the state machine.
#[derive(Debug, Clone)]
struct Model {
    state: State,
    has_begun: bool,
    initial_cwnd: f64,
    mss: f64,
    /// Seed of the flow's random draws, and how many were made.
    salt: u64,
    draws: u64,

    pacing_gain: f64,
    cwnd_gain: f64,
    /// Segments per second.
    pacing_rate: f64,
    quantum: f64,

    bw: f64,
    max_bw: TwoCycleMax,
    /// Bounds of the short-term model; infinite while there are none.
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,

    min_rtt: Option<Dur>,
    min_rtt_stamp: Time,
    probe_rtt_min: Option<Dur>,
    probe_rtt_stamp: Time,
    is_probe_rtt_due: bool,
    /// When ProbeRTT may end; [`Time::NEVER`] before the data in flight has fallen.
    probe_rtt_done: Time,
    has_probe_rtt_round: bool,
    is_idle_restart: bool,
    prior_cwnd: f64,
    is_recovering: bool,

    next_round_delivered: u32,
    round_count: u32,
    is_round_start: bool,
    rounds_since_probe_up: u32,

    full_bw: f64,
    full_bw_count: u32,
    is_full_now: bool,
    is_full: bool,
    drain_start_round: u32,

    bw_latest: f64,
    inflight_latest: u32,
    loss_round_delivered: u32,
    is_loss_round_start: bool,
    is_loss_in_round: bool,
    /// Ranges of segments lost in this round, and the segment after the last of them.
    lost_ranges: u32,
    after_lost: u32,

    extra_acked: RecentMax,
    extra_acked_start: Time,
    extra_acked_delivered: f64,

    ack_phase: AckPhase,
    is_probe_sample: bool,
    was_too_high: bool,
    was_precautionary: bool,
    cycle_start: Time,
    probe_wait: Dur,
    probe_up_rounds: u32,
    probe_up_acked: f64,
    probe_up_per_segment: f64,
}

impl Bbr {
    /// Returns the state before the first transmission; `salt` seeds the flow's random draws.
    pub(super) fn new(params: &Params, salt: u64) -> Bbr {
        let model = Model::new(f64::from(params.initial_window), f64::from(params.mss), salt);
        Bbr { window: Window::new(params.initial_window, None), model: Box::new(model) }
    }

    /// Returns the congestion window.
    pub(super) fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the congestion window for changing.
    pub(super) fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Returns the pacing rate in segments per second, and the quantum in segments. The first call
    /// begins the model with the round-trip time known by then (`OnInit`); without any, it counts
    /// as 1 ms (section 5.6.2).
    pub(in crate::tcp) fn pacing(&mut self, srtt: Option<Dur>, now: Time) -> (f64, u32) {
        self.model.begin(srtt, now);
        (self.model.pacing_rate, self.model.quantum as u32)
    }

    /// Updates the model and the window by an acknowledgement (`UpdateOnACK`, section 5.2.3).
    /// Returns whether the connection counts as limited by the application, as it does in ProbeRTT.
    pub(in crate::tcp) fn on_model_ack(&mut self, ack: &ModelAck) -> bool {
        let mut cwnd = self.window.cwnd();
        self.model.update(ack, &mut cwnd);
        self.window.set_cwnd(cwnd);
        self.model.state == State::ProbeRtt
    }

    /// Records a segment marked lost (`HandleLostPacket`, section 5.5.10.2); `delivered` segments
    /// have been delivered so far.
    pub(in crate::tcp) fn on_lost(&mut self, lost: &LostSegment, delivered: u32, now: Time) {
        let cwnd = self.window.cwnd();
        self.model.on_lost(lost, cwnd, delivered, now);
    }

    /// Counts a loss that is repaired already, or a congestion mark, as a loss in the present round
    /// trip; the window stays.
    pub(super) fn note_loss_in_round(&mut self) {
        self.model.is_loss_in_round = true;
    }

    /// Enters recovery, by fast retransmit or timeout (section 5.6.4.4): saves the window for its
    /// end, but does not reduce it.
    pub(super) fn enter_recovery(&mut self) {
        self.model.save_cwnd(self.window.cwnd());
        self.model.is_recovering = true;
    }

    /// Ends recovery: the window is at least the one saved before (`RestoreCwnd`).
    pub(super) fn end_recovery(&mut self) {
        self.model.is_recovering = false;
        self.window.set_cwnd(self.window.cwnd().max(self.model.prior_cwnd));
    }

    /// Prepares for the first segment after an idle time (`HandleRestartFromIdle`): ProbeBW paces
    /// at the bandwidth, and ProbeRTT ends if its time is over, which restores the window.
    /// `delivered` segments have been delivered so far.
    pub(in crate::tcp) fn restart_from_idle(&mut self, delivered: u32, now: Time) {
        let mut cwnd = self.window.cwnd();
        self.model.restart_from_idle(&mut cwnd, delivered, now);
        self.window.set_cwnd(cwnd);
    }
}

impl Model {
    /// Returns the model before the first transmission; the window is in segments, `mss` in bytes.
    fn new(initial_cwnd: f64, mss: f64, salt: u64) -> Model {
        Model {
            state: State::Startup,
            has_begun: false,
            initial_cwnd,
            mss,
            salt,
            draws: 0,
            pacing_gain: STARTUP_PACING_GAIN,
            cwnd_gain: CWND_GAIN,
            pacing_rate: 0.0,
            quantum: LEAST_QUANTUM,
            bw: 0.0,
            max_bw: TwoCycleMax::default(),
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min: None,
            probe_rtt_stamp: Time::ZERO,
            is_probe_rtt_due: false,
            probe_rtt_done: Time::NEVER,
            has_probe_rtt_round: false,
            is_idle_restart: false,
            prior_cwnd: 0.0,
            is_recovering: false,
            next_round_delivered: 0,
            round_count: 0,
            is_round_start: false,
            rounds_since_probe_up: 0,
            full_bw: 0.0,
            full_bw_count: 0,
            is_full_now: false,
            is_full: false,
            drain_start_round: 0,
            bw_latest: 0.0,
            inflight_latest: 0,
            loss_round_delivered: 0,
            is_loss_round_start: false,
            is_loss_in_round: false,
            lost_ranges: 0,
            after_lost: 0,
            extra_acked: RecentMax::default(),
            extra_acked_start: Time::ZERO,
            extra_acked_delivered: 0.0,
            ack_phase: AckPhase::Init,
            is_probe_sample: false,
            was_too_high: false,
            was_precautionary: false,
            cycle_start: Time::ZERO,
            probe_wait: Dur::ZERO,
            probe_up_rounds: 0,
            probe_up_acked: 0.0,
            probe_up_per_segment: f64::INFINITY,
        }
    }

    /// Initialises the model at the first transmission (`OnInit`, `InitPacingRate`); further calls
    /// change nothing. Without a round-trip time the pacing rate assumes 1 ms.
    fn begin(&mut self, srtt: Option<Dur>, now: Time) {
        if self.has_begun {
            return;
        }
        self.has_begun = true;
        (self.min_rtt, self.min_rtt_stamp) = (srtt, now);
        (self.probe_rtt_min, self.probe_rtt_stamp) = (srtt, now);
        self.extra_acked_start = now;
        let srtt = srtt.unwrap_or(Dur::from_millis(1)).as_secs();
        self.pacing_rate = STARTUP_PACING_GAIN * self.initial_cwnd / srtt;
        self.set_quantum();
    }

    /// Updates model and `cwnd`, in segments, by an ACK: the draft's `UpdateOnACK`, in its order.
    /// State, pacing rate and quantum may change.
    fn update(&mut self, ack: &ModelAck, cwnd: &mut f64) {
        self.update_latest_delivery(ack);
        self.update_congestion_signals(ack, *cwnd);
        self.update_aggregation(ack, *cwnd);
        self.check_full_bw(ack.rate.as_ref());
        self.check_startup_done(ack);
        self.check_drain_done(ack);
        self.update_cycle(ack, *cwnd);
        self.update_min_rtt(ack);
        self.check_probe_rtt(ack, cwnd);
        self.advance_latest_delivery(ack.rate.as_ref());
        self.bw = self.max_bw.get().min(self.bw_shortterm);
        self.set_pacing_rate(self.pacing_gain);
        self.set_quantum();
        self.set_cwnd(ack, cwnd);
    }

    // Section 5.5.10.3: the delivery of the last round trip, and what losses make of it.

    /// Updates the latest delivery signals by the ACK's rate sample
    /// (`UpdateLatestDeliverySignals`), and determines whether a loss round starts. Without a
    /// sample none starts, and nothing else changes.
    fn update_latest_delivery(&mut self, ack: &ModelAck) {
        self.is_loss_round_start = false;
        let Some(rate) = &ack.rate else { return };
        self.bw_latest = self.bw_latest.max(rate.rate);
        self.inflight_latest = self.inflight_latest.max(rate.delivered);
        if rate.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = ack.delivered;
            self.is_loss_round_start = true;
        }
    }

    /// Restarts the latest delivery signals from the rate sample at the start of a loss round
    /// (`AdvanceLatestDeliverySignals`); otherwise nothing changes.
    fn advance_latest_delivery(&mut self, rate: Option<&RateSample>) {
        if let Some(rate) = rate.filter(|_| self.is_loss_round_start) {
            (self.bw_latest, self.inflight_latest) = (rate.rate, rate.delivered);
        }
    }

    /// Updates the bandwidth filter, and lowers the short-term bounds at the start of a loss round
    /// after one with loss (`UpdateCongestionSignals`). States that probe for bandwidth leave the
    /// bounds. `cwnd` is in segments.
    fn update_congestion_signals(&mut self, ack: &ModelAck, cwnd: f64) {
        self.update_max_bw(ack);
        if !self.is_loss_round_start {
            return;
        }
        if self.is_loss_in_round && !self.is_probing() {
            if self.bw_shortterm.is_infinite() {
                self.bw_shortterm = self.max_bw.get();
            }
            if self.inflight_shortterm.is_infinite() {
                self.inflight_shortterm = cwnd;
            }
            self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
            self.inflight_shortterm = f64::from(self.inflight_latest).max(BETA * self.inflight_shortterm);
        }
        self.is_loss_in_round = false;
    }

    /// Forgets the losses and deliveries of the present round (`ResetCongestionSignals`).
    fn reset_congestion_signals(&mut self) {
        (self.is_loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0.0, 0);
    }

    /// Lifts the short-term bounds (`ResetShortTermModel`).
    fn reset_short_term(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    // Sections 5.5.1 to 5.5.6: rounds and bandwidth.

    /// Counts round trips and adds the rate sample to the maximum filter of the bandwidth
    /// (`UpdateMaxBw`). A sample that the application limited counts only if it raises the maximum;
    /// without a sample no round starts.
    fn update_max_bw(&mut self, ack: &ModelAck) {
        self.is_round_start = false;
        let Some(rate) = &ack.rate else { return };
        if rate.prior_delivered >= self.next_round_delivered {
            self.start_round(ack.delivered);
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.is_round_start = true;
        }
        if rate.rate > 0.0 && (rate.rate >= self.max_bw.get() || !rate.is_app_limited) {
            self.max_bw.update(rate.rate);
        }
    }

    /// Starts a round trip, which ends when a segment sent from now on is delivered (`StartRound`);
    /// `delivered` segments have been delivered so far.
    fn start_round(&mut self, delivered: u32) {
        self.next_round_delivered = delivered;
    }

    /// Updates the degree of aggregation in segments, at most `cwnd`: how much more was
    /// acknowledged than the bandwidth explains (`UpdateACKAggregation`, section 5.5.9). Its filter
    /// spans one round trip before the pipe is full.
    fn update_aggregation(&mut self, ack: &ModelAck, cwnd: f64) {
        let mut expected = self.bw * ack.now.since(self.extra_acked_start).as_secs();
        if self.extra_acked_delivered <= expected {
            (self.extra_acked_delivered, self.extra_acked_start) = (0.0, ack.now);
            expected = 0.0;
        }
        self.extra_acked_delivered += f64::from(ack.newly_acked);
        let extra = (self.extra_acked_delivered - expected).min(cwnd);
        let rounds = if self.is_full { AGGREGATION_ROUNDS } else { 1 };
        self.extra_acked.update(extra, self.round_count, rounds);
    }

    // Section 5.3.1: Startup.

    /// Enters Startup (`EnterStartup`).
    fn enter_startup(&mut self) {
        self.state = State::Startup;
        (self.pacing_gain, self.cwnd_gain) = (STARTUP_PACING_GAIN, CWND_GAIN);
    }

    /// Restarts the test for a full pipe (`ResetFullBW`).
    fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_count, self.is_full_now) = (0.0, 0, false);
    }

    /// Checks at the start of a round whether the bandwidth has stopped growing
    /// (`CheckFullBWReached`): after three rounds without growth by a quarter the pipe counts as
    /// full. Samples that the application limited do not count.
    fn check_full_bw(&mut self, rate: Option<&RateSample>) {
        let Some(rate) = rate.filter(|rate| !rate.is_app_limited) else { return };
        if self.is_full_now || !self.is_round_start {
            return;
        }
        if rate.rate >= self.full_bw * FULL_BW_GROWTH {
            self.reset_full_bw();
            self.full_bw = rate.rate;
            return;
        }
        self.full_bw_count += 1;
        self.is_full_now = self.full_bw_count >= FULL_BW_ROUNDS;
        self.is_full |= self.is_full_now;
    }

    /// Enters Drain when Startup has filled the pipe, by bandwidth or by loss (`CheckStartupDone`).
    fn check_startup_done(&mut self, ack: &ModelAck) {
        self.check_startup_loss(ack.rate.as_ref());
        if self.state == State::Startup && self.is_full {
            self.state = State::Drain;
            (self.pacing_gain, self.cwnd_gain) = (DRAIN_PACING_GAIN, CWND_GAIN);
            self.drain_start_round = self.round_count;
        }
    }

    /// Marks the pipe as full after a round trip in recovery with a high loss rate and six ranges
    /// lost, and sets the long-term bound (`CheckStartupHighLoss`, section 5.3.1.3). At each start
    /// of a loss round the count of ranges restarts.
    fn check_startup_loss(&mut self, rate: Option<&RateSample>) {
        if self.is_full || !self.is_loss_round_start {
            return;
        }
        let is_high = rate.is_some_and(|rate| is_loss_too_high(rate.lost, rate.tx_in_flight));
        if self.is_recovering && self.lost_ranges >= STARTUP_LOSSES && is_high {
            self.is_full = true;
            self.inflight_longterm = self.bdp(1.0).max(f64::from(self.inflight_latest));
        }
        self.lost_ranges = 0;
    }

    /// Enters ProbeBW when Drain has emptied the queue or lasted [`DRAIN_ROUNDS`] (`CheckDrainDone`, section 5.3.2).
    fn check_drain_done(&mut self, ack: &ModelAck) {
        let is_drained = f64::from(ack.in_flight) <= self.inflight(1.0)
            || self.round_count > self.drain_start_round + DRAIN_ROUNDS;
        if self.state == State::Drain && is_drained {
            self.cwnd_gain = CWND_GAIN;
            self.start_down(ack.delivered, ack.now);
        }
    }

    // Section 5.3.3: ProbeBW.

    /// Enters ProbeBW_DOWN and draws the time to the next probe from the flow's random numbers
    /// (`StartProbeBW_DOWN`). Congestion signals are forgotten and a round starts.
    fn start_down(&mut self, delivered: u32, now: Time) {
        self.reset_congestion_signals();
        self.probe_up_per_segment = f64::INFINITY;
        // `PickProbeWait`: between two and three seconds, and one round trip more or less.
        let draw = self.draw();
        self.rounds_since_probe_up = (draw & 1) as u32;
        self.probe_wait = Dur::from_secs(2.0 + (draw >> 11) as f64 / (1u64 << 53) as f64);
        self.cycle_start = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round(delivered);
        self.state = State::Down;
        (self.pacing_gain, self.cwnd_gain) = (DOWN_PACING_GAIN, CWND_GAIN);
    }

    /// Enters ProbeBW_CRUISE (`StartProbeBW_CRUISE`).
    fn start_cruise(&mut self) {
        self.state = State::Cruise;
        (self.pacing_gain, self.cwnd_gain) = (1.0, CWND_GAIN);
    }

    /// Enters ProbeBW_REFILL for one round trip (`StartProbeBW_REFILL`); the short-term bounds are
    /// lifted.
    fn start_refill(&mut self, delivered: u32) {
        self.reset_short_term();
        (self.probe_up_rounds, self.probe_up_acked) = (0, 0.0);
        self.was_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round(delivered);
        self.state = State::Refill;
        (self.pacing_gain, self.cwnd_gain) = (1.0, CWND_GAIN);
    }

    /// Enters ProbeBW_UP, which probes for more bandwidth (`StartProbeBW_UP`): restarts the test
    /// for a full pipe and the growth of the long-term bound. `cwnd` is in segments.
    fn start_up(&mut self, ack: &ModelAck, cwnd: f64) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round(ack.delivered);
        self.reset_full_bw();
        self.full_bw = ack.rate.map_or(0.0, |rate| rate.rate);
        self.state = State::Up;
        (self.pacing_gain, self.cwnd_gain) = (UP_PACING_GAIN, UP_CWND_GAIN);
        self.raise_long_term_slope(cwnd);
    }

    /// Moves the cycle of ProbeBW to its next state when that is due (`UpdateProbeBWCyclePhase`).
    /// Before the pipe is full, and in other states, there is no move.
    fn update_cycle(&mut self, ack: &ModelAck, cwnd: f64) {
        if !self.is_full || self.adapt_long_term_model(ack, cwnd) {
            return;
        }
        match self.state {
            State::Down => self.leave_down(ack, cwnd),
            State::Cruise => {
                self.refill_if_due(ack, cwnd);
            }
            State::Refill if self.is_round_start => {
                self.is_probe_sample = true;
                self.start_up(ack, cwnd);
            }
            State::Up => self.leave_up(ack, cwnd),
            _ => {}
        }
    }

    /// Leaves ProbeBW_DOWN for REFILL when a probe is due, or for CRUISE once the queue is drained.
    fn leave_down(&mut self, ack: &ModelAck, cwnd: f64) {
        if !self.refill_if_due(ack, cwnd) && self.may_cruise(ack.in_flight) {
            self.start_cruise();
        }
    }

    /// Leaves ProbeBW_UP for DOWN when the probe has reached its limit; otherwise it stays.
    fn leave_up(&mut self, ack: &ModelAck, cwnd: f64) {
        if self.check_probe_limit(ack, cwnd) {
            self.was_too_high = false;
            self.start_down(ack.delivered, ack.now);
        }
    }

    /// Enters REFILL when the next probe is due (`IsTimeToProbeBW`); returns whether it did. It is
    /// due after the drawn time, or after as many round trips as the target has segments, 63 at
    /// most.
    fn refill_if_due(&mut self, ack: &ModelAck, cwnd: f64) -> bool {
        let rounds = self.target_inflight(cwnd).min(MOST_PROBE_ROUNDS);
        let is_time =
            ack.now > self.cycle_start + self.probe_wait || f64::from(self.rounds_since_probe_up) >= rounds;
        if is_time {
            self.start_refill(ack.delivered);
        }
        is_time
    }

    /// Returns whether DOWN has drained the queue, so that CRUISE may begin (`IsTimeToCruise`).
    fn may_cruise(&self, in_flight: u32) -> bool {
        let in_flight = f64::from(in_flight);
        in_flight <= self.inflight_with_headroom()
            && in_flight <= self.add_quantization_budget(self.compute_bdp(self.max_bw.get()))
    }

    /// Returns whether ProbeBW_UP has reached its limit or filled the pipe (`IsTimeToGoDown`).
    /// While the long-term bound limits the window, it restarts the test for a full pipe.
    fn check_probe_limit(&mut self, ack: &ModelAck, cwnd: f64) -> bool {
        if self.was_too_high && f64::from(ack.in_flight) >= self.inflight_longterm {
            self.was_precautionary = true;
            return true;
        }
        if ack.is_window_limit && cwnd >= self.inflight_longterm {
            self.reset_full_bw();
            self.full_bw = ack.rate.map_or(0.0, |rate| rate.rate);
            return false;
        }
        self.is_full_now
    }

    /// Updates the long-term bound by the loss rate of a probe (`AdaptLongTermModel`), and moves
    /// the phase of acknowledgements and the bandwidth filter on with the round. Returns whether it
    /// changed the state, to REFILL.
    fn adapt_long_term_model(&mut self, ack: &ModelAck, cwnd: f64) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.is_round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.is_round_start {
            self.is_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_in_probe_bw() && ack.rate.is_some_and(|rate| !rate.is_app_limited) {
                self.max_bw.advance();
            }
            if self.is_in_probe_bw() && self.was_precautionary && !self.was_too_high {
                self.start_refill(ack.delivered);
                return true;
            }
        }
        let Some(rate) = &ack.rate else { return false };
        if !is_loss_too_high(rate.lost, rate.tx_in_flight) && self.inflight_longterm.is_finite() {
            self.inflight_longterm = self.inflight_longterm.max(f64::from(rate.tx_in_flight));
            if self.state == State::Up {
                self.probe_long_term_upward(ack, cwnd);
            }
        }
        false
    }

    /// Doubles the growth of the long-term bound, for each round of ProbeBW_UP
    /// (`RaiseInflightLongtermSlope`): by one segment for every `cwnd` acknowledged, then for every
    /// half of it, and so on.
    fn raise_long_term_slope(&mut self, cwnd: f64) {
        let growth = f64::from(1u32 << self.probe_up_rounds);
        self.probe_up_rounds = (self.probe_up_rounds + 1).min(30);
        self.probe_up_per_segment = (cwnd / growth).max(1.0);
    }

    /// Raises the long-term bound by 1, 2, 4 … segments per round trip
    /// (`ProbeInflightLongtermUpward`). It stays while the window does not limit sending or is
    /// below the bound.
    fn probe_long_term_upward(&mut self, ack: &ModelAck, cwnd: f64) {
        if !ack.is_window_limit || cwnd < self.inflight_longterm {
            return;
        }
        self.probe_up_acked += f64::from(ack.newly_acked);
        if self.probe_up_acked >= self.probe_up_per_segment {
            let delta = (self.probe_up_acked / self.probe_up_per_segment).floor();
            self.probe_up_acked -= delta * self.probe_up_per_segment;
            self.inflight_longterm += delta;
        }
        if self.is_round_start {
            self.raise_long_term_slope(cwnd);
        }
    }

    // Section 5.5.10.2: losses while probing.

    /// Records a lost segment (`HandleLostPacket`): a range unless it follows the last one lost. A
    /// probe whose loss rate is too high ends: the long-term bound is set to where losses crossed
    /// the threshold (`InflightAtLoss`), and UP gives way to DOWN.
    fn on_lost(&mut self, lost: &LostSegment, cwnd: f64, delivered: u32, now: Time) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = delivered;
            self.save_cwnd(cwnd);
        }
        self.is_loss_in_round = true;
        if lost.seq != self.after_lost {
            self.lost_ranges += 1;
        }
        self.after_lost = lost.seq + 1;
        if !self.is_probe_sample || !is_loss_too_high(lost.lost, lost.tx_in_flight) {
            return;
        }
        // `InflightAtLoss`: where in the segments in flight losses crossed the threshold.
        let before = f64::from(lost.tx_in_flight) - 1.0;
        let lost_before = f64::from(lost.lost) - 1.0;
        let at_loss = before + (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD);
        self.was_too_high = true;
        self.is_probe_sample = false;
        if !lost.is_app_limited {
            self.inflight_longterm = at_loss.max(self.target_inflight(cwnd) * BETA);
        }
        if self.state == State::Up {
            self.start_down(delivered, now);
        }
    }

    // Section 5.3.4: ProbeRTT.

    /// Updates the windowed minimum filters of 5 s and 10 s by the ACK's round-trip time
    /// (`UpdateMinRTT`), and determines whether ProbeRTT is due.
    fn update_min_rtt(&mut self, ack: &ModelAck) {
        self.is_probe_rtt_due = ack.now > self.probe_rtt_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = ack.rtt
            && (self.is_probe_rtt_due || self.probe_rtt_min.is_none_or(|least| rtt < least))
        {
            (self.probe_rtt_min, self.probe_rtt_stamp) = (Some(rtt), ack.now);
        }
        let is_expired = ack.now > self.min_rtt_stamp + MIN_RTT_WINDOW;
        let is_less = self.min_rtt.is_none_or(|least| self.probe_rtt_min.is_some_and(|rtt| rtt < least));
        if is_less || is_expired {
            (self.min_rtt, self.min_rtt_stamp) = (self.probe_rtt_min, self.probe_rtt_stamp);
        }
    }

    /// Enters, continues or leaves ProbeRTT (`CheckProbeRTT`); it is not entered right after an
    /// idle time. Leaving it restores `cwnd`, in segments.
    fn check_probe_rtt(&mut self, ack: &ModelAck, cwnd: &mut f64) {
        if self.state != State::ProbeRtt && self.is_probe_rtt_due && !self.is_idle_restart {
            self.save_cwnd(*cwnd);
            self.state = State::ProbeRtt;
            (self.pacing_gain, self.cwnd_gain) = (1.0, PROBE_RTT_CWND_GAIN);
            self.probe_rtt_done = Time::NEVER;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round(ack.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack, cwnd);
        }
        if ack.rate.is_some_and(|rate| rate.delivered > 0) {
            self.is_idle_restart = false;
        }
    }

    /// Times the stay in ProbeRTT, 200 ms and a round trip from the ACK that leaves few enough
    /// segments in flight (`HandleProbeRTT`). At its end `cwnd` is restored.
    fn handle_probe_rtt(&mut self, ack: &ModelAck, cwnd: &mut f64) {
        if self.probe_rtt_done == Time::NEVER {
            if f64::from(ack.in_flight) <= self.probe_rtt_cwnd() {
                self.probe_rtt_done = ack.now + PROBE_RTT_DURATION;
                self.has_probe_rtt_round = false;
                self.start_round(ack.delivered);
            }
            return;
        }
        self.has_probe_rtt_round |= self.is_round_start;
        if self.has_probe_rtt_round {
            self.check_probe_rtt_done(ack.delivered, ack.now, cwnd);
        }
    }

    /// Leaves ProbeRTT, for CRUISE or Startup, and restores `cwnd` when its time is over
    /// (`CheckProbeRTTDone`); otherwise nothing changes.
    fn check_probe_rtt_done(&mut self, delivered: u32, now: Time, cwnd: &mut f64) {
        if self.probe_rtt_done == Time::NEVER || now <= self.probe_rtt_done {
            return;
        }
        self.probe_rtt_stamp = now;
        *cwnd = cwnd.max(self.prior_cwnd);
        self.reset_short_term();
        if self.is_full {
            self.start_down(delivered, now);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }

    /// Prepares for the first segment after an idle time (`HandleRestartFromIdle`): ProbeBW paces
    /// at the bandwidth; ProbeRTT ends if its time is over, which restores `cwnd`.
    fn restart_from_idle(&mut self, cwnd: &mut f64, delivered: u32, now: Time) {
        self.is_idle_restart = true;
        self.extra_acked_start = now;
        if self.is_in_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(delivered, now, cwnd);
        }
    }

    // Section 5.6: control parameters.

    /// Sets the pacing rate in segments per second to `gain` times the bandwidth, less
    /// [`PACING_MARGIN`]. Before the pipe is full it only rises; without a bandwidth it stays.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * (1.0 - PACING_MARGIN);
        if rate > 0.0 && (self.is_full || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// Sets the sending quantum to 1 ms at the pacing rate, within its bounds (section 5.6.3).
    fn set_quantum(&mut self) {
        let bytes = (self.pacing_rate * self.mss * 0.001).min(GREATEST_QUANTUM);
        self.quantum = (bytes / self.mss).floor().max(LEAST_QUANTUM);
    }

    /// Sets `cwnd`, in segments, from the bandwidth-delay product and the state's bounds
    /// (`SetCwnd`); it grows by at most what the ACK covers, and is never below [`MIN_PIPE_CWND`].
    fn set_cwnd(&self, ack: &ModelAck, cwnd: &mut f64) {
        let most = self.add_quantization_budget(self.bdp(self.cwnd_gain) + self.extra_acked.get());
        let grown = *cwnd + f64::from(ack.newly_acked);
        if self.is_full {
            *cwnd = grown.min(most);
        } else if *cwnd < most || f64::from(ack.delivered) < self.initial_cwnd {
            *cwnd = grown;
        }
        *cwnd = cwnd.max(MIN_PIPE_CWND);
        if self.state == State::ProbeRtt {
            *cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        let bound = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        *cwnd = cwnd.min(bound.min(self.inflight_shortterm).max(MIN_PIPE_CWND));
    }

    /// Saves the window for the end of recovery or ProbeRTT (`SaveCwnd`); within either, the
    /// greatest window saved stays.
    fn save_cwnd(&mut self, cwnd: f64) {
        let is_modulated = self.is_recovering || self.state == State::ProbeRtt;
        self.prior_cwnd = if is_modulated { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    /// Returns the bandwidth-delay product at `bw`, in segments; the initial window before any
    /// round-trip time is known.
    fn compute_bdp(&self, bw: f64) -> f64 {
        self.min_rtt.map_or(self.initial_cwnd, |rtt| bw * rtt.as_secs())
    }

    /// Returns `gain` bandwidth-delay products in segments (`BDPMultiple`); the initial window
    /// before any round-trip time is known.
    fn bdp(&self, gain: f64) -> f64 {
        if self.min_rtt.is_none() { self.initial_cwnd } else { gain * self.compute_bdp(self.bw) }
    }

    /// Returns `inflight`, in segments, raised to at least three sending quanta and `MIN_PIPE_CWND`,
    /// and by two segments in the state UP (`QuantizationBudget`).
    fn add_quantization_budget(&self, inflight: f64) -> f64 {
        let least = (3.0 * self.quantum).max(MIN_PIPE_CWND);
        inflight.max(least) + if self.state == State::Up { 2.0 } else { 0.0 }
    }

    /// Returns `gain` bandwidth-delay products with room for the quantum, in segments (`Inflight`).
    fn inflight(&self, gain: f64) -> f64 {
        self.add_quantization_budget(self.bdp(gain))
    }

    /// Returns the bound of the window in ProbeRTT, in segments (`ProbeRTTCwnd`).
    fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(PROBE_RTT_CWND_GAIN).max(MIN_PIPE_CWND)
    }

    /// Returns the long-term bound less the headroom left to other flows, in segments
    /// (`InflightWithHeadroom`); infinity without a bound.
    fn inflight_with_headroom(&self) -> f64 {
        let headroom = (HEADROOM * self.inflight_longterm).max(1.0);
        if self.inflight_longterm.is_infinite() {
            f64::INFINITY
        } else {
            (self.inflight_longterm - headroom).max(MIN_PIPE_CWND)
        }
    }

    /// Returns the bandwidth-delay product, bounded by `cwnd`, in segments (`TargetInflight`).
    fn target_inflight(&self, cwnd: f64) -> f64 {
        self.bdp(1.0).min(cwnd)
    }

    /// Returns whether the state is one of ProbeBW's four.
    fn is_in_probe_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Returns whether the state probes for bandwidth: Startup, REFILL or UP (`IsProbingBW`).
    fn is_probing(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    /// Draws the next of the flow's random numbers (SplitMix64 of salt and count).
    fn draw(&mut self) -> u64 {
        self.draws += 1;
        let mut z = self.salt.wrapping_add(self.draws.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Returns whether so many losses, of the segments then in flight, exceed [`LOSS_THRESHOLD`]
/// (`IsInflightTooHigh`).
fn is_loss_too_high(lost: u32, tx_in_flight: u32) -> bool {
    f64::from(lost) > f64::from(tx_in_flight) * LOSS_THRESHOLD
}

#[cfg(test)]
#[path = "bbr/tests.rs"]
#[allow(non_snake_case)]
mod tests;
