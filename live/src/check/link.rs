//! The device itself: up or down, what it stands on, what stands on it, and what the hardware takes over.

use super::finding::{Finding, Unknown, report_blind, run_tool};
use serde_json::Value;
use std::fs;

/// A device as `ip -d -j link show` tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    name: String,
    kind: String,
    /// The device below a VLAN and its like.
    lower: Option<String>,
    /// The bridge or bond that it is part of.
    master: Option<String>,
    qdisc: String,
    is_up: bool,
    mtu: u64,
    queues: u64,
}

/// Devices whose packets are those of the device below, with a header more.
const LAYERS: [&str; 5] = ["vlan", "macvlan", "ipvlan", "macsec", "pppoe"];
/// Devices on which the packets inside of a tunnel are seen.
const TUNNELS: [&str; 12] = [
    "wireguard",
    "tun",
    "gre",
    "gretap",
    "ip6gre",
    "ipip",
    "sit",
    "ip6tnl",
    "vxlan",
    "geneve",
    "vti",
    "xfrm",
];
/// Qdiscs that hold packets to a rate.
const SHAPERS: [&str; 4] = ["cake", "htb", "hfsc", "tbf"];

/// Returns all devices; says so when they cannot be listed.
pub fn list_links(findings: &mut Vec<Finding>) -> Vec<Link> {
    match run_tool("ip", &["-d", "-j", "link", "show"]) {
        Ok(text) => {
            let mut all = parse(&text);
            add_pppoe(&mut all, &fs::read_to_string("/proc/net/pppoe").unwrap_or_default());
            all
        }
        Err(why) => {
            findings.push(report_blind("link", "the device's state and layers", "ip", "iproute2", &why));
            Vec::new()
        }
    }
}

/// Parses the output of `ip -d -j link show`; empty if it is no JSON.
fn parse(text: &str) -> Vec<Link> {
    let list: Value = serde_json::from_str(text).unwrap_or_default();
    let read = |item: &Value| {
        let text = |value: &Value| value.as_str().map(String::from);
        Some(Link {
            name: text(&item["ifname"])?,
            kind: text(&item["linkinfo"]["info_kind"]).unwrap_or_default(),
            lower: text(&item["link"]),
            master: text(&item["master"]),
            qdisc: text(&item["qdisc"]).unwrap_or_default(),
            is_up: item["flags"].as_array().is_some_and(|all| all.iter().any(|flag| flag == "UP")),
            mtu: item["mtu"].as_u64().unwrap_or(0),
            queues: item["num_tx_queues"].as_u64().unwrap_or(1),
        })
    };
    list.as_array().into_iter().flatten().filter_map(read).collect()
}

/// Adds the device below a PPPoE session, from /proc/net/pppoe. Which `ppp` device a session has, it does not tell, so
/// this is done only where there is one of each.
fn add_pppoe(all: &mut [Link], sessions: &str) {
    let below: Vec<&str> =
        sessions.lines().skip(1).filter_map(|line| line.split_whitespace().nth(2)).collect();
    let mut above: Vec<&mut Link> = all.iter_mut().filter(|link| link.kind == "ppp").collect();
    if let ([lower], [link]) = (&below[..], &mut above[..]) {
        link.kind = "pppoe".into();
        link.lower = Some(lower.to_string());
    }
}

/// Returns whether the device stands on another one, whose packets are its own.
pub fn is_layered(name: &str, all: &[Link]) -> bool {
    all.iter()
        .any(|link| link.name == name && (LAYERS.contains(&link.kind.as_str()) || link.kind == "bridge"))
}

/// Returns what was found of the device and those above and below.
pub fn check_link(name: &str, all: &[Link]) -> Vec<Finding> {
    let Some(link) = all.iter().find(|link| link.name == name) else { return Vec::new() };
    let mut found = Vec::new();
    if !link.is_up {
        found.push(Finding::in_the_way("state", format!("{name} is down"), format!("ip link set {name} up")));
    }
    if link.mtu < 1280 && link.mtu > 0 {
        found.push(Finding::worth_knowing(
            "mtu",
            format!("the MTU of {name} is {} bytes, too small for IPv6", link.mtu),
            format!("ip link set {name} mtu 1500"),
        ));
    } else {
        found.push(Finding::harmless("mtu", format!("the MTU of {name} is {} bytes", link.mtu)));
    }
    if link.queues > 1 {
        found.push(Finding::harmless(
            "queues",
            format!("{name} has {} hardware queues; all pass one program", link.queues),
        ));
    }
    if link.kind == "ifb" {
        found.push(Finding::harmless(
            "direction",
            format!("{name} is an IFB: what it sends is what came in at another device, so downloads are marked here"),
        ));
    }
    if TUNNELS.contains(&link.kind.as_str()) {
        found.push(Finding::harmless(
            "layers",
            format!("{name} is a tunnel: flows inside are seen here, and below it the tunnel is one flow"),
        ));
    }
    if let Some(master) = &link.master {
        found.push(Finding::harmless(
            "layers",
            format!("{name} is part of {master}; only what {master} sends through it passes here"),
        ));
    }
    found.extend(judge_layers(link, all));
    found
}

/// Returns what was found of the devices above and below, of which one has the shaper.
fn judge_layers(link: &Link, all: &[Link]) -> Vec<Finding> {
    let shapes = |link: &Link| SHAPERS.contains(&link.qdisc.as_str());
    let lower = link.lower.as_ref().and_then(|name| all.iter().find(|one| one.name == *name));
    let lower = lower.filter(|_| LAYERS.contains(&link.kind.as_str()));
    let uppers = all
        .iter()
        .filter(|one| one.lower.as_ref() == Some(&link.name) && LAYERS.contains(&one.kind.as_str()));
    let here = |other: &Link| {
        Finding::worth_knowing(
            "layers",
            format!("the shaper ({}) is at {}, where a marker belongs too", other.qdisc, other.name),
            format!("mousehole-live check {}", other.name),
        )
    };
    let mut found = Vec::new();
    if let Some(lower) = lower {
        if shapes(lower) && !shapes(link) {
            found.push(here(lower));
        } else {
            found.push(Finding::harmless(
                "layers",
                format!(
                    "{} is {} on {}; headers that {} adds are not counted",
                    link.name, link.kind, lower.name, lower.name
                ),
            ));
        }
    }
    for upper in uppers {
        if shapes(upper) && !shapes(link) {
            found.push(here(upper));
        } else {
            found.push(Finding::harmless(
                "layers",
                format!(
                    "{} carries {} ({}), whose packets are read through that header",
                    link.name, upper.name, upper.kind
                ),
            ));
        }
    }
    found
}

/// Returns what the hardware and the stack take over, as `ethtool -k` tells.
pub fn check_offloads(name: &str) -> Vec<Finding> {
    match run_tool("ethtool", &["-k", name]) {
        Ok(text) => judge_offloads(name, &text),
        Err(Unknown::Failed(said)) => {
            vec![Finding::harmless("offload", format!("{name} tells no offloads (ethtool: \"{said}\")"))]
        }
        Err(why) => vec![report_blind("offload", "offloads", "ethtool", "ethtool", &why)],
    }
}

/// Judges the offloads in the output of `ethtool -k`.
fn judge_offloads(name: &str, text: &str) -> Vec<Finding> {
    let is_on = |feature: &str| {
        text.lines().any(|line| {
            line.trim()
                .strip_prefix(feature)
                .and_then(|rest| rest.strip_prefix(": "))
                .is_some_and(|rest| rest.starts_with("on"))
        })
    };
    let mut found = Vec::new();
    let whole: Vec<&str> = [
        ("TSO", "tcp-segmentation-offload"),
        ("GSO", "generic-segmentation-offload"),
        ("GRO", "generic-receive-offload"),
    ]
    .iter()
    .filter(|(_, feature)| is_on(feature))
    .map(|(short, _)| *short)
    .collect();
    if whole.is_empty() {
        found.push(Finding::harmless("gso", "no super-packets: TSO, GSO and GRO are off"));
    } else {
        found.push(Finding::worth_knowing(
            "gso",
            format!(
                "super-packets ({} on) count as the packets that they become, but get one decision together; it matters to `up`",
                whole.join(", ")
            ),
            format!("mousehole-live up {name} --rate RATE --no-gso"),
        ));
    }
    if is_on("hw-tc-offload") {
        found.push(Finding::worth_knowing(
            "hw-tc-offload",
            format!("{name} may run filters in its hardware (hw-tc-offload), and what is forwarded there is not seen here"),
            format!("ethtool -K {name} hw-tc-offload off"),
        ));
    }
    if is_on("l2-fwd-offload") {
        found.push(Finding::worth_knowing(
            "l2-fwd-offload",
            format!("{name} may forward between devices in its hardware, and that is not seen here"),
            format!("ethtool -K {name} l2-fwd-offload off"),
        ));
    }
    found
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::super::finding::Rank;
    use super::*;

    const LINKS: &str = r#"[
        {"ifindex":2,"ifname":"eth0","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],"mtu":1500,"qdisc":"mq","operstate":"UP","link_type":"ether","num_tx_queues":4},
        {"ifindex":3,"link":"eth0","ifname":"eth0.7","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],"mtu":1500,"qdisc":"cake","operstate":"UP","link_type":"ether","linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1Q","id":7,"flags":["REORDER_HDR"]}},"num_tx_queues":1},
        {"ifindex":4,"ifname":"ifb0","flags":["BROADCAST","NOARP"],"mtu":1500,"qdisc":"noop","operstate":"DOWN","linkinfo":{"info_kind":"ifb"},"num_tx_queues":1},
        {"ifindex":5,"ifname":"wg0","flags":["POINTOPOINT","NOARP","UP","LOWER_UP"],"mtu":1420,"qdisc":"noqueue","linkinfo":{"info_kind":"wireguard"},"num_tx_queues":1},
        {"ifindex":6,"ifname":"lan1","flags":["BROADCAST","UP"],"mtu":1500,"qdisc":"fq_codel","master":"br-lan","linkinfo":{"info_slave_kind":"bridge"},"num_tx_queues":1},
        {"ifindex":7,"ifname":"ppp0","flags":["POINTOPOINT","UP"],"mtu":1492,"qdisc":"fq_codel","linkinfo":{"info_kind":"ppp"},"num_tx_queues":1},
        {"ifindex":8,"link":"v0","ifname":"v1","flags":["UP"],"mtu":576,"qdisc":"noqueue","linkinfo":{"info_kind":"veth"},"num_tx_queues":1}]"#;

    fn sentences(name: &str) -> Vec<(Rank, String)> {
        check_link(name, &parse(LINKS)).into_iter().map(|one| (one.rank, one.sentence)).collect()
    }

    fn has(name: &str, rank: Rank, part: &str) {
        let all = sentences(name);
        assert!(
            all.iter().any(|(one, text)| *one == rank && text.contains(part)),
            "{name}: {part} in {all:?}"
        );
    }

    #[test]
    fn layers__a_marker_belongs_to_the_shaper() {
        has("eth0", Rank::WorthKnowing, "the shaper (cake) is at eth0.7");
        has("eth0", Rank::Harmless, "4 hardware queues");
        has("eth0.7", Rank::Harmless, "eth0.7 is vlan on eth0");
        assert!(is_layered("eth0.7", &parse(LINKS)) && !is_layered("eth0", &parse(LINKS)));
        assert!(!is_layered("v1", &parse(LINKS)), "a veth's other end is not below it");
    }

    #[test]
    fn state__down_ifb_tunnel_port_and_small_mtu() {
        has("ifb0", Rank::InTheWay, "ifb0 is down");
        has("ifb0", Rank::Harmless, "downloads are marked here");
        has("wg0", Rank::Harmless, "flows inside are seen here");
        has("lan1", Rank::Harmless, "part of br-lan");
        has("v1", Rank::WorthKnowing, "576 bytes");
        assert!(sentences("gone").is_empty());
        assert!(parse("").is_empty());
    }

    #[test]
    fn pppoe__the_device_below_is_named_by_proc() {
        let mut all = parse(LINKS);
        add_pppoe(&mut all, "Id       Address              Device\n000012   00:11:22:33:44:55    eth0.7\n");
        assert!(is_layered("ppp0", &all));
        let found = check_link("ppp0", &all);
        assert!(found.iter().any(|one| one.sentence.contains("the shaper (cake) is at eth0.7")), "{found:?}");
        let mut two = parse(LINKS);
        add_pppoe(&mut two, "Id Address Device\n1 00:11:22:33:44:55 eth0\n2 00:11:22:33:44:56 eth1\n");
        assert!(!is_layered("ppp0", &two), "which session is whose, is not told");
    }

    #[test]
    fn offloads__super_packets_and_hardware() {
        let on = "Features for eth0:\ntcp-segmentation-offload: on\n\ttx-tcp-segmentation: on\n\
                  generic-segmentation-offload: on\ngeneric-receive-offload: off\nhw-tc-offload: on\nl2-fwd-offload: off [fixed]\n";
        let found = judge_offloads("eth0", on);
        let keys: Vec<&str> = found.iter().map(|one| one.key).collect();
        assert_eq!(keys, ["gso", "hw-tc-offload"]);
        assert!(found[0].sentence.contains("(TSO, GSO on)"), "{found:?}");
        assert_eq!(found[1].cure.as_deref(), Some("ethtool -K eth0 hw-tc-offload off"));
        let off = on.replace(": on", ": off [fixed]");
        assert!(judge_offloads("eth0", &off).iter().all(|one| one.rank == Rank::Harmless));
    }
}
