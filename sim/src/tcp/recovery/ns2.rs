//! Loss recovery as ns-2's one-way TCPs do it (`oracle/semantics.md`, section 1.6).
//!
//! [`super::ns2_reno`] and [`super::ns2_sack`] share these rules: when a recovery may begin, how the window
//! opens after new data was acknowledged, and timeouts. The timer runs on when everything is acknowledged.

use crate::tcp::profile::{Opening, Params, Variant};
use crate::tcp::tcb::Tcb;
use crate::units::Time;

/// Returns whether three duplicate ACKs start a recovery: not those caused by retransmissions
/// ("careful").
pub(super) fn may_fast_retransmit(tcb: &Tcb, params: &Params) -> bool {
    let una = tcb.sequence.una();
    una > tcb.recovery_point() || (una == 1 && params.dialect.quirks().early_fast_retransmit)
}

/// Handles an acknowledgement of new data outside recovery, or one that ends it: the window opens,
/// and what it allows may be sent. The ACK of a one-way SYN sets it to its initial size.
#[inline]
pub(super) fn accept_new_ack(tcb: &mut Tcb, next: u32, now: Time, params: &Params) {
    let una = tcb.sequence.una();
    let flight = tcb.sequence.nxt().max(next) - una;
    tcb.advance(next, now, params);
    tcb.open_window(next - una, flight, now, params);
    if una == 0 && next == 1 && params.opening == Opening::OneWaySyn {
        tcb.congestion.on_one_way_syn_acked();
    }
    tcb.clock.release_all();
}

/// Handles a retransmission timeout as ns-2 does: closes the window to one segment and rewinds, so that everything
/// outstanding is sent again in slow start, and returns `true`. If nothing is outstanding, it only closes the window,
/// restarts the timer and returns `false`. Tahoe keeps its count of duplicate ACKs: if three were counted before the
/// timeout, later duplicates have no effect.
pub(super) fn time_out(tcb: &mut Tcb, now: Time, params: &Params) -> bool {
    if params.variant != Variant::Tahoe {
        tcb.clock.restart_duplicates();
    }
    if tcb.sequence.is_idle() {
        tcb.congestion.set_loss_window();
        tcb.timer.restart(now, params);
        return false;
    }
    if tcb.sequence.una() == 0 {
        tcb.congestion.on_first_segment_lost();
    }
    tcb.time_out(Some(tcb.send_window(0, params)), params);
    tcb.go_back(now, params);
    tcb.clock.release_all();
    true
}
