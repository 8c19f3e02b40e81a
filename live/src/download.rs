//! Downloads: what comes in at a device is redirected to an IFB, at whose egress programs and queues stand.
//!
//! The IFB, the `clsact` and the filter that redirects are made by us and taken back with what stands there. An IFB of
//! ours has an alias, so that what a killed command left is known as ours.

use crate::device::Device;
use crate::error::{Failure, Result};
use crate::record::Redirect;
use crate::{home, kernel, tc};

/// Preference of our filter, of which others use lower ones.
const PREFERENCE: &str = "28008";
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
    let former = link(&ifb).filter(is_ours);
    if former.is_none() {
        tc::ip(&["link", "add", &ifb, "type", "ifb"]).map_err(|failure| match failure.to_string() {
            text if text.contains("Unknown device type") || text.contains("not supported") => {
                Failure::new("the kernel has no ifb, through which downloads go; where it is a module, `modprobe ifb` loads it")
            }
            _ => failure,
        })?;
    }
    let mut redirect = Redirect { device: name.into(), index: device.index, added_clsact: false };
    // What a killed command added is ours too.
    let was_added = former.as_ref().and_then(alias).is_some_and(|alias| alias.ends_with(WITH_CLSACT));
    let done = redirect.finish(&ifb, was_added);
    if done.is_err() {
        let _ = take_back(&redirect);
    }
    done.map(|()| redirect)
}

impl Redirect {
    fn finish(&mut self, ifb: &str, was_added: bool) -> Result<()> {
        let is_hook = |one: &tc::Qdisc| one.kind == "clsact" || one.kind == "ingress";
        let has_hook = tc::qdiscs(&self.device)?.iter().any(is_hook);
        self.added_clsact = was_added || !has_hook;
        let with = if self.added_clsact { WITH_CLSACT } else { "" };
        // Noted before it is done, so that a command that is killed in between leaves nothing unknown.
        let alias = format!("{ALIAS}{}{with}", self.device);
        tc::ip(&["link", "set", "dev", ifb, "up", "alias", &alias])?;
        if !has_hook {
            tc::run(&["qdisc", "add", "dev", &self.device, "clsact"])?;
        }
        let [matchall, u32] = filters(&self.device, ifb);
        // Kernels without matchall have u32.
        let run = |words: &[String]| tc::run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        run(&matchall).or_else(|_| run(&u32)).map(drop)
    }

    /// Returns whether it still stands.
    pub fn stands(&self) -> bool {
        Device::name_of(self.index).as_ref() == Some(&self.device)
            && tc::run(&["filter", "show", "dev", &self.device, "ingress", "pref", PREFERENCE])
                .is_ok_and(|text| text.contains(&ifb_of(&self.device)))
    }
}

/// Returns what a redirection takes, as commands.
pub fn commands(name: &str) -> Vec<String> {
    let ifb = ifb_of(name);
    let [filter, _] = filters(name, &ifb);
    vec![
        format!("ip link add {ifb} type ifb"),
        format!("ip link set dev {ifb} up"),
        format!("tc qdisc add dev {name} clsact"),
        format!("tc {}", filter.join(" ")),
    ]
}

fn filters(name: &str, ifb: &str) -> [Vec<String>; 2] {
    ["matchall", "u32 match u32 0 0"].map(|all| {
        format!(
            "filter add dev {name} ingress protocol all pref {PREFERENCE} {all} action mirred egress redirect dev {ifb}"
        )
        .split(' ')
        .map(String::from)
        .collect()
    })
}

/// Refuses a device whose incoming packets go elsewhere already.
///
/// # Errors
/// A sentence that names where they go.
pub fn refuse_others(name: &str) -> Result<()> {
    let shown = tc::run(&["filter", "show", "dev", name, "ingress"]).unwrap_or_default();
    let mut words = shown.split_whitespace();
    while let Some(word) = words.next() {
        // "(Egress Redirect to device ifb4wan0)"
        if word == "Redirect" && words.next() == Some("to") && words.next() == Some("device") {
            let to = words.next().unwrap_or_default().trim_end_matches(')');
            if to != ifb_of(name) {
                return Err(Failure::new(format!(
                    "what comes in at {name} goes to {to} already; `mousehole-live mark {to}` or `up {to}` stands there"
                )));
            }
        }
    }
    Ok(())
}

/// Takes a redirection back: the filter, the `clsact` if it was added, the IFB. What is gone already is no fault.
///
/// # Errors
/// A sentence when the IFB cannot be removed.
pub fn take_back(redirect: &Redirect) -> Result<()> {
    let of = &redirect.device;
    if Device::name_of(redirect.index).as_ref() == Some(of) {
        let _ = tc::run(&["filter", "del", "dev", of, "ingress", "pref", PREFERENCE]);
        if redirect.added_clsact {
            kernel::remove_clsact(redirect.index);
        }
    }
    let ifb = ifb_of(of);
    if link(&ifb).as_ref().is_some_and(is_ours) {
        tc::ip(&["link", "del", "dev", &ifb])?;
    }
    Ok(())
}

/// Removes what a killed command left of a redirection of a device; returns whether there was anything.
///
/// # Errors
/// As [`take_back`].
pub fn remove_leftovers(name: &str) -> Result<bool> {
    let Some(link) = link(&ifb_of(name)).filter(is_ours) else { return Ok(false) };
    let added_clsact = alias(&link).is_some_and(|alias| alias.ends_with(WITH_CLSACT));
    // No device has the number 0.
    let index = Device::find(name).map_or(0, |device| device.index);
    take_back(&Redirect { device: name.into(), index, added_clsact }).map(|()| true)
}

/// Returns whether a device is an IFB of ours: one with our alias, or one that a command made and was killed
/// before it gave it the alias and set it up.
fn is_ours(link: &serde_json::Value) -> bool {
    let is_up = link["flags"].as_array().is_some_and(|flags| flags.iter().any(|flag| flag == "UP"));
    let is_bare = link["ifalias"].is_null() && link["linkinfo"]["info_kind"] == "ifb" && !is_up;
    is_bare || alias(link).is_some()
}

/// Returns the alias of an IFB of ours; `None` if it has none.
fn alias(link: &serde_json::Value) -> Option<&str> {
    link["ifalias"].as_str().filter(|alias| alias.starts_with(ALIAS))
}

/// Returns what `ip` says of a device; `None` if there is none.
fn link(name: &str) -> Option<serde_json::Value> {
    let text = tc::ip(&["-d", "-j", "link", "show", "dev", name]).ok()?;
    let list: serde_json::Value = serde_json::from_str(&text).ok()?;
    list.get(0).cloned()
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
