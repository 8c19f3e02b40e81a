//! The simulated world of Mousehole.
//!
//! Modules are layers: `scripts/arrows.py` lists the modules that each may import, and a test checks it. README.md in
//! this crate's folder describes them.

pub mod drop_reason;
pub mod engine;
pub mod error;
pub mod flow;
pub mod link;
pub mod marker;
pub mod packet;
pub mod queue;
pub mod record;
pub mod rng;
pub mod scenario;
pub mod series;
pub mod tcp;
pub mod traffic;
pub mod units;
pub mod wheel;
