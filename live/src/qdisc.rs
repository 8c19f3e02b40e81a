//! Queue disciplines and classes as the kernel describes them (linux/pkt_sched.h).

use mousehole_netlink::{attribute, word};

/// CAKE's modes of choosing tins, as tc-cake(8) names them, in the order of their numbers.
pub(crate) const DIFFSERV: [&str; 5] = ["diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence"];
pub(crate) const TCA_CAKE_BASE_RATE64: u16 = 2;
pub(crate) const TCA_CAKE_DIFFSERV_MODE: u16 = 3;
pub(crate) const TCA_CAKE_NAT: u16 = 11;
const TCA_CAKE_WASH: u16 = 13;
pub(crate) const TCA_CAKE_ACK_FILTER: u16 = 16;
const TCA_CAKE_SPLIT_GSO: u16 = 17;
const TCA_CAKE_FWMARK: u16 = 18;
const TCA_FQ_HORIZON: u16 = 14;

/// A queue discipline at a device's root or below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Qdisc {
    /// Its kind: `cake`, `tbf`, …
    pub kind: String,
    /// Its handle, such as `8001:`; `0:` for a default one.
    pub handle: String,
    /// Its parent, such as `1:10`; `None` for the root.
    pub parent: Option<String>,
    /// The options of a CAKE; the default for other kinds.
    pub cake: Cake,
    /// The horizon of an `fq`, µs: a packet whose departure time is further ahead is dropped or
    /// sent too early.
    pub horizon_us: Option<u32>,
    /// The shared blocks of a `clsact` or `ingress` that hold its filters of incoming and of
    /// outgoing packets; 0 where the filters are its own.
    pub blocks: [u32; 2],
}

/// The options of a CAKE that matter for marks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cake {
    /// How it chooses tins: `diffserv4`, `besteffort`, …; empty if the kernel does not say.
    pub diffserv: &'static str,
    /// Its rate in bytes per second; 0 without one.
    pub rate: u64,
    /// Whether it looks up the addresses behind NAT.
    pub nat: bool,
    /// Whether it clears the DSCP of outgoing packets.
    pub wash: bool,
    /// Whether it drops superfluous acknowledgements.
    pub ack_filter: bool,
    /// Whether it splits super-packets; `None` for kernels without the option, which always do.
    pub split_gso: Option<bool>,
    /// The bits of firewall marks that select a tin; 0 for none.
    pub fwmark: u32,
}

impl Qdisc {
    /// Returns a queue discipline with default options.
    pub fn new(kind: &str, handle: &str, parent: Option<&str>) -> Qdisc {
        Qdisc {
            kind: kind.into(),
            handle: handle.into(),
            parent: parent.map(String::from),
            ..Qdisc::default()
        }
    }

    /// Returns it with the options that we read of its kind. `options` is the body of TCA_OPTIONS.
    /// Options of other kinds than CAKE and `fq` are ignored; absent ones count as 0, `None` or
    /// empty.
    pub(crate) fn with_options(self, options: &[u8]) -> Qdisc {
        let number = |kind| attribute(options, kind).map(|value| word(value, 0));
        let is_set = |kind| number(kind).is_some_and(|value| value != 0);
        match self.kind.as_str() {
            "cake" => {
                let mode = number(TCA_CAKE_DIFFSERV_MODE).and_then(|mode| DIFFSERV.get(mode as usize));
                let rate = attribute(options, TCA_CAKE_BASE_RATE64)
                    .and_then(|value| value.try_into().ok())
                    .map_or(0, u64::from_ne_bytes);
                let cake = Cake {
                    diffserv: mode.copied().unwrap_or_default(),
                    rate,
                    nat: is_set(TCA_CAKE_NAT),
                    wash: is_set(TCA_CAKE_WASH),
                    ack_filter: is_set(TCA_CAKE_ACK_FILTER),
                    split_gso: number(TCA_CAKE_SPLIT_GSO).map(|value| value != 0),
                    fwmark: number(TCA_CAKE_FWMARK).unwrap_or(0),
                };
                Qdisc { cake, ..self }
            }
            "fq" => Qdisc { horizon_us: number(TCA_FQ_HORIZON), ..self },
            _ => self,
        }
    }

    /// Returns the handle's number in the upper half of a word, as `skb->priority` holds it; 0 for
    /// a default one.
    pub fn major(&self) -> u32 {
        u32::from_str_radix(self.handle.trim_end_matches(':'), 16).unwrap_or(0) << 16
    }

    /// Returns whether it is attached below `root` or below a default queue discipline.
    pub fn is_below(&self, root: &Qdisc) -> bool {
        self.parent.as_ref().is_some_and(|at| at.starts_with(&root.handle) || at.starts_with(':'))
    }

    /// Returns whether the kernel installed it by itself.
    pub fn is_default(&self) -> bool {
        self.handle == "0:"
    }
}

/// A class of a queue discipline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// The kind of its queue discipline.
    pub kind: String,
    /// Its number, with the major part in the upper half.
    pub id: u32,
    /// The number of the class or queue discipline above it.
    pub parent: u32,
}

/// Returns a class number or handle as tc(8) writes it: `1:1a`, `1:`, `:2`.
pub fn format_id(number: u32) -> String {
    let half = |half: u32| if half == 0 { String::new() } else { format!("{half:x}") };
    format!("{}:{}", half(number >> 16), half(number & 0xffff))
}

/// Returns the clause that says that the kernel lacks a kind of queue discipline, and how to load
/// its module.
pub fn format_missing(kind: &str) -> String {
    format!("the kernel has no {kind}; where it is a module, `modprobe sch_{kind}` loads it")
}

/// Returns the shared blocks that hold the filters of a device with the queue disciplines `all`:
/// that of incoming and that of outgoing packets; 0 where the filters are its own.
pub fn shared_blocks(all: &[Qdisc]) -> [u32; 2] {
    all.iter().map(|one| one.blocks).find(|blocks| *blocks != [0, 0]).unwrap_or_default()
}

/// Returns the root among all queue disciplines of a device; the kernel's default has the handle
/// `0:`. `clsact` and `ingress` are none.
pub fn find_root(all: &[Qdisc]) -> Option<&Qdisc> {
    all.iter().find(|qdisc| qdisc.parent.is_none() && qdisc.kind != "clsact" && qdisc.kind != "ingress")
}

/// Returns the queue disciplines of a device that hold packets until their departure times: an `fq`
/// at the root, or the `fq` of each hardware queue below `mq`. Returns none if any packet could
/// leave by another kind.
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
    use mousehole_netlink::add_attribute;

    #[test]
    fn find_departure_qdiscs__are_kept_by_fq_alone() {
        let clsact = || Qdisc::new("clsact", "ffff:", Some("ffff:fff1"));
        let keeps = |all: &[Qdisc]| !find_departure_qdiscs(all).is_empty();
        let root = |kind: &str| [Qdisc::new(kind, "0:", None), clsact()];
        assert!(keeps(&root("fq")));
        for kind in ["fq_codel", "noqueue", "pfifo_fast", "cake", "mq"] {
            assert!(!keeps(&root(kind)), "{kind}");
        }
        let below = |one: &str, other: &str| {
            let leaf = |kind: &str, parent| Qdisc::new(kind, "0:", Some(parent));
            [Qdisc::new("mq", "0:", None), leaf(one, ":2"), leaf(other, ":1"), clsact()]
        };
        assert!(keeps(&below("fq", "fq")));
        assert!(!keeps(&below("fq", "fq_codel")), "a packet may leave by the other queue");
        assert!(!keeps(&[]));
    }

    #[test]
    fn options__of_cake_and_fq_and_of_what_is_cut_short() {
        let mut options = Vec::new();
        add_attribute(&mut options, TCA_CAKE_BASE_RATE64, &625_000u64.to_ne_bytes());
        for (kind, value) in [
            (TCA_CAKE_DIFFSERV_MODE, 3u32),
            (TCA_CAKE_NAT, 1),
            (TCA_CAKE_ACK_FILTER, 2),
            (TCA_CAKE_SPLIT_GSO, 0),
            (TCA_CAKE_FWMARK, 0xff),
        ] {
            add_attribute(&mut options, kind, &value.to_ne_bytes());
        }
        let read = |kind: &str, options: &[u8]| Qdisc::new(kind, "8001:", None).with_options(options);
        let wanted = Cake {
            diffserv: "besteffort",
            rate: 625_000,
            nat: true,
            wash: false,
            ack_filter: true,
            split_gso: Some(false),
            fwmark: 0xff,
        };
        assert_eq!(read("cake", &options).cake, wanted);
        for length in 0..options.len() {
            assert_ne!(read("cake", &options[..length]).cake, wanted);
        }
        let mut options = Vec::new();
        add_attribute(&mut options, TCA_FQ_HORIZON, &5_000_000u32.to_ne_bytes());
        assert_eq!(read("fq", &options).horizon_us, Some(5_000_000));
        assert_eq!(read("tbf", &options), Qdisc::new("tbf", "8001:", None));
    }

    #[test]
    fn format_id__as_tc_writes_it() {
        assert_eq!([0x1_001a, 0x6d48_0000, 2, 0].map(format_id), ["1:1a", "6d48:", ":2", ":"]);
    }
}
