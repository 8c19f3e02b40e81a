//! A randomised trial on real users: a random share of the hosts stays unmarked, and `status --ab`
//! compares how long the transfers of both groups took.
//!
//! For each flow the program records when its SYN came, when its last packet with payload before a
//! pause came, and how many bytes there were (bpf/trial.h). Hosts are drawn by a keyed hash of
//! their addresses. The key is part of the request, so that a restart from its file, as by the
//! guard, draws the same hosts.

use crate::error::{Failure, Result};
use crate::human::{format_number, format_table};
use crate::layout::{PAUSE_MS, Transfer};
use crate::observe::{Observed, observe_running};
use mousehole_answer::sizes::{Role, buckets};
use mousehole_answer::statistics::levels::{LEVEL, simultaneous_error};
use mousehole_answer::statistics::student::upper_quantile;
use mousehole_answer::statistics::sums::{deviation, mean};
use mousehole_answer::statistics::{Estimate, LEAST_REPLICATIONS};
use serde::Serialize;
use std::collections::BTreeMap;

/// The name and version of the JSON document's format.
pub const FORM: &str = "mousehole-live.trial/1";
/// The IP protocol number of TCP. Other transports do not show where a transfer begins or which
/// packets have payload.
const TCP: u8 = 6;
/// The shortest measurable duration, s: the clock has ticks, and shorter transfers would take 0 s.
const SHORTEST_S: f64 = 0.001;
/// Transfers below this size are short, as in `mousehole compare`.
const SHORT_BYTES: u64 = 15_000;
/// Transfers above this size are long, as in `mousehole compare`.
const LONG_BYTES: u64 = 1_000_000;

/// Returns a random key of 32 hexadecimal digits.
///
/// # Errors
/// A sentence when the kernel gives no random numbers.
pub fn draw_key() -> Result<String> {
    let words: [u32; 4] = crate::kernel::draw_random_words()?;
    Ok(words.iter().map(|word| format!("{word:08x}")).collect())
}

/// A finished transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    /// The host's address, IPv4 mapped into IPv6.
    pub host: [u8; 16],
    /// Whether its packets are left alone.
    pub is_spared: bool,
    /// IP bytes of its packets with payload.
    pub bytes: u64,
    /// Seconds from its SYN to its last packet with payload.
    pub seconds: f64,
}

/// The JSON document of `status --ab --json`. Within one [`FORM`], fields may be added but are
/// neither renamed nor removed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document<'a> {
    /// [`FORM`].
    pub schema: &'static str,
    /// The devices of this namespace that have a trial, in the order of their indexes.
    pub devices: &'a [Report],
}

/// The result of a trial at one device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The device's name.
    pub device: String,
    /// The share of the hosts that is spared, as given.
    pub spared: String,
    /// One row for each size of which there are transfers.
    pub sizes: Vec<Row>,
    /// The conclusion in one sentence.
    pub sentence: String,
}

/// The transfers of one size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The range of sizes, as text.
    pub size: String,
    /// Those of marked hosts.
    pub marked: Half,
    /// Those of spared hosts.
    pub spared: Half,
    /// How much longer those of marked hosts take, as a share of the spared hosts' time; `None` if
    /// there are too few hosts.
    pub change: Option<Change>,
}

/// A relative change with its confidence interval; the intervals of one report hold simultaneously
/// at 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// The estimate: 0.1 means 10 % longer.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Change {
    /// Returns whether the interval excludes zero.
    fn is_decided(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// The transfers of one size in one group of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Half {
    /// How many hosts had such transfers.
    pub hosts: usize,
    /// How many transfers they had.
    pub transfers: usize,
    /// Geometric mean of the hosts' geometric means, s; `None` without transfers.
    pub seconds: Option<f64>,
}

/// Compares both groups of hosts at one device, or at all that have a trial.
///
/// # Errors
/// A sentence when none has one, or a map cannot be read.
pub fn read_reports(only: Option<&str>) -> Result<Vec<Report>> {
    let mut all = Vec::new();
    for one in observe_running(only)? {
        let Some(spared) = one.record.as_ref().and_then(|record| record.request.ab.clone()) else { continue };
        let ended = read_ended(&one, crate::kernel::monotonic_ns())?;
        let (sizes, sentence) = compare(&ended);
        all.push(Report { device: one.title(), spared, sizes, sentence });
    }
    match all.is_empty() {
        false => Ok(all),
        true => Err(Failure::new(format!(
            "no trial runs {}; `mousehole-live mark DEV --ab 50%` starts one",
            only.map_or("here".into(), |name| format!("at {name}"))
        ))),
    }
}

/// Returns the finished transfers in the flow table: those of TCP whose SYN was seen and whose last
/// payload is more than [`PAUSE_MS`] ago. `now_ns` is CLOCK_MONOTONIC.
///
/// # Errors
/// A sentence when a map cannot be read.
fn read_ended(one: &Observed, now_ns: u64) -> Result<Vec<Ended>> {
    let settings = one.settings()?;
    let mut transfers: BTreeMap<u32, Transfer> = BTreeMap::new();
    one.visit_transfers(|index, transfer| {
        transfers.insert(index, transfer);
    })?;
    let now_ms = (now_ns / 1_000_000) as u32;
    let mut all = Vec::new();
    one.visit_numbered_flows(|index, entry| {
        let Some(transfer) = transfers.get(&index).filter(|_| entry.key.protocol == TCP) else { return };
        let is_over = now_ms.wrapping_sub(transfer.ended_ms) > PAUSE_MS;
        if transfer.began_ms == 0 || transfer.bytes == 0 || !is_over {
            return;
        }
        let host = match settings.has_destination_users() {
            true => entry.key.destination,
            false => entry.key.source,
        };
        all.push(Ended {
            host,
            is_spared: settings.trial.spares(&host),
            bytes: transfer.bytes,
            seconds: f64::from(transfer.ended_ms.wrapping_sub(transfer.began_ms)) / 1e3,
        });
    })?;
    Ok(all)
}

/// Compares the transfers of both groups, size by size. Returns a row for each size and one
/// sentence.
///
/// Hosts are randomised, not transfers, so each host contributes one number for each size: the mean
/// of the logarithms of its times.
pub fn compare(ended: &[Ended]) -> (Vec<Row>, String) {
    let sizes: Vec<_> =
        buckets(SHORT_BYTES, LONG_BYTES).into_iter().filter(|bucket| bucket.role == Role::Size).collect();
    let mut halves = Vec::new();
    for bucket in sizes {
        let of = |is_spared: bool| {
            let mut hosts: BTreeMap<[u8; 16], Vec<f64>> = BTreeMap::new();
            for one in ended.iter().filter(|one| one.is_spared == is_spared && bucket.holds(one.bytes)) {
                hosts.entry(one.host).or_default().push(libm::log(one.seconds.max(SHORTEST_S)));
            }
            let transfers: usize = hosts.values().map(Vec::len).sum();
            (hosts.values().map(|logs| mean(logs)).collect::<Vec<f64>>(), transfers)
        };
        let (marked, spared) = (of(false), of(true));
        if marked.1 + spared.1 > 0 {
            halves.push((bucket.name, marked, spared));
        }
    }
    let is_enough = |logs: &[f64]| logs.len() >= LEAST_REPLICATIONS;
    let comparisons =
        halves.iter().filter(|(_, marked, spared)| is_enough(&marked.0) && is_enough(&spared.0)).count();
    let rows: Vec<Row> = halves
        .into_iter()
        .map(|(size, marked, spared)| {
            let found = estimate_difference(&marked.0, &spared.0, comparisons).as_change();
            let change =
                found.has_interval().then_some(Change { mean: found.mean, low: found.low, high: found.high });
            Row {
                size,
                marked: summarise_half(&marked.0, marked.1),
                spared: summarise_half(&spared.0, spared.1),
                change,
            }
        })
        .collect();
    let sentence = format_sentence(&rows);
    (rows, sentence)
}

/// Returns the summary of a group. `logs` has the mean logarithm of each host's times.
fn summarise_half(logs: &[f64], transfers: usize) -> Half {
    Half { hosts: logs.len(), transfers, seconds: (!logs.is_empty()).then(|| libm::exp(mean(logs))) }
}

/// Returns the mean of `one` minus that of `other` with its interval, by Welch's test for
/// independent samples of unequal variance. `comparisons` intervals hold simultaneously. If a
/// sample has fewer than [`LEAST_REPLICATIONS`] values, the estimate is unknown.
///
/// Source: B. L. Welch, "The generalization of 'Student's' problem when several different
/// population variances are involved", Biometrika 34 (1947).
fn estimate_difference(one: &[f64], other: &[f64], comparisons: usize) -> Estimate {
    let count = one.len().min(other.len());
    if count < LEAST_REPLICATIONS {
        return Estimate { count: count as u32, ..Estimate::UNKNOWN };
    }
    let square = |value: f64| value * value;
    let of_mean = |values: &[f64]| square(deviation(values)) / values.len() as f64;
    let (a, b) = (of_mean(one), of_mean(other));
    let freedom = |part: f64, values: &[f64]| square(part) / (values.len() as f64 - 1.0);
    let mean = mean(one) - mean(other);
    let half = match a + b > 0.0 {
        true => {
            let freedom = square(a + b) / (freedom(a, one) + freedom(b, other));
            let error = simultaneous_error(1.0 - LEVEL, comparisons as f64);
            upper_quantile(error / 2.0, freedom) * (a + b).sqrt()
        }
        false => 0.0,
    };
    Estimate { mean, low: mean - half, high: mean + half, count: count as u32 }
}

/// Returns the conclusion: each size whose change is decided, or else that none is, and why.
fn format_sentence(rows: &[Row]) -> String {
    let decided: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let change = row.change.filter(Change::is_decided)?;
            let word = if change.mean < 0.0 { "less" } else { "more" };
            Some(format!(
                "transfers of {} took {:.0} % {word} time at marked hosts ({})",
                row.size,
                change.mean.abs() * 100.0,
                format_range(&change)
            ))
        })
        .collect();
    if !decided.is_empty() {
        return decided.join("; ");
    }
    let compared: Vec<&Row> = rows.iter().filter(|row| row.change.is_some()).collect();
    match compared.is_empty() {
        false => {
            "undecided: of no size do marked and spared hosts' times differ by more than chance makes them"
                .into()
        }
        true => {
            let most = rows.iter().max_by_key(|row| row.marked.hosts.min(row.spared.hosts));
            let (marked, spared) = most.map_or((0, 0), |row| (row.marked.hosts, row.spared.hosts));
            format!(
                "undecided: {LEAST_REPLICATIONS} marked and {LEAST_REPLICATIONS} spared hosts must have had transfers of one size, \
                 and at most {marked} and {spared} had"
            )
        }
    }
}

/// Formats the interval of a change in percent.
fn format_range(change: &Change) -> String {
    format!("{:+.0}…{:+.0} %", change.low * 100.0, change.high * 100.0)
}

/// Returns the JSON document.
pub fn format_json(reports: &[Report]) -> String {
    serde_json::to_string_pretty(&Document { schema: FORM, devices: reports })
        .expect("reports are plain data")
}

/// Returns the lines for the terminal.
pub fn format_text(reports: &[Report]) -> Vec<String> {
    let mut lines = Vec::new();
    for report in reports {
        lines.push(format!(
            "{}: {} of the hosts stay unmarked; {}",
            report.device, report.spared, report.sentence
        ));
        if report.sizes.is_empty() {
            continue;
        }
        let mut rows = vec![
            ["size", "marked: hosts", "transfers", "s", "spared: hosts", "transfers", "s", "marked take"]
                .map(String::from)
                .to_vec(),
        ];
        for row in &report.sizes {
            let half = |half: &Half| {
                let seconds = half.seconds.map_or("–".into(), |seconds| format!("{seconds:.3}"));
                [format_number(half.hosts as u64), format_number(half.transfers as u64), seconds]
            };
            let change = row.change.map_or("too few hosts".into(), |change| {
                format!("{:+.0} % ({})", change.mean * 100.0, format_range(&change))
            });
            let cells = [row.size.clone()].into_iter().chain(half(&row.marked)).chain(half(&row.spared));
            rows.push(cells.chain([change]).collect());
        }
        lines.extend(format_table(&rows, &[0]));
    }
    lines.push(
        "Hosts were drawn, so each counts once. Both halves share the line: what marking changes for all alike does not show."
            .into(),
    );
    lines
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns four transfers of each of `hosts` hosts in each group; the times of marked hosts are
    /// `ratio` times those of spared hosts.
    fn build_transfers(hosts: u8, ratio: f64) -> Vec<Ended> {
        (0..hosts)
            .flat_map(|number| [(number, false), (number, true)])
            .flat_map(|(number, is_spared)| {
                let of_half = if is_spared { 1.0 } else { ratio };
                (0..4u8).map(move |time| Ended {
                    host: [number + 100 * u8::from(is_spared); 16],
                    is_spared,
                    bytes: 10_000,
                    seconds: of_half * (1.0 + 0.05 * f64::from(number % 7) + 0.1 * f64::from(time)),
                })
            })
            .collect()
    }

    #[test]
    fn compare__says_which_half_is_faster() {
        let (rows, sentence) = compare(&build_transfers(12, 0.5));
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].marked.hosts, rows[0].spared.transfers), (12, 48));
        let change = rows[0].change.unwrap();
        assert!((change.mean + 0.5).abs() < 1e-9 && change.high < 0.0, "{change:?}");
        assert!(
            sentence.starts_with("transfers of 5–15 kB took 50 % less time at marked hosts"),
            "{sentence}"
        );
        assert!(compare(&build_transfers(12, 2.0)).1.contains("100 % more time"));
    }

    #[test]
    fn compare__is_undecided_without_a_difference_or_with_few_hosts() {
        let (rows, sentence) = compare(&build_transfers(12, 1.0));
        assert!(
            rows[0].change.unwrap().low < 0.0 && sentence.starts_with("undecided: of no size"),
            "{sentence}"
        );
        let (rows, sentence) = compare(&build_transfers(4, 0.5));
        assert_eq!(rows[0].change, None);
        assert!(sentence.contains("at most 4 and 4 had"), "{sentence}");
        assert!(compare(&[]).1.contains("at most 0 and 0 had"));
    }

    #[test]
    fn compare__counts_each_host_once() {
        let mut ended = build_transfers(8, 1.0);
        // One host with a thousand slow transfers is one host.
        let slow = Ended { seconds: 50.0, ..ended[0] };
        ended.extend([slow; 1000]);
        assert!(compare(&ended).1.starts_with("undecided"));
    }

    #[test]
    fn estimate_difference__is_welchs() {
        let found = estimate_difference(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0], 1);
        assert!((found.mean + 4.0).abs() < 1e-12);
        // The variances of the means are 1/2 and 7/3, so that there are 6.97 degrees of freedom.
        assert!((found.half_width() - 2.3664 * (17.0f64 / 6.0).sqrt()).abs() < 0.005, "{found:?}");
    }
}
