//! A scenario is data: it is validated once, then run, and leaves records.
//!
//! `Scenario` (text) → [`Plan`] (checked, in units) → [`run`] → [`RunResult`].

pub mod alone;
pub mod catalogue;
pub mod plan;
pub mod run;
pub mod scheme;
mod server;
pub mod spec;

pub use catalogue::{ParameterDoc, SCHEMES, SchemeDoc};
pub use plan::Plan;
pub use run::{RunResult, run};
pub use scheme::Scheme;
pub use spec::Scenario;
