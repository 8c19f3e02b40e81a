//! Parses a scheme, such as `s-sfd(th=15kB,k=4)`, `sfd(th=15kB)|cake(tins=colour)` or `cake@90%`, into its parts with the
//! values of their parameters.

use crate::catalogue::{NamedScheme, Parameter, Part, Role, Visible};
use crate::error::{Error, Result, find_nearest, join_with_or, quote};
use crate::install::line::Install;
use crate::link_context::LinkContext;
use crate::schemes::SCHEMES;
use crate::shape::Shape;
use crate::values::Values;
use mousehole_policy::{Origin, Params, Policy, PolicyKind, Settings};
use std::collections::BTreeMap;
use std::fmt;

/// A scheme with every parameter set, by the user or by default.
#[derive(Debug, Clone)]
pub struct Scheme {
    /// The items between the bars of `a|b`: the markers in order, the queue last; or a named scheme alone.
    items: Vec<Item>,
    /// The rate after an `@`, of a shaper before the modem, in place of `link.shape`.
    shape: Option<Shape>,
}

/// The item between two bars: a part, a named scheme, or a named scheme's markers or queue.
#[derive(Debug, Clone)]
struct Item {
    name: &'static str,
    visible: Vec<Visible>,
    given: BTreeMap<&'static str, String>,
    stages: Vec<Stage>,
}

/// A part with the values that are not its own defaults.
#[derive(Debug, Clone)]
struct Stage {
    part: Part,
    values: BTreeMap<&'static str, String>,
}

/// A part of a scheme, with the item that it comes from, whose names errors use.
#[derive(Debug, Clone, Copy)]
pub struct SchemePart<'a> {
    item: &'a Item,
    stage: &'a Stage,
}

impl Scheme {
    /// Parses `name`, `name(parameter=value,…)`, or parts joined by `|`, markers and then a queue; `@` and the rate of a
    /// shaper before a modem may follow. Checks the values at [`LinkContext::EXAMPLE`].
    ///
    /// # Errors
    /// [`Error::Field`] naming the scheme or parameter, with a suggestion if a known name is near.
    pub fn parse(text: &str) -> Result<Scheme> {
        let (text, shape) = match text.rsplit_once('@') {
            Some((text, shape)) => (text, Some(Shape::parse("scheme", shape.trim())?)),
            None => (text, None),
        };
        let texts: Vec<&str> = text.split('|').map(str::trim).collect();
        let last = texts.len() - 1;
        let item = |(number, text): (usize, &&str)| match number {
            _ if last == 0 => Item::parse(text, Item::parse_alone),
            number if number == last => Item::parse(text, Item::parse_queue),
            _ => Item::parse(text, Item::parse_markers),
        };
        let scheme = Scheme { items: texts.iter().enumerate().map(item).collect::<Result<_>>()?, shape };
        // The queue comes last and is checked first.
        let mut parts: Vec<SchemePart> = scheme.scheme_parts().collect();
        parts.rotate_right(1);
        parts.iter().try_for_each(|one| one.check(LinkContext::EXAMPLE))?;
        Ok(scheme)
    }

    /// Returns the rate of the scheme's shaper before a modem; `None` if the scheme gives none.
    pub fn shape(&self) -> Option<Shape> {
        self.shape
    }

    /// Returns the scheme without the rate of a shaper.
    pub fn without_shape(&self) -> Scheme {
        Scheme { shape: None, ..self.clone() }
    }

    /// Returns whether it runs on the line itself even if other schemes run in a shaper before the modem: a scheme that is
    /// only simulated, and drop-tail without the rate of a shaper, which is the modem's FIFO.
    pub fn stays_on_line(&self) -> bool {
        let is_droptail = matches!(&self.parts()[..], [(part, _)] if part.name() == "droptail");
        self.only_simulated().is_some() || (is_droptail && self.shape.is_none())
    }

    /// Returns whether its queue is CAKE, which has a shaper without a token bucket.
    pub fn shapes_by_clock(&self) -> bool {
        self.parts().last().is_some_and(|(part, _)| part.qdisc().is_some_and(|(kind, _)| kind == "cake"))
    }

    /// Returns the scheme's name without parameters, such as `sfd` or `sfd|cake`.
    pub fn name(&self) -> String {
        self.items.iter().map(|item| item.name).collect::<Vec<_>>().join("|")
    }

    /// Returns every parameter that users may set: its name, its description and its value as text. In a scheme of several
    /// parts a name begins with its part's: `sfd.th`.
    pub fn parameters(&self) -> Vec<(String, Parameter, String)> {
        let is_alone = self.items.len() == 1;
        let name = |item: &Item, one: &Parameter| match is_alone {
            true => one.name.to_string(),
            false => format!("{}.{}", item.name, one.name),
        };
        let all =
            self.items.iter().flat_map(|item| item.parameters().map(move |(one, value)| (item, one, value)));
        all.map(|(item, one, value)| (name(item, &one), one, value)).collect()
    }

    /// Returns the complete parameters of its policies for a link, in the order of [`Scheme::parts`]; `None` for a native
    /// part. It changes neither the scheme nor a link.
    ///
    /// # Errors
    /// [`Error::Field`] when a value does not fit the link.
    pub fn set_up(&self, context: LinkContext) -> Result<Vec<Option<Params>>> {
        self.scheme_parts().map(|one| one.params(context)).collect()
    }

    /// Returns its parts with their items: the markers in order, the queue last.
    pub fn scheme_parts(&self) -> impl Iterator<Item = SchemePart<'_>> {
        self.stages().map(|(item, stage)| SchemePart { item, stage })
    }

    /// Returns its parts with the value of every parameter as text: the markers in order, the queue last.
    pub fn parts(&self) -> Vec<(Part, BTreeMap<&'static str, String>)> {
        self.stages().map(|(_, stage)| (stage.part, stage.all_values())).collect()
    }

    /// Returns its markers as the shortest text that means the same before any queue; `None` without a marker.
    pub fn markers_text(&self) -> Option<String> {
        let texts = |is_named: bool| {
            let of_items = self.items.iter().filter_map(|item| item.markers_text(is_named));
            of_items.collect::<Vec<_>>().join("|")
        };
        let markers = |scheme: &Scheme| {
            let parts = scheme.parts().into_iter().filter(|(part, _)| part.role() == Role::Marker);
            parts.map(|(part, values)| (part.name(), values)).collect::<Vec<_>>()
        };
        let ours = markers(self);
        let means_the_same = |text: &str| {
            Scheme::parse(&format!("{text}|droptail")).is_ok_and(|other| markers(&other) == ours)
        };
        match ours.is_empty() {
            true => None,
            // A marker may bear the name of a scheme that sets it up otherwise.
            false => [false, true].map(texts).into_iter().find(|text| means_the_same(text)).or_else(|| {
                let text = |(name, values): &(&str, BTreeMap<_, _>)| format_call(name, values.iter());
                Some(ours.iter().map(text).collect::<Vec<_>>().join("|"))
            }),
        }
    }

    /// Returns the policies in it, in order.
    pub fn policies(&self) -> Vec<&'static Policy> {
        let policy = |stage: &Stage| match stage.part {
            Part::Policy(policy) => Some(policy),
            Part::Native(_) => None,
        };
        self.stages().filter_map(|(_, stage)| policy(stage)).collect()
    }

    /// Returns the SHA-256 of the header of each of its policies that is not shipped, by the policy's name.
    pub fn own_headers(&self) -> BTreeMap<String, String> {
        let digest = |policy: &Policy| match policy.origin() {
            Origin::Header { sha256, .. } => Some((policy.name().to_owned(), sha256.clone())),
            Origin::Shipped => None,
        };
        self.policies().into_iter().filter_map(digest).collect()
    }

    /// Returns whether a marker in it gives packets colours.
    pub fn gives_colours(&self) -> bool {
        self.stages().any(|(_, stage)| match stage.part {
            Part::Policy(policy) => stage.part.role() == Role::Marker && !policy.returns_hint(),
            Part::Native(part) => part.name == "ns2-sfd",
        })
    }

    /// Returns a sentence for each part that has no effect in this scheme.
    pub fn remarks(&self) -> Vec<String> {
        let queue = self.scheme_parts().find(|one| one.part().role() == Role::Queue);
        let colours = self.gives_colours();
        let hints = self.policies().iter().any(|policy| policy.returns_hint());
        let Some(queue) = queue else { return Vec::new() };
        let name = queue.part().name();
        let mut remarks = Vec::new();
        if colours && !queue.part().reads_colours(&queue.values()) {
            remarks.push(format!(
                "the queue {name} ignores colours, so that the marker before it changes nothing"
            ));
        }
        if hints && !matches!(queue.part(), Part::Policy(policy) if policy.reads_hints()) {
            remarks.push(format!(
                "the queue {name} ignores window hints, so that the marker before it changes nothing"
            ));
        }
        remarks
    }

    /// Returns the first part that real packets cannot pass, and the reason, which completes "it …"; `None` if all can.
    pub fn only_simulated(&self) -> Option<(&'static str, &'static str)> {
        let mut has_hints = false;
        for (_, stage) in self.stages() {
            let reason = match stage.part {
                Part::Policy(policy) if policy.reads_hints() && !has_hints => Some(
                    "reads the sender's window, which no header carries; put the marker shred-edge before it",
                ),
                Part::Policy(policy) => {
                    has_hints |= policy.returns_hint();
                    None
                }
                Part::Native(part) => match part.install {
                    Install::Simulated(reason) => Some(reason),
                    _ => None,
                },
            };
            if let Some(reason) = reason {
                return Some((stage.part.name(), reason));
            }
        }
        None
    }

    /// Returns each stage with its item, in order.
    fn stages(&self) -> impl Iterator<Item = (&Item, &Stage)> {
        self.items.iter().flat_map(|item| item.stages.iter().map(move |stage| (item, stage)))
    }
}

impl<'a> SchemePart<'a> {
    /// Returns the part.
    pub fn part(&self) -> Part {
        self.stage.part
    }

    /// Returns the values of its parameters.
    pub fn values(&self) -> Values<'a> {
        Values::new(self.item.name, self.stage.part.parameters(), &self.stage.values)
    }

    /// Returns a policy's complete parameters for a link; `None` for a native part.
    ///
    /// # Errors
    /// [`Error::Field`] when a value does not fit the link.
    pub fn params(&self, context: LinkContext) -> Result<Option<Params>> {
        match self.stage.part {
            Part::Policy(policy) => {
                if policy.kind() == PolicyKind::Queue {
                    refuse_idle_pushout(&self.values())?;
                }
                self.item.params(self.stage, policy, context).map(Some)
            }
            Part::Native(_) => Ok(None),
        }
    }

    /// Checks that the part's values fit each other and a link.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    fn check(&self, context: LinkContext) -> Result<()> {
        match self.stage.part {
            Part::Policy(_) => self.params(context).map(drop),
            Part::Native(part) => (part.check)(&self.values(), context),
        }
    }
}

impl PartialEq for Scheme {
    /// Compares the texts, in which values that the user gave stand as given, even if they are defaults.
    fn eq(&self, other: &Scheme) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Item {
    /// Parses `name` or `name(parameter=value,…)`; `find` returns the item of the name in its position.
    ///
    /// # Errors
    /// [`Error::Field`] naming the scheme or parameter.
    fn parse(text: &str, find: fn(&str) -> Result<Item>) -> Result<Item> {
        let (name, inside) = split_call(text)?;
        let mut item = find(name)?;
        for assignment in inside.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            item.assign(assignment)?;
        }
        Ok(item)
    }

    /// Returns the item of a scheme without bars: a named scheme, or a queue without a marker.
    ///
    /// # Errors
    /// [`Error::Field`] for an unknown name, and for a marker, which needs a queue behind it.
    fn parse_alone(name: &str) -> Result<Item> {
        match (find_named_scheme(name), Part::find(name)) {
            (Some(scheme), _) => Ok(Item::from_named(scheme, |_| true)),
            (None, Some(part)) if part.role() == Role::Queue => Ok(Item::from_part(part)),
            (None, Some(_)) => Err(Error::faulty(
                "scheme",
                quote(name),
                "is a marker and needs a queue behind it",
                format!("a scheme such as {name}|multi-red"),
            )),
            (None, None) => Err(unknown_name_error(name, "scheme", list_names(|_| true))),
        }
    }

    /// Returns the item of the last name: a queue, or a named scheme's queue.
    ///
    /// # Errors
    /// As [`Item::find_in_role`].
    fn parse_queue(name: &str) -> Result<Item> {
        Item::find_in_role(name, Role::Queue)
    }

    /// Returns the item of a name before the queue: a marker, or a named scheme's markers.
    ///
    /// # Errors
    /// As [`Item::find_in_role`].
    fn parse_markers(name: &str) -> Result<Item> {
        Item::find_in_role(name, Role::Marker)
    }

    /// Returns the item of the part with this name and role, or of a named scheme's parts of this role.
    ///
    /// # Errors
    /// [`Error::Field`] for an unknown name, and for a part of the other role.
    fn find_in_role(name: &str, role: Role) -> Result<Item> {
        if let Some(part) = Part::find(name).filter(|part| part.role() == role) {
            return Ok(Item::from_part(part));
        }
        let scheme =
            find_named_scheme(name).map(|scheme| Item::from_named(scheme, |part| part.role() == role));
        if let Some(item) = scheme.filter(|item| !item.stages.is_empty()) {
            return Ok(item);
        }
        let what = if role == Role::Queue { "queue" } else { "marker" };
        if Part::find(name).is_some() {
            let (kind, allowed) = match role {
                Role::Queue => {
                    ("is a marker, and a queue goes last", format!("{name}|QUEUE, such as {name}|multi-red"))
                }
                Role::Marker => {
                    ("is a queue, and a marker goes before it", format!("MARKER|{name}, such as sfd|{name}"))
                }
            };
            return Err(Error::faulty("scheme", quote(name), kind, allowed));
        }
        Err(unknown_name_error(name, what, list_names(|part| part.role() == role)))
    }

    /// Returns the item of a single part with its defaults.
    fn from_part(part: Part) -> Item {
        let visible = part.parameters().into_iter().map(|parameter| Visible {
            sets: vec![parameter.name],
            parameter,
            stage: 0,
        });
        let visible = visible.collect();
        Item {
            name: part.name(),
            visible,
            given: BTreeMap::new(),
            stages: vec![Stage { part, values: BTreeMap::new() }],
        }
    }

    /// Returns the item of the named scheme's parts for which `wanted` is true, with the scheme's settings.
    fn from_named(scheme: &'static NamedScheme, wanted: impl Fn(Part) -> bool) -> Item {
        let chosen: Vec<_> = scheme.stages.iter().filter(|preset| wanted(preset.resolve())).collect();
        let visible = chosen
            .iter()
            .enumerate()
            .flat_map(|(number, preset)| preset.visible_parameters(number))
            .collect();
        let stage = |preset: &&crate::catalogue::Preset| {
            let set = preset.settings.iter();
            let values =
                set.flat_map(|setting| setting.sets.iter().map(|name| (*name, setting.value.to_string())));
            Stage { part: preset.resolve(), values: values.collect() }
        };
        let stages = chosen.iter().map(stage).collect();
        Item { name: scheme.name, visible, given: BTreeMap::new(), stages }
    }

    /// Returns its markers with the values that the user gave them, by the name of the scheme or by that of its first
    /// marker; `None` without a marker.
    fn markers_text(&self, is_named: bool) -> Option<String> {
        let is_marker = |stage: &Stage| stage.part.role() == Role::Marker;
        let first = self.stages.iter().find(|stage| is_marker(stage))?;
        let from_markers = |name: &&str| {
            self.visible.iter().any(|one| one.parameter.name == *name && is_marker(&self.stages[one.stage]))
        };
        let name = if is_named { self.name } else { first.part.name() };
        Some(format_call(name, self.given.iter().filter(|(name, _)| from_markers(name))))
    }

    /// Returns each parameter that users may set, with its value as text.
    fn parameters(&self) -> impl Iterator<Item = (Parameter, String)> {
        self.visible.iter().map(|one| {
            let given = self.given.get(one.parameter.name);
            (one.parameter, given.cloned().unwrap_or_else(|| one.parameter.default.to_string()))
        })
    }

    /// Sets a parameter from `name=value`, in every parameter of the stage that it stands for.
    ///
    /// # Errors
    /// [`Error::Field`] for a text without `=`, an unknown name, a repeated one, or a value that is not allowed;
    /// nothing is set then.
    fn assign(&mut self, assignment: &str) -> Result<()> {
        let names = || self.visible.iter().map(|one| one.parameter.name);
        let Some((name, value)) = assignment.split_once('=') else {
            let allowed = format!("parameter=value; the parameters are {}", join_with_or(names()));
            return Err(Error::field(format!("scheme {}", self.name), quote(assignment), allowed));
        };
        let (name, value) = (name.trim(), value.trim());
        if let Some(before) = self.given.get(name) {
            let (value, with) = (quote(value), format!("\"{before}\""));
            return Err(Error::conflict(self.field(name), value, with, "give one value"));
        }
        let Some(found) = self.visible.iter().find(|one| one.parameter.name == name) else {
            return Err(Error::unknown(format!("scheme {}", self.name), "parameter", name, names()));
        };
        found.parameter.parse(value).map_err(|error| {
            let words = match found.parameter.kind {
                mousehole_policy::Kind::Choice(words) => words,
                _ => &[],
            };
            let near = find_nearest(value, words.iter().copied().filter(|word| *word != "-"));
            Error::field(self.field(name), quote(value), error.allowed).suggest(near)
        })?;
        for target in &found.sets {
            self.stages[found.stage].values.insert(target, value.to_string());
        }
        self.given.insert(found.parameter.name, value.to_string());
        Ok(())
    }

    /// Returns a policy's complete parameters for a link.
    ///
    /// # Errors
    /// [`Error::Field`] with the parameters' names in this item.
    fn params(&self, stage: &Stage, policy: &'static Policy, context: LinkContext) -> Result<Params> {
        let mut settings = Settings::new(policy);
        let result = stage.all_values().iter().try_for_each(|(name, value)| settings.set(name, value));
        result.and_then(|()| settings.for_link(&context.for_policies())).map_err(|error| {
            let shown = self.visible.iter().find(|one| one.sets.contains(&error.parameter.as_str()));
            let name = shown.map_or(error.parameter.as_str(), |one| one.parameter.name);
            let text = stage.all_values().get(error.parameter.as_str()).cloned().unwrap_or(error.value);
            Error::field(self.field(name), quote(&text), self.in_visible_names(&error.allowed))
        })
    }

    /// Returns a text with the names of the part's parameters replaced by those in this item: `in_min` for `green_min`.
    fn in_visible_names(&self, text: &str) -> String {
        let words = text.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let renamed = words.map(|word| {
            let name = word.trim_end_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let shown = self.visible.iter().find(|one| one.sets.contains(&name));
            shown.map_or(word.to_string(), |one| word.replace(name, one.parameter.name))
        });
        renamed.collect()
    }

    /// Returns the field by which errors name a parameter: `scheme sfd(th)`.
    fn field(&self, name: &str) -> String {
        format!("scheme {}({name})", self.name)
    }
}

impl Stage {
    /// Returns every parameter's value as text: what the scheme or the user set, else the part's default.
    fn all_values(&self) -> BTreeMap<&'static str, String> {
        let defaults = self.part.parameters().into_iter().map(|one| (one.name, one.default.to_string()));
        defaults.chain(self.values.clone()).collect()
    }
}

impl fmt::Display for Scheme {
    /// Writes the shortest text that parses to the same scheme.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (number, item) in self.items.iter().enumerate() {
            let bar = if number == 0 { "" } else { "|" };
            write!(f, "{bar}{}", format_call(item.name, item.given.iter()))?;
        }
        self.shape.map_or(Ok(()), |shape| write!(f, "@{shape}"))
    }
}

/// Compiles and loads a user's policy header, so that schemes may name it for the rest of the process; see
/// [`mousehole_policy::load()`] for the programs and files that it uses.
///
/// # Errors
/// [`Error::File`] when it does not compile, describes no policy, or bears the name of another scheme or part. In the
/// last case it stays loaded.
#[cfg(feature = "native")]
pub fn load_policy(path: &std::path::Path) -> Result<&'static Policy> {
    let fault = |problem: String| Error::file(path.display().to_string(), problem);
    let policy = mousehole_policy::load(path).map_err(|error| fault(error.problem))?;
    match find_name_fault(policy.name()) {
        Some(problem) => Err(fault(problem)),
        None => Ok(policy),
    }
}

/// The word in place of a list of schemes that stands for every scheme.
const EVERY: &str = "all";

/// Returns in one sentence why a user's policy cannot have this name, which other schemes or parts bear; `None` if it can.
/// Names of shipped policies are refused elsewhere.
pub fn find_name_fault(name: &str) -> Option<String> {
    let is_native = crate::parts::NATIVE_PARTS.iter().any(|part| part.name == name);
    match find_named_scheme(name).is_some() || is_native {
        true => Some(format!("a scheme named {name} exists already; give the header another name")),
        false if name == EVERY => {
            Some(format!("{name} stands for every scheme; give the header another name"))
        }
        false => None,
    }
}

/// Refuses `pushout=true` if the user gives it and the queues share no buffer. The header cannot check it,
/// as it does not see which values are given.
///
/// # Errors
/// [`Error::Field`] naming `pushout`.
fn refuse_idle_pushout(values: &Values) -> Result<()> {
    let is_idle = ["shared", "pushout"].iter().all(|name| values.has(name))
        && !values.flag("shared")
        && values.flag("pushout")
        && values.is_given("pushout");
    match is_idle {
        true => {
            Err(values.refuse("pushout", "false, as shared is false: each queue has a buffer of its own"))
        }
        false => Ok(()),
    }
}

/// Returns the named scheme of this name; `None` if there is none.
pub fn find_named_scheme(name: &str) -> Option<&'static NamedScheme> {
    SCHEMES.iter().find(|scheme| scheme.name == name)
}

/// Returns `name`, or `name(parameter=value,…)` if values are given, in their order.
fn format_call<'a>(name: &str, given: impl Iterator<Item = (&'a &'static str, &'a String)>) -> String {
    let given: Vec<String> = given.map(|(name, value)| format!("{name}={value}")).collect();
    if given.is_empty() { name.to_string() } else { format!("{name}({})", given.join(",")) }
}

/// Splits `name(inside)` into its name and the text in parentheses, which is empty without any.
///
/// # Errors
/// [`Error::Field`] for parentheses that do not match.
fn split_call(text: &str) -> Result<(&str, &str)> {
    match (text.split_once('('), text.ends_with(')')) {
        (None, false) => Ok((text, "")),
        (Some((name, rest)), true) => Ok((name.trim(), &rest[..rest.len() - 1])),
        _ => Err(Error::faulty(
            "scheme",
            quote(text),
            "has parentheses that do not match",
            "of the form name(parameter=value,…)",
        )),
    }
}

/// Returns the names of the parts for which `wanted` is true and of the schemes that have such a part, each once.
fn list_names(wanted: impl Fn(Part) -> bool) -> Vec<&'static str> {
    let has = |scheme: &NamedScheme| scheme.stages.iter().any(|preset| wanted(preset.resolve()));
    let mut names: Vec<&str> =
        SCHEMES.iter().filter(|scheme| has(scheme)).map(|scheme| scheme.name).collect();
    let parts = Part::all_parts().into_iter().filter(|part| wanted(*part)).map(|part| part.name());
    for name in parts {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the error for a name that no `what` has; `known` are the names that exist.
fn unknown_name_error(name: &str, what: &'static str, known: Vec<&'static str>) -> Error {
    Error::unknown("scheme", what, name, known)
}
