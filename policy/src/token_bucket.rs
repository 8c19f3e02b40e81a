//! Token bucket (`token_bucket.h`; Noureddine & Tobagi section IV.B, Alcaraz et al. section 2.2).

use crate::base::{NEVER, ParamError, check};
use crate::ffi;

/// Tokens arrive at a rate, up to a burst. What a token is, a byte or a packet, is the user's choice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// Tokens per second; 0 (there never is one), or 1 to 1e11.
    pub rate: f64,
    /// Tokens in a full bucket; 1 to 1e9.
    pub burst: u32,
}

impl Spec {
    /// A bucket of bytes: `rate_bps` bit/s, `burst_bytes` bytes.
    pub fn bytes(rate_bps: f64, burst_bytes: u32) -> Spec {
        Spec { rate: rate_bps / 8.0, burst: burst_bytes }
    }
}

impl Default for Spec {
    /// The profile for HIGH in Noureddine & Tobagi's section V: 250 kb/s, 6000 bytes.
    fn default() -> Spec {
        Spec::bytes(250e3, 6000)
    }
}

/// Parameters in grains; same layout as `struct mh_token_bucket_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) rate_grains: u64,
    pub(crate) burst_grains: u64,
    pub(crate) token_grains: u64,
    pub(crate) most_tokens: u64,
}

/// What is missing from a full bucket; same layout as `struct mh_token_bucket`. The default is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct State {
    pub(crate) missing_grains: u64,
    pub(crate) last_ns: u64,
}

/// Bursts below this share the finest format.
const LEAST_FORMAT: u32 = 1 << 20;

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        if spec.rate != 0.0 && !(1.0..=1e11).contains(&spec.rate) {
            return Err(ParamError::new("rate", spec.rate, "0, or 1 to 100000000000 tokens/s"));
        }
        check("burst", f64::from(spec.burst), 1.0..=1e9, "tokens")?;
        let shift = ((1u64 << 61) / 1_000_000_000 / u64::from(spec.burst.max(LEAST_FORMAT))).ilog2();
        let token_grains = 1_000_000_000u64 << shift;
        let burst = if spec.rate == 0.0 { 0 } else { u64::from(spec.burst) };
        Ok(Params {
            rate_grains: (spec.rate * 2f64.powi(shift as i32)).round() as u64,
            burst_grains: burst * token_grains,
            token_grains,
            most_tokens: (1 << 62) / token_grains,
        })
    }

    /// The buckets of green and of yellow packets.
    ///
    /// # Errors
    /// [`ParamError`] naming the colour and the field, such as `green.rate`.
    pub(crate) fn of_colours(green: &Spec, yellow: &Spec) -> Result<[Params; 2], ParamError> {
        let named = |spec, colour| Params::new(spec).map_err(|error| error.within(colour));
        Ok([named(green, "green")?, named(yellow, "yellow")?])
    }

    /// The level in grains that is `percent` of the burst, rounded up to one; percent is taken to 2^-32.
    pub(crate) fn grains_at(&self, percent: f64) -> u64 {
        let percent_q32 = (percent * 4294967296.0).round() as u128;
        (percent_q32 * u128::from(self.burst_grains)).div_ceil(100 << 32) as u64
    }
}

impl State {
    /// Tokens in the bucket, negative in debt; the burst, as far as 53 bits go, when full.
    pub fn tokens(&self, p: &Params) -> f64 {
        (p.burst_grains as f64 - self.missing_grains as f64) / p.token_grains as f64
    }
}

/// Adds the tokens of the time since the last refill.
#[inline]
pub fn refill(p: &Params, state: &mut State, now_ns: u64) {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_token_bucket_refill(p, state, now_ns) }
}

/// Whether so many tokens are there; refill first.
#[inline]
pub fn conforms(p: &Params, state: &State, tokens: u32) -> bool {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_token_bucket_conforms(p, state, tokens) != 0 }
}

/// Takes tokens whether they are there or not; what was not there is owed.
#[inline]
pub fn take(p: &Params, state: &mut State, tokens: u32) {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_token_bucket_take(p, state, tokens) }
}

/// Takes tokens as far as they are there.
#[inline]
pub fn take_clipped(p: &Params, state: &mut State, tokens: u32) {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_token_bucket_take_clipped(p, state, tokens) }
}

/// A policer's step: refills, and takes the tokens if they are there; true if they were.
#[inline]
pub fn packet(p: &Params, state: &mut State, tokens: u32, now_ns: u64) -> bool {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_token_bucket_packet(p, state, tokens, now_ns) != 0 }
}

/// ns after the last refill at which so many tokens are there, and not before; `None` if they never are.
#[inline]
pub fn wait_ns(p: &Params, state: &State, tokens: u32) -> Option<u64> {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    let wait_ns = unsafe { ffi::mh_shim_token_bucket_wait_ns(p, state, tokens) };
    (wait_ns != NEVER).then_some(wait_ns)
}

/// The level in percent of the burst, to 0.0001; 0 in debt.
#[inline]
pub fn fill_percent(p: &Params, state: &State) -> f64 {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_token_bucket_percent_q16(p, state) as f64 / 65536.0 }
}
