//! The treatment of a long call by a scheme's markers: the price of counting the bytes that a flow has sent.

use super::{LinkContext, Scheme, build};
use crate::error::Result;
use crate::flow::Flow;
use crate::packet::{Kind, Packet};
use crate::units::{Dur, Time};

/// A packet of G.711 with 20 ms of sound: 160 B, and 40 B of RTP, UDP and IP (RFC 3551 section 4.5.14).
const CALL_BYTES: u16 = 200;
const CALL_INTERVAL: Dur = Dur::from_millis(20);
/// Packets in a minute.
const CALL_PACKETS: u32 = 3000;

/// Returns whether the scheme's markers drop packets of a call, alone on the link, or give them a
/// worse colour than the first within a minute. Its queue does not matter.
///
/// `compare` warns of such a scheme when it recommends it for traffic without calls.
///
/// # Errors
/// [`crate::error::Error::Field`] when a value does not fit the link.
pub fn demotes_calls(scheme: &Scheme, context: LinkContext) -> Result<bool> {
    let mut marker = build::build_marker(scheme, context)?;
    marker.open(0, &Flow::default());
    let mut first = None;
    for number in 0..CALL_PACKETS {
        let now = Time::ZERO + Dur(CALL_INTERVAL.0 * u64::from(number));
        while marker.control_due().is_some_and(|due| due <= now) {
            marker.control(now);
        }
        let mut packet = Packet::new(0, Kind::Datagram, number, CALL_BYTES);
        let is_sent = marker.mark(&mut packet, 0, now);
        let colour = packet.colour as u8;
        if !is_sent || colour > *first.get_or_insert(colour) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns whether the scheme demotes calls on the example link.
    fn demotes(text: &str) -> bool {
        demotes_calls(&Scheme::parse(text).unwrap(), LinkContext::EXAMPLE).unwrap()
    }

    #[test]
    fn demotes_calls__is_true_of_markers_that_count_what_was_sent() {
        for text in [
            "ct-cake",
            "excess(datagrams=64kbit)|cake(tins=bulk)",
            "sfd(th=30kB)|cake(tins=bulk)",
            "sfd",
            "pias",
        ] {
            assert!(demotes(text), "{text}");
        }
    }

    #[test]
    fn demotes_calls__is_false_of_a_marker_that_allows_a_steady_rate() {
        for text in ["droptail", "fq-codel", "cake", "excess-cake", "excess-tins-cake", "no-hint|droptail"] {
            assert!(!demotes(text), "{text}");
        }
    }
}
