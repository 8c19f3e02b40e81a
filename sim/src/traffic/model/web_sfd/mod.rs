//! SFD's web model (Chen & Heidemann, ISI-TR-2001-548, section 4.1 and Table 2).
//!
//! Sessions arrive as a Poisson process. A session fetches pages one after another. A page has objects that
//! are requested at exponential gaps, each on a separate connection from the page's server. When the last one is
//! complete, the user pauses, and then the next page follows. The traffic is a closed loop: the time of a
//! page depends on the network, its content does not. Every draw is a function of (seed, replication,
//! session, page, object), the same under every scheme.
//!
//! Deviations from the paper, all of them parameters: the paper does not give its rounding of counts and
//! sizes. ns-2's generator rounds both up, which offers 1.3 to 1.6 times the published load. The default
//! rounds object counts to max(1, floor) and caps sizes at 20 MB. Pages per session are rounded up, which
//! makes them geometric, so that a session in progress has as many pages left as a new one has in all. The
//! paper's number of sessions (1250) never binds in its 12,000 s, so there is no limit here.

mod draws;
mod load;

pub use draws::{Draws, Object, Page};

use crate::error::{Error, Result};
use crate::traffic::split;
use serde::{Deserialize, Serialize};

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSfd {
    /// Mean time between session starts, s (Table 2: exponential; light 25, medium 15, heavy 9).
    pub inter_session_s: f64,
    /// Mean pages of a session (Table 2: exponential 100), rounded up.
    pub pages_per_session: f64,
    /// Mean time from the end of a page to the next, s (Table 2: exponential 10).
    pub inter_page_s: f64,
    /// Mean of the exponential for objects of a page, before rounding (Table 2: 3).
    pub objects_per_page: f64,
    /// How the number of objects becomes whole.
    pub objects_rounding: CountRounding,
    /// Mean gap between requests of a page, s (Table 2: exponential 0.01).
    pub inter_object_s: f64,
    /// Mean of the Pareto II distribution of object sizes, bytes, before cap and rounding (Table 2: 12 KB).
    pub object_mean_bytes: f64,
    /// Its shape (Table 2: 1.2).
    pub shape: f64,
    /// Larger objects are cut to this, bytes.
    pub cap_bytes: u64,
    /// How sizes become whole.
    pub size_rounding: SizeRounding,
    /// Payload of a packet of the model, bytes: the unit of packet rounding and of `transform`.
    pub packet_bytes: u32,
    /// What becomes of objects that are long.
    pub transform: Transform,
    /// Objects of more packets than this are long (SFD section 3.1: 15).
    pub short_packets: u32,
    /// Client hosts (Figure 5: 5).
    pub clients: u32,
    /// Server hosts (Figure 5: 5).
    pub servers: u32,
    /// Start with no session, and let them come; else with as many as there are on average.
    pub cold_start: bool,
    /// Time that a page is taken to need when the sessions in progress at the start are counted, s
    /// (Table 6: 0.5 to 2.3).
    pub assumed_page_s: f64,
}

/// Rounding of the number of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountRounding {
    /// Down, but at least one.
    Floor,
    /// Up, as ns-2's generator does.
    Ceil,
}

/// Rounding of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeRounding {
    /// Up to whole bytes.
    Byte,
    /// Up to whole packets of `packet_bytes`, as ns-2's generator does.
    Packet,
}

/// What becomes of long objects (SFD section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transform {
    /// Nothing.
    None,
    /// "No long flows": they are left out, which bounds what any scheme can reach.
    Nl,
    /// "Long to short": they are chopped into short transfers, each on a new connection, back to back.
    L2s,
}

impl Default for WebSfd {
    /// Returns the parameters of Table 2 at medium load, with the roundings and the cap that come nearest to
    /// Table 3.
    fn default() -> Self {
        WebSfd {
            inter_session_s: 15.0,
            pages_per_session: 100.0,
            inter_page_s: 10.0,
            objects_per_page: 3.0,
            objects_rounding: CountRounding::Floor,
            inter_object_s: 0.01,
            object_mean_bytes: 12_000.0,
            shape: 1.2,
            cap_bytes: 20_000_000,
            size_rounding: SizeRounding::Packet,
            packet_bytes: 1000,
            transform: Transform::None,
            short_packets: 15,
            clients: 5,
            servers: 5,
            cold_start: false,
            assumed_page_s: 1.0,
        }
    }
}

impl WebSfd {
    /// Returns the parameters of Table 2 as ns-2's generator reads them: all counts rounded up, practically
    /// no cap, an empty start.
    pub fn literal() -> WebSfd {
        WebSfd {
            objects_rounding: CountRounding::Ceil,
            cap_bytes: 1_000_000_000,
            cold_start: true,
            ..WebSfd::default()
        }
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        let ranges = [
            ("inter_session_s", self.inter_session_s, 1e-6..=1e9),
            ("inter_page_s", self.inter_page_s, 0.0..=1e9),
            ("inter_object_s", self.inter_object_s, 0.0..=1e6),
            ("assumed_page_s", self.assumed_page_s, 0.0..=1e6),
            ("pages_per_session", self.pages_per_session, 0.1..=2000.0),
            ("objects_per_page", self.objects_per_page, 0.1..=150.0),
            ("object_mean_bytes", self.object_mean_bytes, 1.0..=1e12),
            ("shape", self.shape, 1.001..=100.0),
            ("cap_bytes", self.cap_bytes as f64, 1.0..=2e9),
            ("packet_bytes", f64::from(self.packet_bytes), 100.0..=65_535.0),
            ("short_packets", f64::from(self.short_packets), 1.0..=1e6),
            ("clients", f64::from(self.clients), 1.0..=1e6),
            ("servers", f64::from(self.servers), 1.0..=1e6),
        ];
        super::check::check_ranges(&ranges)?;
        self.check_parts()
    }

    /// Checks the number of transfers of an object, which are numbered in 12 bits.
    ///
    /// # Errors
    /// [`Error::Field`] naming `cap_bytes`.
    fn check_parts(&self) -> Result<()> {
        let parts = self.cap_bytes / self.short_bytes().max(1);
        if self.transform == Transform::L2s && parts >= 1 << 12 {
            let allowed = "at most 4095 short transfers with transform l2s";
            return Err(Error::field("cap_bytes", self.cap_bytes, allowed));
        }
        Ok(())
    }

    /// Returns the size of the largest short object, bytes.
    pub fn short_bytes(&self) -> u64 {
        u64::from(self.short_packets) * u64::from(self.packet_bytes)
    }

    /// Returns the bytes of the transfers that an object of `bytes` becomes, in order; each needs a new connection.
    /// None for an object that the transform leaves out.
    pub fn transfers(&self, bytes: u64) -> impl Iterator<Item = u64> + use<> {
        let short = self.short_bytes();
        let (total, part) = match self.transform {
            Transform::Nl if bytes > short => (0, 1),
            Transform::L2s => (bytes, short),
            _ => (bytes, bytes.max(1)),
        };
        (0..total.div_ceil(part)).map(move |number| split::chunk_bytes(total, part, number))
    }
}

#[cfg(test)]
mod tests;
