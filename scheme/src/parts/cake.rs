//! A queue like CAKE, which people with a router of their own install.

use crate::error::Result;
use crate::install::line::{FULL_PACKET, Install, Line, Qdisc, Written, format_tc_rate};
use crate::link_context::LinkContext;
use crate::native_part::{NativePart, Order, Role};
use crate::units::{Buffer, Rate};
use crate::values::Values;
use mousehole_policy::{Kind, Parameter};

pub(crate) static CAKE: NativePart = NativePart {
    name: "cake",
    summary: "fair between hosts, then between flows, each flow under CoDel and BLUE; a shaper if asked for",
    source: "Høiland-Jørgensen et al. 2018; tc-cake(8)",
    detail: "Like fq-codel every flow has a queue and flows that send little go first; in addition hosts share before \
             flows do, so that nobody gains by many connections. Hosts are known by the connections' ends. Of \
             overheads only link layers by name count. split-gso has nothing to divide, as every packet is a segment.",
    parameters: || [PARAMETERS.to_vec()].concat(),
    role: Role::Queue,
    reads_colours: |values| ["colour", "bulk"].contains(&values.text("tins")),
    check: check_values,
    order: Order::Several,
    install: Install::Qdisc(Qdisc { kind: "cake", kernel: "4.19", lines: qdisc_lines }),
};

/// Default memory limit of CAKE in tc, bytes.
const MEMORY: u64 = 4 << 20;

/// Returns the line that installs CAKE, which contains a shaper; fails for values that tc has no option for.
fn qdisc_lines(values: &Values, line: &Line) -> Written {
    if !values.flag("ecn") {
        return Err("marks whoever uses ECN, and ecn=false has no word in tc");
    }
    let tins = match values.text("tins") {
        "class" => return Err("sorts by application with tins=class, for which nothing marks packets"),
        "besteffort" => "besteffort",
        _ => "diffserv3",
    };
    let share = if values.number("shape") == 0.0 { 1.0 } else { values.number("shape") / 100.0 };
    let memory = match values.buffer("limit") {
        Buffer::Packets(packets) => u64::from(packets) * FULL_PACKET,
        Buffer::Bytes(bytes) => bytes,
    };
    let overhead = match (line.wire.layer, line.wire.overhead) {
        (Some(layer), _) => format!(" {}", layer.keyword),
        (None, 0) => String::new(),
        (None, bytes) => format!(" overhead {bytes}"),
    };
    let filter = match values.text("ack_filter") {
        NO_FILTER => String::new(),
        word => format!(" {word}"),
    };
    let limit = if memory == MEMORY { String::new() } else { format!(" memlimit {memory}") };
    Ok(vec![format!(
        "tc qdisc replace dev DEV root cake bandwidth {} rtt {} {tins} {}{filter}{overhead}{limit}",
        format_tc_rate(Rate((share * line.rate.0 as f64).round_ties_even() as u64)),
        values.text("rtt"),
        values.text("hosts")
    )])
}

/// tc's option for no ACK filter, its default.
const NO_FILTER: &str = "no-ack-filter";

const MAN: &str = "tc-cake(8)";

const PARAMETERS: &[Parameter] = &[
    Parameter::new(
        "hosts",
        Kind::Choice(&["triple-isolate", "dual-srchost", "dual-dsthost", "flows"]),
        "triple-isolate",
        "hosts that share before flows do: both ends, senders, receivers or none",
        MAN,
    ),
    Parameter::new("rtt", Kind::Time, "100ms", "CoDel's interval; its target is a twentieth", MAN)
        .with_range(1e-9, 1e9),
    Parameter::new(
        "shape",
        Kind::Percent,
        "0",
        "hold packets back to this part of the link's rate, %; 0 is no shaper",
        "tc-cake(8): unlimited",
    ),
    Parameter::new(
        "tins",
        Kind::Choice(&["besteffort", "class", "colour", "bulk"]),
        "besteffort",
        "one tin; three by application or colour, with a quarter, all and a sixteenth of the rate; or the last two \
         alone, best effort for green and bulk for other colours",
        "ours: tc-cake(8) sorts by DSCP, which traffic files lack",
    ),
    Parameter::new("limit", Kind::Buffer, "4MiB", "limit over all queues; not --buffer", "Linux' default"),
    Parameter::new("ecn", Kind::Flag, "true", "mark ECN-capable packets instead of dropping them", MAN),
    Parameter::new(
        "ack_filter",
        Kind::Choice(&[NO_FILTER, "ack-filter", "ack-filter-aggressive"]),
        NO_FILTER,
        "drop ACKs that a newer one in the same queue makes superfluous: none, all but one, or all where it is safe",
        MAN,
    ),
];

/// Refuses a `shape` above 0 and below 1 %, or above 100 %, with an error that names it.
fn check_values(values: &Values, _: LinkContext) -> Result<()> {
    let percent = values.number("shape");
    match percent == 0.0 || (1.0..=100.0).contains(&percent) {
        true => Ok(()),
        false => Err(values.refuse("shape", "0, or 1 to 100 %")),
    }
}
