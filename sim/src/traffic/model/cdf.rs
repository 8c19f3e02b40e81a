//! Flow sizes from a file: a table of sizes and cumulative shares of flows.
//!
//! The text that simulators of data-centre transports pass around: on each row a size and a cumulative share,
//! separated by spaces, tabs or a comma, both never decreasing. Shares are fractions when the last is 1 and
//! percentages when it is 100. A row of three columns is ns-2's (size, count, share) and its middle is not
//! read; a first row of one number is a mean, as some files have it, and is not needed. `#` and `//` begin comments.
//!
//! Between rows sizes are spread evenly (linear interpolation of the share); the share of the first row, if it is
//! above zero, has exactly the first size.

use crate::error::{Error, Result};
use std::path::Path;

/// Sizes in bytes with cumulative shares.
#[derive(Debug, Clone, PartialEq)]
pub struct Cdf {
    /// Size in bytes, and the share of flows that are no larger; both never decrease, and the last share is 1.
    points: Vec<(f64, f64)>,
}

/// Largest size in bytes.
const MAX_BYTES: f64 = 1e12;
/// Files beyond this are no tables of sizes.
const MAX_FILE_BYTES: u64 = 16_000_000;

impl Cdf {
    /// Reads the file of a table whose sizes are in units of `unit_bytes`, up to 16 MB.
    ///
    /// # Errors
    /// [`Error::File`] when it cannot be read or is too large, [`Error::Row`] naming the faulty
    /// line.
    pub fn read(path: &str, unit_bytes: f64) -> Result<Cdf> {
        let size =
            std::fs::metadata(Path::new(path)).map_err(|error| Error::file(path, error.to_string()))?.len();
        if size > MAX_FILE_BYTES {
            return Err(Error::file(path, format!("{size} bytes are too many for a table of sizes")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, error.to_string()))?;
        Cdf::parse(path, &text, unit_bytes)
    }

    /// Parses the text of a table whose sizes are in units of `unit_bytes`; `name` is the file's name in errors. Shares
    /// become fractions.
    ///
    /// # Errors
    /// [`Error::Row`] naming the faulty line.
    pub fn parse(name: &str, text: &str, unit_bytes: f64) -> Result<Cdf> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut last_line = 0;
        for (line, row) in (1u64..).zip(text.lines()) {
            let fault = |problem: String| Error::Row { file: name.to_string(), line, problem };
            let Some(point) = parse_row(row, points.is_empty() && last_line == 0).map_err(fault)? else {
                continue;
            };
            last_line = line;
            let Some((value, share)) = point else { continue };
            let before = points.last().copied().unwrap_or((0.0, 0.0));
            let bytes = value * unit_bytes;
            check_point(bytes, value, share, before, unit_bytes).map_err(fault)?;
            points.push((bytes, share));
        }
        let problem = |problem: &str| Error::Row {
            file: name.to_string(),
            line: last_line.max(1),
            problem: problem.to_string(),
        };
        let Some(&(largest, total)) = points.last() else { return Err(problem("no row of size and share")) };
        if total != 1.0 && total != 100.0 {
            return Err(problem(&format!("the last share is {total}; it must be 1, or 100 for percentages")));
        }
        if largest <= 0.0 {
            return Err(problem("every size is 0"));
        }
        points.iter_mut().for_each(|(_, share)| *share /= total);
        Ok(Cdf { points })
    }

    /// Returns the size at share `u` of the flows, 0 ≤ `u` < 1, in whole bytes, at least 1.
    pub fn quantile(&self, u: f64) -> u64 {
        let place = self.points.partition_point(|(_, share)| *share <= u).min(self.points.len() - 1);
        let (bytes, share) = self.points[place];
        let exact = match place.checked_sub(1).map(|before| self.points[before]) {
            Some((from, at)) if share > at => from + (bytes - from) * (u - at) / (share - at),
            _ => bytes,
        };
        (exact.ceil() as u64).max(1)
    }

    /// Returns the mean size, bytes, before rounding; it lies among the sizes, although sums of shares are inexact.
    pub fn mean(&self) -> f64 {
        let (first, share) = self.points[0];
        let between =
            self.points.windows(2).map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0);
        (first * share + between.sum::<f64>()).clamp(first, self.largest())
    }

    /// Returns the mean number of segments of at most `mss` bytes, at least 1: the sum over n of the share of flows
    /// above n segments.
    pub fn mean_segments(&self, mss: u32) -> f64 {
        let mss = f64::from(mss.max(1));
        let first = sum_shares_above(mss, (0.0, 0.0), (self.points[0].0, 0.0));
        let between = self.points.windows(2).map(|pair| sum_shares_above(mss, pair[0], pair[1]));
        (first + between.sum::<f64>()).clamp(1.0, (self.largest() / mss).ceil().max(1.0))
    }

    /// Returns the largest size, bytes.
    fn largest(&self) -> f64 {
        self.points[self.points.len() - 1].0
    }
}

/// Returns the sum of the share of flows above n · `mss` bytes over the n whose size lies between two points of the
/// table, the first included: the share falls linearly there, so the sum is the count times the mean of its ends.
fn sum_shares_above(mss: f64, (from, below): (f64, f64), (to, above): (f64, f64)) -> f64 {
    let (first, end) = ((from / mss).ceil(), (to / mss).ceil());
    if first >= end {
        return 0.0;
    }
    let middle = (first + end - 1.0) / 2.0 * mss;
    (end - first) * (1.0 - below - (above - below) * (middle - from) / (to - from))
}

/// A row's size and share; `None` for a row without any, `Some(None)` for a mean before the table.
type Row = Option<Option<(f64, f64)>>;

/// Parses a row of a file of sizes: size and cumulative share. A first row of one number is a mean and is skipped. An
/// error is a clause for a message.
fn parse_row(row: &str, is_first: bool) -> std::result::Result<Row, String> {
    let row = row.split('#').next().unwrap_or("").split("//").next().unwrap_or("");
    let separates = |c: char| c.is_whitespace() || c == ',' || c == ';';
    let cells: Vec<&str> = row.split(separates).filter(|cell| !cell.is_empty()).collect();
    let number = |cell: &str| {
        let cell = cell.trim_end_matches('%');
        cell.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or(format!("\"{cell}\" is no number"))
    };
    match cells[..] {
        [] => Ok(None),
        [mean] if is_first => number(mean).map(|_| Some(None)),
        [value, share] | [value, _, share] => Ok(Some(Some((number(value)?, number(share)?)))),
        _ => Err(format!("{} columns; a size and a cumulative share are needed", cells.len())),
    }
}

/// Checks a point of the distribution against the one before it; an error is a clause for a message.
fn check_point(
    bytes: f64,
    value: f64,
    share: f64,
    before: (f64, f64),
    unit_bytes: f64,
) -> std::result::Result<(), String> {
    if !(0.0..=MAX_BYTES).contains(&bytes) {
        return Err(format!("size {value} is not allowed; 0 to 10^12 bytes is"));
    }
    if !(0.0..=100.0).contains(&share) {
        return Err(format!("share {share} is not allowed; 0 to 1 is, or 0 to 100 for percentages"));
    }
    if bytes < before.0 {
        return Err(format!("size {value} is below the row before ({})", before.0 / unit_bytes));
    }
    if share < before.1 {
        return Err(format!("share {share} is below the row before ({}); shares are cumulative", before.1));
    }
    Ok(())
}

#[cfg(test)]
#[path = "cdf_tests.rs"]
mod tests;
