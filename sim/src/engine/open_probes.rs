//! The state of the probes of responsiveness: records, and those that have not ended, by connection.

use crate::record::ProbeRecord;
use std::collections::VecDeque;

/// A self probe that has not ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct SelfProbe {
    /// Its number in its connection, which its packet carries; 0 is the connection's first request.
    pub number: u32,
    /// The number of its record.
    pub record: usize,
    /// The segment of the load that carries its request or answer, once that is known; with an upload until it arrived.
    pub segment: Option<u32>,
    /// How often its packet was sent.
    pub sent: u32,
    /// Whether its packet has arrived.
    pub has_arrived: bool,
}

/// A load-generating connection that has been probed.
#[derive(Debug)]
pub(super) struct Load {
    /// Its slot.
    pub slot: u32,
    /// Its key.
    pub key: u64,
    /// The number of its newest probe.
    pub last: u32,
    /// Its probes that have not ended, oldest first.
    pub open: VecDeque<SelfProbe>,
}

/// All probes of a run.
#[derive(Debug, Default)]
pub(super) struct Probes {
    /// The record of each, by number.
    pub records: Vec<ProbeRecord>,
    /// The load-generating connections that were probed.
    pub loads: Vec<Load>,
}

impl Probes {
    /// Returns whether no load-generating connection was probed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.loads.is_empty()
    }

    /// Returns index and state of the load-generating connection in `slot`; `None` if it was not
    /// probed.
    pub fn find_load(&mut self, slot: u32) -> Option<(usize, &mut Load)> {
        self.loads.iter_mut().enumerate().find(|(_, load)| load.slot == slot)
    }
}
