//! The queue disciplines at a device: whether they read marks, and what they do with them.

use super::finding::Finding;
use crate::human::format_count;
use crate::qdisc::{self, Cake, Class, Qdisc};

/// Returns the classes that somebody created and that have no classes below them, such as `1:10`.
pub fn list_leaves(all: &[Class]) -> Vec<String> {
    let is_leaf = |one: &&Class| !all.iter().any(|below| below.parent == one.id);
    select_made(all).filter(is_leaf).map(|one| qdisc::format_id(one.id)).collect()
}

/// Returns the classes that somebody created; others are the flow queues of a queue discipline.
/// Their kind distinguishes them.
pub fn select_made(all: &[Class]) -> impl Iterator<Item = &Class> {
    let kinds = ["htb", "hfsc", "drr", "qfq", "ets", "prio"];
    all.iter().filter(move |one| kinds.contains(&one.kind.as_str()))
}

/// Returns how many tins a CAKE has. An unknown mode counts as diffserv3.
pub fn count_tins(cake: &Cake) -> u32 {
    match cake.diffserv {
        "besteffort" => 1,
        "diffserv4" => 4,
        "diffserv8" | "precedence" => 8,
        _ => 3,
    }
}

/// Returns the CAKEs of a device that are not its root: below classes of HTB or the hardware queues
/// of `mq`.
pub fn list_cakes_below(all: &[Qdisc]) -> Vec<&Qdisc> {
    all.iter().filter(|one| one.parent.is_some() && one.kind == "cake").collect()
}

/// Returns whether a CAKE sorts DSCP LE into its Bulk tin, as sch_cake's diffserv3, diffserv4 and
/// diffserv8 do.
pub fn has_bulk_tin(cake: &Qdisc) -> bool {
    !matches!(cake.cake.diffserv, "besteffort" | "precedence")
}

/// Returns whether the marks that `mark` sets without options are read at a device: the priority by
/// a CAKE at the root, or the DSCP by CAKEs below it.
pub fn reads_marks(all: &[Qdisc]) -> bool {
    let at_root = qdisc::find_root(all).is_some_and(|root| root.kind == "cake");
    at_root || list_cakes_below(all).into_iter().any(has_bulk_tin)
}

/// Returns the command that makes marks useful at a device whose queue reads none. It never
/// replaces somebody else's queue discipline.
pub fn suggest_reader(name: &str, all: &[Qdisc]) -> String {
    match qdisc::find_root(all).is_none_or(Qdisc::is_default) {
        true => format_cake_command(name),
        false => format!("mousehole-live mark {name} --via dscp"),
    }
}

/// Returns findings about a device's queue disciplines; `classes` are as from [`list_leaves`]. One
/// finding at least says what the root is, or that there is none.
pub fn inspect(name: &str, all: &[Qdisc], classes: &[String]) -> Vec<Finding> {
    let Some(root) = qdisc::find_root(all) else {
        return vec![Finding::worth_knowing(
            "qdisc",
            format!("{name} has no qdisc at its root, so nothing waits there and nothing reads marks"),
            format_cake_command(name),
        )];
    };
    let at_root = format!("the root of {name} is {}", root.kind);
    let cakes = list_cakes_below(all);
    if !cakes.is_empty() {
        let mut found = vec![Finding::harmless(
            "qdisc",
            format!(
                "{at_root} {} with {} below it, which {} DSCP LE: `mark` sets that for long flows",
                root.handle,
                format_count(cakes.len() as u64, "CAKE"),
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
            // What somebody made with its queues cannot be put back, and `up` refuses it.
            let place =
                if root.is_default() { ", and `up` puts one token bucket in their place" } else { "" };
            unread(format!(
                "{at_root} with {inner} for each of its hardware queues; one queue is not known to the others, and marks are \
                 read by the network behind only{place}"
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

/// Returns the tc(8) command that installs a CAKE at the root.
fn format_cake_command(name: &str) -> String {
    format!("tc qdisc replace dev {name} root cake bandwidth RATE diffserv4")
}

/// Returns findings about the CAKEs of a device. Equal ones are given once, with their number and
/// the command for the first.
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

/// Returns findings about one CAKE: its tins, and each option that matters to marks. Commands that
/// change it name `name` and where the CAKE is attached.
fn judge_cake(name: &str, cake: &Qdisc) -> Vec<Finding> {
    let place = cake.parent.as_ref().map_or("root".to_string(), |parent| format!("parent {parent}"));
    let change = |option: &str| format!("tc qdisc change dev {name} {place} cake {option}");
    let does = &cake.cake;
    let mut all = vec![match does.diffserv {
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
    // Below a class, the class limits the rate.
    if does.rate == 0 && cake.parent.is_none() {
        all.push(Finding::worth_knowing(
            "cake-rate",
            "CAKE has no rate, so that packets may wait behind it, in a modem, where no mark counts",
            change("bandwidth RATE"),
        ));
    }
    if does.wash {
        all.push(Finding::worth_knowing(
            "cake-wash",
            "CAKE clears the DSCP of what leaves (wash), so that the network behind sees no marks of `mark --via dscp`",
            change("nowash"),
        ));
    }
    if does.fwmark != 0 {
        all.push(Finding::worth_knowing(
            "cake-fwmark",
            "CAKE reads firewall marks first (fwmark), and such a mark wins over the priority that `mark` sets",
            change("fwmark 0"),
        ));
    }
    if does.ack_filter {
        all.push(Finding::harmless("cake-ack-filter", "CAKE thins out ACKs after they were counted here"));
    }
    match does.split_gso {
        Some(true) => {
            all.push(Finding::harmless("cake-gso", "CAKE splits super-packets; each part keeps its tin"))
        }
        Some(false) => all.push(Finding::worth_knowing(
            "cake-gso",
            "CAKE sends super-packets whole, so that a short packet may wait for one of 64 kB",
            change("split-gso"),
        )),
        None => {}
    }
    if does.nat {
        all.push(Finding::harmless(
            "cake-nat",
            "CAKE looks behind NAT for its hosts; markers see addresses after it",
        ));
    }
    all
}

/// Returns the finding about a root with classes; `classes` are as from [`list_leaves`].
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

    /// Returns the findings about eth0 with these queue disciplines and classes.
    fn inspect_eth0(all: &[Qdisc], classes: &[&str]) -> Vec<Finding> {
        let classes: Vec<String> = classes.iter().map(|id| id.to_string()).collect();
        inspect("eth0", all, &classes)
    }

    /// Returns the finding with this key.
    fn find_key<'a>(all: &'a [Finding], key: &str) -> Option<&'a Finding> {
        all.iter().find(|one| one.key == key)
    }

    /// Returns the findings about eth0 with this CAKE at its root.
    fn inspect_cake(cake: Cake) -> Vec<Finding> {
        inspect_eth0(&[Qdisc { cake, ..Qdisc::new("cake", "8001:", None) }], &[])
    }

    #[test]
    fn cake__with_a_bulk_tin() {
        let all = inspect_cake(Cake {
            diffserv: "diffserv3",
            rate: 1_187_500,
            nat: true,
            ack_filter: true,
            split_gso: Some(true),
            ..Cake::default()
        });
        assert!(all.iter().all(|one| one.rank == Rank::Harmless), "{all:?}");
        let keys: Vec<&str> = all.iter().map(|one| one.key).collect();
        assert_eq!(keys, ["cake-tins", "cake-ack-filter", "cake-gso", "cake-nat"]);
    }

    #[test]
    fn cake__besteffort_is_in_the_way() {
        let all = inspect_cake(Cake { diffserv: "besteffort", rate: 1_187_500, ..Cake::default() });
        let tins = find_key(&all, "cake-tins").unwrap();
        assert_eq!(tins.rank, Rank::InTheWay);
        assert_eq!(tins.cure.as_deref(), Some("tc qdisc change dev eth0 root cake diffserv4"));
    }

    #[test]
    fn cake__wash_fwmark_rate_and_whole_super_packets() {
        let all = inspect_cake(Cake {
            diffserv: "diffserv4",
            wash: true,
            split_gso: Some(false),
            fwmark: 0xff,
            ..Cake::default()
        });
        for key in ["cake-wash", "cake-fwmark", "cake-rate", "cake-gso"] {
            assert_eq!(find_key(&all, key).unwrap().rank, Rank::WorthKnowing, "{key}: {all:?}");
        }
        assert_eq!(find_key(&all, "cake-ack-filter"), None);
        assert_eq!(find_key(&all, "cake-nat"), None);
    }

    #[test]
    fn queues_without_classes__read_no_marks() {
        for kind in ["fq_codel", "fq", "pfifo_fast", "noqueue", "tbf"] {
            let all = inspect_eth0(&[Qdisc::new(kind, "0:", None)], &[]);
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
            let all = inspect_eth0(&[Qdisc::new(kind, "5:", None)], &[]);
            assert_eq!(all[0].cure.as_deref(), Some("mousehole-live mark eth0 --via dscp"), "{kind}");
        }
    }

    #[test]
    fn cakes_below_a_shaper__read_the_dscp() {
        let tree = |root: &str, leaves: [(&str, &'static str); 2]| {
            let leaf = |(parent, diffserv)| Qdisc {
                cake: Cake { diffserv, wash: true, ..Cake::default() },
                ..Qdisc::new("cake", "8002:", Some(parent))
            };
            [&[Qdisc::new(root, "7fff:", None)][..], &leaves.map(leaf)].concat()
        };
        for (root, parents) in [("htb", ["1:10", "1:20"]), ("mq", ["7fff:1", "7fff:2"])] {
            let there = tree(root, parents.map(|parent| (parent, "diffserv4")));
            assert!(reads_marks(&there));
            let all = inspect_eth0(&there, &["1:10", "1:20"]);
            assert_eq!(all[0].rank, Rank::Harmless, "{all:?}");
            assert!(all[0].sentence.contains(&format!("{root} 7fff: with 2 CAKEs below it")), "{all:?}");
            assert_eq!(find_key(&all, "cake-rate"), None, "the shaper has the rate");
            let wash = find_key(&all, "cake-wash").unwrap();
            assert!(wash.sentence.starts_with("2 of 2 CAKEs: "), "{wash:?}");
            let change = format!("tc qdisc change dev eth0 parent {} cake nowash", parents[0]);
            assert_eq!(wash.cure, Some(change));
            assert!(all.iter().flat_map(|one| &one.cure).all(|cure| !cure.contains("replace")), "{all:?}");
        }
        let there = tree("htb", [("1:10", "diffserv4"), ("1:20", "besteffort")]);
        assert!(
            find_key(&inspect_eth0(&there, &[]), "cake-tins").unwrap().sentence.starts_with("1 of 2 CAKEs")
        );
        let there = tree("htb", ["1:10", "1:20"].map(|parent| (parent, "besteffort")));
        assert!(!reads_marks(&there), "no tin is Bulk");
    }

    #[test]
    fn mq__names_what_is_below() {
        let leaf = |parent| Qdisc::new("fq_codel", "0:", Some(parent));
        let all = inspect_eth0(&[Qdisc::new("mq", "0:", None), leaf(":2"), leaf(":1")], &[]);
        assert!(all[0].sentence.contains("mq with fq_codel for each"), "{all:?}");
    }

    #[test]
    fn htb__names_its_classes() {
        let there = [
            Qdisc::new("htb", "1:", None),
            Qdisc::new("fq_codel", "110:", Some("1:10")),
            Qdisc::new("clsact", "ffff:", Some("ffff:fff1")),
        ];
        let all = inspect_eth0(&there, &["1:10", "1:30"]);
        assert!(all[0].sentence.contains("htb 1:, with fq_codel below it; classes 1:10, 1:30"), "{all:?}");
        assert_eq!(all[0].cure.as_deref(), Some("mousehole-live mark eth0 --via class --classes 1:30"));
    }

    #[test]
    fn list_leaves__are_classes_without_classes_below() {
        let class = |kind: &str, id, parent| Class { kind: kind.into(), id, parent };
        let all = [
            class("htb", 0x1_0010, 0x1_0001),
            class("htb", 0x1_0001, u32::MAX),
            class("fq_codel", 0x110_03b1, 0x110_0000),
        ];
        assert_eq!(list_leaves(&all), ["1:10"]);
        assert_eq!(select_made(&all).map(|one| one.id).collect::<Vec<_>>(), [0x1_0010, 0x1_0001]);
        assert_eq!(list_leaves(&[]), Vec::<String>::new());
    }

    #[test]
    fn no_root__says_so() {
        let all = inspect_eth0(&[Qdisc::new("clsact", "ffff:", Some("ffff:fff1"))], &[]);
        assert!(all[0].sentence.contains("no qdisc"), "{all:?}");
    }
}
