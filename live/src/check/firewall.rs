//! Firewall rules that set marks or translate addresses, and flow tables that bypass them.

use super::finding::{Finding, Unknown, report_unseen, run_tool};
use serde_json::Value;
use std::fs;

/// A flow table of nft.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FlowTable {
    name: String,
    devices: Vec<String>,
}

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
    let list: Value = serde_json::from_str(rules).unwrap_or_default();
    let items: Vec<&Value> = list["nftables"].as_array().into_iter().flatten().collect();
    let mut found = Vec::new();
    for table in items.iter().filter_map(|item| parse_flow_table(item)) {
        found.extend(judge_flow_table(name, &table, is_hardware(&table, &items, flags), is_layered));
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

/// Returns the flow table that an item of nft's JSON describes; `None` for other items.
fn parse_flow_table(item: &Value) -> Option<FlowTable> {
    let table = item.get("flowtable")?;
    let devices = match &table["dev"] {
        Value::String(one) => vec![one.clone()],
        several => several
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one.as_str().map(String::from))
            .collect(),
    };
    Some(FlowTable { name: table["name"].as_str()?.to_string(), devices })
}

/// Returns whether a flow table is offloaded to hardware, by nft's JSON or its text.
fn is_hardware(table: &FlowTable, items: &[&Value], flags: &str) -> bool {
    let is_offload = |value: &Value| match value {
        Value::String(one) => one == "offload",
        several => several.as_array().is_some_and(|all| all.iter().any(|one| one == "offload")),
    };
    let named = format!("flowtable {} {{", table.name);
    let block =
        flags.split_once(&named).and_then(|(_, rest)| rest.split_once('}').map(|_| rest)).unwrap_or("");
    // The block contains braces around its devices, so it is ended at the next block instead.
    let block = block.split("flowtable ").next().unwrap_or("");
    items.iter().any(|item| {
        item["flowtable"]["name"] == table.name.as_str() && is_offload(&item["flowtable"]["flags"])
    }) || block.lines().any(|line| line.trim().trim_end_matches(';') == "flags offload")
}

/// Returns the finding about a flow table: in the way if it is in hardware or `name` is layered,
/// worth knowing if it lists `name`, else harmless.
fn judge_flow_table(name: &str, table: &FlowTable, is_hardware: bool, is_layered: bool) -> Vec<Finding> {
    let delete = format!("nft list flowtables  # remove {} where it is configured", table.name);
    let lists = table.devices.iter().any(|device| device == name);
    if is_hardware {
        return vec![Finding::in_the_way(
            "flow-offload",
            format!(
                "the flow table {} is in the hardware: flows that it forwards are seen by no program and no qdisc",
                table.name
            ),
            delete,
        )];
    }
    if is_layered {
        return vec![Finding::in_the_way(
            "flow-offload",
            format!(
                "the flow table {} sends established flows straight to the device below {name}, where they must be marked and shaped",
                table.name
            ),
            delete,
        )];
    }
    let sentence = format!(
        "the flow table {} forwards established flows past the firewall's rules, so that DSCPs set there end with a flow's first \
         packets; programs and qdiscs at the egress still see them",
        table.name
    );
    match lists {
        true => vec![Finding::worth_knowing("flow-offload", sentence, delete)],
        false => vec![Finding::harmless(
            "flow-offload",
            format!("the flow table {} does not name {name}", table.name),
        )],
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
