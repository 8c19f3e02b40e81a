//! Rules that several kinds of loss recovery share: the threshold of duplicate ACKs, and the RFCs' timeout.

use crate::tcp::profile::Params;
use crate::tcp::tcb::Tcb;
use crate::units::Time;

/// Duplicate ACKs, or segments SACKed above a hole, that show a loss (RFC 5681, RFC 6675 `DupThresh`).
pub(super) const DUP_THRESH: u32 = 3;

/// Handles a retransmission timeout by the RFCs: everything outstanding is sent again in slow
/// start. Returns `false` if nothing is outstanding, and stops the timer. A repeated timeout of the
/// same segment does not reduce the threshold again (RFC 5681 section 3.1).
pub(super) fn time_out(tcb: &mut Tcb, now: Time, params: &Params) -> bool {
    tcb.clock.restart_duplicates();
    if tcb.sequence.is_idle() {
        tcb.timer.stop();
        return false;
    }
    let flight = (!tcb.is_repeated_timeout()).then(|| tcb.flight());
    tcb.time_out(flight, params);
    tcb.go_back(now, params);
    tcb.clock.release_all();
    true
}
