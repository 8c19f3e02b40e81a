//! The discrete-event network simulator of Mousehole: traffic, TCP, queues, links and the engine.
//!
//! Modules are layers: `layers.toml` lists the modules that each may import, and a test checks it. README.md in this
//! crate's folder describes them.

pub mod drop_reason;
pub mod engine;
pub mod flow;
pub mod link;
pub mod marker;
pub mod packet;
pub mod playback;
pub mod queue;
pub mod rate_trace;
pub mod record;
pub mod rng;
pub mod scenario;
pub mod series;
pub mod tcp;
pub mod traffic;
pub mod wheel;

pub use mousehole_scheme::{error, link_layer, outcome_profile, units};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
