//! The commands of `mousehole-live` that run the parts of a scheme, or the reason why none does.

use super::line::{Install, Line, format_tc_rate};
use crate::catalogue::Part;
use crate::error::Result;
use crate::link_context::LinkContext;
use crate::link_layer::Framing;
use crate::native_part::NativePart;
use crate::scheme::Scheme;
use crate::units::Rate;
use crate::values::Values;
use mousehole_policy::{Key, Kind, Policy, Value};
use std::collections::BTreeMap;

/// The least that `mousehole-live up --overhead` takes on Ethernet, which is also its default there.
const LINK_HEADER: u32 = 14;

/// Why a queue policy without classes as counterpart is not installed; completes "it …".
pub const NOTHING_SCHEDULES: &str = "chooses what leaves next, for which nothing here makes classes";

/// The command that runs a queue as a queue discipline of its own. Few kernels accept one, so that it counts as no
/// installation.
pub const NATIVE: &str = "`mousehole-live up --native`";

/// The positions of a scheme's markers by the state that they keep; `None` for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Markers {
    /// Position of the one that keeps a state for each flow.
    pub flow: Option<usize>,
    /// Position of the one that keeps a state for each user.
    pub user: Option<usize>,
}

/// The way in which `mousehole-live` runs the queue of a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveQueue {
    /// A policy decides which packets the FIFO behind a token bucket takes.
    Dropper,
    /// The FIFO takes every packet that fits.
    DropTail,
    /// Classes of HTB, one for each of so many colours.
    Classes(u32),
}

/// Returns the positions, from 0, of the markers `parts` if they can run at a device's egress: at most one for each
/// flow and one for each user behind it. `text` is the scheme's, for errors.
///
/// # Errors
/// One sentence without a full stop that says why they cannot.
pub fn place_markers(parts: &[Part], text: &str) -> std::result::Result<Markers, String> {
    let mut markers = Markers::default();
    for (position, part) in parts.iter().enumerate() {
        let policy = match part {
            Part::Policy(policy) => policy,
            Part::Native(part) => {
                return Err(format!("the marker {} exists in the simulator only", part.name));
            }
        };
        let refuse = |why: &str| Err(format!("the marker {} {why}", policy.name()));
        match policy.key() {
            _ if policy.returns_hint() => {
                return refuse(
                    "writes window hints, for which packets have no field here; `host` takes them from the socket",
                );
            }
            Key::Connection => {
                return refuse("must see both directions of a connection; a device's egress has one");
            }
            Key::Flow if markers == Markers::default() => markers.flow = Some(position),
            Key::User if markers.user.is_none() => markers.user = Some(position),
            _ => {
                return Err(format!(
                    "the scheme \"{text}\" has too many markers; one that keeps a state for each flow may stand before \
                     one that keeps it for each user"
                ));
            }
        }
    }
    Ok(markers)
}

/// Returns the way in which `mousehole-live` runs a queue with these values at a device's egress. `has_marker` is whether
/// the scheme has a marker.
///
/// # Errors
/// One sentence without a full stop that says why it cannot, and what installs it instead.
pub fn place_queue(
    part: Part,
    values: &BTreeMap<&'static str, String>,
    has_marker: bool,
    line: &Line,
) -> std::result::Result<LiveQueue, String> {
    let name = part.name();
    let values = Values::new(name, part.parameters(), values);
    refuse_idle_classes(part, &values, has_marker)?;
    if part.has_classes() {
        return refuse_cells(name, line).map(|()| LiveQueue::Classes(values.count("colours")));
    }
    if part.is_scheduler() {
        return Err(match (part.qdisc(), part) {
            (Some((kind, _)), _) => qdisc_sentence(name, kind),
            (None, Part::Policy(policy)) if is_native(policy) => {
                format!(
                    "the queue {name} {NOTHING_SCHEDULES}; {NATIVE} runs it where the kernel takes programs as queues"
                )
            }
            (None, _) => {
                format!("the queue {name} exists in the simulator only, since it {NOTHING_SCHEDULES}")
            }
        });
    }
    let Part::Native(NativePart { install, .. }) = part else {
        return refuse_cells(name, line).map(|()| LiveQueue::Dropper);
    };
    match install {
        Install::Fifo(_) => refuse_cells(name, line).map(|()| LiveQueue::DropTail),
        Install::Qdisc(qdisc) => Err(match (qdisc.lines)(&values, line) {
            Ok(_) => qdisc_sentence(name, qdisc.kind),
            Err(reason) => format!("the queue {name} {reason}"),
        }),
        Install::Nothing(reason) | Install::Simulated(reason) => {
            Err(format!("the queue {name} exists in the simulator only, since it {reason}"))
        }
    }
}

/// Returns whether a kernel can run a queue's header as a queue discipline. It knows no applications.
pub fn is_native(queue: &Policy) -> bool {
    !queue.reads_applications()
}

/// Returns the sentence that our programs do not run a queue discipline of Linux, with the command that installs it.
fn qdisc_sentence(queue: &str, kind: &str) -> String {
    format!(
        "the queue {queue} cannot be decided by a program before a FIFO; install it with `tc qdisc replace dev … root {kind}`, \
         and a marker before it with `mark`"
    )
}

/// Refuses a link with ATM cells, whose padding `mousehole-live up` does not count.
///
/// # Errors
/// That sentence.
fn refuse_cells(queue: &str, line: &Line) -> std::result::Result<(), String> {
    match line.wire.layer {
        Some(layer) if layer.framing == Framing::Atm => Err(format!(
            "the queue {queue} needs `mousehole-live up`, which does not count the ATM cells of {}",
            layer.name
        )),
        _ => Ok(()),
    }
}

/// Refuses a queue that has a class for each colour in a scheme without a marker.
///
/// # Errors
/// That sentence.
pub fn refuse_idle_classes(part: Part, values: &Values, has_marker: bool) -> std::result::Result<(), String> {
    let is_qdisc = matches!(part, Part::Native(NativePart { install: Install::Qdisc(_), .. }));
    match (part.has_classes() || is_qdisc) && part.reads_colours(values) && !has_marker {
        true => Err(format!(
            "the queue {name} has a class for each colour and nothing gives colours; a queue of classes needs a marker \
             before it, such as lfp or rio-ps|{name}",
            name = part.name()
        )),
        false => Ok(()),
    }
}

/// Refuses a scheme whose parameters depend on the link's rate, for a caller to which no rate is given: the inner error
/// is a sentence that names the parameter or the marker. It sets the policies up at the example link's rate and at
/// twice it.
///
/// # Errors
/// [`crate::error::Error`] if a value does not fit the example link.
pub fn refuse_shares_of_a_rate(scheme: &Scheme) -> Result<std::result::Result<(), String>> {
    for (name, parameter, text) in scheme.parameters() {
        if parameter.kind == Kind::Rate && matches!(parameter.parse(&text), Ok(Value::Share(_))) {
            return Ok(Err(format!(
                "{name} is \"{text}\" of a rate that is not given; --rate must be that of the link, such as --rate 9500kbit"
            )));
        }
    }
    // Other parameters depend on the rate too, such as lfp's omega.
    let bytes_at = |rate| -> Result<Vec<Option<Vec<u8>>>> {
        let parts = scheme.set_up(LinkContext { rate, bottleneck: rate, ..LinkContext::EXAMPLE })?;
        Ok(parts.iter().map(|params| params.as_ref().map(|params| params.bytes().to_vec())).collect())
    };
    let example = LinkContext::EXAMPLE.rate;
    Ok(match bytes_at(example)? == bytes_at(Rate(2 * example.0))? {
        true => Ok(()),
        false => Err(format!(
            "the marker {} depends on the rate of the link, which is not given; --rate must be that, such as --rate 9500kbit",
            scheme.name().trim_end_matches("|droptail")
        )),
    })
}

/// A verb of `mousehole-live` that starts something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// A marker before the queue that is there.
    Mark,
    /// Markers and a queue.
    Up,
    /// What this host sends, by the windows of its own connections.
    Host,
}

/// A command of `mousehole-live`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveCommand {
    /// Its verb.
    pub verb: Verb,
    /// The scheme, or its markers alone.
    pub scheme: String,
    /// Paths of the headers of policies that are not shipped.
    pub policies: Vec<String>,
    /// The rate of the link, where it matters.
    pub rate: Option<Rate>,
    /// The buffer in packets, where there is a queue.
    pub buffer_packets: Option<u64>,
    /// Bytes that the link layer adds to each packet, if they are not the device's own.
    pub overhead: Option<u32>,
    /// DSCPs that stand for the colours in the queue behind; chosen by `mousehole-live` if none.
    pub dscps: Vec<u8>,
}

impl LiveCommand {
    /// Returns the command for a scheme's markers alone; `None` if it has none. It has the rate only if they depend on
    /// it.
    pub fn from_markers(verb: Verb, scheme: &Scheme, line: &Line, dscps: &[u8]) -> Option<LiveCommand> {
        let text = scheme.markers_text()?;
        let alone = Scheme::parse(&format!("{text}|droptail")).ok()?;
        let needs_rate = refuse_shares_of_a_rate(&alone).is_ok_and(|found| found.is_err());
        Some(LiveCommand {
            verb,
            scheme: text,
            policies: own_header_paths(&alone),
            rate: needs_rate.then_some(line.rate),
            buffer_packets: None,
            overhead: None,
            dscps: dscps.to_vec(),
        })
    }

    /// Returns the command for a scheme with its queue. An overhead is given only to `up`, and if it is at least the 14
    /// bytes of an Ethernet header.
    pub fn from_scheme(verb: Verb, scheme: &Scheme, line: &Line) -> LiveCommand {
        let bytes = line.wire.layer.map_or(line.wire.overhead, |layer| layer.overhead);
        let overhead = (verb == Verb::Up && bytes >= LINK_HEADER).then_some(bytes);
        LiveCommand {
            verb,
            scheme: scheme.to_string(),
            policies: own_header_paths(scheme),
            rate: Some(line.frame_rate()),
            buffer_packets: Some(line.buffer_packets),
            overhead,
            dscps: Vec::new(),
        }
    }

    /// Returns the line to type; DEV stands for the device.
    pub fn line(&self) -> String {
        let (verb, option) = match self.verb {
            Verb::Mark => ("mark", "--marker"),
            Verb::Up => ("up", "--scheme"),
            Verb::Host => ("host", "--scheme"),
        };
        let mut words = vec![format!("mousehole-live {verb} DEV")];
        words.extend(self.policies.iter().map(|path| format!("--policy {}", quote_for_shell(path))));
        words.extend(self.rate.map(|rate| format!("--rate {}", format_tc_rate(rate))));
        words.extend(self.buffer_packets.map(|packets| format!("--buffer {packets}p")));
        words.extend(self.overhead.map(|bytes| format!("--overhead {bytes}")));
        words.push(format!("{option} {}", quote_for_shell(&self.scheme)));
        if !self.dscps.is_empty() {
            let via = if self.verb == Verb::Mark { "--via dscp " } else { "" };
            words.push(format!("{via}--dscp {}", self.join_dscps()));
        }
        words.join(" ")
    }

    /// Returns the text of a file for `--config`, TOML whose first line says how it is used. It writes no file.
    pub fn file(&self) -> String {
        let (verb, mode) = match self.verb {
            Verb::Mark => ("mark", Some("mark")),
            Verb::Up => ("up", Some("up")),
            // The scheme decides in which mode `host` runs.
            Verb::Host => ("host", None),
        };
        let mut entries: Vec<(&str, String)> =
            mode.map(|mode| ("mode", mode.to_string())).into_iter().collect();
        entries.push(("scheme", self.scheme.clone()));
        entries.extend(self.rate.map(|rate| ("rate", format_tc_rate(rate))));
        entries.extend(self.buffer_packets.map(|packets| ("buffer", format!("{packets}p"))));
        if !self.dscps.is_empty() {
            entries.extend((self.verb == Verb::Mark).then(|| ("via", "dscp".to_string())));
            entries.push(("dscp", self.join_dscps()));
        }
        let mut lines = vec![format!("# mousehole-live {verb} DEV --config mousehole-live.toml")];
        lines.extend(entries.iter().map(|(name, value)| format!("{name} = {}", toml_string(value))));
        lines.extend(self.overhead.map(|bytes| format!("overhead = {bytes}")));
        if !self.policies.is_empty() {
            let paths: Vec<String> = self.policies.iter().map(|path| toml_string(path)).collect();
            lines.push(format!("policy = [{}]", paths.join(", ")));
        }
        lines.join("\n") + "\n"
    }

    /// Returns the DSCPs, separated by commas.
    fn join_dscps(&self) -> String {
        self.dscps.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
    }
}

/// Returns the paths of the headers of a scheme's policies that are not shipped.
fn own_header_paths(scheme: &Scheme) -> Vec<String> {
    let path = |policy: &&'static mousehole_policy::Policy| match policy.origin() {
        mousehole_policy::Origin::Header { path, .. } => Some(path.display().to_string()),
        mousehole_policy::Origin::Shipped => None,
    };
    scheme.policies().iter().filter_map(path).collect()
}

/// Returns a word in single quotes unless a shell reads it unchanged without them.
fn quote_for_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./-_".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\"'\"'")),
    }
}

/// Returns a string of TOML: literal, or with escapes if the text has an apostrophe or a control character.
fn toml_string(text: &str) -> String {
    if !text.contains(|c: char| c == '\'' || c.is_control()) {
        return format!("'{text}'");
    }
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        _ if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        _ => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn toml_string__is_literal_where_it_can_be() {
        assert_eq!(toml_string(r"a\b"), r"'a\b'");
        assert_eq!(toml_string("it's \\ \"\n"), r#""it's \\ \"\u000a""#);
    }
}
