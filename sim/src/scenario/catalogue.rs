//! Every scheme by name, with its parameters, units, defaults and sources.
//!
//! This table is what `--schemes` accepts, what errors suggest and what documentation prints.

/// What a parameter's text may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number of packets, not necessarily whole.
    Packets,
    /// A threshold: bytes (15kB) or packets (15p).
    Threshold,
    /// A size in bytes.
    Size,
    /// A buffer: packets or bytes.
    Buffer,
    /// A probability or weight, 0 to 1.
    Fraction,
    /// A span of time.
    Time,
    /// A whole number of at least 1.
    Count,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// One parameter of a scheme.
#[derive(Debug, Clone, Copy)]
pub struct ParameterDoc {
    /// Name as written in `scheme(name=value)`.
    pub name: &'static str,
    /// What its text may be.
    pub kind: Kind,
    /// Default, as text.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

/// One scheme: marker, queue and host settings under a name.
#[derive(Debug, Clone, Copy)]
pub struct SchemeDoc {
    /// Name, lower case.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [&'static [ParameterDoc]],
}

const fn parameter(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> ParameterDoc {
    ParameterDoc { name, kind, default, doc, source }
}

const SFD_TABLE_1: &str = "SFD Table 1";
const MODES: Kind = Kind::Choice(&["decoupled", "coupled", "total"]);

const DROPTAIL: &[ParameterDoc] = &[parameter(
    "ns2",
    Kind::Flag,
    "false",
    "count the packet in transmission towards a packet limit, as ns-2's drop-tail queue does",
    "oracle/semantics.md 1.1",
)];

const RED_COMMON: &[ParameterDoc] = &[
    parameter("wq", Kind::Fraction, "0.02", "weight of the newest queue length in the average", SFD_TABLE_1),
    parameter(
        "gentle",
        Kind::Flag,
        "false",
        "rise to certain drop between max and 2 max instead of at max",
        "SFD used plain RED",
    ),
    parameter(
        "wait",
        Kind::Flag,
        "false",
        "space early drops between 1/p and 2/p packets apart instead of 1 and 1/p",
        "Floyd & Jacobson 1993, section 7",
    ),
    parameter(
        "byte",
        Kind::Flag,
        "false",
        "scale the drop probability with packet size",
        "Floyd & Jacobson 1993, section 7",
    ),
    parameter(
        "unit",
        Kind::Choice(&["packets", "bytes"]),
        "packets",
        "measure the queue in packets, or in bytes over the mean packet",
        SFD_TABLE_1,
    ),
    parameter(
        "mean",
        Kind::Size,
        "1000B",
        "mean packet, for idle time and byte counts",
        "ns-2's packet in SFD",
    ),
    parameter(
        "ecn",
        Kind::Flag,
        "false",
        "mark ECN-capable packets instead of dropping them early",
        "RFC 3168 section 7",
    ),
];

const RED_OWN: &[ParameterDoc] = &[
    parameter("min", Kind::Packets, "8", "average queue where early drops begin, packets", SFD_TABLE_1),
    parameter(
        "max",
        Kind::Packets,
        "24",
        "average queue where every packet is dropped, packets",
        SFD_TABLE_1,
    ),
    parameter("maxp", Kind::Fraction, "0.1", "drop probability just below max", SFD_TABLE_1),
    parameter(
        "guard",
        Kind::Packets,
        "0",
        "an arrival that finds fewer packets waiting is not dropped early (ns-2: 2)",
        "off, as in Floyd & Jacobson 1993",
    ),
];

const SFD_QUEUE: &[ParameterDoc] = &[
    parameter(
        "mode",
        MODES,
        "decoupled",
        "a colour's average counts its own packets (decoupled), also better ones (coupled), or all (total)",
        "SFD section 3.2",
    ),
    parameter(
        "in_min",
        Kind::Packets,
        "10",
        "IN: average queue where early drops begin, packets",
        SFD_TABLE_1,
    ),
    parameter(
        "in_max",
        Kind::Packets,
        "30",
        "IN: average queue where every packet is dropped, packets",
        SFD_TABLE_1,
    ),
    parameter("in_maxp", Kind::Fraction, "0.02", "IN: drop probability just below in_max", SFD_TABLE_1),
    parameter(
        "out_min",
        Kind::Packets,
        "8",
        "OUT: average queue where early drops begin, packets",
        SFD_TABLE_1,
    ),
    parameter(
        "out_max",
        Kind::Packets,
        "24",
        "OUT: average queue where every packet is dropped, packets",
        SFD_TABLE_1,
    ),
    parameter("out_maxp", Kind::Fraction, "0.1", "OUT: drop probability just below out_max", SFD_TABLE_1),
];

const SFD_MARKER: &[ParameterDoc] = &[
    parameter(
        "th",
        Kind::Threshold,
        "15kB",
        "a flow's packets are IN up to this count, bytes of IP length or packets",
        "SFD section 4",
    ),
    parameter(
        "timeout",
        Kind::Time,
        "1s",
        "a flow silent for longer starts again at zero",
        "SFD section 3.2",
    ),
];

const SELECTIVE: &[ParameterDoc] = &[parameter(
    "k",
    Kind::Count,
    "4",
    "every k-th OUT packet of a flow is promoted to IN",
    "SFD section 4.3",
)];

const NS2_SFD: &[ParameterDoc] = &[
    parameter(
        "th",
        Kind::Size,
        "15kB",
        "a flow's packets are IN up to this count of bytes",
        "ns-2.35 SFDPolicy",
    ),
    parameter(
        "selective",
        Kind::Flag,
        "false",
        "promote one packet after every five OUT ones",
        "ns-2.35 SFDPolicy",
    ),
];

const NS2_MODE: &[ParameterDoc] =
    &[parameter("mode", MODES, "coupled", "as for sfd; ns-2's own default is coupled", "ns-2.35 dsRED")];

const FQ_CODEL: &[ParameterDoc] = &[
    parameter("flows", Kind::Count, "1024", "queues that flows are hashed into", "RFC 8290 section 5.2.4"),
    parameter("quantum", Kind::Size, "1514B", "bytes a queue may send per round", "RFC 8290 section 5.2.3"),
    parameter("target", Kind::Time, "5ms", "acceptable standing delay", "RFC 8290 section 5.2.2"),
    parameter(
        "interval",
        Kind::Time,
        "100ms",
        "time the delay must stay above the target",
        "RFC 8290 section 5.2.2",
    ),
    parameter(
        "limit",
        Kind::Buffer,
        "10240p",
        "limit over all queues; not --buffer, because people install it so",
        "RFC 8290 section 5.2.1",
    ),
    parameter(
        "ecn",
        Kind::Flag,
        "true",
        "mark ECN-capable packets instead of dropping them",
        "RFC 8290 section 5.2.5",
    ),
];

/// Every scheme, baselines first.
pub const SCHEMES: &[SchemeDoc] = &[
    SchemeDoc {
        name: "droptail",
        summary: "one FIFO that drops what does not fit",
        source: "the default of most links",
        parameters: &[DROPTAIL],
    },
    SchemeDoc {
        name: "red",
        summary: "Random Early Detection, no colours",
        source: "Floyd & Jacobson 1993; parameters of SFD Table 1, OUT",
        parameters: &[RED_OWN, RED_COMMON],
    },
    SchemeDoc {
        name: "sfd",
        summary: "short-flow differentiating: a flow's first bytes are IN, the rest OUT; two virtual REDs",
        source: "Chen & Heidemann, ISI-TR-2001-548, section 3.2",
        parameters: &[SFD_MARKER, SFD_QUEUE, RED_COMMON],
    },
    SchemeDoc {
        name: "p-sfd",
        summary: "SFD that promotes OUT packets with probability threshold / bytes sent",
        source: "Chen & Heidemann, ISI-TR-2001-548, section 3.3",
        parameters: &[SFD_MARKER, SFD_QUEUE, RED_COMMON],
    },
    SchemeDoc {
        name: "s-sfd",
        summary: "SFD that promotes every k-th OUT packet of a flow",
        source: "Chen & Heidemann, ISI-TR-2001-548, section 3.3",
        parameters: &[SFD_MARKER, SELECTIVE, SFD_QUEUE, RED_COMMON],
    },
    SchemeDoc {
        name: "ns2-sfd",
        summary: "SFD's marker as ns-2.35 ships it: 5 s lazy timeout, 5 OUT then 1 IN",
        source: "ns-2.35 SFDPolicy, oracle/semantics.md 1.2",
        parameters: &[NS2_SFD, NS2_MODE, SFD_QUEUE, RED_COMMON],
    },
    SchemeDoc {
        name: "fq-codel",
        summary: "flow queueing with CoDel, what people would install instead",
        source: "RFC 8290",
        parameters: &[FQ_CODEL],
    },
];

impl SchemeDoc {
    /// The parameters in order; where a name occurs twice the first one counts.
    pub fn all_parameters(&self) -> Vec<&'static ParameterDoc> {
        let mut all: Vec<&ParameterDoc> = Vec::new();
        for one in self.parameters.iter().copied().flatten() {
            if !all.iter().any(|known| known.name == one.name) {
                all.push(one);
            }
        }
        all
    }
}

impl Kind {
    /// Unit or form, for documentation and errors.
    pub fn describe(self) -> String {
        match self {
            Kind::Packets => "packets, 0 or more".into(),
            Kind::Threshold => "bytes (15kB) or packets (15p)".into(),
            Kind::Size => "a size, such as 1500B or 15kB".into(),
            Kind::Buffer => "packets (50p) or bytes (64kB)".into(),
            Kind::Fraction => "a number above 0, at most 1".into(),
            Kind::Time => "a time, such as 5ms or 1s".into(),
            Kind::Count => "a whole number of at least 1".into(),
            Kind::Flag => "true or false".into(),
            Kind::Choice(words) => crate::error::listing(words.iter().copied()),
        }
    }
}
