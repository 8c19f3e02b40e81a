//! Schemes: the parser of their text, their parts and parameters, and the commands that install them.
//!
//! Nothing here simulates or installs. `mousehole-sim` builds markers and queues of a scheme's parts, and `mousehole-live`
//! puts them on a device.

pub mod catalogue;
pub mod error;
pub mod install;
pub mod link_context;
pub mod link_layer;
pub mod native_part;
pub mod outcome_profile;
pub mod parts;
pub mod scheme;
pub mod schemes;
pub mod shape;
pub mod units;
pub mod values;

pub use catalogue::{NamedScheme, Part, Role};
pub use link_context::LinkContext;
pub use scheme::Scheme;
pub use scheme::find_name_fault;
#[cfg(feature = "native")]
pub use scheme::load_policy;
pub use schemes::SCHEMES;
pub use shape::Shape;
