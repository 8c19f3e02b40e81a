//! The setup of a run: links, markers, sources and parameters.

use super::layout::Layout;
use super::server::Servers;
use super::source::{List, Source};
use crate::link::Link;
use crate::marker::Marker;
use crate::tcp::Senders;
use crate::traffic::Traffic;
use crate::traffic::model::datagrams::Stream;
use crate::traffic::model::telnet::Keystrokes;
use crate::units::{Dur, Time};
use std::sync::Arc;

/// Applications whose connections carry no transfers of a given size; payloads refer to these lists by index.
#[derive(Debug, Clone, Default)]
pub struct Apps {
    /// Rules of keystrokes, for [`Payload::Keystrokes`](super::connection::Payload).
    pub keystrokes: Vec<Keystrokes>,
    /// Datagram flows, for [`Payload::Datagrams`](super::connection::Payload).
    pub streams: Vec<Stream>,
    /// Percentiles of a datagram flow's delay that records have in addition to the usual ones.
    pub percentiles: Vec<f64>,
}

/// The setup of a run, from which [`World::new`](super::World::new) starts.
pub struct Setup {
    /// TCPs of the connections.
    pub senders: Senders,
    /// Paths.
    pub layout: Layout,
    /// Number of the bottleneck's link that the data cross, whose packets are traced and counted.
    pub data_link: u16,
    /// Links by number; [`DOWN`](super::layout::DOWN) and [`UP`](super::layout::UP) first.
    pub links: Vec<Link>,
    /// Marker before each link's queue.
    pub markers: Vec<Marker>,
    /// The source of connections.
    pub source: Source,
    /// The scenario's bulk flows, which run in addition to the source.
    pub bulk: Option<List>,
    /// Rules of keystrokes and datagrams.
    pub apps: Apps,
    /// The servers' CPUs, if they have any.
    pub servers: Option<Servers>,
    /// The writes of replayed connections.
    pub traffic: Arc<Traffic>,
    /// Round-trip time of connections that do not specify one.
    pub rtt: Dur,
    /// Transfers that start in this window are measured.
    pub window: (Time, Time),
    /// The run ends here at the latest; transfers that are unfinished then are censored.
    pub deadline: Time,
    /// Seed of the engine's draws.
    pub seed: u64,
    /// Record a packet trace of the data path.
    pub trace: bool,
    /// Some policy reads the position of packets in their flow's data.
    pub positions: bool,
    /// Datagrams of flows that build no queue carry their code point.
    pub nqb: bool,
    /// Sample links and senders at this interval.
    pub sampled: Option<Dur>,
}

impl Setup {
    /// Returns the numbers, rising, of the links whose marker or queue keeps state per connection
    /// and must be notified of every new one.
    pub(super) fn flow_aware_links(&mut self) -> Vec<usize> {
        let parts = self.links.iter_mut().zip(&self.markers).enumerate();
        parts
            .filter_map(|(number, (link, marker))| {
                (marker.is_flow_aware() || link.queue().is_flow_aware()).then_some(number)
            })
            .collect()
    }
}
