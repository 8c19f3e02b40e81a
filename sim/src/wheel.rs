//! The event queue: an exact-order timing wheel.
//!
//! The near future is a ring of slots of equal width; each slot is sorted when its turn comes, so
//! order is exact whatever the width. What lies beyond the ring waits in a list for each further lap of the
//! ring, and is filed again when that lap begins. The ring should reach past the longest delay plus
//! queueing: too short a ring is slow, never wrong. A binary heap over the same keys is the oracle of the tests.
//!
//! A slot is a list through the nodes of its events, and following a list through memory that has left the
//! caches costs a round trip to memory for each event. So the lists of the next few slots are walked while
//! events are taken, a step for each, so that several round trips are under way at once ([`Wheel::walk`]).
//!
//! Events at equal times are ordered by their key, which the engine makes from the event's content,
//! so that no optimisation can change an order unseen.

use crate::units::{Dur, Time};
use std::collections::BTreeMap;

const SLOTS: usize = 32_768;
const WORDS: usize = SLOTS / 64;
const NONE: u32 = u32::MAX;
/// Lists walked at a time: a round trip to memory takes as long as a few events.
const WALKS: usize = 8;
/// With so many nodes, of 64 bytes, lists are worth walking.
const LARGE: usize = 4096;
/// Number of a slot that never comes.
const NEVER: u64 = u64::MAX;

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
    slots: Box<[u32; SLOTS]>,
    occupied: Box<[u64; WORDS]>,
    nodes: Vec<Node<E>>,
    /// First free node.
    free: u32,
    /// The node fetched last in each walk along a coming slot's list.
    fetched: [u32; WALKS],
    /// The walk whose turn it is.
    walk: usize,
    /// First node of what lies beyond the ring, by lap.
    far: BTreeMap<u64, u32>,
    /// Absolute number of the slot in which the first of those laps begins.
    far_slot: u64,
}

impl<E: Copy> Wheel<E> {
    /// A wheel for packets that take `packet` to send and arrive up to `horizon` later: slots are an eighth as
    /// wide as a packet, as each packet makes four events or more and a slot with one event needs no sorting, or
    /// as wide as it takes for the ring to reach that far.
    pub fn for_delays(packet: Dur, horizon: Dur) -> Wheel<E> {
        Wheel::new(Dur(packet.0 / 8).max(Dur(horizon.0 / SLOTS as u64)))
    }

    /// A wheel whose slots are about `width` wide (rounded to a power of two nanoseconds).
    pub fn new(width: Dur) -> Wheel<E> {
        let shift = 63 - width.0.clamp(1 << 8, 1 << 32).leading_zeros();
        Wheel {
            shift,
            cursor: 0,
            current: Vec::new(),
            slots: filled(NONE),
            occupied: filled(0),
            nodes: Vec::new(),
            free: NONE,
            fetched: [NONE; WALKS],
            walk: 0,
            far: BTreeMap::new(),
            far_slot: NEVER,
        }
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
        let node = &mut self.nodes[place as usize];
        (node.at, node.key) = (at, key);
        let slot = at.0 >> self.shift;
        // A slot before the cursor wraps to a great distance: its events belong to the present one.
        let ahead = slot.wrapping_sub(self.cursor);
        if ahead.wrapping_sub(1) < SLOTS as u64 {
            let index = slot as usize % SLOTS;
            node.next = std::mem::replace(&mut self.slots[index], place);
            self.occupied[index / 64] |= 1 << (index % 64);
        } else {
            self.file_elsewhere(Turn { at, key, place });
        }
    }

    /// Files an event of the present slot, or of one beyond the ring.
    #[inline(never)]
    fn file_elsewhere(&mut self, turn: Turn) {
        let slot = turn.at.0 >> self.shift;
        if slot <= self.cursor {
            let place = self.current.partition_point(|other| *other > turn);
            self.current.insert(place, turn);
        } else {
            let lap = slot / SLOTS as u64;
            let first = self.far.entry(lap).or_insert(NONE);
            self.nodes[turn.place as usize].next = std::mem::replace(first, turn.place);
            self.far_slot = self.far_slot.min(lap * SLOTS as u64);
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
    #[inline(always)]
    pub fn take(&mut self) -> Option<u32> {
        match self.current.pop() {
            Some(turn) => Some(turn.place),
            None => self.turn(),
        }
    }

    /// When the event at `place` happens, and the event.
    #[inline(always)]
    pub fn look(&self, place: u32) -> (Time, &E) {
        let node = &self.nodes[place as usize];
        (node.at, &node.event)
    }

    /// Takes the event at `place`, which was taken out of the order, and gives its place back.
    #[inline(always)]
    pub fn release(&mut self, place: u32) -> E {
        let node = &mut self.nodes[place as usize];
        node.next = std::mem::replace(&mut self.free, place);
        node.event
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

    /// Moves to the next slot that holds anything, and takes its first event.
    #[inline]
    fn turn(&mut self) -> Option<u32> {
        let window = self.window();
        let near = self.next_occupied(window);
        self.begin_walk(window);
        if near >= self.far_slot {
            return self.turn_to_far();
        }
        self.cursor = near;
        let first = self.empty(near);
        if self.nodes[first as usize].next == NONE {
            return Some(first);
        }
        self.list(first);
        self.first_of_current()
    }

    /// The same where a lap begins before the next occupied slot: files its events in the ring, which they are
    /// within as soon as the cursor stands right before them.
    #[cold]
    #[inline(never)]
    fn turn_to_far(&mut self) -> Option<u32> {
        let (_, mut place) = self.far.pop_first()?;
        self.cursor = self.far_slot - 1;
        self.far_slot = self.far.keys().next().map_or(NEVER, |lap| lap * SLOTS as u64);
        while place != NONE {
            let Node { next, at, key, .. } = self.nodes[place as usize];
            self.file(place, at, key);
            place = next;
        }
        self.turn()
    }

    /// Sorts the present slot's events and takes the first.
    #[inline(always)]
    fn first_of_current(&mut self) -> Option<u32> {
        self.current.sort_unstable_by(|a, b| b.cmp(a));
        self.current.pop().map(|turn| turn.place)
    }

    /// Takes the list out of a slot; returns its first node.
    #[inline(always)]
    fn empty(&mut self, slot: u64) -> u32 {
        let index = slot as usize % SLOTS;
        self.occupied[index / 64] &= !(1 << (index % 64));
        std::mem::replace(&mut self.slots[index], NONE)
    }

    /// Whether the events waiting outgrow the caches next to the core.
    #[inline(always)]
    fn is_large(&self) -> bool {
        self.nodes.len() > LARGE
    }

    /// Begins to walk the list of the first slot beyond the next [`WALKS`] that holds anything, if it is in the
    /// `window` on those after the cursor; in a small wheel of the one after the next, which is enough.
    #[inline(always)]
    fn begin_walk(&mut self, window: u64) {
        let beyond = if self.is_large() { window >> WALKS << WALKS } else { window & window.wrapping_sub(1) };
        let slot = (self.cursor as usize + 1 + beyond.trailing_zeros() as usize) % SLOTS;
        // By the slot, so that neighbours do not end each other's walk.
        self.fetch(slot % WALKS, if beyond != 0 { self.slots[slot] } else { NONE });
    }

    /// Fetches the node at `place`, the next of a walk.
    #[inline(always)]
    fn fetch(&mut self, walk: usize, place: u32) {
        self.fetched[walk] = place;
        if let Some(node) = self.nodes.get(place as usize) {
            prefetch(node);
        }
    }

    /// Goes a step along one of the walks, taking turns: fetches the next node of a coming slot's list, and returns
    /// the one fetched before, if there is one, which has arrived in the meantime: an event and when it happens.
    #[inline(always)]
    pub fn walk(&mut self) -> Option<(Time, &E)> {
        if !self.is_large() {
            return None;
        }
        self.walk = (self.walk + 1) % WALKS;
        let before = self.fetched[self.walk];
        let next = self.nodes.get(before as usize)?.next;
        self.fetch(self.walk, next);
        self.nodes.get(before as usize).map(|node| (node.at, &node.event))
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

    /// Lists the nodes from `place` on among the current ones.
    fn list(&mut self, mut place: u32) {
        while place != NONE {
            let node = &self.nodes[place as usize];
            self.current.push(Turn { at: node.at, key: node.key, place });
            place = node.next;
        }
    }

    /// Which of the 64 slots after the cursor hold anything, the next in the lowest bit.
    #[inline(always)]
    fn window(&self) -> u64 {
        let start = (self.cursor + 1) as usize % SLOTS;
        let (low, high) = (self.occupied[start / 64], self.occupied[(start / 64 + 1) % WORDS]);
        ((u128::from(high) << 64 | u128::from(low)) >> (start % 64)) as u64
    }

    /// Absolute number of the first occupied slot after the cursor, or [`NEVER`]; `window` shows the next ones.
    #[inline(always)]
    fn next_occupied(&self, window: u64) -> u64 {
        match window {
            0 => self.occupied_beyond(),
            _ => self.cursor + 1 + u64::from(window.trailing_zeros()),
        }
    }

    /// The same where the next slots are empty.
    #[inline(never)]
    fn occupied_beyond(&self) -> u64 {
        let start = (self.cursor + 1) as usize % SLOTS;
        let mut words = (1..=WORDS).map(|step| (start / 64 + step) % WORDS);
        let Some(word) = words.find(|&word| self.occupied[word] != 0) else { return NEVER };
        let found = word * 64 + self.occupied[word].trailing_zeros() as usize;
        self.cursor + 1 + ((found + SLOTS - start) % SLOTS) as u64
    }
}

/// An array in a box, without a detour over the stack.
fn filled<T: Copy + std::fmt::Debug, const N: usize>(item: T) -> Box<[T; N]> {
    vec![item; N].into_boxed_slice().try_into().expect("as long as asked for")
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

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
            prop_assert!(wheel.pop().is_none());
        }
    }
}
