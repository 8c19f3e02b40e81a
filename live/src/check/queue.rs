//! The queue disciplines at a device: whether they read marks, and what becomes of marks there.

use super::finding::{Finding, run_tool};
use crate::tc::{self, Qdisc};
use crate::words::count;

/// Returns the classes of a device, such as `1:10`: of the kinds whose classes somebody made.
pub fn list_classes(name: &str) -> Vec<String> {
    run_tool("tc", &["class", "show", "dev", name]).map_or(Vec::new(), |text| leaves(&text))
}

/// Returns the classes without classes below them, of what `tc class show` prints (older versions know no JSON here).
pub fn leaves(text: &str) -> Vec<String> {
    let words: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let after = |line: &[&str], word: &str| {
        line.iter().position(|one| *one == word).and_then(|at| line.get(at + 1)).map(|text| text.to_string())
    };
    let parents: Vec<String> = words.iter().filter_map(|line| after(line, "parent")).collect();
    parse_classes(text).into_iter().filter(|id| !parents.contains(id)).collect()
}

/// Returns the classes that somebody made, those with classes below them too, of what `tc class show` prints.
pub fn parse_classes(text: &str) -> Vec<String> {
    let kinds = ["htb", "hfsc", "drr", "qfq", "ets", "prio"];
    let words = text.lines().map(|line| line.split_whitespace().collect::<Vec<&str>>());
    words
        .filter(|line| line.len() > 2 && line[0] == "class" && kinds.contains(&line[1]))
        .map(|line| line[2].to_string())
        .collect()
}

/// Returns the number of tins of a CAKE, by its `diffserv` option.
pub fn count_tins(cake: &Qdisc) -> u32 {
    match cake.options["diffserv"].as_str() {
        Some("besteffort") => 1,
        Some("diffserv4") => 4,
        Some("diffserv8" | "precedence") => 8,
        _ => 3,
    }
}

/// Returns the CAKEs of a device that are not its root: one in each class of HTB or below each hardware queue of `mq`.
pub fn find_child_cakes(all: &[Qdisc]) -> Vec<&Qdisc> {
    all.iter().filter(|one| one.parent.is_some() && one.kind == "cake").collect()
}

/// Returns whether a CAKE sorts DSCP LE into its Bulk tin (sch_cake's diffserv3, diffserv4 and diffserv8).
pub fn has_bulk_tin(cake: &Qdisc) -> bool {
    !matches!(cake.options["diffserv"].as_str(), Some("besteffort" | "precedence"))
}

/// Returns whether a mark that `mark` sets without options is read at a device: by a CAKE at the root, or by the DSCP
/// by CAKEs below it.
pub fn reads_marks(all: &[Qdisc]) -> bool {
    let at_root = tc::find_root(all).is_some_and(|root| root.kind == "cake");
    at_root || find_child_cakes(all).into_iter().any(has_bulk_tin)
}

/// Returns how to have marks read at a device whose queue reads none. A qdisc of somebody's own is never replaced.
pub fn suggest_reader(name: &str, all: &[Qdisc]) -> String {
    match tc::find_root(all).is_none_or(Qdisc::is_default) {
        true => cake(name),
        false => format!("mousehole-live mark {name} --via dscp"),
    }
}

/// Returns what was found of a device's qdiscs.
pub fn check_queue(name: &str, all: &[Qdisc], classes: &[String]) -> Vec<Finding> {
    let Some(root) = tc::find_root(all) else {
        return vec![Finding::worth_knowing(
            "qdisc",
            format!("{name} has no qdisc at its root, so nothing waits there and nothing reads marks"),
            cake(name),
        )];
    };
    let at_root = format!("the root of {name} is {}", root.kind);
    let cakes = find_child_cakes(all);
    if !cakes.is_empty() {
        let mut found = vec![Finding::harmless(
            "qdisc",
            format!(
                "{at_root} {} with {} below it, which {} DSCP LE: `mark` sets that for long flows",
                root.handle,
                count(cakes.len() as u64, "CAKE"),
                if cakes.len() == 1 { "reads" } else { "read" }
            ),
        )];
        found.extend(judge_cakes(name, &cakes));
        return found;
    }
    let unread =
        |sentence: String| vec![Finding::worth_knowing("qdisc", sentence, suggest_reader(name, all))];
    match root.kind.as_str() {
        "cake" => judge_cakes(name, &[root]),
        "mq" | "mqprio" => {
            let inner = all.iter().find(|one| one.is_below(root));
            let inner = inner.map_or("another qdisc", |one| &one.kind);
            unread(format!(
                "{at_root} with {inner} for each of its hardware queues; one queue is not known to the others, marks are read by \
                 the network behind only, and `up` puts one token bucket in their place"
            ))
        }
        "htb" | "hfsc" | "drr" | "qfq" | "ets" | "prio" => judge_classes(name, root, classes, all),
        "pfifo_fast" => unread(format!(
            "{at_root}, which chose a band before a program at the egress can set a DSCP; marks are read by the network behind only"
        )),
        "fq" | "fq_codel" | "codel" | "fq_pie" | "pie" | "sfq" | "red" | "tbf" | "pfifo" | "bfifo"
        | "noqueue" | "noop" => {
            unread(format!("{at_root}, which reads no marks; they are for the network behind only"))
        }
        _ => unread(format!("{at_root}, of which is not known whether it reads marks")),
    }
}

fn cake(name: &str) -> String {
    format!("tc qdisc replace dev {name} root cake bandwidth RATE diffserv4")
}

/// Returns what was found of each CAKE of a device; what is true of several is said once, with the cure of the first.
fn judge_cakes(name: &str, cakes: &[&Qdisc]) -> Vec<Finding> {
    let mut all: Vec<(Finding, usize)> = Vec::new();
    for found in cakes.iter().flat_map(|cake| judge_cake(name, cake)) {
        match all.iter_mut().find(|(known, _)| known.key == found.key && known.sentence == found.sentence) {
            Some((_, number)) => *number += 1,
            None => all.push((found, 1)),
        }
    }
    all.into_iter()
        .map(|(mut found, number)| {
            if number < cakes.len() || number > 1 {
                found.sentence = format!("{number} of {} CAKEs: {}", cakes.len(), found.sentence);
            }
            found
        })
        .collect()
}

/// Judges one CAKE: which of its options do not fit marks, and how to change them.
fn judge_cake(name: &str, cake: &Qdisc) -> Vec<Finding> {
    let place = cake.parent.as_ref().map_or("root".to_string(), |parent| format!("parent {parent}"));
    let change = |option: &str| format!("tc qdisc change dev {name} {place} cake {option}");
    let option = |key: &str| cake.options[key].as_str().unwrap_or_default().to_string();
    let is_set = |key: &str| cake.options[key].as_bool().unwrap_or(false);
    let diffserv = option("diffserv");
    let mut all = vec![match diffserv.as_str() {
        "besteffort" => Finding::in_the_way(
            "cake-tins",
            "CAKE has one tin (besteffort), so there is no Bulk tin for long flows",
            change("diffserv4"),
        ),
        "precedence" => Finding::worth_knowing(
            "cake-tins",
            "CAKE sorts by precedence, where the first tin is the lowest of eight and LE is not known",
            change("diffserv4"),
        ),
        mode => Finding::harmless(
            "cake-tins",
            format!("CAKE has a Bulk tin ({mode}), which long flows are put into"),
        ),
    }];
    // Below a class the class has the rate.
    if option("bandwidth") == "unlimited" && cake.parent.is_none() {
        all.push(Finding::worth_knowing(
            "cake-rate",
            "CAKE has no rate, so that packets may wait behind it, in a modem, where no mark counts",
            change("bandwidth RATE"),
        ));
    }
    if is_set("wash") {
        all.push(Finding::worth_knowing(
            "cake-wash",
            "CAKE clears the DSCP of what leaves (wash), so that the network behind sees no marks of `mark --via dscp`",
            change("nowash"),
        ));
    }
    if !matches!(&cake.options["fwmark"], serde_json::Value::Null) && option("fwmark") != "0" {
        all.push(Finding::worth_knowing(
            "cake-fwmark",
            "CAKE reads firewall marks first (fwmark), and such a mark wins over the priority that `mark` sets",
            change("fwmark 0"),
        ));
    }
    let ack_filter = option("ack-filter");
    if !ack_filter.is_empty() && ack_filter != "disabled" {
        all.push(Finding::harmless("cake-ack-filter", "CAKE thins out ACKs after they were counted here"));
    }
    match (is_set("split_gso"), cake.options.get("split_gso").is_some()) {
        (true, _) => {
            all.push(Finding::harmless("cake-gso", "CAKE splits super-packets; each part keeps its tin"))
        }
        (false, true) => all.push(Finding::worth_knowing(
            "cake-gso",
            "CAKE sends super-packets whole, so that a short packet may wait for one of 64 kB",
            change("split-gso"),
        )),
        (false, false) => {}
    }
    if is_set("nat") {
        all.push(Finding::harmless(
            "cake-nat",
            "CAKE looks behind NAT for its hosts; markers see addresses after it",
        ));
    }
    all
}

/// Judges a classful root: which of its classes long flows could be sent to.
fn judge_classes(name: &str, root: &Qdisc, classes: &[String], all: &[Qdisc]) -> Vec<Finding> {
    let inner = all.iter().find(|one| one.parent.is_some() && one.kind == "fq_codel");
    let inner = inner.map_or(String::new(), |one| format!(", with {} below it", one.kind));
    let listed = match classes {
        [] => "no classes are listed".to_string(),
        some => format!("classes {}", some.join(", ")),
    };
    let last = classes.last().map_or("CLASS", String::as_str);
    vec![Finding::worth_knowing(
        "qdisc",
        format!(
            "the root of {name} is {} {}{inner}; {listed}; `mark` needs --classes, which names the class of long flows, or --via \
             dscp, which only filters below would read",
            root.kind, root.handle
        ),
        format!("mousehole-live mark {name} --via class --classes {last}"),
    )]
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::super::finding::Rank;
    use super::*;
    use tc::parse_qdiscs;

    fn found(text: &str, classes: &[&str]) -> Vec<Finding> {
        let classes: Vec<String> = classes.iter().map(|id| id.to_string()).collect();
        check_queue("eth0", &parse_qdiscs(text).unwrap(), &classes)
    }

    fn of<'a>(all: &'a [Finding], key: &str) -> Option<&'a Finding> {
        all.iter().find(|one| one.key == key)
    }

    /// As iproute2's q_cake.c prints it.
    fn cake_as(diffserv: &str, bandwidth: &str, more: &str) -> String {
        format!(
            r#"[{{"kind":"cake","handle":"8001:","root":true,"refcnt":2,"options":{{"bandwidth":{bandwidth},"diffserv":"{diffserv}","flowmode":"triple-isolate",{more}"ingress":false,"rtt":100000,"raw":false,"atm":"noatm","overhead":38}}}}]"#
        )
    }

    #[test]
    fn cake__with_a_bulk_tin() {
        let more = r#""nat":true,"wash":false,"ack-filter":"enabled","split_gso":true,"#;
        let all = found(&cake_as("diffserv3", "1187500", more), &[]);
        assert!(all.iter().all(|one| one.rank == Rank::Harmless), "{all:?}");
        let keys: Vec<&str> = all.iter().map(|one| one.key).collect();
        assert_eq!(keys, ["cake-tins", "cake-ack-filter", "cake-gso", "cake-nat"]);
    }

    #[test]
    fn cake__besteffort_is_in_the_way() {
        let all = found(&cake_as("besteffort", "1187500", ""), &[]);
        let tins = of(&all, "cake-tins").unwrap();
        assert_eq!(tins.rank, Rank::InTheWay);
        assert_eq!(tins.cure.as_deref(), Some("tc qdisc change dev eth0 root cake diffserv4"));
    }

    #[test]
    fn cake__wash_fwmark_rate_and_whole_super_packets() {
        let more = r#""nat":false,"wash":true,"ack-filter":"disabled","split_gso":false,"fwmark":"0xff","#;
        let all = found(&cake_as("diffserv4", "\"unlimited\"", more), &[]);
        for key in ["cake-wash", "cake-fwmark", "cake-rate", "cake-gso"] {
            assert_eq!(of(&all, key).unwrap().rank, Rank::WorthKnowing, "{key}: {all:?}");
        }
        assert_eq!(of(&all, "cake-ack-filter"), None);
        assert_eq!(of(&all, "cake-nat"), None);
    }

    #[test]
    fn queues_without_classes__read_no_marks() {
        for kind in ["fq_codel", "fq", "pfifo_fast", "noqueue", "tbf"] {
            let text =
                format!(r#"[{{"kind":"{kind}","handle":"0:","root":true,"refcnt":2,"options":{{}}}}]"#);
            let all = found(&text, &[]);
            assert_eq!((all.len(), all[0].rank), (1, Rank::WorthKnowing));
            assert!(all[0].sentence.contains(kind) && all[0].sentence.contains("network behind"), "{all:?}");
            assert!(
                all[0].cure.as_ref().unwrap().starts_with("tc qdisc replace dev eth0 root cake"),
                "{all:?}"
            );
        }
    }

    #[test]
    fn queues_of_somebody__are_never_replaced() {
        for kind in ["fq_codel", "tbf", "mq", "unheard_of"] {
            let text =
                format!(r#"[{{"kind":"{kind}","handle":"5:","root":true,"refcnt":2,"options":{{}}}}]"#);
            let all = found(&text, &[]);
            assert_eq!(all[0].cure.as_deref(), Some("mousehole-live mark eth0 --via dscp"), "{kind}");
        }
    }

    #[test]
    fn cakes_below_a_shaper__read_the_dscp() {
        let leaf = |parent: &str, diffserv: &str| {
            format!(
                r#"{{"kind":"cake","handle":"8002:","parent":"{parent}","options":{{"bandwidth":"unlimited","diffserv":"{diffserv}","wash":true}}}}"#
            )
        };
        let tree = |root: &str, leaves: [String; 2]| {
            format!(
                r#"[{{"kind":"{root}","handle":"7fff:","root":true,"options":{{}}}},{}]"#,
                leaves.join(",")
            )
        };
        for (root, parents) in [("htb", ["1:10", "1:20"]), ("mq", ["7fff:1", "7fff:2"])] {
            let text = tree(root, parents.map(|parent| leaf(parent, "diffserv4")));
            assert!(reads_marks(&parse_qdiscs(&text).unwrap()));
            let all = found(&text, &["1:10", "1:20"]);
            assert_eq!(all[0].rank, Rank::Harmless, "{all:?}");
            assert!(all[0].sentence.contains(&format!("{root} 7fff: with 2 CAKEs below it")), "{all:?}");
            assert_eq!(of(&all, "cake-rate"), None, "the shaper has the rate");
            let wash = of(&all, "cake-wash").unwrap();
            assert!(wash.sentence.starts_with("2 of 2 CAKEs: "), "{wash:?}");
            let change = format!("tc qdisc change dev eth0 parent {} cake nowash", parents[0]);
            assert_eq!(wash.cure, Some(change));
            assert!(all.iter().flat_map(|one| &one.cure).all(|cure| !cure.contains("replace")), "{all:?}");
        }
        let text = tree("htb", [leaf("1:10", "diffserv4"), leaf("1:20", "besteffort")]);
        assert!(of(&found(&text, &[]), "cake-tins").unwrap().sentence.starts_with("1 of 2 CAKEs"));
        let text = tree("htb", ["1:10", "1:20"].map(|parent| leaf(parent, "besteffort")));
        assert!(!reads_marks(&parse_qdiscs(&text).unwrap()), "no tin is Bulk");
    }

    #[test]
    fn mq__names_what_is_below() {
        let all = found(
            r#"[{"kind":"mq","handle":"0:","root":true,"options":{}},
                {"kind":"fq_codel","handle":"0:","parent":":2","options":{"limit":10240}},
                {"kind":"fq_codel","handle":"0:","parent":":1","options":{"limit":10240}}]"#,
            &[],
        );
        assert!(all[0].sentence.contains("mq with fq_codel for each"), "{all:?}");
    }

    #[test]
    fn htb__names_its_classes() {
        let text = r#"[{"kind":"htb","handle":"1:","root":true,"refcnt":3,"options":{"r2q":10,"default":"0x10"}},
            {"kind":"fq_codel","handle":"110:","parent":"1:10","options":{}},
            {"kind":"clsact","handle":"ffff:","parent":"ffff:fff1","options":{}}]"#;
        let all = found(text, &["1:10", "1:30"]);
        assert!(all[0].sentence.contains("htb 1:, with fq_codel below it; classes 1:10, 1:30"), "{all:?}");
        assert_eq!(all[0].cure.as_deref(), Some("mousehole-live mark eth0 --via class --classes 1:30"));
    }

    #[test]
    fn leaves__are_classes_without_classes_below() {
        let text = "class htb 1:10 parent 1:1 prio 0 rate 5Mbit ceil 10Mbit burst 1600b cburst 1600b \n\
                    class htb 1:1 root rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b \n\
                    class fq_codel 110:3b1 parent 110: \n";
        assert_eq!(leaves(text), ["1:10"]);
        assert_eq!(parse_classes(text), ["1:10", "1:1"]);
        assert_eq!(leaves(""), Vec::<String>::new());
    }

    #[test]
    fn no_root__says_so() {
        let all = found(r#"[{"kind":"clsact","handle":"ffff:","parent":"ffff:fff1","options":{}}]"#, &[]);
        assert!(all[0].sentence.contains("no qdisc"), "{all:?}");
    }
}
