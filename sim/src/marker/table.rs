//! A marker's table: states by flow, by connection or by user, as in an edge router.

use crate::flow::Flow;
use mousehole_policy::{Key, Policy};

/// Returns the entry of `slot` for changing, and fills the list with defaults if it is too short.
pub fn grow_to<T: Default>(list: &mut Vec<T>, slot: u32) -> &mut T {
    let slot = slot as usize;
    if slot >= list.len() {
        list.resize_with(slot + 1, T::default);
    }
    &mut list[slot]
}

/// States of a policy, each of `width` words. All zero is a fresh state.
///
/// A connection slot is reused while its old flow is still remembered, as a table keyed by 5-tuple would remember it.
/// If the policy counts the flows in its table, such flows linger until they expire.
#[derive(Debug, Clone)]
pub struct Table {
    width: usize,
    key: Key,
    /// Whether flows linger after their connection has ended.
    lingers: bool,
    states: Vec<u64>,
    lingering: Vec<u64>,
    /// The user of each slot, where states are by user.
    users: Vec<u32>,
}

impl Table {
    /// Returns an empty table for a policy; `lingers` says whether flows stay after their
    /// connection has ended, until they expire.
    pub fn new(policy: &Policy, lingers: bool) -> Table {
        Table {
            width: policy.flow_words(),
            key: policy.key(),
            lingers,
            states: Vec::new(),
            lingering: Vec::new(),
            users: Vec::new(),
        }
    }

    /// Starts a fresh flow in `slot`, whose connection is new. Where states are by user, the user's
    /// state stays. The state of the flow before lingers or is lost.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        if self.key == Key::User {
            *grow_to(&mut self.users, slot) = flow.client;
            self.grow(flow.client);
            return;
        }
        self.grow(slot);
        let at = slot as usize * self.width;
        let state = &mut self.states[at..at + self.width];
        if self.lingers && state.iter().any(|word| *word != 0) {
            self.lingering.extend_from_slice(state);
        }
        state.fill(0);
    }

    /// Returns the state of the flow, connection or user of `slot` for changing. It panics for a
    /// slot that was not opened.
    #[inline]
    pub fn state(&mut self, slot: u32) -> &mut [u64] {
        let index = if self.key == Key::User { self.users[slot as usize] } else { slot } as usize;
        &mut self.states[index * self.width..][..self.width]
    }

    /// Clears the flows for which `is_over` returns true; it is called for each state that is not
    /// fresh. The order of its calls does not depend on which slots were reused. A policy without
    /// state has nothing to sweep.
    pub fn sweep(&mut self, mut is_over: impl FnMut(&[u64]) -> bool) {
        if self.width == 0 {
            return;
        }
        for state in self.states.chunks_exact_mut(self.width) {
            if state.iter().any(|word| *word != 0) && is_over(state) {
                state.fill(0);
            }
        }
        let mut kept = 0;
        for start in (0..self.lingering.len()).step_by(self.width) {
            if !is_over(&self.lingering[start..start + self.width]) {
                self.lingering.copy_within(start..start + self.width, kept);
                kept += self.width;
            }
        }
        self.lingering.truncate(kept);
    }

    /// Returns every state in the table, fresh ones included, then the lingering ones.
    pub fn states(&self) -> impl Iterator<Item = &[u64]> {
        let width = self.width.max(1);
        self.states.chunks_exact(width).chain(self.lingering.chunks_exact(width))
    }

    /// Grows the states to hold `index`.
    fn grow(&mut self, index: u32) {
        let needed = (index as usize + 1) * self.width;
        if needed > self.states.len() {
            self.states.resize(needed, 0);
        }
    }
}
