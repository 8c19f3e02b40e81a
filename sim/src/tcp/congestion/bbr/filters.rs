//! The windowed filters of BBR's model.

use std::collections::VecDeque;

/// The maximum of this probing cycle and the last one (draft-ietf-ccwg-bbr-06 sections 5.5.3 and 5.5.6).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TwoCycleMax {
    last: f64,
    present: f64,
}

impl TwoCycleMax {
    /// Returns the maximum, 0 without samples.
    pub(super) fn get(&self) -> f64 {
        self.last.max(self.present)
    }

    /// Adds a sample to the present cycle.
    pub(super) fn update(&mut self, value: f64) {
        self.present = self.present.max(value);
    }

    /// Begins a cycle. A cycle without samples does not end, so that the maximum of the one before
    /// remains.
    pub(super) fn advance(&mut self) {
        if self.present > 0.0 {
            (self.last, self.present) = (self.present, 0.0);
        }
    }
}

/// The maximum of a number of recent round trips (section 5.5.9).
#[derive(Debug, Clone, Default)]
pub(super) struct RecentMax {
    /// Round trip and value, both rising to the front's value: a value below a later one is forgotten.
    values: VecDeque<(u32, f64)>,
}

impl RecentMax {
    /// Returns the maximum, 0 without samples.
    pub(super) fn get(&self) -> f64 {
        self.values.front().map_or(0.0, |&(_, value)| value)
    }

    /// Adds a sample of round trip `round`, and forgets those of `rounds` and more round trips
    /// before it.
    pub(super) fn update(&mut self, value: f64, round: u32, rounds: u32) {
        while self.values.back().is_some_and(|&(_, last)| last <= value) {
            self.values.pop_back();
        }
        self.values.push_back((round, value));
        while self.values.front().is_some_and(|&(first, _)| round - first >= rounds) {
            self.values.pop_front();
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn two_cycle_max__forgets_the_cycle_before_the_last() {
        let mut filter = TwoCycleMax::default();
        filter.update(5.0);
        filter.advance();
        filter.update(3.0);
        assert_eq!(filter.get(), 5.0);
        filter.advance();
        assert_eq!(filter.get(), 3.0);
        filter.advance();
        assert_eq!(filter.get(), 3.0, "a cycle without samples does not count");
    }

    #[test]
    fn recent_max__forgets_old_rounds() {
        let mut filter = RecentMax::default();
        for (round, value) in [(0, 9.0), (1, 4.0), (2, 6.0)] {
            filter.update(value, round, 3);
        }
        assert_eq!(filter.get(), 9.0);
        filter.update(1.0, 3, 3);
        assert_eq!(filter.get(), 6.0);
    }
}
