//! Several sources of traffic at once.
//!
//! Each source keeps its own tokens and tags; here they are exchanged for slots, so that no two can be
//! mistaken for each other. Keys of source n > 0 carry n in their bits 56 to 61, so that the same transfer
//! has the same key under every scheme and in every mix that has this source in this place; source 0 keeps
//! its keys as they are.

use super::commands::{Commands, ConnectionSource, NO_TAG};
use super::connection::{Open, Payload};
use super::slots::Slots;
use crate::rng::mix;
use crate::units::Time;

/// Sources beside each other, at most this many beyond source 0.
pub const MAX_SOURCES: usize = 63;

const KEY_BITS: u32 = 56;
/// Bits of a page's number below those of its copy; see [`crate::traffic::Traffic::page`].
const PAGE_BITS: u32 = 32;

/// Sources beside each other.
pub struct Mix<S> {
    sources: Vec<(u16, S)>,
    wakes: Slots<(usize, u32)>,
    tags: Slots<(usize, u32)>,
}

impl<S: ConnectionSource> Mix<S> {
    /// The sources with their numbers, which records name and keys carry.
    pub fn new(sources: Vec<(u16, S)>) -> Mix<S> {
        Mix { sources, wakes: Slots::default(), tags: Slots::default() }
    }

    fn ask(&mut self, place: usize, commands: &mut Commands, ask: impl FnOnce(&mut S, &mut Commands)) {
        let (number, source) = &mut self.sources[place];
        let before = commands.scripts.len();
        let own = commands.capture(|own| ask(source, own));
        for page in commands.scripts[before..].iter_mut().flat_map(|script| &mut script.pages) {
            page.key = page_key(*number, page.key);
        }
        for (at, token) in own.wake {
            commands.wake.push((at, self.wakes.put((place, token))));
        }
        for open in own.open {
            let tag = if open.tag == NO_TAG { NO_TAG } else { self.tags.put((place, open.tag)) };
            commands.open.push(Open {
                key: key(*number, open.key),
                object_key: key(*number, open.object_key),
                page: match open.payload {
                    Payload::Replayed(_) => copy_key(*number, open.page),
                    _ => page_key(*number, open.page),
                },
                source: *number,
                tag,
                ..open
            });
        }
    }
}

impl<S: ConnectionSource> ConnectionSource for Mix<S> {
    /// Asks every source for its commands before the first event.
    fn begin(&mut self, commands: &mut Commands) {
        for place in 0..self.sources.len() {
            self.ask(place, commands, |source, own| source.begin(own));
        }
    }

    /// Wakes the source that asked for this time.
    fn wake(&mut self, token: u32, now: Time, commands: &mut Commands) {
        if let Some((place, token)) = self.wakes.take(token) {
            self.ask(place, commands, |source, own| source.wake(token, now, own));
        }
    }

    /// Notifies the source whose connection has ended.
    fn finished(&mut self, tag: u32, now: Time, commands: &mut Commands) {
        if let Some((place, tag)) = self.tags.take(tag) {
            self.ask(place, commands, |source, own| source.finished(tag, now, own));
        }
    }
}

/// A source's own key in the mix; a key too long for the prefix is hashed to fit.
fn key(number: u16, own: u64) -> u64 {
    match (number, own >> KEY_BITS) {
        (0, _) => own,
        (_, 0) => u64::from(number) << KEY_BITS | own,
        _ => u64::from(number) << KEY_BITS | mix(own) >> (64 - KEY_BITS),
    }
}

/// The copy of a connection of a trace: the pages made of it have the keys that [`page_key`] gives.
fn copy_key(number: u16, copy: u64) -> u64 {
    u64::from(number) << (KEY_BITS - PAGE_BITS) | copy
}

/// The same for a page; 0 is none in every source.
fn page_key(number: u16, own: u64) -> u64 {
    if own == 0 { 0 } else { key(number, own) }
}
