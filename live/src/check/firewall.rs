//! Firewall rules that set marks or translate addresses, and flow tables that bypass them.

use super::finding::{Finding, Unknown, report_unseen, run_tool};
use crate::flow_table::{FlowTable, parse_items};
use serde_json::Value;
use std::fs;

/// Returns findings about the firewall, by running nft and reading /proc; none for a kernel without
/// nf_tables. `is_layered` says whether the device's packets leave by another one.
pub fn inspect(name: &str, is_layered: bool) -> Vec<Finding> {
    let mut found = match run_tool("nft", &["-j", "list", "ruleset"]) {
        Ok(rules) => {
            let flags = run_tool("nft", &["list", "flowtables"]).unwrap_or_default();
            judge_rules(name, &rules, &flags, is_layered)
        }
        // A kernel without nf_tables has no rules.
        Err(Unknown::Failed(said)) if said.contains("not supported") => Vec::new(),
        Err(why) => {
            vec![report_unseen(
                "firewall",
                "flow tables, NAT and rules that set DSCPs",
                "nft",
                "nftables",
                &why,
            )]
        }
    };
    // The file is read because listing by `iptables` would load its modules.
    let legacy = fs::read_to_string("/proc/net/ip_tables_names").unwrap_or_default();
    if legacy.lines().any(|table| table == "nat" || table == "mangle") {
        found.push(Finding::worth_knowing(
            "iptables",
            "tables of the older iptables are loaded, which are not read here; they may set DSCPs or hide addresses",
            "iptables-legacy-save",
        ));
    }
    found
}

/// Returns findings about the rules in `rules`, the output of `nft -j list ruleset`. `flags` is the
/// output of `nft list flowtables`, since older versions omit a flow table's flags in JSON. If
/// nothing is found, one finding says so; text that is not JSON counts as a ruleset without rules.
fn judge_rules(name: &str, rules: &str, flags: &str, is_layered: bool) -> Vec<Finding> {
    let items = parse_items(rules);
    let mut found = Vec::new();
    for table in items.iter().filter_map(FlowTable::parse) {
        let is_hardware = table.is_hardware || has_offload_flag(&table.name, flags);
        found.push(judge_flow_table(name, &table, is_hardware, is_layered));
    }
    let rules: Vec<&Value> = items.iter().map(|item| &item["rule"]).filter(|rule| rule.is_object()).collect();
    let here: Vec<&&Value> = rules.iter().filter(|rule| may_concern(rule, name)).collect();
    if let Some(rule) = here.iter().find(|rule| has_part(rule, is_nat)) {
        found.push(Finding::worth_knowing(
            "nat",
            format!(
                "{} hides addresses of what leaves by {name}, so that all its users are one here; policies for each user belong to \
                 the LAN's side or an IFB, flows stay distinct all the same",
                locate(rule)
            ),
            "mousehole-live check LAN",
        ));
    }
    let marking: Vec<&&&Value> = here.iter().filter(|rule| has_part(rule, is_marking)).collect();
    if let Some(rule) = marking.first() {
        found.push(Finding::worth_knowing(
            "dscp-rules",
            format!(
                "{} of the firewall {} DSCPs or priorities, the first in {}; `mark` respects them without --override",
                match marking.len() {
                    1 => "1 rule".to_string(),
                    number => format!("{number} rules"),
                },
                if marking.len() == 1 { "sets" } else { "set" },
                locate(rule)
            ),
            format!("mousehole-live mark {name} --override"),
        ));
    }
    if found.is_empty() {
        found.push(Finding::harmless("firewall", "nft has no flow table, NAT or rule that sets a DSCP here"));
    }
    found
}

/// Returns whether the text of `nft list flowtables` says that the table of this name is offloaded to hardware.
fn has_offload_flag(table: &str, flags: &str) -> bool {
    let block = flags.split_once(&format!("flowtable {table} {{")).map_or("", |(_, rest)| rest);
    // The block contains braces around its devices, so it is ended at the next block instead.
    let block = block.split("flowtable ").next().unwrap_or("");
    block.lines().any(|line| line.trim().trim_end_matches(';') == "flags offload")
}

/// Returns the finding about a flow table: in the way if it is in hardware or `name` is layered,
/// worth knowing if it lists `name`, else harmless.
fn judge_flow_table(name: &str, table: &FlowTable, is_hardware: bool, is_layered: bool) -> Finding {
    let key = "flow-offload";
    let title = &table.name;
    let delete = format!("nft list flowtables  # remove {title} where it is configured");
    if is_hardware {
        let sentence = format!(
            "the flow table {title} is in the hardware: flows that it forwards are seen by no program and no qdisc"
        );
        Finding::in_the_way(key, sentence, delete)
    } else if is_layered {
        let sentence = format!(
            "the flow table {title} sends established flows straight to the device below {name}, where they must be marked and \
             shaped"
        );
        Finding::in_the_way(key, sentence, delete)
    } else if table.has_device(name) {
        let sentence = format!(
            "the flow table {title} forwards established flows past the firewall's rules, so that DSCPs set there end with a \
             flow's first packets; programs and qdiscs at the egress still see them"
        );
        Finding::worth_knowing(key, sentence, delete)
    } else {
        Finding::harmless(key, format!("the flow table {title} does not name {name}"))
    }
}

/// Returns whether a rule may match outgoing packets of the device: it names the device or a set or
/// pattern that may include it, or names none.
fn may_concern(rule: &Value, name: &str) -> bool {
    let Some(parts) = rule["expr"].as_array() else { return false };
    parts
        .iter()
        .filter(|part| {
            part["match"]["left"]["meta"]["key"] == "oifname" || part["match"]["left"]["meta"]["key"] == "oif"
        })
        .all(|part| {
            let is_equal = part["match"]["op"] != "!=";
            let names: Vec<&str> = match &part["match"]["right"] {
                Value::String(one) => vec![one],
                set => set["set"].as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
            };
            // A named set or a pattern may include the device.
            let may_hold = names.is_empty()
                || names.iter().any(|one| {
                    *one == name
                        || one.starts_with('@')
                        || one.strip_suffix('*').is_some_and(|start| name.starts_with(start))
                });
            may_hold == is_equal || names.is_empty()
        })
}

/// Returns whether a part of the rule passes the test. A rule without parts has none.
fn has_part(rule: &Value, test: impl Fn(&Value) -> bool) -> bool {
    rule["expr"].as_array().is_some_and(|parts| parts.iter().any(test))
}

/// Returns whether a part of a rule translates source addresses, by nft's own statements or those
/// of iptables-nft.
fn is_nat(part: &Value) -> bool {
    let compatible = ["MASQUERADE", "SNAT"].iter().any(|name| part["xt"]["name"] == *name);
    compatible || part.get("masquerade").is_some() || part.get("snat").is_some()
}

/// Returns whether a part of a rule sets DSCPs or priorities, by nft's own statements or those of
/// iptables-nft.
fn is_marking(part: &Value) -> bool {
    let key = &part["mangle"]["key"];
    let compatible = ["DSCP", "TOS", "CLASSIFY"].iter().any(|name| part["xt"]["name"] == *name);
    compatible || key["payload"]["field"] == "dscp" || key["meta"]["key"] == "priority"
}

/// Returns the family, table and chain of a rule with blanks between them; `?` for a missing one.
fn locate(rule: &Value) -> String {
    let word = |key: &str| rule[key].as_str().unwrap_or("?").to_string();
    format!("{} {} {}", word("family"), word("table"), word("chain"))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::super::finding::Rank;
    use super::*;

    const NAT: &str = r#"{"nftables": [{"metainfo": {"version": "1.0.6", "json_schema_version": 1}}, {"table": {"family": "inet", "name": "nat", "handle": 2}}, {"chain": {"family": "inet", "table": "nat", "name": "post", "handle": 1, "type": "nat", "hook": "postrouting", "prio": 100, "policy": "accept"}}, {"rule": {"family": "inet", "table": "nat", "chain": "post", "handle": 2, "expr": [{"match": {"op": "==", "left": {"meta": {"key": "oifname"}}, "right": "wan"}}, {"masquerade": null}]}}, {"rule": {"family": "inet", "table": "filter", "chain": "forward", "handle": 4, "expr": [{"match": {"op": "==", "left": {"meta": {"key": "oifname"}}, "right": {"set": ["wan", "lte*"]}}}, {"mangle": {"key": {"payload": {"protocol": "ip", "field": "dscp"}}, "value": "cs1"}}]}}]}"#;

    /// Returns a ruleset with one flow table of lan and wan, to which `extra` members are added.
    fn build_ruleset(extra: &str) -> String {
        format!(
            r#"{{"nftables": [{{"metainfo": {{"version": "1.0.6"}}}}, {{"flowtable": {{"family": "inet", "name": "ft", "table": "filter", "handle": 3, "hook": "ingress", "prio": 0{extra}, "dev": ["lan", "wan"]}}}}]}}"#
        )
    }

    const TEXT: &str = "table inet filter {\n\tflowtable other {\n\t\thook ingress priority filter\n\t\tdevices = { lan }\n\t}\n\
                        \n\tflowtable ft {\n\t\thook ingress priority filter\n\t\tdevices = { lan, wan }\n\t\tflags offload;\n\t}\n}\n";

    #[test]
    fn flow_table__in_software_passes_the_egress() {
        let found = judge_rules("wan", &build_ruleset(""), "", false);
        assert_eq!((found.len(), found[0].rank), (1, Rank::WorthKnowing));
        assert_eq!(
            judge_rules("dsl", &build_ruleset(""), "", false)[0].rank,
            Rank::Harmless,
            "another device"
        );
    }

    #[test]
    fn flow_table__in_hardware_or_below_is_in_the_way() {
        let hardware = [
            judge_rules("wan", &build_ruleset(r#", "flags": ["offload"]"#), "", false),
            judge_rules("wan", &build_ruleset(r#", "flags": "offload""#), "", false),
            judge_rules("wan", &build_ruleset(""), TEXT, false),
        ];
        for found in hardware {
            assert_eq!(found[0].rank, Rank::InTheWay);
            assert!(found[0].sentence.contains("in the hardware"), "{found:?}");
        }
        let found = judge_rules("ppp0", &build_ruleset(""), "", true);
        assert!(found[0].rank == Rank::InTheWay && found[0].sentence.contains("below ppp0"), "{found:?}");
        let other = TEXT.replace("flags offload;", "counter");
        assert_eq!(judge_rules("wan", &build_ruleset(""), &other, false)[0].rank, Rank::WorthKnowing);
    }

    #[test]
    fn nat_and_dscp__of_rules_that_concern_the_device() {
        let keys =
            |name: &str| judge_rules(name, NAT, "", false).iter().map(|one| one.key).collect::<Vec<_>>();
        assert_eq!(keys("wan"), ["nat", "dscp-rules"]);
        assert_eq!(keys("lte0"), ["dscp-rules"], "a pattern");
        assert_eq!(keys("lan"), ["firewall"]);
        let anywhere = NAT.replace(
            r#"{"match": {"op": "==", "left": {"meta": {"key": "oifname"}}, "right": "wan"}}, "#,
            "",
        );
        assert_eq!(judge_rules("lan", &anywhere, "", false)[0].key, "nat", "a rule without a device");
        let unequal = NAT.replacen(r#""op": "==""#, r#""op": "!=""#, 1);
        assert_eq!(judge_rules("wan", &unequal, "", false)[0].key, "dscp-rules", "all but this device");
        assert_eq!(judge_rules("lan", &unequal, "", false)[0].key, "nat");
    }

    #[test]
    fn rules_of_iptables__are_read_as_nft_names_them() {
        let text =
            NAT.replace(r#"{"masquerade": null}"#, r#"{"xt": {"type": "target", "name": "MASQUERADE"}}"#);
        assert_eq!(judge_rules("wan", &text, "", false)[0].key, "nat");
    }

    #[test]
    fn no_rules__are_harmless() {
        for text in ["", r#"{"nftables": [{"metainfo": {"version": "1.0.6"}}]}"#] {
            assert_eq!(judge_rules("wan", text, "", false)[0].rank, Rank::Harmless);
        }
    }
}
