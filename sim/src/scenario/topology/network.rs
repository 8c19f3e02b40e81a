//! The links of a run and the paths over them, before they are built.

use crate::engine::graph::{Graph, Hops, Hosts, Span};
use crate::engine::layout::{Access, Layout};
use crate::error::Result;
use crate::link::Fault;
use crate::link_layer::Wire;
use crate::rate_trace::RateTrace;
use crate::units::{Buffer, Dur, Rate, parse_rate};
use std::sync::Arc;

/// Greatest number of paths: each pair of hosts has one, which is computed before the run.
pub(super) const MOST_PATHS: usize = 250_000;

/// Bytes of the packet by which the speed of links is checked.
pub(in crate::scenario) const FULL_PACKET: u32 = 1500;

/// A rate at which transmission takes no time.
pub(super) const UNLIMITED: Rate = Rate(u64::MAX);

/// The queue at a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// A drop-tail queue.
    Fifo,
    /// The scheme's queue.
    Scheme,
    /// The scheme's queue at a sending host.
    Host,
}

/// A one-way link before it is built.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedLink {
    /// Name for reports.
    pub name: String,
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
    /// Buffer; of the modem's FIFO behind a shaper.
    pub buffer: Buffer,
    /// Its queue.
    pub runs: Runs,
    /// The scheme's marker is before it.
    pub is_marked: bool,
    /// Overhead of packets on the wire.
    pub wire: Wire,
    /// Depth of its token bucket in bytes; 0 for a transmitter.
    pub burst: u64,
    /// Losses that the scenario asks for.
    pub fault: Fault,
    /// Its rate over time, of which `rate` is the mean.
    pub trace: Option<Arc<RateTrace>>,
    /// The scheme's queue stands in a shaper before the link, which is a modem's.
    pub shaper: Option<Shaper>,
}

/// A shaper of a scenario, before the modem of its link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shaper {
    /// Rate at which the scheme's queue sends.
    pub rate: Rate,
    /// Buffer of the scheme's queue.
    pub buffer: Buffer,
    /// Overhead that the shaper counts for each packet.
    pub wire: Wire,
    /// Depth of its token bucket in bytes.
    pub burst: u64,
}

impl PlannedLink {
    /// Returns a transmitter with an unlimited drop-tail queue, without marker, overhead, faults or
    /// shaper.
    pub(super) fn with_unlimited_buffer(name: String, rate: Rate, delay: Dur) -> PlannedLink {
        PlannedLink {
            name,
            rate,
            delay,
            buffer: Buffer::Packets(u32::MAX),
            runs: Runs::Fifo,
            is_marked: false,
            wire: Wire::default(),
            burst: 0,
            fault: Fault::default(),
            trace: None,
            shaper: None,
        }
    }

    /// Returns the link with the scheme's queue and marker.
    pub(super) fn with_scheme(self) -> PlannedLink {
        PlannedLink { runs: Runs::Scheme, is_marked: true, ..self }
    }
}

/// The links of a run and the paths over them.
#[derive(Debug, Clone)]
pub struct Network {
    /// Links by number: the bottleneck in the data direction, then in the other, then the rest.
    pub links: Vec<PlannedLink>,
    /// Paths.
    pub layout: Layout,
    /// Round-trip time that `bdp` means.
    pub rtt: Dur,
    /// Round-trip time of connections that do not specify one, unless their path's is longer.
    pub own_rtt: Dur,
}

/// The paths of a graph before they are compiled.
#[derive(Debug)]
pub(super) struct Routes {
    pub(super) hosts: Hosts,
    pub(super) hops: Vec<Hops>,
    pub(super) remark: bool,
    pub(super) recorded: Vec<u16>,
}

impl Routes {
    /// Returns the layout of these paths over `links`, whose numbers the paths use. All delays are
    /// those of the links.
    pub(super) fn layout(self, links: &[PlannedLink]) -> Layout {
        let span = |link: &PlannedLink| Span {
            rate: link.rate,
            delay: link.delay,
            is_marked: link.is_marked,
            is_host: link.runs == Runs::Host,
        };
        let spans: Vec<Span> = links.iter().map(span).collect();
        let graph = Graph::new(self.hosts, &self.hops, &spans, self.remark, self.recorded);
        Layout {
            base_rtt: graph.longest_rtt(),
            access: Access::Graph(Arc::new(graph)),
            server_delay: Dur::ZERO,
            client_delay: Dur::ZERO,
        }
    }
}

/// Parses a rate; `None` for `unlimited`.
///
/// # Errors
/// [`Error::Field`] naming `field` for any other text that is no rate.
pub(super) fn parse_access_rate(field: &str, text: &str) -> Result<Option<Rate>> {
    if text == "unlimited" { Ok(None) } else { parse_rate(field, text).map(Some) }
}
