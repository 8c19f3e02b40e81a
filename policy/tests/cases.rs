//! The tables in `cases/`, which the kernel programs are to pass as well.
#![allow(non_snake_case)]

mod common;

use common::cases::{Case, Step, read};
use mousehole_policy::multi_red::Mode;
use mousehole_policy::{Unit, Verdict, multi_red, promotion, red, sfd};

fn name(verdict: Verdict) -> &'static str {
    ["pass", "mark", "early", "forced"][verdict as usize]
}

fn assert_step(case: &Case, step: &Step, got: &str) {
    assert_eq!(got, step.expected, "{}: {}", step.place, case.title);
}

fn red_spec(case: &Case, prefix: &str) -> red::Spec {
    let number = |key: &str, otherwise| case.number(&format!("{prefix}{key}"), case.number(key, otherwise));
    let base = red::Spec::default();
    red::Spec {
        min_packets: number("min_packets", base.min_packets),
        max_packets: number("max_packets", base.max_packets),
        max_p: number("max_p", base.max_p),
        w_q: number("w_q", base.w_q),
        mean_packet_bytes: number("mean_packet_bytes", base.mean_packet_bytes),
        rate_bps: number("rate_bps", base.rate_bps),
        gentle: case.on("gentle"),
        wait: case.on("wait"),
        byte_mode: case.on("byte_mode"),
        queue_in_bytes: case.on("queue_in_bytes"),
        ecn: case.on("ecn"),
        spare_below_packets: number("spare_below_packets", 0.0) as u32,
    }
}

#[test]
fn red__cases() {
    let cases = read("red.txt");
    assert!(cases.len() >= 10);
    for case in &cases {
        let params = red::Params::new(&red_spec(case, "")).unwrap();
        let mut state = red::State::default();
        for step in &case.steps {
            let (view, backlog) = (step.view(), step.backlog());
            let verdict = red::packet(&params, &mut state, &view, &backlog, step.now_ns(), step.random());
            assert_step(case, step, name(verdict));
        }
    }
}

#[test]
fn multi_red__cases() {
    let cases = read("multi_red.txt");
    assert!(cases.len() >= 6);
    for case in &cases {
        let mode = match case.params["mode"].as_str() {
            "coupled" => Mode::Coupled,
            "decoupled" => Mode::Decoupled,
            "total" => Mode::Total,
            other => panic!("{}: unknown mode {other}", case.title),
        };
        let all = ["green.", "yellow.", "red."];
        let levels =
            all[..case.number("colours", 2.0) as usize].iter().map(|prefix| red_spec(case, prefix)).collect();
        let params = multi_red::Params::new(&multi_red::Spec { mode, levels }).unwrap();
        let mut state = multi_red::State::default();
        for step in &case.steps {
            let (backlog, now_ns) = (step.colour_backlog(), step.now_ns());
            if step.is_departure() {
                multi_red::departed(&params, &mut state, step.colour(), &backlog, now_ns);
                continue;
            }
            let verdict =
                multi_red::packet(&params, &mut state, &step.view(), &backlog, now_ns, step.random());
            assert_step(case, step, name(verdict));
        }
    }
}

fn sfd_spec(case: &Case) -> sfd::Spec {
    let base = sfd::Spec::default();
    let word = |key: &str| case.params.get(key).map_or("", String::as_str);
    let promotion = match word("promotion") {
        "" | "none" => promotion::Spec::None,
        "probabilistic" => promotion::Spec::Probabilistic,
        "one_of_k" => promotion::Spec::OneOfK(case.number("k", 4.0) as u32),
        other => panic!("{}: unknown promotion {other}", case.title),
    };
    sfd::Spec {
        threshold: case.number("threshold", f64::from(base.threshold)) as u32,
        unit: if word("unit") == "packets" { Unit::Packets } else { Unit::Bytes },
        timeout_ns: (case.number("timeout_s", 1.0) * 1e9) as u64,
        syn_restarts: word("syn_restarts") != "off",
        promotion,
    }
}

#[test]
fn sfd__cases() {
    let cases = read("sfd.txt");
    assert!(cases.len() >= 10);
    for case in &cases {
        let params = sfd::Params::new(&sfd_spec(case)).unwrap();
        let mut flow = sfd::Flow::default();
        for step in &case.steps {
            let colour = sfd::packet(&params, &mut flow, &step.view(), step.now_ns(), step.random());
            assert_step(case, step, colour.name());
        }
    }
}
