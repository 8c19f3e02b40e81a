//! How the same short transfers fared under two schemes.

use super::Records;
use super::times::Times;
use serde::{Deserialize, Serialize};

/// A transfer whose time differs by no more than 1 % is neither slower nor faster.
pub const NOTICED: f64 = 0.01;
/// Two runs have the same transfers if at least this share of them was measured in both.
pub const SAME_TRANSFERS: f64 = 0.95;

/// The response times of a run's short transfers, by their keys in rising order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ShortTimes {
    /// Key of the transfer.
    pub key: Vec<u64>,
    /// Its response time.
    pub response_s: Vec<f64>,
}

/// Shares of the transfers that took longer, and less long, than under a reference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shares {
    /// Share that took longer.
    pub slower: f64,
    /// Share that took less long.
    pub faster: f64,
}

impl ShortTimes {
    /// Returns the response times of the transfers of these indices, sorted by key; those of one
    /// key stay in their order. A key here is a mix of connection and write.
    pub(super) fn new(records: &Records, times: &Times, short: &[usize]) -> ShortTimes {
        // Writes of one connection share its key.
        const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut own: Vec<(u64, f64)> = short
            .iter()
            .map(|&member| (&records.transfers[member], times.response_s[member]))
            .map(|(transfer, time)| (transfer.key.wrapping_mul(SPREAD) ^ u64::from(transfer.write), time))
            .collect();
        own.sort_by_key(|(key, _)| *key);
        let (key, response_s) = own.into_iter().unzip();
        ShortTimes { key, response_s }
    }

    /// Returns the times by key, the first of each key.
    fn first_of_each_key(&self) -> impl Iterator<Item = (u64, f64)> {
        let is_first = |index: &usize| *index == 0 || self.key[*index] != self.key[index - 1];
        (0..self.key.len()).filter(is_first).map(|index| (self.key[index], self.response_s[index]))
    }
}

/// Returns the shares over the transfers that both runs measured. None without own transfers, and
/// unless these are at least [`SAME_TRANSFERS`] of the transfers of the run that has more. Of
/// several transfers with one key the first counts.
pub fn compare_short_times(own: &ShortTimes, other: &ShortTimes) -> Option<Shares> {
    if own.key.is_empty() {
        return None;
    }
    let mut there = other.first_of_each_key().peekable();
    let ratios: Vec<f64> = own
        .first_of_each_key()
        .filter_map(|(key, time)| {
            while there.next_if(|(other, _)| *other < key).is_some() {}
            there.next_if(|(other, _)| *other == key).map(|(_, other)| time / other)
        })
        .collect();
    let most = own.key.len().max(other.key.len()) as f64;
    if (ratios.len() as f64) < SAME_TRANSFERS * most {
        return None;
    }
    let share = |is_counted: &dyn Fn(f64) -> bool| {
        ratios.iter().filter(|ratio| is_counted(**ratio)).count() as f64 / ratios.len() as f64
    };
    Some(Shares {
        slower: share(&|ratio| ratio > 1.0 + NOTICED),
        faster: share(&|ratio| ratio < 1.0 - NOTICED),
    })
}
