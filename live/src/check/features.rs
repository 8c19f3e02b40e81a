//! What the kernel supports, probed by trying it where possible and not derived from its version.

use super::finding::Finding;
use crate::device::Device;
use crate::netlink::{self, TC_H_ROOT};
use crate::put::{Put, Verb, What};
use crate::{bpf, home, native};
use aya::maps::MapType;
use aya::programs::ProgramType;
use aya::sys::{BpfHelper, is_helper_supported, is_map_supported};
use mousehole_scheme::units::Rate;
use std::fs;
use std::os::fd::AsFd as _;

/// The helpers that every program needs, and the first kernel that has each.
const HELPERS: [(&str, BpfHelper, &str); 1] =
    [("bpf_ktime_get_coarse_ns", BpfHelper::BPF_FUNC_ktime_get_coarse_ns, "5.11")];
const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;
/// The capabilities that loading and attaching programs needs; programs that read packets by
/// pointers need CAP_PERFMON as well (capabilities(7)).
pub const CAPABILITIES: [(&str, u32); 3] =
    [("CAP_NET_ADMIN", CAP_NET_ADMIN), ("CAP_BPF", CAP_BPF), ("CAP_PERFMON", CAP_PERFMON)];
/// An interface index that no device has.
const NO_DEVICE: u32 = i32::MAX as u32;

/// A queue discipline that a command installs.
struct Needed {
    kind: &'static str,
    /// The smallest one of its kind, to probe with.
    what: What,
    /// The commands that need it.
    by: &'static str,
}

static QDISCS: [Needed; 3] = [
    Needed {
        kind: "tbf",
        what: What::Tbf { rate: Rate(1_000_000), burst: 5000, limit: 10_000, overhead: 0 },
        by: "up",
    },
    Needed { kind: "htb", what: What::Htb { default: 0 }, by: "up with lfp, pias or queues by priority" },
    Needed { kind: "fq", what: What::Fq { flow_limit: 100 }, by: "host --shape" },
];

/// What this process and the kernel can do.
pub struct Abilities {
    /// Whether programs can be loaded.
    pub may_load: bool,
    /// The kinds of queue disciplines that the kernel lacks; empty if that could not be probed.
    pub missing_qdiscs: Vec<&'static str>,
}

/// Returns findings about the kernel and this process's privileges, with the abilities that
/// predictions need. Helpers, tcx and queue disciplines are probed only with the capabilities to
/// load programs.
pub fn inspect() -> (Vec<Finding>, Abilities) {
    let mut all = vec![judge_version(&read_text("/proc/sys/kernel/osrelease"))];
    let rights = judge_rights(&read_text("/proc/self/status"));
    let may_load = rights.is_none();
    all.extend(rights);
    let mut missing_qdiscs = Vec::new();
    if may_load {
        all.extend(judge_helpers(&probe_missing_helpers()));
        all.push(judge_tcx(has_tcx()));
        if let Some(missing) = probe_missing_qdiscs() {
            all.push(judge_qdiscs(&missing));
            missing_qdiscs = missing;
        }
    }
    all.push(judge_native_queues(native::is_supported_by_kernel().ok()));
    all.push(judge_bpf_folder(home::list_places().err().map(|failure| failure.to_string()).as_deref()));
    all.extend(judge_switches(
        &read_text("/proc/sys/kernel/unprivileged_bpf_disabled"),
        &read_text("/proc/sys/net/core/bpf_jit_enable"),
    ));
    (all, Abilities { may_load, missing_qdiscs })
}

/// Returns the text of a file of /proc; empty if it cannot be read.
fn read_text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Judges a kernel release, as in /proc/sys/kernel/osrelease; one that cannot be read counts as
/// 0.0.
fn judge_version(release: &str) -> Finding {
    let mut numbers =
        release.split(|letter: char| !letter.is_ascii_digit()).map(|text| text.parse::<u32>().unwrap_or(0));
    let (major, minor) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if (major, minor) >= (6, 1) {
        return Finding::harmless(
            "kernel",
            format!("the kernel is {}; 6.1 and later are tested", release.trim()),
        );
    }
    Finding::worth_knowing(
        "kernel",
        format!("the kernel is {}, older than what is tested (6.1)", release.trim()),
        "mousehole-live mark DEV --shadow --confirm 60s",
    )
}

/// Returns which capabilities this process lacks; `None` if it lacks none. `status` is the text of
/// /proc/self/status; text without `CapEff` means none. CAP_SYS_ADMIN stands for those of BPF.
fn judge_rights(status: &str) -> Option<Finding> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = line.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0);
    let has = |number: u32| bits >> number & 1 == 1;
    // Since Linux 5.8 CAP_SYS_ADMIN stands for both capabilities of BPF.
    let lacking: Vec<&str> = CAPABILITIES
        .iter()
        .filter(|(_, number)| !has(*number) && (*number == CAP_NET_ADMIN || !has(CAP_SYS_ADMIN)))
        .map(|(name, _)| *name)
        .collect();
    if lacking.is_empty() {
        return None;
    }
    Some(Finding::in_the_way(
        "privileges",
        format!(
            "this process lacks {}, so nothing can be attached, and the kernel's features, programs of others, firewall rules and \
             our own record cannot be seen; root has what is needed, as has who is given {}",
            lacking.join(", "),
            CAPABILITIES.map(|(name, _)| name).join(", ")
        ),
        "sudo mousehole-live check DEV",
    ))
}

/// Returns the helpers and kinds of maps that this kernel lacks. What cannot be probed is not
/// listed.
fn probe_missing_helpers() -> Vec<&'static str> {
    let lacks = |(_, helper, _): &&(&str, BpfHelper, &str)| {
        matches!(is_helper_supported(ProgramType::SchedClassifier, *helper), Ok(false))
    };
    let mut all: Vec<&str> = HELPERS.iter().filter(lacks).map(|(name, ..)| *name).collect();
    if matches!(is_map_supported(MapType::LruHash), Ok(false)) {
        all.push("LRU tables");
    }
    all
}

/// Returns the kinds of [`QDISCS`] that the kernel rejects. They are tried at the loopback device
/// of a new network namespace, which ends with the thread that created it. `None` if no namespace
/// can be created.
fn probe_missing_qdiscs() -> Option<Vec<&'static str>> {
    let attempt = || {
        // SAFETY: only this thread moves into the new namespace.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            return None;
        }
        let index = Device::find("lo").ok()?.index;
        let is_refused = |one: &&Needed| {
            let put = Put { parent: TC_H_ROOT, handle: 1 << 16, what: one.what.clone() };
            let refused = put.apply(Verb::Replace, "lo", index).is_err();
            // The next one needs an empty root.
            refused || netlink::remove_root(index).is_err()
        };
        Some(QDISCS.iter().filter(is_refused).map(|one| one.kind).collect())
    };
    std::thread::spawn(attempt).join().ok().flatten()
}

/// Judges the queue disciplines, given the kinds that are missing.
fn judge_qdiscs(missing: &[&str]) -> Finding {
    if missing.is_empty() {
        return Finding::harmless(
            "qdiscs",
            format!("the kernel has {}", QDISCS.each_ref().map(|one| one.kind).join(", ")),
        );
    }
    let lacking = || QDISCS.iter().filter(|one| missing.contains(&one.kind));
    let needed: Vec<String> =
        lacking().map(|one| format!("no {}, which `{}` needs", one.kind, one.by)).collect();
    let modules: Vec<String> = lacking().map(|one| format!("sch_{}", one.kind)).collect();
    Finding::worth_knowing(
        "qdiscs",
        format!("the kernel has {}; where they are modules, this loads them", needed.join(", and ")),
        format!("modprobe -a {}", modules.join(" ")),
    )
}

/// Judges the helpers and maps, given those that are missing. Always returns a finding.
fn judge_helpers(missing: &[&str]) -> Option<Finding> {
    if missing.is_empty() {
        let names: Vec<&str> = HELPERS.iter().map(|(name, _, _)| *name).collect();
        return Some(Finding::harmless(
            "helpers",
            format!("the kernel has {} and LRU tables", names.join(", ")),
        ));
    }
    Some(Finding::in_the_way(
        "helpers",
        format!(
            "the kernel lacks {}, which every program needs; take a kernel of 5.15 or later",
            missing.join(", ")
        ),
        "uname -r",
    ))
}

/// Returns whether the kernel has tcx links, by requesting one at a device that does not exist;
/// `None` if that cannot be probed.
fn has_tcx() -> Option<bool> {
    // r0 = -1 (next program); exit.
    let program =
        bpf::load_instructions(c"ml_probe", &[encode_instruction(0xb7, -1), encode_instruction(0x95, 0)])
            .ok()?;
    match bpf::create_link(program.as_fd(), NO_DEVICE) {
        Ok(_) => Some(true),
        Err(error) => interpret_tcx_error(error.raw_os_error()?),
    }
}

/// Returns an instruction on register 0 with an immediate value, as a program holds it.
fn encode_instruction(code: u8, value: i32) -> u64 {
    let [a, b, c, d] = value.to_ne_bytes();
    u64::from_ne_bytes([code, 0, 0, 0, a, b, c, d])
}

/// Returns whether the kernel has tcx links, by its error for a link at no device: one with tcx
/// misses the device, one without rejects the request. `None` for other errors.
fn interpret_tcx_error(error: i32) -> Option<bool> {
    match error {
        libc::ENODEV => Some(true),
        libc::EINVAL | libc::EOPNOTSUPP => Some(false),
        _ => None,
    }
}

/// Judges tcx links; `known` is `None` if they could not be probed.
fn judge_tcx(known: Option<bool>) -> Finding {
    match known {
        Some(true) => {
            Finding::harmless("tcx", "the kernel has tcx links (probed): programs are attached by one")
        }
        Some(false) => Finding::harmless(
            "tcx",
            "the kernel has no tcx links (probed): programs are attached as filters under clsact",
        ),
        None => Finding::worth_knowing(
            "tcx",
            "whether the kernel has tcx links cannot be probed",
            "mousehole-live mark DEV --attach clsact",
        ),
    }
}

/// Judges native queues; `known` is `None` if the kernel does not say whether it supports them.
fn judge_native_queues(known: Option<bool>) -> Finding {
    let text = match known {
        _ if !native::IS_BUILT_IN => {
            "this build of mousehole-live has no native queues, which `up --native` loads"
        }
        Some(true) => "the kernel takes queue disciplines by struct_ops, as `up --native` puts there",
        Some(false) => {
            "the kernel takes no queue disciplines by struct_ops, which `up --native` needs (6.16 and CONFIG_NET_SCH_BPF)"
        }
        None => {
            "the kernel does not say whether it takes queue disciplines by struct_ops, which `up --native` needs"
        }
    };
    Finding::harmless("native", text)
}

/// Judges the BPF file system; `fault` is the error of reading our folder there, `None` if that
/// succeeds.
fn judge_bpf_folder(fault: Option<&str>) -> Finding {
    match fault {
        None => Finding::harmless("bpffs", format!("{} is a BPF file system", home::BPF_ROOT)),
        Some(fault) if fault.contains("no BPF file system") => Finding::in_the_way(
            "bpffs",
            format!("{} is no BPF file system, where links, tables and the record are kept", home::BPF_ROOT),
            format!("mount -t bpf -o mode=0700 bpf {}", home::BPF_ROOT),
        ),
        Some(fault) => Finding::worth_knowing("bpffs", fault, "sudo mousehole-live check DEV"),
    }
}

/// Judges the switches kernel.unprivileged_bpf_disabled and net.core.bpf_jit_enable, by their
/// texts; empty if a kernel lacks them.
fn judge_switches(unprivileged: &str, compiler: &str) -> Vec<Finding> {
    let mut all = match unprivileged.trim() {
        "0" => vec![Finding::worth_knowing(
            "unprivileged-bpf",
            "any user may load programs into the kernel, which mousehole-live does not need",
            "sysctl kernel.unprivileged_bpf_disabled=1",
        )],
        "" => Vec::new(),
        _ => vec![Finding::harmless("unprivileged-bpf", "only root may load programs, which is enough")],
    };
    if compiler.trim() == "0" {
        all.push(Finding::worth_knowing(
            "jit",
            "programs in the kernel are interpreted, which takes several times as long",
            "sysctl net.core.bpf_jit_enable=1",
        ));
    }
    all
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::super::finding::Rank;
    use super::*;

    #[test]
    fn judge_version__from_6_1() {
        for (release, rank) in [
            ("6.1.0-18-amd64\n", Rank::Harmless),
            ("6.18.5\n", Rank::Harmless),
            ("7.0.1", Rank::Harmless),
            ("6.0.19", Rank::WorthKnowing),
            ("5.15.167", Rank::WorthKnowing),
        ] {
            assert_eq!(judge_version(release).rank, rank, "{release}");
        }
    }

    #[test]
    fn judge_qdiscs__names_what_is_missing_and_for_what() {
        assert_eq!(judge_qdiscs(&[]).sentence, "the kernel has tbf, htb, fq");
        let found = judge_qdiscs(&["htb", "fq"]);
        assert_eq!(found.rank, Rank::WorthKnowing);
        assert!(found.sentence.contains("no fq, which `host --shape` needs"), "{}", found.sentence);
        assert_eq!(found.cure.as_deref(), Some("modprobe -a sch_htb sch_fq"));
    }

    #[test]
    fn judge_rights__root_or_three_capabilities() {
        let status = |bits: u64| format!("Name:\tmousehole-live\nCapEff:\t{bits:016x}\nCapBnd:\t0\n");
        let (net, bpf, perfmon) = (1 << CAP_NET_ADMIN, 1 << CAP_BPF, 1 << CAP_PERFMON);
        assert_eq!(judge_rights(&status(net | bpf | perfmon)), None);
        assert_eq!(judge_rights(&status(net | 1 << CAP_SYS_ADMIN)), None);
        for (held, lacking) in [
            (0, "lacks CAP_NET_ADMIN, CAP_BPF, CAP_PERFMON, so"),
            (net, "lacks CAP_BPF, CAP_PERFMON, so"),
            (net | bpf, "lacks CAP_PERFMON, so"),
            (bpf | perfmon, "lacks CAP_NET_ADMIN, so"),
            (1 << CAP_SYS_ADMIN, "lacks CAP_NET_ADMIN, so"),
        ] {
            let found = judge_rights(&status(held)).unwrap();
            assert!(found.rank == Rank::InTheWay && found.sentence.contains(lacking), "{}", found.sentence);
        }
    }

    #[test]
    fn interpret_tcx_error__by_which_error() {
        assert_eq!(interpret_tcx_error(libc::ENODEV), Some(true));
        assert_eq!(interpret_tcx_error(libc::EINVAL), Some(false));
        assert_eq!(interpret_tcx_error(libc::EPERM), None);
        assert!(judge_tcx(Some(false)).sentence.contains("clsact"));
    }

    #[test]
    fn judge_helpers__names_what_is_missing() {
        assert_eq!(judge_helpers(&[]).unwrap().rank, Rank::Harmless);
        let found = judge_helpers(&["bpf_ktime_get_coarse_ns"]).unwrap();
        assert!(found.rank == Rank::InTheWay && found.sentence.contains("coarse_ns"), "{found:?}");
    }

    #[test]
    fn judge_switches__a_cure_each() {
        let cures =
            |one, two| judge_switches(one, two).into_iter().filter_map(|one| one.cure).collect::<Vec<_>>();
        assert_eq!(cures("2\n", "1\n"), Vec::<String>::new());
        assert_eq!(
            cures("0\n", "0\n"),
            ["sysctl kernel.unprivileged_bpf_disabled=1", "sysctl net.core.bpf_jit_enable=1"]
        );
        assert_eq!(cures("", ""), Vec::<String>::new(), "kernels without these switches");
    }

    #[test]
    fn judge_bpf_folder__says_how_to_mount_it() {
        assert_eq!(judge_bpf_folder(None).rank, Rank::Harmless);
        let found = judge_bpf_folder(Some("/sys/fs/bpf is no BPF file system here; …"));
        assert_eq!(found.cure.as_deref(), Some("mount -t bpf -o mode=0700 bpf /sys/fs/bpf"));
        assert_eq!(
            judge_bpf_folder(Some("/sys/fs/bpf/mousehole; permission denied")).rank,
            Rank::WorthKnowing
        );
    }
}
