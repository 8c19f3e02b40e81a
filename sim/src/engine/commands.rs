//! The commands a source of connections gives the engine, and the interface every source implements.

use super::connection::{Open, Payload};
use crate::record::ViewRecord;
use crate::traffic::connection::Script;
use crate::units::Time;

/// Tag of a connection whose source need not be notified when it ends.
pub const NO_TAG: u32 = u32::MAX;

/// Wake-up token of the scenario's bulk flows, which run in addition to the source.
pub const BULK: u32 = u32::MAX;

/// A source of connections, which the engine drives while a run is under way.
///
/// The engine calls [`begin`](Self::begin) once before the first event, [`wake`](Self::wake) at each time the
/// source asked for, and [`connection_finished`](Self::connection_finished) when one of its connections ends.
/// After each call it applies the commands the source has added. A source never sees packets.
pub trait ConnectionSource {
    /// Adds the commands that precede the first event. The engine calls it once, before any other
    /// call.
    fn begin(&mut self, commands: &mut Commands);

    /// Handles a time that the source asked for; `token` is the one that it gave with that time.
    /// Each time asked for is handled once.
    fn wake(&mut self, token: u32, now: Time, commands: &mut Commands);

    /// Handles the end of the connection with this tag; never called for [`NO_TAG`]. Sources whose
    /// connections do not wait for each other do nothing.
    fn connection_finished(&mut self, _tag: u32, _now: Time, _commands: &mut Commands) {}

    /// Returns the records of its viewers of streams up to `now`, the end of the run; none for
    /// other sources.
    fn views(&self, _now: Time) -> Vec<ViewRecord> {
        Vec::new()
    }
}

/// Commands of a source that the engine has not applied yet.
#[derive(Debug, Default)]
pub struct Commands {
    /// Connections to open now.
    pub open: Vec<Open>,
    /// Times at which to wake the source, each with a token of the source's choice.
    pub wake: Vec<(Time, u32)>,
    /// Keys of the long-lived flows over which to send a self probe now.
    pub probes: Vec<u64>,
    /// The writes of [`Payload::Scripted`] connections; they stay for the whole run.
    pub scripts: Vec<Script>,
}

impl Commands {
    /// Returns the payload of a connection with this script. A script of exactly one write becomes
    /// a single payload; any other is stored in [`Commands::scripts`] for the rest of the run.
    pub fn payload_for(&mut self, script: Script) -> Payload {
        match script.writes[..] {
            [only] => Payload::Single(only.bytes),
            _ => {
                self.scripts.push(script);
                Payload::Scripted(self.scripts.len() as u32 - 1)
            }
        }
    }

    /// Takes back the drained buffers of applied commands, so that their memory is reused. A buffer
    /// to which new commands have been added since is left as it is.
    pub(super) fn reuse_buffers(&mut self, open: Vec<Open>, wake: Vec<(Time, u32)>) {
        if self.open.is_empty() {
            self.open = open;
        }
        if self.wake.is_empty() {
            self.wake = wake;
        }
    }

    /// Returns the commands that `ask` adds, separate from those already here. `ask` sees no
    /// commands but the scripts. The scripts that it adds stay here, because their numbers must
    /// hold for the whole run.
    pub fn capture(&mut self, ask: impl FnOnce(&mut Commands)) -> Commands {
        let mut own = Commands { scripts: std::mem::take(&mut self.scripts), ..Commands::default() };
        ask(&mut own);
        self.scripts = std::mem::take(&mut own.scripts);
        own
    }
}
