//! What a scheme's markers make of a call that lasts: the price of counting what a flow has sent.

use super::{LinkContext, Scheme, build};
use crate::error::Result;
use crate::flow::Flow;
use crate::packet::{Kind, Packet};
use crate::units::{Dur, Time};

/// A packet of G.711 with 20 ms of sound: 160 B, and 40 B of RTP, UDP and IP (RFC 3551 section 4.5.14).
const CALL_BYTES: u16 = 200;
const CALL_INTERVAL: Dur = Dur::from_millis(20);
/// So many packets are a minute.
const CALL_PACKETS: u32 = 3000;

/// Returns whether the scheme's markers give packets of a call, alone on the link, a worse colour the longer it lasts.
///
/// `compare` says so of a scheme that it recommends for traffic without calls.
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
