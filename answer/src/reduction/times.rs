//! The times of all measured transfers; that of an unfinished one is its age, which is a lower bound.

use super::Records;
use crate::quantities::OfTransfer;

/// Some of the transfers.
#[derive(Default)]
pub struct Group {
    /// Their indices in the records, rising.
    pub members: Vec<usize>,
    /// Their response times in rising order.
    pub response_s: Vec<f64>,
}

/// Columns with one number per transfer.
pub struct Times<'a> {
    records: &'a Records,
    pub bytes: Vec<u64>,
    pub is_finished: Vec<bool>,
    pub response_s: Vec<f64>,
}

impl Times<'_> {
    /// Computes the columns, in the order of the records; an unfinished transfer's time lasts until
    /// the run ends.
    pub fn new(records: &Records) -> Times<'_> {
        let all = &records.transfers;
        Times {
            records,
            bytes: all.iter().map(|transfer| transfer.bytes).collect(),
            is_finished: all.iter().map(|transfer| transfer.end_s.is_some()).collect(),
            response_s: all
                .iter()
                .map(|transfer| transfer.end_s.unwrap_or(records.end_s) - transfer.start_s)
                .collect(),
        }
    }

    /// Returns the transfers whose size `is_wanted` accepts.
    pub fn select_by_size(&self, is_wanted: impl Fn(u64) -> bool) -> Group {
        let members: Vec<usize> =
            (0..self.bytes.len()).filter(|index| is_wanted(self.bytes[*index])).collect();
        let mut response_s: Vec<f64> = members.iter().map(|&member| self.response_s[member]).collect();
        response_s.sort_unstable_by(f64::total_cmp);
        Group { members, response_s }
    }

    /// Returns how many of these transfers are unfinished.
    pub fn count_unfinished(&self, members: &[usize]) -> usize {
        members.iter().filter(|&&member| !self.is_finished[member]).count()
    }

    /// Returns one number of each of these transfers, in their order; rates of finished ones only.
    pub fn values(&self, members: &[usize], what: OfTransfer) -> Vec<f64> {
        let is_rate = what == OfTransfer::RateBps;
        let wanted = members.iter().filter(|&&member| !is_rate || self.is_finished[member]);
        wanted.map(|&member| self.value(member, what)).collect()
    }

    /// Returns one number of a transfer; the times of an unfinished one last until the run ends,
    /// and the transfer time of one without data is 0.
    fn value(&self, member: usize, what: OfTransfer) -> f64 {
        let transfer = &self.records.transfers[member];
        let response_s = self.response_s[member];
        match what {
            OfTransfer::ResponseS => response_s,
            OfTransfer::TransferS => {
                let end_s = transfer.end_s.unwrap_or(self.records.end_s);
                end_s - transfer.first_data_s.unwrap_or(end_s)
            }
            OfTransfer::Slowdown => response_s / transfer.ideal_s,
            OfTransfer::RateBps => 8.0 * transfer.bytes as f64 / response_s,
            OfTransfer::Retransmits => f64::from(transfer.retransmits),
            OfTransfer::Timeouts => f64::from(transfer.timeouts),
        }
    }
}
