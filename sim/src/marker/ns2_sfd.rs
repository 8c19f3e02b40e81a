//! SFD as ns-2.35 implements it.

use super::table::grow_to;
use crate::packet::Colour;
use crate::units::{Dur, Time};

/// SFD as in ns-2.35's DiffServ policy, quirks included (`oracle/semantics.md`, 1.2): a 5 s
/// timeout, checked only on entries walked past on the way to the packet's own, and (for S-SFD) one
/// packet promoted after every five. It has no parameter of interest and is therefore not a policy.
#[derive(Debug, Clone)]
pub struct Ns2Sfd {
    threshold: u32,
    selective: bool,
    timeout: Dur,
    /// In order of first packet.
    entries: Vec<Entry>,
    names: Vec<u64>,
    next_name: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    name: u64,
    bytes: u64,
    out: u8,
    last: Time,
}

impl Ns2Sfd {
    /// Returns a marker with this threshold in bytes, which includes the current packet; `selective` is
    /// S-SFD's counter.
    pub fn new(threshold: u32, selective: bool) -> Ns2Sfd {
        Ns2Sfd {
            threshold,
            selective,
            timeout: Dur(5_000_000_000),
            entries: Vec::new(),
            names: Vec::new(),
            next_name: 0,
        }
    }

    /// Assigns a new flow id to the slot, as ns-2 does for every object.
    pub fn open(&mut self, slot: u32) {
        *grow_to(&mut self.names, slot) = self.next_name;
        self.next_name += 1;
    }

    /// Counts the packet, of `bytes` of IP length, for its flow; returns green for IN, yellow for
    /// OUT. It panics for a slot that was not opened.
    pub fn mark(&mut self, slot: u32, bytes: u32, now: Time) -> Colour {
        let name = self.names[slot as usize];
        let index = self.find_or_add_entry(name, now);
        let entry = &mut self.entries[index];
        entry.last = now;
        entry.bytes += u64::from(bytes);
        if entry.bytes <= u64::from(self.threshold) {
            return Colour::Green;
        }
        if self.selective {
            if entry.out == 5 {
                entry.out = 0;
                return Colour::Green;
            }
            entry.out += 1;
        }
        Colour::Yellow
    }

    /// Returns the index of the flow's entry. Walks the list from its beginning and removes stale
    /// entries on the way; appends a new entry, without bytes, at the end if the flow has none.
    fn find_or_add_entry(&mut self, name: u64, now: Time) -> usize {
        let own = self.entries.iter().position(|entry| entry.name == name).unwrap_or(self.entries.len());
        let timeout = self.timeout;
        let mut position = 0;
        let mut kept = 0;
        self.entries.retain(|entry| {
            let keep = position >= own || entry.last + timeout >= now;
            kept += usize::from(keep && position < own);
            position += 1;
            keep
        });
        if kept == self.entries.len() {
            self.entries.push(Entry { name, bytes: 0, out: 0, last: now });
        }
        kept
    }
}
