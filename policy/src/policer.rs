//! Policer (`policer.h`; Noureddine & Tobagi section IV.B).

use crate::base::{Colour, ParamError, View};
use crate::{ffi, token_bucket};

/// What happens to a green or yellow packet beyond its profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u32)]
pub enum Action {
    /// It becomes red.
    #[default]
    Recolour = 2,
    /// It is dropped.
    Drop = 3,
}

/// A profile for green, one for yellow; in bytes of IP length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// What green packets are held to.
    pub green: token_bucket::Spec,
    /// What yellow packets are held to.
    pub yellow: token_bucket::Spec,
    /// What happens to the others.
    pub action: Action,
}

impl Default for Spec {
    /// The paper's: 250 kb/s and 6000 bytes for each; what is beyond becomes red.
    fn default() -> Spec {
        let profile = token_bucket::Spec::default();
        Spec { green: profile, yellow: profile, action: Action::Recolour }
    }
}

/// Parameters; same layout as `struct mh_policer_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) bucket: [token_bucket::Params; 2],
    pub(crate) action: u32,
    pub(crate) reserved: u32,
}

/// A user's buckets; same layout as `struct mh_policer`. The default is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct State {
    pub(crate) bucket: [token_bucket::State; 2],
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range, such as `green.rate`.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        let bucket = token_bucket::Params::of_colours(&spec.green, &spec.yellow)?;
        Ok(Params { bucket, action: spec.action as u32, reserved: 0 })
    }
}

/// The colour with which a packet passes; `None` if it is dropped.
#[inline]
pub fn packet(p: &Params, state: &mut State, view: &View, now_ns: u64) -> Option<Colour> {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    let outcome = unsafe { ffi::mh_shim_policer_packet(p, state, view, now_ns) };
    (outcome != Action::Drop as u32).then(|| Colour::from_c(outcome))
}
