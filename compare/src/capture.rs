//! Plays a capture as recorded, by a model that is fitted to it, or by ready-made traffic in its place: the labels, the
//! warm-up, and the check that its resamples are not too large.

use crate::given::Given;
use mousehole_answer::comparison::LEAST_FITTED;
use mousehole_answer::sizes::size_text;
use mousehole_answer::statistics::transient::{TIME_CONSTANTS, relaxation_s};
use mousehole_answer::texts::count_text;
use mousehole_sim::error::Result;
use mousehole_sim::scenario::{Plan, Scenario, run};
use mousehole_sim::units::parse_dur;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// The place whose users stand in for a capture that is too small for a model.
pub const READY_MADE: &str = "home";
/// The engine refuses a load that takes more connections, all copies together.
const MOST_ARRIVALS: f64 = 5e7;
/// How many of the largest clients or transfers may be missing from a resample: the chance that more are is e^-14, one in a
/// million.
const LEFT_OUT: usize = 14;
/// Safety factor for everything else that makes a resample smaller than the capture.
const OTHERWISE: f64 = 2.0;

/// Returns the name of a model that is fitted to a capture with so many transfers.
pub fn fitted_label(transfers: u64, label: &str) -> String {
    format!("a model fitted to the {} of {label}", count_text(transfers as i64, "transfer"))
}

/// Returns the name of ready-made traffic, and why it replaces a capture with so many short transfers, as a clause.
pub fn ready_made_labels(label: &str, short: u64, short_bytes: u64) -> (String, String) {
    let transfers = count_text(short as i64, "transfer");
    let size = size_text(short_bytes as f64);
    let why = format!("{label}, which has {transfers} ≤ {size}, of at least {LEAST_FITTED}");
    (format!("{READY_MADE}, in place of {label}"), why)
}

/// Returns the time after which a link is near its steady state, s; `None` at a load of 1 or more,
/// or an unknown one. The load is `load`, or else `own_load`, that of the traffic.
pub fn needed_warmup_s(
    sizes_bytes: &[f64],
    rate_bps: f64,
    own_load: Option<f64>,
    load: Option<f64>,
) -> Option<f64> {
    let load = load.or(own_load).filter(|load| *load < 1.0)?;
    Some(TIME_CONSTANTS * relaxation_s(sizes_bytes, rate_bps, load))
}

/// Returns the warm-up as text: the time needed, but no longer than the window, rounded up to whole
/// seconds; `given` itself if that is no shorter, or if `needed_s` is `None`.
///
/// # Errors
/// [`mousehole_sim::error::Error::Field`] for a time that cannot be read.
pub fn choose_warmup(given: &str, duration: &str, needed_s: Option<f64>) -> Result<String> {
    let least = parse_dur("warmup", given)?.as_secs();
    let most = parse_dur("duration", duration)?.as_secs();
    let wanted = needed_s.map_or(least, |needed| needed.min(most));
    let whole = ((wanted * 1e6).round() / 1e6).ceil();
    Ok(if wanted <= least { given.to_owned() } else { format!("{whole}s") })
}

/// Refuses a load for which some replication's resample needs more connections than the engine
/// allows; `scenarios` are those of the replications, `native_load` is the capture's own. Returns
/// how many replications were set up to find out; 0 if a bound suffices.
///
/// A resample may lack the largest transfers of the capture, and then needs many more copies for
/// the load. If a bound on them exceeds the limit, each replication is set up, which fails if it is
/// too large.
///
/// # Errors
/// Those of [`try_short_run`].
pub fn check_resamples(scenarios: &[Scenario], given: &Given, load: f64, native_load: f64) -> Result<usize> {
    if bound_arrivals(given, load / native_load) <= MOST_ARRIVALS {
        return Ok(0);
    }
    scenarios.iter().try_for_each(|one| try_short_run(one, given))?;
    Ok(scenarios.len())
}

/// Runs a scenario for a millisecond without a warm-up and discards the result, so that a scenario
/// that cannot be played fails now.
///
/// # Errors
/// Those of [`Plan::new`] and [`run()`].
pub fn try_short_run(scenario: &Scenario, given: &Given) -> Result<()> {
    let short = Scenario {
        warmup: "0s".into(),
        duration: "0.001s".into(),
        max_windows: 1,
        trace: false,
        ..scenario.clone()
    };
    run(&Plan::new(&short)?, given.replayed(), &AtomicBool::new(false)).map(drop)
}

/// Returns a bound on the connections of a resample, all copies together, if the capture itself
/// needs `copies` for the load. One resample in a million exceeds it. It is infinite for a capture
/// of at most [`LEFT_OUT`] clients. `given` is a capture, not a model.
fn bound_arrivals(given: &Given, copies: f64) -> f64 {
    let all = &given.connections.connections;
    let sizes: Vec<f64> = all.iter().map(|one| one.bytes() as f64).collect();
    let mut clients = BTreeMap::new();
    for one in all {
        *clients.entry(one.client).or_insert(0.0) += one.bytes() as f64;
    }
    let total: f64 = sizes.iter().sum();
    let left = sum_without_largest(sizes).min(sum_without_largest(clients.into_values().collect()));
    OTHERWISE * copies.max(1.0) * all.len() as f64 * if left > 0.0 { total / left } else { f64::INFINITY }
}

/// Returns the sum of the sizes without the largest [`LEFT_OUT`]; 0 if there are no more than
/// these.
fn sum_without_largest(mut sizes: Vec<f64>) -> f64 {
    sizes.sort_unstable_by(f64::total_cmp);
    sizes[..sizes.len().saturating_sub(LEFT_OUT)].iter().sum()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use mousehole_sim::traffic::Traffic;
    use mousehole_sim::traffic::read::{ReadOptions, read_contents};

    /// Returns traffic with a connection for each client and size in bytes.
    fn given(rows: &[(u32, u64)]) -> Given {
        let lines = rows.iter().enumerate().map(|(n, (client, bytes))| format!("{n},c{client},{bytes}\n"));
        let table = format!("start_s,client,bytes\n{}", lines.collect::<String>());
        let traffic: Traffic =
            read_contents(&[("table.csv", table.as_bytes())], &ReadOptions::default()).unwrap();
        traffic.into()
    }

    #[test]
    fn bound_arrivals__takes_the_largest_clients_to_be_missing() {
        let mut rows: Vec<(u32, u64)> = (0..114).map(|client| (client, 10)).collect();
        let exact =
            |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 1e-9, "{found} {wanted}");
        exact(bound_arrivals(&given(&rows), 3.0), 2.0 * 3.0 * 114.0 * 114.0 / 100.0);
        exact(bound_arrivals(&given(&rows), 0.1), 2.0 * 114.0 * 114.0 / 100.0);
        let of_one: Vec<(u32, u64)> = rows.iter().map(|(_, bytes)| (0, *bytes)).collect();
        assert_eq!(bound_arrivals(&given(&of_one), 3.0), f64::INFINITY, "one client may be missing");
        rows[7].1 = 100_000_000;
        assert!(bound_arrivals(&given(&rows), 1.0) > 1e6);
    }

    #[test]
    fn choose_warmup__is_what_is_needed_within_the_window() {
        let chosen = |needed| choose_warmup("30s", "300s", needed).unwrap();
        assert_eq!(
            [None, Some(12.0), Some(30.0), Some(41.2), Some(1e9)].map(chosen),
            ["30s", "30s", "30s", "42s", "300s"]
        );
        assert_eq!(chosen(Some(41.000_000_4)), "41s");
    }

    #[test]
    fn needed_warmup__is_unknown_where_the_link_has_no_steady_state() {
        let needed = |own, load| needed_warmup_s(&[1e6], 8e6, own, load);
        assert_eq!(needed(None, None), None);
        assert_eq!(needed(Some(1.2), None), None);
        assert_eq!(needed(Some(1.2), Some(0.5)), Some(4.0));
    }
}
