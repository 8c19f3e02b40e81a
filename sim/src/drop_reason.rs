//! The reasons for which packets are dropped: the only list of them.

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// A policy dropped it by chance, below its upper threshold, or because of its delay (CoDel).
    Early = 0,
    /// The policy's average was beyond the upper threshold, or the buffer was full.
    Forced = 1,
    /// A faulty link lost it before the queue, as the scenario asks.
    Fault = 2,
    /// A policer dropped it before the queue, because its user's traffic profile was exceeded.
    Policed = 3,
}

impl DropReason {
    /// All reasons, in order of their numbers.
    pub const ALL: [DropReason; 4] =
        [DropReason::Early, DropReason::Forced, DropReason::Fault, DropReason::Policed];

    /// Returns the name that results and tables use.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::Early => "early",
            DropReason::Forced => "forced",
            DropReason::Fault => "fault",
            DropReason::Policed => "policed",
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Counters are arrays over `ALL` that are indexed by the reason.
    #[test]
    fn all__lists_the_reasons_in_order_of_their_numbers() {
        for (number, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, number);
        }
    }
}
