//! Looks at what was read before it is believed: is this what it seems?
//!
//! A remark is one sentence about a file whose numbers are possible but rarely meant.

use super::draft::Draft;
use super::input::base;
use super::ledger::Ledger;
use crate::traffic::connection::Kind;
use crate::traffic::note::{Note, NoteKind};
use crate::units::Dur;

/// Files with fewer transfers than this raise no doubt.
const FEW: u64 = 20;
/// Half of the transfers of a network are larger than this, bytes.
const TINY: u64 = 100;
/// No network has round trips below this; loopback and cables on a bench do.
const NO_PATH: Dur = Dur(100_000);

/// What is counted of a file.
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
    rtts: u64,
    short_rtts: u64,
}

impl Counts {
    fn add(&mut self, draft: &Draft) {
        self.connections += 1;
        self.clients_differ |= *self.client.get_or_insert(draft.client) != draft.client;
        self.servers_differ |= *self.server.get_or_insert(draft.server) != draft.server;
        if draft.kind == Kind::Datagrams {
            return;
        }
        for write in draft.writes.iter() {
            self.transfers += 1;
            self.tiny += u64::from(write.bytes < TINY);
            self.sizes_differ |= *self.size.get_or_insert(write.bytes) != write.bytes;
        }
        if let Some(rtt) = Option::<Dur>::from(draft.rtt) {
            self.rtts += 1;
            self.short_rtts += u64::from(rtt < NO_PATH);
        }
    }

    fn doubts(&self, kind: &str) -> Vec<String> {
        let mut doubts = Vec::new();
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
        if self.connections >= FEW && !self.clients_differ && self.servers_differ && kind != "har" {
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
}

/// Returns remarks on files that may not be what they seem.
pub fn look(connections: &[Draft], ledgers: &[Ledger]) -> Vec<Note> {
    let mut counts: Vec<Counts> = ledgers.iter().map(|_| Counts::default()).collect();
    for draft in connections {
        if let Some(counts) = counts.get_mut(draft.file as usize) {
            counts.add(draft);
        }
    }
    let of_file = |(counts, ledger): (&Counts, &Ledger)| {
        let name = base(&ledger.path);
        let note = |doubt: String| Note::new(NoteKind::Doubt, Some(name.clone()), format!("{name}: {doubt}"));
        counts.doubts(&ledger.kind).into_iter().map(note).collect::<Vec<_>>()
    };
    counts.iter().zip(ledgers).flat_map(of_file).collect()
}
