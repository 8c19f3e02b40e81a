//! Flow meter with idle timeout (`flow_meter.h`; SFD section 3.2).

use crate::base::{NEVER, ParamError, Unit, View};
use crate::ffi;

/// When a flow counts as new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Idle for longer than this, ns; [`NEVER`] for no timeout.
    pub timeout_ns: u64,
    /// At a SYN.
    pub syn_restarts: bool,
}

impl Default for Spec {
    /// The paper's 1 s; a SYN restarts.
    fn default() -> Spec {
        Spec { timeout_ns: 1_000_000_000, syn_restarts: true }
    }
}

/// Parameters; same layout as `struct mh_flow_meter_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) timeout_ns: u64,
    pub(crate) syn_restarts: u32,
    pub(crate) reserved: u32,
}

/// What a flow has sent; same layout as `struct mh_flow_meter`. The default is a new flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Meter {
    pub(crate) last_seen_ns: u64,
    pub(crate) bytes: u32,
    pub(crate) packets: u32,
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] when the timeout is 0.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        if spec.timeout_ns == 0 {
            return Err(ParamError::new("timeout_ns", 0, format!("1 to {NEVER} ns")));
        }
        let syn_restarts = u32::from(spec.syn_restarts);
        Ok(Params { timeout_ns: spec.timeout_ns, syn_restarts, reserved: 0 })
    }
}

impl Meter {
    /// What was counted since the flow was new; stops at 2^32 - 1.
    #[inline]
    pub fn count(&self, unit: Unit) -> u32 {
        match unit {
            Unit::Bytes => self.bytes,
            Unit::Packets => self.packets,
        }
    }
}

/// Counts a packet; true if it starts the flow anew.
#[inline]
pub fn packet(p: &Params, meter: &mut Meter, view: &View, now_ns: u64) -> bool {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_flow_meter_packet(p, meter, view, now_ns) != 0 }
}

/// Whether the flow has been idle for longer than the timeout, so that it may be forgotten.
#[inline]
pub fn expired(p: &Params, meter: &Meter, now_ns: u64) -> bool {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_flow_meter_expired(p, meter, now_ns) != 0 }
}
