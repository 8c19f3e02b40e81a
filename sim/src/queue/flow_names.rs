//! Names of flows, for hashes: a connection in one direction.

use crate::flow::Flow;
use crate::packet::Packet;
use crate::rng::mix;

/// The keys of connections by slot. A slot's next connection is another flow, as slots are used again at once.
#[derive(Default)]
pub(super) struct FlowNames {
    keys: Vec<u64>,
}

impl FlowNames {
    /// Records the key of a new connection in `slot`, in place of the one before.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        let slot = slot as usize;
        self.keys.resize(self.keys.len().max(slot + 1), 0);
        self.keys[slot] = flow.key;
    }

    /// Returns the name of a packet's flow: a hash of its connection's key, its slot and its
    /// direction. The key of a slot that was not opened counts as 0.
    pub fn name(&self, packet: &Packet) -> u64 {
        let key = self.keys.get(packet.flow as usize).copied().unwrap_or_default();
        mix(key) ^ (u64::from(packet.flow) * 2 + u64::from(packet.is_reverse()))
    }
}
