//! A scenario is data: it is validated once, then run, and leaves records.
//!
//! `Scenario` (text) → [`Plan`] (checked, in units) → [`run()`] → [`RunResult`].

mod apps;
pub mod build;
pub mod emulation;
pub mod ideal_time;
mod idle_path;
pub mod lasting_call;
pub mod load;
pub mod mix;
mod mix_spec;
mod outcomes;
pub mod places;
pub mod plan;
pub mod run;
mod server;
mod sources;
pub mod spec;
mod tcp;
pub mod topology;

pub use emulation::Emulation;
pub use mousehole_scheme::{
    LinkContext, NamedScheme, Part, Role, SCHEMES, Scheme, Shape, catalogue, install, link_context,
    native_part, scheme, schemes, values,
};
#[cfg(feature = "native")]
pub use mousehole_scheme::{find_name_fault, load_policy};
pub use plan::Plan;
pub use run::{RunResult, refuse_fault, run};
pub use spec::Scenario;
