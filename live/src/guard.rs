//! `guard`: maintains what was asked for while devices and queues come and go.
//!
//! Each file `DEV.toml` of a folder says what is to run at a device, with the keys of `--config`
//! and `mode`. One process checks all of them whenever the kernel reports a change of a device, a
//! queue discipline or a file, and twice a second:
//!
//! - a device that appears gets what its file says; what is left of one that is gone is removed;
//! - marks follow a CAKE that was created again under another handle. If nothing reads marks any
//!   more, or the shaper of `up` is gone, the program only decides and counts until that is
//!   repaired, and `status` says why;
//! - if only the redirection of downloads is gone, it alone is created again: the IFB keeps its
//!   queue and its flows;
//! - a changed file is applied as `tune` does, so that flows keep their state, or by a new start if
//!   that is not possible;
//! - what was taken down by hand stays down until its file changes or the device appears again;
//! - the policies' slow steps run here, and what was not confirmed in time is taken back.
//!
//! A guard that ends leaves everything running, and the next one takes over.

use crate::agent::Sweeper;
use crate::changes::{ChangedDevices, Changes};
use crate::check::queue;
use crate::deployment::{self, Deployment};
use crate::device::Device;
use crate::download;
use crate::error::{Failure, Result};
use crate::home::{self, Home, Place};
use crate::kernel::{boot_s, monotonic_ns};
use crate::observe::Observed;
use crate::record::{Record, Redirect};
use crate::request::{Mode, Request};
use crate::start::{self, Manner};
use crate::{kept, metrics, namespace, netlink, qdisc, status, stop, tune};
use mousehole_policy::files;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often everything is checked without a message from the kernel.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The guard's nice value.
const PRIORITY: libc::c_int = -10;
/// The message about a device that is not here.
const WAITS: &str = "waits for the device";
/// After how long a failed start is retried at first; the wait doubles each time.
const FIRST_WAIT_NS: u64 = 250_000_000;
/// The longest wait before a retry.
const MOST_WAIT_NS: u64 = 60_000_000_000;
/// How often metrics are written.
const METRICS_EVERY_NS: u64 = 10_000_000_000;

/// The guard's state of one device.
#[derive(Default)]
struct Ward {
    /// The digest of its file, and the request in it; `None` without a file.
    wanted: Option<(String, Request)>,
    /// The device's index and the file's digest for which it was started or adopted.
    served: Option<(u32, String)>,
    /// What was found at its queue, until that changes.
    seen: Option<Seen>,
    /// The last start, if it failed, until it is retried.
    failed: Option<Failed>,
    /// The sweeper, the request that it was made for, and the lock that keeps other sweepers away.
    sweeper: Option<(Sweeper, Request, File)>,
    /// The last message, so that none is repeated.
    said: String,
}

/// What is at a device. It is read again only when its fingerprint differs or the kernel reports a
/// change, since reading it at each check would burden a small router.
#[derive(Debug)]
struct Seen {
    print: Vec<u8>,
    qdiscs: Vec<qdisc::Qdisc>,
    /// Whether incoming packets are redirected as they should be.
    is_redirected: bool,
}

/// A start that failed. `at` is what was there then: device index, digest of the file, fingerprint
/// of the queues.
#[derive(Debug)]
struct Failed {
    at: (u32, String, Vec<u8>),
    said: String,
    wait_ns: u64,
    until_ns: u64,
}

/// Maintains what the files of a folder ask for; it does not return without an error. `say` gets a
/// line for each thing that is done or refused. `metrics` is a file that gets OpenMetrics text
/// every 10 s. Takes the guard's lock and raises the process's priority.
///
/// # Errors
/// A sentence when another guard runs, or the kernel does not report changes.
pub fn run(folder: &Path, metrics: Option<&Path>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let _alone = home::lock_service("guard")?;
    // Faults last until the guard runs, so it needs priority on a busy machine. Failure is ignored.
    // SAFETY: the call takes numbers only.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, PRIORITY) };
    let changes = Changes::listen(folder).map_err(|error| {
        Failure::system("the kernel does not report changes of the network and of files", &error)
    })?;
    let mut wards: BTreeMap<String, Ward> = BTreeMap::new();
    let mut written_ns = 0;
    // The last fault of each thing that is done at every look; each is reported once.
    let mut faults: [Option<String>; 3] = Default::default();
    let mut changed = ChangedDevices::everything();
    loop {
        match list_devices(folder) {
            Ok(names) => {
                wards.retain(|name, _| names.contains(name));
                for name in names {
                    wards.entry(name).or_default();
                }
                faults[0] = None;
            }
            Err(error) => say_once(&mut faults[0], Failure::system(folder.display(), &error), say),
        }
        let mut wait = LOOK_EVERY;
        for (name, ward) in &mut wards {
            let what = ward.tend(name, folder, &changed).unwrap_or_else(|failure| failure.to_string());
            if ward.said != what {
                say(&format!("{name}: {what}"));
                ward.said = what;
            }
            wait = wait.min(ward.sweep().unwrap_or(LOOK_EVERY));
        }
        match end_unconfirmed() {
            Ok(lines) => {
                lines.iter().for_each(|line| say(line));
                faults[1] = None;
            }
            Err(failure) => say_once(&mut faults[1], failure, say),
        }
        let now_ns = monotonic_ns();
        if let Some(path) = metrics.filter(|_| now_ns - written_ns >= METRICS_EVERY_NS) {
            written_ns = now_ns;
            match status::read_status(None).and_then(|all| metrics::write(path, &all)) {
                Ok(()) => faults[2] = None,
                Err(failure) => say_once(&mut faults[2], failure, say),
            }
        }
        changed = changes.wait(wait);
    }
}

/// Reports a fault with `say`, unless it is the same as `last`, the one reported before.
fn say_once(last: &mut Option<String>, failure: Failure, say: &mut dyn FnMut(&str)) {
    let sentence = failure.to_string();
    if last.as_ref() != Some(&sentence) {
        say(&sentence);
        *last = Some(sentence);
    }
}

/// Starts what the file of a device asks for, once, with an agent if the policy needs one and not
/// with a guard. Returns lines for the user.
///
/// # Errors
/// A sentence when there is no file, another user could have written it, or the request is not
/// possible now.
pub fn start_asked(name: &str, folder: &Path) -> Result<Vec<String>> {
    let mut ward = Ward::default();
    ward.read_file(name, folder)?;
    let Some((_, request)) = ward.wanted else {
        return Err(Failure::new(format!(
            "nothing is kept of {name} in {}; `mousehole-live persist {name}` keeps what runs there",
            folder.display()
        )));
    };
    start_request(name, &request, false)
}

/// Returns the file of a device. The kernel allows no slash in a device's name.
pub fn file_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.toml"))
}

/// Returns the devices that have a file in the folder; none if there is no folder.
///
/// # Errors
/// The system's error, also if another user could write into the folder.
pub(crate) fn list_devices(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match files::check_folder(folder).and_then(|()| fs::read_dir(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let files = entries.flatten().map(|entry| entry.file_name());
    let names = files.filter_map(|file| file.to_str()?.strip_suffix(".toml").map(String::from));
    // No device is called `.` or `..`, or by no name at all.
    Ok(names.filter(|name| !matches!(name.as_str(), "" | "." | "..")).collect())
}

/// Takes back what was not confirmed in time in this namespace. Returns lines for the user.
///
/// # Errors
/// A sentence when our folder cannot be read or something cannot be taken back; later ones are not
/// tried then.
fn end_unconfirmed() -> Result<Vec<String>> {
    let (here, mut lines) = (namespace::current_cookie()?, Vec::new());
    for place in home::list_places()?.into_iter().filter(|place| place.namespace() == Some(here)) {
        let Ok(record) = place.record() else { continue };
        if record.confirm_by.is_some_and(|by| boot_s() >= by) {
            lines.extend(stop::stop_unconfirmed(&record.device, record.since)?);
        }
    }
    Ok(lines)
}

impl Ward {
    /// Checks the device and does what is missing: starts it, follows a changed file, redirects
    /// downloads again, aims or pauses marks, or waits before the next attempt. Updates the ward's
    /// state. Returns a message about the device for the user, a failed start included.
    ///
    /// # Errors
    /// A sentence when the file is wrong, or something that runs cannot be read or changed.
    fn tend(&mut self, name: &str, folder: &Path, changed: &ChangedDevices) -> Result<String> {
        self.read_file(name, folder)?;
        let Some((digest, request)) = self.wanted.clone() else { return Ok("its file is gone".into()) };
        // For downloads, the device that receives them counts; we create the IFB.
        let line = request.download.as_deref().unwrap_or(name);
        let Ok(device) = Device::find(line) else {
            (self.served, self.sweeper, self.failed) = (None, None, None);
            if self.said != WAITS {
                stop::sweep_gone(&Home::lock()?)?;
            }
            return Ok(WAITS.into());
        };
        let now = Some((device.index, digest.clone()));
        let find = || -> Result<Option<(Place, Record)>> {
            Ok(stop::find(name)?.and_then(|place| place.record().ok().map(|record| (place, record))))
        };
        let mut kept = self.look_at_queue(name, find()?, changed)?;
        if kept.is_some() && !self.seen.as_ref().is_some_and(|seen| seen.is_redirected) {
            // Another command may be starting it or taking it down: wait for its lock, then look again.
            drop(Home::lock()?);
            kept = self.look_at_queue(name, find()?, changed)?;
        }
        match kept {
            Some((place, record)) if self.seen.as_ref().is_some_and(|seen| seen.is_redirected) => {
                if self.served != now {
                    follow_file(name, &record, &request)?;
                    self.served = now;
                    return Ok(format!("{} runs as its file says", request.scheme));
                }
                self.adopt_slow_steps(&place, &Device::find(name)?, &record);
                let qdiscs = self.seen.as_ref().map_or(&[][..], |seen| &seen.qdiscs);
                aim_marks(name, &place, &record, qdiscs)
            }
            None if self.served == now => {
                self.sweeper = None;
                Ok("was taken down by hand and stays so until its file changes or the device comes again"
                    .into())
            }
            Some((place, _)) if self.seen.is_some() && download::renew(&place).is_ok() => {
                (self.served, self.failed, self.seen) = (now, None, None);
                Ok(format!("what comes in at {line} is redirected again"))
            }
            kept => {
                // It is to be started, so it no longer counts as taken down by hand, even if the start fails.
                (self.sweeper, self.served) = (None, None);
                let at = (device.index, digest, netlink::fingerprint(device.index));
                if let Some(failed) = self.failed.as_ref().filter(|failed| failed.at == at)
                    && monotonic_ns() < failed.until_ns
                {
                    return Ok(failed.said.clone());
                }
                let done = match kept.is_some_and(|(_, record)| record.redirect.is_some()) {
                    true => stop::stop_one(name).map(drop),
                    false => Ok(()),
                };
                if let Err(failure) = done.and_then(|()| start_request(name, &request, true)) {
                    return Ok(self.postpone(at, &failure));
                }
                (self.served, self.failed) = (now, None);
                Ok(format!("{} was started", request.scheme))
            }
        }
    }

    /// Updates [`Ward::seen`] if the device or its queue may have changed; clears it if none of our
    /// programs runs there. Returns `kept` unchanged.
    ///
    /// # Errors
    /// A sentence when the device is gone or its queue disciplines cannot be listed.
    fn look_at_queue(
        &mut self,
        name: &str,
        kept: Option<(Place, Record)>,
        changed: &ChangedDevices,
    ) -> Result<Option<(Place, Record)>> {
        let Some((_, record)) =
            kept.as_ref().filter(|(place, record)| !record.starting && stop::is_running(place, record))
        else {
            self.seen = None;
            return Ok(kept);
        };
        let line = record.redirect.as_ref().map(|redirect| redirect.index);
        let devices = [Some(record.index), line].into_iter().flatten();
        let has_changed = devices.clone().any(|index| changed.contains(index));
        let print: Vec<u8> = devices.flat_map(netlink::fingerprint).collect();
        if has_changed || self.seen.as_ref().is_none_or(|seen| seen.print != print) {
            let is_redirected = record.redirect.as_ref().is_none_or(Redirect::is_installed);
            let qdiscs = netlink::list_qdiscs(Device::find(name)?.index)?;
            self.seen = Some(Seen { print, qdiscs, is_redirected });
        }
        Ok(kept)
    }

    /// Records a failed start. It is retried after 250 ms, a wait that doubles up to 60 s, or at
    /// once when `at` differs. Returns the message.
    fn postpone(&mut self, at: (u32, String, Vec<u8>), failure: &Failure) -> String {
        let former = self.failed.take().filter(|failed| failed.at == at);
        let wait_ns = former.map_or(FIRST_WAIT_NS, |failed| (2 * failed.wait_ns).min(MOST_WAIT_NS));
        let said = failure.to_string();
        self.failed = Some(Failed { at, said: said.clone(), wait_ns, until_ns: monotonic_ns() + wait_ns });
        said
    }

    /// Reads the device's file into [`Ward::wanted`] if its digest differs; without a file,
    /// `wanted` becomes `None`.
    ///
    /// # Errors
    /// A sentence when it cannot be read, another user could have written it, or a key is wrong;
    /// `wanted` stays.
    fn read_file(&mut self, name: &str, folder: &Path) -> Result<()> {
        let path = file_path(folder, name);
        let read = files::check_folder(folder).and_then(|()| files::read_own(&path, files::TEXT_BYTES));
        let text = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.wanted = None;
                return Ok(());
            }
            text => text.map_err(|error| Failure::system(path.display(), &error))?,
        };
        let digest = files::digest(&text);
        if self.wanted.as_ref().is_none_or(|(known, _)| *known != digest) {
            let asked = Request::read_of_any_mode(&path)?;
            // With the user's own policies, what `persist` saved is started.
            let request = if asked.policy.is_empty() { asked } else { kept::read(name)?.0.request };
            self.wanted = Some((digest, request));
        }
        Ok(())
    }

    /// Takes over the slow steps of what runs, with the state and the lock of the former sweeper if
    /// there is one. Does nothing if there are no slow steps, they are ours already, or an agent
    /// holds the lock; a sweeper that cannot be created is tried again at the next look. The user's
    /// own policies have none that survive a reboot.
    fn adopt_slow_steps(&mut self, place: &Place, device: &Device, record: &Record) {
        // A policy without slow steps publishes nothing.
        let has_steps = record.request.policy.is_empty() && place.map("ml_published").exists();
        let is_same = |one: &(Sweeper, Request, File)| one.1 == record.request && home::is_lock_valid(&one.2);
        if !has_steps || self.sweeper.as_ref().is_some_and(is_same) {
            return;
        }
        let former = self.sweeper.take().filter(|one| home::is_lock_valid(&one.2));
        let former = former.map(|(sweeper, _, lock)| (sweeper.into_state(), lock));
        let (state, lock) = former.unzip();
        let Some(lock) = lock.or_else(|| home::lock_service(&place.agent_lock()).ok()) else { return };
        if let Ok(sweeper) = Sweeper::new(place, device, record, state) {
            self.sweeper = Some((sweeper, record.request.clone(), lock));
        }
    }

    /// Runs the slow steps that are due. Returns how long it takes until the next is due; `None` if
    /// there are none, or after a failure, which drops the sweeper and its lock.
    fn sweep(&mut self) -> Option<Duration> {
        let (sweeper, ..) = self.sweeper.as_mut()?;
        let wait = sweeper.step(monotonic_ns()).ok();
        if wait.is_none() {
            self.sweeper = None;
        }
        wait
    }
}

/// Starts a request; one with the user's own policies from what `persist` saved, so that neither a
/// compiler nor their native code runs. Returns lines for the user.
///
/// # Errors
/// As [`start::start`] or [`start::start_persisted`].
fn start_request(name: &str, request: &Request, without_agent: bool) -> Result<Vec<String>> {
    let manner = Manner { words: std::env::args().collect(), without_agent, ..Manner::default() };
    match request.policy.is_empty() {
        true => start::start(name, request, &manner),
        // Neither a compiler nor native code of a policy runs unasked.
        false => start::start_persisted(name, &manner),
    }
}

/// Makes what runs at a device carry out the request of its file: by changing the running program
/// if that is possible, else by stopping it and starting again. Does nothing if `record` has that
/// request.
///
/// # Errors
/// A sentence when the file's request is not possible, in which case what runs stays, or when the
/// new start fails.
fn follow_file(name: &str, record: &Record, request: &Request) -> Result<()> {
    if record.request == *request {
        return Ok(());
    }
    // What `tune` cannot change.
    let fixed = |one: &Request| {
        (
            one.mode,
            one.policy.clone(),
            one.flows,
            one.user,
            one.attach,
            (one.no_gso, one.native),
            one.initial_window,
            one.cake,
            // Other hosts, or others' transfers in the table.
            (one.ab.clone(), one.ab_key.clone()),
        )
    };
    let is_same = request.policy.is_empty()
        && fixed(&record.request) == fixed(request)
        && record.request.shape.is_some() == request.shape.is_some()
        && (request.mode == Mode::Mark || record.request.shadow == request.shadow);
    if is_same && tune::apply_request(name, request).is_ok() {
        return Ok(());
    }
    if request.policy.is_empty() {
        // If the file is wrong, what runs stays.
        Deployment::new(request, &Device::find(name)?, None)?;
    }
    stop::stop_one(name)?;
    start_request(name, request, true).map(drop)
}

/// Makes marks name the queue that is there now, and pauses a program whose queue is gone; nothing
/// is written if neither changes. `all` are the device's queue disciplines. Returns its state for
/// the user.
///
/// # Errors
/// A sentence when the settings cannot be read or changed, or marks are not possible at the root.
fn aim_marks(name: &str, place: &Place, record: &Record, all: &[qdisc::Qdisc]) -> Result<String> {
    let root = qdisc::find_root(all);
    let there = root.map_or("nothing".to_string(), |root| format!("{} {}", root.kind, root.handle));
    let request = &record.request;
    let lost = match (request.mode, &record.added_handle) {
        (_, Some(handle)) if root.is_none_or(|root| root.handle != *handle) => {
            Some(format!("its qdisc {handle} is gone, and at the root is {there}"))
        }
        (Mode::Mark, None)
            if request.leaves_way_to_queue() && !request.shadow && !queue::reads_marks(all) =>
        {
            Some(format!("nothing reads its marks, since at the root is {there}"))
        }
        _ => None,
    };
    let seen = Observed { place: place.clone(), index: record.index, name: None, record: None };
    let in_force = seen.settings()?.action;
    let action = match (request.mode, &lost) {
        (Mode::Mark, None) => deployment::plan_action(request, root, name)?,
        _ => in_force,
    };
    if lost != record.paused || action != in_force {
        tune::change_action(name, action, lost.clone())?;
    }
    Ok(match lost {
        Some(why) => format!("paused: {why}"),
        None if action != in_force => format!("marks are for {there} now"),
        None => "runs".into(),
    })
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn list_devices__of_files_are_those_of_devices() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["eth0.7", "br-lan", "wg0"] {
            fs::write(file_path(folder.path(), name), "mode = 'mark'\n").unwrap();
        }
        for other in ["README", "eth0"] {
            fs::write(folder.path().join(other), "").unwrap();
        }
        let mut found = list_devices(folder.path()).unwrap();
        found.sort();
        assert_eq!(found, ["br-lan", "eth0.7", "wg0"]);
        assert_eq!(list_devices(&folder.path().join("none")).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn file__without_a_mode_or_with_a_fault_is_one_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_path(folder.path(), "wan");
        for (text, fault) in [
            ("rate = '5mbit'\n", "mode missing; it must be \"mark\" or \"up\""),
            ("mode = 'host'\n", "mode is \"host\"; it must be"),
            ("mode = 'up'\nrat = '5mbit'\n", "line 2: unknown field `rat`"),
            ("mode = 'up'\nflows = -1\n", "line 2: invalid value"),
        ] {
            fs::write(&file, text).unwrap();
            let said = Ward::default().read_file("wan", folder.path()).unwrap_err().to_string();
            assert!(said.contains("wan.toml") && said.contains(fault), "{said}");
        }
    }
}
