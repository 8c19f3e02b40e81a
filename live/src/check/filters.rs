//! Programs and filters of others at a device, and what they do before or after ours.

use super::finding::{Finding, report_blind, run_tool};
use crate::device::{self, Device};
use crate::tc::Qdisc;
use crate::{bpf, kernel};
use aya_obj::generated::bpf_attach_type;
use serde_json::Value;
use std::os::fd::AsFd as _;

/// Programs at one hook are listed up to this number.
const MOST: usize = 64;

/// A program at a tcx hook.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Program {
    id: u32,
    /// Empty where it is not told.
    name: String,
}

/// A filter, as `tc -j filter show` tells.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Filter {
    preference: u64,
    /// `bpf`, `u32`, …
    kind: String,
    /// The section or program of a bpf filter.
    program: String,
    /// The number of a bpf filter's program.
    id: Option<u64>,
    /// What it does: `mirred`, `ctinfo`, …
    actions: Vec<String>,
    /// The devices that it redirects to.
    targets: Vec<String>,
}

/// What programs whose names begin like this are known to do.
const KNOWN: [(&str, &str); 3] = [
    ("qosify", "qosify, which sets DSCPs; `mark` respects them"),
    ("bridger", "bridger, which forwards past the egress of bridges"),
    ("cil_", "Cilium, which may redirect packets past other programs"),
];

/// Returns what was found at the device's tcx hooks. `ours` is the program of ours that runs there.
pub fn check_programs(device: &Device, ours: Option<u32>) -> Vec<Finding> {
    let Some(egress) = list_programs_at(device.index, bpf_attach_type::BPF_TCX_EGRESS) else {
        return Vec::new();
    };
    let ingress = list_programs_at(device.index, bpf_attach_type::BPF_TCX_INGRESS).unwrap_or_default();
    judge_programs(&device.name, &egress, &ingress, ours)
}

/// Judges the programs at both tcx hooks of a device, by their order around ours.
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
                    describe_program(program.id.into(), &program.name)
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
                describe_program(program.id.into(), &program.name)
            ),
        )
    }));
    if found.is_empty() {
        found.push(Finding::harmless("programs", format!("no programs of others are at {name} (tcx)")));
    }
    found
}

/// Returns number and name of a program, and whose it is if its name is known.
fn describe_program(id: u64, name: &str) -> String {
    let known = KNOWN.iter().find(|(start, _)| name.starts_with(start)).map(|(_, what)| format!(": {what}"));
    match name {
        "" => id.to_string(),
        name => format!("{id} ({name}{})", known.unwrap_or_default()),
    }
}

/// Returns the programs at a hook, in their order; `None` when the kernel does not tell, as those without tcx.
fn list_programs_at(index: u32, hook: bpf_attach_type) -> Option<Vec<Program>> {
    let ids = bpf::list_programs(index, hook, MOST).ok()?;
    Some(ids.into_iter().map(|id| Program { id, name: name_of(id) }).collect())
}

fn name_of(id: u32) -> String {
    let info = bpf::open_program(id).and_then(|program| bpf::read_program_info(program.as_fd()));
    info.map(|info| bpf::text(&info.name)).unwrap_or_default()
}

/// Returns what was found of filters at the device, and of those that redirect to it.
pub fn check_filters(name: &str, qdiscs: &[Qdisc]) -> Vec<Finding> {
    let show = |device: &str, side: &str| run_tool("tc", &["-j", "filter", "show", "dev", device, side]);
    let mut found = Vec::new();
    if qdiscs.iter().any(|qdisc| qdisc.kind == "clsact") {
        match show(name, "egress") {
            Ok(text) => found.extend(judge_egress(name, &parse(&text))),
            Err(why) => found.push(report_blind("filters", "filters", "tc", "iproute2", &why)),
        }
    }
    if qdiscs.iter().any(|qdisc| qdisc.kind == "clsact" || qdisc.kind == "ingress")
        && let Ok(text) = show(name, "ingress")
    {
        found.extend(judge_ingress(name, &parse(&text)));
    }
    if let Ok(text) = run_tool("tc", &["-j", "filter", "show", "dev", name]) {
        let number = parse(&text).len();
        if number > 0 {
            found.push(Finding::worth_knowing(
                "classifiers",
                format!("{number} filters choose the classes of the root qdisc; a class that `mark --via class` sets wins"),
                format!("tc filter show dev {name}"),
            ));
        }
    }
    for other in device::names().iter().filter(|other| *other != name) {
        if let Ok(text) = show(other, "ingress") {
            found.extend(judge_source(name, other, &parse(&text)));
        }
    }
    found
}

/// Returns the filters in what `tc -j filter show` prints. An entry without options only announces the next ones.
fn parse(text: &str) -> Vec<Filter> {
    let list: Value = serde_json::from_str(text).unwrap_or_default();
    let read = |item: &Value| {
        let options = &item["options"];
        // A u32 filter's table of hashes is no filter.
        if options.is_null() || options.get("ht_divisor").is_some() {
            return None;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let actions: Vec<&Value> = options["actions"].as_array().into_iter().flatten().collect();
        Some(Filter {
            preference: item["pref"].as_u64().unwrap_or(0),
            kind: text(&item["kind"]),
            program: match options["bpf_name"].as_str() {
                Some(name) => name.to_string(),
                None => text(&options["prog"]["name"]),
            },
            id: options["prog"]["id"].as_u64(),
            actions: actions.iter().map(|action| text(&action["kind"])).collect(),
            targets: actions
                .iter()
                .filter_map(|action| action["to_dev"].as_str().map(String::from))
                .collect(),
        })
    };
    list.as_array().into_iter().flatten().filter_map(read).collect()
}

fn is_ours(filter: &Filter) -> bool {
    filter.kind == "bpf" && filter.preference == u64::from(kernel::FILTER_PRIORITY)
}

/// Judges the filters of other programs at a device's egress.
fn judge_egress(name: &str, filters: &[Filter]) -> Vec<Finding> {
    let show = format!("tc filter show dev {name} egress");
    filters
        .iter()
        .filter(|filter| !is_ours(filter))
        .map(|filter| {
            let what = match filter.kind.as_str() {
                "bpf" => format!("a program, {},", describe_program(filter.id.unwrap_or(0), &filter.program)),
                kind => format!("a {kind} filter"),
            };
            let effect = match &filter.targets[..] {
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
                format!("{what} of preference {} is at the egress of {name}, {effect}", filter.preference),
                filter
                    .targets
                    .first()
                    .map_or(show.clone(), |target| format!("mousehole-live check {target}")),
            )
        })
        .collect()
}

/// Judges the filters at a device's ingress: each redirection to another device.
fn judge_ingress(name: &str, filters: &[Filter]) -> Vec<Finding> {
    let mut targets: Vec<&String> = filters.iter().flat_map(|filter| &filter.targets).collect();
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

/// Returns what was found of a device whose arriving packets are redirected to this one.
fn judge_source(name: &str, source: &str, filters: &[Filter]) -> Vec<Finding> {
    let redirects: Vec<&Filter> =
        filters.iter().filter(|one| one.targets.iter().any(|to| to == name)).collect();
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

    const U32: &str = r#"[{"protocol":"ip","pref":5,"kind":"u32","chain":0},
        {"protocol":"ip","pref":5,"kind":"u32","chain":0,"options":{"fh":"800:","ht_divisor":1}},
        {"protocol":"ip","pref":5,"kind":"u32","chain":0,"options":{"fh":"800::800","order":2048,"key_ht":"800","bkt":"0","not_in_hw":true,"match":{"value":"200000","mask":"fc0000","offmask":"","off":0},
         "actions":[{"order":1,"kind":"ctinfo","zone":0,"control_action":{"type":"pipe"},"index":1,"ref":1,"bind":1,"dscpmask":"0x000000003f","dscpstatemask":"0x0000000080"},
                    {"order":2,"kind":"mirred","mirred_action":"redirect","direction":"egress","to_dev":"ifb0","control_action":{"type":"stolen"},"index":1,"ref":1,"bind":1}]}}]"#;
    const BPF: &str = r#"[{"protocol":"all","pref":49152,"kind":"bpf","chain":0},
        {"protocol":"all","pref":49152,"kind":"bpf","chain":0,"options":{"handle":"0x1","bpf_name":"qosify_tc","direct-action":true,"not_in_hw":true,"prog":{"id":41,"name":"qosify_tc","tag":"0a0b","jited":1}}},
        {"protocol":"all","pref":27976,"kind":"bpf","chain":0,"options":{"handle":"0x6d48","bpf_name":"mousehole","direct-action":true,"prog":{"id":42}}}]"#;

    #[test]
    fn parse__leaves_out_announcements_and_tables() {
        let all = parse(U32);
        assert_eq!(all.len(), 1);
        assert_eq!(
            (all[0].actions.join(" "), all[0].targets.join(" ")),
            ("ctinfo mirred".into(), "ifb0".into())
        );
        assert!(parse("").is_empty() && parse("[]").is_empty());
    }

    #[test]
    fn egress__names_programs_of_others_only() {
        let found = judge_egress("eth0", &parse(BPF));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].sentence.starts_with("a program, 41 (qosify_tc: qosify, which sets DSCPs"),
            "{found:?}"
        );
    }

    #[test]
    fn egress__a_redirect_leads_to_its_target() {
        let found = judge_egress("eth0", &parse(U32));
        assert_eq!(found[0].cure.as_deref(), Some("mousehole-live check ifb0"));
        assert!(found[0].sentence.contains("a u32 filter of preference 5"), "{found:?}");
    }

    #[test]
    fn ingress__tells_where_downloads_go() {
        let found = judge_ingress("eth0", &parse(U32));
        assert_eq!(
            found[0].sentence,
            "what comes in at eth0 is redirected to ifb0; downloads are marked there"
        );
    }

    #[test]
    fn source__ctinfo_before_the_redirect() {
        let found = judge_source("ifb0", "eth0", &parse(U32));
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].cure.as_deref(), Some("mousehole-live mark ifb0 --override"));
        assert!(judge_source("ifb1", "eth0", &parse(U32)).is_empty(), "redirected elsewhere");
        let after = U32
            .replace(r#""kind":"ctinfo""#, r#""kind":"x""#)
            .replace(r#""kind":"mirred""#, r#""kind":"ctinfo""#);
        let found = judge_source("ifb0", "eth0", &parse(&after));
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
