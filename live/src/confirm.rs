//! `--confirm`: takes everything back unless the user confirms in time.
//!
//! The timer is a separate process, since what was just started may cut off the user's shell.

use crate::error::{Failure, Result};
use crate::home::Home;
use crate::kernel::{boot_s, monotonic_ns};
use crate::{download, stop};
use std::thread;
use std::time::Duration;

/// How often the timer checks whether it is still needed.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How often it retries if taking back fails.
const MOST_TRIES: u32 = 100;

/// Starts the timer for what was started at `since` (seconds since 1970) as a background process.
/// It takes that back after `seconds` unless it is confirmed.
///
/// # Errors
/// A sentence when the process cannot be started.
pub fn spawn(name: &str, since: u64, seconds: u64) -> Result<()> {
    crate::detach::spawn(&["expire", name, "--since", &since.to_string(), "--after", &seconds.to_string()])
        .map(drop)
}

/// Waits `seconds`, then takes back what was started at `since` unless it was confirmed. A failure
/// to take back is retried every 2 s, up to `MOST_TRIES` times. Returns early once it is
/// confirmed or taken back. The timer's process runs this.
///
/// # Errors
/// The sentence of the last attempt to take back.
pub fn expire(name: &str, since: u64, seconds: u64) -> Result<()> {
    let mut tries = 0;
    let end_ns = monotonic_ns() + 1_000_000_000 * seconds;
    while stop::waits_for_confirmation(name, since) {
        let left = Duration::from_nanos(end_ns.saturating_sub(monotonic_ns()));
        if left.is_zero() {
            match stop::stop_unconfirmed(name, since) {
                // Another command may have held the lock for unusually long.
                Err(_) if tries < MOST_TRIES => tries += 1,
                done => return done.map(drop),
            }
        }
        thread::sleep(if left.is_zero() { LOOK_EVERY } else { left.min(LOOK_EVERY) });
    }
    Ok(())
}

/// Confirms what runs at a device and its downloads: their records lose the deadline, so that the
/// timers end. Locks our folder meanwhile. Returns a line for each side that waited.
///
/// # Errors
/// A sentence when nothing runs there, nothing waits for confirmation, or a record cannot be read
/// or written.
pub fn confirm(name: &str) -> Result<Vec<String>> {
    let _home = Home::lock()?;
    let mut lines = Vec::new();
    for side in download::list_sides(name) {
        let place = stop::find(&side)?.ok_or_else(|| stop::nothing_here(&side))?;
        let mut record = place.record()?;
        let Some(by) = record.confirm_by.take() else { continue };
        place.write_record(&record)?;
        let left = by.saturating_sub(boot_s());
        lines.push(format!("{side}: confirmed, {left} s before it would have been taken back"));
    }
    match lines.is_empty() {
        true => Err(Failure::new(format!("{name} waits for no confirmation"))),
        false => Ok(lines),
    }
}
