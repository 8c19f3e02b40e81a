//! SHRED's hint, reconstructed at an edge (`shred_edge.h`; Hartling, Claypool & Kinicki 2002, section 6).

use crate::base::{ParamError, View};
use crate::ffi;

/// How data is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Data of a full packet in the unit of [`View::sequence`]; at least 1.
    pub packet: u32,
}

impl Default for Spec {
    /// Segments of 1460 bytes, TCP's on Ethernet.
    fn default() -> Spec {
        Spec { packet: 1460 }
    }
}

/// Parameters; same layout as `struct mh_shred_edge_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) packet: u32,
    pub(crate) reserved: u32,
}

/// A connection's 8 bytes; same layout as `struct mh_shred_edge`. The default was never seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Flow {
    pub(crate) acknowledged: u32,
    pub(crate) known: u32,
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] when a packet has no data.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        if spec.packet == 0 {
            return Err(ParamError::new("packet", 0, "1 to 4294967295"));
        }
        Ok(Params { packet: spec.packet, reserved: 0 })
    }
}

/// Takes note of a packet of either direction; the window hint that it should carry, 1 to 255.
#[inline]
pub fn packet(p: &Params, flow: &mut Flow, view: &View) -> u8 {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_shred_edge_packet(p, flow, view) as u8 }
}
