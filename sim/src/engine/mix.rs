//! The mix of several sources of traffic that run at once.
//!
//! Each source chooses its tokens and tags. The mix replaces them by slots, so that those of two sources never
//! collide. Keys of source n > 0 carry n in bits 56 to 61, so that the same transfer has the same key under every
//! scheme and in every mix in which this source has this number. The keys of source 0 do not change.

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
    /// Index of the source and the source's token, by the token that the engine gets.
    wakes: Slab<(usize, u32)>,
    /// Index of the source and the source's tag, by the tag that the engine gets.
    tags: Slab<(usize, u32)>,
}

impl<S: ConnectionSource> Mix<S> {
    /// Returns a mix of these sources; their numbers appear in records and keys.
    pub fn new(sources: Vec<(u16, S)>) -> Mix<S> {
        Mix { sources, wakes: Slab::new(), tags: Slab::new() }
    }

    /// Passes on the commands that `ask` makes the source at `index` add, with their tokens, tags
    /// and keys replaced. The source's own are stored, so that its answers reach it.
    fn relay_commands(
        &mut self,
        index: usize,
        commands: &mut Commands,
        ask: impl FnOnce(&mut S, &mut Commands),
    ) {
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
    /// Relays every source's commands before the first event.
    fn begin(&mut self, commands: &mut Commands) {
        for index in 0..self.sources.len() {
            self.relay_commands(index, commands, |source, own| source.begin(own));
        }
    }

    /// Wakes the source that asked for this time with its own token, which is used up. Unknown
    /// tokens are ignored.
    fn wake(&mut self, token: u32, now: Time, commands: &mut Commands) {
        if let Some((index, token)) = self.wakes.try_remove(token as usize) {
            self.relay_commands(index, commands, |source, own| source.wake(token, now, own));
        }
    }

    /// Notifies the source whose connection has ended under its own tag, which is used up. Unknown
    /// tags are ignored.
    fn connection_finished(&mut self, tag: u32, now: Time, commands: &mut Commands) {
        if let Some((index, tag)) = self.tags.try_remove(tag as usize) {
            self.relay_commands(index, commands, |source, own| source.connection_finished(tag, now, own));
        }
    }

    /// Returns the records of the viewers of every source, each with its source's number.
    fn views(&self, now: Time) -> Vec<ViewRecord> {
        let views_of = |(number, source): &(u16, S)| {
            let source_number = *number;
            source.views(now).into_iter().map(move |view| ViewRecord { source: source_number, ..view })
        };
        self.sources.iter().flat_map(views_of).collect()
    }
}

/// Returns the key in the mix for the key `own` of source `number`; a key too long for the prefix
/// is hashed.
fn mixed_key(number: u16, own: u64) -> u64 {
    match (number, own >> KEY_BITS) {
        (0, _) => own,
        (_, 0) => u64::from(number) << KEY_BITS | own,
        _ => u64::from(number) << KEY_BITS | mix(own) >> (64 - KEY_BITS),
    }
}

/// Returns the number of a copy of a trace in the mix; the keys of its pages, which derive from it,
/// are those of [`page_key`].
fn copy_key(number: u16, copy: u64) -> u64 {
    u64::from(number) << (KEY_BITS - PAGE_BITS) | copy
}

/// Returns the key in the mix for a source's page; 0 stays 0, which means no page.
fn page_key(number: u16, own: u64) -> u64 {
    if own == 0 { 0 } else { mixed_key(number, own) }
}
