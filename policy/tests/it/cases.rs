//! The tables in `cases/`, which the kernel programs are to pass as well.
use crate::common::cases::{Case, Step, read};
use mousehole_policy::multi_red::Mode;
use mousehole_policy::{Unit, Verdict, flow_meter, multi_red, promotion, red, sfd};
use mousehole_policy::{demotion, rio_ps, shred, shred_edge, window_marker};

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

fn rio_ps_spec(case: &Case) -> rio_ps::Spec {
    let base = rio_ps::Spec::default();
    rio_ps::Spec {
        timeout_ns: (case.number("timeout_s", 1.0) * 1e9) as u64,
        syn_restarts: case.params.get("syn_restarts").is_none_or(|word| word != "off"),
        period_ns: (case.number("period_s", 10.0) * 1e9) as u64,
        ratio: case.number("ratio", base.ratio),
        initial: case.number("initial", base.initial.into()) as u32,
        floor: case.number("floor", base.floor.into()) as u32,
        cap: case.number("cap", base.cap.into()) as u32,
    }
}

#[test]
fn rio_ps__cases() {
    let cases = read("rio_ps.txt");
    assert!(cases.len() >= 8);
    for case in &cases {
        let params = rio_ps::Params::new(&rio_ps_spec(case)).unwrap();
        let (mut state, mut flow) = (rio_ps::State::default(), flow_meter::Meter::default());
        for step in &case.steps {
            if step.is_control() {
                let (short_flows, long_flows) = (step.count("short"), step.count("long"));
                let counts = rio_ps::Counts { short_flows, long_flows };
                rio_ps::control(&params, &mut state, &counts, step.now_ns());
                assert_step(case, step, &rio_ps::threshold(&params, &state).to_string());
                continue;
            }
            let colour = rio_ps::packet(&params, &mut flow, &state, &step.view(), step.now_ns());
            assert_step(case, step, colour.name());
        }
    }
}

#[test]
fn shred__cases() {
    let cases = read("shred.txt");
    assert!(cases.len() >= 8);
    for case in &cases {
        let red = red::Spec { gentle: true, ..red_spec(case, "") };
        let base = shred::Spec::default();
        let floor_packets = case.number("floor_packets", base.floor_packets);
        let w_hint = case.number("w_hint", base.w_hint);
        let spec = shred::Spec { red, floor_packets, w_hint, restart: case.on("restart") };
        let params = shred::Params::new(&spec).unwrap();
        let mut state = shred::State::default();
        for step in &case.steps {
            let (view, backlog) = (step.view(), step.backlog());
            let verdict = shred::packet(&params, &mut state, &view, &backlog, step.now_ns(), step.random());
            assert_step(case, step, name(verdict));
        }
    }
}

#[test]
fn shred_edge__cases() {
    let cases = read("shred_edge.txt");
    assert!(cases.len() >= 4);
    for case in &cases {
        let packet = case.number("packet", 1460.0) as u32;
        let params = shred_edge::Params::new(&shred_edge::Spec { packet }).unwrap();
        let mut flow = shred_edge::Flow::default();
        for step in &case.steps {
            assert_step(case, step, &shred_edge::packet(&params, &mut flow, &step.view()).to_string());
        }
    }
}

#[test]
fn window_marker__cases() {
    let cases = read("window_marker.txt");
    assert!(cases.len() >= 6);
    for case in &cases {
        let threshold = |key, otherwise| case.number(key, otherwise) as u16;
        let (high, medium) = (threshold("high", 4.0), threshold("medium", 8.0));
        let spec = window_marker::Spec { high, medium, randomised: case.on("randomised") };
        let params = window_marker::Params::new(&spec).unwrap();
        for step in &case.steps {
            assert_step(case, step, window_marker::packet(&params, &step.view(), step.random()).name());
        }
    }
}

#[test]
fn demotion__cases() {
    let cases = read("demotion.txt");
    assert!(cases.len() >= 5);
    for case in &cases {
        let base = demotion::Spec::default();
        let timeout = case.params.get("timeout_s").map(|_| (case.number("timeout_s", 0.0) * 1e9) as u64);
        let spec = demotion::Spec {
            first: case.number("first", base.first.into()) as u32,
            second: case.params.get("second").map(|_| case.number("second", 0.0) as u32),
            timeout_ns: timeout.unwrap_or(base.timeout_ns),
            syn_restarts: case.params.get("syn_restarts").is_none_or(|word| word != "off"),
        };
        let params = demotion::Params::new(&spec).unwrap();
        let mut flow = flow_meter::Meter::default();
        for step in &case.steps {
            let colour = demotion::packet(&params, &mut flow, &step.view(), step.now_ns());
            assert_step(case, step, colour.name());
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
