//! Combines the connections that the readers found into one traffic: on one clock, in order, with dense host
//! numbers.

use super::draft::Draft;
use super::gate;
use super::input::{base_name, file_name};
use super::ledger::{Ledger, LeftOut, count_text, reason};
use super::names::Names;
use super::options::{Direction, ReadOptions};
use super::sampling::{Budget, Sample};
use super::stamp::Stamp;
use super::zeek_store::Store;
use crate::error::{Error, Result};
use crate::rng::{Purpose, Stream};
use crate::traffic::class::correction::Ends;
use crate::traffic::class::{self, FlowClass, FlowShape};
use crate::traffic::connection::Connection;
use crate::traffic::note::{Note, NoteKind};
use crate::traffic::{CaptureCounts, Faults, Pages, Skipped, Source, Traffic};
use crate::units::Time;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

const SECOND: u64 = 1_000_000_000;
/// Files separated by more than this do not share a clock.
const DAY: i64 = 86_400 * SECOND as i64;
/// Share of a capture's bytes that may be left out without a remark.
const MUCH: f64 = 0.1;

/// The contents of all files, as they are read.
pub struct Collector {
    pub options: ReadOptions,
    pub ledgers: Vec<Ledger>,
    pub hosts: Names,
    pub connections: Vec<Draft>,
    /// Zeek rows, which wait for their partners in other files.
    pub zeek: Store,
    /// Number of the last page so far; pages count from 1.
    pub last_page: u32,
    notes: Vec<Note>,
    /// Files with at least one time stamp that is not a whole second.
    fine_stamps: Vec<usize>,
    sample: Sample,
    /// Rows that were never in the sample.
    not_kept: u64,
    /// Rows that left the sample after they had been stored.
    thinned: u64,
    /// Those among them that were counted as used.
    unused: u64,
    /// Hash of the client and number of the connection by which rows were admitted, by the file and the order of their
    /// drafts, for drafts that would give others.
    admitted_as: HashMap<(u32, u64), (u64, u64)>,
}

impl Collector {
    /// Returns an empty collection.
    pub fn new(options: ReadOptions, budget: &Arc<Budget>) -> Collector {
        let hosts = Names::with_hashes(!options.classes.is_empty());
        Collector {
            options,
            ledgers: Vec::new(),
            hosts,
            connections: Vec::new(),
            zeek: Store::default(),
            last_page: 0,
            notes: Vec::new(),
            fine_stamps: Vec::new(),
            sample: Sample::new(budget.clone()),
            not_kept: 0,
            thinned: 0,
            unused: 0,
            admitted_as: HashMap::new(),
        }
    }

    /// Adds the contents of the next file, whose hosts and pages get new numbers. A collector without a file becomes
    /// `other`, with its options.
    pub fn absorb(&mut self, other: Collector) {
        if self.ledgers.is_empty() {
            *self = other;
            return;
        }
        let hosts = self.hosts.absorb(other.hosts);
        let last = self.last_page;
        let settle = |draft: Draft| {
            let mut draft = draft.with_hosts(&hosts);
            let pages = draft.pages.iter_mut().flat_map(|pages| &mut pages.0).filter(|page| **page > 0);
            pages.for_each(|page| *page += last);
            draft
        };
        self.connections.extend(other.connections.into_iter().map(settle));
        self.admitted_as.extend(other.admitted_as);
        self.last_page += other.last_page;
        self.zeek.absorb(other.zeek, &hosts);
        self.ledgers.extend(other.ledgers);
        self.fine_stamps.extend(other.fine_stamps);
        self.sample.absorb(&other.sample);
        other.notes.into_iter().for_each(|note| self.add_note(note));
    }

    /// Counts a row before anything of it is stored. Returns whether it is in the sample that memory holds. The sample
    /// may become thinner, as in [`Collector::count_held_rows`]; a row that is not in it counts as not kept.
    ///
    /// `client` is the [`super::sampling::hash`] of the client's name. `connection` is the number of the row, or the
    /// hash of the connection's name if it has one.
    pub fn admits(&mut self, client: u64, connection: u64) -> bool {
        let is_kept = self.count_held_rows(1, (client, connection));
        self.not_kept += u64::from(!is_kept);
        is_kept
    }

    /// Counts rows that a reader stores itself, of a client and a connection as in [`Collector::admits`].
    /// Returns whether they are in the sample. If the budget is exceeded, the level of sampling rises, and stored
    /// connections and Zeek rows that left the sample are dropped.
    pub fn count_held_rows(&mut self, rows: u64, (client, connection): (u64, u64)) -> bool {
        if self.sample.count(rows, client, connection) {
            self.thin();
        }
        self.sample.keeps(client, connection)
    }

    /// Returns whether a connection, as in [`Collector::admits`], of the client with this hash is still in
    /// the sample.
    pub fn is_sampled(&self, client: u64, connection: u64) -> bool {
        self.sample.keeps(client, connection)
    }

    /// Returns k if one client (or connection, see [`Sample::is_of_connections`]) in 2^k is in the
    /// sample. When k has risen, a reader must drop the rows it stores itself that have left the
    /// sample.
    pub fn level(&self) -> u8 {
        self.sample.level()
    }

    /// Counts rows that a reader had stored and has now dropped.
    pub fn count_thinned(&mut self, rows: usize) {
        self.thinned += rows as u64;
    }

    /// Counts rows as [`Collector::count_thinned`] does that the file's ledger has as used.
    pub fn count_used_thinned(&mut self, rows: u64) {
        self.thinned += rows;
        self.unused += rows;
    }

    /// Adds a connection whose rows were admitted under this hash of the client and this connection. It is neither
    /// counted nor checked again; both are stored if the draft would give others.
    pub fn push_as(&mut self, draft: Draft, client: u64, connection: u64) {
        let is_own = client == self.hosts.hash(draft.client)
            && (connection == draft.order || !self.sample.is_of_connections());
        if !is_own {
            self.admitted_as.insert((draft.file, draft.order), (client, connection));
        }
        self.connections.push(draft);
    }

    /// Removes and returns the connections from index `first` on. From then on, their rows that left the
    /// sample count as unused no longer.
    pub fn take_connections(&mut self, first: usize) -> Vec<Draft> {
        self.unused = 0;
        if first == 0 { std::mem::take(&mut self.connections) } else { self.connections.split_off(first) }
    }

    /// Adds a connection of a file whose rows were not counted by [`Collector::admits`] but as used, if it is in the
    /// sample.
    pub fn push(&mut self, draft: Draft) {
        let (client, order) = (self.hosts.hash(draft.client), draft.order);
        match self.count_held_rows(1, (client, order)) {
            true => self.connections.push(draft),
            false => self.count_used_thinned(draft.rows.into()),
        }
    }

    /// Ends the rows of a file, after the last is counted; a sample that exceeds its budget is thinned.
    pub fn end_rows(&mut self) {
        self.sample.end();
        if self.sample.raise_level() {
            self.thin();
        }
    }

    /// Drops rows beyond the budget after all files are read, and counts those that are not in the sample as
    /// skipped in the first file's ledger, unless that is a capture, which counts its own. The counts start anew.
    pub fn thin_to_budget(&mut self) {
        self.sample.raise_level();
        self.thin();
        let Some(ledger) = self.ledgers.first_mut().filter(|_| self.not_kept + self.thinned > 0) else {
            return;
        };
        if ledger.capture.is_none() {
            ledger.skip(reason::NOT_SAMPLED, self.not_kept + self.thinned, 0);
            ledger.used = ledger.used.saturating_sub(self.unused);
        }
        (self.not_kept, self.thinned, self.unused) = (0, 0, 0);
    }

    /// Drops the connections and the Zeek rows that are not in the sample, and counts them; does nothing at level 0.
    fn thin(&mut self) {
        if self.sample.level() == 0 {
            return;
        }
        let (mut gone, before) = (0, self.zeek.rows());
        let (sample, hosts, others) = (&self.sample, &self.hosts, &self.admitted_as);
        self.connections.retain(|draft| {
            let own = || (hosts.hash(draft.client), draft.order);
            let (client, connection) = others.get(&(draft.file, draft.order)).copied().unwrap_or_else(own);
            let is_kept = sample.keeps(client, connection);
            gone += if is_kept { 0 } else { u64::from(draft.rows) };
            is_kept
        });
        self.zeek.retain(|client, connection| sample.keeps(hosts.hash(client), connection));
        self.count_thinned(before - self.zeek.rows());
        self.count_used_thinned(gone);
    }

    /// Adds a remark on a choice made in reading, unless it is there already.
    pub fn note_choice(&mut self, text: String) {
        self.add_note(Note::new(NoteKind::Choice, None, text));
    }

    /// Adds a remark to the report, unless it is there already.
    pub fn add_note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns the class of a flow between two hosts: by the user's corrections, else by its shape.
    pub fn classify_flow(&self, hosts: [&[u8]; 2], shape: &FlowShape) -> FlowClass {
        let ends = Ends { protocol: shape.protocol, hosts, ports: shape.ports };
        self.options.classes.find_class(&ends).unwrap_or_else(|| class::classify(shape))
    }

    /// Records the stamp of a file's latest row, `ledger.rows`, in the ledger's clock. A stamp with a part of a second
    /// makes the file fine; see [`Collector::is_coarse`].
    pub fn record_stamp(&mut self, ledger: &mut Ledger, stamp: Stamp) {
        ledger.clock.add_row(stamp.ns, ledger.rows);
        if !stamp.whole && self.fine_stamps.last() != Some(&ledger.index) {
            self.fine_stamps.push(ledger.index);
        }
    }

    /// Returns whether every stamp of `file` so far was a whole second.
    pub fn is_coarse(&self, file: usize) -> bool {
        !self.fine_stamps.contains(&file)
    }

    /// Draws the offset within its second, uniform from 0 to below 1e9 ns, of a connection with a stamp of whole
    /// seconds. The seed, the file and the entity determine it.
    pub fn draw_within_second(&self, file: usize, entity: u64) -> i64 {
        self.draw_offset(SECOND, file, entity)
    }

    /// Draws the offset of an entity of a file, uniform from 0 to below `resolution`, ns. The same arguments always
    /// give the same offset.
    fn draw_offset(&self, resolution: u64, file: usize, entity: u64) -> i64 {
        Stream::new(self.options.seed, Purpose::Spread, (file as u64) << 40 | entity).below(resolution) as i64
    }

    /// Delays the starts of the connections from index `first` on by drawn offsets, if all stamps of the file are whole
    /// seconds or minutes, and adds a note. The connections of one page move together. Does nothing otherwise, or
    /// without connections.
    pub fn spread_coarse_stamps(&mut self, first: usize, ledger: &Ledger) {
        if !self.is_coarse(ledger.index) || self.connections.len() == first {
            return;
        }
        let resolution = ledger.clock.resolution();
        let shifts: Vec<i64> = self.connections[first..]
            .iter()
            .map(|draft| self.draw_offset(resolution as u64, draft.file as usize, choose_spread_key(draft)))
            .collect();
        for (draft, shift) in self.connections[first..].iter_mut().zip(shifts) {
            draft.start += shift;
        }
        if resolution > SECOND as i64 {
            let name = file_name(&ledger.path);
            let text = format!(
                "{name}: time stamps are whole minutes; starts are spread evenly within their minute, so that bursts and \
                 pages are lost; a log with seconds judges better"
            );
            self.add_note(Note::new(NoteKind::Doubt, Some(name), text));
        } else {
            self.note_coarse(&ledger.path);
        }
    }

    /// Adds a note that starts were spread within their second.
    pub fn note_coarse(&mut self, path: &str) {
        self.note_choice(format!(
            "{}: time stamps are whole seconds; starts are spread evenly within their second",
            file_name(path)
        ));
    }

    /// Combines all files into a traffic: aligns clocks, sorts connections by start, the first of which becomes time 0,
    /// numbers hosts densely and adds notes. Call [`Collector::thin_to_budget`] before.
    ///
    /// # Errors
    /// [`Error::File`] when nothing is usable, naming what was left out and why.
    pub fn finish(mut self) -> Result<Traffic> {
        if self.connections.is_empty() {
            return Err(self.nothing_usable_error());
        }
        self.note_files();
        self.note_sample();
        self.align_clocks();
        // An unstable sort suffices, since no two have the same key.
        self.connections.sort_unstable_by_key(|draft| (draft.start, draft.file, draft.order));
        let doubts = gate::check_files(&self.connections, &self.ledgers);
        doubts.into_iter().for_each(|note| self.add_note(note));
        let skipped = self.sum_skipped();
        let faults = self.sum_faults();
        let sources = self.ledgers.iter().map(describe_source).collect();
        let (mut clients, mut servers) = (Dense::default(), Dense::default());
        let origin = self.connections[0].start;
        let has_pages = self.connections.iter().any(|draft| draft.pages.is_some());
        let page = |draft: &mut Draft| draft.pages.take().unwrap_or_default().0;
        let with_pages = self.connections.iter_mut().filter(|_| has_pages).map(page);
        let pages = Pages::new(with_pages);
        let settle = |draft: Draft| Connection {
            start: Time((draft.start - origin) as u64),
            client: clients.assign_number(draft.client),
            server: servers.assign_number(draft.server),
            rtt: draft.rtt.into(),
            duration: draft.duration.into(),
            kind: draft.kind,
            class: draft.class,
            flow_class: Some(draft.flow_class),
            upload: false,
            server_think: draft.server_think,
            writes: draft.writes,
        };
        let connections = self.connections.into_iter().map(settle).collect();
        let (clients, servers) = (clients.count(), servers.count());
        Ok(Traffic {
            connections,
            sources,
            skipped,
            notes: self.notes,
            faults,
            clients,
            servers,
            pages,
            parts: Vec::new(),
            level: self.sample.level(),
        })
    }

    /// Aligns the files' clocks. Files whose times lie within a day of each other share a clock; groups of
    /// files with longer gaps between them are each moved to start at zero, with a note. Panics without connections.
    fn align_clocks(&mut self) {
        let mut spans: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
        for draft in &self.connections {
            let span = spans.entry(draft.file).or_insert((draft.start, draft.start));
            *span = (span.0.min(draft.start), span.1.max(draft.start));
        }
        let mut by_time: Vec<(i64, i64, u32)> =
            spans.into_iter().map(|(file, (from, to))| (from, to, file)).collect();
        by_time.sort_unstable();
        let mut origins: HashMap<u32, i64> = HashMap::new();
        let (mut origin, mut end, mut groups) = (by_time[0].0, by_time[0].1, 1);
        for (from, to, file) in by_time {
            if from.saturating_sub(end) > DAY {
                origin = from;
                groups += 1;
            }
            end = end.max(to);
            origins.insert(file, origin);
        }
        if groups > 1 {
            self.connections.iter_mut().for_each(|draft| draft.start -= origins[&draft.file]);
            self.note_choice(format!("the files are more than a day from each other, so the clocks of {groups} groups of files are moved to a common start"));
        }
    }

    /// Adds notes on each file: without usable rows, equal to an earlier file, or with many bytes left out.
    fn note_files(&mut self) {
        let mut notes: Vec<Note> = Vec::new();
        for (place, ledger) in self.ledgers.iter().enumerate() {
            let name = file_name(&ledger.path);
            if ledger.used == 0 {
                let text = format!("{name}: nothing usable");
                notes.push(Note::new(NoteKind::NothingUsable, Some(name.clone()), text));
            }
            if let Some(twin) =
                self.ledgers[..place].iter().find_map(|earlier| describe_duplicate(earlier, ledger))
            {
                notes.push(Note::new(NoteKind::GivenTwice, Some(name.clone()), format!("{name}: {twin}")));
            }
            notes.extend(note_left_out(ledger));
        }
        notes.into_iter().for_each(|note| self.add_note(note));
    }

    /// Adds the note that memory allowed only a sample, if so.
    fn note_sample(&mut self) {
        let level = self.sample.level();
        if level == 0 {
            return;
        }
        let unit = if self.sample.is_of_connections() { "connection" } else { "client" };
        let text = format!(
            "memory does not hold all rows, so one {unit} in {} is used, by a hash of its name; counts are those of the \
             sample",
            1_u64 << level
        );
        self.add_note(Note::new(NoteKind::Sampled, None, text));
    }

    /// Returns the error for files without any usable row, with the reasons.
    fn nothing_usable_error(&self) -> Error {
        let names: Vec<&str> = self.ledgers.iter().map(|ledger| ledger.path.as_str()).collect();
        let rows: u64 = self.ledgers.iter().map(|ledger| ledger.rows).sum();
        let skipped = self.sum_skipped();
        let why: Vec<String> =
            skipped.iter().map(|skipped| format!("{} skipped as {}", skipped.rows, skipped.reason)).collect();
        let faults = self.sum_faults();
        let faulty = faults.first.map(|first| format!("{} not understood, the first: {first}", faults.count));
        let account: Vec<String> =
            std::iter::once(count_text(rows, "row")).chain(why).chain(faulty).collect();
        let doubts = self.notes.iter().filter(|note| note.kind == NoteKind::Doubt);
        let doubts: String = doubts.map(|note| format!("; {}", note.text)).collect();
        let account = format!("{}{}{doubts}", account.join(", "), self.other_direction_clause());
        Error::file(names.join(", "), format!("nothing usable: {account}"))
    }

    /// Returns a clause with the number of bytes in the other direction; empty for none.
    fn other_direction_clause(&self) -> String {
        let reverse: u64 =
            self.ledgers.iter().fold(0, |sum, ledger| sum.saturating_add(ledger.reverse_bytes));
        match (reverse, self.options.direction.reverse()) {
            (0, _) => String::new(),
            (bytes, Direction::Up) => format!("; with payload up there would be {bytes} bytes"),
            (bytes, Direction::Down) => format!("; with payload down there would be {bytes} bytes"),
        }
    }

    /// Returns the connections, rows and bytes left out of all files, summed by reason.
    fn sum_skipped(&self) -> Vec<Skipped> {
        let mut sums: BTreeMap<String, LeftOut> = BTreeMap::new();
        for (reason, left_out) in self.ledgers.iter().flat_map(|ledger| &ledger.skipped) {
            sums.entry(reason.to_string()).or_default().add(*left_out);
        }
        let list = sums.into_iter().map(|(reason, LeftOut { connections, rows, bytes })| Skipped {
            reason,
            connections,
            rows,
            bytes,
        });
        list.collect()
    }

    /// Returns the number of faulty rows in all files, and the first.
    fn sum_faults(&self) -> Faults {
        let count = self.ledgers.iter().map(|ledger| ledger.faults).sum();
        let first = self.ledgers.iter().find_map(|ledger| ledger.first_fault.as_ref());
        Faults { count, first: first.map(strip_folders) }
    }
}

/// Returns the entity by which a start is spread within its second. A page's connections share one, so that
/// they stay together.
fn choose_spread_key(draft: &Draft) -> u64 {
    match draft.pages.as_deref().and_then(|pages| pages.0.first()) {
        Some(&page @ 1..) => 1 << 39 | u64::from(page),
        _ => draft.order,
    }
}

/// Assigns dense numbers by first appearance.
#[derive(Default)]
struct Dense {
    numbers: HashMap<u32, u32>,
}

impl Dense {
    /// Returns the dense number of an id, a new one at its first appearance.
    fn assign_number(&mut self, id: u32) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(id).or_insert(next)
    }

    /// Returns how many numbers were assigned.
    fn count(&self) -> u32 {
        self.numbers.len() as u32
    }
}

/// Returns a phrase that names what two files have in common if they have the same content; `None` if not.
fn describe_duplicate(earlier: &Ledger, later: &Ledger) -> Option<String> {
    if earlier.sha256 == later.sha256 {
        return Some("the same content was given twice".to_string());
    }
    let same = later.content.is_some() && earlier.content == later.content;
    let what = if later.capture.is_some() {
        "as many packets, the same first and last one,"
    } else {
        "the same rows"
    };
    same.then(|| format!("has {what} as {}; the same content was given twice", file_name(&earlier.path)))
}

/// Returns a note on the bytes of a capture that were left out, with up to three reasons of more than 1 % each; `None`
/// for a log or below the share [`MUCH`].
fn note_left_out(ledger: &Ledger) -> Option<Note> {
    let CaptureCounts { bytes, used_bytes, .. } = ledger.capture?;
    let lost = bytes.saturating_sub(used_bytes);
    let share = lost as f64 / bytes.max(1) as f64;
    if share < MUCH {
        return None;
    }
    let name = file_name(&ledger.path);
    let mut reasons: Vec<(u64, String)> =
        ledger.skipped.iter().map(|(reason, left_out)| (left_out.bytes, reason.to_string())).collect();
    reasons.sort_by(|a, b| b.cmp(a));
    let percent = |part: u64| format!("{:.0} %", 100.0 * part as f64 / bytes as f64);
    let shown: Vec<String> = reasons
        .iter()
        .take(3)
        .filter(|(part, _)| *part > bytes / 100)
        .map(|(part, reason)| format!("{} {reason}", percent(*part)))
        .collect();
    let why = if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) };
    let text = format!("{name}: {} of its bytes were left out{why}", percent(lost));
    let count = Some(ledger.rows.saturating_sub(ledger.used));
    Some(Note { count, bytes: Some(lost), ..Note::new(NoteKind::LeftOut, Some(name), text) })
}

/// Returns the summary of one file from its ledger; names in it are without folders.
fn describe_source(ledger: &Ledger) -> Source {
    Source {
        name: base_name(&ledger.path),
        sha256: ledger.sha256.clone(),
        kind: ledger.kind.clone(),
        rows: ledger.rows,
        used: ledger.used,
        faults: ledger.faults,
        first_fault: ledger.first_fault.as_ref().map(strip_folders),
        capture: ledger.capture,
    }
}

/// Returns the text of a row's fault with the file's name without folders.
fn strip_folders(error: &Error) -> String {
    match error {
        Error::Row { file, line, problem } => format!("{}:{line}: {problem}", file_name(file)),
        other => other.to_string(),
    }
}
