//! Adaptive RED: RED that adapts `max_p` to the average queue, and sets its thresholds from the link's rate.

use super::ns2::list_red;
use crate::error::Result;
use crate::install::line::{Install, Line, Qdisc, Written, red_lines};
use crate::link_context::LinkContext;
use crate::native_part::{NativePart, Order, Role};
use crate::units::{Dur, Rate};
use crate::values::Values;
use mousehole_policy::{Kind, Parameter, ParameterError, Params, find};

const PAPER: &str = "Floyd, Gummadi & Shenker 2001";

pub(crate) static ARED: NativePart = NativePart {
    name: "ared",
    summary: "RED whose max_p follows the average queue, with thresholds set from the link's rate",
    source: PAPER,
    detail: "Twice a second max_p grows when the average is above the middle of min and max, and shrinks when it is below: \
             the average stays in the middle at every load. No colours; the fairest RED to compare with.",
    parameters: || [OWN.to_vec(), list_red(&["wait", "byte", "unit", "mean", "ecn"])].concat(),
    role: Role::Queue,
    reads_colours: |_| false,
    check: |values, context| make_red(values, context).map(drop),
    order: Order::Fifo,
    install: Install::Qdisc(Qdisc { kind: "red", kernel: "3.3", lines: qdisc_lines }),
};

/// Returns the lines that install Linux's red with `adaptive`, whose steps are the paper's and fixed; fails for other steps.
fn qdisc_lines(values: &Values, line: &Line) -> Written {
    let steps = ["interval", "alpha", "beta", "lowest", "highest"];
    let is_changed =
        |name: &&str| OWN.iter().any(|one| one.name == *name && one.default != values.text(name));
    if steps.iter().any(is_changed) {
        return Err("takes other steps than Linux's red, whose are fixed");
    }
    let min = lower_threshold(line.rate, values.time("delay"), values.number("mean"));
    let text = |name: &'static str| match (name, values.flag("auto")) {
        ("min", true) => format!("{}", min.round()),
        ("max", true) => format!("{}", (3.0 * min).round()),
        ("gentle", true) => "true".into(),
        _ => values.text(name).to_string(),
    };
    Ok(red_lines(text, " adaptive", line))
}

const OWN: &[Parameter] = &[
    Parameter::new("auto", Kind::Flag, "true", "set min, max, wq and gentle from the link's rate", PAPER),
    Parameter::new("delay", Kind::Time, "5ms", "auto: delay at min, at least 5 packets", PAPER),
    Parameter::new("min", Kind::Length, "5", "not auto: average where early drops begin, packets", PAPER),
    Parameter::new("max", Kind::Length, "15", "not auto: average where max_p is reached, packets", PAPER),
    Parameter::new(
        "wq",
        Kind::Fraction,
        "0.002",
        "not auto: weight of the newest queue length",
        "Floyd & Jacobson 1993",
    ),
    Parameter::new("gentle", Kind::Flag, "true", "rise to certain drop between max and 2 max", PAPER),
    Parameter::new("maxp", Kind::Fraction, "0.1", "where max_p starts", "Floyd & Jacobson 1993"),
    Parameter::new("interval", Kind::Time, "500ms", "time between steps", PAPER).with_range(1e-9, 1e9),
    Parameter::new(
        "alpha",
        Kind::Fraction,
        "0.01",
        "most that a step adds; a quarter of max_p if less",
        PAPER,
    ),
    Parameter::new("beta", Kind::Fraction, "0.9", "what a step multiplies by to lower max_p", PAPER),
    Parameter::new("lowest", Kind::Fraction, "0.01", "from below this max_p falls no more", PAPER),
    Parameter::new("highest", Kind::Fraction, "0.5", "from above this max_p rises no more", PAPER),
];

/// Returns the parameters of RED with which a link begins; with `auto`, its thresholds are set from the link's rate by
/// [`set_automatically`].
///
/// # Errors
/// [`crate::error::Error::Field`] for values that do not fit each other or the link, and for a given one that `auto` or
/// its absence makes idle.
pub fn make_red(values: &Values, context: LinkContext) -> Result<Params> {
    if values.number("lowest") > values.number("highest") {
        return Err(values.refuse("lowest", &format!("at most highest, which is {}", values.text("highest"))));
    }
    let automatically = values.flag("auto");
    let idle: &[&str] = if automatically { &["min", "max", "wq", "gentle"] } else { &["delay"] };
    if let Some(name) = idle.iter().find(|name| values.is_given(name)) {
        return Err(values.refuse(name, &format!("only with auto={}", !automatically)));
    }
    let given = values.texts(|name| OF_RED.contains(&name));
    let mut params =
        values.accept(Params::from_text(find("red").expect("shipped"), &given, &context.for_policies()))?;
    if automatically {
        values.accept(set_automatically(&mut params, context.rate, values.time("delay")))?;
    }
    Ok(params)
}

/// Sets the parameters of a RED as the paper (Floyd, Gummadi & Shenker 2001) does for a link of C mean packets/s: its
/// weight by the rate, min the greater of 5 packets and half of `target_delay` at C, max three times that, gentle.
///
/// # Errors
/// [`ParameterError`] naming the parameter that gets out of range; those before it are set by then.
pub fn set_automatically(
    params: &mut Params,
    rate: Rate,
    target_delay: Dur,
) -> std::result::Result<(), ParameterError> {
    let min = lower_threshold(rate, target_delay, params.number("mean"));
    params.set_number("wq", 0.0)?; // so that RED sets it by the rate
    params.set_number("max", 1_048_576.0)?;
    params.set_number("min", min)?;
    params.set_number("max", 3.0 * min)?;
    params.set_number("gentle", 1.0)
}

/// Returns the paper's lower threshold for a link, in packets of `mean_bytes`: half of the target delay, at least 5 packets.
fn lower_threshold(rate: Rate, target_delay: Dur, mean_bytes: f64) -> f64 {
    let per_second = rate.0 as f64 / 8.0 / mean_bytes;
    (target_delay.as_secs() * per_second / 2.0).max(5.0)
}

/// The parameters that RED has too.
const OF_RED: &[&str] = &["min", "max", "maxp", "wq", "gentle", "wait", "byte", "unit", "mean", "ecn"];
