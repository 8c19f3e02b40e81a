//! Several physical queues: strict priority by colour, and a weighted multi-queue by application.

use crate::error::Result;
use crate::install::line::Install;
use crate::link_context::LinkContext;
use crate::native_part::{NativePart, Order, Role, any_values};
use crate::values::Values;
use mousehole_policy::{Kind, Parameter, Params, find};

pub(crate) static PRIORITY: NativePart = NativePart {
    name: "priority",
    summary: "a drop-tail queue for each colour under strict priority",
    source: "prio of tc; PIAS",
    detail: "A worse colour is served when no better one waits, so that it may starve, and a flow that changes colour may \
             be reordered. The queues share the link's buffer, or each has as much. A full shared buffer drops the newest \
             packet of the worst colour in it: otherwise packets that nobody serves would lock out better ones.",
    parameters: || own_parameters().to_vec(),
    role: Role::Queue,
    reads_colours: |_| true,
    check: |values, _| check_push_out(values),
    order: Order::Several,
    install: Install::Classes(|values| {
        values
            .flag("shared")
            .then_some("each class has a buffer of its own, so nothing is shared or pushed out")
    }),
};

pub(crate) static PRIORITY_RED: NativePart = NativePart {
    name: "priority-red",
    summary: "a queue with RED for each colour under strict priority",
    source: "SFD Figure 4 (b); LFP section 2",
    detail: "As priority, and each queue drops early by a RED of its own. The lines are multi-red's.",
    parameters: || {
        let lines = find("multi-red").expect("multi-RED is shipped").parameters().iter().copied();
        own_parameters().into_iter().chain(lines.filter(|one| is_of_red(one.name))).collect()
    },
    role: Role::Queue,
    reads_colours: |_| true,
    check: |values, context| reds(values, context).and(check_push_out(values)),
    order: Order::Several,
    install: Install::Classes(|values| {
        Some(match values.flag("shared") {
            true => {
                "each class drops what does not fit a buffer of its own: no RED, and nothing is shared or pushed out"
            }
            false => "each class drops what does not fit its buffer: no RED",
        })
    }),
};

pub(crate) static WRR: NativePart = NativePart {
    name: "wrr",
    summary: "interactive traffic in a queue of its own with a share of the link, all else in another",
    source: "Noureddine & Tobagi, section V",
    detail: "Two drop-tail FIFOs share the link's bytes by weight, each with the link's buffer; what one does not use the \
             other has.",
    parameters: || {
        let meaning = "share of the link for interactive traffic, % (the paper: 5 to 30)";
        let weight = Parameter::new("weight", Kind::Percent, "20", meaning, "Noureddine & Tobagi, section V");
        vec![weight.with_range(0.1, 99.9)]
    },
    role: Role::Queue,
    reads_colours: |_| false,
    check: any_values,
    order: Order::Several,
    install: Install::Nothing("shares the link by application, for which nothing here makes classes"),
};

/// Returns whether a parameter is of the queues' REDs: those of multi-RED but for the coupling.
fn is_of_red(name: &str) -> bool {
    !["colours", "mode", "shared", "pushout"].contains(&name)
}

fn own_parameters() -> [Parameter; 3] {
    [
        Parameter::new("colours", Kind::Count, "3", "how many queues; worse colours share the last", "ours")
            .with_range(1.0, 3.0),
        Parameter::new(
            "shared",
            Kind::Flag,
            "true",
            "the queues share the link's buffer, or each has as much",
            "ours: the same memory as with virtual queues",
        ),
        Parameter::new(
            "pushout",
            Kind::Flag,
            "true",
            "a full shared buffer drops the newest packet of the worst colour in it, not the arrival",
            "ours: else low priority locks out high; full_buffer.h",
        ),
    ]
}

fn check_push_out(values: &Values) -> Result<()> {
    match !values.flag("shared") && values.flag("pushout") && values.is_given("pushout") {
        true => {
            Err(values.refuse("pushout", "false, as shared is false: each queue has a buffer of its own"))
        }
        false => Ok(()),
    }
}

/// Returns a RED for each colour: multi-RED's parameters begin with one line of RED per colour.
///
/// # Errors
/// [`crate::error::Error::Field`] when a value does not fit the link.
pub fn reds(values: &Values, context: LinkContext) -> Result<Vec<Params>> {
    let (multi_red, red) = (find("multi-red").expect("shipped"), find("red").expect("shipped"));
    let mut given = values.texts(is_of_red);
    given.push(("colours", values.text("colours")));
    let all = values.accept(Params::from_text(multi_red, &given, &context.for_policies()))?;
    Ok((0..values.count("colours") as usize).map(|index| all.part(red, index * red.sizes().0)).collect())
}
