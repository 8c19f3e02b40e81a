//! A policy's description in its header, and the registry of all policies, shipped or loaded.

use crate::base::COLOURS;
use crate::counterpart::Counterpart;
use crate::ffi::{self, RawParameter, RawPolicy, text};
use crate::parameter::{Kind, Parameter};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{LazyLock, RwLock};

/// The kind of a policy: the decision that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyKind {
    /// The colour of a packet, before a queue.
    Marker,
    /// Whether a queue takes a packet.
    Dropper,
    /// Which packet leaves next, and who is dropped.
    Queue,
}

/// The packets that share a marker's state `flow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Of the 5-tuple of one direction.
    Flow,
    /// Of both directions of a connection.
    Connection,
    /// Of all connections of a client host.
    User,
}

/// Where a policy comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Compiled into this library.
    Shipped,
    /// Compiled from a header that a user named.
    Header {
        /// The header.
        path: PathBuf,
        /// SHA-256 of the header's text, in hexadecimal digits.
        sha256: String,
    },
}

/// A policy: its description, and where it comes from.
#[derive(Debug)]
pub struct Policy {
    raw: &'static RawPolicy,
    name: String,
    parameters: Vec<Parameter>,
    origin: Origin,
}

impl std::fmt::Debug for RawPolicy {
    /// Writes the policy's name in C.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}", text(self.name))
    }
}

impl Policy {
    /// Returns a new policy with this description. It is never freed, as a policy may be used until the program ends.
    pub(crate) fn new(raw: &'static RawPolicy, origin: Origin) -> &'static Policy {
        // SAFETY: a description's table has as many entries as it says.
        let table = unsafe { table_from_c(raw.parameters, raw.parameter_count) };
        let parameters = table.iter().map(parameter_from_c).collect();
        Box::leak(Box::new(Policy { raw, name: text(raw.name).replace('_', "-"), parameters, origin }))
    }

    /// Returns its name as written in schemes: the header's, with hyphens.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its name in C: the header's, with underscores.
    pub fn c_name(&self) -> &'static str {
        text(self.raw.name)
    }

    /// Returns whether it is a marker, a dropper or a queue.
    pub fn kind(&self) -> PolicyKind {
        match self.raw.kind {
            ffi::MARKER => PolicyKind::Marker,
            ffi::DROPPER => PolicyKind::Dropper,
            _ => PolicyKind::Queue,
        }
    }

    /// Returns which packets share a marker's state of a flow.
    pub fn key(&self) -> Key {
        match self.raw.key {
            ffi::PER_CONNECTION => Key::Connection,
            ffi::PER_USER => Key::User,
            _ => Key::Flow,
        }
    }

    /// Returns the header's summary, one line for lists.
    pub fn summary(&self) -> &'static str {
        text(self.raw.summary)
    }

    /// Returns the paper or RFC that describes it.
    pub fn source(&self) -> &'static str {
        text(self.raw.source)
    }

    /// Returns the header's description of how it works, a few sentences for its page.
    pub fn detail(&self) -> &'static str {
        text(self.raw.detail)
    }

    /// Returns where it comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns its parameters, in the header's order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the names of its readings, the numbers of its state for traces and plots.
    pub fn readings(&self) -> Vec<&'static str> {
        self.raw_readings().iter().map(|reading| text(reading.name)).collect()
    }

    /// Returns the names of the fields of its parameters that its functions do not read, as the header declares.
    pub fn unread(&self) -> Vec<&'static str> {
        text(self.raw.unread).split_whitespace().collect()
    }

    /// Returns the common device or program that can do as it does; `None` if there is none.
    pub fn counterpart(&self) -> Option<Counterpart> {
        // Loading checks a user's header, and a test the shipped ones.
        Counterpart::parse(text(self.raw.install)).ok().flatten()
    }

    /// Returns how many colours a marker gives, from the best on; all three if its header does not say.
    pub fn colours(&self) -> usize {
        match self.raw.colours as usize {
            0 => COLOURS,
            number => number,
        }
    }

    /// Returns the sizes of its parameters, a flow's state (of a queue, the backlog by band) and the shared state, in bytes.
    pub fn sizes(&self) -> (usize, usize, usize) {
        (self.raw.params_bytes as usize, self.raw.flow_bytes as usize, self.raw.state_bytes as usize)
    }

    /// Returns how many words of 64 bits a flow's state has, of a queue the backlog by band; all zero is a fresh flow.
    pub fn flow_words(&self) -> usize {
        self.raw.flow_bytes.div_ceil(8) as usize
    }

    /// Returns how many words of 64 bits the shared state has; all zero is a fresh one.
    pub fn state_words(&self) -> usize {
        self.raw.state_bytes.div_ceil(8) as usize
    }

    /// Returns whether a marker writes a window hint in place of a colour.
    pub fn returns_hint(&self) -> bool {
        self.raw.returns == ffi::RETURNS_HINT
    }

    /// Returns whether random 0 is a dropper's strictest draw (`MH_LEAST_IS_STRICTEST`).
    pub fn least_is_strictest(&self) -> bool {
        self.raw.flags & ffi::LEAST_IS_STRICTEST != 0
    }

    /// Returns whether a dropper must be called for packets that find the buffer full.
    pub fn sees_full_buffers(&self) -> bool {
        self.raw.flags & ffi::SEES_FULL_BUFFERS != 0
    }

    /// Returns whether a marker acts at the network's edge only, not in hosts.
    pub fn is_at_edge_only(&self) -> bool {
        self.raw.flags & ffi::AT_EDGE_ONLY != 0
    }

    /// Returns whether a dropper's verdicts or a queue's answers depend on colours.
    pub fn reads_colours(&self) -> bool {
        self.raw.flags & ffi::READS_COLOURS != 0
    }

    /// Returns whether its colours or verdicts depend on window hints.
    pub fn reads_hints(&self) -> bool {
        self.raw.flags & ffi::READS_HINTS != 0
    }

    /// Returns whether a queue reads the hash of a packet's flow.
    pub fn reads_flows(&self) -> bool {
        self.raw.flags & ffi::READS_FLOWS != 0
    }

    /// Returns whether a queue marks packets whatever its parameters.
    pub fn marks(&self) -> bool {
        self.raw.flags & ffi::MARKS != 0
    }

    /// Returns whether a queue's answers depend on the application of a packet.
    pub fn reads_applications(&self) -> bool {
        self.raw.flags & ffi::READS_APPLICATIONS != 0
    }

    /// Returns whether it may read the packet's `sequence`; every user's header may.
    pub fn reads_positions(&self) -> bool {
        self.raw.flags & ffi::READS_POSITIONS != 0 || self.origin != Origin::Shipped
    }

    /// Returns how many bands a queue has; 0 of the other kinds.
    pub fn bands(&self) -> usize {
        self.raw.bands as usize
    }

    /// Returns whether a dropper must be told of departures, by [`Policy::departed`].
    pub fn tracks_departures(&self) -> bool {
        self.raw.departed.is_some()
    }

    /// Returns whether a marker's flows expire.
    pub fn expires(&self) -> bool {
        self.raw.expired.is_some()
    }

    /// Returns the range of bytes of a marker's state that slow steps write and packets only read; empty if there is none.
    /// Only packets use the bytes before it, only slow steps those after it (`policy.h`).
    pub fn published(&self) -> Range<usize> {
        let offset = self.raw.published_offset as usize;
        offset..offset + self.raw.published_bytes as usize
    }

    /// Returns whether a marker can shape.
    pub fn shapes(&self) -> bool {
        self.raw.shape.is_some()
    }

    /// Returns whether a marker adapts to the flows in its table.
    pub fn adapts(&self) -> bool {
        self.raw.control.is_some()
    }

    /// Returns the description as C lays it out.
    #[inline]
    pub(crate) fn raw(&self) -> &'static RawPolicy {
        self.raw
    }

    /// Returns the table of parameters as C lays it out, in the order of [`Policy::parameters`].
    pub(crate) fn raw_parameters(&self) -> &'static [RawParameter] {
        // SAFETY: a description's table has as many entries as it says.
        unsafe { table_from_c(self.raw.parameters, self.raw.parameter_count) }
    }

    /// Returns the table of readings as C lays it out, in the order of [`Policy::readings`].
    pub(crate) fn raw_readings(&self) -> &'static [ffi::RawReading] {
        // SAFETY: a description's table has as many entries as it says.
        unsafe { table_from_c(self.raw.readings, self.raw.reading_count) }
    }
}

static POLICIES: LazyLock<RwLock<Vec<&'static Policy>>> = LazyLock::new(|| {
    RwLock::new(ffi::shipped().iter().map(|raw| Policy::new(raw, Origin::Shipped)).collect())
});

/// Returns every registered policy: the shipped ones in the order of their names, then those loaded.
pub fn policies() -> Vec<&'static Policy> {
    POLICIES.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
}

/// Returns the registered policy of this name, with hyphens; `None` if there is none.
pub fn find(name: &str) -> Option<&'static Policy> {
    policies().into_iter().find(|policy| policy.name() == name)
}

/// Registers a policy; it replaces one of the same name.
pub(crate) fn register(policy: &'static Policy) {
    let mut all = POLICIES.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    all.retain(|old| old.name() != policy.name());
    all.push(policy);
}

/// Returns a table of a description as a slice; a table without entries may be null.
///
/// # Safety
/// `first` points to `count` entries, which live for ever.
unsafe fn table_from_c<T>(first: *const T, count: u32) -> &'static [T] {
    match count {
        0 => &[],
        // SAFETY: the caller vouches for the entries.
        _ => unsafe { std::slice::from_raw_parts(first, count as usize) },
    }
}

/// Returns an entry of a header's table of parameters. The words of a choice are never freed.
fn parameter_from_c(raw: &RawParameter) -> Parameter {
    Parameter {
        name: text(raw.name),
        kind: kind_from_c(raw),
        default: text(raw.value),
        least: raw.least,
        most: raw.most,
        meaning: text(raw.meaning),
        source: text(raw.source),
    }
}

/// Returns the kind of an entry; loading has refused a number beyond `MH_BUFFER`.
fn kind_from_c(raw: &RawParameter) -> Kind {
    match raw.kind {
        0 => Kind::Time,
        1 => Kind::Size,
        2 => Kind::Threshold,
        3 => Kind::Fraction,
        4 => Kind::Length,
        5 => Kind::Rate,
        6 => Kind::Count,
        7 => Kind::Number,
        8 => Kind::Percent,
        9 => Kind::Flag,
        10 => Kind::Choice(text(raw.choices).split(' ').collect::<Vec<_>>().leak()),
        11 => Kind::Timeout,
        _ => Kind::Buffer,
    }
}
