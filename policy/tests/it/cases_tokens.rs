//! The tables in `cases/` of the policies that have a token bucket or a history of sizes.
use crate::common::cases::{Case, Step, read};
use mousehole_policy::{aggregate_marker, lfp, policer, size_history, token_bucket};
use std::collections::HashMap;

fn assert_step(case: &Case, step: &Step, got: &str) {
    assert_eq!(got, step.expected, "{}: {}", step.place, case.title);
}

fn ask(params: &token_bucket::Params, bucket: &mut token_bucket::State, step: &Step) -> String {
    let tokens = step.number("tokens").unwrap_or(1000.0) as u32;
    if step.verb == "packet" {
        let conforms = token_bucket::packet(params, bucket, tokens, step.now_ns());
        return if conforms { "yes" } else { "no" }.to_string();
    }
    token_bucket::refill(params, bucket, step.now_ns());
    match step.verb.as_str() {
        "take" => token_bucket::take(params, bucket, tokens),
        "take_clipped" => token_bucket::take_clipped(params, bucket, tokens),
        "wait" => {
            let wait_ns = token_bucket::wait_ns(params, bucket, tokens);
            return wait_ns.map_or("never".to_string(), |ns| format!("{}", ns as f64 / 1e9));
        }
        // The header is right to 0.0001 percent.
        _ => {
            let percent = token_bucket::fill_percent(params, bucket);
            return format!("{}", (percent * 1e3).round() / 1e3);
        }
    }
    String::new()
}

#[test]
fn token_bucket__cases() {
    let cases = read("token_bucket.txt");
    assert!(cases.len() >= 12);
    for case in &cases {
        let (rate, burst) = (case.number("rate", 1000.0), case.number("burst", 3000.0) as u32);
        let params = token_bucket::Params::new(&token_bucket::Spec { rate, burst }).unwrap();
        let mut bucket = token_bucket::State::default();
        for step in &case.steps {
            assert_step(case, step, &ask(&params, &mut bucket, step));
        }
    }
}

fn profile(case: &Case, prefix: &str, rate_bps: f64) -> token_bucket::Spec {
    let number = |key: &str, otherwise| case.number(&format!("{prefix}.{key}"), otherwise);
    token_bucket::Spec::bytes(number("rate_bps", rate_bps), number("burst", 3000.0) as u32)
}

#[test]
fn policer__cases() {
    let cases = read("policer.txt");
    assert!(cases.len() >= 7);
    for case in &cases {
        let action = match case.params.get("action").map_or("recolour", String::as_str) {
            "recolour" => policer::Action::Recolour,
            "drop" => policer::Action::Drop,
            other => panic!("{}: unknown action {other}", case.title),
        };
        let [green, yellow] = ["green", "yellow"].map(|colour| profile(case, colour, 8000.0));
        let params = policer::Params::new(&policer::Spec { green, yellow, action }).unwrap();
        let mut state = policer::State::default();
        for step in &case.steps {
            let passed = policer::packet(&params, &mut state, &step.view(), step.now_ns());
            assert_step(case, step, passed.map_or("drop", |colour| colour.name()));
        }
    }
}

#[test]
fn aggregate_marker__cases() {
    let cases = read("aggregate_marker.txt");
    assert!(cases.len() >= 6);
    for case in &cases {
        let (green, yellow) = (profile(case, "green", 8000.0), profile(case, "yellow", 16000.0));
        let params = aggregate_marker::Params::new(&aggregate_marker::Spec { green, yellow }).unwrap();
        let mut state = aggregate_marker::State::default();
        for step in &case.steps {
            let colour = aggregate_marker::packet(&params, &mut state, &step.view(), step.now_ns());
            assert_step(case, step, colour.name());
        }
    }
}

fn sizes(case: &Case, quantile: f64, flows: f64) -> size_history::Spec {
    size_history::Spec {
        quantile: case.number("quantile", quantile),
        flows: case.number("flows", flows) as u32,
    }
}

#[test]
fn size_history__cases() {
    let cases = read("size_history.txt");
    assert!(cases.len() >= 6);
    for case in &cases {
        let params = size_history::Params::new(&sizes(case, 0.5, 5.0)).unwrap();
        let mut history = Box::new(size_history::State::default());
        for step in &case.steps {
            size_history::flow_end(&params, &mut history, step.number("size").unwrap() as u32);
            assert_step(case, step, &history.quantile().unwrap().to_string());
        }
    }
}

#[test]
fn lfp__cases() {
    let cases = read("lfp.txt");
    assert!(cases.len() >= 12);
    for case in &cases {
        let spec = lfp::Spec {
            threshold: case.number("threshold", 2.0) as u32,
            rate: case.number("rate", 1.0),
            burst: case.number("burst", 4.0) as u32,
            sizes: sizes(case, 0.5, 4.0),
            memoryless: case.on("memoryless"),
            ..lfp::Spec::default()
        };
        let params = lfp::Params::new(&spec).unwrap();
        let mut state = Box::new(lfp::State::default());
        let mut flows: HashMap<&str, lfp::Flow> = HashMap::new();
        for step in &case.steps {
            if step.verb == "ended" {
                lfp::flow_end(&params, &mut state, step.number("size").unwrap() as u32);
                continue;
            }
            let flow = flows.entry(step.word("flow")).or_default();
            let colour = lfp::packet(&params, flow, &mut state, &step.view(), step.now_ns());
            assert_step(case, step, colour.name());
        }
    }
}
