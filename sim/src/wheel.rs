//! The event queue: an exact-order timing wheel.
//!
//! The near future is a ring of slots of equal width; each slot is sorted when its turn comes, so
//! order is exact whatever the width. What lies beyond the ring waits in a heap. The ring should
//! reach past the longest delay plus queueing: too short a ring is slow, never wrong. A binary heap
//! over the same keys is the oracle of the tests.
//!
//! Events at equal times are ordered by their key, which the engine makes from the event's content,
//! so that no optimisation can change an order unseen.

use crate::units::{Dur, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const SLOTS: u64 = 8192;
const WORDS: usize = (SLOTS / 64) as usize;
const NONE: u32 = u32::MAX;

/// Has the processor fetch what will be needed soon; changes nothing.
#[inline(always)]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<T>() / 64 {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start: *const i8 = std::ptr::from_ref(item).cast();
        // SAFETY: a hint about an address within `item`, which is neither read nor written.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(line * 64)) };
    }
}

/// An event with its place in the order.
#[derive(Debug, Clone, Copy)]
pub struct Scheduled<E> {
    /// When it happens.
    pub at: Time,
    /// Order among events of the same time.
    pub key: u64,
    /// What happens.
    pub event: E,
}

/// A waiting event and the next node of its slot's list, or of the free ones; a cache line for the engine's events.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Node<E> {
    event: E,
    next: u32,
    at: Time,
    key: u64,
}

/// Place of a node in the order; what is sorted in place of the events themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    at: Time,
    key: u64,
    place: u32,
}

/// Future events in exact order of (time, key).
///
/// An event is written once, into a node of one pool, and stays there until it is freed: one that leads to the
/// next, as a packet's arrival at a link does, is changed in place and filed again. Slots are lists
/// through that pool, whose freed places are used again at once, so that the memory in use is that of the
/// events waiting. A vector per slot was slower: it walked through every slot's own memory once per turn of
/// the ring.
pub struct Wheel<E> {
    shift: u32,
    /// Absolute number of the slot being emptied.
    cursor: u64,
    /// That slot's events, latest first, so that the next one is taken from the end.
    current: Vec<Turn>,
    /// First node of each slot.
    slots: Vec<u32>,
    nodes: Vec<Node<E>>,
    /// First free node.
    free: u32,
    occupied: [u64; WORDS],
    far: BinaryHeap<Reverse<Turn>>,
    len: usize,
}

impl<E: Copy> Wheel<E> {
    /// A wheel for packets that take `packet` to send and arrive up to `horizon` later: slots are a quarter
    /// as wide as a packet, as each packet makes four events or more and a slot with one event needs no sorting, or
    /// as wide as it takes for the ring to reach that far.
    pub fn for_delays(packet: Dur, horizon: Dur) -> Wheel<E> {
        Wheel::new(Dur(packet.0 / 4).max(Dur(horizon.0 / SLOTS)))
    }

    /// A wheel whose slots are about `width` wide (rounded to a power of two nanoseconds).
    pub fn new(width: Dur) -> Wheel<E> {
        let shift = 63 - width.0.clamp(1 << 8, 1 << 32).leading_zeros();
        Wheel {
            shift,
            cursor: 0,
            current: Vec::new(),
            slots: vec![NONE; SLOTS as usize],
            nodes: Vec::new(),
            free: NONE,
            occupied: [0; WORDS],
            far: BinaryHeap::new(),
            len: 0,
        }
    }

    /// Number of events waiting.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event; `at` must not lie before the last popped event.
    #[inline(always)]
    pub fn push(&mut self, at: Time, key: u64, event: E) {
        let place = self.hold(event);
        self.file(place, at, key);
    }

    /// Files the event held at `place`; `at` must not lie before the last taken event.
    #[inline(always)]
    pub fn file(&mut self, place: u32, at: Time, key: u64) {
        self.len += 1;
        let node = &mut self.nodes[place as usize];
        (node.at, node.key) = (at, key);
        let slot = at.0 >> self.shift;
        // A slot before the cursor wraps to a great distance: its events belong to the present one.
        let ahead = slot.wrapping_sub(self.cursor);
        if ahead.wrapping_sub(1) < SLOTS - 1 {
            let index = (slot % SLOTS) as usize;
            node.next = std::mem::replace(&mut self.slots[index], place);
            self.occupied[index / 64] |= 1 << (index % 64);
        } else {
            self.file_elsewhere(Turn { at, key, place });
        }
    }

    /// Files an event of the present slot, or of one beyond the ring.
    #[inline(never)]
    fn file_elsewhere(&mut self, turn: Turn) {
        if turn.at.0 >> self.shift <= self.cursor {
            let place = self.current.partition_point(|other| *other > turn);
            self.current.insert(place, turn);
        } else {
            self.far.push(Reverse(turn));
        }
    }

    /// Removes the earliest event.
    pub fn pop(&mut self) -> Option<Scheduled<E>> {
        let place = self.take()?;
        let Node { at, key, event, .. } = self.nodes[place as usize];
        self.free(place);
        Some(Scheduled { at, key, event })
    }

    /// Takes the earliest event out of the order and leaves it at its place, to be filed again or freed.
    #[inline]
    pub fn take(&mut self) -> Option<u32> {
        loop {
            if let Some(turn) = self.current.pop() {
                self.len -= 1;
                return Some(turn.place);
            }
            if self.len == 0 {
                return None;
            }
            let only = self.turn();
            if only != NONE {
                self.len -= 1;
                return Some(only);
            }
        }
    }

    /// When the event at `place` happens.
    #[inline]
    pub fn time(&self, place: u32) -> Time {
        self.nodes[place as usize].at
    }

    /// The event at `place`.
    #[inline]
    pub fn event(&self, place: u32) -> &E {
        &self.nodes[place as usize].event
    }

    /// The event at `place`, to be changed.
    #[inline]
    pub fn event_mut(&mut self, place: u32) -> &mut E {
        &mut self.nodes[place as usize].event
    }

    /// Gives back a place whose event was taken.
    #[inline]
    pub fn free(&mut self, place: u32) {
        self.nodes[place as usize].next = std::mem::replace(&mut self.free, place);
    }

    /// The event after the last popped one, if it lies in the same slot.
    #[inline]
    pub fn upcoming(&self) -> Option<&E> {
        self.current.last().map(|turn| &self.nodes[turn.place as usize].event)
    }

    /// Moves to the next slot that holds anything, and sorts it; returns its event if that is the only one.
    #[inline]
    fn turn(&mut self) -> u32 {
        let near = self.next_occupied();
        let far = self.far.peek().map(|Reverse(turn)| turn.at.0 >> self.shift);
        let next = match (near, far) {
            (Some(near), Some(far)) => near.min(far),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return NONE,
        };
        self.cursor = next;
        if near == Some(next) {
            let index = (next % SLOTS) as usize;
            let first = std::mem::replace(&mut self.slots[index], NONE);
            self.occupied[index / 64] &= !(1 << (index % 64));
            self.look_ahead(index);
            if far != Some(next) && self.nodes[first as usize].next == NONE {
                return first;
            }
            self.list(first);
        }
        while self.far.peek().is_some_and(|Reverse(turn)| turn.at.0 >> self.shift <= next) {
            self.current.extend(self.far.pop().map(|Reverse(turn)| turn));
        }
        if self.current.len() > 1 {
            self.current.sort_unstable_by(|a, b| b.cmp(a));
        }
        NONE
    }

    /// Puts an event into a free place, to be filed there.
    ///
    /// Always inlined, so that the event is made in its node: built elsewhere field by field and then copied in
    /// larger pieces, each copy waits until the fields have left the store buffer.
    #[inline(always)]
    pub fn hold(&mut self, event: E) -> u32 {
        if self.free == NONE {
            self.grow(event);
        }
        let place = self.free;
        let node = &mut self.nodes[place as usize];
        self.free = node.next;
        node.event = event;
        place
    }

    /// Makes a free place, holding any event.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, event: E) {
        self.free = self.nodes.len() as u32;
        self.nodes.push(Node { event, next: NONE, at: Time::ZERO, key: 0 });
    }

    /// Fetches the first node of the next slot, if that is near: it was written long ago.
    #[inline]
    fn look_ahead(&self, index: usize) {
        // Bits below belong to the next round of the ring.
        let word = self.occupied[index / 64] & (u64::MAX << (index % 64));
        let next = index / 64 * 64 + word.trailing_zeros() as usize;
        if word != 0
            && let Some(node) = self.nodes.get(self.slots[next % SLOTS as usize] as usize)
        {
            prefetch(node);
        }
    }

    /// Lists the nodes from `place` on among the current ones.
    fn list(&mut self, mut place: u32) {
        while place != NONE {
            let node = &self.nodes[place as usize];
            self.current.push(Turn { at: node.at, key: node.key, place });
            place = node.next;
        }
    }

    /// Absolute number of the first occupied slot after the cursor.
    fn next_occupied(&self) -> Option<u64> {
        let start = ((self.cursor + 1) % SLOTS) as usize;
        let first = self.occupied[start / 64] & (u64::MAX << (start % 64));
        let found = if first != 0 {
            start / 64 * 64 + first.trailing_zeros() as usize
        } else {
            let word =
                (1..=WORDS).map(|step| (start / 64 + step) % WORDS).find(|&word| self.occupied[word] != 0)?;
            word * 64 + self.occupied[word].trailing_zeros() as usize
        };
        let ahead = (found + SLOTS as usize - start) % SLOTS as usize;
        Some(self.cursor + 1 + ahead as u64)
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Any mixture of pushes and pops comes out as a binary heap would give it.
        #[test]
        fn wheel__pops_as_a_heap_does(steps in prop::collection::vec((0u64..40_000_000, any::<bool>()), 1..400)) {
            let mut wheel = Wheel::new(Dur(1 << 10));
            let mut heap = BinaryHeap::new();
            let mut now = 0;
            for (key, (ahead, pop)) in steps.into_iter().enumerate() {
                let item = (now + ahead * (1 + key as u64 % 3 * 50), key as u64);
                wheel.push(Time(item.0), item.1, ());
                heap.push(Reverse(item));
                if pop {
                    let got = wheel.pop().map(|item| (item.at.0, item.key));
                    prop_assert_eq!(got, heap.pop().map(|Reverse(item)| item));
                    now = got.map_or(now, |(at, _)| at);
                }
            }
            while let Some(Reverse(expected)) = heap.pop() {
                prop_assert_eq!(wheel.pop().map(|item| (item.at.0, item.key)), Some(expected));
            }
            prop_assert!(wheel.is_empty());
        }
    }
}
