//! Converts the rows of a cell's tables to dictionaries, of which `answer/tables.py` makes Python's rows.

use crate::convert::to_python;
use crate::quantities::Bucket;
use crate::statistics::Estimate;
use mousehole_answer::columns::Estimates;
use mousehole_answer::comparison::Cell;
use mousehole_answer::judged::Judged;
use mousehole_answer::overview::{self, Change};
use mousehole_answer::statistics;
use mousehole_answer::tables;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::{Mutex, PoisonError};

type Dict<'py> = PyResult<Bound<'py, PyDict>>;

/// Returns `Ok` of a dictionary with these items.
macro_rules! dict {
    ($py:expr, $($name:literal: $value:expr),+ $(,)?) => {{
        let entry = PyDict::new($py);
        $(entry.set_item($name, $value)?;)+
        Ok(entry)
    }};
}

/// Returns what `make` computes of a cell, which is locked meanwhile, also after a panic of another
/// holder; other Python threads run. The lock is free again before Python objects are made of the
/// result: the interpreter may then switch to a thread that waits for it.
pub fn read_cell<T: Send>(py: Python<'_>, cell: &Mutex<Judged>, make: impl FnOnce(&Cell) -> T + Send) -> T {
    py.detach(|| make(&cell.lock().unwrap_or_else(PoisonError::into_inner).cell))
}

/// Returns the rows of the table of this name as new dictionaries; None if there is no such table.
/// The keys are the fields of Python's row without `buffer` and `load`. Locks the cell as
/// [`read_cell`] does.
pub fn table_rows<'py>(
    py: Python<'py>,
    cell: &Mutex<Judged>,
    table: &str,
) -> Option<PyResult<Bound<'py, PyList>>> {
    let each: PyResult<Vec<_>> = match table {
        "bucket" => {
            read_cell(py, cell, tables::bucket_rows).into_iter().map(|row| bucket_dict(py, row)).collect()
        }
        "scheme" => {
            read_cell(py, cell, tables::scheme_rows).into_iter().map(|row| scheme_dict(py, row)).collect()
        }
        "colour" => {
            read_cell(py, cell, tables::colour_rows).into_iter().map(|row| colour_dict(py, row)).collect()
        }
        "curve" => {
            read_cell(py, cell, tables::curve_rows).into_iter().map(|row| curve_dict(py, row)).collect()
        }
        "cdf" => read_cell(py, cell, tables::cdf_rows).into_iter().map(|row| cdf_dict(py, row)).collect(),
        "group" => {
            read_cell(py, cell, tables::group_rows).into_iter().map(|row| group_dict(py, row)).collect()
        }
        "size" => {
            read_cell(py, cell, overview::size_rows).into_iter().map(|row| size_dict(py, row)).collect()
        }
        _ => return None,
    };
    Some(each.and_then(|each| PyList::new(py, each)))
}

/// Returns the row of a scheme and a size bucket.
fn bucket_dict(py: Python<'_>, row: tables::BucketRow) -> Dict<'_> {
    dict!(py,
        "scheme": row.scheme,
        "is_baseline": row.is_baseline,
        "bucket": Bound::new(py, Bucket(row.bucket))?,
        "count": row.count,
        "censored": row.censored,
        "censored_share": row.censored_share,
        "is_bound": row.is_bound,
        "estimates": estimates_dict(py, row.estimates)?,
        "response_mean_change": wrap_estimate(py, row.response_mean_change)?,
    )
}

/// Returns the row of a scheme.
fn scheme_dict(py: Python<'_>, row: tables::SchemeRow) -> Dict<'_> {
    let estimates = estimates_dict(py, row.estimates)?;
    dict!(py, "scheme": row.scheme, "is_baseline": row.is_baseline, "estimates": estimates)
}

/// Returns the row of a scheme and a colour, with `counts` of packets by name.
fn colour_dict(py: Python<'_>, row: tables::ColourRow) -> Dict<'_> {
    dict!(py,
        "scheme": row.scheme,
        "colour": row.colour,
        "counts": to_python(py, &row.counts)?,
        "loss_share": row.loss_share,
        "mark_share": row.mark_share,
    )
}

/// Returns the row of a scheme and a size bin, with an `Estimate` in place of three columns.
fn curve_dict(py: Python<'_>, row: tables::CurveRow) -> Dict<'_> {
    let entry = to_python(py, &row)?.cast_into::<PyDict>()?;
    entry.set_item("scheme", row.scheme)?;
    let columns = ["response_mean_s", "response_mean_low_s", "response_mean_high_s"];
    set_estimate(&entry, columns, row.response_mean_s)?;
    Ok(entry)
}

/// Returns the row of a scheme and a response time.
fn cdf_dict(py: Python<'_>, row: tables::CdfRow) -> Dict<'_> {
    let share = wrap_estimate(py, row.share)?;
    dict!(py, "scheme": row.scheme, "response_s": row.response_s, "share": share)
}

/// Returns the row of a scheme and a figure of an application, with `Estimate`s in place of three columns each.
fn group_dict(py: Python<'_>, row: tables::GroupRow) -> Dict<'_> {
    let entry = to_python(py, &row)?.cast_into::<PyDict>()?;
    entry.set_item("scheme", row.scheme)?;
    set_estimate(&entry, ["value", "value_low", "value_high"], row.value)?;
    set_estimate(&entry, ["change", "change_low", "change_high"], row.change)?;
    Ok(entry)
}

/// Returns the row of a scheme and a size bucket with its change against the reference.
fn size_dict(py: Python<'_>, row: overview::SizeRow) -> Dict<'_> {
    dict!(py,
        "scheme": row.scheme,
        "reference": row.reference,
        "bucket": row.bucket,
        "count": row.count,
        "response_mean_change": change_tuple(row.response_mean_change),
    )
}

/// Returns estimates by the names of their quantities; of equal names the last one counts.
fn estimates_dict(py: Python<'_>, estimates: Estimates) -> Dict<'_> {
    let all = PyDict::new(py);
    for (quantity, one) in estimates {
        all.set_item(quantity.name(), wrap_estimate(py, one)?)?;
    }
    Ok(all)
}

/// Returns an estimate as a Python object.
fn wrap_estimate(py: Python<'_>, one: statistics::Estimate) -> PyResult<Bound<'_, Estimate>> {
    Bound::new(py, Estimate(one))
}

/// Replaces the three columns of an estimate in a row by an `Estimate` under the name of the first.
/// Raises `KeyError` if one of the other two is missing; the row is changed in part then.
pub fn set_estimate(
    entry: &Bound<'_, PyDict>,
    [name, low, high]: [&str; 3],
    one: statistics::Estimate,
) -> PyResult<()> {
    entry.set_item(name, wrap_estimate(entry.py(), one)?)?;
    entry.del_item(low)?;
    entry.del_item(high)
}

/// Returns a change as mean, low, high and whether the last two are the ends of an interval.
pub fn change_tuple(change: Change) -> (f64, f64, f64, bool) {
    (change.mean, change.low, change.high, change.is_interval)
}
