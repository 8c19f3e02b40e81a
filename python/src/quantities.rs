//! Binds the table of quantities and the size buckets of `mousehole-answer`.

use crate::convert::to_python;
use mousehole_answer::quantities as answer;
use mousehole_answer::sizes;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::hash::{DefaultHasher, Hash, Hasher};

/// One quantity of the table.
#[pyclass(module = "mousehole._engine", frozen, eq, skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub struct Quantity(pub answer::Quantity);

#[pymethods]
impl Quantity {
    /// The fields are those that [`Quantity::fields`] returns.
    #[new]
    // python: fields: Mapping[str, Any]
    fn new(fields: &Bound<'_, PyAny>) -> PyResult<Quantity> {
        Ok(Quantity(pythonize::depythonize(fields)?))
    }

    /// Returns the fields as a dictionary, of which the constructor makes an equal quantity.
    // python: -> dict[str, Any]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0)
    }

    /// Returns a copy of the quantity in which these fields are changed.
    #[pyo3(signature = (**changes))]
    fn changed(&self, py: Python<'_>, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Quantity> {
        let fields = self.fields(py)?.cast_into::<PyDict>()?;
        if let Some(changes) = changes {
            fields.update(changes.as_mapping())?;
        }
        Quantity::new(fields.as_any())
    }

    /// Its name with the unit, which is the name of its column.
    #[getter]
    fn name(&self) -> String {
        self.0.name()
    }

    /// The names of the columns with the lower and the upper end of its interval.
    #[getter]
    fn ends(&self) -> (String, String) {
        self.0.ends()
    }

    /// What kind of thing it describes.
    #[getter]
    // python: -> Literal['bucket', 'scheme', 'application', 'count', 'comparison', 'run']
    fn subject<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.subject)
    }

    /// What it is measured in, such as `seconds` or `share`.
    #[getter]
    // python: -> str
    fn unit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.unit)
    }

    /// Its heading, such as `p95`.
    #[getter]
    fn short(&self) -> &str {
        &self.0.words.short
    }

    /// Its name in a sentence, such as `95th percentile of the response time`.
    #[getter]
    fn long(&self) -> &str {
        &self.0.words.long
    }

    /// Returns its name in a sentence about the named transfers, such as `transfers > 150 kB`.
    fn describe(&self, transfers: &str) -> String {
        self.0.describe(transfers)
    }

    /// The title of its axis, such as `response time, p95`.
    #[getter]
    fn axis(&self) -> &str {
        &self.0.words.axis
    }

    /// Which way is better.
    #[getter]
    // python: -> Literal['less', 'more', 'neither']
    fn better<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.better)
    }

    /// Whether less of it is better.
    #[getter]
    fn less_is_better(&self) -> bool {
        self.0.better == answer::Better::Less
    }

    /// Least number of values for which it is given.
    #[getter]
    fn least(&self) -> u32 {
        self.0.least
    }

    /// Whether it is a percentile, which a comparison gives only if every replication has it.
    #[getter]
    fn is_percentile(&self) -> bool {
        self.0.is_percentile()
    }

    /// Which percentile it is; None for anything else.
    #[getter]
    fn percent(&self) -> Option<f64> {
        match self.0.source {
            answer::Source::Transfers(_, _, answer::Statistic::Percentile(percent)) => Some(percent),
            _ => None,
        }
    }

    /// The class of transfers that it is always about; None for quantities of buckets and links.
    #[getter]
    // python: -> Literal['short', 'long', 'all'] | None
    fn role(&self) -> Option<&'static str> {
        self.0.class().map(sizes::Role::name)
    }

    /// Its name in `tune`, which follows the class of transfers if it is of a bucket; None if `tune` does not have it.
    #[getter]
    fn measure(&self) -> Option<&str> {
        self.0.measure.as_deref()
    }

    /// The tables in which it is a column: `bucket`, `short`, `long`, `link`, `application`.
    #[getter]
    // python: -> list[str]
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.tables)
    }

    /// The kinds of applications whose users feel it first: those of `quantities.KINDS`.
    #[getter]
    // python: -> list[str]
    fn primary_of<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.primary_of)
    }

    /// The kinds of applications whose users feel it first where nothing is known that they feel before.
    #[getter]
    // python: -> list[str]
    fn stands_in_for<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.stands_in_for)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.0.subject, &self.0.stem).hash(&mut hasher);
        hasher.finish()
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>,)> {
        Ok((self.fields(py)?,))
    }

    fn __repr__(&self) -> String {
        format!("Quantity({} of {:?})", self.0.name(), self.0.subject)
    }
}

/// A size bucket: transfers of more than `low_bytes` and at most `high_bytes`.
#[pyclass(module = "mousehole._engine", frozen, eq, hash, skip_from_py_object)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bucket(pub sizes::Bucket);

#[pymethods]
impl Bucket {
    #[new]
    // python: role: Role
    fn new(
        name: String,
        low_bytes: u64,
        high_bytes: Option<u64>,
        role: &Bound<'_, PyAny>,
    ) -> PyResult<Bucket> {
        Ok(Bucket(sizes::Bucket { name, low_bytes, high_bytes, role: pythonize::depythonize(role)? }))
    }

    /// Its name, such as `≤ 15 kB`.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Transfers in the bucket are larger than this.
    #[getter]
    fn low_bytes(&self) -> u64 {
        self.0.low_bytes
    }

    /// The largest size in the bucket; None if there is no limit.
    #[getter]
    fn high_bytes(&self) -> Option<u64> {
        self.0.high_bytes
    }

    /// `short`, `long` or `all` for the bucket of a class; `size` for one of the buckets that divide all transfers.
    #[getter]
    // python: -> Role
    fn role(&self) -> &'static str {
        self.0.role.name()
    }

    /// Returns whether a transfer of this size belongs to the bucket.
    fn holds(&self, size_bytes: u64) -> bool {
        self.0.holds(size_bytes)
    }

    fn __getnewargs__(&self) -> (&str, u64, Option<u64>, &'static str) {
        (&self.0.name, self.0.low_bytes, self.0.high_bytes, self.0.role.name())
    }

    fn __repr__(&self) -> String {
        format!("Bucket({})", self.0.name)
    }
}

/// Returns the table of quantities, without those that Python has added.
#[pyfunction]
fn quantities() -> Vec<Quantity> {
    answer::table().into_iter().map(Quantity).collect()
}

/// Returns the size buckets in the order of the tables; the limits are those of short and long transfers.
#[pyfunction]
fn buckets(short_bytes: u64, long_bytes: u64) -> Vec<Bucket> {
    sizes::buckets(short_bytes, long_bytes).into_iter().map(Bucket).collect()
}

/// Returns a size in bytes as text: `15 kB` for 15000, `1 MB` for 1000000.
#[pyfunction]
fn size_text(size_bytes: f64) -> String {
    sizes::size_text(size_bytes)
}

/// Returns the edges of the size bins of the response time curve, in bytes.
#[pyfunction]
fn curve_edges_bytes(py: Python<'_>) -> Bound<'_, PyArray1<f64>> {
    PyArray1::from_vec(py, sizes::curve_edges_bytes())
}

/// Returns the times at which the distribution of response times is sampled, in seconds.
#[pyfunction]
fn cdf_times_s(py: Python<'_>) -> Bound<'_, PyArray1<f64>> {
    PyArray1::from_vec(py, sizes::cdf_times_s())
}

/// Adds the constants, classes and functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("SHORT_BYTES", sizes::SHORT_BYTES)?;
    module.add("LONG_BYTES", sizes::LONG_BYTES)?;
    module.add_class::<Quantity>()?;
    module.add_class::<Bucket>()?;
    for function in [
        wrap_pyfunction!(quantities, module)?,
        wrap_pyfunction!(buckets, module)?,
        wrap_pyfunction!(size_text, module)?,
        wrap_pyfunction!(curve_edges_bytes, module)?,
        wrap_pyfunction!(cdf_times_s, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
