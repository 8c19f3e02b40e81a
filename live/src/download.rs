//! Downloads: what comes in at a device is redirected to an IFB, at whose egress programs and queues stand.
//!
//! The IFB, the `clsact` and the filter that redirects are made by us and taken back with what stands there. An IFB of
//! ours has an alias, so that what a killed command left is known as ours.

use crate::device::Device;
use crate::error::{Failure, Result};
use crate::home::{self, Home, Place};
use crate::links::{self, Link};
use crate::netlink::{Filter, TC_H_INGRESS};
use crate::record::{Record, Redirect};
use crate::{kernel, netlink, qdisc};

/// Preference of our filter, of which others use lower ones.
const PREFERENCE: u32 = 28_008;
/// What an IFB's alias begins with.
const ALIAS: &str = "mousehole: downloads of ";
/// What it ends with where a `clsact` is added for it.
const WITH_CLSACT: &str = ", and its clsact";

/// Returns the name of the IFB for a device's downloads.
pub fn ifb_of(device: &str) -> String {
    // The last letters tell devices such as enp3s0f0np0 and enp3s0f1np1 from each other.
    let from = device.char_indices().rev().nth(10).map_or(0, |(at, _)| at);
    format!("ifb-{}", &device[from..])
}

/// Returns the devices at which something of ours is, of a device and the IFB of its downloads; the device alone where
/// nothing is.
pub fn sides(device: &str) -> Vec<String> {
    let mut all = vec![device.to_string(), ifb_of(device)];
    all.retain(|one| home::find(one).is_ok_and(|place| place.is_some()));
    if all.is_empty() { vec![device.to_string()] } else { all }
}

/// Makes the IFB of a device and redirects to it what comes in there.
///
/// # Errors
/// A sentence when the kernel has no IFB, or somebody else redirects or handles what comes in; nothing has changed then.
pub fn redirect(name: &str) -> Result<Redirect> {
    let device = Device::find(name)?;
    refuse_others(name)?;
    let ifb = ifb_of(name);
    let former = links::find(&ifb).filter(is_ours);
    if former.is_none() {
        links::add(&ifb, "ifb").map_err(|error| match error.raw_os_error() {
            Some(libc::EOPNOTSUPP) => {
                Failure::new("the kernel has no ifb, through which downloads go; where it is a module, `modprobe ifb` loads it")
            }
            _ => Failure::system(format!("{ifb} cannot be made"), &error),
        })?;
    }
    // What a killed command added is ours too.
    let was_added = former.as_ref().and_then(alias).is_some_and(|alias| alias.ends_with(WITH_CLSACT));
    let redirect = Redirect::plan(&device, was_added);
    let done = redirect.as_ref().map_err(Clone::clone).and_then(|redirect| redirect.make());
    if done.is_err() {
        let of = Redirect { device: name.into(), index: device.index, added_clsact: false };
        let _ = take_back(redirect.as_ref().unwrap_or(&of));
    }
    done.and(redirect)
}

/// Redirects again what comes in at a device, to the IFB that stands; what stands there goes on, with its flows.
///
/// # Errors
/// A sentence when the device is gone, or somebody else redirects or handles what comes in.
pub fn renew(place: &Place) -> Result<()> {
    let _home = Home::lock()?;
    let record = place.record()?;
    let Some(former) = &record.redirect else { return Err(Failure::new("nothing is redirected")) };
    let device = Device::find(&former.device)?;
    refuse_others(&device.name)?;
    let was_added = former.added_clsact && former.index == device.index;
    let redirect = Redirect::plan(&device, was_added)?;
    // Noted before it is done, so that `down` takes it back wherever this is killed.
    place.write_record(&Record { redirect: Some(redirect.clone()), ..record })?;
    redirect.make()
}

impl Redirect {
    /// Returns what is to be made at a device that may have a `clsact` of ours already.
    ///
    /// # Errors
    /// A sentence when the kernel does not tell what is there.
    pub fn plan(device: &Device, was_added: bool) -> Result<Redirect> {
        let added_clsact = was_added || !has_hook(device.index)?;
        Ok(Redirect { device: device.name.clone(), index: device.index, added_clsact })
    }

    /// Makes it: what is missing of the `clsact` and the filter. The IFB is there.
    ///
    /// # Errors
    /// A sentence when the kernel refuses it.
    pub fn make(&self) -> Result<()> {
        let name = ifb_of(&self.device);
        let ifb = links::find(&name).ok_or_else(|| Failure::new(format!("{name} is gone")))?;
        let with = if self.added_clsact { WITH_CLSACT } else { "" };
        let fault = |error: &_| {
            Failure::system(format!("what comes in at {} cannot be redirected to {name}", self.device), error)
        };
        // Noted before it is done, so that a command that is killed in between leaves nothing unknown.
        links::set_up(ifb.index, &format!("{ALIAS}{}{with}", self.device)).map_err(|error| fault(&error))?;
        if !has_hook(self.index)? {
            netlink::add_clsact(self.index).map_err(|error| fault(&error))?;
        }
        // One of a former IFB leads nowhere.
        let _ = netlink::remove_incoming(self.index, PREFERENCE);
        netlink::add_redirect(self.index, PREFERENCE, ifb.index).map_err(|error| fault(&error))
    }

    /// Returns whether it still stands.
    pub fn stands(&self) -> bool {
        let to = links::find(&ifb_of(&self.device)).map(|ifb| ifb.index);
        let is_ours = |one: &Filter| one.preference == PREFERENCE && one.targets.first().copied() == to;
        Device::name_of(self.index).as_ref() == Some(&self.device)
            && to.is_some()
            && netlink::filters(self.index, TC_H_INGRESS).iter().any(is_ours)
    }
}

/// Returns whether programs and filters can stand at what comes in.
fn has_hook(index: u32) -> Result<bool> {
    Ok(netlink::qdiscs(index)?.iter().any(|one| one.kind == "clsact" || one.kind == "ingress"))
}

/// Returns what a redirection takes, as commands.
pub fn commands(name: &str) -> Vec<String> {
    let ifb = ifb_of(name);
    vec![
        format!("ip link add {ifb} type ifb"),
        format!("ip link set dev {ifb} up"),
        format!("tc qdisc add dev {name} clsact"),
        format!(
            "tc filter add dev {name} ingress protocol all pref {PREFERENCE} matchall action mirred egress redirect dev {ifb}"
        ),
    ]
}

/// Refuses a device whose incoming packets go elsewhere already, or cannot be redirected for it alone.
///
/// # Errors
/// A sentence that names where they go, or the block of filters that is shared.
pub fn refuse_others(name: &str) -> Result<()> {
    let index = Device::find(name)?.index;
    let filters = netlink::filters(index, TC_H_INGRESS);
    let others = filters.iter().filter(|one| one.preference != PREFERENCE);
    for to in others.flat_map(|one| &one.targets).filter_map(|index| Device::name_of(*index)) {
        if to != ifb_of(name) {
            return Err(Failure::new(format!(
                "what comes in at {name} goes to {to} already; `mousehole-live mark {to}` or `up {to}` stands there"
            )));
        }
    }
    match qdisc::shared_blocks(&netlink::qdiscs(index)?)[0] {
        0 => Ok(()),
        block => Err(Failure::new(format!(
            "what comes in at {name} is filtered by block {block}, which other devices may share, and the kernel takes no \
             filter of one device there; redirect it in that block yourself, to an IFB that `mark` or `up` is given"
        ))),
    }
}

/// Takes a redirection back: the filter, the `clsact` if it was added, the IFB. What is gone already is no fault.
///
/// # Errors
/// A sentence when the IFB cannot be removed.
pub fn take_back(redirect: &Redirect) -> Result<()> {
    let of = &redirect.device;
    if Device::name_of(redirect.index).as_ref() == Some(of) {
        let _ = netlink::remove_incoming(redirect.index, PREFERENCE);
        if redirect.added_clsact {
            kernel::remove_clsact(redirect.index);
        }
    }
    let name = ifb_of(of);
    let Some(ifb) = links::find(&name).filter(is_ours) else { return Ok(()) };
    match links::remove(ifb.index) {
        Err(error) if error.raw_os_error() != Some(libc::ENODEV) => {
            Err(Failure::system(format!("{name} cannot be removed"), &error))
        }
        _ => Ok(()),
    }
}

/// Removes what a killed command left of a redirection of a device; returns whether there was anything.
///
/// # Errors
/// As [`take_back`].
pub fn remove_leftovers(name: &str) -> Result<bool> {
    let Some(link) = links::find(&ifb_of(name)).filter(is_ours) else { return Ok(false) };
    let added_clsact = alias(&link).is_some_and(|alias| alias.ends_with(WITH_CLSACT));
    // No device has the number 0.
    let index = Device::find(name).map_or(0, |device| device.index);
    take_back(&Redirect { device: name.into(), index, added_clsact }).map(|()| true)
}

/// Returns whether a device is an IFB of ours: one with our alias, or one that a command made and was killed
/// before it gave it the alias and set it up.
fn is_ours(link: &Link) -> bool {
    let is_bare = link.alias.is_none() && link.kind.as_deref() == Some("ifb") && !link.is_up;
    is_bare || alias(link).is_some()
}

/// Returns the alias of an IFB of ours; `None` if it has none.
fn alias(link: &Link) -> Option<&str> {
    link.alias.as_deref().filter(|alias| alias.starts_with(ALIAS))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn ifb_of__fits_and_keeps_the_end() {
        for (device, ifb) in
            [("wan0", "ifb-wan0"), ("enp3s0f1np1", "ifb-enp3s0f1np1"), ("wlx0013ef5b0a12", "ifb-013ef5b0a12")]
        {
            let made = ifb_of(device);
            assert!(made.len() < libc::IFNAMSIZ, "{made}");
            assert_eq!(made, ifb);
        }
    }

    #[test]
    fn commands__are_those_that_are_run() {
        let all = commands("wan0");
        assert_eq!(
            all[3],
            "tc filter add dev wan0 ingress protocol all pref 28008 matchall action mirred egress redirect dev ifb-wan0"
        );
    }
}
