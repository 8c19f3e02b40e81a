//! What a run is made of.

use super::layout::Layout;
use super::server::Servers;
use super::source::{List, Source};
use crate::link::Link;
use crate::marker::Marker;
use crate::tcp::Params;
use crate::traffic::Traffic;
use crate::traffic::model::datagrams::Stream;
use crate::traffic::model::telnet::Keystrokes;
use crate::units::{Dur, Time};
use std::sync::Arc;

/// Applications that are not transfers of a size: what the payloads of their connections refer to.
#[derive(Debug, Clone, Default)]
pub struct Apps {
    /// Rules of keystrokes.
    pub keystrokes: Vec<Keystrokes>,
    /// Datagram flows.
    pub streams: Vec<Stream>,
}

/// Everything a run is made of.
pub struct Setup {
    /// TCP parameters of every connection.
    pub params: Params,
    /// Paths.
    pub layout: Layout,
    /// Links by number; [`DOWN`](super::layout::DOWN) and [`UP`](super::layout::UP) first.
    pub links: Vec<Link>,
    /// Marker before each link's queue.
    pub markers: Vec<Marker>,
    /// Where connections come from.
    pub source: Source,
    /// Bulk flows beside it.
    pub bulk: Option<List>,
    /// The rules of keystrokes and datagrams.
    pub apps: Apps,
    /// The servers' CPUs, if they have any.
    pub servers: Option<Servers>,
    /// The writes of replayed connections.
    pub traffic: Arc<Traffic>,
    /// Round-trip time of connections without one of their own.
    pub rtt: Dur,
    /// Transfers that start in this window are measured.
    pub window: (Time, Time),
    /// The run ends here at the latest; what is unfinished then is censored.
    pub deadline: Time,
    /// Seed of what the engine itself draws.
    pub seed: u64,
    /// Keep a packet trace of the data path.
    pub trace: bool,
}

impl Setup {
    /// The links whose marker or queue must be told of every connection.
    pub(super) fn told(&mut self) -> Vec<usize> {
        let parts = self.links.iter_mut().zip(&self.markers).enumerate();
        parts
            .filter_map(|(number, (link, marker))| {
                (marker.is_flow_aware() || link.queue().knows_flows()).then_some(number)
            })
            .collect()
    }
}
