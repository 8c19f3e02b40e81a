//! Markers at work: per-flow state of the policies, and what is only ns-2's.
//!
//! A marker stands at the edge, before the queue of a link; it sees every packet of its direction.

use crate::packet::{Colour, Packet};
use crate::rng::{Purpose, Stream};
use crate::units::{Dur, Time};
use mousehole_policy::sfd;

/// Every marker there is, with its state.
pub enum Marker {
    /// Leaves every packet green.
    None,
    /// SFD and its promotions; one flow per connection slot.
    Sfd {
        /// Parameters of the policy.
        params: Box<sfd::Params>,
        /// State by connection slot.
        flows: Vec<sfd::Flow>,
        /// Seed of the promotion dice; `None` where nothing is left to chance.
        seed: Option<u64>,
    },
    /// SFD as ns-2.35 implements it.
    Ns2Sfd(Ns2Sfd),
}

impl Marker {
    /// A connection took over `slot`: its 5-tuple is new.
    pub fn open(&mut self, slot: u32) {
        match self {
            Marker::None => {}
            Marker::Sfd { flows, .. } => {
                let slot = slot as usize;
                if slot >= flows.len() {
                    flows.resize(slot + 1, sfd::Flow::default());
                }
                flows[slot] = sfd::Flow::default();
            }
            Marker::Ns2Sfd(table) => table.open(slot),
        }
    }

    /// Colours a packet. `identity` names the flow across schemes, for its dice.
    pub fn mark(&mut self, packet: &mut Packet, identity: u64, now: Time) {
        match self {
            Marker::None => {}
            Marker::Sfd { params, flows, seed } => {
                let flow = &mut flows[packet.flow as usize];
                let random = seed.map_or(0, |seed| {
                    let index = u64::from(packet.seq) << 32 ^ now.0;
                    Stream::new(seed, Purpose::Marker, identity).at(index) as u32
                });
                packet.colour = sfd::packet(params, flow, &packet.view(), now.0, random);
            }
            Marker::Ns2Sfd(table) => packet.colour = table.mark(packet.flow, u32::from(packet.bytes), now),
        }
    }
}

/// SFD as ns-2.35's DiffServ policy does it, quirks included (`oracle/semantics.md`, 1.2):
/// a 5 s timeout, checked only on entries walked past on the way to the packet's own, and (for
/// S-SFD) one packet promoted after every five. No parameter worth having, so not a policy.
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
    /// Threshold in bytes, current packet included; `selective` is S-SFD's counter.
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

    /// A new flow id for the slot, as ns-2 gives every object its own.
    pub fn open(&mut self, slot: u32) {
        let slot = slot as usize;
        if slot >= self.names.len() {
            self.names.resize(slot + 1, 0);
        }
        self.names[slot] = self.next_name;
        self.next_name += 1;
    }

    /// Green for IN, yellow for OUT.
    pub fn mark(&mut self, slot: u32, bytes: u32, now: Time) -> Colour {
        let name = self.names[slot as usize];
        let index = self.find(name, now);
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

    /// Walks the list to the flow's entry, purging stale ones on the way; appends a new one at the end.
    fn find(&mut self, name: u64, now: Time) -> usize {
        let own = self.entries.iter().position(|entry| entry.name == name).unwrap_or(self.entries.len());
        let timeout = self.timeout;
        let mut place = 0;
        let mut kept = 0;
        self.entries.retain(|entry| {
            let keep = place >= own || entry.last + timeout >= now;
            kept += usize::from(keep && place < own);
            place += 1;
            keep
        });
        if kept == self.entries.len() {
            self.entries.push(Entry { name, bytes: 0, out: 0, last: now });
        }
        kept
    }
}
