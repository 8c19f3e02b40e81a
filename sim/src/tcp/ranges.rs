//! A sorted set of segment ranges, for receivers and SACK scoreboards.

/// Disjoint, non-touching half-open ranges `[from, to)` in rising order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    /// Returns an empty set.
    pub const fn new() -> Ranges {
        Ranges(Vec::new())
    }

    /// Returns whether the set has no segment.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the ranges in rising order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, u32)> + '_ {
        self.0.iter().copied()
    }

    /// Returns how many segments the set has.
    pub fn count(&self) -> u32 {
        self.iter().map(|(from, to)| to - from).sum()
    }

    /// Returns one more than the highest segment of the set, 0 when empty.
    pub fn end(&self) -> u32 {
        self.0.last().map_or(0, |&(_, to)| to)
    }

    /// Adds `[from, to)`, of which `from` must not exceed `to`, and merges what overlaps or touches
    /// it; returns how many segments are new.
    pub fn insert(&mut self, from: u32, to: u32) -> u32 {
        if let Some(last) = self.0.last_mut().filter(|last| last.1 == from) {
            // Nearly all insertions extend the last range.
            last.1 = to;
            return to - from;
        }
        if from == to {
            return 0;
        }
        let first = self.0.partition_point(|&(_, end)| end < from);
        let last = first + self.0[first..].partition_point(|&(start, _)| start <= to);
        let held: u32 = self.0[first..last].iter().map(|&(a, b)| b.min(to).saturating_sub(a.max(from))).sum();
        let merged = self.0[first..last].iter().fold((from, to), |m, &(a, b)| (m.0.min(a), m.1.max(b)));
        if last == first {
            self.0.insert(first, merged);
        } else {
            self.0[first] = merged;
            self.0.drain(first + 1..last);
        }
        (to - from) - held
    }

    /// Returns the range that contains `segment`; `None` if the set does not have it.
    pub fn find(&self, segment: u32) -> Option<(u32, u32)> {
        let index = self.0.partition_point(|&(_, to)| to <= segment);
        self.0.get(index).copied().filter(|&(from, _)| from <= segment)
    }

    /// Removes all segments below `floor`; a range that contains it loses its lower part.
    pub fn trim(&mut self, floor: u32) {
        if self.0.first().is_some_and(|&(from, _)| from < floor) {
            let gone = self.0.partition_point(|&(_, to)| to <= floor);
            self.0.drain(..gone);
            if let Some(first) = self.0.first_mut() {
                first.0 = first.0.max(floor);
            }
        }
    }

    /// Removes all segments.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges__equal_a_set(inserts in prop::collection::vec((0u32..60, 0u32..9), 0..30), floor in 0u32..70) {
            let mut ranges = Ranges::new();
            let mut set = BTreeSet::new();
            for (from, length) in inserts {
                let before = set.len();
                set.extend(from..from + length);
                prop_assert_eq!(ranges.insert(from, from + length) as usize, set.len() - before);
            }
            ranges.trim(floor);
            set.retain(|&segment| segment >= floor);
            let held: Vec<u32> = ranges.iter().flat_map(|(from, to)| from..to).collect();
            prop_assert_eq!(held, set.iter().copied().collect::<Vec<_>>());
            prop_assert!(ranges.0.windows(2).all(|pair| pair[0].1 < pair[1].0));
            for segment in 0..70 {
                prop_assert_eq!(ranges.find(segment).is_some(), set.contains(&segment));
            }
        }
    }
}
