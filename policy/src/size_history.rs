//! Quantile of the sizes of the last flows (`size_history.h`; Alcaraz et al. section 2.3).

use crate::base::{ParamError, check};
use crate::ffi;

/// The longest history there is, flows.
pub const MOST: usize = 4096;
/// Buckets of sizes, and groups of buckets with the one that is not used.
const BUCKETS: usize = 1728;
const GROUPS: usize = 28;

/// Which quantile, of how many flows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// The quantile's level; 1e-6 to 1.
    pub quantile: f64,
    /// How many flows are remembered; 1 to [`MOST`].
    pub flows: u32,
}

impl Default for Spec {
    /// The paper's 95 %, of 1000 flows.
    fn default() -> Spec {
        Spec { quantile: 0.95, flows: 1000 }
    }
}

/// Parameters; same layout as `struct mh_size_history_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) u_q32: u64,
    pub(crate) length: u32,
    pub(crate) reserved: u32,
}

/// The history, 11.7 KB: keep it in a box. Same layout as `struct mh_size_history`; the default is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct State {
    pub(crate) count: u32,
    pub(crate) next: u32,
    pub(crate) quantile: u32,
    pub(crate) reserved: u32,
    pub(crate) ring: [u16; MOST],
    pub(crate) bucket: [u16; BUCKETS],
    pub(crate) group: [u16; GROUPS],
}

impl Default for State {
    fn default() -> State {
        State {
            count: 0,
            next: 0,
            quantile: 0,
            reserved: 0,
            ring: [0; MOST],
            bucket: [0; BUCKETS],
            group: [0; GROUPS],
        }
    }
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        let u = check("quantile", spec.quantile, 1e-6..=1.0, "")?;
        check("flows", f64::from(spec.flows), 1.0..=MOST as f64, "flows")?;
        Ok(Params { u_q32: (u * 4294967296.0) as u64, length: spec.flows, reserved: 0 })
    }
}

impl State {
    /// How many sizes are kept.
    pub fn flows(&self) -> u32 {
        self.count
    }

    /// The least size that the wanted share of those kept does not exceed: exact up to 127, within 1/128 beyond; `None`
    /// while none is kept.
    pub fn quantile(&self) -> Option<u32> {
        (self.count > 0).then_some(self.quantile)
    }
}

/// A flow of this size has ended; the oldest is forgotten if there are too many.
#[inline]
pub fn flow_end(p: &Params, state: &mut State, size: u32) {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_size_history_flow_end(p, state, size) }
}
