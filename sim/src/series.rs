//! Values that a marker or queue records over time.

use crate::units::Time;

/// A value over time: an adaptive threshold, a drop probability.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Name of the link whose marker or queue has recorded it.
    pub link: String,
    /// Name of the value, with its unit.
    pub name: &'static str,
    /// Times, and the value from each time on.
    pub points: Vec<(Time, f64)>,
}
