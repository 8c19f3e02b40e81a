//! `tune`: changes the parameters of what runs, without losing a packet or a flow's state.
//!
//! The program reads one of two slots of settings. The other slot is written, then the queue's rate
//! is changed, then the active slot is switched, and the record is written last; where a native queue
//! is to mark no more, the slot is switched before the queue. If the command is
//! killed between two of these steps, `down` still works, and giving the same command again
//! completes it.

use crate::deployment::{Deployment, Shaper};
use crate::device::Device;
use crate::error::{Failure, Result};
use crate::home::{Home, Place};
use crate::layout::{Action, Control, Plain as _, Settings};
use crate::record::Record;
use crate::request::{Mode, Request, Via};
use crate::{kernel, native, netlink, start, stop};
use std::thread::sleep;
use std::time::Duration;

/// How long a packet takes at most from the program to the queue behind it.
const UNDER_WAY: Duration = Duration::from_millis(20);

/// The changes to a request; `None` leaves a value as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The scheme or marker.
    pub scheme: Option<String>,
    /// Whether `scheme` was given by `--marker`.
    pub named_marker: bool,
    /// Rate of the queue, or for a marker that of the link, of which its parameters may be shares.
    pub rate: Option<String>,
    /// Buffer of the queue.
    pub buffer: Option<String>,
    /// Depth of the token bucket.
    pub burst: Option<String>,
    /// Bytes on the wire beyond the IP length.
    pub overhead: Option<u32>,
    /// The kind of mark.
    pub via: Option<Via>,
    /// Classes of HTB.
    pub classes: Vec<String>,
    /// The DSCP of long flows.
    pub dscp: Option<String>,
    /// Whether marks of others are replaced.
    pub overrides: Option<bool>,
    /// Whether the program only decides and counts.
    pub shadow: Option<bool>,
    /// The longest time that packets wait for tokens.
    pub shape: Option<String>,
}

impl Changes {
    /// Returns a request with these changes. `device` is for the error. A given DSCP or classes
    /// also set the kind of mark, unless that is given.
    ///
    /// # Errors
    /// A sentence when a change is not possible for this mode or while it runs.
    pub fn apply(&self, former: &Request, device: &str) -> Result<Request> {
        let mut request = former.clone();
        let (wrong, mode): (Vec<&str>, _) = match former.mode {
            Mode::Mark => (
                [
                    ("--scheme", self.scheme.is_some() && !self.named_marker),
                    ("--buffer", self.buffer.is_some()),
                    ("--burst", self.burst.is_some()),
                    ("--overhead", self.overhead.is_some() && !former.is_for_own_cake()),
                ]
                .into_iter()
                .filter_map(|(name, given)| given.then_some(name))
                .collect(),
                "mark",
            ),
            Mode::Up => (
                [
                    ("--marker", self.named_marker),
                    ("--via", self.via.is_some()),
                    ("--classes", !self.classes.is_empty()),
                    ("--dscp", self.dscp.is_some()),
                    ("--override", self.overrides.is_some()),
                    ("--shape", self.shape.is_some()),
                ]
                .into_iter()
                .filter_map(|(name, given)| given.then_some(name))
                .collect(),
                "up",
            ),
        };
        if let Some(name) = wrong.first() {
            return Err(Failure::new(format!(
                "{name} is no option of `{mode}`, by which {device} was started"
            )));
        }
        if self.shadow.is_some() && former.mode == Mode::Up {
            return Err(Failure::new(format!(
                "--shadow cannot change at {device}: `up` puts its qdisc in place only where it is not shadow; `mousehole-live \
                 down {device}` and `up` start it the other way"
            )));
        }
        if former.shape.is_none() && self.shape.is_some() {
            return Err(Failure::new(format!(
                "--shape cannot change at {device}, where packets are policed; `mousehole-live down {device}` and `host {device} \
                 --shape` start it the other way"
            )));
        }
        if self.shadow.is_some() && former.shape.is_some() {
            return Err(Failure::new(format!(
                "--shadow cannot change at {device}: `host --shape` puts its fq in place only where it is not shadow; \
                 `mousehole-live down {device}` and `host` start it the other way"
            )));
        }
        if let Some(scheme) = &self.scheme {
            request.scheme.clone_from(scheme);
        }
        if let Some(buffer) = &self.buffer {
            request.buffer.clone_from(buffer);
        }
        if let Some(dscp) = &self.dscp {
            request.dscp.clone_from(dscp);
            request.via = self.via.or(Some(Via::Dscp));
        }
        if !self.classes.is_empty() {
            request.classes.clone_from(&self.classes);
            request.via = self.via.or(Some(Via::Class));
        }
        request.rate = self.rate.clone().or(request.rate);
        request.burst = self.burst.clone().or(request.burst);
        request.overhead = self.overhead.or(request.overhead);
        request.via = self.via.or(request.via);
        request.overrides = self.overrides.unwrap_or(request.overrides);
        request.shadow = self.shadow.unwrap_or(request.shadow);
        request.shape = self.shape.clone().or(request.shape);
        Ok(request)
    }
}

/// Changes the parameters of what runs at a device. Returns lines for the user.
///
/// # Errors
/// A sentence when that is not possible; the former settings stay in force then, unless only the
/// record cannot be written.
pub fn tune(name: &str, changes: &Changes) -> Result<Vec<String>> {
    change_running(name, changes, |former| changes.apply(former, name))
}

/// Makes what runs at a device carry out this request. Returns lines for the user.
///
/// # Errors
/// A sentence when that needs another program or other tables; the former settings stay in force
/// then.
pub(crate) fn apply_request(name: &str, request: &Request) -> Result<Vec<String>> {
    change_running(name, &Changes::default(), |_| Ok(request.clone()))
}

/// Makes what runs at a device carry out the request that `wanted` derives from the running one:
/// writes settings, queue disciplines and the record, and ends a pause of the guard's. `changes`
/// says what the user asked for. Returns lines for the user.
///
/// # Errors
/// A sentence when nothing runs there, the request needs another program or other queue
/// disciplines, or the kernel refuses.
fn change_running(
    name: &str,
    changes: &Changes,
    wanted: impl Fn(&Request) -> Result<Request>,
) -> Result<Vec<String>> {
    let device = Device::find(name)?;
    let home = Home::lock()?;
    let place = home.place(&device);
    let mut record = match place.exists() {
        true => place.record()?,
        false => return Err(stop::nothing_here(name)),
    };
    if !stop::is_running(&place, &record) {
        return Err(Failure::new(format!(
            "the program at {name} does not run; `mousehole-live down {name}` removes what is left"
        )));
    }
    let root = netlink::find_root(device.index)?;
    let request = wanted(&record.request)?;
    let former = record.deployment(&device, root.as_ref())?;
    let new = Deployment::new(&request, &device, root.as_ref())?;
    // Both requests are planned for the device as it is now, so that only the request makes a difference.
    refuse_other_policies(&former, &new, name, &request)?;
    if !changes.classes.is_empty() || changes.via == Some(Via::Class) {
        start::refuse_missing_classes(&device, &request, root.as_ref(), &new.action)?;
    }
    if record.request.shadow && !request.shadow {
        start::refuse_unread_marks(&device, &request)?;
    }
    let has_queue = record.added_handle.is_some() && new.shaper.has_rate();
    refuse_absent_cake(&record, &request, name)?;
    if new.shaper == Shaper::Departures && !request.shadow && record.added_handle.is_none() {
        start::has_departures(&device, new.longest_wait)?;
    }
    if has_queue && root.as_ref().map(|qdisc| &qdisc.handle) != record.added_handle.as_ref() {
        return Err(Failure::new(format!(
            "the qdisc at {name} is not ours any more, so its rate cannot be changed; `mousehole-live down {name}` and `up` start \
             afresh"
        )));
    }
    if new.shaper.has_twins() && !place.map("ml_queues").exists() {
        return Err(Failure::new(format!(
            "the program at {name} is of a version that does not mark behind a native queue; `mousehole-live down {name}` and the \
             command with this scheme start it afresh, or give ecn=false"
        )));
    }
    let slot = write_inactive_slot(&place, &new.settings(&request, &device))?;
    // A queue that does not expect twins would send both, so it expects them for as long as they are made.
    let ends_twins = former.shaper.has_twins() && !new.shaper.has_twins();
    if ends_twins {
        activate_slot(&place, slot)?;
        sleep(UNDER_WAY);
    }
    if has_queue && new.shaper != former.shaper {
        change_queue(&new, &former, &place, &device).inspect_err(|_| {
            if ends_twins {
                let _ = activate_slot(&place, slot ^ 1);
            }
        })?;
    }
    if !ends_twins {
        activate_slot(&place, slot)?;
    }
    let what = describe(&former, &new, &record.request, changes);
    if record.request != request {
        record.tuned = Some(kernel::boot_s());
    }
    record.request = request;
    record.paused = None;
    place.write_record(&record)?;
    Ok(vec![format!("{name}: {what}; flows and queue keep their state")])
}

/// Changes the parameters of the queue at a device from those of `former` to those of `new`.
///
/// # Errors
/// A sentence when the kernel refuses; the former parameters stay in force then.
fn change_queue(new: &Deployment, former: &Deployment, place: &Place, device: &Device) -> Result<()> {
    match &new.shaper {
        Shaper::Native { fifo, queue } => {
            native::change_settings(queue, place, fifo, new.action.priority, device.link_header_bytes)
        }
        shaper => start::change_qdiscs(shaper, device).inspect_err(|_| {
            // Some of several classes may have changed already.
            let _ = start::change_qdiscs(&former.shaper, device);
        }),
    }
}

/// Changes how the program at a device marks packets, and records `paused`; with a reason in it the
/// program only decides and counts. The guard calls this. No policy is called.
///
/// # Errors
/// A sentence when nothing runs there, or a map cannot be read or written.
pub(crate) fn change_action(name: &str, action: Action, paused: Option<String>) -> Result<()> {
    let device = Device::find(name)?;
    let home = Home::lock()?;
    let place = home.place(&device);
    let mut record = place.record()?;
    let active = place.control()?.active & 1;
    let mut bytes = place.read_bytes("ml_settings", active)?;
    let shadow = u32::from(record.request.shadow || paused.is_some());
    let settings = Settings { shadow, action, ..place.read_value("ml_settings", active)? };
    bytes[..size_of::<Settings>()].copy_from_slice(settings.bytes());
    let slot = write_inactive_slot(&place, &bytes)?;
    activate_slot(&place, slot)?;
    record.paused = paused;
    place.write_record(&record)
}

/// Fails if the request marks for our own CAKE, which was not installed because the program started
/// as a shadow.
fn refuse_absent_cake(record: &Record, request: &Request, name: &str) -> Result<()> {
    match request.brings_cake() && record.added_handle.is_none() {
        false => Ok(()),
        true => Err(Failure::new(format!(
            "{name} was started without its CAKE; `mousehole-live down {name}` and the same command without --shadow put it there"
        ))),
    }
}

/// Fails if the new deployment needs another program or other queue disciplines than the former.
/// `name` and `request` are for the error.
///
/// # Errors
/// A sentence with the commands that start the new one.
fn refuse_other_policies(former: &Deployment, new: &Deployment, name: &str, request: &Request) -> Result<()> {
    let colours = |shaper: &Shaper| match shaper {
        Shaper::None | Shaper::Departures | Shaper::Cake(_) => 0,
        Shaper::Fifo(_) => 1,
        Shaper::Classes { colours, .. } => 1 + colours,
        Shaper::Native { .. } => u32::MAX,
    };
    let is_same = former.combination == new.combination
        && colours(&former.shaper) == colours(&new.shaper)
        && former.native == new.native;
    if is_same {
        return Ok(());
    }
    let verb = if request.mode == Mode::Mark { "mark" } else { "up" };
    let rate = request.rate.as_ref().map_or(String::new(), |rate| format!(" --rate {rate}"));
    let option = if request.mode == Mode::Mark { "--marker" } else { "--scheme" };
    Err(Failure::new(format!(
        "{} is another policy than {}, and flows cannot keep their state; `mousehole-live down {name}` and `mousehole-live {verb} \
         {name}{rate} {option} '{}'` start it",
        new.scheme, former.scheme, new.scheme
    )))
}

/// Writes the slot of settings that is not active. Returns its number.
///
/// # Errors
/// A sentence when the settings do not fit the running program or the map cannot be written.
fn write_inactive_slot(place: &Place, settings: &[u8]) -> Result<u32> {
    let map = place.open_map("ml_settings")?;
    let other = (place.control()?.active & 1) ^ 1;
    let mut whole = settings.to_vec();
    if whole.len() > map.value_size() || whole.len() < size_of::<Settings>() {
        return Err(Failure::new(format!(
            "the running program has settings of {} bytes and these have {}; `mousehole-live upgrade` brings them together",
            map.value_size(),
            whole.len()
        )));
    }
    whole.resize(map.value_size(), 0);
    map.update(&other.to_ne_bytes(), &whole)
        .map_err(|error| Failure::system("the map ml_settings cannot be written", &error))?;
    Ok(other)
}

/// Makes the program use this slot of settings from the next packet on.
///
/// # Errors
/// A sentence when the map cannot be read or written.
fn activate_slot(place: &Place, slot: u32) -> Result<()> {
    let next = Control { active: slot, ..place.control()? };
    place
        .open_map("ml_control")?
        .update(&0u32.to_ne_bytes(), next.bytes())
        .map_err(|error| Failure::system("the map ml_control cannot be written", &error))
}

/// Returns what has changed, for the user. `request` is the former request. It is a sentence of its
/// own if nothing has.
fn describe(former: &Deployment, new: &Deployment, request: &Request, changes: &Changes) -> String {
    let mut parts = Vec::new();
    if former.scheme != new.scheme {
        parts.push(format!("{} instead of {}", new.scheme, former.scheme));
    }
    if let Some(now) =
        changes.rate.as_ref().filter(|now| request.mode == Mode::Mark && request.rate.as_ref() != Some(now))
    {
        let before = request.rate.as_ref().map_or(String::new(), |before| format!(" instead of {before}"));
        parts.push(format!("the rate of the link is {now}{before}"));
    }
    if let (Some(before), Some(now)) = (former.shaper.fifo(), new.shaper.fifo()) {
        if before.rate != now.rate {
            parts.push(format!("{} instead of {}", now.rate, before.rate));
        }
        if before.buffer != now.buffer {
            parts.push(format!("buffer {}", changes.buffer.as_deref().unwrap_or("changed")));
        }
        if before.burst != now.burst {
            parts.push(format!("burst {} bytes", now.burst));
        }
        if before.overhead != now.overhead {
            parts.push(format!("overhead {} bytes", now.overhead));
        }
    }
    if let Some(wait) = new.longest_wait.filter(|_| former.longest_wait != new.longest_wait) {
        parts.push(format!("packets wait for tokens at most {} s", wait.as_secs()));
    }
    if former.action != new.action {
        parts.push("marks changed".into());
    }
    match changes.shadow {
        Some(true) => parts.push("decides and counts only (shadow)".into()),
        Some(false) => parts.push("acts, no longer shadow".into()),
        None => {}
    }
    match parts.is_empty() {
        true => "parameters are as they were".into(),
        false => parts.join(", "),
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the error of these changes to a default request.
    fn apply_and_fail(mode: Mode, changes: &Changes) -> String {
        changes.apply(&Request::new(mode), "wan").unwrap_err().to_string()
    }

    #[test]
    fn options_of_the_other_mode__are_refused() {
        let burst = Changes { burst: Some("20kB".into()), ..Changes::default() };
        assert_eq!(
            apply_and_fail(Mode::Mark, &burst),
            "--burst is no option of `mark`, by which wan was started"
        );
        let dscp = Changes { dscp: Some("cs1".into()), ..Changes::default() };
        assert_eq!(apply_and_fail(Mode::Up, &dscp), "--dscp is no option of `up`, by which wan was started");
        let shadow = Changes { shadow: Some(true), ..Changes::default() };
        assert!(apply_and_fail(Mode::Up, &shadow).starts_with("--shadow cannot change at wan"));
    }

    #[test]
    fn changes__leave_the_rest() {
        let changes = Changes {
            scheme: Some("sfd(th=50kB)".into()),
            named_marker: true,
            shadow: Some(true),
            ..Changes::default()
        };
        let former = Request { dscp: "cs1".into(), ..Request::new(Mode::Mark) };
        let request = changes.apply(&former, "wan").unwrap();
        assert_eq!(request, Request { scheme: "sfd(th=50kB)".into(), shadow: true, ..former.clone() });
        let dscp = Changes { dscp: Some("af11".into()), ..Changes::default() }.apply(&former, "wan").unwrap();
        assert_eq!((dscp.via, dscp.dscp.as_str()), (Some(Via::Dscp), "af11"));
    }
}
