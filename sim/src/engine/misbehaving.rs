//! Misbehaving senders: they split a transfer into pieces that each look short, or claim a constant window.
//!
//! The transfer's key decides by a random draw whether its sender misbehaves, so the same senders misbehave
//! under every scheme. Each piece is a separate connection. The source that asked for the transfer is notified
//! when the last piece has arrived.

use super::commands::{Commands, ConnectionSource, NO_TAG};
use super::connection::{Open, Payload};
use crate::record::ViewRecord;
use crate::rng::{Purpose, Stream, mix};
use crate::traffic::Traffic;
use crate::traffic::split;
use crate::units::Time;
use slab::Slab;
use std::sync::Arc;

/// How senders misbehave.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Share of the transfers of at least `min_bytes` whose sender misbehaves, 0 to 1.
    pub share: f64,
    /// Number of pieces; 1 leaves the transfer whole.
    pub split: u32,
    /// Whether all pieces are sent at once, and not one after the other.
    pub parallel: bool,
    /// Window in segments that every packet claims; 0 for the true window.
    pub hint: u8,
    /// Payload of the smallest transfer whose sender may misbehave, bytes.
    pub min_bytes: u64,
    /// Numbers of the sources whose senders may misbehave; empty for all.
    pub sources: Vec<u16>,
}

/// A transfer in progress whose end has to be reported to the inner source, or whose pieces have not all arrived.
#[derive(Debug, Clone, Copy)]
struct Pending {
    whole: Open,
    bytes: u64,
    /// Pieces opened, and pieces that have not arrived.
    opened: u64,
    left: u64,
}

/// A source some of whose senders misbehave.
pub struct Misbehaving<S> {
    inner: S,
    rules: Rules,
    seed: u64,
    traffic: Arc<Traffic>,
    /// Transfers in progress, by the tag of their connections.
    pending: Slab<Pending>,
}

impl<S: ConnectionSource> Misbehaving<S> {
    /// Returns `inner` with senders that misbehave by these rules; `traffic` holds the writes of replayed
    /// connections.
    pub fn new(inner: S, rules: Rules, seed: u64, traffic: Arc<Traffic>) -> Misbehaving<S> {
        Misbehaving { inner, rules, seed, traffic, pending: Slab::new() }
    }

    /// Passes on the commands that `ask` makes the inner source add, with the rules applied to the
    /// connections that it opens.
    fn relay_commands(&mut self, commands: &mut Commands, ask: impl FnOnce(&mut S, &mut Commands)) {
        let mut own = commands.capture(|own| ask(&mut self.inner, own));
        commands.wake.append(&mut own.wake);
        commands.probes.append(&mut own.probes);
        own.open.into_iter().for_each(|open| self.open_by_rules(open, commands));
    }

    /// Adds the command to open a connection of the inner source, changed by the rules if its
    /// sender misbehaves. Any other connection that has a tag gets one of this source, so that its
    /// end is reported here.
    fn open_by_rules(&mut self, mut open: Open, commands: &mut Commands) {
        let Some(bytes) =
            self.payload_bytes(&open, commands).filter(|&bytes| self.does_misbehave(&open, bytes))
        else {
            let tag = match open.tag {
                NO_TAG => NO_TAG,
                _ => self.pending.insert(Pending { whole: open, bytes: 1, opened: 1, left: 1 }) as u32,
            };
            return commands.open.push(Open { tag, ..open });
        };
        (open.misbehaves, open.hint) = (true, self.rules.hint);
        match open.payload {
            Payload::Single(_) => self.open_pieces(open, bytes, commands),
            // A long-lived flow becomes several long-lived flows.
            Payload::LongLived if self.rules.parallel => {
                let copies = 0..u64::from(self.rules.split);
                commands.open.extend(copies.map(|k| Open { key: piece_key(open.key, k), ..open }));
            }
            _ => self.open_pieces(open, 1, commands),
        }
    }

    /// Opens all pieces of a transfer if they are sent in parallel, otherwise the first, and stores
    /// the transfer as pending. With `bytes` = 1 the transfer stays in one piece.
    fn open_pieces(&mut self, whole: Open, bytes: u64, commands: &mut Commands) {
        let pieces = split::count_pieces(bytes, self.rules.split);
        let slot = self.pending.insert(Pending { whole, bytes, opened: 0, left: pieces });
        let now = if self.rules.parallel { pieces } else { 1 };
        for _ in 0..now {
            commands.open.push(next_piece(&mut self.pending[slot], self.rules.split, slot as u32));
        }
    }

    /// Returns the payload of a connection, `u64::MAX` for a long-lived flow, or `None` where its
    /// size has no meaning.
    fn payload_bytes(&self, open: &Open, commands: &Commands) -> Option<u64> {
        match open.payload {
            Payload::Single(bytes) => Some(bytes),
            Payload::Replayed(index) => Some(self.traffic.connections[index as usize].bytes()),
            Payload::Scripted(index) => Some(commands.scripts[index as usize].bytes()),
            Payload::LongLived => Some(u64::MAX),
            Payload::Keystrokes(_)
            | Payload::Datagrams(_)
            | Payload::Recorded { .. }
            | Payload::Probe { .. } => None,
        }
    }

    /// Returns whether the sender of this connection misbehaves: it is large enough, of a source
    /// concerned, and its key's draw lies below the share. The answer depends on the seed and the
    /// key only.
    fn does_misbehave(&self, open: &Open, bytes: u64) -> bool {
        let rules = &self.rules;
        bytes >= rules.min_bytes
            && (rules.sources.is_empty() || rules.sources.contains(&open.source))
            && Stream::new(self.seed, Purpose::Misbehaviour, open.key).uniform() < rules.share
    }
}

impl<S: ConnectionSource> ConnectionSource for Misbehaving<S> {
    /// Passes on the inner source's commands before the first event.
    fn begin(&mut self, commands: &mut Commands) {
        self.relay_commands(commands, |inner, own| inner.begin(own));
    }

    /// Wakes the inner source.
    fn wake(&mut self, token: u32, now: Time, commands: &mut Commands) {
        self.relay_commands(commands, |inner, own| inner.wake(token, now, own));
    }

    /// Opens the next piece of a transfer, or notifies the inner source when the last piece has
    /// arrived. Unknown tags are ignored.
    fn connection_finished(&mut self, slot: u32, now: Time, commands: &mut Commands) {
        let Some(pending) = self.pending.get_mut(slot as usize) else { return };
        pending.left -= 1;
        let more = pending.opened < split::count_pieces(pending.bytes, self.rules.split);
        if pending.whole.misbehaves && more {
            let piece = next_piece(pending, self.rules.split, slot);
            commands.open.push(piece);
        } else if pending.left == 0
            && let Some(done) = self.pending.try_remove(slot as usize)
            && done.whole.tag != NO_TAG
        {
            self.relay_commands(commands, |inner, own| inner.connection_finished(done.whole.tag, now, own));
        }
    }

    /// Returns the records of the inner source.
    fn views(&self, now: Time) -> Vec<ViewRecord> {
        self.inner.views(now)
    }
}

/// Returns the command that opens the next piece of a transfer and counts it as opened; its end is
/// reported under the tag `slot`.
fn next_piece(pending: &mut Pending, pieces: u32, slot: u32) -> Open {
    let number = pending.opened;
    pending.opened += 1;
    let whole = pending.whole;
    if split::count_pieces(pending.bytes, pieces) == 1 {
        return Open { tag: slot, ..whole };
    }
    Open {
        key: piece_key(whole.key, number),
        payload: Payload::Single(split::piece_bytes(pending.bytes, pieces, number)),
        tag: slot,
        object_bytes: pending.bytes,
        object_key: whole.key,
        ..whole
    }
}

/// Returns the key of a piece: that of the transfer for the first, a hash for the others.
fn piece_key(whole: u64, number: u64) -> u64 {
    match number {
        0 => whole,
        _ => mix(whole ^ mix(number)) | 1 << 62,
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::engine::source::Starts;

    /// Returns the connections that open for these payloads when every sender misbehaves.
    fn collect_opened(payloads: &[Payload], rules: Rules) -> Vec<Open> {
        let opens = (0u64..)
            .zip(payloads)
            .map(|(key, &payload)| (Time::ZERO, Open { key, payload, ..Open::default() }));
        let mut misbehaving = Misbehaving::new(Starts::new(opens.collect()), rules, 1, Arc::default());
        let mut commands = Commands::default();
        misbehaving.begin(&mut commands);
        let (at, token) = commands.wake[0];
        misbehaving.wake(token, at, &mut commands);
        commands.open
    }

    /// Returns the rules by which every sender of at least 1000 bytes claims a window of one
    /// segment.
    fn rules_with_hint_one() -> Rules {
        Rules { share: 1.0, split: 1, parallel: true, hint: 1, min_bytes: 1000, sources: Vec::new() }
    }

    #[test]
    fn hint__is_claimed_by_large_transfers_and_flows_without_end() {
        let payloads =
            [Payload::Single(1000), Payload::Single(999), Payload::LongLived, Payload::Keystrokes(0)];
        let hints: Vec<(u64, u8, bool)> = collect_opened(&payloads, rules_with_hint_one())
            .iter()
            .map(|open| (open.key, open.hint, open.misbehaves))
            .collect();
        assert_eq!(hints, [(0, 1, true), (1, 0, false), (2, 1, true), (3, 0, false)]);
    }

    #[test]
    fn split__the_first_piece_keeps_the_key() {
        let pieces = collect_opened(&[Payload::Single(10_001)], Rules { split: 3, ..rules_with_hint_one() });
        let sizes: Vec<Payload> = pieces.iter().map(|piece| piece.payload).collect();
        assert_eq!(sizes, [Payload::Single(3334), Payload::Single(3334), Payload::Single(3333)]);
        assert_eq!(pieces[0].key, 0);
        assert!(pieces[1].key != pieces[2].key && pieces[1].key != 0);
        let next = collect_opened(
            &[Payload::Single(10_001)],
            Rules { split: 3, parallel: false, ..rules_with_hint_one() },
        );
        assert_eq!(next.len(), 1);
    }
}
