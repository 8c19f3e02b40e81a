//! Binds `mousehole-answer`: the findings, vetoes, tables and advice of a cell of a comparison, from its runs.

use crate::convert::{self, to_python};
use crate::errors;
use crate::quantities::Quantity;
use crate::statistics::{Design, Estimate, design_or_default};
use crate::tables::{read_cell, set_estimate, table_rows};
use mousehole_answer::advice;
use mousehole_answer::comparison::{self as answer, Whose};
use mousehole_answer::document;
use mousehole_answer::findings::{self, Finding};
use mousehole_answer::installation;
use mousehole_answer::judged::Judged;
use mousehole_answer::margins::{self, Refused};
use mousehole_answer::notes;
use mousehole_answer::overview::as_change;
use mousehole_answer::quantities::{self, Kind, Subject};
use mousehole_answer::reduction::{Colour, Facts};
use mousehole_answer::report::report_cell;
use mousehole_answer::setting::Setting;
use mousehole_answer::sizes::Role;
use mousehole_answer::tables;
use mousehole_answer::verdicts::{self, Unit};
use mousehole_answer::vetoes::{self, Veto};
use mousehole_compare::Around;
use mousehole_sim::error::{Error, Given, Problem};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The table of quantities, as Python passes it.
type Table<'py> = Vec<PyRef<'py, Quantity>>;

/// Returns copies of the quantities that a table of Python objects wraps, in its order.
fn clone_quantities(table: &Table<'_>) -> Vec<quantities::Quantity> {
    table.iter().map(|quantity| quantity.0.clone()).collect()
}

/// A quantity and its subject: a class of transfers, a scheme, a group of an application, or a kind of applications.
#[pyclass(module = "mousehole._engine", frozen, eq, skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub struct Source(answer::Source);

#[pymethods]
impl Source {
    /// `kind` takes precedence over `group`. Without either, the subject is the bucket `role` for a quantity of buckets,
    /// else the scheme; `role` is then the class that the quantity is about, or all transfers.
    #[new]
    #[pyo3(signature = (quantity, role=None, kind=None, group=None))]
    // python: role: str | None, kind: str | None
    fn new(
        quantity: PyRef<'_, Quantity>,
        role: Option<&Bound<'_, PyAny>>,
        kind: Option<&Bound<'_, PyAny>>,
        group: Option<String>,
    ) -> PyResult<Source> {
        let role: Option<Role> = role.map(pythonize::depythonize).transpose()?;
        let whose = match (kind, group) {
            (Some(kind), _) => Whose::Kind(pythonize::depythonize(kind)?),
            (None, Some(group)) => Whose::Group(group),
            (None, None) if quantity.0.subject == Subject::Bucket => Whose::Bucket(role.unwrap_or(Role::All)),
            (None, None) => Whose::Scheme(role.or(quantity.0.class()).unwrap_or(Role::All)),
        };
        Ok(Source(answer::Source { whose, quantity: quantity.0.clone() }))
    }

    /// What is measured.
    #[getter]
    fn quantity(&self) -> Quantity {
        Quantity(self.0.quantity.clone())
    }

    /// The class of transfers that it is about.
    #[getter]
    // python: -> Literal['short', 'long', 'all']
    fn role(&self) -> &'static str {
        self.0.role().name()
    }

    /// The kind of applications; None if the subject is not a kind.
    #[getter]
    // python: -> Literal['calls', 'games', 'video_calls', 'streams', 'logins', 'vpn', 'responsiveness'] | None
    fn kind(&self) -> Option<&'static str> {
        match self.0.whose {
            Whose::Kind(kind) => Some(kind.name()),
            _ => None,
        }
    }

    /// The group of the application; None if the subject is not a group.
    #[getter]
    fn group(&self) -> Option<&str> {
        match &self.0.whose {
            Whose::Group(group) => Some(group),
            _ => None,
        }
    }

    /// Whether it is about transfers; pages and kinds of applications are not.
    #[getter]
    fn is_of_transfers(&self) -> bool {
        self.0.is_of_transfers()
    }

    fn __repr__(&self) -> String {
        format!("Source({} of {:?})", self.0.quantity.name(), self.0.whose)
    }
}

/// A quantity in which schemes are compared.
#[pyclass(module = "mousehole._engine", frozen)]
pub struct Endpoint(answer::Endpoint);

#[pymethods]
impl Endpoint {
    /// Its name in data, such as `short_response_mean_s`.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// What is compared, as sentences name it.
    #[getter]
    fn words(&self) -> &str {
        &self.0.words
    }

    /// False for the one primary endpoint.
    #[getter]
    fn exploratory(&self) -> bool {
        self.0.exploratory
    }

    /// Where its values come from.
    #[getter]
    fn source(&self) -> Source {
        Source(self.0.source.clone())
    }
}

/// The outcome for one endpoint, with a text.
#[pyclass(module = "mousehole._engine", frozen, eq)]
#[derive(PartialEq)]
pub struct Verdict(verdicts::Verdict);

#[pymethods]
impl Verdict {
    #[new]
    #[pyo3(signature = (outcome, text, seeds_needed=None))]
    // python: outcome: str
    fn new(outcome: &Bound<'_, PyAny>, text: String, seeds_needed: Option<u32>) -> PyResult<Verdict> {
        Ok(Verdict(verdicts::Verdict { outcome: pythonize::depythonize(outcome)?, text, seeds_needed }))
    }

    /// How the comparison came out, such as `better` or `undecided`.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.0.outcome.text()
    }

    /// The outcome with its numbers, as a clause of a sentence.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// About how many replications would decide an undecided comparison; None if it is decided or the number is unknown.
    #[getter]
    fn seeds_needed(&self) -> Option<u32> {
        self.0.seeds_needed
    }

    /// Returns the verdict, or `undecided (why)` if a mean that it relies on is only a lower bound.
    ///
    /// `scheme_bound` and `reference_bound` say whose mean is one. Where the true change can only be
    /// larger, the outcome remains, with `at least`; an undecided verdict stays as it is.
    fn with_bounds(&self, scheme_bound: bool, reference_bound: bool, why: &str) -> Verdict {
        Verdict(self.0.clone().with_bounds(scheme_bound, reference_bound, why))
    }

    fn __repr__(&self) -> String {
        format!("Verdict({}: {})", self.0.outcome.text(), self.0.text)
    }
}

/// Judges the primary endpoint by the interval of its log-ratio to the reference; smaller is better.
///
/// `design` is that of the interval, and `unit` (replications by default) is what it is taken over. `faster` is the
/// number of units in which the scheme was faster, and the number of units.
#[pyfunction]
#[pyo3(signature = (ratio, design = None, unit = None, faster = None))]
// python: unit: Literal['replication', 'round', 'day']
fn judge(
    ratio: &Estimate,
    design: Option<&Design>,
    unit: Option<&Bound<'_, PyAny>>,
    faster: Option<(u32, u32)>,
) -> PyResult<Verdict> {
    let unit: Unit = unit.map_or(Ok(Unit::Replication), pythonize::depythonize)?;
    Ok(Verdict(verdicts::judge(&ratio.0, quantities::Better::Less, &design_or_default(design), unit, faster)))
}

/// Describes how an exploratory endpoint changed.
#[pyfunction]
// python: unit: str
fn describe(ratio: &Estimate, quantity: &Quantity, unit: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    let unit: Unit = pythonize::depythonize(unit)?;
    Ok(Verdict(verdicts::describe_change(&ratio.0, &quantity.0, unit)))
}

/// Returns the endpoints of transfers, and with `has_pages` of pages; the primary one is first.
#[pyfunction]
fn endpoints(table: Table<'_>, short_bytes: u64, long_bytes: u64, has_pages: bool) -> Vec<Endpoint> {
    let found = answer::list_endpoints(&clone_quantities(&table), short_bytes, long_bytes, has_pages);
    found.into_iter().map(Endpoint).collect()
}

/// How much worse a figure of a class of traffic may become.
#[pyclass(module = "mousehole._engine", frozen)]
pub struct Margin(margins::Margin);

#[pymethods]
impl Margin {
    /// The class, one of `TRAFFIC_CLASSES`.
    #[getter]
    fn whose(&self) -> String {
        self.0.figure.class.name()
    }

    /// What users write behind the class, such as `delay p95`.
    #[getter]
    fn name(&self) -> &str {
        &self.0.figure.name
    }

    /// The quantity that the margin limits.
    #[getter]
    fn quantity(&self) -> Quantity {
        Quantity(self.0.figure.source.quantity.clone())
    }

    /// The harm allowed, above 0: a share of the reference's figure, or in the figure's own unit.
    #[getter]
    fn most(&self) -> f64 {
        self.0.most
    }

    #[getter]
    fn is_relative(&self) -> bool {
        self.0.is_relative
    }

    /// The margin as a change, such as `+10 ms`.
    #[getter]
    fn text(&self) -> String {
        self.0.text()
    }
}

/// Returns the margins in force: the default ones, replaced and extended by those in `given`. Raises `MouseholeError`
/// about the field `veto` for a text that is not a margin.
#[pyfunction]
fn harm_margins(py: Python<'_>, table: Table<'_>, given: Vec<String>) -> PyResult<Vec<Margin>> {
    let found = margins::read_margins(&clone_quantities(&table), &given);
    let found = found.map_err(|(text, refused)| to_error(py, "veto", &text, refused))?;
    Ok(found.into_iter().map(Margin).collect())
}

/// Reads one margin, such as `calls p95 +10ms`; raises `MouseholeError` for any other text.
#[pyfunction]
fn read_margin(py: Python<'_>, table: Table<'_>, text: &str) -> PyResult<Margin> {
    let found = margins::read_margin(&clone_quantities(&table), text);
    found.map(Margin).map_err(|refused| to_error(py, "veto", text, refused))
}

/// Returns class and name of the figure that a text such as `calls p95` names. Raises `MouseholeError` about `field`
/// for an unknown class or figure.
#[pyfunction]
fn find_figure(py: Python<'_>, table: Table<'_>, field: &str, text: &str) -> PyResult<(String, String)> {
    let found = margins::find_figure(&clone_quantities(&table), text);
    let figure = found.map_err(|refused| to_error(py, field, text, refused))?;
    Ok((figure.class.name(), figure.name))
}

/// Returns the class of traffic with whose name a text begins; None if it begins with none.
#[pyfunction]
fn find_class(text: &str) -> Option<String> {
    margins::Class::find_prefix(text).map(margins::Class::name)
}

/// Splits a change into what changes, sign, number and unit; None for what is no change.
#[pyfunction]
fn read_change(text: &str) -> Option<(String, &'static str, f64, String)> {
    let change = margins::read_change(text)?;
    Some((change.whose, if change.rises { "+" } else { "−" }, change.number, change.unit))
}

/// Returns a number as a share of a quantity that users call `name`, or in the quantity's unit; and whether it is a
/// share. Raises `MouseholeError` about `field` for a unit that the quantity does not have.
#[pyfunction]
fn in_own_unit(
    py: Python<'_>,
    field: &str,
    text: &str,
    name: &str,
    quantity: &Quantity,
    number: f64,
    unit: &str,
) -> PyResult<(f64, bool)> {
    let found = margins::convert_to_own_unit(name, quantity.0.unit, number, unit);
    found.map_err(|refused| to_error(py, field, text, refused))
}

/// Returns whether users of a kind of application feel `what` first, or it stands in for that where the very first is not
/// among the names `known`.
#[pyfunction]
// python: kind: str
fn is_felt_first(
    table: Table<'_>,
    kind: &Bound<'_, PyAny>,
    what: PyRef<'_, Quantity>,
    known: Vec<String>,
) -> PyResult<bool> {
    let is_known = |one: &quantities::Quantity| known.contains(&one.name());
    Ok(quantities::is_felt_first(&clone_quantities(&table), pythonize::depythonize(kind)?, &what.0, is_known))
}

/// Returns the factor by which differences of a quantity's unit are multiplied in texts, and the name of the unit there.
#[pyfunction]
// python: unit: str
fn difference_scale(unit: &Bound<'_, PyAny>) -> PyResult<(f64, &'static str)> {
    Ok(margins::difference_scale(pythonize::depythonize(unit)?))
}

/// Returns the text of the scheme that harm is measured against: `given`, else CAKE, FQ-CoDel or the baseline.
/// `schemes` are pairs of text and name.
#[pyfunction]
fn harm_reference(schemes: Vec<(String, String)>, baseline: &str, given: Option<&str>) -> String {
    let schemes = schemes.iter().map(|(text, name)| (text.as_str(), name.as_str()));
    vetoes::harm_reference(schemes, baseline, given).to_owned()
}

/// Returns the `MouseholeError` for a text that was refused in `field`; if that cannot be made, the
/// exception that kept it from being made.
fn to_error(py: Python<'_>, field: &str, text: &str, refused: Refused) -> PyErr {
    let error = match refused {
        Refused::Unknown { noun, name, known } => {
            Error::unknown(field, noun, &name, known.iter().map(String::as_str))
        }
        Refused::Value { allowed, fault } => {
            let value = Given { text: text.to_owned(), is_text: true };
            Problem::Value { value, fault, allowed, suggestion: None }.for_field(field)
        }
    };
    errors::to_python(py, error)
}

/// One cell of a comparison, with the facts of its runs by scheme and replication. Methods that take a scheme raise
/// `KeyError` for one that the plan does not have.
#[pyclass(module = "mousehole._engine", frozen)]
pub struct ComparedCell(Mutex<Judged>);

#[pymethods]
impl ComparedCell {
    #[new]
    // python: plan: Mapping[str, object], capture: Mapping[str, object] | None
    fn new(
        plan: &Bound<'_, PyAny>,
        capture: &Bound<'_, PyAny>,
        table: Table<'_>,
        runs: Vec<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<ComparedCell> {
        let plan: answer::Plan = pythonize::depythonize(plan)?;
        let capture: Option<answer::Capture> = pythonize::depythonize(capture)?;
        let runs =
            runs.iter().map(|scheme| scheme.iter().map(read_facts).collect()).collect::<PyResult<_>>()?;
        let cell = answer::Cell::new(plan, capture, clone_quantities(&table), runs);
        Ok(ComparedCell(Mutex::new(Judged::new(cell))))
    }

    /// Returns the findings as dictionaries.
    // python: -> list[dict[str, Any]]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = py.detach(|| self.lock().findings().to_vec());
        PyList::new(py, found.iter().map(|one| finding_dict(py, one)).collect::<PyResult<Vec<_>>>()?)
    }

    /// Returns the vetoes as dictionaries: the classes of traffic that pay, or may pay, under a scheme.
    // python: -> list[dict[str, Any]]
    fn vetoes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = py.detach(|| self.lock().vetoes().to_vec());
        PyList::new(py, found.iter().map(|one| veto_dict(py, one)).collect::<PyResult<Vec<_>>>()?)
    }

    /// Returns the rows of a table as dictionaries; raises `KeyError` for a table that does not exist.
    // python: table: TableRows, -> list[dict[str, Any]]
    fn rows<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyList>> {
        table_rows(py, &self.0, table).unwrap_or_else(|| Err(PyKeyError::new_err(table.to_owned())))
    }

    /// Returns how the load of the cell came about, as a dictionary: the traffic's load by itself, copies,
    /// dilation and the load achieved, over the replications of the baseline.
    // python: -> dict[str, Any]
    fn load<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &read_cell(py, &self.0, tables::load_row))
    }

    /// Returns how much of a capture the verdicts rest on, as a dictionary; None for a model.
    // python: -> dict[str, Any] | None
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &read_cell(py, &self.0, tables::evidence_row))
    }

    /// Returns the baseline, and drop-tail, RED and FQ-CoDel if they are compared.
    fn overview_references(&self) -> Vec<String> {
        self.lock().cell.plan.overview_references().into_iter().map(str::to_owned).collect()
    }

    /// Returns the reference of the change by size: FQ-CoDel if it is compared, else the baseline.
    fn size_reference(&self) -> String {
        self.lock().cell.plan.size_reference().to_owned()
    }

    /// Returns the share of the windows that belongs to the transient, 0 if its removal changes little.
    fn transient_share(&self, scheme: &str) -> PyResult<f64> {
        let scheme = self.find_scheme(scheme)?;
        Ok(notes::transient_share(&self.lock().cell, scheme))
    }

    /// Returns the remarks on the cell, one or two sentences each; `around` is the cell's context.
    // python: around: Mapping[str, object]
    fn notes(&self, py: Python<'_>, around: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let setting = self.make_setting(around)?;
        Ok(py.detach(|| notes::list_notes(&self.lock().cell, &setting)))
    }

    /// Returns the entry of the cell in the JSON document; `around` is the cell's context.
    // python: around: Mapping[str, object], -> dict[str, Any]
    fn document<'py>(&self, py: Python<'py>, around: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let setting = self.make_setting(around)?;
        let entry = py.detach(|| document::cell_entry(&self.lock(), &setting));
        to_python(py, &entry)
    }

    /// Returns the entries of the runs in the JSON document, by replication, then by scheme.
    // python: -> list[dict[str, Any]]
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &read_cell(py, &self.0, document::run_entries))
    }

    /// Returns the answer as a dictionary; `around` is the cell's context.
    // python: around: Mapping[str, object]
    fn advise<'py>(&self, py: Python<'py>, around: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let setting = self.make_setting(around)?;
        let found = py.detach(|| advice::advise(&self.lock(), &setting));
        let entry = to_python(py, &found)?.cast_into::<PyDict>()?;
        let vetoes = found.vetoes.iter().map(|one| veto_dict(py, one)).collect::<PyResult<Vec<_>>>()?;
        entry.set_item("vetoes", vetoes)?;
        Ok(entry)
    }

    /// Returns the parts of the cell's report as data; `duration` is the length of a replication as the user gave it.
    // python: -> dict[Literal['overview', 'verdicts', 'applications', 'tables'], list[dict[str, Any]]]
    fn report<'py>(&self, py: Python<'py>, duration: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| report_cell(&self.lock(), duration));
        to_python(py, &found)
    }

    /// Returns the sentence on the fitted model or ready-made traffic that is played instead of a capture; None if neither
    /// is. `label` is the name of the traffic; `instead_of` names the capture that ready-made traffic replaces.
    fn stand_in(&self, label: &str, instead_of: Option<&str>) -> Option<String> {
        advice::stand_in(&self.lock().cell, label, instead_of)
    }

    /// Returns why no scheme could be recommended however long it ran; None if one could.
    fn nothing_compared(&self) -> Option<String> {
        advice::explain_no_candidate(&self.lock().cell)
    }

    /// Returns the names of the classes of traffic that some run has a figure of.
    fn present(&self) -> Vec<String> {
        vetoes::present_classes(&self.lock().cell).into_iter().map(margins::Class::name).collect()
    }

    /// The primary endpoint: the mean of short transfers, or without enough of them the first figure of calls
    /// or of another kind.
    #[getter]
    fn primary(&self) -> Endpoint {
        Endpoint(self.lock().cell.primary().clone())
    }

    /// Returns the design of the primary endpoint's intervals against a reference, which hold for all schemes
    /// together.
    fn primary_design(&self, reference: &str) -> PyResult<Design> {
        let reference = self.find_scheme(reference)?;
        Ok(Design(self.lock().cell.primary_design(reference)))
    }

    /// Returns the design of a single interval in this cell.
    fn design(&self) -> Design {
        Design(self.lock().cell.design())
    }

    /// Returns the design under which the intervals of all columns against the column `reference` hold together. A column
    /// has one value per replication. Raises `KeyError` for a reference beyond the columns.
    fn family_design(&self, columns: Vec<PyReadonlyArray1<'_, f64>>, reference: usize) -> PyResult<Design> {
        let columns: Vec<Vec<f64>> = columns.iter().map(copy_column).collect();
        if reference >= columns.len() {
            return Err(PyKeyError::new_err(reference));
        }
        Ok(Design(self.lock().cell.family_design(&columns, reference)))
    }

    /// Returns one value of a quantity per replication, NaN where it is missing; an empty array for a
    /// percentile of a bucket that some replication lacks.
    fn values<'py>(
        &self,
        py: Python<'py>,
        source: &Source,
        scheme: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let scheme = self.find_scheme(scheme)?;
        Ok(self.lock().cell.values(&source.0, scheme).into_pyarray(py))
    }

    /// The share of the variance between replications that more of them do not reduce.
    #[getter]
    fn capture_share(&self) -> f64 {
        self.lock().cell.capture_share()
    }

    /// Returns whether so many transfers of a class are unfinished that their mean is only a lower bound.
    // python: role: str
    fn is_bound(&self, scheme: &str, role: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (scheme, role) = (self.find_scheme(scheme)?, pythonize::depythonize(role)?);
        Ok(self.lock().cell.is_bound(scheme, role))
    }

    /// Returns the text with the number of distinct transfers of a class in the capture, and the number that a verdict
    /// needs.
    // python: role: str
    fn floor_text(&self, role: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(findings::floor_text(&self.lock().cell, pythonize::depythonize(role)?))
    }

    /// Returns the sentence that says what the intervals cover.
    fn coverage_note(&self) -> &'static str {
        findings::coverage_note(&self.lock().cell)
    }

    /// Returns which endpoint is the primary one, and which intervals hold together.
    fn exploratory_note(&self) -> String {
        let judged = self.lock();
        findings::exploratory_note(&judged.cell.plan, &judged.cell.primary().words)
    }
}

impl ComparedCell {
    /// Locks the cell, also after a panic of another holder. A waiting thread may hold the
    /// interpreter, so a computation that has detached from it must release this lock before it
    /// attaches again.
    fn lock(&self) -> MutexGuard<'_, Judged> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer's setting of the cell, made of its context `around`; raises
    /// `MouseholeError` for a faulty context. Locks the cell meanwhile.
    fn make_setting(&self, around: &Bound<'_, PyAny>) -> PyResult<Setting> {
        let read: Around = convert::from_python("around", around)?;
        let setting = read.make_setting(&self.lock().cell.plan.schemes);
        setting.map_err(|error| errors::to_python(around.py(), error))
    }

    /// Returns the index of a scheme in the plan, by its text; raises `KeyError` for an unknown
    /// one. Locks the cell meanwhile.
    fn find_scheme(&self, scheme: &str) -> PyResult<usize> {
        let found = self.lock().cell.plan.schemes.iter().position(|one| one.text == scheme);
        found.ok_or_else(|| PyKeyError::new_err(scheme.to_owned()))
    }
}

/// Returns a finding as a dictionary, with `Estimate` objects in place of the columns of each estimate.
fn finding_dict<'py>(py: Python<'py>, one: &Finding) -> PyResult<Bound<'py, PyDict>> {
    let entry = to_python(py, one)?.cast_into::<PyDict>()?;
    set_estimate(&entry, ["change", "change_low", "change_high"], one.change)?;
    set_estimate(&entry, ["difference_s", "difference_low_s", "difference_high_s"], one.difference_s)?;
    Ok(entry)
}

/// Returns a veto as a dictionary whose margin and change are Python objects.
fn veto_dict<'py>(py: Python<'py>, one: &Veto) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("scheme", &one.scheme)?;
    entry.set_item("margin", Bound::new(py, Margin(one.margin.clone()))?)?;
    entry.set_item("change", Bound::new(py, Estimate(one.change))?)?;
    entry.set_item("binds", one.binds)?;
    entry.set_item("text", &one.text)?;
    Ok(entry)
}

/// Returns a copy of a numpy column, which need not be contiguous.
fn copy_column(values: &PyReadonlyArray1<'_, f64>) -> Vec<f64> {
    values.as_array().to_vec()
}

/// Reads the facts of a Python `RunFacts`, except the response times of single transfers. Negative
/// counts become 0. Raises the exceptions of Python for an attribute that is missing or of another
/// type; columns of counts must be int64, and those of numbers float64.
fn read_facts(run: &Bound<'_, PyAny>) -> PyResult<Facts> {
    let integers = |name: &str| -> PyResult<Vec<u64>> {
        let given: PyReadonlyArray1<'_, i64> = run.getattr(name)?.extract()?;
        Ok(given.as_array().iter().map(|value| u64::try_from(*value).unwrap_or(0)).collect())
    };
    let numbers = |name: &str| -> PyResult<Vec<f64>> {
        let given: PyReadonlyArray1<'_, f64> = run.getattr(name)?.extract()?;
        Ok(copy_column(&given))
    };
    let statistics: BTreeMap<String, PyReadonlyArray1<'_, f64>> = run.getattr("statistics")?.extract()?;
    let groups: Vec<((String, String), f64)> = run
        .getattr("groups")?
        .call_method0("items")?
        .try_iter()?
        .map(|item| item?.extract())
        .collect::<PyResult<_>>()?;
    let colours = run.getattr("colours")?.cast_into::<PyDict>()?;
    let shares = run.getattr("shares")?.cast_into::<PyDict>()?;
    Ok(Facts {
        count: integers("count")?,
        censored: integers("censored")?,
        statistics: statistics.iter().map(|(name, values)| (name.clone(), copy_column(values))).collect(),
        curve_count: integers("curve_count")?,
        curve_mean_s: numbers("curve_mean_s")?,
        cdf: numbers("cdf")?,
        scheme: run.getattr("scheme")?.extract()?,
        colours: colours.iter().map(|(name, counts)| read_colour(&name, &counts)).collect::<PyResult<_>>()?,
        load: pythonize::depythonize(&run.getattr("load")?)?,
        groups: groups.into_iter().map(|((group, what), value)| (group, what, value)).collect(),
        kinds: pythonize::depythonize(&run.getattr("kinds")?)?,
        simulated_s: run.getattr("simulated_s")?.extract()?,
        window_load: run.getattr("window_load")?.extract()?,
        short_by_time: numbers("short_by_time")?,
        short_times: None,
        shares: shares
            .iter()
            .map(|(reference, shares)| read_shares(&reference, &shares))
            .collect::<PyResult<_>>()?,
    })
}

/// Returns the mean of each figure of a run, given as kind and name, over the applications of the kind that have it;
/// NaN if none has.
#[pyfunction]
// python: run: object, figures: Sequence[tuple[str, str]]
fn average_over_kinds(
    run: &Bound<'_, PyAny>,
    figures: Vec<(Bound<'_, PyAny>, String)>,
) -> PyResult<Vec<f64>> {
    let facts = read_facts(run)?;
    let average = |(kind, name): &(Bound<'_, PyAny>, String)| {
        Ok(facts.average_over_kind(pythonize::depythonize(kind)?, name))
    };
    figures.iter().map(average).collect()
}

/// Reads the packet counters of a colour at the bottleneck; missing ones are 0, and unknown names
/// are reasons of drops, by name. Raises the exceptions of Python for counts that are not whole or
/// are negative.
fn read_colour(name: &Bound<'_, PyAny>, counts: &Bound<'_, PyAny>) -> PyResult<Colour> {
    let mut counts: BTreeMap<String, u64> = counts.extract()?;
    let mut take = |name: &str| counts.remove(name).unwrap_or(0);
    let [arrived, dropped, marked, sent] = ["arrived", "dropped", "marked", "sent"].map(&mut take);
    Ok(Colour { name: name.extract()?, arrived, dropped, marked, sent, drops: counts.into_iter().collect() })
}

/// Reads a reference and the shares of transfers that were slower and faster than under it; raises
/// the exceptions of Python for anything else.
fn read_shares(
    reference: &Bound<'_, PyAny>,
    shares: &Bound<'_, PyAny>,
) -> PyResult<(String, mousehole_answer::reduction::Shares)> {
    let (slower, faster) = (shares.getattr("slower")?.extract()?, shares.getattr("faster")?.extract()?);
    Ok((reference.extract()?, mousehole_answer::reduction::Shares { slower, faster }))
}

/// Returns the change that a log-ratio of two columns stands for: mean, low, high and whether the ends are those of an
/// interval. Without an interval they are the extremes of single replications.
#[pyfunction]
fn make_change(
    ratio: &Estimate,
    own: PyReadonlyArray1<'_, f64>,
    other: PyReadonlyArray1<'_, f64>,
) -> (f64, f64, f64, bool) {
    crate::tables::change_tuple(as_change(ratio.0, &copy_column(&own), &copy_column(&other)))
}

/// Adds the constants, classes and functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("UNLOADED", notes::UNLOADED)?;
    module.add("MARGIN", verdicts::MARGIN)?;
    module.add("NOT_JUDGED", verdicts::NOT_JUDGED)?;
    module.add("LEAST_TRANSFERS", answer::LEAST_TRANSFERS)?;
    module.add("LEAST_FITTED", answer::LEAST_FITTED)?;
    module.add("NO_VETO", margins::NONE)?;
    module.add("MOST_LINES", advice::MOST_LINES)?;
    module.add("TO_CLIENTS", installation::TO_CLIENTS)?;
    module.add("TO_PROVIDER", installation::TO_PROVIDER)?;
    module.add("AT_THE_LINE", installation::AT_THE_LINE)?;
    module.add("DEFAULT_VETOES", margins::DEFAULTS.to_vec())?;
    module.add("KIND_TEXTS", Kind::ALL.map(Kind::text).to_vec())?;
    module.add("TRAFFIC_CLASSES", margins::Class::all().map(margins::Class::name).collect::<Vec<_>>())?;
    module.add_class::<Source>()?;
    module.add_class::<Endpoint>()?;
    module.add_class::<Verdict>()?;
    module.add_class::<Margin>()?;
    module.add_class::<ComparedCell>()?;
    for function in [
        wrap_pyfunction!(judge, module)?,
        wrap_pyfunction!(average_over_kinds, module)?,
        wrap_pyfunction!(make_change, module)?,
        wrap_pyfunction!(describe, module)?,
        wrap_pyfunction!(endpoints, module)?,
        wrap_pyfunction!(harm_margins, module)?,
        wrap_pyfunction!(harm_reference, module)?,
        wrap_pyfunction!(read_margin, module)?,
        wrap_pyfunction!(find_figure, module)?,
        wrap_pyfunction!(find_class, module)?,
        wrap_pyfunction!(read_change, module)?,
        wrap_pyfunction!(in_own_unit, module)?,
        wrap_pyfunction!(difference_scale, module)?,
        wrap_pyfunction!(is_felt_first, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
