//! State by flow, and by user: what an edge router would keep in its tables.

use crate::flow::Flow;

/// The entry of `slot`, in a list that grows to hold it.
pub fn grown<T: Default>(list: &mut Vec<T>, slot: u32) -> &mut T {
    let slot = slot as usize;
    if slot >= list.len() {
        list.resize_with(slot + 1, T::default);
    }
    &mut list[slot]
}

/// States of flows by connection slot.
///
/// A slot is taken over by the next connection while its old flow is still remembered, as a table keyed by
/// 5-tuple would: such flows linger until they expire, since schemes count the flows in their table.
#[derive(Debug)]
pub struct Flows<F> {
    slots: Vec<F>,
    lingering: Vec<F>,
    is_used: fn(&F) -> bool,
}

impl<F: Default> Flows<F> {
    /// An empty table; `is_used` tells a flow that has sent packets from one that has not.
    pub fn new(is_used: fn(&F) -> bool) -> Flows<F> {
        Flows { slots: Vec::new(), lingering: Vec::new(), is_used }
    }

    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32) {
        let old = std::mem::take(grown(&mut self.slots, slot));
        if (self.is_used)(&old) {
            self.lingering.push(old);
        }
    }

    /// The state of the connection in `slot`.
    #[inline]
    pub fn of(&mut self, slot: u32) -> &mut F {
        &mut self.slots[slot as usize]
    }

    /// Forgets the flows that are `expired`, telling `ended` of each; in an order that does not depend on slots reused.
    pub fn sweep(&mut self, expired: impl Fn(&F) -> bool, mut ended: impl FnMut(&F)) {
        for flow in &mut self.slots {
            if (self.is_used)(flow) && expired(flow) {
                ended(flow);
                *flow = F::default();
            }
        }
        self.lingering.retain(|flow| {
            let over = expired(flow);
            if over {
                ended(flow);
            }
            !over
        });
    }

    /// Every flow that has sent packets and is not forgotten.
    pub fn active(&self) -> impl Iterator<Item = &F> {
        self.slots.iter().filter(|flow| (self.is_used)(flow)).chain(&self.lingering)
    }
}

/// States of users, a user being a client host, by the slots of their connections.
#[derive(Debug)]
pub struct Users<S> {
    of_slot: Vec<u32>,
    states: Vec<S>,
}

impl<S: Default> Users<S> {
    /// No user yet.
    pub fn new() -> Users<S> {
        Users { of_slot: Vec::new(), states: Vec::new() }
    }

    /// A connection of `flow.client` took over `slot`.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        *grown(&mut self.of_slot, slot) = flow.client;
        grown(&mut self.states, flow.client);
    }

    /// The state of the user of the connection in `slot`.
    #[inline]
    pub fn of(&mut self, slot: u32) -> &mut S {
        &mut self.states[self.of_slot[slot as usize] as usize]
    }
}

impl<S: Default> Default for Users<S> {
    fn default() -> Self {
        Users::new()
    }
}
