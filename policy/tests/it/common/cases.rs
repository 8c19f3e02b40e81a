//! Reads `cases/*.txt`; the format is described in `cases/README.md`.

use mousehole_policy::{Application, Backlog, Colour, Counts, LinkContext, NEVER, View, units};
use std::path::PathBuf;

/// A named list of steps for one policy with some parameters.
#[derive(Clone)]
pub struct Case {
    pub title: String,
    /// Name and value of each parameter that is given; a later one counts.
    pub params: Vec<(String, String)>,
    pub context: LinkContext,
    pub steps: Vec<Step>,
}

/// One line of a case: a call of the policy, its arguments and the expected result.
#[derive(Clone)]
pub struct Step {
    /// File and line.
    pub line: String,
    pub verb: String,
    values: Vec<(String, String)>,
    pub expected: String,
}

/// Reads the cases of a file in `cases`. Parameters and a link before the first case are those of every case.
///
/// # Panics
/// At the first line that has another format.
pub fn read_cases(name: &str) -> Vec<Case> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut head =
        Case { title: String::new(), params: Vec::new(), context: LinkContext::EXAMPLE, steps: Vec::new() };
    let mut cases: Vec<Case> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let at = format!("{name}:{}", index + 1);
        let (verb, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match verb {
            "" | "#" => {}
            "case" => cases.push(Case { title: rest.to_string(), ..head.clone() }),
            "with" => cases.last_mut().unwrap_or(&mut head).params.extend(split_pairs(rest, &at)),
            "link" => set_link(&mut cases.last_mut().unwrap_or(&mut head).context, rest, &at),
            _ => cases
                .last_mut()
                .unwrap_or_else(|| panic!("{at}: no case yet"))
                .steps
                .push(parse_step(verb, rest, at)),
        }
    }
    assert!(cases.iter().all(|case| !case.steps.is_empty()), "{name}: a case without steps");
    cases
}

/// Parses `key=value … -> expected` after a verb; `line` is file and line.
fn parse_step(verb: &str, rest: &str, line: String) -> Step {
    let (values, expected) = rest.split_once("->").unwrap_or((rest, ""));
    let values = split_pairs(values, &line);
    Step { values, verb: verb.to_string(), expected: expected.trim().to_string(), line }
}

/// Splits text into its `key=value` pairs; panics, with `line`, at any other word.
pub fn split_pairs(text: &str, line: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or_else(|| panic!("{line}: {pair} is no key=value"));
        (key.to_string(), value.to_string())
    };
    text.split_whitespace().map(pair).collect()
}

/// Changes the rate, bottleneck or buffer of a link by `key=value` pairs.
fn set_link(context: &mut LinkContext, text: &str, line: &str) {
    for (key, value) in split_pairs(text, line) {
        let rate = || {
            units::parse_with_unit(&value, units::RATE)
                .unwrap_or_else(|| panic!("{line}: {value} is no rate"))
        };
        match (key.as_str(), value.strip_suffix('p')) {
            ("rate", _) => (context.rate_bps, context.bottleneck_bps) = (rate(), rate()),
            ("bottleneck", _) => context.bottleneck_bps = rate(),
            ("buffer", Some(packets)) => {
                (context.buffer_packets, context.buffer_bytes) = (packets.parse().unwrap(), 0);
            }
            ("buffer", None) => {
                let bytes = units::parse_with_unit(&value, units::SIZE).expect(line);
                (context.buffer_packets, context.buffer_bytes) = (0, bytes as u64);
            }
            _ => panic!("{line}: a link has no {key}"),
        }
    }
}

impl Case {
    /// Returns a number that `with` sets for the case, or `default` if it does not.
    pub fn number(&self, key: &str, default: f64) -> f64 {
        let given = self.params.iter().rev().find(|(name, _)| name == key);
        given.map_or(default, |(_, value)| value.parse().unwrap())
    }
}

impl Step {
    /// Returns the text of a key's value; `None` if the step does not have the key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.values.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Returns a key's value as a number; `None` if the step does not have the key.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.value(key).map(|value| value.parse().unwrap_or_else(|_| panic!("{}: {value}", self.line)))
    }

    /// Panics unless every key is one of these.
    pub fn allow(&self, keys: &[&str]) {
        for (key, _) in &self.values {
            assert!(keys.contains(&key.as_str()), "{}: `{}` takes no {key}", self.line, self.verb);
        }
    }

    /// Returns the step's time, ns; 0 by default.
    pub fn now_ns(&self) -> u64 {
        (self.number("at").unwrap_or(0.0) * 1e9).round() as u64
    }

    /// Returns the random number, 32 bits; the step gives it as a fraction, 0.5 by default.
    pub fn random(&self) -> u32 {
        (self.number("random").unwrap_or(0.5) * 4294967296.0) as u32
    }

    /// Returns the hash of a packet's flow for a queue, 32 bits; the step gives it as a fraction, 0 by default.
    pub fn hash(&self) -> u32 {
        (self.number("flow").unwrap_or(0.0) * 4294967296.0) as u32
    }

    /// Returns the colour, green by default.
    pub fn colour(&self) -> Colour {
        let word = self.value("colour").unwrap_or("green");
        let found = Colour::ALL.into_iter().find(|colour| colour.name() == word);
        found.unwrap_or_else(|| panic!("{}: unknown colour {word}", self.line))
    }

    /// Returns the application, unknown by default.
    fn application(&self) -> Application {
        match self.value("application") {
            None => Application::Unknown,
            Some("interactive") => Application::Interactive,
            Some("web") => Application::Web,
            Some("bulk") => Application::Bulk,
            Some(other) => panic!("{}: unknown application {other}", self.line),
        }
    }

    /// Returns the flags of [`View`], none by default.
    fn flags(&self) -> u8 {
        let bit = |flag| match flag {
            "ect" => View::ECT,
            "syn" => View::SYN,
            "retransmission" => View::RETRANSMISSION,
            "recovery" => View::IN_RECOVERY,
            "reverse" => View::REVERSE,
            "ack" => View::ACK,
            "datagram" => View::DATAGRAM,
            "l4s" => View::L4S,
            other => panic!("{}: unknown flag {other}", self.line),
        };
        self.value("flags").map_or(0, |flags| flags.split(',').map(bit).fold(0, |all, bit| all | bit))
    }

    /// Returns the view of the step's packet; by default one segment of 1000 bytes without flags, hint or sequence.
    pub fn view(&self) -> View {
        View::new(self.number("bytes").unwrap_or(1000.0) as u32)
            .with_segments(self.number("segments").unwrap_or(1.0) as u16)
            .with_colour(self.colour())
            .with_window(self.number("window").unwrap_or(0.0) as u16)
            .with_sequence(self.number("sequence").unwrap_or(0.0) as u32)
            .with_application(self.application())
            .with_dscp(self.number("dscp").unwrap_or(0.0) as u8)
            .with_flags(self.flags())
    }

    /// Returns a key's whole numbers, which commas separate; `None` if the step does not have the key.
    fn list(&self, key: &str) -> Option<Vec<u64>> {
        let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("{}: {word}", self.line));
        self.value(key).map(|list| list.split(',').map(number).collect())
    }

    /// Returns the backlog that the step gives by colour, with packets of 1000 bytes unless it has `queue_bytes`.
    pub fn backlog(&self) -> Backlog {
        let mut backlog = Backlog {
            idle_since_ns: self.number("idle_since").map_or(NEVER, |seconds| (seconds * 1e9).round() as u64),
            ..Backlog::default()
        };
        let packets = self.list("queue").unwrap_or_default();
        let bytes = self
            .list("queue_bytes")
            .unwrap_or_else(|| packets.iter().map(|packets| packets * 1000).collect());
        assert_eq!(packets.len(), bytes.len(), "{}: as many of queue_bytes as of queue", self.line);
        for (colour, (packets, bytes)) in packets.into_iter().zip(bytes).enumerate() {
            backlog.colour_packets[colour] = packets as u32;
            backlog.colour_bytes[colour] = bytes;
            backlog.packets += packets as u32;
            backlog.bytes += bytes;
        }
        backlog
    }

    /// Returns the flows counted by class.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        let flows = self.list("flows").unwrap_or_else(|| panic!("{}: no flows", self.line));
        counts.flows.iter_mut().zip(flows).for_each(|(count, flows)| *count = flows as u32);
        counts
    }
}
