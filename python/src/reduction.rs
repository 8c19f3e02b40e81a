//! Binds the reduction of a run's records to a few numbers, by `mousehole-answer`.

use crate::convert::to_python;
use crate::quantities::{Bucket, Quantity};
use mousehole_answer::reduction::{
    Colour, Facts, PROFILE_OF_KIND, Records, ShortTimes, compare_short_times, reduce,
};
use mousehole_compare::run_facts;
use mousehole_sim::outcome_profile::PROFILES;
use mousehole_sim::scenario::{Plan, RunResult};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the facts of a run as [`facts_dict`] does; other Python threads run meanwhile.
pub fn reduce_run<'py>(
    py: Python<'py>,
    run: &RunResult,
    plan: &Plan,
    buckets: Vec<PyRef<'py, Bucket>>,
    table: Vec<PyRef<'py, Quantity>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (buckets, table) = clone_inner(&buckets, &table);
    let found = py.detach(|| run_facts(run, plan, &buckets, &table));
    facts_dict(py, found)
}

/// Returns the facts of records that tests make by hand, as [`facts_dict`] does.
#[pyfunction]
// python: records: Mapping[str, Any]
fn reduce_records<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    buckets: Vec<PyRef<'py, Bucket>>,
    table: Vec<PyRef<'py, Quantity>>,
) -> PyResult<Bound<'py, PyDict>> {
    let records: Records = pythonize::depythonize(records)?;
    let (buckets, table) = clone_inner(&buckets, &table);
    facts_dict(py, reduce(&records, &buckets, &table))
}

/// Returns the profiles of Quality of Outcome that have a name: the name, the kind of application, the needs.
#[pyfunction]
fn outcome_profiles() -> Vec<(&'static str, &'static str, &'static str)> {
    let of_kind = |name| PROFILE_OF_KIND.iter().find(|(_, own)| *own == name);
    PROFILES.iter().filter_map(|(name, needs)| Some((*name, of_kind(*name)?.0.name(), *needs))).collect()
}

/// Returns the shares of transfers that were slower and faster than in another run, over those that both runs measured;
/// None unless these are nearly all. A run is given as keys in rising order and response times in seconds; raises
/// `ValueError` if their numbers differ.
#[pyfunction]
fn shares_of_same(
    own: (PyReadonlyArray1<u64>, PyReadonlyArray1<f64>),
    other: (PyReadonlyArray1<u64>, PyReadonlyArray1<f64>),
) -> PyResult<Option<(f64, f64)>> {
    let found = compare_short_times(&read_short_times(&own)?, &read_short_times(&other)?);
    Ok(found.map(|shares| (shares.slower, shares.faster)))
}

/// Returns copies of keys and response times; raises `ValueError` if their numbers differ, and
/// numpy's exception for a column that is not contiguous.
fn read_short_times(
    (key, response_s): &(PyReadonlyArray1<u64>, PyReadonlyArray1<f64>),
) -> PyResult<ShortTimes> {
    let (key, response_s) = (key.as_slice()?.to_vec(), response_s.as_slice()?.to_vec());
    if key.len() != response_s.len() {
        return Err(PyValueError::new_err("each key has one time"));
    }
    Ok(ShortTimes { key, response_s })
}

/// Buckets and quantities of `mousehole-answer`.
type Inner = (Vec<mousehole_answer::sizes::Bucket>, Vec<mousehole_answer::quantities::Quantity>);

/// Returns copies of the buckets and quantities that Python objects wrap.
fn clone_inner(buckets: &[PyRef<'_, Bucket>], table: &[PyRef<'_, Quantity>]) -> Inner {
    let buckets = buckets.iter().map(|bucket| bucket.0.clone()).collect();
    (buckets, table.iter().map(|quantity| quantity.0.clone()).collect())
}

/// Returns facts as a dictionary: `numbers` has the fields of Python's `RunFacts` except
/// `short_times` and `shares`; `short_times` has the keys and the response times of single short
/// transfers, which are empty if the facts do not keep them. Counts beyond 63 bits become the
/// largest of these.
fn facts_dict(py: Python<'_>, facts: Facts) -> PyResult<Bound<'_, PyDict>> {
    let integers = |values: Vec<u64>| {
        PyArray1::from_iter(py, values.into_iter().map(|value| i64::try_from(value).unwrap_or(i64::MAX)))
    };
    let statistics = PyDict::new(py);
    for (name, values) in facts.statistics {
        statistics.set_item(name, PyArray1::from_vec(py, values))?;
    }
    let groups = PyDict::new(py);
    for (group, what, value) in facts.groups {
        groups.set_item((group, what), value)?;
    }
    let found = PyDict::new(py);
    found.set_item("count", integers(facts.count))?;
    found.set_item("censored", integers(facts.censored))?;
    found.set_item("statistics", statistics)?;
    found.set_item("curve_count", integers(facts.curve_count))?;
    found.set_item("curve_mean_s", PyArray1::from_vec(py, facts.curve_mean_s))?;
    found.set_item("cdf", PyArray1::from_vec(py, facts.cdf))?;
    found.set_item("scheme", facts.scheme)?;
    found.set_item("colours", colours_dict(py, &facts.colours)?)?;
    found.set_item("load", to_python(py, &facts.load)?)?;
    found.set_item("groups", groups)?;
    found.set_item("kinds", to_python(py, &facts.kinds)?)?;
    found.set_item("simulated_s", facts.simulated_s)?;
    found.set_item("window_load", facts.window_load)?;
    found.set_item("short_by_time", PyArray1::from_vec(py, facts.short_by_time))?;
    let times = facts.short_times.unwrap_or_default();
    let short_times = (PyArray1::from_vec(py, times.key), PyArray1::from_vec(py, times.response_s));
    let reduced = PyDict::new(py);
    reduced.set_item("numbers", found)?;
    reduced.set_item("short_times", short_times)?;
    Ok(reduced)
}

/// Returns the packet counters of the bottleneck by colour, in its order; drops are counted by
/// reason as well.
fn colours_dict<'py>(py: Python<'py>, colours: &[Colour]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for colour in colours {
        let counts = PyDict::new(py);
        counts.set_item("arrived", colour.arrived)?;
        for (reason, count) in &colour.drops {
            counts.set_item(reason, count)?;
        }
        counts.set_item("dropped", colour.dropped)?;
        counts.set_item("marked", colour.marked)?;
        counts.set_item("sent", colour.sent)?;
        all.set_item(&colour.name, counts)?;
    }
    Ok(all)
}

/// Adds the functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(reduce_records, module)?)?;
    module.add_function(wrap_pyfunction!(outcome_profiles, module)?)?;
    module.add_function(wrap_pyfunction!(shares_of_same, module)?)
}
