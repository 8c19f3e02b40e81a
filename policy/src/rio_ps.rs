//! RIO-PS at the edge (`rio_ps.h`; Guo & Matta, BU-CS-2001-005, section III.B, appendix I.A).

use crate::base::{Colour, ParamError, View, check};
use crate::{ffi, flow_meter};

/// RIO-PS's marker and control in natural units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// T_u: idle time after which a flow counts as new, ns.
    pub timeout_ns: u64,
    /// Whether a SYN makes its flow new.
    pub syn_restarts: bool,
    /// T_c: time between steps of the threshold, ns; 0 takes every call of [`control`].
    pub period_ns: u64,
    /// SLR: the ratio of short to long flows that is aimed at; 2^-16 to 65535, right to 2^-17.
    pub ratio: f64,
    /// L_t at first, packets; `floor` to `cap`.
    pub initial: u32,
    /// Least L_t, packets; at least 1.
    pub floor: u32,
    /// Greatest L_t, packets; at most 2^32 - 2.
    pub cap: u32,
}

impl Default for Spec {
    /// The paper's 1 s, 10 s and 3; L_t from 20 within 1 to 1000 is ours.
    fn default() -> Spec {
        Spec {
            timeout_ns: 1_000_000_000,
            syn_restarts: true,
            period_ns: 10_000_000_000,
            ratio: 3.0,
            initial: 20,
            floor: 1,
            cap: 1000,
        }
    }
}

/// Parameters; same layout as `struct mh_rio_ps_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) meter: flow_meter::Params,
    pub(crate) period_ns: u64,
    pub(crate) ratio_q16: u32,
    pub(crate) initial: u32,
    pub(crate) floor: u32,
    pub(crate) cap: u32,
}

/// The edge's threshold; same layout as `struct mh_rio_ps_state`. The default was never controlled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct State {
    pub(crate) next_ns: u64,
    pub(crate) threshold: u32,
    pub(crate) reserved: u32,
}

/// Active flows by length; same layout as `struct mh_rio_ps_counts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Counts {
    /// Those of which [`is_short`] is true.
    pub short_flows: u32,
    /// The others.
    pub long_flows: u32,
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        let meter = flow_meter::Spec { timeout_ns: spec.timeout_ns, syn_restarts: spec.syn_restarts };
        let meter = flow_meter::Params::new(&meter)?;
        let ratio = check("ratio", spec.ratio, 1.0 / 65536.0..=65535.0, "")?;
        within("floor", spec.floor, 1, u32::MAX - 1)?;
        within("cap", spec.cap, spec.floor, u32::MAX - 1)?;
        within("initial", spec.initial, spec.floor, spec.cap)?;
        let ratio_q16 = (ratio * 65536.0).round() as u32;
        let Spec { period_ns, initial, floor, cap, .. } = *spec;
        Ok(Params { meter, period_ns, ratio_q16, initial, floor, cap })
    }
}

fn within(field: &str, value: u32, least: u32, most: u32) -> Result<(), ParamError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ParamError::new(field, value, format!("{least} to {most} packets")))
}

/// L_t, packets.
#[inline]
pub fn threshold(p: &Params, state: &State) -> u32 {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_rio_ps_threshold(p, state) }
}

/// Whether the flow counts as short now; for the caller that sweeps.
#[inline]
pub fn is_short(p: &Params, state: &State, flow: &flow_meter::Meter) -> bool {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_rio_ps_is_short(p, state, flow) != 0 }
}

/// Whether the flow may be forgotten.
#[inline]
pub fn expired(p: &Params, flow: &flow_meter::Meter, now_ns: u64) -> bool {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_rio_ps_expired(p, flow, now_ns) != 0 }
}

/// The colour of a packet of `flow`: green (Short) or yellow (Long).
#[inline]
pub fn packet(p: &Params, flow: &mut flow_meter::Meter, state: &State, view: &View, now_ns: u64) -> Colour {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    Colour::from_c(unsafe { ffi::mh_shim_rio_ps_packet(p, flow, state, view, now_ns) })
}

/// Adapts the threshold to the flows counted; earlier than T_c after the last step it does nothing.
#[inline]
pub fn control(p: &Params, state: &mut State, counts: &Counts, now_ns: u64) {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_rio_ps_control(p, state, counts, now_ns) }
}
