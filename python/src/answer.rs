//! What a comparison says, by `mousehole-answer`: a cell with its runs, and what follows from them.

use crate::convert::{self, to_python};
use crate::errors;
use crate::quantities::Quantity;
use crate::statistics::{Design, Estimate, design_or_default};
use crate::tables::set_estimate;
use mousehole_answer::advice;
use mousehole_answer::comparison::{self as answer, Whose};
use mousehole_answer::document;
use mousehole_answer::findings::{self, Finding};
use mousehole_answer::installation;
use mousehole_answer::judged::Judged;
use mousehole_answer::margins::{self, Refused};
use mousehole_answer::notes;
use mousehole_answer::overview::as_change;
use mousehole_answer::quantities::Subject;
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

type Table<'py> = Vec<PyRef<'py, Quantity>>;

fn owned(table: &Table<'_>) -> Vec<mousehole_answer::quantities::Quantity> {
    table.iter().map(|one| one.0.clone()).collect()
}

/// A quantity and whose it is: that of a class of transfers, a scheme, a group of an application or a kind of them.
#[pyclass(module = "mousehole._engine", frozen, eq, skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub struct Source(answer::Source);

#[pymethods]
impl Source {
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

    /// The class of the transfers that it is about.
    #[getter]
    // python: -> Literal['short', 'long', 'all']
    fn role(&self) -> &'static str {
        self.0.role().name()
    }

    /// The kind of applications, if it is of one.
    #[getter]
    // python: -> Literal['calls', 'games', 'video_calls', 'streams', 'logins'] | None
    fn kind(&self) -> Option<&'static str> {
        match self.0.whose {
            Whose::Kind(kind) => Some(kind.name()),
            _ => None,
        }
    }

    /// The application's group, if it is of one.
    #[getter]
    fn group(&self) -> Option<&str> {
        match &self.0.whose {
            Whose::Group(group) => Some(group),
            _ => None,
        }
    }

    /// Whether it is about transfers; pages and kinds of applications are none.
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
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// What is compared, in words.
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

    #[getter]
    fn outcome(&self) -> &'static str {
        self.0.outcome.text()
    }

    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// About how many replications would decide an undecided comparison.
    #[getter]
    fn seeds_needed(&self) -> Option<u32> {
        self.0.seeds_needed
    }

    /// Withdraws the verdict for the reason `why` if a mean that it relies on is only a lower bound.
    ///
    /// Where the truth can only be further from no change, the verdict stands, with `at least`.
    fn with_bounds(&self, scheme_bound: bool, reference_bound: bool, why: &str) -> Verdict {
        Verdict(self.0.clone().with_bounds(scheme_bound, reference_bound, why))
    }

    fn __repr__(&self) -> String {
        format!("Verdict({}: {})", self.0.outcome.text(), self.0.text)
    }
}

/// Judges the primary endpoint by the interval of its log-ratio to the reference; smaller is better.
///
/// `design` is that of the interval, which is over `unit`; `faster` says in how many of how many of them the
/// scheme was.
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
    Ok(Verdict(verdicts::judge(&ratio.0, &design_or_default(design), unit, faster)))
}

/// Describes how an exploratory endpoint changed.
#[pyfunction]
// python: unit: str
fn describe(ratio: &Estimate, quantity: &Quantity, unit: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    let unit: Unit = pythonize::depythonize(unit)?;
    Ok(Verdict(verdicts::describe_change(&ratio.0, &quantity.0, unit)))
}

/// Returns the endpoints of transfers and pages.
#[pyfunction]
fn endpoints(table: Table<'_>, short_bytes: u64, long_bytes: u64, has_pages: bool) -> Vec<Endpoint> {
    let found = answer::list_endpoints(&owned(&table), short_bytes, long_bytes, has_pages);
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

/// Returns the margins that hold; those given are about `--veto`.
#[pyfunction]
fn harm_margins(py: Python<'_>, table: Table<'_>, given: Vec<String>) -> PyResult<Vec<Margin>> {
    let found = margins::read_margins(&owned(&table), &given);
    let found = found.map_err(|(text, refused)| to_error(py, "veto", &text, refused))?;
    Ok(found.into_iter().map(Margin).collect())
}

/// Reads one margin.
#[pyfunction]
fn read_margin(py: Python<'_>, table: Table<'_>, text: &str) -> PyResult<Margin> {
    let found = margins::read_margin(&owned(&table), text);
    found.map(Margin).map_err(|refused| to_error(py, "veto", text, refused))
}

/// Returns class and name of the figure of a text, about `field`.
#[pyfunction]
fn find_figure(py: Python<'_>, table: Table<'_>, field: &str, text: &str) -> PyResult<(String, String)> {
    let found = margins::find_figure(&owned(&table), text);
    let figure = found.map_err(|refused| to_error(py, field, text, refused))?;
    Ok((figure.class.name(), figure.name))
}

/// Returns the class with whose name a text begins.
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

/// Returns a number as a share of a quantity that users call `name`, or in its own unit; and whether it is the former.
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

/// Returns how differences of a unit are written: the factor, and the unit's name.
#[pyfunction]
// python: unit: str
fn difference_scale(unit: &Bound<'_, PyAny>) -> PyResult<(f64, &'static str)> {
    Ok(margins::difference_scale(pythonize::depythonize(unit)?))
}

/// Returns the scheme that harm is measured against, of schemes given by text and name.
#[pyfunction]
fn harm_reference(schemes: Vec<(String, String)>, baseline: &str, given: Option<&str>) -> String {
    let schemes = schemes.iter().map(|(text, name)| (text.as_str(), name.as_str()));
    vetoes::harm_reference(schemes, baseline, given).to_owned()
}

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

/// One cell of a comparison, with the facts of its runs by scheme and replication.
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
        let runs = runs.iter().map(|own| own.iter().map(facts).collect()).collect::<PyResult<_>>()?;
        let cell = answer::Cell::new(plan, capture, owned(&table), runs);
        Ok(ComparedCell(Mutex::new(Judged::new(cell))))
    }

    /// Returns the findings as dictionaries.
    // python: -> list[dict[str, Any]]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = py.detach(|| self.judged().findings().to_vec());
        PyList::new(py, found.iter().map(|one| finding(py, one)).collect::<PyResult<Vec<_>>>()?)
    }

    /// Returns who pays, or may, as dictionaries.
    // python: -> list[dict[str, Any]]
    fn vetoes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = py.detach(|| self.judged().vetoes().to_vec());
        PyList::new(py, found.iter().map(|one| veto(py, one)).collect::<PyResult<Vec<_>>>()?)
    }

    /// Returns the rows of a table as dictionaries.
    // python: table: TableRows, -> list[dict[str, Any]]
    fn rows<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyList>> {
        crate::tables::rows(py, &self.judged().cell, table)
            .unwrap_or_else(|| Err(PyKeyError::new_err(table.to_owned())))
    }

    /// Returns how the load came about, as a dictionary.
    // python: -> dict[str, Any]
    fn load<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &tables::load_row(&self.judged().cell))
    }

    /// Returns what of a capture stands behind the verdicts, as a dictionary; None for a model.
    // python: -> dict[str, Any] | None
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &tables::evidence_row(&self.judged().cell))
    }

    /// Returns the baseline, and drop-tail, RED and FQ-CoDel if they are compared.
    fn overview_references(&self) -> Vec<String> {
        self.judged().cell.plan.overview_references().into_iter().map(str::to_owned).collect()
    }

    /// Returns the reference of the change by size: FQ-CoDel if it is compared, else the baseline.
    fn size_reference(&self) -> String {
        self.judged().cell.plan.size_reference().to_owned()
    }

    /// Returns the share of the windows that belongs to the transient, 0 if its removal changes little.
    fn transient_share(&self, scheme: &str) -> PyResult<f64> {
        let place = self.place(scheme)?;
        Ok(notes::transient_share(&self.judged().cell, place))
    }

    /// Returns the remarks on the cell.
    // python: around: Mapping[str, object]
    fn notes(&self, py: Python<'_>, around: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let setting = self.make_setting(around)?;
        Ok(py.detach(|| notes::list_notes(&self.judged().cell, &setting)))
    }

    /// Returns the cell as the JSON document has it.
    // python: around: Mapping[str, object], -> dict[str, Any]
    fn document<'py>(&self, py: Python<'py>, around: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let setting = self.make_setting(around)?;
        let entry = py.detach(|| document::cell_entry(&self.judged(), &setting));
        to_python(py, &entry)
    }

    /// Returns the runs of the cell as the JSON document has them.
    // python: -> list[dict[str, Any]]
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &document::run_entries(&self.judged().cell))
    }

    /// Returns the answer as a dictionary; `around` is what stands around the cell.
    // python: around: Mapping[str, object]
    fn advise<'py>(&self, py: Python<'py>, around: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let setting = self.make_setting(around)?;
        let found = py.detach(|| advice::advise(&self.judged(), &setting));
        let entry = to_python(py, &found)?.cast_into::<PyDict>()?;
        let vetoes = found.vetoes.iter().map(|one| veto(py, one)).collect::<PyResult<Vec<_>>>()?;
        entry.set_item("vetoes", vetoes)?;
        Ok(entry)
    }

    /// Returns the parts of the cell's report as data; `duration` is the length of a replication, as it was given.
    // python: -> dict[Literal['overview', 'verdicts', 'applications', 'tables'], list[dict[str, Any]]]
    fn report<'py>(&self, py: Python<'py>, duration: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| report_cell(&self.judged(), duration));
        to_python(py, &found)
    }

    /// Says what is played in the place of a capture that is too small to be played as it is.
    fn stand_in(&self, label: &str, instead_of: Option<&str>) -> Option<String> {
        advice::stand_in(&self.judged().cell, label, instead_of)
    }

    /// Returns why no scheme could be recommended however long it ran; None if one could.
    fn nothing_compared(&self) -> Option<String> {
        advice::explain_no_candidate(&self.judged().cell)
    }

    /// Returns the names of the classes of traffic of which some run has a figure.
    fn present(&self) -> Vec<String> {
        vetoes::present_classes(&self.judged().cell).into_iter().map(margins::Class::name).collect()
    }

    #[getter]
    fn primary(&self) -> Endpoint {
        Endpoint(self.judged().cell.primary().clone())
    }

    /// Returns whose primary endpoint it is: `transfers ≤ 15 kB`, or `calls (one-way delay, p95)`.
    fn describe_primary(&self) -> String {
        self.judged().cell.describe_primary()
    }

    fn primary_design(&self, reference: &str) -> PyResult<Design> {
        let place = self.place(reference)?;
        Ok(Design(self.judged().cell.primary_design(place)))
    }

    fn design(&self) -> Design {
        Design(self.judged().cell.design())
    }

    /// Returns the design of intervals that hold together, of columns against one of them.
    fn family_design(&self, columns: Vec<PyReadonlyArray1<'_, f64>>, reference: usize) -> PyResult<Design> {
        let columns: Vec<Vec<f64>> = columns.iter().map(column).collect();
        if reference >= columns.len() {
            return Err(PyKeyError::new_err(reference));
        }
        Ok(Design(self.judged().cell.family_design(&columns, reference)))
    }

    fn values<'py>(
        &self,
        py: Python<'py>,
        source: &Source,
        scheme: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let place = self.place(scheme)?;
        Ok(self.judged().cell.values(&source.0, place).into_pyarray(py))
    }

    #[getter]
    fn capture_share(&self) -> f64 {
        self.judged().cell.capture_share()
    }

    /// Returns whether so many transfers of a class are unfinished that means are lower bounds.
    // python: role: str
    fn is_bound(&self, scheme: &str, role: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (place, role) = (self.place(scheme)?, pythonize::depythonize(role)?);
        Ok(self.judged().cell.is_bound(place, role))
    }

    /// Returns how many distinct transfers of a size the capture has, and how many a verdict needs.
    // python: role: str
    fn floor_text(&self, role: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(findings::floor_text(&self.judged().cell, pythonize::depythonize(role)?))
    }

    /// Returns why there is no interval: too few replications, each of `length` if it is given.
    fn few_replications_text(&self, length: &str) -> String {
        findings::few_replications_text(&self.judged().cell.plan, length)
    }

    /// Returns the sentence that says what the intervals cover.
    fn coverage_note(&self) -> &'static str {
        findings::coverage_note(&self.judged().cell)
    }

    /// Returns which endpoint is the primary one, and which intervals hold together.
    fn exploratory_note(&self) -> String {
        let judged = self.judged();
        findings::exploratory_note(&judged.cell.plan, &judged.cell.primary().words)
    }
}

impl ComparedCell {
    // Whoever waits here holds the interpreter; whoever computes needs it no more until the lock is free.
    fn judged(&self) -> MutexGuard<'_, Judged> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_setting(&self, around: &Bound<'_, PyAny>) -> PyResult<Setting> {
        let read: Around = convert::from_python("around", around)?;
        let setting = read.make_setting(&self.judged().cell.plan.schemes);
        setting.map_err(|error| errors::to_python(around.py(), error))
    }

    fn place(&self, scheme: &str) -> PyResult<usize> {
        let found = self.judged().cell.plan.schemes.iter().position(|one| one.text == scheme);
        found.ok_or_else(|| PyKeyError::new_err(scheme.to_owned()))
    }
}

fn finding<'py>(py: Python<'py>, one: &Finding) -> PyResult<Bound<'py, PyDict>> {
    let entry = to_python(py, one)?.cast_into::<PyDict>()?;
    set_estimate(&entry, ["change", "change_low", "change_high"], one.change)?;
    set_estimate(&entry, ["difference_s", "difference_low_s", "difference_high_s"], one.difference_s)?;
    Ok(entry)
}

fn veto<'py>(py: Python<'py>, one: &Veto) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("scheme", &one.scheme)?;
    entry.set_item("margin", Bound::new(py, Margin(one.margin.clone()))?)?;
    entry.set_item("change", Bound::new(py, Estimate(one.change))?)?;
    entry.set_item("binds", one.binds)?;
    entry.set_item("text", &one.text)?;
    Ok(entry)
}

fn column(values: &PyReadonlyArray1<'_, f64>) -> Vec<f64> {
    values.as_array().to_vec()
}

/// Returns the facts of a `RunFacts`, without those of single transfers.
fn facts(run: &Bound<'_, PyAny>) -> PyResult<Facts> {
    let whole = |name: &str| -> PyResult<Vec<u64>> {
        let given: PyReadonlyArray1<'_, i64> = run.getattr(name)?.extract()?;
        Ok(given.as_array().iter().map(|value| u64::try_from(*value).unwrap_or(0)).collect())
    };
    let numbers = |name: &str| -> PyResult<Vec<f64>> {
        let given: PyReadonlyArray1<'_, f64> = run.getattr(name)?.extract()?;
        Ok(column(&given))
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
        count: whole("count")?,
        censored: whole("censored")?,
        statistics: statistics.iter().map(|(name, values)| (name.clone(), column(values))).collect(),
        curve_count: whole("curve_count")?,
        curve_mean_s: numbers("curve_mean_s")?,
        cdf: numbers("cdf")?,
        scheme: run.getattr("scheme")?.extract()?,
        colours: colours.iter().map(|(name, counts)| colour(&name, &counts)).collect::<PyResult<_>>()?,
        load: pythonize::depythonize(&run.getattr("load")?)?,
        groups: groups.into_iter().map(|((group, what), value)| (group, what, value)).collect(),
        kinds: pythonize::depythonize(&run.getattr("kinds")?)?,
        simulated_s: run.getattr("simulated_s")?.extract()?,
        window_load: run.getattr("window_load")?.extract()?,
        short_by_time: numbers("short_by_time")?,
        short_times: None,
        shares: shares
            .iter()
            .map(|(reference, own)| read_shares(&reference, &own))
            .collect::<PyResult<_>>()?,
    })
}

/// Returns the means of figures of a run: of each, over the applications of a kind that have it; NaN without any.
#[pyfunction]
// python: run: object, figures: Sequence[tuple[str, str]]
fn average_over_kinds(
    run: &Bound<'_, PyAny>,
    figures: Vec<(Bound<'_, PyAny>, String)>,
) -> PyResult<Vec<f64>> {
    let facts = facts(run)?;
    let average = |(kind, name): &(Bound<'_, PyAny>, String)| {
        Ok(facts.average_over_kind(pythonize::depythonize(kind)?, name))
    };
    figures.iter().map(average).collect()
}

fn colour(name: &Bound<'_, PyAny>, counts: &Bound<'_, PyAny>) -> PyResult<Colour> {
    let mut counts: BTreeMap<String, u64> = counts.extract()?;
    let mut take = |name: &str| counts.remove(name).unwrap_or(0);
    let [arrived, dropped, marked, sent] = ["arrived", "dropped", "marked", "sent"].map(&mut take);
    Ok(Colour { name: name.extract()?, arrived, dropped, marked, sent, drops: counts.into_iter().collect() })
}

fn read_shares(
    reference: &Bound<'_, PyAny>,
    own: &Bound<'_, PyAny>,
) -> PyResult<(String, mousehole_answer::reduction::Shares)> {
    let (slower, faster) = (own.getattr("slower")?.extract()?, own.getattr("faster")?.extract()?);
    Ok((reference.extract()?, mousehole_answer::reduction::Shares { slower, faster }))
}

/// Returns the change of a log-ratio of two columns; without an interval its ends are those of single replications.
#[pyfunction]
fn make_change(
    ratio: &Estimate,
    own: PyReadonlyArray1<'_, f64>,
    other: PyReadonlyArray1<'_, f64>,
) -> (f64, f64, f64, bool) {
    crate::tables::change(as_change(ratio.0, &column(&own), &column(&other)))
}

/// Registers the classes and functions.
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
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
