//! LFP's marker (`lfp.h`; Alcaraz et al., "Accommodating Short and Long Web Traffic Flows over a DiffServ
//! Architecture", section 2).

use crate::base::{Colour, ParamError, View, check};
use crate::{ffi, flow_meter, size_history, token_bucket};

/// LFP in natural units; what is counted is packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// Tau: flows are short up to this count, the current packet included; 0 to 2^32 - 2.
    pub threshold: u32,
    /// Idle time after which a flow counts as new, ns.
    pub timeout_ns: u64,
    /// Whether a SYN makes its flow new.
    pub syn_restarts: bool,
    /// Omega: packets per second that may be green; 0, or 1 to 1e11.
    pub rate: f64,
    /// Zeta: tokens in a full bucket; 1 to 1e9.
    pub burst: u32,
    /// Kappa: the fill around which promotion opens and closes, percent.
    pub set_point: f64,
    /// Delta: it opens so much above and closes below so much beneath the set point, percent.
    pub hysteresis: f64,
    /// u and H: flows as long as this quantile of the last ones are elephants; none is at 1.
    pub sizes: size_history::Spec,
    /// Let an elephant become an ordinary flow again when the quantile rises.
    pub memoryless: bool,
}

impl Default for Spec {
    /// The paper's tau and u; what it does not give is chosen for its 2 Mb/s link: 83 packets/s (half of it), a
    /// burst of 50 (its buffer), open at 75 and closed below 25 %, 1000 flows, 5 s.
    fn default() -> Spec {
        Spec {
            threshold: 10,
            timeout_ns: 5_000_000_000,
            syn_restarts: true,
            rate: 83.0,
            burst: 50,
            set_point: 50.0,
            hysteresis: 25.0,
            sizes: size_history::Spec::default(),
            memoryless: false,
        }
    }
}

/// Parameters; same layout as `struct mh_lfp_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) meter: flow_meter::Params,
    pub(crate) bucket: token_bucket::Params,
    pub(crate) history: size_history::Params,
    pub(crate) open_grains: u64,
    pub(crate) close_grains: u64,
    pub(crate) threshold: u32,
    pub(crate) memoryless: u32,
}

/// A flow's 24 bytes; same layout as `struct mh_lfp_flow`. The default is a new flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Flow {
    pub(crate) meter: flow_meter::Meter,
    pub(crate) elephant: u32,
    pub(crate) reserved: u32,
}

/// What all flows share, 11.7 KB: keep it in a box. Same layout as `struct mh_lfp_state`; the default is a full
/// bucket and an empty history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct State {
    pub(crate) bucket: token_bucket::State,
    pub(crate) open: u32,
    pub(crate) reserved: u32,
    pub(crate) history: size_history::State,
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        let meter = flow_meter::Spec { timeout_ns: spec.timeout_ns, syn_restarts: spec.syn_restarts };
        let bucket = token_bucket::Params::new(&token_bucket::Spec { rate: spec.rate, burst: spec.burst })?;
        let (low, high) = spec.limits()?;
        if spec.threshold == u32::MAX {
            return Err(ParamError::new("threshold", spec.threshold, "0 to 4294967294"));
        }
        Ok(Params {
            meter: flow_meter::Params::new(&meter)?,
            bucket,
            history: size_history::Params::new(&spec.sizes).map_err(|error| error.within("sizes"))?,
            open_grains: bucket.grains_at(high),
            close_grains: bucket.grains_at(low),
            threshold: spec.threshold,
            memoryless: u32::from(spec.memoryless),
        })
    }
}

impl Spec {
    /// Closed below, open from; percent.
    fn limits(&self) -> Result<(f64, f64), ParamError> {
        let kappa = check("set_point", self.set_point, 0.0..=100.0, "percent")?;
        let delta = check("hysteresis", self.hysteresis, 0.0..=kappa.min(100.0 - kappa), "percent")?;
        Ok((kappa - delta, kappa + delta))
    }
}

impl Flow {
    /// What the flow has sent since it was new.
    #[inline]
    pub fn meter(&self) -> &flow_meter::Meter {
        &self.meter
    }

    /// Whether it was found to be an elephant.
    #[inline]
    pub fn is_elephant(&self) -> bool {
        self.elephant != 0
    }
}

impl State {
    /// Whether long flows are promoted, as of the last packet.
    pub fn is_open(&self) -> bool {
        self.open != 0
    }

    /// The bucket of tokens, one a packet.
    pub fn bucket(&self) -> &token_bucket::State {
        &self.bucket
    }

    /// The sizes of the last flows, packets.
    pub fn history(&self) -> &size_history::State {
        &self.history
    }
}

/// The colour of a packet of `flow`: green (short, or promoted), yellow (long) or red (elephant).
#[inline]
pub fn packet(p: &Params, flow: &mut Flow, state: &mut State, view: &View, now_ns: u64) -> Colour {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    Colour::from_c(unsafe { ffi::mh_shim_lfp_packet(p, flow, state, view, now_ns) })
}

/// A flow of so many packets has ended: call it for every flow that is forgotten after it expired.
#[inline]
pub fn flow_end(p: &Params, state: &mut State, packets: u32) {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_lfp_flow_end(p, state, packets) }
}

/// Whether the flow may be forgotten, once [`flow_end`] was told of it.
#[inline]
pub fn expired(p: &Params, flow: &Flow, now_ns: u64) -> bool {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_lfp_expired(p, flow, now_ns) != 0 }
}
