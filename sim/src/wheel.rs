//! The event queue: a timing wheel that keeps events in exact order.
//!
//! The near future is a ring of slots of equal width. Each slot is sorted when its turn comes, so the order is exact
//! whatever the width. An event beyond the ring waits in an overflow bucket, one for each further rotation of the
//! ring, and is scheduled again when that rotation begins. The ring should span the longest delay plus queueing: a
//! ring that is too short is slow, never wrong. The tests compare the wheel with a binary heap over the same keys.
//!
//! A slot is a linked list of nodes. Following a list through memory that has left the caches costs one memory
//! access per event, so the lists of the next few slots are prefetched while events are handled, one step per event,
//! and several memory accesses overlap ([`Wheel::prefetch_step`]).
//!
//! Events of equal time are ordered by their key. The engine derives it from the event's content, so no
//! optimisation can change an order unnoticed. Events of equal time and key keep the order in which they were
//! scheduled, provided that they were scheduled at the same time.

use crate::units::{Dur, Time};
use std::collections::BTreeMap;

/// Slots of the ring.
const SLOTS: usize = 32_768;
/// Words of the bit map of occupied slots.
const WORDS: usize = SLOTS / 64;
/// Sentinel for a node: the end of a list.
const NONE: u32 = u32::MAX;
/// Number of slot lists prefetched at a time: a memory access takes as long as a few events.
const PREFETCHED_LISTS: usize = 8;
/// From this number of nodes, of 64 bytes each, prefetching lists pays.
const LARGE: usize = 4096;
/// Sentinel for a slot number: no slot is occupied, or no overflow bucket is pending.
const NEVER: u64 = u64::MAX;

/// Asks the processor to load `item` into its caches; has no other effect.
#[inline(always)]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<T>() / 64 {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start: *const i8 = std::ptr::from_ref(item).cast();
        // SAFETY: a hint about an address within `item`, which is neither read nor written.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(line * 64)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// An event with its time and key.
#[derive(Debug, Clone, Copy)]
pub struct Scheduled<E> {
    /// Time of the event.
    pub at: Time,
    /// Order among events of the same time.
    pub key: u64,
    /// The event.
    pub event: E,
}

/// A waiting event and the next node of its slot's list, or of the free list; one cache line for the engine's
/// events.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Node<E> {
    event: E,
    next: u32,
    at: Time,
    key: u64,
}

/// A node with its time and key; sorted instead of the events themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OrderedNode {
    at: Time,
    key: u64,
    /// Orders nodes of equal time and key that were in the same list: the one scheduled first has the lowest.
    rank: u32,
    node: u32,
}

/// Future events in exact order of (time, key).
///
/// An event is written once, into a node of one pool, and stays there until the node is freed. An event that leads to
/// the next one, as a packet's arrival at a link does, is changed in its node and scheduled again. Slots are linked
/// lists through the pool, and freed nodes are reused at once, so the memory in use is that of the waiting events.
/// A vector per slot was slower: each rotation of the ring went through the memory of every slot.
pub struct Wheel<E> {
    shift: u32,
    /// Absolute number of the present slot.
    cursor: u64,
    /// Nodes of the present slot, latest first, so that the next one is popped from the end.
    current: Vec<OrderedNode>,
    /// First node of each slot.
    slots: Box<[u32; SLOTS]>,
    occupied: Box<[u64; WORDS]>,
    nodes: Vec<Node<E>>,
    /// First free node.
    free: u32,
    /// The node prefetched last of each list being prefetched, or `NONE`.
    prefetched: [u32; PREFETCHED_LISTS],
    /// The list whose turn it is.
    prefetch_turn: usize,
    /// Overflow buckets: the first node of each, by the rotation of the ring it belongs to.
    overflow: BTreeMap<u64, u32>,
    /// Absolute number of the first slot of the first overflow bucket, or [`NEVER`].
    overflow_slot: u64,
}

impl<E: Copy + Default> Wheel<E> {
    /// Memory of one waiting event in bytes.
    pub const NODE_BYTES: usize = size_of::<Node<E>>();

    /// Returns a wheel for packets that take `packet` to transmit and arrive up to `horizon` later. Slots are a
    /// sixteenth as wide as a packet, because each packet makes four events or more and a slot with one event needs no
    /// sorting; they are wider if the ring would not span `horizon` otherwise.
    pub fn for_delays(packet: Dur, horizon: Dur) -> Wheel<E> {
        Wheel::new(Dur(packet.0 / 16).max(Dur(horizon.0 / SLOTS as u64)))
    }

    /// Returns an empty wheel whose slots are about `width` wide: rounded down to a power of two
    /// nanoseconds, from 256 ns to 4.3 s.
    pub fn new(width: Dur) -> Wheel<E> {
        let shift = 63 - width.0.clamp(1 << 8, 1 << 32).leading_zeros();
        Wheel {
            shift,
            cursor: 0,
            current: Vec::new(),
            slots: box_filled(NONE),
            occupied: box_filled(0),
            nodes: Vec::new(),
            free: NONE,
            prefetched: [NONE; PREFETCHED_LISTS],
            prefetch_turn: 0,
            overflow: BTreeMap::new(),
            overflow_slot: NEVER,
        }
    }

    /// Schedules a new event at `at`, in the order of `key` among those of that time; `at` must not
    /// lie before the last popped event.
    #[inline(always)]
    pub fn push(&mut self, at: Time, key: u64, event: E) {
        let node = self.store_event(event);
        self.schedule(node, at, key);
    }

    /// Schedules the event stored in `node`, which must not be scheduled or free; `at` must not lie
    /// before the last popped event.
    #[inline(always)]
    pub fn schedule(&mut self, node: u32, at: Time, key: u64) {
        let entry = &mut self.nodes[node as usize];
        (entry.at, entry.key) = (at, key);
        let slot = at.0 >> self.shift;
        // A slot before the cursor wraps to a great distance; its events belong to the present slot.
        let ahead = slot.wrapping_sub(self.cursor);
        if ahead.wrapping_sub(1) < SLOTS as u64 {
            let index = slot as usize % SLOTS;
            entry.next = std::mem::replace(&mut self.slots[index], node);
            self.occupied[index / 64] |= 1 << (index % 64);
        } else {
            self.schedule_elsewhere(OrderedNode { at, key, rank: 0, node });
        }
    }

    /// Schedules an event of the present slot or an earlier one, in order, or one beyond the ring,
    /// in its overflow bucket.
    #[inline(never)]
    fn schedule_elsewhere(&mut self, ordered: OrderedNode) {
        let slot = ordered.at.0 >> self.shift;
        if slot <= self.cursor {
            let index =
                self.current.partition_point(|other| (other.at, other.key) > (ordered.at, ordered.key));
            self.current.insert(index, ordered);
        } else {
            let rotation = slot / SLOTS as u64;
            let first = self.overflow.entry(rotation).or_insert(NONE);
            self.nodes[ordered.node as usize].next = std::mem::replace(first, ordered.node);
            self.overflow_slot = self.overflow_slot.min(rotation * SLOTS as u64);
        }
    }

    /// Removes and returns the earliest event and frees its node; `None` if no event waits.
    pub fn pop(&mut self) -> Option<Scheduled<E>> {
        let node = self.pop_node()?;
        let Node { at, key, event, .. } = self.nodes[node as usize];
        self.free_node(node);
        Some(Scheduled { at, key, event })
    }

    /// Removes the earliest event from the order and returns its node, which still stores the
    /// event; `None` if no event waits. The caller schedules the node again or frees it.
    #[inline(always)]
    pub fn pop_node(&mut self) -> Option<u32> {
        match self.current.pop() {
            Some(ordered) => Some(ordered.node),
            None => self.advance_cursor(),
        }
    }

    /// Returns the time of the event in `node`, and the event. Both are meaningless in a free node.
    #[inline(always)]
    pub fn event(&self, node: u32) -> (Time, &E) {
        let entry = &self.nodes[node as usize];
        (entry.at, &entry.event)
    }

    /// Returns the event in `node`, which must have been popped, and frees the node.
    #[inline(always)]
    pub fn take_event(&mut self, node: u32) -> E {
        let entry = &mut self.nodes[node as usize];
        entry.next = std::mem::replace(&mut self.free, node);
        entry.event
    }

    /// Returns the event in `node` for changing; its time and key do not change with it.
    #[inline]
    pub fn event_mut(&mut self, node: u32) -> &mut E {
        &mut self.nodes[node as usize].event
    }

    /// Frees a node that has been popped; a later event may be stored in it.
    #[inline]
    pub fn free_node(&mut self, node: u32) {
        self.nodes[node as usize].next = std::mem::replace(&mut self.free, node);
    }

    /// Moves the cursor to the next occupied slot, prefetches later ones, and pops its first node;
    /// `None` if no event waits. The present slot must be empty.
    ///
    /// Always inlined: most slots have a single node, and for one node the call would cost as much
    /// as the work.
    #[inline(always)]
    fn advance_cursor(&mut self) -> Option<u32> {
        let window = self.window();
        let near = self.next_occupied(window);
        if self.is_large() {
            self.begin_prefetch(window);
        } else {
            self.prefetch_second(window);
        }
        if near >= self.overflow_slot {
            return self.load_overflow();
        }
        self.cursor = near;
        let first = self.empty_slot(near);
        if self.nodes[first as usize].next == NONE {
            return Some(first);
        }
        Some(self.sort_and_pop(first))
    }

    /// Moves the cursor where an overflow bucket begins no later than the next occupied slot, and
    /// pops the first node. It schedules the bucket's events in the ring, which spans them once the
    /// cursor stands right before them. Returns `None` if no event waits.
    #[cold]
    #[inline(never)]
    fn load_overflow(&mut self) -> Option<u32> {
        let (_, latest) = self.overflow.pop_first()?;
        self.cursor = self.overflow_slot - 1;
        self.overflow_slot = self.overflow.keys().next().map_or(NEVER, |rotation| rotation * SLOTS as u64);
        let mut node = self.reverse_list(latest);
        while node != NONE {
            let Node { next, at, key, .. } = self.nodes[node as usize];
            self.schedule(node, at, key);
            node = next;
        }
        self.pop_node()
    }

    /// Reverses the list from `node` on; returns its new first node.
    fn reverse_list(&mut self, mut node: u32) -> u32 {
        let mut reversed = NONE;
        while node != NONE {
            let next = std::mem::replace(&mut self.nodes[node as usize].next, reversed);
            (reversed, node) = (node, next);
        }
        reversed
    }

    /// Sorts the list from `first` on, of at least two nodes, into the present slot, which is empty, and pops the
    /// earliest.
    #[inline(never)]
    fn sort_and_pop(&mut self, first: u32) -> u32 {
        let (one, other) =
            (self.ordered_node(first, 1), self.ordered_node(self.nodes[first as usize].next, 0));
        if self.nodes[other.node as usize].next == NONE {
            // Most slots with several nodes have two.
            self.current.push(one.max(other));
            return one.min(other).node;
        }
        self.append_list(first);
        self.current.sort_unstable_by(|a, b| b.cmp(a));
        self.current.pop().map_or(first, |ordered| ordered.node)
    }

    /// Empties a slot of the ring, given by its absolute number, and returns the first node of its
    /// list.
    #[inline(always)]
    fn empty_slot(&mut self, slot: u64) -> u32 {
        let index = slot as usize % SLOTS;
        self.occupied[index / 64] &= !(1 << (index % 64));
        std::mem::replace(&mut self.slots[index], NONE)
    }

    /// Returns whether the waiting events outgrow the caches next to the core.
    #[inline(always)]
    fn is_large(&self) -> bool {
        self.nodes.len() > LARGE
    }

    /// Prefetches the first node of the second occupied slot of the `window`, which is enough in a
    /// small wheel; nothing else changes.
    #[inline(always)]
    fn prefetch_second(&self, window: u64) {
        let beyond = window & window.wrapping_sub(1);
        let slot = (self.cursor as usize + 1 + beyond.trailing_zeros() as usize) % SLOTS;
        if let Some(node) = self.nodes.get(self.slots[slot] as usize) {
            prefetch(node);
        }
    }

    /// Begins to prefetch the list of the first occupied slot beyond the next [`PREFETCHED_LISTS`], if the `window`
    /// shows one.
    #[inline(always)]
    fn begin_prefetch(&mut self, window: u64) {
        let beyond = window >> PREFETCHED_LISTS << PREFETCHED_LISTS;
        let slot = (self.cursor as usize + 1 + beyond.trailing_zeros() as usize) % SLOTS;
        // Chosen by the slot, so that neighbouring slots do not end each other's prefetch.
        self.prefetch_node(slot % PREFETCHED_LISTS, if beyond != 0 { self.slots[slot] } else { NONE });
    }

    /// Prefetches `node`, which may be [`NONE`], and records it as the last one prefetched of the
    /// list numbered `list`.
    #[inline(always)]
    fn prefetch_node(&mut self, list: usize, node: u32) {
        self.prefetched[list] = node;
        if let Some(node) = self.nodes.get(node as usize) {
            prefetch(node);
        }
    }

    /// Prefetches the next node of one of the lists, taking turns. Returns the time and event of the node prefetched
    /// before it, which has arrived in the caches in the meantime; `None` in a small wheel or at the end of a list.
    ///
    /// That event may have been handled already and its node reused; the caller must not rely on it.
    #[inline(always)]
    pub fn prefetch_step(&mut self) -> Option<(Time, &E)> {
        if !self.is_large() {
            return None;
        }
        self.prefetch_turn = (self.prefetch_turn + 1) % PREFETCHED_LISTS;
        let before = self.prefetched[self.prefetch_turn];
        let next = self.nodes.get(before as usize)?.next;
        self.prefetch_node(self.prefetch_turn, next);
        self.nodes.get(before as usize).map(|node| (node.at, &node.event))
    }

    /// Returns every scheduled event, in no particular order. For use at the end of a run: it visits the whole ring.
    pub fn events(&self) -> impl Iterator<Item = &E> {
        let words = self.occupied.iter().enumerate().filter(|(_, word)| **word != 0);
        let occupied = words.flat_map(move |(index, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| self.slots[index * 64 + bit])
        });
        let lists = occupied.chain(self.overflow.values().copied());
        let waiting = lists.flat_map(move |first| {
            let valid = |node: u32| (node != NONE).then_some(node);
            std::iter::successors(valid(first), move |&node| valid(self.nodes[node as usize].next))
        });
        let current = self.current.iter().map(|ordered| ordered.node);
        waiting.chain(current).map(|node| &self.nodes[node as usize].event)
    }

    /// Stores an event in a free node and returns the node, which the caller schedules.
    ///
    /// Always inlined, so that the event is built in its node. If it were built elsewhere field by
    /// field and copied in larger pieces, each copy would wait until the fields have left the store
    /// buffer. For the same reason no function that is called takes a reference to the event before
    /// it is stored.
    #[inline(always)]
    pub fn store_event(&mut self, event: E) -> u32 {
        if self.free == NONE {
            self.grow();
        }
        let node = self.free;
        let entry = &mut self.nodes[node as usize];
        self.free = entry.next;
        entry.event = event;
        node
    }

    /// Adds a node to the pool, as the only free one.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.free = self.nodes.len() as u32;
        self.nodes.push(Node { event: E::default(), next: NONE, at: Time::ZERO, key: 0 });
    }

    /// Appends the list from `node` on, the one scheduled last, to the nodes of the present slot.
    fn append_list(&mut self, mut node: u32) {
        while node != NONE {
            let rank = u32::MAX - self.current.len() as u32;
            self.current.push(self.ordered_node(node, rank));
            node = self.nodes[node as usize].next;
        }
    }

    /// Returns a node with its time and key, ready to be sorted; `rank` orders it among equals.
    fn ordered_node(&self, node: u32, rank: u32) -> OrderedNode {
        let Node { at, key, .. } = self.nodes[node as usize];
        OrderedNode { at, key, rank, node }
    }

    /// Returns which of the 64 slots after the cursor are occupied, the next one in the lowest bit.
    #[inline(always)]
    fn window(&self) -> u64 {
        let start = (self.cursor + 1) as usize % SLOTS;
        let (low, high) = (self.occupied[start / 64], self.occupied[(start / 64 + 1) % WORDS]);
        ((u128::from(high) << 64 | u128::from(low)) >> (start % 64)) as u64
    }

    /// Returns the absolute number of the first occupied slot after the cursor, or [`NEVER`];
    /// `window` is what [`Wheel::window`] returns.
    #[inline(always)]
    fn next_occupied(&self, window: u64) -> u64 {
        match window {
            0 => self.occupied_beyond(),
            _ => self.cursor + 1 + u64::from(window.trailing_zeros()),
        }
    }

    /// Returns the absolute number of the first occupied slot beyond the window, or [`NEVER`]; it
    /// searches the whole ring.
    #[inline(never)]
    fn occupied_beyond(&self) -> u64 {
        let start = (self.cursor + 1) as usize % SLOTS;
        let mut words = (1..=WORDS).map(|step| (start / 64 + step) % WORDS);
        let Some(word) = words.find(|&word| self.occupied[word] != 0) else { return NEVER };
        let found = word * 64 + self.occupied[word].trailing_zeros() as usize;
        self.cursor + 1 + ((found + SLOTS - start) % SLOTS) as u64
    }
}

/// Returns a boxed array filled with `item`, without building it on the stack.
fn box_filled<T: Copy + std::fmt::Debug, const N: usize>(item: T) -> Box<[T; N]> {
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
        /// Any mixture of pushes and pops comes out as a binary heap would give it, equal ones in their order.
        #[test]
        fn wheel__pops_as_a_heap_does(
            steps in prop::collection::vec((0u64..40_000_000, 1u32..4, any::<bool>()), 1..400),
        ) {
            let mut wheel = Wheel::new(Dur(1 << 10));
            let mut heap = BinaryHeap::new();
            let mut now = 0;
            for (key, (ahead, copies, pop)) in steps.into_iter().enumerate() {
                let at = now + ahead * (1 + key as u64 % 3 * 50);
                for copy in 0..copies {
                    wheel.push(Time(at), key as u64, copy);
                    heap.push(Reverse((at, key as u64, copy)));
                }
                if pop {
                    let got = wheel.pop().map(|item| (item.at.0, item.key, item.event));
                    prop_assert_eq!(got, heap.pop().map(|Reverse(item)| item));
                    now = got.map_or(now, |(at, _, _)| at);
                }
            }
            prop_assert_eq!(wheel.events().count(), heap.len());
            while let Some(Reverse(expected)) = heap.pop() {
                prop_assert_eq!(wheel.pop().map(|item| (item.at.0, item.key, item.event)), Some(expected));
            }
            prop_assert!(wheel.pop().is_none());
        }
    }
}
