//! A scenario is data: it is validated once, then run, and leaves records.
//!
//! `Scenario` (text) → [`Plan`] (checked, in units) → [`run()`] → [`RunResult`].

mod apps;
pub mod catalogue;
pub mod emulation;
pub mod ideal_time;
mod idle_path;
pub mod install;
pub mod link_context;
pub mod load;
pub mod mix;
mod mix_spec;
pub mod native_part;
mod parts;
pub mod plan;
pub mod run;
pub mod scheme;
pub mod schemes;
mod server;
mod shape;
mod sources;
pub mod spec;
mod tcp;
pub mod topology;
pub mod values;

pub use catalogue::{NamedScheme, Part, Role};
pub use emulation::Emulation;
pub use link_context::LinkContext;
pub use plan::Plan;
pub use run::{RunResult, refuse_fault, run};
pub use scheme::Scheme;
#[cfg(feature = "native")]
pub use scheme::load_policy;
pub use schemes::SCHEMES;
pub use shape::Shape;
pub use spec::Scenario;
