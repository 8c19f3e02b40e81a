//! The parts of schemes, and the types of named schemes. A scheme is a queue and, before it, any number of markers, each set
//! up by parameters.
//!
//! Parts are policies, which describe themselves in their headers, or native: queues and markers of the simulator
//! alone. A named scheme is data: which parts, with which defaults, under the parameter names of its paper.

use crate::install::line::{self, Line, Written};
pub use crate::native_part::Role;
use crate::native_part::{NativePart, Order};
use crate::parts::NATIVE_PARTS;
use crate::values::Values;
use mousehole_policy::{CounterpartKind, Policy, PolicyKind};
pub use mousehole_policy::{Kind, Parameter};

/// A part of a scheme.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// A policy, which a header describes.
    Policy(&'static Policy),
    /// A queue or marker of the simulator alone.
    Native(&'static NativePart),
}

impl Part {
    /// Returns the part of this name, a user's own policies that are loaded included; `None` if there is none.
    pub fn find(name: &str) -> Option<Part> {
        Part::all().into_iter().find(|part| part.name() == name)
    }

    /// Returns every part: native ones, then policies, a user's own last, as far as they are loaded by now.
    pub fn all() -> Vec<Part> {
        let native = NATIVE_PARTS.iter().copied().map(Part::Native);
        native.chain(mousehole_policy::policies().into_iter().map(Part::Policy)).collect()
    }

    /// Returns its name as written in schemes.
    pub fn name(&self) -> &'static str {
        match self {
            Part::Policy(policy) => policy.name(),
            Part::Native(native) => native.name,
        }
    }

    /// Returns the role of the part in a scheme.
    pub fn role(&self) -> Role {
        match self {
            Part::Policy(policy) if policy.kind() != PolicyKind::Marker => Role::Queue,
            Part::Policy(_) => Role::Marker,
            Part::Native(native) => native.role,
        }
    }

    /// Returns the order in which packets leave it; for a marker or dropper that of arrival.
    pub fn order(&self) -> Order {
        match self {
            Part::Policy(policy) if policy.kind() == PolicyKind::Queue && policy.bands() > 1 => {
                Order::Several
            }
            Part::Policy(_) => Order::Fifo,
            Part::Native(native) => native.order,
        }
    }

    /// Returns whether a queue treats colours differently with these values.
    pub fn reads_colours(&self, values: &Values) -> bool {
        match self {
            Part::Policy(policy) => policy.reads_colours(),
            Part::Native(native) => (native.reads_colours)(values),
        }
    }

    /// Returns the queue discipline of Linux that does the same, its name and the oldest kernel that has it; `None` if there
    /// is none.
    pub fn qdisc(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Part::Policy(policy) => match policy.counterpart()?.kind {
                CounterpartKind::Qdisc(kind, kernel) => Some((kind, kernel)),
                CounterpartKind::Wred | CounterpartKind::Firewall(_) | CounterpartKind::Classes => None,
            },
            Part::Native(native) => native.install.qdisc().map(|qdisc| (qdisc.kind, qdisc.kernel)),
        }
    }

    /// Returns the lines of tc that install the queue discipline of Linux that does the same on a link; `None` if there is no
    /// such discipline. It installs nothing itself.
    ///
    /// # Errors
    /// Why it cannot be set up with these values; the reason completes "it …". For values of another part it panics.
    pub fn qdisc_lines(&self, values: &Values, line: &Line) -> Option<Written> {
        match self {
            Part::Policy(_) => match self.qdisc()?.0 {
                "red" => Some(Ok(line::red_lines(|name| values.text(name).to_string(), "", line))),
                "codel" => Some(Ok(line::codel_lines(values, line))),
                "fq_codel" => Some(Ok(line::fq_codel_lines(values, line))),
                _ => None,
            },
            Part::Native(native) => native.install.qdisc().map(|qdisc| (qdisc.lines)(values, line)),
        }
    }

    /// Returns whether Linux can approximate it by classes of HTB, one for each band.
    pub fn has_classes(&self) -> bool {
        matches!(self, Part::Policy(policy) if policy.counterpart().is_some_and(|one| one.kind == CounterpartKind::Classes))
    }

    /// Returns whether it is a policy that chooses the packet that leaves next.
    pub fn is_scheduler(&self) -> bool {
        matches!(self, Part::Policy(policy) if policy.kind() == PolicyKind::Queue)
    }

    /// Returns its summary for lists, its source, and a few sentences for its page.
    pub fn texts(&self) -> [&'static str; 3] {
        match self {
            Part::Policy(policy) => [policy.summary(), policy.source(), policy.detail()],
            Part::Native(native) => [native.summary, native.source, native.detail],
        }
    }

    /// Returns its parameters, in the order of its table.
    pub fn parameters(&self) -> Vec<Parameter> {
        match self {
            Part::Policy(policy) => policy.parameters().to_vec(),
            Part::Native(native) => (native.parameters)(),
        }
    }
}

/// A scheme with a name.
#[derive(Debug)]
pub struct NamedScheme {
    /// Name, lower case.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// How it works, who gains and who pays, what to watch: a few sentences for its page.
    pub detail: &'static str,
    /// Its markers in order, and its queue last.
    pub stages: &'static [Preset],
}

/// A part of a named scheme, and how the scheme sets it up.
#[derive(Debug)]
pub struct Preset {
    /// Name of the part.
    pub part: &'static str,
    /// The parameters that the scheme sets or renames; the others keep name and default.
    pub settings: &'static [Setting],
}

/// A value, or a name and default, that a named scheme gives parameters of a part.
#[derive(Debug)]
pub struct Setting {
    /// Parameters of the part that it sets.
    pub sets: &'static [&'static str],
    /// Its name in the scheme; `None` where users cannot change it.
    pub name: Option<&'static str>,
    /// Its value, or its default.
    pub value: &'static str,
    /// Its meaning, one sentence; empty for that of the part.
    pub meaning: &'static str,
    /// Where the default comes from; empty for the part's.
    pub source: &'static str,
}

/// Returns a setting that users cannot change.
pub const fn fixed(sets: &'static [&'static str], value: &'static str) -> Setting {
    Setting { sets, name: None, value, meaning: "", source: "" }
}

/// Returns another default for a parameter that keeps its name, the first of `sets`, of which there must be one.
pub const fn default(sets: &'static [&'static str], value: &'static str, source: &'static str) -> Setting {
    Setting { sets, name: Some(sets[0]), value, meaning: "", source }
}

/// Returns a setting that has another name in the scheme, and may set several parameters of the part.
pub const fn named(
    name: &'static str,
    sets: &'static [&'static str],
    value: &'static str,
    meaning: &'static str,
    source: &'static str,
) -> Setting {
    Setting { sets, name: Some(name), value, meaning, source }
}

/// A parameter of a scheme as users see it, and the parameters of parts that it sets.
#[derive(Debug, Clone)]
pub struct Visible {
    /// Name, kind, default and texts.
    pub parameter: Parameter,
    /// Number of the stage.
    pub stage: usize,
    /// Parameters of the stage's part.
    pub sets: Vec<&'static str>,
}

impl NamedScheme {
    /// Returns the parameters that users may set, stage by stage.
    ///
    /// # Panics
    /// When a stage names a part or parameter that does not exist; a test checks that none does.
    pub fn visible_parameters(&self) -> Vec<Visible> {
        self.stages
            .iter()
            .enumerate()
            .flat_map(|(number, preset)| preset.visible_parameters(number))
            .collect()
    }
}

impl Preset {
    /// Returns the part.
    ///
    /// # Panics
    /// When there is none of that name.
    pub fn resolve(&self) -> Part {
        Part::find(self.part).unwrap_or_else(|| panic!("there is no part {}", self.part))
    }

    /// Returns the parameters that users may set of this part, which is stage number `stage`: first those that the scheme
    /// sets or renames, then the others.
    ///
    /// # Panics
    /// When there is no such part or parameter.
    pub fn visible_parameters(&self, stage: usize) -> Vec<Visible> {
        let all = self.resolve().parameters();
        let of_part = |name: &str| {
            let found = all.iter().find(|one| one.name == name);
            *found.unwrap_or_else(|| panic!("{} has no parameter {name}", self.part))
        };
        let own = self.settings.iter().filter_map(|setting| {
            let part = of_part(setting.sets[0]);
            let or = |own: &'static str, otherwise| if own.is_empty() { otherwise } else { own };
            let (meaning, source) = (or(setting.meaning, part.meaning), or(setting.source, part.source));
            let parameter =
                Parameter { name: setting.name?, default: setting.value, meaning, source, ..part };
            Some(Visible { parameter, stage, sets: setting.sets.to_vec() })
        });
        let is_set = |name: &str| self.settings.iter().any(|setting| setting.sets.contains(&name));
        let kept = all.iter().filter(|one| !is_set(one.name));
        own.chain(kept.map(|one| Visible { parameter: *one, stage, sets: vec![one.name] })).collect()
    }
}
