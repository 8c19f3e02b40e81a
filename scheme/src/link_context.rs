//! The properties of a link that the parts of a scheme may use.

use crate::link_layer::Wire;
use crate::units::{Buffer, Rate};

/// The properties of a link that the parts of a scheme may use.
#[derive(Debug, Clone, Copy)]
pub struct LinkContext {
    /// Rate of the link.
    pub rate: Rate,
    /// Rate of the bottleneck, of which profiles may be shares: the link's own rate at the bottleneck, elsewhere the rate
    /// from servers to clients.
    pub bottleneck: Rate,
    /// Buffer of the link.
    pub buffer: Buffer,
    /// The rule for the bytes of packets on its wire.
    pub wire: Wire,
    /// Seed of its random numbers.
    pub seed: u64,
    /// Number of the link.
    pub link: u64,
}

impl LinkContext {
    /// An example link, on which a scheme's values are checked.
    pub const EXAMPLE: LinkContext = LinkContext {
        rate: Rate(10_000_000),
        bottleneck: Rate(10_000_000),
        buffer: Buffer::Packets(50),
        wire: Wire::plain(0),
        seed: 0,
        link: 0,
    };

    /// Returns the seed of a marker's random numbers at this link; links of a run have different ones.
    pub fn marker_seed(&self) -> u64 {
        self.seed ^ self.link << 32
    }

    /// Returns the properties of the link that policies may use; the buffer is 0 in the unit in which it is not given.
    pub fn for_policies(&self) -> mousehole_policy::LinkContext {
        let (buffer_packets, buffer_bytes) = match self.buffer {
            Buffer::Packets(packets) => (u64::from(packets), 0),
            Buffer::Bytes(bytes) => (0, bytes),
        };
        mousehole_policy::LinkContext {
            rate_bps: self.rate.0 as f64,
            bottleneck_bps: self.bottleneck.0 as f64,
            buffer_packets,
            buffer_bytes,
        }
    }

    /// Returns how many packets of `mean` bytes the buffer holds, not rounded; a buffer in packets holds these of any
    /// size.
    pub fn buffer_packets(&self, mean: f64) -> f64 {
        match self.buffer {
            Buffer::Packets(packets) => f64::from(packets),
            Buffer::Bytes(bytes) => bytes as f64 / mean,
        }
    }
}
