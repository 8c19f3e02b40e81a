//! Size classes of transfers: the buckets of the tables and the narrower bins of the curves.

use crate::digits::significant;
use serde::{Deserialize, Serialize};

/// Transfers up to this size are short unless a comparison says otherwise.
pub const SHORT_BYTES: u64 = 15_000;
/// Transfers above this size are long unless a comparison says otherwise.
pub const LONG_BYTES: u64 = 150_000;
/// Fixed bucket edges; the user's limits of short and long transfers are added to them (1 kB = 1000 B).
pub const EDGES_BYTES: [u64; 4] = [2_000, 5_000, 50_000, 1_000_000];

/// What a bucket is for: one of those that divide all transfers, or a summary, of which there is one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// One of the buckets that divide all transfers.
    Size,
    /// Up to the user's limit of short transfers.
    Short,
    /// Above the user's limit of long transfers.
    Long,
    /// Every transfer with any payload.
    All,
}

impl Role {
    /// Returns the role's name in documents, such as `short`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Size => "size",
            Role::Short => "short",
            Role::Long => "long",
            Role::All => "all",
        }
    }
}

/// Transfers of more than `low_bytes` and at most `high_bytes` of payload (None: no upper limit).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bucket {
    /// Name of the size range, such as `5–50 kB`.
    #[serde(rename = "bucket")]
    pub name: String,
    /// The transfers have more than this.
    pub low_bytes: u64,
    /// At most this; null: any.
    pub high_bytes: Option<u64>,
    /// size: one of the ranges that divide all transfers; the others are summaries.
    pub role: Role,
}

impl Bucket {
    /// Returns the bucket of a role between two limits, named after them.
    pub fn new(low_bytes: u64, high_bytes: Option<u64>, role: Role) -> Bucket {
        let name = if role == Role::All { "all".to_owned() } else { range_text(low_bytes, high_bytes) };
        Bucket { name, low_bytes, high_bytes, role }
    }

    /// Returns whether a transfer of this size belongs to the bucket.
    pub fn holds(&self, bytes: u64) -> bool {
        bytes > self.low_bytes && self.high_bytes.is_none_or(|high| bytes <= high)
    }
}

/// Returns the buckets in the order of the tables: by size, then short, long and all. The limits
/// become edges; `long_bytes` is at least `short_bytes`.
pub fn buckets(short_bytes: u64, long_bytes: u64) -> Vec<Bucket> {
    let mut edges = vec![0, short_bytes, long_bytes];
    edges.extend(EDGES_BYTES);
    edges.sort_unstable();
    edges.dedup();
    let above = edges.iter().skip(1).map(|edge| Some(*edge)).chain([None]);
    let mut all: Vec<Bucket> =
        edges.iter().zip(above).map(|(low, high)| Bucket::new(*low, high, Role::Size)).collect();
    all.push(Bucket::new(0, Some(short_bytes), Role::Short));
    all.push(Bucket::new(long_bytes, None, Role::Long));
    all.push(Bucket::new(0, None, Role::All));
    all
}

/// Returns the edges of the size bins of the response time curve, in bytes: five bins per decade, 100 B to 100 MB.
pub fn curve_edges_bytes() -> Vec<f64> {
    space_logarithmically(2.0, 8.0, 30)
}

/// Returns the response times at which the distribution of short transfers is sampled: a hundred
/// per decade, 1 ms to 1000 s.
pub fn cdf_times_s() -> Vec<f64> {
    space_logarithmically(-3.0, 3.0, 600)
}

/// Returns a size in bytes as text: `15 kB` for 15000, `1 MB` for 1000000. 1 kB is 1000 B.
pub fn size_text(bytes: f64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let (unit, scale) = units.into_iter().find(|(_, scale)| bytes >= *scale).unwrap_or(("B", 1.0));
    format!("{} {unit}", significant(bytes / scale, 4))
}

/// Returns the powers of ten from `low` to `high` in equal steps of the exponent.
fn space_logarithmically(low: f64, high: f64, steps: u32) -> Vec<f64> {
    let step = (high - low) / f64::from(steps);
    (0..=steps)
        .map(|index| libm::pow(10.0, if index == steps { high } else { f64::from(index) * step + low }))
        .collect()
}

/// Returns the sizes above `low` and up to `high` bytes as text: `≤ 2 kB`, `2–5 kB`, `> 1 MB`; None
/// is no upper limit.
fn range_text(low: u64, high: Option<u64>) -> String {
    let first = size_text(low as f64);
    let Some(high) = high else { return format!("> {first}") };
    let last = size_text(high as f64);
    if low == 0 {
        return format!("≤ {last}");
    }
    let ((number, unit), (_, other)) = (split_unit(&first), split_unit(&last));
    if unit == other { format!("{number}–{last}") } else { format!("{first}–{last}") }
}

/// Splits a size as text into number and unit.
fn split_unit(size: &str) -> (&str, &str) {
    size.split_once(' ').unwrap_or((size, ""))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn buckets__divide_all_sizes_and_end_with_the_summaries() {
        let names: Vec<String> = buckets(15_000, 150_000).into_iter().map(|bucket| bucket.name).collect();
        assert_eq!(
            names,
            [
                "≤ 2 kB",
                "2–5 kB",
                "5–15 kB",
                "15–50 kB",
                "50–150 kB",
                "150 kB–1 MB",
                "> 1 MB",
                "≤ 15 kB",
                "> 150 kB",
                "all"
            ]
        );
        for bytes in [1, 2_000, 2_001, 15_000, 1_000_000, 9_999_999] {
            let holding =
                buckets(15_000, 150_000).iter().filter(|b| b.role == Role::Size && b.holds(bytes)).count();
            assert_eq!(holding, 1, "{bytes}");
        }
        assert_eq!(buckets(2_000, 2_000).iter().filter(|bucket| bucket.role == Role::Size).count(), 5);
    }

    #[test]
    fn edges__of_decades_are_exact() {
        let edges = curve_edges_bytes();
        assert_eq!((edges.len(), edges[0], edges[5], edges[15], edges[30]), (31, 100.0, 1e3, 1e5, 1e8));
        let times = cdf_times_s();
        assert_eq!((times.len(), times[0], times[300], times[600]), (601, 1e-3, 1.0, 1e3));
        assert!(times.is_sorted() && edges.is_sorted());
    }

    #[test]
    fn size_text__keeps_four_digits() {
        let sizes = [1.0, 999.0, 1000.0, 999_999.0, 1_234_567.0, 2e13];
        assert_eq!(sizes.map(size_text), ["1 B", "999 B", "1 kB", "1000 kB", "1.235 MB", "20 TB"]);
    }
}
