//! Several sources of traffic at once.
//!
//! Each source has tokens and tags of its own. The mix replaces them by slots, so that those of two sources never
//! collide. Keys of source n > 0 carry n in bits 56 to 61, so that the same transfer has the same key under every
//! scheme and in every mix in which this source has this number. Source 0 keeps its keys as they are.

use super::commands::{Commands, ConnectionSource, NO_TAG};
use super::connection::{Open, Payload};
use crate::record::ViewRecord;
use crate::rng::mix;
use crate::units::Time;
use slab::Slab;

/// The most sources a mix may have beyond source 0.
pub const MAX_SOURCES: usize = 63;

const KEY_BITS: u32 = 56;
/// Bits of a page's number below those of its copy; see [`crate::traffic::Traffic::page`].
const PAGE_BITS: u32 = 32;

/// Several sources that run at once.
pub struct Mix<S> {
    sources: Vec<(u16, S)>,
    /// Index of the source and its own token, by the token the engine is given.
    wakes: Slab<(usize, u32)>,
    /// Index of the source and its own tag, by the tag the engine is given.
    tags: Slab<(usize, u32)>,
}

impl<S: ConnectionSource> Mix<S> {
    /// Returns a mix of these sources; their numbers appear in records and keys.
    pub fn new(sources: Vec<(u16, S)>) -> Mix<S> {
        Mix { sources, wakes: Slab::new(), tags: Slab::new() }
    }

    /// Passes on the commands of the source at `index`, with their tokens, tags and keys replaced.
    fn relay_commands(&mut self, index: usize, commands: &mut Commands, ask: impl FnOnce(&mut S, &mut Commands)) {
        let (number, source) = &mut self.sources[index];
        let before = commands.scripts.len();
        let own = commands.capture(|own| ask(source, own));
        for page in commands.scripts[before..].iter_mut().flat_map(|script| &mut script.pages) {
            page.key = page_key(*number, page.key);
        }
        for (at, token) in own.wake {
            commands.wake.push((at, self.wakes.insert((index, token)) as u32));
        }
        commands.probes.extend(own.probes.into_iter().map(|probed| mixed_key(*number, probed)));
        for open in own.open {
            let tag = if open.tag == NO_TAG { NO_TAG } else { self.tags.insert((index, open.tag)) as u32 };
            commands.open.push(Open {
                key: mixed_key(*number, open.key),
                object_key: mixed_key(*number, open.object_key),
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
        for index in 0..self.sources.len() {
            self.relay_commands(index, commands, |source, own| source.begin(own));
        }
    }

    /// Wakes the source that asked for this time.
    fn wake(&mut self, token: u32, now: Time, commands: &mut Commands) {
        if let Some((index, token)) = self.wakes.try_remove(token as usize) {
            self.relay_commands(index, commands, |source, own| source.wake(token, now, own));
        }
    }

    /// Notifies the source whose connection has ended.
    fn connection_finished(&mut self, tag: u32, now: Time, commands: &mut Commands) {
        if let Some((index, tag)) = self.tags.try_remove(tag as usize) {
            self.relay_commands(index, commands, |source, own| source.connection_finished(tag, now, own));
        }
    }

    /// Returns what the viewers of every source have seen.
    fn views(&self, now: Time) -> Vec<ViewRecord> {
        let views_of = |(number, source): &(u16, S)| {
            let source_number = *number;
            source.views(now).into_iter().map(move |view| ViewRecord { source: source_number, ..view })
        };
        self.sources.iter().flat_map(views_of).collect()
    }
}

/// Returns the key in the mix of a source's own key; a key too long for the prefix is hashed.
fn mixed_key(number: u16, own: u64) -> u64 {
    match (number, own >> KEY_BITS) {
        (0, _) => own,
        (_, 0) => u64::from(number) << KEY_BITS | own,
        _ => u64::from(number) << KEY_BITS | mix(own) >> (64 - KEY_BITS),
    }
}

/// Returns the copy of a connection of a trace, from which its pages get the keys of [`page_key`].
fn copy_key(number: u16, copy: u64) -> u64 {
    u64::from(number) << (KEY_BITS - PAGE_BITS) | copy
}

/// Returns the key in the mix of a source's page; 0 means no page.
fn page_key(number: u16, own: u64) -> u64 {
    if own == 0 { 0 } else { mixed_key(number, own) }
}
