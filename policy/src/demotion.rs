//! Demotion by bytes sent (`demotion.h`; PIAS, NSDI 2015; `ct bytes`).

use crate::base::{Colour, NEVER, ParamError, View};
use crate::{ffi, flow_meter};

/// Where a flow is demoted; bytes of IP length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Up to this a flow is green; 0 to 2^32 - 2.
    pub first: u32,
    /// Up to this it is yellow, then red; at least `first`, `None` for ever.
    pub second: Option<u32>,
    /// Idle time after which a flow counts as new, ns; [`NEVER`] for no timeout.
    pub timeout_ns: u64,
    /// Whether a SYN makes its flow new.
    pub syn_restarts: bool,
}

impl Default for Spec {
    /// 20 KiB and no timeout, as PIAS's tagging module; 1 MB is ours.
    fn default() -> Spec {
        Spec { first: 20 * 1024, second: Some(1_000_000), timeout_ns: NEVER, syn_restarts: true }
    }
}

impl Spec {
    /// The rule `ct original bytes > bytes` in a firewall: demoted once, for as long as the connection lives.
    pub fn connection_bytes(bytes: u32) -> Spec {
        Spec { first: bytes, second: None, ..Spec::default() }
    }
}

/// Parameters; same layout as `struct mh_demotion_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) meter: flow_meter::Params,
    pub(crate) first: u32,
    pub(crate) second: u32,
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        let meter = flow_meter::Spec { timeout_ns: spec.timeout_ns, syn_restarts: spec.syn_restarts };
        let meter = flow_meter::Params::new(&meter)?;
        if spec.first == u32::MAX {
            return Err(ParamError::new("first", spec.first, "0 to 4294967294 bytes"));
        }
        let second = spec.second.unwrap_or(u32::MAX);
        if second < spec.first {
            return Err(ParamError::new("second", second, format!("{} to 4294967295 bytes", spec.first)));
        }
        Ok(Params { meter, first: spec.first, second })
    }
}

/// Whether the flow may be forgotten.
#[inline]
pub fn expired(p: &Params, flow: &flow_meter::Meter, now_ns: u64) -> bool {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_demotion_expired(p, flow, now_ns) != 0 }
}

/// The colour of a packet of `flow`.
#[inline]
pub fn packet(p: &Params, flow: &mut flow_meter::Meter, view: &View, now_ns: u64) -> Colour {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    Colour::from_c(unsafe { ffi::mh_shim_demotion_packet(p, flow, view, now_ns) })
}
