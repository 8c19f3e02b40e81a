//! Time series: the adaptive values of markers and queues, and samples of links and senders.

use crate::units::Time;
use mousehole_policy::Colour;

/// A value over time: an adaptive threshold, a drop probability, a backlog, a congestion window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Name of the link that it describes; empty for senders.
    pub link: String,
    /// Name of the value, with its unit.
    pub name: &'static str,
    /// Colour of the packets counted; `None` for all.
    pub colour: Option<Colour>,
    /// Key of the long-lived flow that it describes.
    pub flow: Option<u64>,
    /// Times and values. An adaptive value holds from its time on, a state at its time, a count or rate over the interval
    /// up to its time.
    pub points: Vec<(Time, f64)>,
}
