//! Proportional rate reduction (RFC 9937, which succeeds RFC 6937), in segments.
//!
//! In recovery the window shrinks to ssthresh over one round trip: the segments sent follow the segments
//! delivered, `sent = ⌈delivered · ssthresh / RecoverFS⌉`. When losses have taken the flight below ssthresh
//! already, as many segments may be sent as are delivered (conservative reduction bound), and one more for
//! each acknowledgement that advances and shows no new loss (slow-start reduction bound).

use crate::tcp::tcb::Tcb;

/// State of one recovery; the default is that of a recovery that begins.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prr {
    /// Segments that were in flight when recovery began and had not been delivered (`RecoverFS`); 0 before
    /// the first acknowledgement in recovery.
    flight: u32,
    /// Segments delivered in this recovery (`prr_delivered`).
    delivered: u32,
    /// Segments sent in this recovery (`prr_out`), from its first acknowledgement on.
    sent: u32,
}

/// The delivery that an acknowledgement reports.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery {
    /// Segments delivered before it, cumulatively or selectively acknowledged.
    pub(super) before: u32,
    /// Segments that it delivers.
    pub(super) delivered: u32,
    /// Segments in flight after it.
    pub(super) in_flight: u32,
    /// It advances and shows no further loss (`SafeACK`).
    pub(super) is_safe: bool,
}

impl Prr {
    /// Sets the window after an acknowledgement to what is in flight and what may be sent for it.
    /// Outside recovery, or if nothing was delivered, it stays.
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, delivery: Delivery) {
        if !tcb.in_recovery() || delivery.delivered == 0 {
            return;
        }
        if self.flight == 0 {
            (self.flight, self.sent) = ((tcb.sequence.nxt() - delivery.before).max(1), 0);
        }
        let count = self.send_count(delivery, tcb.congestion.ssthresh() as u32);
        tcb.congestion.set_cwnd(f64::from(delivery.in_flight + count));
    }

    /// Records that a segment is sent in recovery.
    pub(super) fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// Counts a delivery; returns how many segments may be sent for it (section 6.2). It is at
    /// least one until the first is sent, so that the fast retransmit goes out.
    fn send_count(&mut self, ack: Delivery, ssthresh: u32) -> u32 {
        self.delivered += ack.delivered;
        let count = if ack.in_flight > ssthresh {
            (self.delivered * ssthresh).div_ceil(self.flight).saturating_sub(self.sent)
        } else {
            let bound = self.delivered.saturating_sub(self.sent).max(ack.delivered) + u32::from(ack.is_safe);
            bound.min(ssthresh - ack.in_flight)
        };
        // The fast retransmit goes out in any case.
        if self.sent == 0 { count.max(1) } else { count }
    }
}
