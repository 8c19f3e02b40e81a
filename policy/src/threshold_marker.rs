//! Threshold marker (`threshold_marker.h`; SFD section 3.2).

use crate::base::{Colour, ParamError, Unit};
use crate::{ffi, flow_meter};

/// The first part of every flow gets the better colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Up to this count, the current packet included; 0 to 2^32 - 2.
    pub threshold: u32,
    /// What is counted.
    pub unit: Unit,
    /// Colour up to the threshold.
    pub within: Colour,
    /// Colour after it; must differ.
    pub beyond: Colour,
}

impl Default for Spec {
    /// The paper's 15 KB, green before and yellow after.
    fn default() -> Spec {
        Spec { threshold: 15_000, unit: Unit::Bytes, within: Colour::Green, beyond: Colour::Yellow }
    }
}

/// Parameters; same layout as `struct mh_threshold_marker_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) threshold: u32,
    pub(crate) unit: u32,
    pub(crate) within: u32,
    pub(crate) beyond: u32,
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] when the colours are equal or the threshold is where counters stop.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        if spec.threshold == u32::MAX {
            return Err(ParamError::new("threshold", spec.threshold, "0 to 4294967294"));
        }
        if spec.within == spec.beyond {
            return Err(ParamError::new("beyond", spec.beyond.name(), "a colour other than `within`"));
        }
        let (within, beyond) = (spec.within as u32, spec.beyond as u32);
        Ok(Params { threshold: spec.threshold, unit: spec.unit as u32, within, beyond })
    }
}

/// The colour of a packet that has just been metered.
#[inline]
pub fn colour(p: &Params, meter: &flow_meter::Meter) -> Colour {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    Colour::from_c(unsafe { ffi::mh_shim_threshold_marker_colour(p, meter) })
}
