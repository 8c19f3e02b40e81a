//! One cell of a comparison as data: what was compared, and the numbers of its runs by scheme and replication.
//!
//! Findings, vetoes and all other results follow from it. Expensive results are cached.

use crate::quantities::{self, Better, Kind, Link, Quantity, Subject};
use crate::reduction::Facts;
use crate::sizes::{self, Bucket, Role, size_text};
use crate::statistics::capture::capture_share;
use crate::statistics::intervals::paired_log_ratios;
use crate::statistics::simultaneous::effective_comparisons;
use crate::statistics::sums::mean;
use crate::statistics::{Design, Estimate};
use crate::verdicts::Unit;
use mousehole_scheme::SCHEMES;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

/// Above this share of unfinished transfers, a mean is only a lower bound.
pub const CENSORED_SHARE: f64 = 0.01;

/// Numbers of measured transfers.
#[derive(Debug, Clone, Copy)]
pub struct Transfers {
    /// All of them.
    pub count: u64,
    /// Those that were unfinished at the end.
    pub censored: u64,
}

impl Transfers {
    /// Returns the share that was unfinished; 0 without transfers.
    pub fn censored_share(self) -> f64 {
        if self.count == 0 { 0.0 } else { self.censored as f64 / self.count as f64 }
    }

    /// Returns whether so many were unfinished that their mean is only a lower bound.
    pub fn is_bound(self) -> bool {
        self.censored_share() > CENSORED_SHARE
    }
}
/// With fewer distinct transfers of a class in the capture, there is no verdict on this class.
pub const LEAST_TRANSFERS: u64 = 100;
/// The same where a model fitted to the capture is played; with fewer short transfers, none is fitted.
pub const LEAST_FITTED: u64 = 20;
/// A smaller share counts as this one where shares are divided, so that none at all can be compared: a choice, a fifth of
/// the margin of harm to shares.
pub const LEAST_SHARE: f64 = 0.001;
/// The figure of applications that is an endpoint: the mean time of a page.
pub const PAGES: (&str, &str) = ("pages", "page_mean_s");

/// A scheme as it was compared; data have its text alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Scheme {
    /// As it was given, such as `sfd(th=15kB)`.
    pub text: String,
    /// Its name without parameters and rate.
    pub name: String,
    /// Whether nobody can deploy it.
    pub is_ideal: bool,
    /// What the catalogue has of it; None of one that it does not have, such as an own policy that is not loaded.
    pub parsed: Option<mousehole_scheme::Scheme>,
}

impl From<String> for Scheme {
    fn from(text: String) -> Scheme {
        let bare = text.split_once('@').map_or(text.as_str(), |(bare, _)| bare);
        let name = bare.split_once('(').map_or(bare, |(name, _)| name).trim().to_owned();
        let is_ideal = SCHEMES.iter().any(|one| one.name == name && one.summary.starts_with("ideal"));
        let parsed = mousehole_scheme::Scheme::parse(&text).ok();
        Scheme { text, name, is_ideal, parsed }
    }
}

impl From<Scheme> for String {
    fn from(scheme: Scheme) -> String {
        scheme.text
    }
}

impl Scheme {
    /// Returns its parameters with their values as text, those with defaults included; none of a
    /// scheme that the catalogue lacks.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let all = self.parsed.iter().flat_map(mousehole_scheme::Scheme::parameters);
        all.map(|(name, _, value)| (name, value)).collect()
    }
}

/// What was compared in a cell.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// Buffer as it was given.
    pub buffer: String,
    /// Load; None is that which the traffic has by itself.
    pub load: Option<f64>,
    /// Schemes, in the order of tables.
    pub schemes: Vec<Scheme>,
    /// The scheme that the others are compared with.
    pub baseline: String,
    /// The schemes that verdicts are against, the baseline first.
    pub references: Vec<String>,
    /// Runs of each scheme.
    pub replications: u32,
    /// Transfers up to this size are short.
    pub short_bytes: u64,
    /// Transfers above this size are long.
    pub long_bytes: u64,
    /// Whether replications are rounds of real programs.
    pub in_rounds: bool,
    /// Whether the user may look, double the replications and look again.
    pub is_sequential: bool,
    /// Length of the measured window.
    pub window_s: f64,
    /// Whether files are overlaid to meet a load, so that replications resample them.
    pub is_overlaid: bool,
    /// Margins of harm, as the user wrote them.
    pub vetoes: Vec<String>,
    /// The scheme that harm is measured against; None is what people would have anyway.
    pub reference: Option<String>,
}

impl Plan {
    /// Returns the size buckets of the tables.
    pub fn buckets(&self) -> Vec<Bucket> {
        sizes::buckets(self.short_bytes, self.long_bytes)
    }

    /// Returns the unit over which intervals are: rounds of real programs, else replications.
    pub fn unit(&self) -> Unit {
        if self.in_rounds { Unit::Round } else { Unit::Replication }
    }

    /// Returns short or long transfers by their sizes, such as `transfers ≤ 15 kB`.
    pub fn transfers(&self, role: Role) -> String {
        format!("transfers{}", self.sizes(role))
    }

    /// Returns the sizes of a class of transfers, such as ` ≤ 15 kB`; empty for all.
    pub fn sizes(&self, role: Role) -> String {
        match role {
            Role::Short => format!(" ≤ {}", size_text(self.short_bytes as f64)),
            Role::Long => format!(" > {}", size_text(self.long_bytes as f64)),
            Role::All | Role::Size => String::new(),
        }
    }
}

/// The distinct transfers of one class in a capture, and the clients that they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Distinct transfers.
    pub transfers: u64,
    /// Their clients.
    pub clients: u64,
}

/// A capture that is replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// Length of the capture, after which it repeats.
    pub period_s: f64,
    /// Its short transfers.
    pub short: Counted,
    /// Its long transfers.
    pub long: Counted,
    /// All its transfers.
    pub all: Counted,
    /// Degrees of freedom for the variance between captures.
    pub freedom: f64,
    /// Connections with more bytes than the bandwidth-delay product.
    #[serde(default)]
    pub large: u64,
    /// The bandwidth-delay product, 0 if the bottleneck has no rate of its own.
    #[serde(default)]
    pub pipe_bytes: f64,
    /// Whether a model fitted to the capture is played in its place.
    pub is_fitted: bool,
}

impl Capture {
    /// Returns how many distinct transfers of a class the capture has, and how many clients they belong to.
    pub fn class_counts(&self, role: Role) -> Counted {
        match role {
            Role::Short => self.short,
            Role::Long => self.long,
            Role::All | Role::Size => self.all,
        }
    }

    /// Returns how many distinct transfers of a class a verdict on it needs.
    pub fn least(&self) -> u64 {
        if self.is_fitted { LEAST_FITTED } else { LEAST_TRANSFERS }
    }

    /// Returns whether there are transfers enough for a verdict on a class.
    pub fn is_enough(&self, role: Role) -> bool {
        self.class_counts(role).transfers >= self.least()
    }
}

/// What a quantity describes, and so where its values come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// Of the transfers of a summary bucket.
    Bucket(Role),
    /// Of the whole scheme; the role is the class of transfers that it is about.
    Scheme(Role),
    /// Of an application, by the name of its group.
    Group(String),
    /// Of all applications of a kind.
    Kind(Kind),
}

/// A quantity and what it describes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// What it describes.
    pub whose: Whose,
    /// What is measured.
    pub quantity: Quantity,
}

impl Source {
    /// Returns the class of the transfers that it is about.
    pub fn role(&self) -> Role {
        match self.whose {
            Whose::Bucket(role) | Whose::Scheme(role) => role,
            Whose::Group(_) | Whose::Kind(_) => Role::All,
        }
    }

    /// Returns whether it describes transfers, and not pages or a kind of application.
    pub fn is_of_transfers(&self) -> bool {
        matches!(self.whose, Whose::Bucket(_) | Whose::Scheme(_))
    }
}

/// A quantity in which schemes are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Its name in tables and documents.
    pub name: String,
    /// What is compared, in words.
    pub words: String,
    /// Where its values come from.
    pub source: Source,
    /// False for the one primary endpoint.
    pub exploratory: bool,
}

/// Results that a cell computes once.
#[derive(Debug, Default)]
struct Cache {
    primary: OnceCell<Endpoint>,
    designs: Vec<OnceCell<Design>>,
}

/// One cell of a comparison.
#[derive(Debug)]
pub struct Cell {
    /// What was compared.
    pub plan: Plan,
    /// The capture that is replayed; None if a model draws traffic afresh in each replication.
    pub capture: Option<Capture>,
    /// The table of quantities.
    pub table: Vec<Quantity>,
    /// The numbers of the runs, by scheme and replication.
    pub runs: Vec<Vec<Facts>>,
    cache: Cache,
}

impl Cell {
    /// Returns the cell of a plan; `runs` are by scheme, in the plan's order, and by replication.
    ///
    /// # Panics
    /// If schemes and runs differ in number, or if the baseline or a reference is not among the schemes.
    pub fn new(plan: Plan, capture: Option<Capture>, table: Vec<Quantity>, runs: Vec<Vec<Facts>>) -> Cell {
        assert_eq!(plan.schemes.len(), runs.len(), "every scheme has its runs");
        let designs = (0..runs.len()).map(|_| OnceCell::new()).collect();
        let cell = Cell { plan, capture, table, runs, cache: Cache { designs, ..Cache::default() } };
        cell.plan.references.iter().chain([&cell.plan.baseline]).for_each(|name| {
            cell.scheme_index(name);
        });
        cell
    }

    /// Returns the index of a scheme in the plan.
    ///
    /// # Panics
    /// If it is not compared.
    pub fn scheme_index(&self, scheme: &str) -> usize {
        let found = self.plan.schemes.iter().position(|one| one.text == scheme);
        found.unwrap_or_else(|| panic!("{scheme} is not compared"))
    }

    /// Returns the index of the baseline.
    pub fn baseline(&self) -> usize {
        self.scheme_index(&self.plan.baseline)
    }

    /// Returns the indices of the schemes.
    pub fn schemes(&self) -> std::ops::Range<usize> {
        0..self.runs.len()
    }

    /// Returns the text of the scheme with this index, as it was given.
    pub fn name(&self, scheme: usize) -> &str {
        &self.plan.schemes[scheme].text
    }

    /// Returns the quantity of the table with this subject and this name, which has its unit's
    /// suffix.
    ///
    /// # Panics
    /// If there is none.
    pub fn quantity(&self, subject: Subject, name: &str) -> Quantity {
        let found = self.table.iter().find(|one| one.subject == subject && one.name() == name);
        found.unwrap_or_else(|| panic!("no quantity of a {subject:?} is called {name}")).clone()
    }

    /// Returns the source of a statistic of a summary bucket, such as `response_mean_s`.
    ///
    /// # Panics
    /// As [`Cell::quantity`].
    pub fn find_bucket_source(&self, role: Role, name: &str) -> Source {
        Source { whose: Whose::Bucket(role), quantity: self.quantity(Subject::Bucket, name) }
    }

    /// Returns one value of a quantity per replication, NaN where it is missing. A percentile of a
    /// bucket is empty unless all replications have it.
    pub fn values(&self, source: &Source, scheme: usize) -> Vec<f64> {
        let values = self.all_values(source, scheme);
        let is_bucket = matches!(source.whose, Whose::Bucket(_));
        let is_complete = values.iter().all(|value| value.is_finite());
        if is_bucket && source.quantity.is_percentile() && !is_complete { Vec::new() } else { values }
    }

    /// Returns one value of a quantity per replication, NaN where it is missing.
    pub fn all_values(&self, source: &Source, scheme: usize) -> Vec<f64> {
        let name = source.quantity.name();
        let runs = self.runs[scheme].iter();
        match &source.whose {
            Whose::Bucket(role) => self.bucket_values(scheme, self.bucket_index(*role), &name),
            Whose::Scheme(_) => self.read_scheme_values(scheme, &name),
            Whose::Group(group) => runs.map(|run| find_group_figure(run, group, &name)).collect(),
            Whose::Kind(kind) => runs.map(|run| run.average_over_kind(*kind, &name)).collect(),
        }
    }

    /// Returns the quantity `name` of the bucket with this index, one value per replication; NaN
    /// where it is missing.
    ///
    /// # Panics
    /// For an index beyond the buckets.
    pub fn bucket_values(&self, scheme: usize, index: usize, name: &str) -> Vec<f64> {
        let value = |run: &Facts| run.statistics.get(name).map_or(f64::NAN, |values| values[index]);
        self.runs[scheme].iter().map(value).collect()
    }

    /// Returns the quantity `name` of a scheme, one value per replication; NaN where it is missing.
    pub fn read_scheme_values(&self, scheme: usize, name: &str) -> Vec<f64> {
        self.runs[scheme].iter().map(|run| run.scheme.get(name).copied().unwrap_or(f64::NAN)).collect()
    }

    /// Returns the quantities of a subject, in order.
    pub fn quantities_about(&self, subject: Subject) -> impl Iterator<Item = &Quantity> {
        self.table.iter().filter(move |one| one.subject == subject)
    }

    /// Returns the highest utilisation of the bottleneck, and of the way back, of any run under the
    /// baseline. It is NaN where no run has one.
    pub fn peak_utilisations(&self) -> [f64; 2] {
        ["utilisation", "uplink_utilisation"]
            .map(|name| self.read_scheme_values(self.baseline(), name).into_iter().fold(f64::NAN, f64::max))
    }

    /// Returns the way back if its peak utilisation under the baseline is above that of the
    /// bottleneck; else, also if either is unknown, the bottleneck.
    pub fn busier_link(&self) -> Link {
        let [data, back] = self.peak_utilisations();
        if back > data { Link::WayBack } else { Link::Bottleneck }
    }

    /// Returns whether some run of some scheme has the quantity.
    pub fn has_values(&self, source: &Source) -> bool {
        self.schemes().any(|scheme| self.values(source, scheme).iter().any(|value| value.is_finite()))
    }

    /// Returns the primary endpoint: the mean of short transfers, or without any what calls feel
    /// first. It is computed once.
    ///
    /// So it is, too, for a capture with too few short transfers for a verdict. Without calls it is
    /// that of games, and so on in the order of kinds. If no run has any of these, it is that of
    /// short transfers.
    pub fn primary(&self) -> &Endpoint {
        self.cache.primary.get_or_init(|| {
            let short = self.find_bucket_source(Role::Short, "response_mean_s");
            let words = short.quantity.describe("short transfers");
            let name = "short_response_mean_s".to_owned();
            let short = Endpoint { name, words, source: short, exploratory: false };
            let firsts = Kind::ALL.into_iter().filter_map(|kind| self.find_kind_endpoint(kind));
            let all: Vec<Endpoint> = [short].into_iter().chain(firsts).collect();
            let known: Vec<&Endpoint> = all.iter().filter(|one| self.has_values(&one.source)).collect();
            // Of too few short transfers nothing is said; of what else is there, something may be.
            let is_few = self.capture.as_ref().is_some_and(|capture| !capture.is_enough(Role::Short));
            let judged = known.iter().find(|one| !is_few || !one.source.is_of_transfers());
            (*judged.or(known.first()).unwrap_or(&&all[0])).clone()
        })
    }

    /// Returns the endpoint that users of a kind of application feel first, of those that some run has; None if none has
    /// any. It is marked as primary.
    fn find_kind_endpoint(&self, kind: Kind) -> Option<Endpoint> {
        let source = self.find_first_felt(kind)?;
        Some(Endpoint {
            name: format!("{}_{}", kind.name(), source.quantity.name()),
            words: format!("{}, {}", source.quantity.words.long, kind.text()),
            source,
            exploratory: false,
        })
    }

    /// Returns what users of a kind of application feel first, of the quantities that some run has; None if no run has
    /// any of them.
    pub fn find_first_felt(&self, kind: Kind) -> Option<Source> {
        let source_of = |quantity: &Quantity| Source { whose: Whose::Kind(kind), quantity: quantity.clone() };
        let is_known = |quantity: &Quantity| self.has_values(&source_of(quantity));
        quantities::find_first_felt(&self.table, kind, is_known).map(source_of)
    }

    /// Returns whether the primary endpoint is that of short transfers.
    pub fn is_about_short(&self) -> bool {
        self.primary().source.is_of_transfers()
    }

    /// Returns the primary endpoint of a scheme as a cost, one value per replication: less is better, and ratios are
    /// defined.
    ///
    /// A share below [`LEAST_SHARE`] counts as that. Of a quantity of which more is better it is the inverse.
    pub fn primary_values(&self, scheme: usize) -> Vec<f64> {
        let source = &self.primary().source;
        let values = self.values(source, scheme).into_iter();
        let floor =
            if source.quantity.unit == quantities::Unit::Share { LEAST_SHARE } else { f64::NEG_INFINITY };
        let is_inverse = source.quantity.better == Better::More;
        // `f64::max` would take the floor for a missing value.
        let above = values.map(|value| if value < floor { floor } else { value });
        above.map(|value| if is_inverse { 1.0 / value } else { value }).collect()
    }

    /// Returns whose primary endpoint it is: `transfers ≤ 15 kB`, or `calls (one-way delay, p95)`.
    pub fn describe_primary(&self) -> String {
        let (whose, axis) = (self.name_primary(), &self.primary().source.quantity.words.axis);
        if self.is_about_short() { whose } else { format!("{whose} ({axis})") }
    }

    /// Returns whose primary endpoint it is, without its quantity: `transfers ≤ 15 kB`, or `calls`.
    pub fn name_primary(&self) -> String {
        match self.primary().source.whose {
            Whose::Kind(kind) => kind.text(),
            _ => self.plan.transfers(Role::Short),
        }
    }

    /// Returns the endpoints: the primary one, then those that say what other transfers gain or pay.
    pub fn list_endpoints(&self) -> Vec<Endpoint> {
        let is_page = |run: &Facts| run.groups.iter().any(|(group, what, _)| (&**group, &**what) == PAGES);
        let has_pages = self.runs[self.baseline()].iter().any(is_page);
        let all = list_endpoints(&self.table, self.plan.short_bytes, self.plan.long_bytes, has_pages);
        let first = self.primary();
        if first.source.role() == Role::Short {
            return all;
        }
        // Of transfers that there are not, nothing is said.
        let others = all.into_iter().filter(|one| one.exploratory && self.has_values(&one.source));
        [first.clone()].into_iter().chain(others).collect()
    }

    /// Returns what a single interval in this cell must allow for.
    pub fn design(&self) -> Design {
        let capture_freedom = self.capture.as_ref().map_or(f64::INFINITY, |capture| capture.freedom);
        Design { capture_share: self.capture_share(), capture_freedom, ..Design::default() }
    }

    /// Returns what the intervals of all schemes' ratios to a reference must allow for to hold
    /// together, and at every look if there are several. `family` has one value per replication of
    /// every scheme; a scheme with another number of values than the reference does not count.
    pub fn family_design(&self, family: &[Vec<f64>], reference: usize) -> Design {
        let base = &family[reference];
        let others =
            family.iter().enumerate().filter(|(index, own)| *index != reference && own.len() == base.len());
        let logs: Vec<Vec<f64>> = others.map(|(_, own)| paired_log_ratios(own, base)).collect();
        let comparisons = effective_comparisons(&logs);
        Design { comparisons, is_sequential: self.plan.is_sequential, ..self.design() }
    }

    /// Returns the design of the primary endpoint against a reference, of all schemes together. It
    /// is computed once for each reference.
    pub fn primary_design(&self, reference: usize) -> Design {
        *self.cache.designs[reference].get_or_init(|| {
            let family: Vec<Vec<f64>> = self.schemes().map(|scheme| self.primary_values(scheme)).collect();
            self.family_design(&family, reference)
        })
    }

    /// Returns whether a model is played that is fitted to a small capture.
    pub fn is_fitted(&self) -> bool {
        self.capture.as_ref().is_some_and(|capture| capture.is_fitted)
    }

    /// Returns the share of the variance between replications that more of them do not reduce; 0
    /// unless a capture is resampled or a model is fitted to it.
    pub fn capture_share(&self) -> f64 {
        match &self.capture {
            Some(capture) if capture.is_fitted => capture_share(1.0),
            Some(capture) if self.plan.is_overlaid => {
                let loads = self.runs[self.baseline()].iter().map(|run| &run.load);
                let material: Vec<f64> = loads
                    .map(|load| load.copies as f64 * self.laps(capture.period_s, load.dilation))
                    .collect();
                capture_share(mean(&material))
            }
            _ => 0.0,
        }
    }

    /// Returns how often one copy of a capture is played within the measured window.
    pub fn laps(&self, period_s: f64, dilation: f64) -> f64 {
        self.plan.window_s / (period_s * dilation)
    }

    /// Returns whether the capture has so many distinct transfers of the class that it may be
    /// judged; true without a capture, and for what is not of transfers.
    pub fn has_enough(&self, source: &Source) -> bool {
        let capture = self.capture.as_ref();
        !source.is_of_transfers() || capture.is_none_or(|capture| capture.is_enough(source.role()))
    }

    /// Returns the share of unfinished transfers in a summary bucket, over all replications; 0
    /// without transfers.
    pub fn censored_share(&self, scheme: usize, role: Role) -> f64 {
        self.count_transfers(scheme, self.bucket_index(role)).censored_share()
    }

    /// Returns whether so many transfers of a class are unfinished that their mean is only a lower bound.
    pub fn is_bound(&self, scheme: usize, role: Role) -> bool {
        self.count_transfers(scheme, self.bucket_index(role)).is_bound()
    }

    /// Counts the measured transfers of the bucket of this index, over all replications.
    pub fn count_transfers(&self, scheme: usize, index: usize) -> Transfers {
        let runs = &self.runs[scheme];
        Transfers {
            count: runs.iter().map(|run| run.count[index]).sum(),
            censored: runs.iter().map(|run| run.censored[index]).sum(),
        }
    }

    /// Returns the mean shares of the same short transfers that were slower and faster than under
    /// the reference; None unless every run has them.
    pub fn shares(&self, scheme: usize, reference: usize) -> Option<(f64, f64)> {
        let reference = self.name(reference);
        let known: Option<Vec<_>> = self.runs[scheme].iter().map(|run| run.shares.get(reference)).collect();
        let known = known.filter(|known| !known.is_empty())?;
        let mean_of = |share: fn(&crate::reduction::Shares) -> f64| {
            mean(&known.iter().map(|one| share(one)).collect::<Vec<_>>())
        };
        Some((mean_of(|one| one.slower), mean_of(|one| one.faster)))
    }

    /// Returns the index of the summary bucket of a role.
    ///
    /// # Panics
    /// If no bucket has the role.
    pub fn bucket_index(&self, role: Role) -> usize {
        let found = self.plan.buckets().iter().position(|bucket| bucket.role == role);
        found.unwrap_or_else(|| panic!("{role:?} is one bucket"))
    }
}

/// Returns the endpoints of transfers and pages: the primary one, then those that say what others
/// gain or pay. A quantity that the table lacks gives none.
pub fn list_endpoints(
    table: &[Quantity],
    short_bytes: u64,
    long_bytes: u64,
    has_pages: bool,
) -> Vec<Endpoint> {
    let short = format!("transfers ≤ {}", size_text(short_bytes as f64));
    let long = format!("transfers > {}", size_text(long_bytes as f64));
    let pages = Whose::Group(PAGES.0.to_owned());
    let mut wanted = vec![
        ("short_response_mean_s", Whose::Bucket(Role::Short), Subject::Bucket, "response_mean_s", &short),
        ("short_response_p95_s", Whose::Bucket(Role::Short), Subject::Bucket, "response_p95_s", &short),
        ("long_response_mean_s", Whose::Bucket(Role::Long), Subject::Bucket, "response_mean_s", &long),
        ("long_goodput_bps", Whose::Scheme(Role::Long), Subject::Scheme, "long_goodput_bps", &long),
    ];
    if has_pages {
        wanted.push((PAGES.1, pages, Subject::Application, PAGES.1, &short));
    }
    let endpoint = |(name, whose, subject, what, about): (&str, Whose, Subject, &str, &String)| {
        let quantity = table.iter().find(|one| one.subject == subject && one.name() == what)?.clone();
        let (name, words) = (name.to_owned(), quantity.describe(about));
        let exploratory = name != "short_response_mean_s";
        Some(Endpoint { name, words, source: Source { whose, quantity }, exploratory })
    };
    wanted.into_iter().filter_map(endpoint).collect()
}

/// Returns a figure of a group in a run; NaN if the run lacks it.
fn find_group_figure(run: &Facts, group: &str, name: &str) -> f64 {
    let found = run.groups.iter().find(|(own, what, _)| own == group && what == name);
    found.map_or(f64::NAN, |(_, _, value)| *value)
}

/// Returns the mean of the finite values; NaN without any.
pub fn mean_of_finite(values: &[f64]) -> f64 {
    mean(&crate::statistics::sums::select_finite(values))
}

/// Returns the logarithm of the mean ratio of two columns, one value per replication each; unknown
/// if they differ in length, as where one is missing.
pub fn log_ratio(own: &[f64], other: &[f64], design: &Design) -> Estimate {
    if own.len() != other.len() {
        return Estimate::UNKNOWN;
    }
    crate::statistics::intervals::log_ratio(own, other, design)
}
