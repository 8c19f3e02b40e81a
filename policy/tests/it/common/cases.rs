//! Reads `cases/*.txt`; the format is described in `cases/README.md`.

use mousehole_policy::{Backlog, Colour, ColourBacklog, NEVER, View};
use std::collections::HashMap;
use std::path::PathBuf;

/// A named list of steps for one policy with some parameters.
pub struct Case {
    pub title: String,
    pub params: HashMap<String, String>,
    pub steps: Vec<Step>,
}

/// One packet offered to the policy, or something else it is told of or asked.
/// One packet offered to the policy, one departure it is told of, or one step of its control.
pub struct Step {
    pub place: String,
    pub verb: String,
    values: HashMap<String, String>,
    pub expected: String,
}

/// The cases of `cases/<name>.txt`; panics at the first line it cannot read.
pub fn read(name: &str) -> Vec<Case> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut cases: Vec<Case> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", index + 1);
        let (verb, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match verb {
            "" | "#" => {}
            "case" => {
                cases.push(Case { title: rest.to_string(), params: HashMap::new(), steps: Vec::new() });
            }
            "with" => cases.last_mut().expect(&place).params.extend(pairs(rest, &place)),
            "packet" | "departed" | "control" | "ended" | "take" | "take_clipped" | "wait" | "fill" => {
                cases.last_mut().expect(&place).steps.push(step(verb, rest, place))
            }
            _ => panic!("{place}: unknown word {verb}"),
        }
    }
    cases
}

fn step(verb: &str, rest: &str, place: String) -> Step {
    let (values, expected) = rest.split_once("->").unwrap_or((rest, ""));
    let values = pairs(values, &place);
    Step { values, verb: verb.to_string(), expected: expected.trim().to_string(), place }
}

fn pairs(text: &str, place: &str) -> HashMap<String, String> {
    text.split_whitespace()
        .map(|pair| {
            let (key, value) =
                pair.split_once('=').unwrap_or_else(|| panic!("{place}: {pair} is no key=value"));
            (key.to_string(), value.to_string())
        })
        .collect()
}

impl Case {
    /// A parameter as a number, or what it is when not given.
    pub fn number(&self, key: &str, otherwise: f64) -> f64 {
        self.params.get(key).map_or(otherwise, |value| value.parse().unwrap())
    }

    /// Whether a switch is on.
    pub fn on(&self, key: &str) -> bool {
        self.params.get(key).is_some_and(|value| value == "on")
    }
}

impl Step {
    pub fn is_departure(&self) -> bool {
        self.verb == "departed"
    }

    pub fn is_control(&self) -> bool {
        self.verb == "control"
    }

    /// A count that has no default.
    pub fn count(&self, key: &str) -> u32 {
        self.number(key).unwrap_or_else(|| panic!("{}: no {key}", self.place)) as u32
    }

    /// A value as a number, if given.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.values.get(key).map(|value| value.parse().unwrap())
    }

    pub fn now_ns(&self) -> u64 {
        (self.number("at").unwrap_or_else(|| panic!("{}: no time", self.place)) * 1e9).round() as u64
    }

    pub fn random(&self) -> u32 {
        (self.number("random").unwrap_or(0.5) * 4294967296.0) as u32
    }

    /// A value as it stands, `""` if not given.
    pub fn word(&self, key: &str) -> &str {
        self.values.get(key).map_or("", String::as_str)
    }

    pub fn colour(&self) -> Colour {
        match self.values.get("colour").map_or("green", String::as_str) {
            "green" => Colour::Green,
            "yellow" => Colour::Yellow,
            "red" => Colour::Red,
            other => panic!("{}: unknown colour {other}", self.place),
        }
    }

    pub fn view(&self) -> View {
        let flags = self.values.get("flags").map_or("", String::as_str);
        let bits = flags.split(',').map(|flag| match flag {
            "ect" => View::ECT,
            "syn" => View::SYN,
            "retransmission" => View::RETRANSMISSION,
            "recovery" => View::IN_RECOVERY,
            "reverse" => View::REVERSE,
            "ack" => View::ACK,
            "" => 0,
            other => panic!("{}: unknown flag {other}", self.place),
        });
        View::new(self.number("bytes").unwrap_or(1000.0) as u32)
            .with_segments(self.number("segments").unwrap_or(1.0) as u16)
            .with_colour(self.colour())
            .with_window(self.number("window").unwrap_or(0.0) as u16)
            .with_sequence(self.number("sequence").unwrap_or(0.0) as u32)
            .with_flags(bits.fold(0, |all, bit| all | bit))
    }

    /// Packets waiting per colour, of 1000 bytes each unless `queue_bytes` says otherwise.
    pub fn colour_backlog(&self) -> ColourBacklog {
        let mut backlog = ColourBacklog::default();
        let queue = self.values.get("queue").map_or("0", String::as_str);
        for (colour, packets) in queue.split(',').enumerate() {
            backlog.packets[colour] = packets.parse().unwrap();
            backlog.bytes[colour] = u64::from(backlog.packets[colour]) * 1000;
        }
        backlog
    }

    pub fn backlog(&self) -> Backlog {
        let all = self.colour_backlog();
        let bytes = self.number("queue_bytes").map_or(all.bytes[0], |bytes| bytes as u64);
        let idle_since_ns = self.number("idle_since").map_or(NEVER, |seconds| (seconds * 1e9).round() as u64);
        Backlog::new(all.packets[0], bytes, idle_since_ns)
    }
}
