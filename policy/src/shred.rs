//! SHRED (`shred.h`; Hartling, Claypool & Kinicki 2002, section 3.2).

use crate::base::{Backlog, ParamError, Verdict, View, check, fixed};
use crate::{ffi, red};

/// MH_SHRED_RESTART.
const RESTART: u32 = 16;

/// SHRED in natural units; lengths are in mean packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// The line that packets of the average window meet. `max_p` is at most (max - min) / (max - floor).
    pub red: red::Spec,
    /// Where the line may begin at the least; 0 to `red.min_packets`.
    pub floor_packets: f64,
    /// w_c, weight of a new hint in the average; 1e-6 to 1.
    pub w_hint: f64,
    /// A packet below its own line restarts the count since the last drop; else only one below RED's line does.
    pub restart: bool,
}

impl Default for Spec {
    /// The paper's floor of 5 packets and w_c 0.002, counting bytes, gentle; its RED's parameters are not told: ours
    /// are 30 and 90 packets of 1000 bytes, max_p 0.1, w_q 0.002, with wait as their simulator has it.
    fn default() -> Spec {
        let red = red::Spec {
            min_packets: 30.0,
            max_packets: 90.0,
            gentle: true,
            wait: true,
            queue_in_bytes: true,
            ..red::Spec::default()
        };
        Spec { red, floor_packets: 5.0, w_hint: 0.002, restart: false }
    }
}

/// Parameters in fixed point; same layout as `struct mh_shred_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) red: red::Params,
    pub(crate) floor_q32: u64,
    pub(crate) per_max_q64: u64,
    pub(crate) w_hint_q32: u64,
}

/// SHRED's state; same layout as `struct mh_shred_state`. The default is a queue that never saw a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct State {
    pub(crate) red: red::State,
    pub(crate) hint_avg_q32: u64,
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        let mut red = red::Params::new(&spec.red).map_err(|error| error.within("red"))?;
        red.options |= if spec.restart { RESTART } else { 0 };
        let red::Spec { min_packets: min, max_packets: max, max_p, .. } = spec.red;
        let floor = check("floor_packets", spec.floor_packets, 0.0..=min, "packets")?;
        check("red.max_p", max_p, 1e-9..=(max - min) / (max - floor), "")?;
        let w_hint = check("w_hint", spec.w_hint, 1e-6..=1.0, "")?;
        let (floor_q32, per_max_q64) = (fixed(floor, 32), fixed(1.0 / max, 64));
        Ok(Params { red, floor_q32, per_max_q64, w_hint_q32: fixed(w_hint, 32) })
    }
}

/// Takes an arrival into both averages and judges it; `random` is 32 uniform bits.
#[inline]
pub fn packet(
    p: &Params,
    state: &mut State,
    view: &View,
    backlog: &Backlog,
    now_ns: u64,
    random: u32,
) -> Verdict {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    Verdict::from_c(unsafe { ffi::mh_shim_shred_packet(p, state, view, backlog, now_ns, random) })
}

/// The average length, in mean packets.
#[inline]
pub fn average(p: &Params, state: &State) -> f64 {
    red::average(&p.red, &state.red)
}

/// The average window hint in packets; 0 before the first.
#[inline]
pub fn hint_average(state: &State) -> f64 {
    red::packets(state.hint_avg_q32)
}

/// The base probability p_b at an average length, for a packet with `hint` (0 for none) where hints average
/// `hint_average` packets (1 to 255); for plots and explanations.
pub fn base_probability(p: &Params, average: f64, hint: u8, hint_average: f64) -> f64 {
    let (avg_q32, hint_avg_q32) = (fixed(average, 32), fixed(hint_average.clamp(1.0, 255.0), 32));
    // SAFETY: a reference of the mirrored layout; the function touches nothing else.
    red::packets(unsafe { ffi::mh_shim_shred_probability(p, avg_q32, hint.into(), hint_avg_q32) })
}
