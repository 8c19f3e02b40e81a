//! One file per policy, and the list of all.

mod demotion;
mod flow_meter;
mod multi_red;
mod promotion;
mod red;
mod rio_ps;
mod sfd;
mod shred;
mod shred_edge;
#[cfg(test)]
mod tests;
mod threshold_marker;
mod window_marker;

mod aggregate_marker;
mod lfp;
mod policer;
mod size_history;
mod token_bucket;

use super::case::Entry;

/// Every policy that runs in the kernel.
pub static POLICIES: [Entry; 16] = [
    Entry::of::<red::Red>(),
    Entry::of::<multi_red::MultiRed>(),
    Entry::of::<flow_meter::FlowMeter>(),
    Entry::of::<threshold_marker::ThresholdMarker>(),
    Entry::of::<promotion::Promotion>(),
    Entry::of::<sfd::Sfd>(),
    Entry::of::<token_bucket::TokenBucket>(),
    Entry::of::<policer::Policer>(),
    Entry::of::<aggregate_marker::AggregateMarker>(),
    Entry::of::<size_history::SizeHistory>(),
    Entry::of::<lfp::Lfp>(),
    Entry::of::<rio_ps::RioPs>(),
    Entry::of::<shred::Shred>(),
    Entry::of::<shred_edge::ShredEdge>(),
    Entry::of::<window_marker::WindowMarker>(),
    Entry::of::<demotion::Demotion>(),
];
