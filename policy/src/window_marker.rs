//! Window marker, TCP-DS and TCP-DS-R (`window_marker.h`; Noureddine & Tobagi, section VI.A).

use crate::base::{Colour, ParamError, View};
use crate::ffi;

/// The thresholds of a class of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// H: windows up to this are green; 0 to `medium` packets.
    pub high: u16,
    /// M: windows up to this are yellow; packets.
    pub medium: u16,
    /// Keep about H green packets of a larger window, by chance (TCP-DS-R).
    pub randomised: bool,
}

impl Default for Spec {
    /// The paper's 4 and 8 packets, for web and file transfers; not randomised.
    fn default() -> Spec {
        Spec { high: 4, medium: 8, randomised: false }
    }
}

impl Spec {
    /// Thresholds that no window passes: always green, as the paper has Telnet.
    pub const ALWAYS_GREEN: Spec = Spec { high: u16::MAX, medium: u16::MAX, randomised: false };
}

/// Parameters; same layout as `struct mh_window_marker_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) high: u32,
    pub(crate) medium: u32,
    pub(crate) randomised: u32,
    pub(crate) reserved: u32,
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] when H is above M.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        if spec.high > spec.medium {
            return Err(ParamError::new("high", spec.high, format!("0 to {} packets", spec.medium)));
        }
        let (high, medium) = (spec.high.into(), spec.medium.into());
        Ok(Params { high, medium, randomised: spec.randomised.into(), reserved: 0 })
    }
}

/// The colour of a packet at the moment it is sent: green (HIGH), yellow (MED), red (LOW); its window is
/// [`View::window_hint`], `random` is 32 uniform bits.
#[inline]
pub fn packet(p: &Params, view: &View, random: u32) -> Colour {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    Colour::from_c(unsafe { ffi::mh_shim_window_marker_packet(p, view, random) })
}
