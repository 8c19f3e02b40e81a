//! Cells made by hand, for tests.

use crate::comparison::{Cell, Plan, Scheme};
use crate::quantities::{Kind, table};
use crate::reduction::{Facts, Load};
use crate::sizes::{Role, buckets};

/// Small differences between six replications, which all schemes share.
pub const SPREAD: [f64; 6] = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0];

/// Returns the facts of a run whose short transfers take `short_s`, and long ones `long_s`: a
/// hundred of each size, all finished.
pub fn facts(short_s: f64, long_s: f64) -> Facts {
    let all = buckets(15_000, 150_000);
    let time = |role: Role| if role == Role::Long { long_s } else { short_s };
    let times: Vec<f64> = all.iter().map(|bucket| time(bucket.role)).collect();
    Facts {
        count: vec![100; all.len()],
        censored: vec![0; all.len()],
        statistics: ["response_mean_s", "response_p95_s"].map(|name| (name.to_owned(), times.clone())).into(),
        curve_count: Vec::new(),
        curve_mean_s: Vec::new(),
        cdf: Vec::new(),
        scheme: [("long_goodput_bps".to_owned(), 1e6 / long_s)].into(),
        colours: Vec::new(),
        load: Load {
            target: None,
            native: None,
            copies: 1,
            dilation: 1.0,
            achieved: Some(0.9),
            session_rate_per_s: None,
            replay: None,
        },
        groups: Vec::new(),
        kinds: [].into(),
        simulated_s: 100.0,
        window_load: 0.9,
        short_by_time: Vec::new(),
        short_times: None,
        shares: [].into(),
    }
}

/// Returns a cell of schemes by the times of their short and long transfers, scaled by [`SPREAD`]; the first is the
/// baseline.
pub fn cell(schemes: &[(&str, f64, f64)]) -> Cell {
    make_cell(schemes, |_, facts| facts)
}

/// Returns such a cell whose runs `change` has altered; it gets the index of their scheme.
pub fn make_cell(schemes: &[(&str, f64, f64)], change: impl Fn(usize, Facts) -> Facts) -> Cell {
    let baseline = schemes[0].0.to_owned();
    let plan = Plan {
        buffer: "50p".to_owned(),
        load: Some(0.9),
        schemes: schemes.iter().map(|(text, ..)| Scheme::from(text.to_string())).collect(),
        references: vec![baseline.clone()],
        baseline,
        replications: SPREAD.len() as u32,
        short_bytes: 15_000,
        long_bytes: 150_000,
        in_rounds: false,
        is_sequential: false,
        window_s: 100.0,
        is_overlaid: false,
        vetoes: Vec::new(),
        reference: None,
    };
    let runs = schemes.iter().enumerate().map(|(index, (_, short_s, long_s))| {
        SPREAD.iter().map(|scale| change(index, facts(short_s * scale, long_s * scale))).collect()
    });
    Cell::new(plan, None, table(), runs.collect())
}

/// Returns the facts with a figure of calls.
pub fn with_calls(facts: Facts, what: &str, value: f64) -> Facts {
    let groups = vec![("phones".to_owned(), what.to_owned(), value)];
    Facts { groups, kinds: [("phones".to_owned(), Kind::Calls)].into(), ..facts }
}

/// Returns the facts with this figure of a kind, beside those that they have.
pub fn with_figure(facts: Facts, kind: Kind, what: &str, value: f64) -> Facts {
    let group = kind.text();
    let groups = [facts.groups, vec![(group.clone(), what.to_owned(), value)]].concat();
    let kinds = facts.kinds.into_iter().chain([(group, kind)]).collect();
    Facts { groups, kinds, ..facts }
}

/// Returns the facts of a run without transfers.
pub fn without_transfers(facts: Facts) -> Facts {
    let nothing = |values: Vec<f64>| values.iter().map(|_| f64::NAN).collect();
    let statistics = facts.statistics.into_iter().map(|(name, values)| (name, nothing(values))).collect();
    Facts { statistics, count: vec![0; facts.count.len()], ..facts }
}
