//! Plays the tables in `cases/`, one for each policy, and compares the policy's answers with those in the table.

use crate::common::cases::{Case, Step, read_cases, split_pairs};
use crate::common::{Dropper, Marker, reading, shipped};
use mousehole_policy::{Answer, Bands, NEVER, Params, Policy, PolicyKind, State, Verdict, View, Waits};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

#[test]
fn every_policy__passes_its_cases() {
    for policy in shipped() {
        let cases = read_cases(&format!("{}.txt", policy.c_name()));
        assert!(cases.len() >= 4, "{}: {} cases", policy.name(), cases.len());
        for case in &cases {
            match policy.kind() {
                PolicyKind::Marker => play_marker(case, case_params(policy, case)),
                PolicyKind::Dropper => play_dropper(case, case_params(policy, case)),
                PolicyKind::Queue => play_queue(case, case_params(policy, case)),
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

/// Returns the parameters of a case, at its link.
fn case_params(policy: &'static Policy, case: &Case) -> Params {
    let given: Vec<(&str, &str)> =
        case.params.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    Params::from_text(policy, &given, &case.context)
        .unwrap_or_else(|error| panic!("{}: {}: {error}", policy.name(), case.title))
}

/// Asserts that a step's result is the one in the table.
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

/// Plays the steps of a case to a marker; each named flow has a state.
fn play_marker(case: &Case, params: Params) {
    let policy = params.policy();
    let mut marker = Marker::new(params);
    let mut flows: HashMap<String, State> = HashMap::new();
    for step in &case.steps {
        let name = step.value("flow").unwrap_or_default().to_string();
        let flow = flows.entry(name).or_insert_with(|| policy.new_flow());
        match step.verb.as_str() {
            "packet" => {
                step.allow(VIEW);
                assert_step(case, step, &mark_packet(&mut marker, flow, step));
            }
            "shape" => {
                step.allow(VIEW);
                assert!(policy.shapes(), "{}: {} does not shape", step.line, policy.name());
                let (view, now_ns) = (step.view(), step.now_ns());
                let wait_ns = policy.shape(&marker.params, flow, &mut marker.state, &view, now_ns);
                assert_step(case, step, &format_seconds(wait_ns));
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
            "ended" => end_flow(&mut marker, flow, step),
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

/// Plays a packet to the marker and returns its answer as text. If the policy says that it does not draw, asserts that other
/// random numbers lead to the same answer and states.
fn mark_packet(marker: &mut Marker, flow: &mut State, step: &Step) -> String {
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

/// Ends a flow of the case and makes it new. A step without a flow ends another one, which has sent the step's packet to a
/// copy of the marker.
fn end_flow(marker: &mut Marker, flow: &mut State, step: &Step) {
    if step.value("flow").is_none() {
        step.allow(&["at", "bytes", "segments"]);
        let mut other = marker.new_flow();
        marker.clone().answer(&mut other, &step.view(), step.now_ns(), step.random());
        return marker.flow_end(&other);
    }
    step.allow(&["flow"]);
    marker.flow_end(flow);
    *flow = marker.new_flow();
}

/// Plays the steps of a case to a dropper.
fn play_dropper(case: &Case, params: Params) {
    let mut dropper = Dropper::new(params);
    for step in &case.steps {
        let (backlog, now_ns) = (step.backlog(), step.now_ns());
        match step.verb.as_str() {
            "packet" => {
                step.allow(&[VIEW, &["queue", "queue_bytes", "idle_since"]].concat());
                let verdict = dropper.packet(&step.view(), &backlog, now_ns, step.random());
                assert_step(case, step, verdict_name(verdict));
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

/// Plays the steps of a case to a queue, and asserts that it has no fault.
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
                let got = taken.map_or_else(|| verdict_name(refused.unwrap()).to_string(), format_band);
                let pushed = if taken.is_some() { format_drops(&dropped) } else { String::new() };
                assert_step(case, step, &(got + &pushed));
            }
            "leave" => {
                step.allow(&["at"]);
                let before = marks.get();
                let left = bands.dequeue(step.now_ns(), |packet, _| {
                    dropped.push((packet.0.colour as u32).to_string());
                });
                let marked = marks.get() > before;
                let got = left.map_or("nothing".to_string(), |(_, _, band)| format_band((band, marked)));
                assert_step(case, step, &(got + &format_drops(&dropped)));
            }
            "reading" => {
                let names = bands.policy().readings();
                for (name, value) in split_pairs(&step.expected, &step.line) {
                    let at = names.iter().position(|one| *one == name).expect("a reading");
                    assert_eq!(bands.readings()[at].to_string(), value, "{}: {name}", step.line);
                }
            }
            other => panic!("{}: unknown step {other}", step.line),
        }
    }
    assert_eq!(mousehole_policy::take_fault(), None, "{}", case.title);
}

/// Returns a band and whether the packet was marked, as in the tables: `1 mark`.
fn format_band((band, marked): (usize, bool)) -> String {
    format!("{band}{}", if marked { " mark" } else { "" })
}

/// Returns the colours of dropped packets as in the tables, ` drops 0,2`; empty for none.
fn format_drops(colours: &[String]) -> String {
    if colours.is_empty() { String::new() } else { format!(" drops {}", colours.join(",")) }
}

/// Returns the name of a verdict in the tables.
fn verdict_name(verdict: Verdict) -> &'static str {
    ["pass", "mark", "early", "forced"][verdict as usize]
}

/// Returns a time in seconds, or `never`.
fn format_seconds(time_ns: u64) -> String {
    if time_ns == NEVER { "never".to_string() } else { format!("{}", time_ns as f64 / 1e9) }
}

/// Asserts that the readings which a step names have the values expected, to nine digits after the point; `none` is NaN.
fn assert_readings(case: &Case, step: &Step, params: &Params, state: &State) {
    let expected = split_pairs(&step.expected, &step.line);
    assert!(!expected.is_empty(), "{}: nothing is expected", step.line);
    for (name, value) in expected {
        let got = reading(params, state, &name);
        let got = if got.is_nan() { "none".to_string() } else { format!("{}", (got * 1e9).round() / 1e9) };
        assert_eq!(got, value, "{}: {}: {name}", step.line, case.title);
    }
}
