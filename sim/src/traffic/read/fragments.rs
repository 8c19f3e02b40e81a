//! Finds the connection of IP fragments behind the first, which have no ports.

use super::decode::{Datagram, LaterFragment, Segment, Tcp};
use super::ledger::reason;
use super::reason::Reason;
use crate::traffic::class::head::Head;
use std::collections::{HashMap, VecDeque};

/// So many divided packets are remembered, the latest ones.
const REMEMBERED: usize = 4096;
/// Later fragments than this belong to another packet of the same identification (RFC 8200, section 4.5).
const LIFETIME_NS: i64 = 60_000_000_000;

/// Recent first fragments.
#[derive(Default)]
pub struct Fragments {
    first: HashMap<Datagram, First>,
    order: VecDeque<Datagram>,
}

/// What a first fragment says about those that follow.
#[derive(Clone, Copy)]
struct First {
    segment: Segment,
    is_tunnel: bool,
}

impl Fragments {
    /// Remembers a first fragment.
    pub fn begin(&mut self, of: Datagram, segment: Segment, is_tunnel: bool) {
        if self.first.insert(of, First { segment, is_tunnel }).is_none() {
            self.order.push_back(of);
        }
        if self.order.len() > REMEMBERED {
            self.order.pop_front().map(|oldest| self.first.remove(&oldest));
        }
    }

    /// Returns a later fragment as a segment of its own.
    ///
    /// # Errors
    /// The reason to leave it out.
    pub fn later(&self, later: &LaterFragment, wire: u32, at: i64) -> Result<Segment, Reason> {
        let LaterFragment { of, offset, length, ip_bytes } = later;
        let first = self.first.get(of).filter(|first| at.abs_diff(first.segment.at) <= LIFETIME_NS as u64);
        let Some(First { segment, is_tunnel }) = first else { return Err(reason::LOST_FRAGMENT.into()) };
        if *is_tunnel {
            return Err(reason::TUNNEL_FRAGMENT.into());
        }
        // What begins and ends a connection stands in the first fragment's header.
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
