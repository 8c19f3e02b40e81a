//! Detects whether the clients of a traffic act together, and at which times.
//!
//! Copies of a traffic are shifted in time, each client by itself, so that nothing is in step that was not. If users act
//! together, their bursts would be lost. The variance of the number of starts in `BIN` shows whether they do: if
//! clients are independent it is the sum of the clients' variances, and the excess is their common part. Only
//! variation within a `BLOCK` counts, so that slow rises and falls move no load from one part of a run to another.
//!
//! The common part is preserved by one monotone map of the period onto itself that all copies share: time
//! passes fast where the clients of the traffic started little, and slowly where they started much. Each
//! block is mapped onto itself, so that the load of a block stays what it was, and the order of starts too.

use super::part::Part;
use crate::units::Dur;

/// Approximate length of the bins in which starts are counted, seconds; bins divide a block evenly.
const BIN: f64 = 5.0;
/// A variation slower than this is no burst, seconds.
const BLOCK: f64 = 120.0;
/// A shorter traffic does not show whether its clients act together, seconds.
pub const LEAST: f64 = 2.0 * BLOCK;
/// An excess below so many standard errors is chance.
const SURE: f64 = 5.0;

/// The times at which the clients of a traffic act together.
#[derive(Debug, Clone)]
pub struct Together {
    /// Length of a block, ns.
    block: f64,
    /// Bins of a block.
    bins: usize,
    /// For each block, the share of its starts before each bin.
    before: Vec<f64>,
}

impl Together {
    /// Measures when the clients of a traffic of this `period` act together; `None` if they do not, or if the traffic
    /// is too short to show it.
    ///
    /// The standard error of the ratio of variances is that of independent normal counts. A traffic of less than two blocks
    /// is too short: pages that were loaded one by one into one file all begin together.
    pub fn measure(traffic: Part, period: Dur) -> Option<Together> {
        let (seconds, first) = (period.as_secs(), traffic.connections.first()?.start);
        if seconds < LEAST {
            return None;
        }
        let blocks = (seconds / BLOCK).ceil() as usize;
        let bins = (seconds / blocks as f64 / BIN).round() as usize;
        let count = blocks * bins;
        let bin = |at: Dur| ((at.0 as f64 / period.0 as f64 * count as f64) as usize).min(count - 1);
        let mut at: Vec<(u32, usize)> =
            traffic.connections.iter().map(|one| (one.client, bin(one.start.since(first)))).collect();
        at.sort_unstable();
        let mut starts = vec![0.0; count];
        at.iter().for_each(|(_, bin)| starts[*bin] += 1.0);
        let whole: f64 = starts.chunks(bins).map(sum_squares).sum();
        let is_same_block =
            |one: &(u32, usize), other: &(u32, usize)| (one.0, one.1 / bins) == (other.0, other.1 / bins);
        let alone: f64 = at.chunk_by(is_same_block).map(|own| sum_squares_of_client(own, bins)).sum();
        let excess = whole / alone - 1.0;
        let is_sure = alone > 0.0 && excess > SURE * (2.0 / (count - blocks) as f64).sqrt();
        let weight = (excess / (1.0 + excess)).sqrt(); // keeps the variance that is in common
        is_sure.then(|| Together {
            block: period.0 as f64 / blocks as f64,
            bins,
            before: starts.chunks(bins).flat_map(|own| compute_shares_before(own, weight)).collect(),
        })
    }

    /// Maps a time of the period, ns, monotonically so that evenly spread times become dense where clients
    /// act together. A time stays in its block.
    pub fn map_time(&self, at: u64) -> u64 {
        let block = ((at as f64 / self.block) as usize).min(self.before.len() / self.bins - 1);
        let begin = block as f64 * self.block;
        let share = (at as f64 - begin) / self.block;
        let before = &self.before[block * self.bins..][..self.bins];
        let bin = before.partition_point(|own| *own <= share).max(1) - 1;
        let end = before.get(bin + 1).copied().unwrap_or(1.0);
        let within = ((share - before[bin]) / (end - before[bin])).clamp(0.0, 1.0);
        (begin + (bin as f64 + within) / self.bins as f64 * self.block) as u64
    }
}

/// Returns the sum of the squared deviations from the mean.
fn sum_squares(counts: &[f64]) -> f64 {
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    counts.iter().map(|count| (count - mean) * (count - mean)).sum()
}

/// Returns the sum of the squared deviations of one client's counts in the `bins` bins of a block. `starts`
/// has (client, bin) of each start, by bin.
fn sum_squares_of_client(starts: &[(u32, usize)], bins: usize) -> f64 {
    let total = starts.len() as f64;
    let counts = starts.chunk_by(|one, other| one == other).map(|own| own.len() as f64);
    counts.map(|count| count * count).sum::<f64>() - total * total / bins as f64
}

/// Returns the share of a block's starts before each of its bins, after `weight`, 0 to 1, has scaled the deviations
/// from even shares; even shares for a block without starts.
fn compute_shares_before(counts: &[f64], weight: f64) -> Vec<f64> {
    let (whole, even) = (counts.iter().sum::<f64>(), 1.0 / counts.len() as f64);
    let share = |count: &f64| if whole > 0.0 { even + weight * (count / whole - even) } else { even };
    let sum = |before: &mut f64, own: f64| Some(std::mem::replace(before, *before + own));
    counts.iter().map(share).scan(0.0, sum).collect()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};
    use crate::traffic::Traffic;
    use crate::traffic::connection::Connection;
    use crate::units::Time;

    const PERIOD: Dur = Dur(600_000_000_000);

    /// Returns 20 clients that start 100 connections each within ten minutes; `at` maps a uniform share of the time.
    fn traffic(at: impl Fn(f64) -> f64) -> Traffic {
        let mut stream = Stream::new(5, Purpose::Size, 0);
        let mut one = |k: u32| Connection {
            client: k % 20,
            ..Connection::from_one_write(Time((at(stream.uniform()) * PERIOD.0 as f64) as u64), 1000)
        };
        let mut found: Vec<Connection> = (0..2000).map(&mut one).collect();
        found.push(Connection::from_one_write(Time(0), 1000));
        found.sort_by_key(|one| one.start);
        Traffic::from_connections(found)
    }

    /// Maps uniform shares so that half of them lie in the first 10 s of each minute.
    fn map_to_bursts(share: f64) -> f64 {
        let minute = (share * 10.0).floor();
        let within = share * 10.0 - minute;
        (minute + if within < 0.5 { within / 3.0 } else { (within - 0.5) / 0.6 + 1.0 / 6.0 }) / 10.0
    }

    #[test]
    fn measure__clients_by_themselves_or_one_alone_are_not_together() {
        assert!(Together::measure((&traffic(|share| share)).into(), PERIOD).is_none());
        let mut alone = traffic(map_to_bursts);
        alone.connections.iter_mut().for_each(|one| one.client = 0);
        assert!(Together::measure((&alone).into(), PERIOD).is_none(), "what one does is kept anyway");
        assert!(Together::measure((&Traffic::default()).into(), PERIOD).is_none());
        assert!(
            Together::measure((&traffic(map_to_bursts)).into(), Dur(PERIOD.0 / 3)).is_none(),
            "too short"
        );
    }

    #[test]
    fn measure__a_slow_rise_is_no_burst() {
        assert!(Together::measure((&traffic(f64::sqrt)).into(), PERIOD).is_none());
    }

    #[test]
    fn map_time__brings_even_times_to_where_clients_act_and_keeps_order_and_blocks() {
        let found = Together::measure((&traffic(map_to_bursts)).into(), PERIOD).unwrap();
        let times: Vec<u64> = (0..6000).map(|k| found.map_time(k * PERIOD.0 / 6000)).collect();
        assert!(times.is_sorted() && times[5999] < PERIOD.0);
        let share = times.iter().filter(|at| **at % 60_000_000_000 < 10_000_000_000).count();
        assert!((2700..3100).contains(&share), "half of 6000: {share}");
        for block in 0..5 {
            let own = times.iter().filter(|at| **at / 120_000_000_000 == block).count();
            assert!((1195..=1205).contains(&own), "as many as before: {own}");
        }
    }
}
