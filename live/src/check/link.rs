//! The device itself: its state, the devices below and above it, and offloads to its hardware.

use super::finding::{Finding, Unknown, report_unseen, run_tool};
use mousehole_netlink::links::{self, Link};
use std::fs;

/// Kinds of devices that add a header to packets and send them by the device below.
const LAYERS: [&str; 5] = ["vlan", "macvlan", "ipvlan", "macsec", "pppoe"];
/// Kinds of devices at which the packets inside a tunnel are visible.
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
/// Queue disciplines that limit the rate.
const SHAPERS: [&str; 4] = ["cake", "htb", "hfsc", "tbf"];

/// Returns all devices of this namespace, with the device below a PPPoE session where that is
/// known.
pub fn list_links() -> Vec<Link> {
    let mut all = links::list_links();
    add_pppoe(&mut all, &fs::read_to_string("/proc/net/pppoe").unwrap_or_default());
    all
}

/// Returns whether a device is of one of these kinds.
fn is_kind(link: &Link, kinds: &[&str]) -> bool {
    link.kind.as_ref().is_some_and(|kind| kinds.contains(&kind.as_str()))
}

/// Makes the PPP device a `pppoe` one and sets the device below it. `sessions` is the text of
/// /proc/net/pppoe, which does not say which `ppp` device a session has, so nothing changes unless
/// there is one of each.
fn add_pppoe(all: &mut [Link], sessions: &str) {
    let below: Vec<&str> =
        sessions.lines().skip(1).filter_map(|line| line.split_whitespace().nth(2)).collect();
    let [below] = below[..] else { return };
    let lower = all.iter().find(|link| link.name == below).map(|link| link.index);
    let mut above: Vec<&mut Link> = all.iter_mut().filter(|link| is_kind(link, &["ppp"])).collect();
    if let [link] = &mut above[..] {
        (link.kind, link.lower) = (Some("pppoe".into()), lower);
    }
}

/// Returns whether the device's packets leave by another device: it adds a header, or is a bridge.
/// False for a device that `all` lacks.
pub fn is_layered(name: &str, all: &[Link]) -> bool {
    all.iter().any(|link| link.name == name && (is_kind(link, &LAYERS) || is_kind(link, &["bridge"])))
}

/// Returns findings about the device, and about those above and below it; none for a device that
/// `all` lacks.
pub fn inspect(name: &str, all: &[Link]) -> Vec<Finding> {
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
    if is_kind(link, &["ifb"]) {
        found.push(Finding::harmless(
            "direction",
            format!("{name} is an IFB: what it sends is what came in at another device, so downloads are marked here"),
        ));
    }
    if is_kind(link, &TUNNELS) {
        found.push(Finding::harmless(
            "layers",
            format!("{name} is a tunnel: flows inside are seen here, and below it the tunnel is one flow"),
        ));
    }
    if let Some(Link { name: master, .. }) = all.iter().find(|one| Some(one.index) == link.master) {
        found.push(Finding::harmless(
            "layers",
            format!("{name} is part of {master}; only what {master} sends through it passes here"),
        ));
    }
    found.extend(judge_layers(link, all));
    found
}

/// Returns findings about the devices above and below in layers that add headers; one that shapes
/// while `link` does not is worth knowing.
fn judge_layers(link: &Link, all: &[Link]) -> Vec<Finding> {
    let shapes = |link: &Link| SHAPERS.contains(&link.qdisc.as_str());
    let lower = all.iter().find(|one| Some(one.index) == link.lower && is_kind(link, &LAYERS));
    let uppers = all.iter().filter(|one| one.lower == Some(link.index) && is_kind(one, &LAYERS));
    let kind = |link: &Link| link.kind.clone().unwrap_or_default();
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
                    link.name,
                    kind(link),
                    lower.name,
                    lower.name
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
                    link.name,
                    upper.name,
                    kind(upper)
                ),
            ));
        }
    }
    found
}

/// Returns findings about segmentation and forwarding in hardware, by running `ethtool -k`; one
/// that says why, if it gives no output.
pub fn inspect_offloads(name: &str) -> Vec<Finding> {
    match run_tool("ethtool", &["-k", name]) {
        Ok(text) => judge_offloads(name, &text),
        Err(Unknown::Failed(said)) => {
            vec![Finding::harmless("offload", format!("{name} tells no offloads (ethtool: \"{said}\")"))]
        }
        Err(why) => vec![report_unseen("offload", "offloads", "ethtool", "ethtool", &why)],
    }
}

/// Returns findings about the output of `ethtool -k`, one of them always about segmentation.
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
                "super-packets ({} on) count as the packets that they become, but get one decision together; it matters to `up`, \
                 whose --no-gso keeps apart what this machine sends, while `ethtool -K IN gro off` does so for what comes in at IN",
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

    /// Returns sample devices: Ethernet with a VLAN, IFB, tunnel, bridge with a port, PPP, veth.
    fn build_links() -> Vec<Link> {
        let link = |index, name: &str, kind: &str, qdisc: &str, mtu, lower| Link {
            index,
            name: name.into(),
            kind: Some(kind.to_string()).filter(|kind| !kind.is_empty()),
            qdisc: qdisc.into(),
            mtu,
            lower,
            queues: 1,
            is_up: true,
            ..Link::default()
        };
        vec![
            Link { queues: 4, ..link(2, "eth0", "", "mq", 1500, None) },
            link(3, "eth0.7", "vlan", "cake", 1500, Some(2)),
            Link { is_up: false, ..link(4, "ifb0", "ifb", "noop", 1500, None) },
            link(5, "wg0", "wireguard", "noqueue", 1420, None),
            Link { master: Some(9), ..link(6, "lan1", "", "fq_codel", 1500, None) },
            link(7, "ppp0", "ppp", "fq_codel", 1492, None),
            link(8, "v1", "veth", "noqueue", 576, Some(6)),
            link(9, "br-lan", "bridge", "noqueue", 1500, None),
        ]
    }

    /// Returns the rank and sentence of each finding about a sample device.
    fn list_sentences(name: &str) -> Vec<(Rank, String)> {
        inspect(name, &build_links()).into_iter().map(|one| (one.rank, one.sentence)).collect()
    }

    /// Asserts that a sample device has a finding of this rank that contains `part`.
    fn assert_finding(name: &str, rank: Rank, part: &str) {
        let all = list_sentences(name);
        assert!(
            all.iter().any(|(one, text)| *one == rank && text.contains(part)),
            "{name}: {part} in {all:?}"
        );
    }

    #[test]
    fn layers__a_marker_belongs_to_the_shaper() {
        assert_finding("eth0", Rank::WorthKnowing, "the shaper (cake) is at eth0.7");
        assert_finding("eth0", Rank::Harmless, "4 hardware queues");
        assert_finding("eth0.7", Rank::Harmless, "eth0.7 is vlan on eth0");
        assert!(is_layered("eth0.7", &build_links()) && !is_layered("eth0", &build_links()));
        assert!(!is_layered("v1", &build_links()), "a veth's other end is not below it");
    }

    #[test]
    fn state__down_ifb_tunnel_port_and_small_mtu() {
        assert_finding("ifb0", Rank::InTheWay, "ifb0 is down");
        assert_finding("ifb0", Rank::Harmless, "downloads are marked here");
        assert_finding("wg0", Rank::Harmless, "flows inside are seen here");
        assert_finding("lan1", Rank::Harmless, "part of br-lan");
        assert_finding("v1", Rank::WorthKnowing, "576 bytes");
        assert!(list_sentences("gone").is_empty());
    }

    #[test]
    fn pppoe__the_device_below_is_named_by_proc() {
        let mut all = build_links();
        add_pppoe(&mut all, "Id       Address              Device\n000012   00:11:22:33:44:55    eth0.7\n");
        assert!(is_layered("ppp0", &all));
        let found = inspect("ppp0", &all);
        assert!(found.iter().any(|one| one.sentence.contains("the shaper (cake) is at eth0.7")), "{found:?}");
        let mut two = build_links();
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
