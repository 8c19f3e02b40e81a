//! Promotion of some packets of long flows (`promotion.h`; SFD section 3.3).

use crate::base::ParamError;
use crate::ffi;

/// Which packets beyond the threshold get the better colour after all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Spec {
    /// None (SFD).
    #[default]
    None,
    /// Each with probability threshold / count (P-SFD).
    Probabilistic,
    /// One of every K, the K-th (S-SFD); K at least 1.
    OneOfK(u32),
}

/// Parameters; same layout as `struct mh_promotion_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) kind: u32,
    pub(crate) every: u32,
}

/// A flow's part; same layout as `struct mh_promotion`. The default is a new flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct State {
    pub(crate) out_count: u32,
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] when K is 0.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        match *spec {
            Spec::None => Ok(Params { kind: 0, every: 0 }),
            Spec::Probabilistic => Ok(Params { kind: 1, every: 0 }),
            Spec::OneOfK(0) => Err(ParamError::new("k", 0, "1 to 4294967295")),
            Spec::OneOfK(every) => Ok(Params { kind: 2, every }),
        }
    }
}

/// Whether a packet beyond `threshold` is promoted; `count` is its flow's, this packet included.
#[inline]
pub fn packet(p: &Params, state: &mut State, threshold: u32, count: u32, random: u32) -> bool {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_promotion_packet(p, state, threshold, count, random) != 0 }
}
