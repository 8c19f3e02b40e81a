//! The simulated world of Mousehole.
//!
//! Modules are layers; a test reads the imports and allows only these arrows:
//! `units, rng, error, flow` ← `packet` ← `queue`, `link`; `tcp` sees packets and units;
//! `traffic` sees units, rng, flows and errors; `scenario` and `engine` see everything.

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
