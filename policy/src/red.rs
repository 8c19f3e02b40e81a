//! RED (`red.h`; Floyd & Jacobson 1993).

use crate::base::{Backlog, ParamError, Verdict, View, check, fixed};
use crate::ffi;

/// RED in natural units; lengths are in mean packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// Average below which nothing is dropped; 0 to 2^20 packets.
    pub min_packets: f64,
    /// Average at which the base probability is `max_p`; at least `min_packets` + 1, at most 2^20.
    pub max_packets: f64,
    /// Base probability at `max_packets`; above 0, at most 1.
    pub max_p: f64,
    /// Weight of the new length in the average; 1e-6 to 1.
    pub w_q: f64,
    /// A typical packet, for idle time and for everything counted in bytes; 1 to 65535 bytes.
    pub mean_packet_bytes: f64,
    /// Rate of the link, for idle time; 1e3 to 1e12 bit/s.
    pub rate_bps: f64,
    /// Let the base probability rise to 1 between max and 2 max instead of jumping at max.
    pub gentle: bool,
    /// Keep drops at least 1/p apart.
    pub wait: bool,
    /// Scale the probability with the packet's size.
    pub byte_mode: bool,
    /// Judge by bytes waiting, not packets.
    pub queue_in_bytes: bool,
    /// Mark ECN-capable packets instead of dropping them early.
    pub ecn: bool,
    /// Pass arrivals that find fewer packets waiting than this; 0 is off.
    pub spare_below_packets: u32,
}

impl Default for Spec {
    /// The paper's example: 5 and 15 packets, `w_q` 0.002; `max_p` 0.1; 1000-byte packets at 10 Mbit/s.
    fn default() -> Spec {
        Spec {
            min_packets: 5.0,
            max_packets: 15.0,
            max_p: 0.1,
            w_q: 0.002,
            mean_packet_bytes: 1000.0,
            rate_bps: 10e6,
            gentle: false,
            wait: false,
            byte_mode: false,
            queue_in_bytes: false,
            ecn: false,
            spare_below_packets: 0,
        }
    }
}

/// RED's parameters in fixed point; same layout as `struct mh_red_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Params {
    pub(crate) min_q32: u64,
    pub(crate) max_q32: u64,
    pub(crate) forced_q32: u64,
    pub(crate) w_q32: u64,
    pub(crate) max_p_q32: u64,
    pub(crate) slope_q64: u64,
    pub(crate) gentle_slope_q64: u64,
    pub(crate) slot_q16: u64,
    pub(crate) longest_bytes: u64,
    pub(crate) per_byte_q43: u64,
    pub(crate) options: u32,
    pub(crate) spare_below_packets: u32,
}

/// RED's state; same layout as `struct mh_red_state`. The default is a queue that never saw a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct State {
    pub(crate) avg_q32: u64,
    pub(crate) idle_from_ns: u64,
    pub(crate) since_drop_q24: u64,
    pub(crate) above_min: u32,
    pub(crate) reserved: u32,
}

const LONGEST_PACKETS: f64 = 1048576.0;

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        spec.validate()?;
        let (min, max) = (spec.min_packets, spec.max_packets);
        Ok(Params {
            min_q32: fixed(min, 32),
            max_q32: fixed(max, 32),
            forced_q32: fixed(if spec.gentle { 2.0 * max } else { max }, 32),
            w_q32: fixed(spec.w_q, 32),
            max_p_q32: fixed(spec.max_p, 32),
            slope_q64: fixed(spec.max_p / (max - min), 64),
            gentle_slope_q64: fixed((1.0 - spec.max_p) / max, 64),
            slot_q16: (spec.mean_packet_bytes * 8e9 / spec.rate_bps * 65536.0) as u64,
            longest_bytes: (LONGEST_PACKETS * spec.mean_packet_bytes) as u64,
            per_byte_q43: (2f64.powi(43) / spec.mean_packet_bytes).ceil() as u64,
            options: spec.options(),
            spare_below_packets: spec.spare_below_packets,
        })
    }
}

impl Spec {
    fn validate(&self) -> Result<(), ParamError> {
        check("min_packets", self.min_packets, 0.0..=LONGEST_PACKETS - 1.0, "packets")?;
        check("max_packets", self.max_packets, self.min_packets + 1.0..=LONGEST_PACKETS, "packets")?;
        check("max_p", self.max_p, 1e-9..=1.0, "")?;
        check("w_q", self.w_q, 1e-6..=1.0, "")?;
        check("mean_packet_bytes", self.mean_packet_bytes, 1.0..=65535.0, "bytes")?;
        check("rate_bps", self.rate_bps, 1e3..=1e12, "bit/s")?;
        Ok(())
    }

    fn options(&self) -> u32 {
        [self.wait, self.byte_mode, self.queue_in_bytes, self.ecn]
            .iter()
            .enumerate()
            .map(|(bit, on)| u32::from(*on) << bit)
            .sum()
    }
}

/// Takes an arrival into the average and judges it; `random` is 32 uniform bits.
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
    Verdict::from_c(unsafe { ffi::mh_shim_red_packet(p, state, view, backlog, now_ns, random) })
}

/// The average length, in mean packets.
#[inline]
pub fn average(_: &Params, state: &State) -> f64 {
    packets(state.avg_q32)
}

/// The average after an arrival that found `queue` mean packets, after `idle_ns` in which nothing was sent.
pub fn next_average(p: &Params, average: f64, queue: f64, idle_ns: u64) -> f64 {
    // SAFETY: a reference of the mirrored layout; the function touches nothing else.
    packets(unsafe { ffi::mh_shim_red_average(p, fixed(average, 32), fixed(queue, 32), idle_ns) })
}

/// The base probability p_b at an average, for plots and explanations.
pub fn base_probability(p: &Params, average: f64) -> f64 {
    // SAFETY: a reference of the mirrored layout; the function touches nothing else.
    packets(unsafe { ffi::mh_shim_red_probability(p, fixed(average, 32)) })
}

#[inline]
pub(crate) fn packets(value_q32: u64) -> f64 {
    value_q32 as f64 / 4294967296.0
}
