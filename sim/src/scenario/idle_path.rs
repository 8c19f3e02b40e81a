//! An idle path: the arrival times of the packets of one connection alone on the network.
//!
//! Every stage is a transmitter with an endless FIFO, followed by a delay. A packet departs from a stage one
//! transmission time after it arrives there, or after the previous packet departs, whichever is later. A stage with a
//! burst is a token bucket: a packet departs once the bucket holds its tokens.

use super::plan::Plan;
use crate::engine::layout::End;
use crate::engine::send_log::SteadyState;
use crate::link::Pace;
use crate::link_layer::Wire;
use crate::tcp::Congestion;
use crate::units::{Dur, Rate, Time};

/// Round trips granted beyond one per segment, for the handshake, requests and timers that fire too early.
const SPARE_ROUNDS: u64 = 100;

/// The path of a transfer; path and size determine its ideal completion time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathKey {
    /// Number of the path in the layout.
    pub path: u32,
    /// Round-trip time without queueing.
    pub rtt_ns: u64,
    /// Whether its data crosses the uplink.
    pub upload: bool,
    /// Index of its TCP in the run's.
    pub tcp: u8,
}

/// One transmitter and the delay behind it; without a rate, transmission takes no time.
#[derive(Debug, Clone)]
struct Stage {
    pace: Option<Pace>,
    wire: Wire,
    /// Depth of the token bucket as a time; zero without one.
    burst: Dur,
    /// Propagation delay to the next stage.
    delay: Dur,
    /// Number of the link, unless it is a private access link.
    link: Option<u16>,
    /// Departure time of the last packet.
    busy_until: Time,
    /// When the token bucket will be full again.
    full: Time,
}

impl Stage {
    /// Returns the transmission time of a packet of `bytes`; zero without a rate.
    fn transmission_time(&self, bytes: u16) -> Dur {
        self.pace.map_or(Dur::ZERO, |pace| pace.tx_time(self.wire.bytes(u64::from(bytes))))
    }

    /// Returns the time at which a packet leaves the stage, behind those forwarded before; it
    /// arrives at `arrival`. The stage does not change.
    fn departure(&self, arrival: Time, bytes: u16) -> Time {
        match self.pace {
            Some(_) if self.burst > Dur::ZERO => {
                let slack = self.burst.0.saturating_sub(self.transmission_time(bytes).0);
                self.busy_until.max(arrival).max(Time(self.full.0.saturating_sub(slack)))
            }
            Some(_) => self.busy_until.max(arrival) + self.transmission_time(bytes),
            None => arrival,
        }
    }

    /// Forwards a packet that arrives at `arrival`; returns when it departs.
    fn forward(&mut self, arrival: Time, bytes: u16) -> Time {
        let departure = self.departure(arrival, bytes);
        self.full = self.full.max(departure) + self.transmission_time(bytes);
        self.busy_until = departure;
        departure
    }
}

/// The stages of one direction of a path, and the departure times of the packets forwarded so far.
#[derive(Debug, Clone)]
pub struct IdlePath {
    stages: Vec<Stage>,
}

impl IdlePath {
    /// Returns the path in the direction of the data, before any packet.
    pub fn for_data(plan: &Plan, path: PathKey) -> IdlePath {
        IdlePath::new(plan, path, path.upload)
    }

    /// Returns the path in the direction of the acknowledgements, before any packet.
    fn for_acks(plan: &Plan, path: PathKey) -> IdlePath {
        IdlePath::new(plan, path, !path.upload)
    }

    /// Returns the path in one direction, before any packet: the sender's access link, the shared
    /// links, the receiver's access link. `upward` selects that from client to server.
    fn new(plan: &Plan, path: PathKey, upward: bool) -> IdlePath {
        let layout = &plan.layout;
        let host_delay = layout.host_delay(Dur(path.rtt_ns), path.path);
        let (from, to) =
            if upward { (End::ClientOut, End::ServerIn) } else { (End::ServerOut, End::ClientIn) };
        let end = |end: End| {
            let (delay, rate) = layout.access_link(end);
            new_stage(rate, Wire::default(), 0, delay + host_delay, None)
        };
        let numbers = (0..=u8::MAX).map_while(|hop| layout.link_at(hop, upward, path.path));
        let links = numbers.map(|number| {
            let link = &plan.links[usize::from(number)];
            new_stage(Some(link.rate), link.wire, link.burst, link.delay, Some(number))
        });
        let stages = [end(from)].into_iter().chain(links).chain([end(to)]).collect();
        IdlePath { stages }
    }

    /// Returns when a packet that is sent at `sent` arrives, behind those that were forwarded. It
    /// is not forwarded.
    pub fn arrival(&self, sent: Time, bytes: u16) -> Time {
        let through = |at, stage: &Stage| stage.departure(at, bytes) + stage.delay;
        self.stages.iter().fold(sent, through)
    }

    /// Forwards a packet that is sent at `sent` over all stages; returns when it arrives.
    pub fn forward(&mut self, sent: Time, bytes: u16) -> Time {
        let mut at = sent;
        for stage in &mut self.stages {
            at = stage.forward(at, bytes) + stage.delay;
        }
        at
    }

    /// Returns the part of the path from `link` on; all of it if the path does not cross the link.
    /// That link must be saturated: packets depart from it back to back, so that their times of
    /// arrival there do not matter.
    pub fn rest_from(mut self, link: u16) -> IdlePath {
        let first = self.stages.iter().position(|stage| stage.link == Some(link)).unwrap_or(0);
        self.stages.drain(..first);
        self
    }

    /// Forwards `count` packets of `bytes` that all wait at the first stage already. It stops
    /// simulating once every stage is later by the same time per packet, and adds the rest at once.
    pub fn forward_backlog(&mut self, count: u64, bytes: u16) {
        let spacing = self.stages[0].transmission_time(bytes);
        for left in (1..=count).rev() {
            let before: Vec<Time> = self.stages.iter().map(|stage| stage.busy_until).collect();
            self.forward(Time::ZERO, bytes);
            let mut paced = self.stages.iter().filter(|stage| stage.pace.is_some()).zip(&before);
            if paced.all(|(stage, before)| stage.busy_until.since(*before) == spacing) {
                // Every stage is later by the same spacing, and so it is for all packets that follow.
                let rest = Dur(spacing.0.saturating_mul(left - 1));
                for stage in &mut self.stages {
                    stage.busy_until += rest;
                    stage.full += rest;
                }
                return;
            }
        }
    }

    /// Returns the state in which a transfer on this path keeps its slowest link saturated. It is
    /// `None` if a private access link is the slowest, if acknowledgements are slower than
    /// segments, if a timer might fire between two of them, or with BBR.
    pub fn steady_state(plan: &Plan, path: PathKey) -> Option<SteadyState> {
        let (params, data) = (plan.senders.params_at(path.tcp), IdlePath::for_data(plan, path));
        if params.congestion == Congestion::Bbr {
            // BBR leaves the link idle at times, to measure the round-trip time.
            return None;
        }
        let full = (params.mss + params.header) as u16;
        let ack = (params.ack_bytes + params.sack_bytes.0 + 3 * params.sack_bytes.1) as u16;
        let spacing = data.longest_transmission(full);
        let is_slow = IdlePath::for_acks(plan, path).longest_transmission(ack) > spacing
            || 4 * spacing.0 >= params.min_rto.0;
        let slowest = data.stages.iter().find(|stage| stage.transmission_time(full) == spacing)?;
        let hops = data.stages.len() as u32;
        slowest.link.filter(|_| !is_slow).map(|link| SteadyState { link, spacing, hops })
    }

    /// Returns the longest transmission time of a packet of `bytes` at any stage; zero if no stage
    /// has a rate.
    fn longest_transmission(&self, bytes: u16) -> Dur {
        self.stages.iter().map(|stage| stage.transmission_time(bytes)).max().unwrap_or_default()
    }

    /// Returns an upper bound of the time in which a connection alone on the path sends `segments`
    /// in all its writes, even if it never sends more than one per round trip. Pauses are not
    /// counted.
    pub fn longest_time(plan: &Plan, path: PathKey, segments: u64) -> Dur {
        let params = plan.senders.params_at(path.tcp);
        let full = (params.mss + params.header).max(params.ack_bytes + params.request_bytes) as u16;
        let directions = [IdlePath::for_data(plan, path), IdlePath::for_acks(plan, path)];
        let once = directions.iter().map(|direction| direction.time_without_burst(full).0);
        let round = once.sum::<u64>().saturating_add(params.max_rto.0);
        Dur(round.saturating_mul(segments.saturating_add(SPARE_ROUNDS)))
    }

    /// Returns how long a packet takes over all stages, with token buckets counted as transmitters.
    fn time_without_burst(&self, bytes: u16) -> Dur {
        self.stages.iter().fold(Dur::ZERO, |sum, stage| sum + stage.transmission_time(bytes) + stage.delay)
    }

    /// Returns whether data and acknowledgements share no link.
    pub fn is_disjoint(plan: &Plan, path: PathKey) -> bool {
        let links = |direction: IdlePath| direction.stages.into_iter().filter_map(|stage| stage.link);
        let back: Vec<u16> = links(IdlePath::for_acks(plan, path)).collect();
        links(IdlePath::for_data(plan, path)).all(|link| !back.contains(&link))
    }
}

/// Returns an idle stage; `burst` is the depth of its token bucket in bytes, 0 for a transmitter.
fn new_stage(rate: Option<Rate>, wire: Wire, burst: u64, delay: Dur, link: Option<u16>) -> Stage {
    let burst = rate.map_or(Dur::ZERO, |rate| rate.tx_time(burst));
    let pace = rate.map(Pace::new);
    Stage { pace, wire, burst, delay, link, busy_until: Time::ZERO, full: Time::ZERO }
}
