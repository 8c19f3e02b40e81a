//! Multi-RED: one FIFO, a virtual RED per colour (`multi_red.h`; RIO, SFD, RIO-PS).

use crate::base::{COLOURS, Colour, ColourBacklog, ParamError, Verdict, View};
use crate::{ffi, red};

/// By which length a colour is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Mode {
    /// By what waits of it and of better colours (RIO-C).
    Coupled = 0,
    /// By what waits of it alone (RIO-D).
    Decoupled = 1,
    /// By all that waits, one average for all (WRED).
    Total = 2,
}

/// Mode and one RED per colour, best colour first, one to three.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// By which length a colour is judged.
    pub mode: Mode,
    /// RED of green, yellow, red.
    pub levels: Vec<red::Spec>,
}

/// Parameters in fixed point; same layout as `struct mh_multi_red_params`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    pub(crate) level: [red::Params; COLOURS],
    pub(crate) colours: u32,
    pub(crate) mode: u32,
}

/// State; same layout as `struct mh_multi_red_state`. The default is a queue that never saw a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct State {
    pub(crate) level: [red::State; COLOURS],
}

impl Params {
    /// Checks and converts.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range, such as `yellow.max_p`.
    pub fn new(spec: &Spec) -> Result<Params, ParamError> {
        let colours = spec.levels.len();
        if !(1..=COLOURS).contains(&colours) {
            return Err(ParamError::new("levels", colours, "1 to 3 colours"));
        }
        let mut level = [red::Params::default(); COLOURS];
        for (colour, red) in Colour::ALL.iter().zip(&spec.levels) {
            level[colour.index()] = params_of(*colour, red)?;
        }
        Ok(Params { level, colours: colours as u32, mode: spec.mode as u32 })
    }
}

/// Takes an arrival of `view.colour` into the averages it belongs to and judges it.
#[inline]
pub fn packet(
    p: &Params,
    state: &mut State,
    view: &View,
    backlog: &ColourBacklog,
    now_ns: u64,
    random: u32,
) -> Verdict {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    Verdict::from_c(unsafe { ffi::mh_shim_multi_red_packet(p, state, view, backlog, now_ns, random) })
}

/// Notes that a packet of `colour` started transmission and left `after` waiting.
#[inline]
pub fn departed(p: &Params, state: &mut State, colour: Colour, after: &ColourBacklog, now_ns: u64) {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    unsafe { ffi::mh_shim_multi_red_departed(p, state, colour as u32, after, now_ns) }
}

/// The average by which `colour` is judged, in mean packets.
#[inline]
pub fn average(p: &Params, state: &State, colour: Colour) -> f64 {
    // SAFETY: references of the mirrored layout; the function touches nothing else.
    red::packets(unsafe { ffi::mh_shim_multi_red_average(p, state, colour as u32) })
}

fn params_of(colour: Colour, spec: &red::Spec) -> Result<red::Params, ParamError> {
    let prefixed = |error: ParamError| error.within(colour.name());
    if spec.spare_below_packets != 0 {
        let error = ParamError::new("spare_below_packets", spec.spare_below_packets, "0 in a virtual queue");
        return Err(prefixed(error));
    }
    red::Params::new(spec).map_err(prefixed)
}
