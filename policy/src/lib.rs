//! The decisions of Mousehole: which colour a packet gets, and whether a queue takes it.
//!
//! Each algorithm is a C header in `include/mousehole/`, which the eBPF programs compile as well; this
//! crate is a thin safe layer over them. A module has a `Spec` in natural units, `Params::new(&spec)`
//! that checks it and converts to fixed point once, a state of fixed layout, and functions without clock,
//! dice or allocation. The head of each header gives formula, source, ranges and errors.

mod base;
pub mod demotion;
mod ffi;
pub mod flow_meter;
#[cfg(test)]
mod layout;
pub mod multi_red;
pub mod promotion;
pub mod red;
pub mod rio_ps;
pub mod sfd;
pub mod shred;
pub mod shred_edge;
pub mod threshold_marker;
pub mod window_marker;

pub mod aggregate_marker;
pub mod lfp;
pub mod policer;
pub mod size_history;
pub mod token_bucket;

pub use base::{Backlog, COLOURS, Colour, ColourBacklog, NEVER, ParamError, Unit, Verdict, View};
