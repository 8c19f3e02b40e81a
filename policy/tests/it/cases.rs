//! The tables in `cases/`, one of each policy, played by one player that knows no policy by name.

use crate::common::cases::{Case, Step, pairs, read};
use crate::common::{Dropper, Marker, reading, shipped};
use mousehole_policy::{Answer, Bands, NEVER, Params, Policy, PolicyKind, State, Verdict, View, Waits};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

#[test]
fn every_policy__passes_its_cases() {
    for policy in shipped() {
        let cases = read(&format!("{}.txt", policy.c_name()));
        assert!(cases.len() >= 4, "{}: {} cases", policy.name(), cases.len());
        for case in &cases {
            match policy.kind() {
                PolicyKind::Marker => play_marker(case, params(policy, case)),
                PolicyKind::Dropper => play_dropper(case, params(policy, case)),
                PolicyKind::Queue => play_queue(case, params(policy, case)),
            }
        }
    }
}

#[test]
fn every_file_of_cases__belongs_to_a_policy() {
    let policies: BTreeSet<String> =
        shipped().iter().map(|policy| format!("{}.txt", policy.c_name())).collect();
    let names =
        std::fs::read_dir("cases").unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = names.filter(|name| name.ends_with(".txt")).collect();
    assert_eq!(files, policies);
}

fn params(policy: &'static Policy, case: &Case) -> Params {
    let given: Vec<(&str, &str)> =
        case.params.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    Params::from_text(policy, &given, &case.context)
        .unwrap_or_else(|error| panic!("{}: {}: {error}", policy.name(), case.title))
}

fn assert_step(case: &Case, step: &Step, got: &str) {
    assert_eq!(got, step.expected, "{}: {}", step.line, case.title);
}

const VIEW: &[&str] = &[
    "at",
    "flow",
    "random",
    "bytes",
    "segments",
    "colour",
    "flags",
    "dscp",
    "window",
    "sequence",
    "application",
];

fn play_marker(case: &Case, params: Params) {
    let policy = params.policy();
    let mut marker = Marker::new(params);
    let mut flows: HashMap<String, State> = HashMap::new();
    for step in &case.steps {
        let name = step.word("flow").unwrap_or_default().to_string();
        let flow = flows.entry(name).or_insert_with(|| policy.new_flow());
        match step.verb.as_str() {
            "packet" => {
                step.allow(VIEW);
                assert_step(case, step, &mark(&mut marker, flow, step));
            }
            "shape" => {
                step.allow(VIEW);
                assert!(policy.shapes(), "{}: {} does not shape", step.line, policy.name());
                let (view, now_ns) = (step.view(), step.now_ns());
                let wait_ns = policy.shape(&marker.params, flow, &mut marker.state, &view, now_ns);
                assert_step(case, step, &seconds(wait_ns));
            }
            "expired" => {
                step.allow(&["at", "flow"]);
                assert_step(case, step, if marker.expired(flow, step.now_ns()) { "yes" } else { "no" });
            }
            "class" => {
                step.allow(&["flow"]);
                let class = marker.class(flow).map_or("none".to_string(), |class| class.to_string());
                assert_step(case, step, &class);
            }
            "ended" => end(&mut marker, flow, step),
            "control" => {
                step.allow(&["at", "flows"]);
                assert!(policy.adapts(), "{}: {} has no control", step.line, policy.name());
                marker.control(step.counts(), step.now_ns());
                assert_readings(case, step, &marker.params, &marker.state);
            }
            "reading" => assert_readings(case, step, &marker.params, &marker.state),
            other => panic!("{}: unknown step {other}", step.line),
        }
    }
}

/// Gives the marker a packet and returns its answer in a word. Where the policy says that it does not draw, any other
/// random number must lead to the same.
fn mark(marker: &mut Marker, flow: &mut State, step: &Step) -> String {
    let (view, now_ns, random) = (step.view(), step.now_ns(), step.random());
    let (before, flow_before) = (marker.clone(), flow.clone());
    let answer = marker.answer(flow, &view, now_ns, random);
    if !marker.params.policy().draws(&marker.params) {
        for other in [0, u32::MAX] {
            let (mut again, mut flow_again) = (before.clone(), flow_before.clone());
            assert_eq!(again.answer(&mut flow_again, &view, now_ns, other), answer, "{}", step.line);
            assert_eq!((&again.state, &flow_again), (&marker.state, &*flow), "{}", step.line);
        }
    }
    match answer {
        Answer::Colour(colour) => colour.name().to_string(),
        Answer::Hint(hint) => hint.to_string(),
        Answer::Discard => "drop".to_string(),
    }
}

/// Ends a flow: a named one of the case; else one that sent its packet elsewhere, where it met a copy of the state.
fn end(marker: &mut Marker, flow: &mut State, step: &Step) {
    if step.word("flow").is_none() {
        step.allow(&["at", "bytes", "segments"]);
        let mut elsewhere = marker.new_flow();
        marker.clone().answer(&mut elsewhere, &step.view(), step.now_ns(), step.random());
        return marker.flow_end(&elsewhere);
    }
    step.allow(&["flow"]);
    marker.flow_end(flow);
    *flow = marker.new_flow();
}

fn play_dropper(case: &Case, params: Params) {
    let mut dropper = Dropper::new(params);
    for step in &case.steps {
        let (backlog, now_ns) = (step.backlog(), step.now_ns());
        match step.verb.as_str() {
            "packet" => {
                step.allow(&[VIEW, &["queue", "queue_bytes", "idle_since"]].concat());
                let verdict = dropper.packet(&step.view(), &backlog, now_ns, step.random());
                assert_step(case, step, word(verdict));
            }
            "departed" => {
                step.allow(&["at", "colour", "queue", "queue_bytes"]);
                assert!(dropper.params.policy().tracks_departures(), "{}: not asked for", step.line);
                dropper.departed(step.colour(), &backlog, now_ns);
            }
            "reading" => assert_readings(case, step, &dropper.params, &dropper.state),
            other => panic!("{}: unknown step {other}", step.line),
        }
    }
}

/// A packet of a case: its view, and how many packets of the case were marked.
struct Packet(View, Rc<Cell<u32>>);

impl Waits for Packet {
    fn view(&self) -> View {
        self.0
    }

    fn mark(&mut self) {
        self.1.set(self.1.get() + 1);
    }
}

fn play_queue(case: &Case, params: Params) {
    let mut bands = Bands::new(params);
    let marks = Rc::new(Cell::new(0));
    for step in &case.steps {
        let mut dropped = Vec::new();
        match step.verb.as_str() {
            "packet" => {
                step.allow(&[VIEW, &["flow"]].concat());
                let (view, now_ns, mut refused) = (step.view(), step.now_ns(), None);
                let (packet, chance) = (Packet(view, Rc::clone(&marks)), (step.hash(), step.random()));
                let taken = bands.enqueue(packet, &view, chance, now_ns, |packet, verdict| {
                    refused = Some(verdict);
                    dropped.push((packet.0.colour as u32).to_string());
                });
                let got = taken.map_or_else(|| word(refused.unwrap()).to_string(), banded);
                let pushed = if taken.is_some() { drops(&dropped) } else { String::new() };
                assert_step(case, step, &(got + &pushed));
            }
            "leave" => {
                step.allow(&["at"]);
                let before = marks.get();
                let left = bands.dequeue(step.now_ns(), |packet, _| {
                    dropped.push((packet.0.colour as u32).to_string());
                });
                let marked = marks.get() > before;
                let got = left.map_or("nothing".to_string(), |(_, _, band)| banded((band, marked)));
                assert_step(case, step, &(got + &drops(&dropped)));
            }
            "reading" => {
                let names = bands.policy().readings();
                for (name, value) in pairs(&step.expected, &step.line) {
                    let at = names.iter().position(|one| *one == name).expect("a reading");
                    assert_eq!(bands.readings()[at].to_string(), value, "{}: {name}", step.line);
                }
            }
            other => panic!("{}: unknown step {other}", step.line),
        }
    }
    assert_eq!(mousehole_policy::take_fault(), None, "{}", case.title);
}

fn banded((band, marked): (usize, bool)) -> String {
    format!("{band}{}", if marked { " mark" } else { "" })
}

/// Returns the colours of packets that are dropped, for the result of a step.
fn drops(colours: &[String]) -> String {
    if colours.is_empty() { String::new() } else { format!(" drops {}", colours.join(",")) }
}

fn word(verdict: Verdict) -> &'static str {
    ["pass", "mark", "early", "forced"][verdict as usize]
}

fn seconds(time_ns: u64) -> String {
    if time_ns == NEVER { "never".to_string() } else { format!("{}", time_ns as f64 / 1e9) }
}

/// Compares the numbers that the policy shows with those expected, to nine digits after the point.
fn assert_readings(case: &Case, step: &Step, params: &Params, state: &State) {
    let expected = pairs(&step.expected, &step.line);
    assert!(!expected.is_empty(), "{}: nothing is expected", step.line);
    for (name, value) in expected {
        let got = reading(params, state, &name);
        let got = if got.is_nan() { "none".to_string() } else { format!("{}", (got * 1e9).round() / 1e9) };
        assert_eq!(got, value, "{}: {}: {name}", step.line, case.title);
    }
}
