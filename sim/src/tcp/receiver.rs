//! The receiving end: cumulative and selective acknowledgements, delayed ACKs, ECN echo.
//!
//! Linux acknowledges each segment that lets its receive window grow. The window begins with 64 kB, and grows by two
//! segments with each that arrives, up to a few times what arrived within a round trip. So a fast transfer is
//! acknowledged segment by segment for hundreds of them, and a slow one, whose rounds 64 kB hold anyway, hardly at all.
//! The model uses the sender's window for what arrives in a round trip. The hint that packets carry does not serve,
//! because markers write it and misbehaving senders choose it. The receive window never limits the sender.

use super::profile::{Params, Variant};
use super::ranges::Ranges;
use crate::packet::{Packet, SackBlock, flag};
use crate::units::{Dur, Time};

/// Linux's first receive window, in segments.
const FIRST_WINDOW: u16 = 44;
/// Greatest receive window in round trips of data, and the largest round trip that counts, in segments: readings. The
/// window grows with at most 361 segments; in transfers of 2 MB without loss Linux 6.18 acknowledged 362 one by one
/// (`python -m validation.transfers --acks`).
const ROUNDS: u16 = 3;
const LARGEST_ROUND: f64 = 255.0;

/// Receiver state of one connection.
#[derive(Debug, Clone)]
pub struct Receiver {
    next: u32,
    /// Segments that arrived out of order.
    held: Ranges,
    /// Starts of the blocks reported last, most recent first; `u32::MAX` where there was none.
    recent: [u32; 3],
    /// Segments that the next ACK acknowledges.
    pending: u8,
    /// Packets with congestion marks that have arrived, for ACKs that count them.
    marks: u16,
    /// ACKs echo a congestion mark until the sender reports a reduction (RFC 3168 section 6.1.3).
    echo: bool,
    /// Requests follow data without delay, so that no ACK is quick (Linux's `pingpong`).
    is_interactive: bool,
    /// The receive window in segments, as far as it decides about ACKs.
    window: u16,
    delayed_until: Time,
}

/// The acknowledgement that a data segment causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Send this acknowledgement now.
    Now(AckFields),
    /// None yet; a delayed ACK may follow.
    Later,
}

/// The fields of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckFields {
    /// Next segment expected.
    pub next: u32,
    /// SACK blocks, most recent first.
    pub sacks: [SackBlock; 3],
    /// Echo of a congestion mark.
    pub ece: bool,
    /// Packets with marks that have arrived, wrapping (RFC 9768); 0 without accurate ECN.
    pub marks: u16,
}

impl AckFields {
    /// Returns the SACK blocks as segments `[from, to)`, most recent first.
    #[inline]
    pub fn blocks(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.sacks.iter().filter(|block| block.length > 0).map(|block| {
            let from = self.next + u32::from(block.offset);
            (from, from + u32::from(block.length))
        })
    }
}

impl Default for Receiver {
    /// Returns the state before the first segment.
    fn default() -> Self {
        Receiver {
            next: 0,
            held: Ranges::new(),
            recent: [u32::MAX; 3],
            pending: 0,
            marks: 0,
            echo: false,
            is_interactive: false,
            window: FIRST_WINDOW,
            delayed_until: Time::NEVER,
        }
    }
}

impl Receiver {
    /// Returns the next segment expected: everything below has arrived.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Returns whether `segment` has arrived already.
    pub fn has_received(&self, segment: u32) -> bool {
        segment < self.next || self.held.find(segment).is_some()
    }

    /// Returns one more than the highest segment that has arrived, in order or not.
    pub fn received_below(&self) -> u32 {
        self.next.max(self.held.end())
    }

    /// Returns when a delayed ACK is due; [`Time::NEVER`] if none waits.
    pub fn poll_timeout(&self) -> Time {
        self.delayed_until
    }

    /// Handles a data segment, which may arrive again or out of order; returns the acknowledgement
    /// to send now, or [`Reply::Later`] after starting the timer of a delayed one. `round` is the
    /// number of segments that arrive in a round trip.
    pub fn handle_data(&mut self, packet: &Packet, round: f64, now: Time, params: &Params) -> Reply {
        let was_next = packet.seq == self.next && self.held.is_empty();
        self.is_interactive &= packet.seq >= self.next;
        let grows = self.grow_window(round, params);
        let is_quick = grows || packet.seq < params.quick_acks;
        self.store(packet.seq);
        self.note_ecn(packet, params);
        // ns-2 also delays the ACK when the last segment arrives once more.
        let is_last = packet.seq + 1 == self.next && self.held.is_empty();
        let may_wait = if !params.is_ns2() { was_next } else { is_last };
        match params.delayed_ack {
            Some(delay) if may_wait && (!is_quick || self.is_interactive) => {
                self.pending += 1;
                if self.pending < 2 && !self.echo {
                    self.delayed_until = now + delay;
                    return Reply::Later;
                }
            }
            _ => {}
        }
        Reply::Now(self.acknowledge(packet.seq, params))
    }

    /// Records that this host sends a request `pause` after the last data arrived.
    ///
    /// If that is within the time by which an ACK may be delayed, Linux regards the connection as
    /// interactive (`tcp_event_data_sent`), until data arrives twice, a mark arrives or a delayed
    /// ACK is sent.
    pub fn note_request(&mut self, pause: Dur, params: &Params) {
        self.is_interactive |= params.delayed_ack.is_some_and(|delay| pause < delay);
    }

    /// Handles the expiry of the delayed ACK's timer; returns the ACK to send and stops the timer.
    /// The connection no longer counts as interactive.
    pub fn handle_timeout(&mut self, params: &Params) -> AckFields {
        self.is_interactive = false;
        self.flush(params)
    }

    /// Returns the ACK of everything that has arrived, for a packet that is sent anyway, and
    /// cancels the delayed one.
    pub fn flush(&mut self, params: &Params) -> AckFields {
        self.acknowledge(self.next, params)
    }

    /// Grows the receive window by two segments, unless it is large enough; returns whether it
    /// grew.
    fn grow_window(&mut self, round: f64, params: &Params) -> bool {
        let grows = params.tunes_window && self.window < ROUNDS * round.min(LARGEST_ROUND) as u16;
        self.window += 2 * u16::from(grows);
        grows
    }

    /// Stores a segment: advances `next` over all that is now in order, or holds the segment until
    /// the gap before it is filled. One that has arrived before changes nothing.
    fn store(&mut self, seq: u32) {
        if seq != self.next {
            if seq > self.next {
                self.held.insert(seq, seq + 1);
            }
            return;
        }
        self.next += 1;
        if let Some((_, to)) = self.held.find(self.next) {
            self.next = to;
        }
        self.held.trim(self.next);
    }

    /// Updates the ECN feedback by a data packet's CE and CWR: the echo of RFC 3168, or L4S's count
    /// of marks. Without ECN nothing changes.
    fn note_ecn(&mut self, packet: &Packet, params: &Params) {
        if params.is_l4s() {
            self.marks = self.marks.wrapping_add(u16::from(packet.has(flag::CE)));
        } else if params.ecn {
            if packet.has(flag::CWR) {
                self.echo = false;
            }
            self.is_interactive &= self.echo || !packet.has(flag::CE);
            self.echo |= packet.has(flag::CE);
        }
    }

    /// Returns the ACK to send now, and cancels the delayed one; `trigger` is the segment that
    /// caused it. There are SACK blocks only where the profile recovers by SACK.
    #[inline]
    fn acknowledge(&mut self, trigger: u32, params: &Params) -> AckFields {
        self.pending = 0;
        self.delayed_until = Time::NEVER;
        let sacks = if params.variant == Variant::Sack {
            self.sack_blocks(trigger, params)
        } else {
            Default::default()
        };
        AckFields { next: self.next, sacks, ece: self.echo, marks: self.marks }
    }

    /// Returns the SACK blocks: the one with the newest arrival first, then those reported most
    /// recently (RFC 2018 section 4). Blocks that have merged make room for older ones, which ns-2
    /// does not report.
    fn sack_blocks(&mut self, trigger: u32, params: &Params) -> [SackBlock; 3] {
        let mut blocks = [SackBlock::default(); 3];
        if self.held.is_empty() {
            self.recent = [u32::MAX; 3];
            return blocks;
        }
        let mut starts = [u32::MAX; 3];
        let mut used = 0;
        let first = self.held.find(trigger).map(|(from, _)| from);
        let rest = self.held.iter().rev().map(|(from, _)| from).filter(|_| !params.is_ns2());
        let recent = self.recent.map(|start| self.held.find(start).map(|(from, _)| from));
        for start in first.into_iter().chain(recent.into_iter().flatten()).chain(rest) {
            if used < 3 && !starts[..used].contains(&start) {
                starts[used] = start;
                used += 1;
            }
        }
        for (block, &start) in blocks.iter_mut().zip(&starts[..used]) {
            if let Some((from, to)) = self.held.find(start) {
                *block = SackBlock { offset: (from - self.next) as u16, length: (to - from) as u16 };
            }
        }
        self.recent = starts;
        blocks
    }
}
