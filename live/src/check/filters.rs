//! Programs and filters of others at a device, and whether they run before or after ours.

use super::finding::Finding;
use crate::device::Device;
use crate::netlink::{self, Filter, TC_H_EGRESS, TC_H_INGRESS};
use crate::qdisc::{self, Qdisc};
use crate::{bpf, kernel};
use aya_obj::generated::bpf_attach_type;
use mousehole_netlink::links::Link;
use std::os::fd::AsFd as _;

/// The most programs at one hook that are listed.
const MOST: usize = 64;

/// A program at a tcx hook.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Program {
    id: u32,
    /// Its name; empty if the kernel does not say.
    name: String,
}

/// Prefixes of the names of known programs, and what these programs do.
const KNOWN: [(&str, &str); 3] = [
    ("qosify", "qosify, which sets DSCPs; `mark` respects them"),
    ("bridger", "bridger, which forwards past the egress of bridges"),
    ("cil_", "Cilium, which may redirect packets past other programs"),
];

/// Returns findings about the programs at the device's tcx hooks; none for a kernel without tcx.
/// `ours` is our program that runs there.
pub fn inspect_programs(device: &Device, ours: Option<u32>) -> Vec<Finding> {
    let Some(egress) = list_programs(device.index, bpf_attach_type::BPF_TCX_EGRESS) else {
        return Vec::new();
    };
    let ingress = list_programs(device.index, bpf_attach_type::BPF_TCX_INGRESS).unwrap_or_default();
    judge_programs(&device.name, &egress, &ingress, ours)
}

/// Returns findings about the programs at the hooks, given in the order in which they run, except
/// our own, whose number is `ours`. If there are none, one finding says so.
fn judge_programs(name: &str, egress: &[Program], ingress: &[Program], ours: Option<u32>) -> Vec<Finding> {
    let place = egress.iter().position(|program| Some(program.id) == ours);
    let mut found: Vec<Finding> = egress
        .iter()
        .enumerate()
        .filter(|(_, program)| Some(program.id) != ours)
        .map(|(at, program)| {
            let effect = match place {
                Some(ours) if at > ours => "runs after ours and may change marks",
                _ => "runs before ours, and packets that it accepts or drops by itself are not seen by ours",
            };
            Finding::worth_knowing(
                "programs",
                format!(
                    "program {} at the egress of {name} (tcx) {effect}",
                    describe_program(program.id, &program.name)
                ),
                format!("bpftool prog show id {}", program.id),
            )
        })
        .collect();
    found.extend(ingress.iter().map(|program| {
        Finding::harmless(
            "programs",
            format!(
                "program {} is at the ingress of {name} (tcx)",
                describe_program(program.id, &program.name)
            ),
        )
    }));
    if found.is_empty() {
        found.push(Finding::harmless("programs", format!("no programs of others are at {name} (tcx)")));
    }
    found
}

/// Returns a program's number, its name, and what it is known to do.
fn describe_program(id: u32, name: &str) -> String {
    let known = KNOWN.iter().find(|(start, _)| name.starts_with(start)).map(|(_, what)| format!(": {what}"));
    match name {
        "" => id.to_string(),
        name => format!("{id} ({name}{})", known.unwrap_or_default()),
    }
}

/// Returns the programs at a hook in the order in which they run; `None` if the kernel does not
/// list them, as one without tcx. The list fails as well if there are more than [`MOST`].
fn list_programs(index: u32, hook: bpf_attach_type) -> Option<Vec<Program>> {
    let ids = bpf::list_programs(index, hook, MOST).ok()?;
    Some(ids.into_iter().map(|id| Program { id, name: read_program_name(id) }).collect())
}

/// Returns a program's name; empty if it cannot be read.
fn read_program_name(id: u32) -> String {
    let info = bpf::open_program(id).and_then(|program| bpf::program_info(program.as_fd()));
    info.map(|info| bpf::parse_name(&info.name)).unwrap_or_default()
}

/// Returns findings about the filters at the device, about its shared blocks, and about filters of
/// other devices that redirect to it. `links` are all devices of the namespace.
pub fn inspect(device: &Device, qdiscs: &[Qdisc], links: &[Link]) -> Vec<Finding> {
    let (name, mut found) = (&device.name, Vec::new());
    let names = |target: &u32| {
        links
            .iter()
            .find(|link| link.index == *target)
            .map_or(format!("device {target}"), |link| link.name.clone())
    };
    found.extend(judge_blocks(name, qdisc::shared_blocks(qdiscs)));
    if qdiscs.iter().any(|qdisc| qdisc.kind == "clsact") {
        found.extend(judge_egress(name, &netlink::list_filters(device.index, TC_H_EGRESS), names));
    }
    if qdiscs.iter().any(|qdisc| qdisc.kind == "clsact" || qdisc.kind == "ingress") {
        found.extend(judge_ingress(name, &netlink::list_filters(device.index, TC_H_INGRESS), names));
    }
    let number = netlink::list_filters(device.index, 0).len();
    if number > 0 {
        found.push(Finding::worth_knowing(
            "classifiers",
            format!(
                "{number} filters choose the classes of the root qdisc; a class that `mark --via class` sets wins"
            ),
            format!("tc filter show dev {name}"),
        ));
    }
    for other in links.iter().filter(|other| other.index != device.index) {
        found.extend(judge_source(device, &other.name, &netlink::list_filters(other.index, TC_H_INGRESS)));
    }
    found
}

/// Returns findings about the shared blocks that hold a device's filters: `blocks` has that of
/// incoming and that of outgoing packets; 0 for none.
fn judge_blocks(name: &str, blocks: [u32; 2]) -> Vec<Finding> {
    let means =
        [("comes in at", "`--download` cannot redirect it"), ("goes out of", "`mark` and `up` need tcx")];
    means
        .iter()
        .zip(blocks)
        .filter(|(_, block)| *block > 0)
        .map(|((where_to, effect), block)| {
            Finding::worth_knowing(
                "blocks",
                format!(
                    "what {where_to} {name} is filtered by block {block}, which other devices may share and where the kernel \
                     takes no filter of one device: {effect}"
                ),
                format!("tc filter show block {block}"),
            )
        })
        .collect()
}

/// Returns whether it is our filter.
fn is_ours(filter: &Filter) -> bool {
    filter.kind == "bpf" && filter.preference == kernel::FILTER_PRIORITY
}

/// Returns a finding for each filter of outgoing packets that is not ours; `names` gives the name
/// of a device by its index.
fn judge_egress(name: &str, filters: &[Filter], names: impl Fn(&u32) -> String) -> Vec<Finding> {
    filters
        .iter()
        .filter(|filter| !is_ours(filter))
        .map(|filter| {
            let (place, show) = match filter.block {
                None => (String::new(), format!("tc filter show dev {name} egress")),
                Some(block) => (format!(" (block {block})"), format!("tc filter show block {block}")),
            };
            let what = match filter.kind.as_str() {
                "bpf" => format!("a program, {},", describe_program(filter.id.unwrap_or(0), &filter.program)),
                kind => format!("a {kind} filter"),
            };
            let targets: Vec<String> = filter.targets.iter().map(&names).collect();
            let effect = match &targets[..] {
                [] => {
                    "which runs after a tcx program, and before a filter of ours if it ends here".to_string()
                }
                targets => format!(
                    "which redirects to {}: a marker belongs to where the shaper is",
                    targets.join(", ")
                ),
            };
            Finding::worth_knowing(
                "filters",
                format!(
                    "{what} of preference {} is at the egress of {name}{place}, {effect}",
                    filter.preference
                ),
                targets.first().map_or(show, |target| format!("mousehole-live check {target}")),
            )
        })
        .collect()
}

/// Returns a finding for each device to which filters redirect incoming packets; `names` gives its
/// name by its index.
fn judge_ingress(name: &str, filters: &[Filter], names: impl Fn(&u32) -> String) -> Vec<Finding> {
    let mut targets: Vec<String> = filters.iter().flat_map(|filter| &filter.targets).map(names).collect();
    targets.sort();
    targets.dedup();
    targets
        .into_iter()
        .map(|target| {
            Finding::harmless(
                "downloads",
                format!("what comes in at {name} is redirected to {target}; downloads are marked there"),
            )
        })
        .collect()
}

/// Returns findings about the device `source` if its incoming packets are redirected to this
/// device, and about DSCPs that its filters restore from connections (ctinfo); none otherwise.
fn judge_source(device: &Device, source: &str, filters: &[Filter]) -> Vec<Finding> {
    let name = &device.name;
    let redirects: Vec<&Filter> = filters.iter().filter(|one| one.targets.contains(&device.index)).collect();
    if redirects.is_empty() {
        return Vec::new();
    }
    let mut found = vec![Finding::harmless(
        "downloads",
        format!(
            "{name} gets what comes in at {source}: addresses are those before NAT is undone, users are its destinations"
        ),
    )];
    let position = |wanted: &str, filter: &Filter| filter.actions.iter().position(|action| action == wanted);
    let restores = filters.iter().any(|filter| position("ctinfo", filter).is_some());
    let is_before =
        redirects.iter().any(|filter| match (position("ctinfo", filter), position("mirred", filter)) {
            (Some(restored), Some(redirected)) => restored < redirected,
            _ => false,
        });
    if restores {
        let show = format!("tc filter show dev {source} ingress");
        found.push(if is_before {
            Finding::worth_knowing(
                "ctinfo",
                format!(
                    "ctinfo restores DSCPs of {source}'s downloads before they come to {name}; `mark` respects those unless told to \
                     override"
                ),
                format!("mousehole-live mark {name} --override"),
            )
        } else {
            Finding::worth_knowing(
                "ctinfo",
                format!("ctinfo at {source} is not in the filter that redirects to {name}, so that its DSCPs may come too late"),
                show,
            )
        });
    }
    found
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::super::finding::Rank;
    use super::*;

    /// Returns a u32 filter with these actions that redirects to device 7.
    fn build_redirect(actions: [&str; 2]) -> [Filter; 1] {
        let actions = actions.map(String::from).to_vec();
        [Filter { preference: 5, kind: "u32".into(), actions, targets: vec![7], ..Filter::default() }]
    }

    /// Returns the name of device 7, the only one in these tests.
    fn name_device_7(target: &u32) -> String {
        assert_eq!(*target, 7);
        "ifb0".into()
    }

    #[test]
    fn egress__names_programs_of_others_only() {
        let program = |preference, program: &str, id| Filter {
            preference,
            kind: "bpf".into(),
            program: program.into(),
            id: Some(id),
            ..Filter::default()
        };
        let all = [program(49_152, "qosify_tc", 41), program(27_976, "mousehole", 42)];
        let found = judge_egress("eth0", &all, name_device_7);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].sentence.starts_with("a program, 41 (qosify_tc: qosify, which sets DSCPs"),
            "{found:?}"
        );
    }

    #[test]
    fn egress__a_redirect_leads_to_its_target() {
        let found = judge_egress("eth0", &build_redirect(["ctinfo", "mirred"]), name_device_7);
        assert_eq!(found[0].cure.as_deref(), Some("mousehole-live check ifb0"));
        assert!(found[0].sentence.contains("a u32 filter of preference 5"), "{found:?}");
    }

    #[test]
    fn blocks__are_named_with_what_they_bar() {
        assert!(judge_blocks("eth0", [0, 0]).is_empty());
        let found = judge_blocks("eth0", [7, 8]);
        assert!(found[0].sentence.starts_with("what comes in at eth0 is filtered by block 7"), "{found:?}");
        assert_eq!(found[1].cure.as_deref(), Some("tc filter show block 8"));
        let filter = Filter { kind: "u32".into(), block: Some(8), ..Filter::default() };
        let found = judge_egress("eth0", &[filter], name_device_7);
        assert!(found[0].sentence.contains("at the egress of eth0 (block 8)"), "{found:?}");
    }

    #[test]
    fn ingress__says_where_downloads_go() {
        let found = judge_ingress("eth0", &build_redirect(["ctinfo", "mirred"]), name_device_7);
        assert_eq!(
            found[0].sentence,
            "what comes in at eth0 is redirected to ifb0; downloads are marked there"
        );
    }

    #[test]
    fn source__ctinfo_before_the_redirect() {
        let device = |index| Device {
            name: "ifb0".into(),
            index,
            namespace: 1,
            address: None,
            link_header_bytes: 14,
            mtu: 1500,
        };
        let found = judge_source(&device(7), "eth0", &build_redirect(["ctinfo", "mirred"]));
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].cure.as_deref(), Some("mousehole-live mark ifb0 --override"));
        assert!(
            judge_source(&device(8), "eth0", &build_redirect(["ctinfo", "mirred"])).is_empty(),
            "redirected elsewhere"
        );
        let found = judge_source(&device(7), "eth0", &build_redirect(["mirred", "ctinfo"]));
        assert!(found[1].sentence.contains("too late"), "{found:?}");
    }

    #[test]
    fn programs__order_relative_to_ours() {
        let program = |id, name: &str| Program { id, name: name.into() };
        let all = [program(7, "first"), program(8, "mousehole"), program(9, "")];
        let found = judge_programs("eth0", &all, &[program(5, "in")], Some(8));
        let sentences: Vec<&str> = found.iter().map(|one| one.sentence.as_str()).collect();
        assert!(
            sentences[0].contains("program 7 (first)") && sentences[0].contains("runs before ours"),
            "{found:?}"
        );
        assert!(
            sentences[1].contains("program 9 at") && sentences[1].contains("runs after ours"),
            "{found:?}"
        );
        assert_eq!((found[2].rank, found.len()), (Rank::Harmless, 3));
        assert_eq!(judge_programs("eth0", &all[1..2], &[], Some(8))[0].rank, Rank::Harmless);
    }
}
