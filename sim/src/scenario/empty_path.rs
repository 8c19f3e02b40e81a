//! A path that one connection has to itself: when each of its packets gets through.
//!
//! Every stage is a transmitter with an endless FIFO and a delay behind it. So a packet leaves a stage one
//! transmission time after it came, or after the packet before it left, whichever is later; that is all.

use super::plan::Plan;
use crate::engine::layout::End;
use crate::engine::send_log::SteadyState;
use crate::link::Pace;
use crate::units::{Dur, Rate, Time};

/// The path of a transfer: what decides, besides its size, how long it takes alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathKey {
    /// Number of the path in the layout.
    pub path: u32,
    /// Round-trip time without queueing.
    pub rtt_ns: u64,
    /// Its data crosses the uplink.
    pub upload: bool,
}

/// One transmitter; without a rate nothing takes time.
#[derive(Debug, Clone)]
struct Stage {
    pace: Option<Pace>,
    overhead: u32,
    /// From its end to the next stage.
    delay: Dur,
    /// Number of the link, if it is one.
    link: Option<u16>,
    /// When the last packet left it.
    free: Time,
}

impl Stage {
    fn duration(&self, bytes: u16) -> Dur {
        self.pace.map_or(Dur::ZERO, |pace| pace.tx_time(u64::from(bytes) + u64::from(self.overhead)))
    }

    fn leaves(&self, at: Time, bytes: u16) -> Time {
        match self.pace {
            Some(_) => self.free.max(at) + self.duration(bytes),
            None => at,
        }
    }
}

/// The stages of one direction of a path, and how far the packets before have come.
#[derive(Debug, Clone)]
pub struct EmptyPath {
    stages: Vec<Stage>,
}

impl EmptyPath {
    /// The way of the data, still empty.
    pub fn of_data(plan: &Plan, way: PathKey) -> EmptyPath {
        EmptyPath::new(plan, way, way.upload)
    }

    /// The way of the acknowledgements.
    fn back(plan: &Plan, way: PathKey) -> EmptyPath {
        EmptyPath::new(plan, way, !way.upload)
    }

    fn new(plan: &Plan, way: PathKey, upward: bool) -> EmptyPath {
        let layout = &plan.layout;
        let host_delay = layout.host_delay(Dur(way.rtt_ns), way.path);
        let (from, to) =
            if upward { (End::ClientOut, End::ServerIn) } else { (End::ServerOut, End::ClientIn) };
        let end = |end: End| {
            let (delay, rate) = layout.private(end);
            stage(rate, 0, delay + host_delay, None)
        };
        let numbers = (0..=u8::MAX).map_while(|hop| layout.link(hop, upward, way.path));
        let links = numbers.map(|number| {
            let link = &plan.links[usize::from(number)];
            stage(Some(link.rate), link.overhead, link.delay, Some(number))
        });
        let stages = [end(from)].into_iter().chain(links).chain([end(to)]).collect();
        EmptyPath { stages }
    }

    /// When a packet that is sent at `sent` arrives, behind those that have passed.
    pub fn arrival(&self, sent: Time, bytes: u16) -> Time {
        let through = |at, stage: &Stage| stage.leaves(at, bytes) + stage.delay;
        self.stages.iter().fold(sent, through)
    }

    /// Lets a packet pass; returns when it arrives.
    pub fn pass(&mut self, sent: Time, bytes: u16) -> Time {
        let mut at = sent;
        for stage in &mut self.stages {
            at = stage.leaves(at, bytes);
            stage.free = at;
            at += stage.delay;
        }
        at
    }

    /// What remains from `link` on, where so much waits that packets follow each other without a gap: a packet
    /// may be sent at any time before its turn.
    pub fn from(mut self, link: u16) -> EmptyPath {
        let first = self.stages.iter().position(|stage| stage.link == Some(link)).unwrap_or(0);
        self.stages.drain(..first);
        self
    }

    /// Lets `count` packets of `bytes` pass which are all there already.
    pub fn pass_many(&mut self, count: u64, bytes: u16) {
        let spacing = self.stages[0].duration(bytes);
        for left in (1..=count).rev() {
            let before: Vec<Time> = self.stages.iter().map(|stage| stage.free).collect();
            self.pass(Time::ZERO, bytes);
            let mut paced = self.stages.iter().filter(|stage| stage.pace.is_some()).zip(&before);
            if paced.all(|(stage, before)| stage.free.since(*before) == spacing) {
                // One step later by the same everywhere: so are all that follow.
                let rest = Dur(spacing.0 * (left - 1));
                self.stages.iter_mut().for_each(|stage| stage.free += rest);
                return;
            }
        }
    }

    /// Returns when a transfer on this path has saturated its slowest link for good; `None` if a host's link is the slowest, if
    /// acknowledgements are slower than segments, or if a timer might fire between two of them.
    pub fn steady_state(plan: &Plan, way: PathKey) -> Option<SteadyState> {
        let (params, data) = (&plan.params, EmptyPath::of_data(plan, way));
        let full = (params.mss + params.header) as u16;
        let ack = (params.ack_bytes + params.sack_bytes.0 + 3 * params.sack_bytes.1) as u16;
        let spacing = data.slowest(full);
        let is_slow = EmptyPath::back(plan, way).slowest(ack) > spacing || 4 * spacing.0 >= params.min_rto.0;
        let slowest = data.stages.iter().find(|stage| stage.duration(full) == spacing)?;
        let hops = data.stages.len() as u32;
        slowest.link.filter(|_| !is_slow).map(|link| SteadyState { link, spacing, hops })
    }

    fn slowest(&self, bytes: u16) -> Dur {
        self.stages.iter().map(|stage| stage.duration(bytes)).max().unwrap_or_default()
    }

    /// Whether no link is crossed both by the data and by what comes back.
    pub fn is_apart(plan: &Plan, way: PathKey) -> bool {
        let links = |path: EmptyPath| path.stages.into_iter().filter_map(|stage| stage.link);
        let back: Vec<u16> = links(EmptyPath::back(plan, way)).collect();
        links(EmptyPath::of_data(plan, way)).all(|link| !back.contains(&link))
    }
}

fn stage(rate: Option<Rate>, overhead: u32, delay: Dur, link: Option<u16>) -> Stage {
    Stage { pace: rate.map(Pace::new), overhead, delay, link, free: Time::ZERO }
}
