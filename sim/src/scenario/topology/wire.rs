//! Overhead of packets on the wire of the links: `link.overhead` or `link.layer`.

use super::super::spec::LinkSpec;
use crate::error::{Error, Result, quote};
use crate::link_layer::{LinkLayer, Wire};

/// Greatest overhead per packet: as many bytes as the longest packet has.
const MOST_OVERHEAD: u32 = 65_535;

/// Returns the rule for the bytes of a packet on the wire; without either field they are its IP
/// length.
///
/// # Errors
/// [`Error::Field`] naming `link.overhead` or `link.layer`.
pub fn parse_wire(link: &LinkSpec) -> Result<Wire> {
    let overhead = link.overhead;
    if overhead > MOST_OVERHEAD {
        return Err(Error::field("link.overhead", overhead, format!("from 0 to {MOST_OVERHEAD} bytes")));
    }
    match &link.layer {
        Some(name) if overhead > 0 => {
            let allowed = "give one of them; a link layer has its own overhead";
            Err(Error::conflict("link.layer", quote(name), "link.overhead", allowed))
        }
        Some(name) => Ok(Wire { overhead: 0, layer: Some(LinkLayer::find_layer("link.layer", name)?) }),
        None => Ok(Wire::plain(overhead)),
    }
}
