//! `down`: removes what was installed, and restores what was there before.

use crate::device::Device;
use crate::download;
use crate::error::{Failure, Result};
use crate::home::{self, Home, Place, list_places};
use crate::record::{Attachment, Record, SCHEMA};
use crate::{kernel, namespace, netlink, qdisc};
use mousehole_netlink::links;
use std::collections::BTreeSet;

/// Removes everything of ours at a device and its downloads. Returns lines for the user.
///
/// # Errors
/// A sentence when nothing of ours is there, or something cannot be removed or restored; what
/// follows it stays then.
pub fn stop(name: &str) -> Result<Vec<String>> {
    let _home = Home::lock()?;
    let mut lines = Vec::new();
    // Its downloads too.
    for one in [name, &download::ifb_name(name)] {
        lines.extend(take_back_device(one)?);
    }
    if download::remove_leftovers(name)? {
        lines.push(format!("{name}: the redirection of a command that was killed is removed"));
    }
    if lines.is_empty() { Err(nothing_here(name)) } else { Ok(lines) }
}

/// Removes what is at a device, but not what is at its downloads, which somebody else may have
/// asked for. Returns lines for the user; none if nothing of ours is there.
///
/// # Errors
/// As [`stop`].
pub fn stop_one(name: &str) -> Result<Vec<String>> {
    let _home = Home::lock()?;
    take_back_device(name)
}

/// Returns the folder of a device's record by the device's name; `None` if nothing of ours is
/// there. A renamed device is also found by its former name, as long as no other device has that.
///
/// # Errors
/// As [`home::find`].
pub fn find(name: &str) -> Result<Option<Place>> {
    let is_of_another = |place: &Place| {
        let Ok(record) = place.record() else { return false };
        Device::find(name).is_ok() && find_device(place, &record).is_some_and(|now| now != name)
    };
    Ok(home::find(name)?.filter(|place| !is_of_another(place)))
}

/// Removes what is at a device; the caller holds the lock. Returns lines for the user; none if
/// nothing of ours is there.
///
/// # Errors
/// As [`take_back`].
fn take_back_device(name: &str) -> Result<Vec<String>> {
    match find(name)?.map(|place| (place.record(), place)) {
        None => Ok(Vec::new()),
        Some((Ok(record), place)) => take_back(&place, &record),
        Some((Err(_), place)) => remove_leftovers(&place, name),
    }
}

/// Removes what a command left that was killed before it wrote its record. Returns a line for the
/// user.
///
/// # Errors
/// A sentence when something cannot be removed.
fn remove_leftovers(place: &Place, name: &str) -> Result<Vec<String>> {
    place.remove_pins()?;
    place.remove()?;
    Ok(vec![format!("{name}: the leftovers of a command that was killed are removed")])
}

/// Returns whether what was started at `since` (seconds since 1970) still waits for confirmation;
/// `true` if that cannot be read. Takes our folder's lock, so that it may wait some seconds.
pub fn waits_for_confirmation(name: &str, since: u64) -> bool {
    // The command that starts the timer holds the lock until its record is written.
    let Ok(_home) = Home::lock() else { return true };
    find_unconfirmed(name, since).map_or(true, |found| found.is_some())
}

/// Returns the folder and the record of the start under this name at `since` (seconds since 1970)
/// that waits for confirmation, whatever its device is called now; `None` if none waits.
///
/// # Errors
/// A sentence when our folder cannot be read.
fn find_unconfirmed(name: &str, since: u64) -> Result<Option<(Place, Record)>> {
    let namespace = namespace::current_cookie()?;
    let is_wanted = |record: &Record| {
        (record.namespace, record.since) == (namespace, since)
            && record.device == name
            && record.confirm_by.is_some()
    };
    let all = list_places()?.into_iter().filter_map(|place| Some((place.record().ok()?, place)));
    Ok(all.map(|(record, place)| (place, record)).find(|(_, record)| is_wanted(record)))
}

/// Removes what was started at `since` (seconds since 1970), unless it was confirmed or is gone.
/// Returns lines for the user.
///
/// # Errors
/// As [`stop`].
pub fn stop_unconfirmed(name: &str, since: u64) -> Result<Vec<String>> {
    let _home = Home::lock()?;
    match find_unconfirmed(name, since)? {
        Some((place, record)) => take_back(&place, &record),
        None => Ok(Vec::new()),
    }
}

/// Removes everything of ours in this network namespace, and what is left of devices that are gone.
/// Returns lines for the user.
///
/// # Errors
/// The first failure; the other devices are still handled.
pub fn stop_all() -> Result<Vec<String>> {
    let home = Home::lock()?;
    let namespace = namespace::current_cookie()?;
    let (mut lines, mut failure) = (sweep_gone(&home)?, None);
    for place in list_places()?.into_iter().filter(|place| place.namespace() == Some(namespace)) {
        let done = match place.record() {
            Ok(record) => take_back(&place, &record),
            Err(_) => remove_leftovers(&place, &place.name()),
        };
        match done {
            Ok(more) => lines.extend(more),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    if lines.is_empty() && failure.is_none() {
        lines.push("nothing of ours is in this network namespace".into());
    }
    failure.map_or(Ok(lines), Err)
}

/// Removes what is left of devices that are gone, in every namespace; their tables use kernel
/// memory. The caller holds the lock. Returns a line for each.
///
/// # Errors
/// A sentence when something cannot be read or removed.
pub fn sweep_gone(_lock: &Home) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for place in find_gone()? {
        match place.record() {
            Ok(record) => lines.extend(take_back(&place, &record)?),
            Err(_) => lines.extend(remove_leftovers(&place, &place.name())?),
        }
    }
    Ok(lines)
}

/// Returns the places of devices that are gone: in this namespace, those without a device; in
/// others, those of a namespace that no process is in and no mount names. A place whose program is
/// still attached is not gone.
///
/// # Errors
/// As [`home::list_places`].
pub fn find_gone() -> Result<Vec<Place>> {
    let here = namespace::current_cookie()?;
    let all = list_places()?;
    let elsewhere = all.iter().any(|place| place.namespace().is_some_and(|one| one != here));
    let alive = if elsewhere { namespace::find_live_cookies() } else { None };
    Ok(all.into_iter().filter(|place| is_gone(place, here, alive.as_ref())).collect())
}

/// Returns whether the device of a place is gone. `alive` are the namespaces in use, if they could
/// be listed.
fn is_gone(place: &Place, here: u64, alive: Option<&BTreeSet<u64>>) -> bool {
    let (Some(namespace), record) = (place.namespace(), place.record().ok()) else { return false };
    if record.as_ref().is_some_and(|record| is_running(place, record)) {
        return false;
    }
    match (namespace == here, record) {
        (true, Some(record)) => find_device(place, &record).is_none(),
        (true, None) => place.index().and_then(Device::find_name).is_none(),
        // If not every namespace can be entered, it may still be in use.
        (false, _) => alive.is_some_and(|alive| !alive.contains(&namespace)),
    }
}

/// Returns the name of a record's device if it is still in this namespace. The index may belong to
/// another device since (`ip link add index`); that one has another address, and our program is not
/// attached to it. `None` otherwise.
pub fn find_device(place: &Place, record: &Record) -> Option<String> {
    if namespace::current_cookie().ok()? != record.namespace {
        return None;
    }
    let name = Device::find_name(record.index)?;
    let is_same = || Device::find(&name).is_ok_and(|device| device.address == record.address);
    (is_running(place, record) || is_same()).then_some(name)
}

/// Returns the failure for a device where nothing of ours is.
pub fn nothing_here(name: &str) -> Failure {
    Failure::new(format!("nothing of ours is at {name}; `mousehole-live status` lists where something is"))
}

/// Returns whether a place's program is attached, as a link or as our filter.
pub fn is_running(place: &Place, record: &Record) -> bool {
    // Both are checked, since a killed command may not have recorded which one it used.
    is_our_filter(place, record.index)
        || kernel::read_pinned_link(&place.link()).is_ok_and(|info| info.device != 0)
}

/// Returns the kernel's number of a place's program; `None` if it is gone.
pub fn find_program(place: &Place, record: &Record) -> Option<u32> {
    match record.attachment {
        Some(Attachment::Clsact { .. }) => kernel::read_pinned_program(&place.program()).ok(),
        _ => kernel::read_pinned_link(&place.link()).ok().map(|info| info.program),
    }
}

/// Returns whether our filter at a device runs a program of this place, the one of an unfinished
/// upgrade included.
fn is_our_filter(place: &Place, index: u32) -> bool {
    let here = kernel::find_filter_program(index);
    let pins = [place.program(), place.next_program()];
    here.is_some() && pins.iter().any(|path| kernel::read_pinned_program(path).ok() == here)
}

/// Undoes everything that a record lists: queue disciplines, super-packets, program, maps,
/// redirection, and at last the record. Steps that were not reached or that others have undone are
/// skipped. The caller holds the lock. Returns lines for the user.
///
/// # Errors
/// A sentence when a step fails or a newer version wrote the record; the record stays, so that the
/// command can be given again.
pub fn take_back(place: &Place, record: &Record) -> Result<Vec<String>> {
    if record.schema > SCHEMA {
        return Err(Failure::new(format!(
            "{} was written by a newer version ({}); take it back with that one",
            place.name(),
            record.version
        )));
    }
    let mut lines = Vec::new();
    let is_here = namespace::current_cookie()? == record.namespace;
    let is_alive = is_running(place, record);
    let name = find_device(place, record);
    if let Some(name) = &name {
        lines.extend(restore_root(name, record)?);
        if let Some(segments) = record.gso_max_segs {
            links::set_gso_max_segs(record.index, segments).map_err(|error| {
                Failure::system(format!("{name}: gso_max_segs cannot be set back"), &error)
            })?;
        }
    }
    if name.is_some() {
        if is_our_filter(place, record.index) {
            kernel::detach_filter(record.index)?;
        }
        if record.attachment == Some(Attachment::Clsact { added: true }) {
            kernel::remove_clsact(record.index);
        }
    }
    place.remove_pins()?;
    if let Some(redirect) = record.redirect.as_ref().filter(|_| is_here) {
        download::take_back(redirect)?;
        lines.push(format!("{}: what comes in is no longer redirected", redirect.device));
    }
    place.remove()?;
    lines.insert(
        0,
        match (&name, is_here) {
            (Some(name), _) => format!("{name}: the program is removed"),
            (None, true) => format!("{} is gone; what was stored about it is removed", record.device),
            (None, false) if is_alive => {
                format!("{} is in another network namespace; the program is removed", record.device)
            }
            (None, false) => {
                format!(
                    "{} was in a network namespace that is gone; what was stored about it is removed",
                    record.device
                )
            }
        },
    );
    Ok(lines)
}

/// Removes our queue discipline from the device's root and restores the one that was there. Changes
/// nothing if the present one is somebody else's. Returns a line for the user; `None` if we had
/// added none.
///
/// # Errors
/// A sentence when the kernel rejects a step.
fn restore_root(name: &str, record: &Record) -> Result<Option<String>> {
    let Some(handle) = &record.added_handle else { return Ok(None) };
    let all = netlink::list_qdiscs(record.index)?;
    let root = qdisc::find_root(&all);
    let remove = || {
        netlink::remove_root(record.index)
            .map_err(|error| Failure::system(format!("{name}: our qdisc cannot be removed"), &error))
    };
    let is_ours = root.is_some_and(|qdisc| &qdisc.handle == handle);
    let is_default = root.is_none_or(qdisc::Qdisc::is_default);
    if !is_ours && !is_default {
        return Ok(Some(format!("{name}: the qdisc at the root is not ours any more and stays")));
    }
    match &record.replaced {
        Some(saved) => {
            let is_back = root.is_some_and(|qdisc| qdisc.handle == saved.handle && qdisc.kind == saved.kind);
            if !is_back {
                if is_ours {
                    remove()?;
                }
                netlink::restore_root(record.index, &saved.message).map_err(|error| {
                    Failure::system(
                        format!("{} {} cannot be put back at {name}", saved.kind, saved.handle),
                        &error,
                    )
                })?;
            }
            Ok(Some(format!("{name}: {} {} is back at the root", saved.kind, saved.handle)))
        }
        None => {
            if is_ours {
                remove()?;
            }
            Ok(Some(format!("{name}: the kernel's default qdisc is back at the root")))
        }
    }
}
