//! The rows of a cell's tables as dictionaries, from which `answer/tables.py` makes rows.

use crate::convert::to_python;
use crate::quantities::Bucket;
use crate::statistics::Estimate;
use mousehole_answer::columns::Estimates;
use mousehole_answer::comparison::Cell;
use mousehole_answer::overview::{self, Change};
use mousehole_answer::statistics as answer;
use mousehole_answer::tables;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

type Dict<'py> = PyResult<Bound<'py, PyDict>>;

/// Returns a dictionary of these items.
macro_rules! dict {
    ($py:expr, $($name:literal: $value:expr),+ $(,)?) => {{
        let entry = PyDict::new($py);
        $(entry.set_item($name, $value)?;)+
        Ok(entry)
    }};
}

/// Returns the rows of a table by its name; None if there is no such table.
pub fn rows<'py>(py: Python<'py>, cell: &Cell, table: &str) -> Option<PyResult<Bound<'py, PyList>>> {
    let each: PyResult<Vec<_>> = match table {
        "bucket" => tables::bucket_rows(cell).into_iter().map(|row| bucket(py, row)).collect(),
        "scheme" => tables::scheme_rows(cell).into_iter().map(|row| scheme(py, row)).collect(),
        "colour" => tables::colour_rows(cell).into_iter().map(|row| colour(py, row)).collect(),
        "curve" => tables::curve_rows(cell).into_iter().map(|row| curve(py, row)).collect(),
        "cdf" => tables::cdf_rows(cell).into_iter().map(|row| cdf(py, row)).collect(),
        "group" => tables::group_rows(cell).into_iter().map(|row| group(py, row)).collect(),
        "size" => overview::size_rows(cell).into_iter().map(|row| size(py, row)).collect(),
        _ => return None,
    };
    Some(each.and_then(|each| PyList::new(py, each)))
}

fn bucket(py: Python<'_>, row: tables::BucketRow) -> Dict<'_> {
    dict!(py,
        "scheme": row.scheme,
        "is_baseline": row.is_baseline,
        "bucket": Bound::new(py, Bucket(row.bucket))?,
        "count": row.count,
        "censored": row.censored,
        "censored_share": row.censored_share,
        "is_bound": row.is_bound,
        "estimates": estimates(py, row.estimates)?,
        "response_mean_change": estimate(py, row.response_mean_change)?,
    )
}

fn scheme(py: Python<'_>, row: tables::SchemeRow) -> Dict<'_> {
    let estimates = estimates(py, row.estimates)?;
    dict!(py, "scheme": row.scheme, "is_baseline": row.is_baseline, "estimates": estimates)
}

fn colour(py: Python<'_>, row: tables::ColourRow) -> Dict<'_> {
    dict!(py,
        "scheme": row.scheme,
        "colour": row.colour,
        "counts": to_python(py, &row.counts)?,
        "loss_share": row.loss_share,
        "mark_share": row.mark_share,
    )
}

fn curve(py: Python<'_>, row: tables::CurveRow) -> Dict<'_> {
    let entry = to_python(py, &row)?.cast_into::<PyDict>()?;
    entry.set_item("scheme", row.scheme)?;
    let columns = ["response_mean_s", "response_mean_low_s", "response_mean_high_s"];
    set_estimate(&entry, columns, row.response_mean_s)?;
    Ok(entry)
}

fn cdf(py: Python<'_>, row: tables::CdfRow) -> Dict<'_> {
    let share = estimate(py, row.share)?;
    dict!(py, "scheme": row.scheme, "response_s": row.response_s, "share": share)
}

fn group(py: Python<'_>, row: tables::GroupRow) -> Dict<'_> {
    let entry = to_python(py, &row)?.cast_into::<PyDict>()?;
    entry.set_item("scheme", row.scheme)?;
    set_estimate(&entry, ["value", "value_low", "value_high"], row.value)?;
    set_estimate(&entry, ["change", "change_low", "change_high"], row.change)?;
    Ok(entry)
}

fn size(py: Python<'_>, row: overview::SizeRow) -> Dict<'_> {
    dict!(py,
        "scheme": row.scheme,
        "reference": row.reference,
        "bucket": row.bucket,
        "count": row.count,
        "response_mean_change": change(row.response_mean_change),
    )
}

fn estimates(py: Python<'_>, own: Estimates) -> Dict<'_> {
    let all = PyDict::new(py);
    for (quantity, one) in own {
        all.set_item(quantity.name(), estimate(py, one)?)?;
    }
    Ok(all)
}

fn estimate(py: Python<'_>, one: answer::Estimate) -> PyResult<Bound<'_, Estimate>> {
    Bound::new(py, Estimate(one))
}

/// Puts an estimate in the place of its columns, of which the first has its name.
pub fn set_estimate(
    entry: &Bound<'_, PyDict>,
    [name, low, high]: [&str; 3],
    own: answer::Estimate,
) -> PyResult<()> {
    entry.set_item(name, estimate(entry.py(), own)?)?;
    entry.del_item(low)?;
    entry.del_item(high)
}

/// Returns mean, low, high and whether the last two are an interval.
pub fn change(own: Change) -> (f64, f64, f64, bool) {
    (own.mean, own.low, own.high, own.is_interval)
}
