//! Aggregate marker, ER-TBM (`aggregate_marker.h`; Noureddine & Tobagi section VI.C).

use crate::base::{Colour, ParamError, View};
use crate::{ffi, token_bucket};

/// A bucket for green, one for yellow; in bytes of IP length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// Packets that find tokens here are green.
    pub green: token_bucket::Spec,
    /// Others that find tokens here are yellow.
    pub yellow: token_bucket::Spec,
}

impl Default for Spec {
    /// The paper's rates, 250 and 500 kb/s, with the bursts of its policer, 6000 bytes.
    fn default() -> Spec {
        Spec { green: token_bucket::Spec::bytes(250e3, 6000), yellow: token_bucket::Spec::bytes(500e3, 6000) }
    }
}

/// Parameters; same layout as `struct mh_aggregate_marker_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) bucket: [token_bucket::Params; 2],
}

/// A user's buckets; same layout as `struct mh_aggregate_marker`. The default is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct State {
    pub(crate) bucket: [token_bucket::State; 2],
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range, such as `green.rate`.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        let bucket = token_bucket::Params::of_colours(&spec.green, &spec.yellow)?;
        Ok(Params { bucket })
    }
}

/// The colour of a packet of the user; the one it comes with does not matter.
#[inline]
pub fn packet(p: &Params, state: &mut State, view: &View, now_ns: u64) -> Colour {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    Colour::from_c(unsafe { ffi::mh_shim_aggregate_marker_packet(p, state, view, now_ns) })
}
