//! Every interval and p-value of the house. Each function names its source.

pub mod capture;
pub mod heterogeneity;
pub mod indices;
pub mod intervals;
pub mod levels;
pub mod random;
pub mod significance;
pub mod simultaneous;
pub mod student;
pub mod sums;
pub mod transient;

pub use intervals::{Design, Estimate, LEAST_REPLICATIONS};
