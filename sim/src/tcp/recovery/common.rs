//! What several kinds of loss recovery share: the threshold of duplicate ACKs, and the RFCs' timeout.

use crate::tcp::profile::Params;
use crate::tcp::tcb::Tcb;
use crate::units::Time;

/// Duplicate ACKs, or segments SACKed above a hole, that show a loss (RFC 5681, RFC 6675 `DupThresh`).
pub(super) const DUP_THRESH: u32 = 3;

/// Takes a timeout by the RFCs, unless nothing is outstanding: all is sent again in slow start. Returns
/// whether there was something.
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
