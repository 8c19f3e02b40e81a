//! Markers and queues as ns-2.35 ships them, to repeat its runs; and a marker that removes hints.

use crate::error::Result;
use crate::install::line::Install;
use crate::link_context::LinkContext;
use crate::native_part::{NativePart, Order, Role, accept_any_values};
use crate::values::Values;
use mousehole_policy::{Kind, Parameter, find};

const SFD_TABLE_1: &str = "SFD Table 1";

pub(crate) static NO_HINT: NativePart = NativePart {
    name: "no-hint",
    summary: "takes the window out of every packet, as if senders wrote none",
    source: "SHRED section 6",
    detail: "Shows what remains of SHRED where neither hosts nor an edge write hints.",
    parameters: Vec::new,
    role: Role::Marker,
    reads_colours: |_| true,
    check: accept_any_values,
    order: Order::Fifo,
    install: Install::Nothing("takes away what real packets do not carry"),
};

pub(crate) static NS2_SFD: NativePart = NativePart {
    name: "ns2-sfd",
    summary: "SFD's marker as ns-2.35 ships it: 5 s lazy timeout, 5 OUT then 1 IN",
    source: "ns-2.35 SFDPolicy, oracle/semantics.md 1.2",
    detail: "What the authors' code does where it differs from their paper; a witness, not a proposal.",
    parameters: || {
        vec![
            Parameter::new(
                "th",
                Kind::Size,
                "15kB",
                "a flow's packets are IN up to this count of bytes",
                "ns-2.35 SFDPolicy",
            )
            .with_range(1.0, 4294967295.0),
            Parameter::new(
                "selective",
                Kind::Flag,
                "false",
                "promote one packet after every five OUT ones",
                "ns-2.35 SFDPolicy",
            ),
        ]
    },
    role: Role::Marker,
    reads_colours: |_| true,
    check: accept_any_values,
    order: Order::Fifo,
    install: Install::Simulated("repeats a quirk of ns-2, for the simulator alone"),
};

pub(crate) static NS2_RED: NativePart = NativePart {
    name: "ns2-red",
    summary: "RED with spacing, guard and full buffer as in ns-2.35's",
    source: "oracle/semantics.md 1.4",
    detail: "What ns-2's code does where it differs from its paper; a witness, not a proposal.",
    parameters: || {
        list_red_in_ns2(&["min", "max", "maxp", "wq", "gentle", "wait", "byte", "unit", "mean", "ecn"])
    },
    role: Role::Queue,
    reads_colours: |_| false,
    check: |values, context| red_thresholds(values, "", context).map(drop),
    order: Order::Fifo,
    install: Install::Simulated("repeats a quirk of ns-2, for the simulator alone"),
};

pub(crate) static NS2_DSRED: NativePart = NativePart {
    name: "ns2-dsred",
    summary: "multi-RED of two colours as ns-2.35's DiffServ queue has it",
    source: "ns-2.35 dsRED, oracle/semantics.md 1.3",
    detail: "What ns-2's code does where it differs from the papers; a witness, not a proposal.",
    parameters: || {
        let mode = Parameter::new(
            "mode",
            Kind::Choice(&["coupled", "decoupled", "total"]),
            "coupled",
            "as for sfd; ns-2's own default is coupled",
            "ns-2.35 dsRED",
        );
        [vec![mode], list_in_and_out(), list_red_in_ns2(&["wq", "mean", "ecn"])].concat()
    },
    role: Role::Queue,
    reads_colours: |_| true,
    check: check_in_and_out,
    order: Order::Fifo,
    install: Install::Simulated("repeats a quirk of ns-2, for the simulator alone"),
};

pub(crate) static NS2_RIO: NativePart = NativePart {
    name: "ns2-rio",
    summary: "RIO as ns-2.35 ships it (Queue/RED/RIO)",
    source: "ns-2.35 Queue/RED/RIO, oracle/semantics.md 1.5",
    detail: "IN is judged by the average of IN packets, OUT by the average of all, but OUT arrivals move neither average.",
    parameters: || {
        let wait = list_red_in_ns2(&["wait"])[0]
            .with_default("true", "ns-2.35 Queue/RED/RIO, oracle/semantics.md 1.5");
        [list_in_and_out(), vec![wait], list_red_in_ns2(&["wq", "gentle", "mean", "ecn"])].concat()
    },
    role: Role::Queue,
    reads_colours: |_| true,
    check: check_in_and_out,
    order: Order::Fifo,
    install: Install::Simulated("repeats a quirk of ns-2, for the simulator alone"),
};

/// Returns these parameters of RED with the defaults for repeated runs of ns-2.
fn list_red_in_ns2(names: &[&str]) -> Vec<Parameter> {
    let other = |parameter: Parameter| match parameter.name {
        "min" => parameter.with_default("8", SFD_TABLE_1),
        "max" => parameter.with_default("24", SFD_TABLE_1),
        "wq" => Parameter { meaning: "weight of the newest queue length in the average", ..parameter }
            .with_range(1e-6, 1.0)
            .with_default("0.02", SFD_TABLE_1),
        "unit" => parameter.with_default("packets", SFD_TABLE_1),
        "gentle" => parameter.with_default("false", SFD_TABLE_1),
        "wait" => parameter.with_default("false", "Floyd & Jacobson 1993, section 7"),
        "mean" => Parameter { meaning: "mean packet, for idle time and byte counts", ..parameter }
            .with_default("1000B", "ns-2's packet"),
        _ => parameter,
    };
    list_red(names).into_iter().map(other).collect()
}

/// Returns these parameters of RED as its header describes them, in this order; panics for a name that RED lacks.
pub(crate) fn list_red(names: &[&str]) -> Vec<Parameter> {
    let red = find("red").expect("RED is shipped");
    let all = names.iter().map(|name| red.parameters().iter().find(|one| one.name == *name));
    all.map(|one| *one.expect("a parameter of RED")).collect()
}

/// Returns the thresholds and probabilities of IN and OUT as parameters, with the values of SFD's Table 1.
fn list_in_and_out() -> Vec<Parameter> {
    let named = |name, from: &str, default, meaning| Parameter {
        name,
        default,
        meaning,
        source: SFD_TABLE_1,
        ..list_red(&[from])[0]
    };
    vec![
        named("in_min", "min", "10", "IN: average queue where early drops begin, packets"),
        named("in_max", "max", "30", "IN: average queue where every packet is dropped, packets"),
        named("in_maxp", "maxp", "0.02", "IN: drop probability just below in_max"),
        named("out_min", "min", "8", "OUT: average queue where early drops begin, packets"),
        named("out_max", "max", "24", "OUT: average queue where every packet is dropped, packets"),
        named("out_maxp", "maxp", "0.1", "OUT: drop probability just below out_max"),
    ]
}

/// Checks the thresholds of IN and of OUT on a link.
///
/// # Errors
/// As [`red_thresholds`].
fn check_in_and_out(values: &Values, context: LinkContext) -> Result<()> {
    ["in_", "out_"].iter().try_for_each(|prefix| red_thresholds(values, prefix, context).map(drop))
}

/// Returns the lower and the upper threshold, in packets, of the RED whose parameters' names begin with `prefix`. If one is
/// a share of a small buffer, the upper one is raised to one packet above the lower one, as `mh_red_setup_line` does.
///
/// # Errors
/// [`crate::error::Error::Field`] if both are shares and the upper one is not above the lower one, or both
/// are packets and the upper one is less than a packet above the lower one.
pub fn red_thresholds(values: &Values, prefix: &str, context: LinkContext) -> Result<(f64, f64)> {
    let [min, max] = ["min", "max"].map(|name| format!("{prefix}{name}"));
    let mean = values.size("mean") as f64;
    let [low, high] = [&min, &max].map(|name| values.depth(name, context, mean));
    let shares = [&min, &max].map(|name| values.text(name).ends_with('%'));
    if shares == [true, true] && high <= low && low > 0.0 {
        return Err(values.refuse(&max, &format!("more than {min}")));
    }
    let high = if shares.contains(&true) { high.max(low + 1.0) } else { high };
    match high < low + 1.0 {
        true => Err(values.refuse(&max, &format!("at least one packet more than {min}"))),
        false => Ok((low, high)),
    }
}
