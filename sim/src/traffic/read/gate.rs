//! Checks whether files are what they seem, after they are read.
//!
//! A remark is one sentence about a file whose numbers are possible but rarely intended.

use std::collections::HashMap;

use super::clock;
use super::draft::Draft;
use super::input::file_name;
use super::ledger::Ledger;
use crate::traffic::connection::Kind;
use crate::traffic::note::{Note, NoteKind};
use crate::units::Dur;

/// Files with fewer transfers than this raise no doubt.
const FEW: u64 = 20;
/// Number of consecutive sizes that never fall from which on they are readings of a counter, and no
/// small example.
const MANY: u64 = 100;
/// At least half of the transfers of a network are larger than this, bytes.
const TINY: u64 = 100;
/// No network has round trips below this; a loopback and a cable in a laboratory do.
const NO_PATH: Dur = Dur(100_000);

/// Counts over the connections of a file.
#[derive(Debug, Default)]
struct Counts {
    connections: u64,
    transfers: u64,
    tiny: u64,
    /// The only size, and the only client, as long as there is one.
    size: Option<u64>,
    sizes_differ: bool,
    client: Option<u32>,
    clients_differ: bool,
    servers_differ: bool,
    server: Option<u32>,
    first_start: i64,
    last_start: i64,
    /// The longest time without a start, and the position of the connection before it.
    leap: (i64, u64),
    last_order: u64,
    rtts: u64,
    short_rtts: u64,
    has_durations: bool,
    growth: Growth,
}

/// Watches whether sizes only grow from row to row of each client, as readings of a counter do.
#[derive(Debug, Default)]
struct Growth {
    latest: HashMap<u32, u64>,
    steps: u64,
    is_broken: bool,
}

impl Growth {
    /// Adds the next transfer of a client in order of time. The map is freed at the first smaller size, which
    /// comes soon in traffic.
    fn add(&mut self, client: u32, bytes: u64) {
        if self.is_broken {
            return;
        }
        if let Some(before) = self.latest.insert(client, bytes) {
            self.steps += 1;
            self.is_broken = bytes < before;
        }
        if self.is_broken {
            self.latest = HashMap::new();
        }
    }

    /// Returns whether enough sizes were seen and none of them fell.
    fn is_of_a_counter(&self) -> bool {
        !self.is_broken && self.steps >= MANY
    }
}

impl Counts {
    /// Returns empty counts. Only tables are checked for readings of counters.
    fn new(ledger: &Ledger) -> Counts {
        let growth = Growth { is_broken: ledger.kind != "table", ..Growth::default() };
        Counts { growth, ..Counts::default() }
    }

    /// Counts the next connection; connections come in order of their start.
    fn add(&mut self, draft: &Draft) {
        if self.connections == 0 {
            (self.first_start, self.last_start) = (draft.start, draft.start);
        }
        let gap = draft.start.saturating_sub(self.last_start);
        if gap > self.leap.0 {
            self.leap = (gap, self.last_order);
        }
        (self.last_start, self.last_order) = (draft.start, draft.order);
        self.connections += 1;
        self.clients_differ |= *self.client.get_or_insert(draft.client) != draft.client;
        self.servers_differ |= *self.server.get_or_insert(draft.server) != draft.server;
        if draft.kind == Kind::Datagrams {
            return;
        }
        self.has_durations |= Option::<Dur>::from(draft.duration).is_some();
        for write in draft.writes.iter() {
            self.growth.add(draft.client, write.bytes);
            self.transfers += 1;
            self.tiny += u64::from(write.bytes < TINY);
            self.sizes_differ |= *self.size.get_or_insert(write.bytes) != write.bytes;
        }
        if let Some(rtt) = Option::<Dur>::from(draft.rtt) {
            self.rtts += 1;
            self.short_rtts += u64::from(rtt < NO_PATH);
        }
    }

    /// Returns the longest time without a start, and the position of the connection before it, if it is most of the
    /// span: a clock that was set, or a row with a wrong date.
    fn find_leap(&self) -> Option<(i64, u64)> {
        let span = self.last_start.saturating_sub(self.first_start);
        (self.connections >= FEW && clock::is_most(self.leap.0, span)).then_some(self.leap)
    }

    /// Returns reasons to doubt that the file's sizes and times were measured, as sentences; none for fewer than
    /// [`FEW`] transfers, connections or round trips each.
    fn find_doubts(&self, ledger: &Ledger) -> Vec<String> {
        let mut doubts = Vec::new();
        let (is_capture, is_har) = (ledger.capture.is_some(), ledger.kind == "har");
        if self.transfers >= FEW && !self.sizes_differ {
            doubts.push(format!(
                "all {} transfers have {} B; were the sizes measured?",
                self.transfers,
                self.size.unwrap_or(0)
            ));
        } else if self.transfers >= FEW && 2 * self.tiny > self.transfers {
            doubts.push(format!(
                "more than half of the {} transfers have less than {TINY} B; is it payload, and in this direction?",
                self.transfers
            ));
        }
        if ledger.kind == "table" && self.sizes_differ {
            doubts.extend(self.doubt_counter(ledger.clock.find_beat()));
        }
        // A capture on a host has one client, and often one server as well.
        let is_odd = self.servers_differ || !is_capture;
        if self.connections >= FEW && !self.clients_differ && is_odd && !is_har {
            doubts.push(format!(
                "all {} connections are of one client; is its name or address that of a proxy or of the file's own host?",
                self.connections
            ));
        }
        if self.rtts >= FEW && 2 * self.short_rtts > self.rtts {
            doubts.push(
                "most round trips are below 0.1 ms, as within one machine; give --rtt and --ignore-trace-rtt"
                    .to_string(),
            );
        }
        doubts
    }

    /// Returns the doubt about a table whose rows look like readings of counters; `beat` is the time between readings,
    /// ns, if it is constant. It counts only without durations. `None` without a doubt.
    fn doubt_counter(&self, beat: Option<i64>) -> Option<String> {
        if self.growth.is_of_a_counter() {
            let text = "the bytes only grow from row to row of each client, as those of a counter do; a row must be one transfer";
            return Some(text.to_string());
        }
        let beat = beat.filter(|_| !self.has_durations)?;
        Some(format!(
            "rows come exactly every {}, as samples of counters do; a row must be one transfer",
            clock::format_span(beat)
        ))
    }
}

/// Returns remarks on files that may not be what they seem. `connections` are in the order of time, and
/// `ledgers` those of the files by index; a connection of a file without ledger is ignored.
pub fn check_files(connections: &[Draft], ledgers: &[Ledger]) -> Vec<Note> {
    let mut counts: Vec<Counts> = ledgers.iter().map(Counts::new).collect();
    for draft in connections {
        if let Some(counts) = counts.get_mut(draft.file as usize) {
            counts.add(draft);
        }
    }
    let of_file = |(counts, ledger): (&Counts, &Ledger)| {
        let name = file_name(&ledger.path);
        let note = |doubt: String| Note::new(NoteKind::Doubt, Some(name.clone()), format!("{name}: {doubt}"));
        // The clock of a capture has seen every packet.
        let leap = counts.find_leap().filter(|_| ledger.capture.is_none()).map(|(by, after)| {
            let text = format!("{name}: time jumps by {} after row {after}", clock::format_span(by));
            Note { row: Some(after), ..Note::new(NoteKind::TimeJumps, Some(name.clone()), text) }
        });
        let back = ledger.clock.to_note(&ledger.path);
        let doubts = counts.find_doubts(ledger).into_iter().map(note);
        doubts.chain(leap).chain(back).collect::<Vec<_>>()
    };
    counts.iter().zip(ledgers).flat_map(of_file).collect()
}
