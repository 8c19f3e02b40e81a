//! SFD's marker (`sfd.h`; Chen & Heidemann, ISI-TR-2001-548, sections 3.2 and 3.3).

use crate::base::{Colour, ParamError, Unit, View};
use crate::{ffi, flow_meter, promotion, threshold_marker};

/// SFD, P-SFD or S-SFD in natural units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Flows are short up to this count, the current packet included.
    pub threshold: u32,
    /// What is counted.
    pub unit: Unit,
    /// Idle time after which a flow counts as new, ns.
    pub timeout_ns: u64,
    /// Whether a SYN makes its flow new.
    pub syn_restarts: bool,
    /// Which packets of long flows stay green.
    pub promotion: promotion::Spec,
}

impl Default for Spec {
    /// The paper's plain SFD: 15 KB of IP length, 1 s.
    fn default() -> Spec {
        let (meter, marker) = (flow_meter::Spec::default(), threshold_marker::Spec::default());
        Spec {
            threshold: marker.threshold,
            unit: marker.unit,
            timeout_ns: meter.timeout_ns,
            syn_restarts: meter.syn_restarts,
            promotion: promotion::Spec::None,
        }
    }
}

/// Parameters; same layout as `struct mh_sfd_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) meter: flow_meter::Params,
    pub(crate) marker: threshold_marker::Params,
    pub(crate) promotion: promotion::Params,
}

/// A flow's 24 bytes; same layout as `struct mh_sfd_flow`. The default is a new flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Flow {
    pub(crate) meter: flow_meter::Meter,
    pub(crate) promotion: promotion::State,
    pub(crate) reserved: u32,
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        let meter = flow_meter::Spec { timeout_ns: spec.timeout_ns, syn_restarts: spec.syn_restarts };
        let marker =
            threshold_marker::Spec { threshold: spec.threshold, unit: spec.unit, ..Default::default() };
        Ok(Params {
            meter: flow_meter::Params::new(&meter)?,
            marker: threshold_marker::Params::new(&marker)?,
            promotion: promotion::Params::new(&spec.promotion)?,
        })
    }
}

impl Flow {
    /// What the flow has sent since it was new.
    #[inline]
    pub fn meter(&self) -> &flow_meter::Meter {
        &self.meter
    }
}

/// The colour of a packet of `flow`: green (IN) or yellow (OUT); `random` is 32 uniform bits.
#[inline]
pub fn packet(p: &Params, flow: &mut Flow, view: &View, now_ns: u64, random: u32) -> Colour {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    Colour::from_c(unsafe { ffi::mh_shim_sfd_packet(p, flow, view, now_ns, random) })
}

/// Whether the flow may be forgotten.
#[inline]
pub fn expired(p: &Params, flow: &Flow, now_ns: u64) -> bool {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_sfd_expired(p, flow, now_ns) != 0 }
}
