//! Computes the bytes of a packet on the wire: its IP length with a fixed overhead, or by a link layer's framing.
//!
//! Overheads and minimum packet units are those that tc-cake(8) gives for its keywords of the same names. ATM carries
//! 48 bytes in a cell of 53 (ITU-T I.361), and AAL5 pads the last cell (ITU-T I.363.5). PTM sends 65 bytes for 64
//! (IEEE 802.3-2018, clause 61.3.3).

use crate::error::{Error, Result};
use crate::units::Rate;

/// Bytes of a full packet.
const FULL: u64 = 1500;

/// The framing of a link layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Bytes as they are; tc-cake(8): noatm.
    Plain,
    /// Cells of 53 bytes with 48 of payload, the last one padded.
    Atm,
    /// A byte more for each 64 begun.
    Ptm,
}

/// A link layer.
#[derive(Debug, PartialEq, Eq)]
pub struct LinkLayer {
    /// Its name, which is tc-cake's keyword unless [`LinkLayer::keyword`] says otherwise.
    pub name: &'static str,
    /// Keyword of tc-cake(8).
    pub keyword: &'static str,
    /// Bytes that it adds to the IP length.
    pub overhead: u32,
    /// Least bytes of a packet with its overhead; 0 without a least.
    pub mpu: u32,
    /// Its framing.
    pub framing: Framing,
}

use Framing::{Atm, Plain, Ptm};

/// All link layers, as errors list them.
static LAYERS: [LinkLayer; 15] = [
    layer("ethernet", "ethernet", 38, 84, Plain),
    layer("docsis", "docsis", 18, 64, Plain),
    layer("vdsl", "pppoe-ptm", 30, 0, Ptm),
    layer("pppoe-ptm", "pppoe-ptm", 30, 0, Ptm),
    layer("bridged-ptm", "bridged-ptm", 22, 0, Ptm),
    layer("adsl", "pppoe-llcsnap", 40, 0, Atm),
    layer("pppoe-llcsnap", "pppoe-llcsnap", 40, 0, Atm),
    layer("pppoe-vcmux", "pppoe-vcmux", 32, 0, Atm),
    layer("pppoa-llc", "pppoa-llc", 14, 0, Atm),
    layer("pppoa-vcmux", "pppoa-vcmux", 10, 0, Atm),
    layer("bridged-llcsnap", "bridged-llcsnap", 32, 0, Atm),
    layer("bridged-vcmux", "bridged-vcmux", 24, 0, Atm),
    layer("ipoa-llcsnap", "ipoa-llcsnap", 16, 0, Atm),
    layer("ipoa-vcmux", "ipoa-vcmux", 8, 0, Atm),
    layer("conservative", "conservative", 48, 0, Atm),
];

/// Returns an entry of [`LAYERS`].
const fn layer(
    name: &'static str,
    keyword: &'static str,
    overhead: u32,
    mpu: u32,
    framing: Framing,
) -> LinkLayer {
    LinkLayer { name, keyword, overhead, mpu, framing }
}

impl LinkLayer {
    /// Returns the link layer of this name.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field`, with a suggestion if a known name is near.
    pub fn find_layer(field: &str, name: &str) -> Result<&'static LinkLayer> {
        let found = LAYERS.iter().find(|layer| layer.name == name);
        found.ok_or_else(|| Error::unknown(field, "link layer", name, LAYERS.iter().map(|layer| layer.name)))
    }

    /// Returns the bytes on the wire of a packet of `bytes` of IP length: with overhead, at least the least packet,
    /// then in whole cells (ITU-T I.361) or with a byte for each 64 begun (IEEE 802.3, clause 61.3.3).
    #[inline]
    pub fn wire_bytes(&self, bytes: u64) -> u64 {
        let frame = (bytes + u64::from(self.overhead)).max(u64::from(self.mpu));
        match self.framing {
            Plain => frame,
            Atm => frame.div_ceil(48) * 53,
            Ptm => frame + frame.div_ceil(64),
        }
    }
}

/// The rule for the bytes of packets on a link's wire; by default their IP length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wire {
    /// Extra bytes per packet; 0 with a link layer, which has its own.
    pub overhead: u32,
    /// The link layer, if it has a name.
    pub layer: Option<&'static LinkLayer>,
}

impl Wire {
    /// Returns the wire on which each packet has `overhead` extra bytes.
    pub const fn plain(overhead: u32) -> Wire {
        Wire { overhead, layer: None }
    }

    /// Returns the bytes on the wire of a packet of `bytes` of IP length.
    #[inline]
    pub fn bytes(&self, bytes: u64) -> u64 {
        match self.layer {
            None => bytes + u64::from(self.overhead),
            Some(layer) => layer.wire_bytes(bytes),
        }
    }

    /// Returns the rate of IP bytes on a link of `rate` if all packets have 1500 bytes, at least 1 bit/s on a link
    /// layer; loads are fractions of it. A plain overhead is not counted.
    pub fn ip_rate(&self, rate: Rate) -> Rate {
        match self.layer {
            None => rate,
            Some(layer) => {
                let share = u128::from(rate.0) * u128::from(FULL) / u128::from(layer.wire_bytes(FULL));
                Rate((share as u64).max(1))
            }
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    fn wire_bytes(name: &str, bytes: u64) -> u64 {
        LinkLayer::find_layer("link.layer", name).unwrap().wire_bytes(bytes)
    }

    /// Computed by hand from tc-cake(8).
    #[test]
    fn wire_bytes__of_acks_and_full_packets() {
        let cases = [
            // 38 bytes more, at least 84.
            ("ethernet", 84, 1538),
            // 18 bytes more, at least 64.
            ("docsis", 64, 1518),
            // 70 and 1530 bytes in two and 24 blocks of 64 begun.
            ("vdsl", 72, 1554),
            ("pppoe-ptm", 72, 1554),
            // 62 and 1522 bytes in one and 24 blocks.
            ("bridged-ptm", 63, 1546),
            // 80 bytes in two cells, 1540 in 33.
            ("adsl", 106, 1749),
            ("pppoe-llcsnap", 106, 1749),
            // 72 and 1532 bytes: two cells and 32.
            ("pppoe-vcmux", 106, 1696),
            ("pppoa-llc", 106, 1696),
            ("pppoa-vcmux", 106, 1696),
            ("bridged-llcsnap", 106, 1696),
            ("bridged-vcmux", 106, 1696),
            ("ipoa-llcsnap", 106, 1696),
            // 48 bytes fill a cell.
            ("ipoa-vcmux", 53, 1696),
            // 88 bytes in two cells, 1548 in 33.
            ("conservative", 106, 1749),
        ];
        assert_eq!(cases.len(), LAYERS.len());
        for (name, ack, full) in cases {
            assert_eq!((wire_bytes(name, 40), wire_bytes(name, 1500)), (ack, full), "{name}");
        }
    }

    #[test]
    fn wire_bytes__of_a_byte_beyond_a_cell() {
        assert_eq!([40, 41].map(|bytes| wire_bytes("ipoa-vcmux", bytes)), [53, 106]);
        assert_eq!([34, 35].map(|bytes| wire_bytes("vdsl", bytes)), [65, 67]);
    }

    #[test]
    fn ip_rate__is_what_full_packets_leave() {
        let adsl = Wire { overhead: 0, layer: Some(LinkLayer::find_layer("link.layer", "adsl").unwrap()) };
        assert_eq!(adsl.ip_rate(Rate(1_749_000)), Rate(1_500_000));
        assert_eq!(Wire::plain(38).ip_rate(Rate(1_749_000)), Rate(1_749_000));
    }

    #[test]
    fn find_layer__lists_what_there_is() {
        let error = LinkLayer::find_layer("link.layer", "docsys").unwrap_err().to_string();
        assert!(error.contains("link.layer") && error.contains("docsis") && error.contains("docsys"));
    }
}
