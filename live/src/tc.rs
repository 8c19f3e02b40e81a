//! The one place that runs `tc`.

use crate::error::{Failure, Result};
use serde_json::Value;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// A queue discipline at a device's root or below it, as `tc -j qdisc show` tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qdisc {
    /// Its kind: `cake`, `tbf`, …
    pub kind: String,
    /// Its handle, such as `8001:`; `0:` of a default one.
    pub handle: String,
    /// Where it is: `None` for the root.
    pub parent: Option<String>,
    /// Its options, as JSON.
    pub options: Value,
}

impl Qdisc {
    /// Returns the handle's number in the upper half of a word, as `skb->priority` holds it; 0 without a handle.
    pub fn major(&self) -> u32 {
        u32::from_str_radix(self.handle.trim_end_matches(':'), 16).unwrap_or(0) << 16
    }

    /// Returns whether it is of a queue of this one, such as an `mq`.
    pub fn is_below(&self, root: &Qdisc) -> bool {
        self.parent.as_ref().is_some_and(|at| at.starts_with(&root.handle) || at.starts_with(':'))
    }

    /// Returns the horizon of an `fq`, µs: what is to leave later than that from now is dropped or sent too early.
    pub fn horizon_us(&self) -> Option<u64> {
        self.options["horizon"].as_u64()
    }

    /// Returns whether the kernel put it there by itself.
    pub fn is_default(&self) -> bool {
        self.handle == "0:"
    }
}

/// Runs `tc` with these words.
///
/// # Errors
/// What `tc` says, in one sentence.
pub fn run(words: &[&str]) -> Result<String> {
    let mut command = Command::new("tc");
    command.args(words);
    // A child that outlived this process would change something after `down` has looked.
    // SAFETY: prctl is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        });
    }
    let done = command
        .output()
        .map_err(|error| Failure::system("tc does not run; it is of the package iproute2", &error))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        return Err(Failure::new(format!("`tc {}` failed; {}", words.join(" "), said.join(" "))));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Puts a queue discipline of this kind in place by running `tc` with these words.
///
/// # Errors
/// As [`run`]; a sentence of our own where the kernel does not know the kind.
pub fn set(kind: &str, words: &[&str]) -> Result<()> {
    match run(words) {
        Err(failure) if failure.to_string().contains("kind is unknown") => Err(Failure::new(lacking(kind))),
        done => done.map(drop),
    }
}

/// Returns the clause that says that the kernel lacks a kind of queue discipline.
pub fn lacking(kind: &str) -> String {
    format!("the kernel has no {kind}; where it is a module, `modprobe sch_{kind}` loads it")
}

/// Returns the queue disciplines of a device, that of the root first. It fails as [`run`] does.
pub fn list_qdiscs(device: &str) -> Result<Vec<Qdisc>> {
    parse_qdiscs(&run(&["-j", "qdisc", "show", "dev", device])?)
}

/// Returns the queue disciplines that `tc -j qdisc show` printed, that of the root first.
///
/// # Errors
/// A sentence when it is no JSON.
pub fn parse_qdiscs(text: &str) -> Result<Vec<Qdisc>> {
    let list: Value = serde_json::from_str(if text.trim().is_empty() { "[]" } else { text })
        .map_err(|error| Failure::new(format!("tc: its list of qdiscs cannot be read; {error}")))?;
    let text = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_string();
    let mut all: Vec<Qdisc> = list
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| Qdisc {
            kind: text(item, "kind"),
            handle: text(item, "handle"),
            parent: item["parent"].as_str().map(String::from),
            options: item["options"].clone(),
        })
        .collect();
    all.sort_by_key(|qdisc| qdisc.parent.is_some());
    Ok(all)
}

/// Returns the queue discipline at a device's root; the kernel's default has the handle `0:`. It fails as [`run`] does.
pub fn read_root(device: &str) -> Result<Option<Qdisc>> {
    Ok(find_root(&list_qdiscs(device)?).cloned())
}

/// Returns the queue discipline at the root, of all those of a device.
pub fn find_root(all: &[Qdisc]) -> Option<&Qdisc> {
    all.iter().find(|qdisc| qdisc.parent.is_none() && qdisc.kind != "clsact" && qdisc.kind != "ingress")
}

/// Returns those of a device's qdiscs that hold packets back until their departure times: an `fq` at the root, or the `fq`
/// of each hardware queue below `mq`. Returns none where any packet could pass another kind.
pub fn find_departure_qdiscs(all: &[Qdisc]) -> Vec<&Qdisc> {
    let Some(root) = find_root(all) else { return Vec::new() };
    let leaves: Vec<&Qdisc> = match root.kind.as_str() {
        "fq" => vec![root],
        "mq" => all.iter().filter(|one| one.is_below(root)).collect(),
        _ => Vec::new(),
    };
    if leaves.iter().all(|one| one.kind == "fq") { leaves } else { Vec::new() }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns whether departure times are kept by qdiscs as `tc -j qdisc show` prints them.
    fn keeps(text: &str) -> bool {
        let all = parse_qdiscs(text).unwrap();
        !find_departure_qdiscs(&all).is_empty()
    }

    #[test]
    fn departures__are_kept_by_fq_alone() {
        let clsact = r#"{"kind":"clsact","handle":"ffff:","parent":"ffff:fff1","options":{}}"#;
        let root = |kind: &str| {
            format!(r#"[{{"kind":"{kind}","handle":"0:","root":true,"options":{{}}}},{clsact}]"#)
        };
        assert!(keeps(&root("fq")));
        for kind in ["fq_codel", "noqueue", "pfifo_fast", "cake", "mq"] {
            assert!(!keeps(&root(kind)), "{kind}");
        }
        let below = |kinds: [&str; 2]| {
            let [one, other] = kinds;
            format!(
                r#"[{{"kind":"mq","handle":"0:","root":true,"options":{{}}}},
                    {{"kind":"{one}","handle":"0:","parent":":2","options":{{}}}},
                    {{"kind":"{other}","handle":"0:","parent":":1","options":{{}}}},{clsact}]"#
            )
        };
        assert!(keeps(&below(["fq", "fq"])));
        assert!(!keeps(&below(["fq", "fq_codel"])), "a packet may leave by the other queue");
        assert!(!keeps("[]"));
    }

    #[test]
    fn horizon__is_in_microseconds() {
        let text = r#"[{"kind":"fq","handle":"1:","root":true,"options":{"limit":10000,"horizon":5000000}}]"#;
        assert_eq!(find_departure_qdiscs(&parse_qdiscs(text).unwrap())[0].horizon_us(), Some(5_000_000));
    }
}
