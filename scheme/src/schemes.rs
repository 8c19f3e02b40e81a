//! The table of named schemes: their markers and queue, with defaults, under the parameter names of their papers.

use crate::catalogue::{NamedScheme, Preset, Setting, default, fixed, named};

const SFD_TABLE_1: &str = "SFD Table 1";
const SFD_SHARE: &str = "SFD Table 1, as a share of its buffer of 50 packets";
const TABLE_III: &str = "RIO-PS Table III";
const FIGURE_4: &str = "ours: the paper's Figure 4 is lost; staggered as its text asks";
const LFP_3: &str = "LFP section 3";
const SOURCE_2_35: &str = "ns-2.35 Queue/RED/RIO, oracle/semantics.md 1.5";

/// Every scheme, baselines first.
pub const SCHEMES: &[NamedScheme] = &[
    named_scheme(
        "droptail",
        "one FIFO that drops what does not fit",
        "the default of most links",
        "Every packet is taken while there is room and dropped when there is none. Long flows keep the buffer full, so \
         that everybody waits behind it and short flows lose whole windows at once. The baseline of every paper here.",
        &[Preset { part: "droptail", settings: &[] }],
    ),
    named_scheme(
        "red",
        "Random Early Detection, no colours",
        "Floyd & Jacobson 1993; parameters as Floyd recommends since",
        "Drops at random as the average queue rises from min to max, so that flows back off before the buffer is full. It \
         knows nothing of short and long: a short flow's first packet is dropped as readily as any. The defaults are what \
         its author came to recommend; the papers compared with others, which papers/ has.",
        &[Preset { part: "red", settings: &[] }],
    ),
    named_scheme(
        "ns2-red",
        "RED with spacing, guard and full buffer as in ns-2.35's, to repeat its runs",
        "oracle/semantics.md 1.4",
        "What ns-2's code does where it differs from its paper; a witness, not a proposal.",
        &[Preset { part: "ns2-red", settings: &[] }],
    ),
    named_scheme(
        "ared",
        "RED whose max_p follows the average queue, with thresholds set from the link's rate",
        "Floyd, Gummadi & Shenker 2001",
        "Twice a second max_p grows when the average is above the middle of min and max, and shrinks when it is below: \
         the average stays in the middle at every load, as long as senders slow down: of short transfers that end within \
         their initial window it drops up to half. Its target is a delay, 5 ms, and no share of the buffer. No colours.",
        &[Preset { part: "ared", settings: &[] }],
    ),
    named_scheme(
        "sfd",
        "short-flow differentiating: a flow's first bytes are IN, the rest OUT; two virtual REDs",
        "Chen & Heidemann, ISI-TR-2001-548, section 3.2",
        "The edge counts each flow's bytes; up to th they are IN, beyond OUT. One FIFO holds both, with an average and \
         thresholds for each colour, so that OUT is dropped first and order is kept. Short flows gain by fewer losses \
         and a shorter queue; long flows pay. Beyond in_max every IN packet is dropped: where most packets are IN, as \
         where transfers are short and initial windows large, decoupled averages then lose IN and spare OUT. The \
         thresholds are shares of the buffer so that a larger buffer moves this cliff; gentle=true takes it away.",
        &[Preset { part: "sfd", settings: SFD_MARKER }, Preset { part: "multi-red", settings: SFD_QUEUE }],
    ),
    named_scheme(
        "p-sfd",
        "SFD that promotes OUT packets with probability threshold / bytes sent",
        "Chen & Heidemann, ISI-TR-2001-548, section 3.3",
        "As sfd, but a long flow's packets are IN with a probability that falls as the flow grows, which takes most of \
         the penalty from flows just above the threshold.",
        &[
            Preset {
                part: "sfd",
                settings: &[fixed(&["promotion"], "probabilistic"), fixed(&["k"], "4"), NO_SYN],
            },
            Preset { part: "multi-red", settings: SFD_QUEUE },
        ],
    ),
    named_scheme(
        "s-sfd",
        "SFD that promotes every k-th OUT packet of a flow",
        "Chen & Heidemann, ISI-TR-2001-548, section 3.3",
        "As sfd, but every k-th packet of a long flow is IN, however long it is. The paper's results from section 4.3 on \
         are of this variant, with k = 4.",
        &[
            Preset { part: "sfd", settings: &[fixed(&["promotion"], "one-of-k"), NO_SYN] },
            Preset { part: "multi-red", settings: SFD_QUEUE },
        ],
    ),
    named_scheme(
        "ns2-sfd",
        "SFD as ns-2.35 ships it: 5 s lazy timeout, 5 OUT then 1 IN, drops spaced its way",
        "ns-2.35 SFDPolicy and dsRED, oracle/semantics.md 1.2, 1.3",
        "What the authors' code does where it differs from their paper; a witness, not a proposal.",
        &[Preset { part: "ns2-sfd", settings: &[] }, Preset { part: "ns2-dsred", settings: &[] }],
    ),
    named_scheme(
        "ns2-rio",
        "RIO as ns-2.35 ships it (Queue/RED/RIO), with the marks of ns2-sfd",
        SOURCE_2_35,
        "IN is judged by the average of IN packets, OUT by the average of all, but OUT arrivals move neither average. In \
         ns-2 nothing can mark packets for this queue one by one; here ns2-sfd's marker does. A witness, not a proposal.",
        &[Preset { part: "ns2-sfd", settings: &[] }, Preset { part: "ns2-rio", settings: &[] }],
    ),
    named_scheme(
        "rio-ps",
        "a flow's first packets are Short, by a threshold that keeps a ratio of short to long flows",
        "Guo & Matta, BU-CS-2001-005",
        "The edge counts each flow's packets; up to a threshold they are Short. Every t_c it moves the threshold by one \
         packet so that short flows stay about slr times as many as long ones. The queue drops Short by the number of \
         Short packets alone and Long by all, gently, and marks where hosts use ECN.",
        &[
            Preset { part: "rio-ps", settings: &[NO_SYN] },
            Preset { part: "multi-red", settings: RIO_PS_QUEUE },
        ],
    ),
    named_scheme(
        "shred",
        "RED that drops a packet the less, the smaller its sender's window against the average one",
        "Hartling, Claypool & Kinicki 2002",
        "Every data packet carries its sender's window, 1 to 255 segments. The queue keeps the average window and moves \
         RED's line for each packet: a window of half the average meets a line that begins half-way to max. Short flows, \
         and long ones that have just lost, are spared. With a buffer below min it is a drop-tail queue. For senders that \
         write no window, `shred-edge|shred` has an edge write what is outstanding, and `no-hint|shred` shows what \
         remains without.",
        &[Preset { part: "shred", settings: &[] }],
    ),
    named_scheme(
        "lfp",
        "short flows first, long ones too while tokens abound, elephants last; strict priority",
        "Alcaraz, Gilly, Juiz & Puigjaner, EPEW 2011",
        "A flow's first tau packets are green. Green packets spend tokens; while the bucket is fuller than a set point, \
         packets of longer flows are green as well, else yellow. A flow longer than the u-quantile of the last h flows is \
         an elephant: red from then on. The colours are physical queues under strict priority, so a flow that changes \
         colour is reordered and red may starve. The paper's queues have 50 packets each (`shared=false`); here they share \
         the link's buffer, and when it is full the worst colour in it gives way.",
        &[Preset { part: "lfp", settings: &[NO_SYN] }, Preset { part: "priority-red", settings: LFP_QUEUE }],
    ),
    named_scheme(
        "appl",
        "a colour by application: interactive first, web next, file transfer last; three coupled REDs",
        "Noureddine & Tobagi, section V",
        "Telnet and its like are green, the web yellow, file transfer red, by what each connection is for. Each user's \
         green and yellow are held to a traffic profile of two token buckets by a policer at the edge; beyond it they \
         become red, or are dropped. Interactive traffic loses nothing while it fits its profile; file transfer pays when \
         the link is narrow. In traffic files the server's port gives the application. With a host_stage in the scenario \
         each user's host shapes what it sends: packets beyond the profile wait there.",
        &[
            Preset { part: "application", settings: &[fixed(&["unknown"], "yellow")] },
            Preset {
                part: "policer",
                settings: &[
                    default(&["high_rate"], "250kbit", "Noureddine & Tobagi, section V"),
                    default(&["med_rate"], "250kbit", "Noureddine & Tobagi, section V"),
                ],
            },
            Preset { part: "multi-red", settings: TCP_DS_QUEUE },
        ],
    ),
    named_scheme(
        "tcp-ds",
        "a colour by the state of TCP: small windows, SYNs and recovery first; three coupled REDs",
        "Noureddine & Tobagi, section VI",
        "The sending host colours every segment: green while its window is at most high, or while it recovers from a \
         loss; yellow up to med; red beyond. Short transfers never get past green and yellow, and a long one gets help \
         exactly when a loss would cost a timeout. Initial windows of 10 begin beyond both thresholds. The edge polices \
         each user's green and yellow by the traffic profile; with a host_stage in the scenario, each user's host \
         schedules and shapes what it sends to the same profile, which leaves the policer little or nothing to do.",
        &[
            Preset { part: "window-marker", settings: &[fixed(&["randomised"], "false")] },
            Preset { part: "policer", settings: &[] },
            Preset { part: "multi-red", settings: TCP_DS_QUEUE },
        ],
    ),
    named_scheme(
        "tcp-ds-r",
        "TCP-DS that keeps about the first threshold's packets green in larger windows, by chance",
        "Noureddine & Tobagi, section VI.A",
        "As tcp-ds, but a packet of a larger window is green with probability high / window, and else yellow with \
         probability med / window, so that about so many packets of every connection are always protected.",
        &[
            Preset { part: "window-marker", settings: &[fixed(&["randomised"], "true")] },
            Preset { part: "policer", settings: &[] },
            Preset { part: "multi-red", settings: TCP_DS_QUEUE },
        ],
    ),
    named_scheme(
        "er-tbm",
        "an edge router colours each user's aggregate by two token buckets; three coupled REDs",
        "Noureddine & Tobagi, section VI.C",
        "What common DiffServ edges do: a user's packets are green while one bucket has tokens, yellow while the second \
         has, red beyond, whatever they carry. The paper's baseline: a user's own bulk transfer spends the tokens that \
         its web page needs.",
        &[
            Preset { part: "aggregate-marker", settings: &[] },
            Preset { part: "multi-red", settings: TCP_DS_QUEUE },
        ],
    ),
    named_scheme(
        "pq-sfd",
        "SFD's marker before two physical REDs under strict priority to IN",
        "Chen & Heidemann, ISI-TR-2001-548, Figure 4 (b), PQ",
        "The paper's other architecture, without results there: IN never waits for OUT, so that short flows gain more \
         than with virtual queues, OUT may starve, and a flow that comes back after its timeout may overtake itself.",
        &[
            Preset { part: "sfd", settings: SFD_MARKER },
            Preset { part: "priority-red", settings: PQ_SFD_QUEUE },
        ],
    ),
    named_scheme(
        "wrr",
        "interactive traffic in a queue of its own with a share of the link, all else in another",
        "Noureddine & Tobagi, section V",
        "The multi-queue baseline: two drop-tail FIFOs share the link's bytes by weight, each with the link's buffer; \
         what one does not use the other has. It serves what it knows by application, and no short web transfer.",
        &[Preset { part: "wrr", settings: &[] }],
    ),
    named_scheme(
        "dualpi2",
        "a queue for L4S senders before one for all others, coupled so that flows of both get equal rates",
        "RFC 9332",
        "Packets of L4S senders (`--tcp prague`, or shares of them) wait for about a millisecond, all others for some 15, \
         and flows of both kinds get about the same rate. Without L4S senders it is a single queue under PI2. Calls, games \
         and video calls that mark their packets (`--nqb`) wait with the L4S senders.",
        &[Preset { part: "dualpi2", settings: &[] }],
    ),
    named_scheme(
        "codel",
        "one FIFO that drops from its head when the delay stays above a target",
        "RFC 8289",
        "Every packet is stamped; when the delay has stayed above target for an interval, the head is dropped, and then \
         ever more often until the delay falls. All flows wait in one queue, so that short ones gain by the queue's being \
         short, and by nothing else.",
        &[Preset { part: "codel", settings: &[] }],
    ),
    named_scheme(
        "pie",
        "one FIFO that drops arrivals with a probability steered by the delay",
        "RFC 8033",
        "Every 15 ms a controller raises or lowers the probability by the delay's distance from the target and by its \
         change; bursts pass unpunished. Like CoDel it keeps one queue short for all and knows nothing of flows.",
        &[Preset { part: "pie", settings: &[] }],
    ),
    named_scheme(
        "fq-codel",
        "flow queueing with CoDel, what people would install instead",
        "RFC 8290",
        "Every flow has a queue of its own, served in turn, and a flow that sends little goes first. Short flows need no \
         marks and no thresholds: the bar that the papers' schemes have to clear.",
        &[Preset { part: "fq-codel", settings: &[] }],
    ),
    named_scheme(
        "cake",
        "fair between hosts, then between flows, each flow under CoDel and BLUE; a shaper if asked for",
        "Høiland-Jørgensen et al. 2018; tc-cake(8)",
        "Like fq-codel every flow has a queue and flows that send little go first; in addition hosts share before flows \
         do, so that nobody gains by many connections. Hosts are known by the connections' ends. Of overheads only \
         link layers by name count. split-gso has nothing to divide, as every packet is a segment.",
        &[Preset { part: "cake", settings: &[] }],
    ),
    named_scheme(
        "pias",
        "a flow falls by two steps with the bytes it has sent; three drop-tail queues, strict priority",
        "Bai et al., NSDI 2015",
        "The data centre's descendant of these schemes: no size is known in advance, a flow begins at the top and is \
         demoted at thresholds of bytes. No idle timeout: a connection that is used again stays where it was. Its \
         thresholds were meant for 10 Gb/s.",
        &[
            Preset { part: "demotion", settings: &[NO_SYN] },
            Preset { part: "priority", settings: &[fixed(&["colours"], "3"), fixed(&["shared"], "true")] },
        ],
    ),
    named_scheme(
        "ct-bytes",
        "a firewall's rule: connections beyond so many bytes go into the slow class; two drop-tail queues",
        "nftables `ct original bytes`, iptables `connbytes`",
        "What administrators write today: once a connection has carried more than the threshold it is bulk for as long as \
         it lives, however long it idles between. An SSH session or a reused HTTP/2 connection ends up there.",
        &[
            Preset {
                part: "demotion",
                settings: &[
                    firewall_threshold("1MB", "a common choice in such rules; ours"),
                    NEVER_RED,
                    NEVER_FORGOTTEN,
                    NO_SYN,
                ],
            },
            Preset { part: "priority", settings: &[fixed(&["colours"], "2"), fixed(&["shared"], "true")] },
        ],
    ),
    named_scheme(
        "ct-cake",
        "CAKE with a firewall's rule before it: connections beyond so many bytes go into the Bulk tin",
        "tc-cake(8), diffserv3; nftables `ct reply bytes`; RFC 8622",
        "What Linux has today for this purpose, without any program of ours: the firewall counts the bytes of every \
         connection and marks its packets for lower effort (LE) once it is long, and CAKE keeps a sixteenth of the link \
         for its Bulk tin and lets it have what the others leave. Short transfers then meet other short ones only. A \
         connection that was long stays so, however long it idles. Its price: a call is long after three seconds of talk, \
         a game after five, and from then on they wait beside the downloads. In every case of docs/nobody-pays.md a call, \
         a game, a video call or a tunnel pays more than its limits allow; excess-cake spares them.",
        &[
            Preset {
                part: "demotion",
                settings: &[
                    firewall_threshold("30kB", "ours; compare others on your own traffic"),
                    NEVER_RED,
                    NEVER_FORGOTTEN,
                    NO_SYN,
                ],
            },
            Preset { part: "cake", settings: &[fixed(&["tins"], "bulk")] },
        ],
    ),
    named_scheme(
        "excess-cake",
        "CAKE with excess before it: what exceeds a steady rate goes into the Bulk tin",
        "ours, after RFC 2697 section 3; tc-cake(8), diffserv3; RFC 8622",
        "As ct-cake, but a flow is long by what it sends beyond a steady rate, not by its life, and then until it \
         pauses: calls, games, video calls and tunnels stay beside the short transfers, downloads do not. The marker is \
         the default of mousehole-live mark. Short transfers gain a little less than under ct-cake; where a line is \
         overloaded, long transfers pay for datagrams that CAKE alone cuts to their fair share.",
        &[
            Preset { part: "excess", settings: &[fixed(&["levels"], "two")] },
            Preset { part: "cake", settings: &[fixed(&["tins"], "bulk")] },
        ],
    ),
    named_scheme(
        "excess-tins-cake",
        "CAKE with excess in three levels before it, and CAKE's ACK filter: a tin for each level",
        "ours, after RFC 2697 section 3; tc-cake(8), diffserv3",
        "As excess-cake, but what is not long has two of CAKE's tins: short transfers the Voice tin, datagrams best \
         effort, so that no short transfer competes with a video call. The ACK filter drops acknowledgements that a newer \
         one makes superfluous: where the upload is narrow, those of downloads fill it. Where one video call exceeds the \
         upload, short transfers pay.",
        &[
            Preset { part: "excess", settings: &[fixed(&["levels"], "three")] },
            Preset {
                part: "cake",
                settings: &[
                    fixed(&["tins"], "colour"),
                    default(&["ack_filter"], "ack-filter", "ours: docs/nobody-pays.md"),
                ],
            },
        ],
    ),
    named_scheme(
        "excess-budget-cake",
        "CAKE with excess in three levels before it, and one budget for all datagrams of a host",
        "ours, after RFC 2697 section 3 and Noureddine & Tobagi, section IV.B",
        "As excess-tins-cake without its ACK filter, and a host's datagrams in best effort have one budget: many slow \
         flows of one host, such as those of file sharing, do not stay there without bound. What exceeds it goes into the \
         Bulk tin, whichever flow it belongs to. Where translation of addresses makes a household one host, the budget is \
         that of the household.",
        &[
            Preset {
                part: "excess",
                settings: &[
                    default(&["th"], "15kB", "ours: docs/nobody-pays.md"),
                    fixed(&["levels"], "three"),
                ],
            },
            Preset {
                part: "policer",
                settings: &[
                    named(
                        "budget",
                        &["med_rate"],
                        "40%",
                        "rate of all datagrams of a host in best effort",
                        "ours: docs/nobody-pays.md",
                    ),
                    default(&["burst"], "250kB", "ours: docs/nobody-pays.md"),
                    fixed(&["high_rate"], "100%"),
                    fixed(&["packets"], "datagrams"),
                    fixed(&["police"], "remark"),
                    fixed(&["hold_acks"], "false"),
                ],
            },
            Preset { part: "cake", settings: &[fixed(&["tins"], "colour")] },
        ],
    ),
    named_scheme(
        "srpt",
        "ideal: the transfer with the fewest segments left goes first; sizes must be known",
        "Schrage 1968",
        "Every packet carries how much of its transfer is left. No queue can be faster on average for transfers of known \
         size; it bounds what any marker could gain. Its buffer is large, so that what long transfers pay is the order of \
         service and not lost packets; limit=50p shows the difference. When it is full the largest transfer loses.",
        &[Preset { part: "srpt", settings: &[] }],
    ),
    named_scheme(
        "las",
        "the connection that has been served least goes first; no sizes needed",
        "Kleinrock 1976, foreground-background",
        "Counts the packets served of every connection; the one with fewest goes first. Near srpt where most transfers \
         are short and few are long. A long connection of many short requests looks long: it has no idle timeout. Its \
         buffer is large, as srpt's.",
        &[Preset { part: "las", settings: &[] }],
    ),
    named_scheme(
        "empty",
        "ideal: the empty link; every connection has its whole rate to itself",
        "SHRED section 5.1, \"uncongested\"",
        "Nobody waits for anybody and nothing is dropped: what remains is the path and TCP. It bounds what any scheme \
         could do for anyone. Its use is the share of time in which anybody sends.",
        &[Preset { part: "empty", settings: &[] }],
    ),
];

/// Returns an entry of [`SCHEMES`].
const fn named_scheme(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    detail: &'static str,
    stages: &'static [Preset],
) -> NamedScheme {
    NamedScheme { name, summary, source, detail, stages }
}

/// Hides `syn`: in the simulator a new connection is a new flow in any case.
const NO_SYN: Setting = fixed(&["syn"], "true");
const NEVER_RED: Setting = fixed(&["second"], "4294967295B");
const NEVER_FORGOTTEN: Setting = fixed(&["timeout"], "never");

/// Returns the setting `th` of schemes that a firewall's rule can do: the threshold in bytes, with this default.
const fn firewall_threshold(value: &'static str, source: &'static str) -> Setting {
    named(
        "th",
        &["first"],
        value,
        "connections are bulk beyond this many bytes in the data direction",
        source,
    )
}

const SFD_MARKER: &[Setting] = &[fixed(&["promotion"], "none"), fixed(&["k"], "4"), NO_SYN];

const IN_MIN: Setting =
    named("in_min", &["green_min"], "20%", "IN: average queue where early drops begin", SFD_SHARE);
const IN_MAX: Setting =
    named("in_max", &["green_max"], "60%", "IN: average queue where every packet is dropped", SFD_SHARE);
const IN_MAXP: Setting =
    named("in_maxp", &["green_maxp"], "0.02", "IN: drop probability just below in_max", SFD_TABLE_1);
const OUT_MIN: Setting =
    named("out_min", &["yellow_min"], "16%", "OUT: average queue where early drops begin", SFD_SHARE);
const OUT_MAX: Setting =
    named("out_max", &["yellow_max"], "48%", "OUT: average queue where every packet is dropped", SFD_SHARE);
const OUT_MAXP: Setting =
    named("out_maxp", &["yellow_maxp"], "0.1", "OUT: drop probability just below out_max", SFD_TABLE_1);
const SFD_WQ: Setting = default(&["wq"], "0.02", SFD_TABLE_1);
const NO_RED_LINE: Setting = fixed(&["red_min", "red_max"], "1000p");

const SFD_QUEUE: &[Setting] = &[
    default(&["mode"], "decoupled", "SFD section 3.2"),
    IN_MIN,
    IN_MAX,
    IN_MAXP,
    OUT_MIN,
    OUT_MAX,
    OUT_MAXP,
    SFD_WQ,
    default(
        &["unit"],
        "bytes",
        "ours: a flood of SYNs would count as one of full packets; the paper's is packets",
    ),
    default(&["mean"], "1500B", "ours: a full packet"),
    fixed(&["colours"], "2"),
    NO_RED_LINE,
    fixed(&["red_maxp"], "0.1"),
];

/// [`SFD_QUEUE`] without `mode`, its first entry, which priority-red does not have.
const PQ_SFD_QUEUE: &[Setting] = SFD_QUEUE.split_at(1).1;

const RIO_PS_QUEUE: &[Setting] = &[
    named("short_min", &["green_min"], "15%", "Short: average queue where early drops begin", TABLE_III),
    named("short_max", &["green_max"], "35%", "Short: average queue where the gentle part begins", TABLE_III),
    named("short_maxp", &["green_maxp"], "0.05", "Short: drop probability at short_max", TABLE_III),
    named("long_min", &["yellow_min"], "15%", "Long: average queue where early drops begin", TABLE_III),
    named("long_max", &["yellow_max"], "50%", "Long: average queue where the gentle part begins", TABLE_III),
    named("long_maxp", &["yellow_maxp"], "0.1", "Long: drop probability at long_max", TABLE_III),
    default(&["mode"], "coupled", "RIO-PS section III.C"),
    default(&["wq"], "0.001953125", TABLE_III),
    default(&["gentle"], "true", "RIO-PS section III.C"),
    default(&["wait"], "true", TABLE_III),
    default(&["mean"], "500B", TABLE_III),
    default(&["ecn"], "true", TABLE_III),
    fixed(&["colours"], "2"),
    NO_RED_LINE,
    fixed(&["red_maxp"], "0.1"),
];

const TCP_DS_QUEUE: &[Setting] = &[
    named("high_min", &["green_min"], "70%", "green: average queue where early drops begin", FIGURE_4),
    named("high_max", &["green_max"], "100%", "green: average queue where every packet is dropped", FIGURE_4),
    named("med_min", &["yellow_min"], "40%", "yellow: average queue where early drops begin", FIGURE_4),
    named("med_max", &["yellow_max"], "70%", "yellow: average queue where every packet is dropped", FIGURE_4),
    named("low_min", &["red_min"], "20%", "red: average queue where early drops begin", FIGURE_4),
    named("low_max", &["red_max"], "40%", "red: average queue where every packet is dropped", FIGURE_4),
    named(
        "maxp",
        &["green_maxp", "yellow_maxp", "red_maxp"],
        "0.1",
        "drop probability just below each max",
        "Noureddine & Tobagi, section IV.A",
    ),
    default(&["wq"], "0.5", "Noureddine & Tobagi, section IV.A"),
    fixed(&["colours"], "3"),
];

const LFP_QUEUE: &[Setting] = &[
    named(
        "min",
        &["green_min", "yellow_min", "red_min"],
        "10",
        "average queue where early drops begin, each queue",
        LFP_3,
    ),
    named(
        "max",
        &["green_max", "yellow_max", "red_max"],
        "40",
        "average queue where every packet is dropped, each queue",
        LFP_3,
    ),
    named(
        "maxp",
        &["green_maxp", "yellow_maxp", "red_maxp"],
        "0.02",
        "drop probability just below max",
        LFP_3,
    ),
    default(&["wq"], "0.001", LFP_3),
    fixed(&["colours"], "3"),
];
