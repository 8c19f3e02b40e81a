//! One file per policy, and the list of all.

mod flow_meter;
mod multi_red;
mod promotion;
mod red;
mod sfd;
#[cfg(test)]
mod tests;
mod threshold_marker;

use super::case::Entry;

/// Every policy that runs in the kernel.
pub static POLICIES: [Entry; 6] = [
    Entry::of::<red::Red>(),
    Entry::of::<multi_red::MultiRed>(),
    Entry::of::<flow_meter::FlowMeter>(),
    Entry::of::<threshold_marker::ThresholdMarker>(),
    Entry::of::<promotion::Promotion>(),
    Entry::of::<sfd::Sfd>(),
];
