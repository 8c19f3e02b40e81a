//! Finds the connection of later IP fragments, which have no ports.

use super::decode::{Datagram, LaterFragment, Segment, Tcp};
use super::ledger::reason;
use super::reason::Reason;
use crate::traffic::class::head::Head;
use std::collections::{HashMap, VecDeque};

/// The most divided packets that are stored, the latest ones.
const REMEMBERED: usize = 4096;
/// A fragment that comes later than this belongs to another packet of the same identification (RFC 8200, section 4.5).
const LIFETIME_NS: i64 = 60_000_000_000;

/// Recent first fragments.
#[derive(Default)]
pub struct Fragments {
    first: HashMap<Datagram, First>,
    order: VecDeque<Datagram>,
}

/// The first fragment of a packet, which has the ports of those that follow.
#[derive(Clone, Copy)]
struct First {
    segment: Segment,
    is_tunnel: bool,
}

impl Fragments {
    /// Stores a first fragment, in place of an earlier one of the same identity; beyond [`REMEMBERED`] the oldest
    /// identity is dropped.
    pub fn begin(&mut self, of: Datagram, segment: Segment, is_tunnel: bool) {
        if self.first.insert(of, First { segment, is_tunnel }).is_none() {
            self.order.push_back(of);
        }
        if self.order.len() > REMEMBERED {
            self.order.pop_front().map(|oldest| self.first.remove(&oldest));
        }
    }

    /// Returns a later fragment, of `wire` bytes at `at`, ns, as a segment of the connection of its first
    /// fragment, with the flag ACK alone if it is TCP.
    ///
    /// # Errors
    /// The reason to leave it out: no first fragment within [`LIFETIME_NS`] is stored, or it is of a tunnel.
    pub fn to_segment(&self, later: &LaterFragment, wire: u32, at: i64) -> Result<Segment, Reason> {
        let LaterFragment { of, offset, length, ip_bytes } = later;
        let first = self.first.get(of).filter(|first| at.abs_diff(first.segment.at) <= LIFETIME_NS as u64);
        let Some(First { segment, is_tunnel }) = first else { return Err(reason::LOST_FRAGMENT.into()) };
        if *is_tunnel {
            return Err(reason::TUNNEL_FRAGMENT.into());
        }
        // The flags that begin and end a connection count in the first fragment.
        let tcp = segment.tcp.map(|tcp| Tcp {
            seq: tcp.first_byte().wrapping_add(*offset).wrapping_sub(u32::from(tcp.header)),
            ack: tcp.ack,
            flags: Tcp::ACK,
            header: tcp.header,
        });
        let ip_bytes = *ip_bytes;
        let (is_quic, head) = (false, Head::new(*length, &[]));
        Ok(Segment { at, payload: *length, ip_bytes, wire, overclaimed: 0, tcp, is_quic, head, ..*segment })
    }
}
