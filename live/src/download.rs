//! Downloads: incoming packets of a device are redirected to an IFB, whose egress runs the program
//! and the queue.
//!
//! We create the IFB, the `clsact` and the redirecting filter, and remove them together. An IFB of
//! ours has an alias, so that the leftovers of a killed command can be recognised.

use crate::device::Device;
use crate::error::{Failure, Result};
use crate::home::{self, Home, Place};
use crate::netlink::{Filter, TC_H_INGRESS};
use crate::record::{Record, Redirect};
use crate::{kernel, netlink, qdisc};
use mousehole_netlink::links::{self, Link};

/// The preference of our filter; others use lower ones.
const PREFERENCE: u32 = 28_008;
/// The start of an IFB's alias.
const ALIAS: &str = "mousehole: downloads of ";
/// The end of the alias if a `clsact` was added to the device as well.
const WITH_CLSACT: &str = ", and its clsact";

/// Returns the name of the IFB for a device's downloads; at most 15 characters.
pub fn ifb_name(device: &str) -> String {
    // The last letters tell devices such as enp3s0f0np0 and enp3s0f1np1 from each other.
    let from = device.char_indices().rev().nth(10).map_or(0, |(at, _)| at);
    format!("ifb-{}", &device[from..])
}

/// Returns those of the device and its IFB at which something of ours is; the device alone if
/// nothing is.
pub fn list_sides(device: &str) -> Vec<String> {
    let mut all = vec![device.to_string(), ifb_name(device)];
    all.retain(|one| home::find(one).is_ok_and(|place| place.is_some()));
    if all.is_empty() { vec![device.to_string()] } else { all }
}

/// Creates the IFB of a device and redirects the device's incoming packets to it; an IFB that a
/// killed command left is used again. Returns the redirection, which [`take_back`] removes.
///
/// # Errors
/// A sentence when the kernel has no IFB, a step fails, or somebody else redirects the incoming
/// packets. What was done by then is taken back.
pub fn redirect(name: &str) -> Result<Redirect> {
    let device = Device::find(name)?;
    refuse_others(name)?;
    let ifb = ifb_name(name);
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
    let done = redirect.as_ref().map_err(Clone::clone).and_then(|redirect| redirect.install());
    if done.is_err() {
        let of = Redirect { device: name.into(), index: device.index, added_clsact: false };
        let _ = take_back(redirect.as_ref().unwrap_or(&of));
    }
    done.and(redirect)
}

/// Redirects a device's incoming packets again, to the existing IFB, and records that first; its
/// queue and flows stay. Locks our folder meanwhile.
///
/// # Errors
/// A sentence when nothing was redirected, the device is gone, or somebody else redirects its
/// incoming packets.
pub fn renew(place: &Place) -> Result<()> {
    let _home = Home::lock()?;
    let record = place.record()?;
    let Some(former) = &record.redirect else { return Err(Failure::new("nothing is redirected")) };
    let device = Device::find(&former.device)?;
    refuse_others(&device.name)?;
    let was_added = former.added_clsact && former.index == device.index;
    let redirect = Redirect::plan(&device, was_added)?;
    // Written before it is done, so that `down` removes it wherever this process is killed.
    place.write_record(&Record { redirect: Some(redirect.clone()), ..record })?;
    redirect.install()
}

impl Redirect {
    /// Returns the redirection of a device's downloads. `was_added` says that an existing `clsact`
    /// there is ours.
    ///
    /// # Errors
    /// A sentence when the kernel does not list the device's queue disciplines.
    pub fn plan(device: &Device, was_added: bool) -> Result<Redirect> {
        let added_clsact = was_added || !has_hook(device.index)?;
        Ok(Redirect { device: device.name.clone(), index: device.index, added_clsact })
    }

    /// Sets the IFB up with our alias, adds the `clsact` if the device has no hook, and replaces
    /// our filter. The IFB must exist.
    ///
    /// # Errors
    /// A sentence when the IFB is gone or the kernel rejects a step; earlier steps stay.
    pub fn install(&self) -> Result<()> {
        let name = ifb_name(&self.device);
        let ifb = links::find(&name).ok_or_else(|| Failure::new(format!("{name} is gone")))?;
        let with = if self.added_clsact { WITH_CLSACT } else { "" };
        let fault = |error: &_| {
            Failure::system(format!("what comes in at {} cannot be redirected to {name}", self.device), error)
        };
        // The alias comes first, so that leftovers of a killed command can be recognised.
        links::set_up(ifb.index, &format!("{ALIAS}{}{with}", self.device)).map_err(|error| fault(&error))?;
        if !has_hook(self.index)? {
            netlink::add_clsact(self.index).map_err(|error| fault(&error))?;
        }
        // A filter that redirected to a former IFB drops packets.
        let _ = netlink::remove_ingress_filters(self.index, PREFERENCE);
        netlink::add_redirect(self.index, PREFERENCE, ifb.index).map_err(|error| fault(&error))
    }

    /// Returns whether our filter still redirects the device's incoming packets to the IFB.
    pub fn is_installed(&self) -> bool {
        let to = links::find(&ifb_name(&self.device)).map(|ifb| ifb.index);
        let is_ours = |one: &Filter| one.preference == PREFERENCE && one.targets.first().copied() == to;
        Device::find_name(self.index).as_ref() == Some(&self.device)
            && to.is_some()
            && netlink::list_filters(self.index, TC_H_INGRESS).iter().any(is_ours)
    }
}

/// Returns whether a device has a `clsact` or `ingress`, under which filters of incoming packets
/// are attached.
///
/// # Errors
/// A sentence when the kernel does not list the device's queue disciplines.
fn has_hook(index: u32) -> Result<bool> {
    Ok(netlink::list_qdiscs(index)?.iter().any(|one| one.kind == "clsact" || one.kind == "ingress"))
}

/// Returns the commands of ip(8) and tc(8) that set up a device's redirection.
pub fn list_commands(name: &str) -> Vec<String> {
    let ifb = ifb_name(name);
    vec![
        format!("ip link add {ifb} type ifb"),
        format!("ip link set dev {ifb} up"),
        format!("tc qdisc add dev {name} clsact"),
        format!(
            "tc filter add dev {name} ingress protocol all pref {PREFERENCE} matchall action mirred egress redirect dev {ifb}"
        ),
    ]
}

/// Rejects a device whose incoming packets somebody else redirects to another device than our IFB,
/// or whose filters of incoming packets are in a block that other devices may share.
///
/// # Errors
/// A sentence that names the other device or the block; also when there is no such device.
pub fn refuse_others(name: &str) -> Result<()> {
    let index = Device::find(name)?.index;
    let filters = netlink::list_filters(index, TC_H_INGRESS);
    let others = filters.iter().filter(|one| one.preference != PREFERENCE);
    for to in others.flat_map(|one| &one.targets).filter_map(|index| Device::find_name(*index)) {
        if to != ifb_name(name) {
            return Err(Failure::new(format!(
                "what comes in at {name} goes to {to} already; `mousehole-live mark {to}` or `up {to}` stands there"
            )));
        }
    }
    match qdisc::shared_blocks(&netlink::list_qdiscs(index)?)[0] {
        0 => Ok(()),
        block => Err(Failure::new(format!(
            "what comes in at {name} is filtered by block {block}, which other devices may share, and the kernel takes no \
             filter of one device there; redirect it in that block yourself, to an IFB that `mark` or `up` is given"
        ))),
    }
}

/// Removes a redirection: the filter, the `clsact` if we added it and nobody uses it, and the IFB
/// if it is ours. Missing parts are no error; the filter and the `clsact` stay if another device
/// has the recorded index now.
///
/// # Errors
/// A sentence when the IFB cannot be removed.
pub fn take_back(redirect: &Redirect) -> Result<()> {
    let of = &redirect.device;
    if Device::find_name(redirect.index).as_ref() == Some(of) {
        let _ = netlink::remove_ingress_filters(redirect.index, PREFERENCE);
        if redirect.added_clsact {
            kernel::remove_clsact(redirect.index);
        }
    }
    let name = ifb_name(of);
    let Some(ifb) = links::find(&name).filter(is_ours) else { return Ok(()) };
    match links::remove(ifb.index) {
        Err(error) if error.raw_os_error() != Some(libc::ENODEV) => {
            Err(Failure::system(format!("{name} cannot be removed"), &error))
        }
        _ => Ok(()),
    }
}

/// Removes what a killed command left of a device's redirection. Returns whether there was an IFB
/// of ours.
///
/// # Errors
/// As [`take_back`].
pub fn remove_leftovers(name: &str) -> Result<bool> {
    let Some(link) = links::find(&ifb_name(name)).filter(is_ours) else { return Ok(false) };
    let added_clsact = alias(&link).is_some_and(|alias| alias.ends_with(WITH_CLSACT));
    // No device has the number 0.
    let index = Device::find(name).map_or(0, |device| device.index);
    take_back(&Redirect { device: name.into(), index, added_clsact }).map(|()| true)
}

/// Returns whether a device is an IFB of ours: it has our alias, or it is an IFB that is down and
/// has no alias, as a command leaves it that is killed right after creating it.
fn is_ours(link: &Link) -> bool {
    let is_bare = link.alias.is_none() && link.kind.as_deref() == Some("ifb") && !link.is_up;
    is_bare || alias(link).is_some()
}

/// Returns the alias of an IFB of ours; `None` if the device has another alias or none.
fn alias(link: &Link) -> Option<&str> {
    link.alias.as_deref().filter(|alias| alias.starts_with(ALIAS))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn ifb_name__fits_and_keeps_the_end() {
        for (device, ifb) in
            [("wan0", "ifb-wan0"), ("enp3s0f1np1", "ifb-enp3s0f1np1"), ("wlx0013ef5b0a12", "ifb-013ef5b0a12")]
        {
            let made = ifb_name(device);
            assert!(made.len() < libc::IFNAMSIZ, "{made}");
            assert_eq!(made, ifb);
        }
    }

    #[test]
    fn list_commands__are_those_that_are_run() {
        let all = list_commands("wan0");
        assert_eq!(
            all[3],
            "tc filter add dev wan0 ingress protocol all pref 28008 matchall action mirred egress redirect dev ifb-wan0"
        );
    }
}
