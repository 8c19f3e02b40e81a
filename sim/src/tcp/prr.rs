//! Proportional rate reduction (RFC 9937, which succeeds RFC 6937), in segments.
//!
//! In recovery the window shrinks to ssthresh over one round trip, so many segments sent for so many
//! delivered: `sent = ⌈delivered · ssthresh / RecoverFS⌉`. When losses have taken the flight below ssthresh
//! already, what is delivered may be sent again (conservative reduction bound), and one more for each
//! acknowledgement that advances and tells no new loss (slow-start reduction bound).

use super::profile::Params;
use super::sender::Sender;

/// State of one recovery.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prr {
    active: bool,
    /// Segments that were in flight when recovery began and had not been delivered (`RecoverFS`).
    flight: u32,
    delivered: u32,
    pub(super) out: u32,
}

impl Prr {
    fn start(flight: u32) -> Prr {
        Prr { active: true, flight: flight.max(1), delivered: 0, out: 0 }
    }

    /// Segments to send for an acknowledgement that delivered `news`, with `in_flight` out (section 6.2).
    fn send_count(&mut self, news: u32, in_flight: u32, ssthresh: u32, is_safe: bool) -> u32 {
        self.delivered += news;
        let count = if in_flight > ssthresh {
            (self.delivered * ssthresh).div_ceil(self.flight).saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(news) + u32::from(is_safe);
            bound.min(ssthresh - in_flight)
        };
        // The fast retransmit goes out in any case.
        if self.out == 0 { count.max(1) } else { count }
    }
}

/// What had been delivered before an acknowledgement, and what it says beyond that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery {
    /// Segments delivered before it: acknowledged, and selectively acknowledged above.
    pub(super) before: u32,
    pub(super) news: u32,
    pub(super) in_flight: u32,
    /// It advances and tells no further loss (`SafeACK`).
    pub(super) is_safe: bool,
}

impl Sender {
    /// The window in recovery after an acknowledgement.
    pub(super) fn reduce_in_proportion(&mut self, delivery: Delivery) {
        if !self.in_recovery() || delivery.news == 0 {
            return;
        }
        let (nxt, ssthresh) = (self.nxt, self.ssthresh as u32);
        let prr = &mut self.extras().prr;
        if !prr.active {
            *prr = Prr::start(nxt - delivery.before);
        }
        let count = prr.send_count(delivery.news, delivery.in_flight, ssthresh, delivery.is_safe);
        self.cwnd = f64::from(delivery.in_flight + count);
    }

    /// [`Sender::handle_sack`], with the window in recovery set by PRR.
    #[inline(never)]
    pub(super) fn handle_sack_in_proportion(
        &mut self,
        ack: &super::receiver::AckFields,
        now: crate::units::Time,
        params: &Params,
    ) {
        let (before, una, lost) = (self.una + self.board.held(), self.una, self.board.lost_below());
        self.handle_sack(ack, now, params);
        // The scoreboard counts what is about to be retransmitted as in flight.
        let in_flight = self.board.pipe - i64::from(self.forced.is_some());
        let is_safe = self.una > una && self.board.lost_below() <= lost.max(self.una);
        let news = (self.una + self.board.held()).saturating_sub(before);
        self.reduce_in_proportion(Delivery { before, news, in_flight: in_flight.max(0) as u32, is_safe });
    }

    /// A new reduction: the next recovery begins afresh.
    pub(super) fn restart_prr(&mut self, params: &Params) {
        if params.prr {
            self.extras().prr = Prr::default();
        }
    }
}
