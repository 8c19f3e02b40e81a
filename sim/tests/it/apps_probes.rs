//! Tests of responsiveness: how long probes take outside and within the flows that fill the line.
use crate::common::{entry, play, scenario, with_mix, with_up};
use mousehole_sim::record::ProbeRecord;
use mousehole_sim::scenario::spec::{Ends, MixSpec};
use mousehole_sim::scenario::{RunResult, Scenario};
use serde_json::{Value, json};

/// Returns one tester from the start, who sends ten probes per second or more.
fn tester(payload: &str, params: Value) -> MixSpec {
    let mut all = json!({"start_spread_s": 0, "connections": 1, "probe_share": 0.5});
    all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    MixSpec { payload: Some(payload.into()), ..entry("responsiveness", all) }
}

/// Returns the durations of stage 0 to 2 of all foreign or self probes, in seconds; probes without
/// the stage are left out.
fn stage_times(result: &RunResult, is_foreign: bool, stage: usize) -> Vec<f64> {
    let probes = result.outcome.probes.iter().filter(|probe| probe.is_foreign == is_foreign);
    probes.filter_map(|probe| probe.stage_durations_s(result.outcome.ended)[stage]).collect()
}

/// Returns the least and the greatest of some times; panics if there are none.
fn time_range(times: &[f64]) -> (f64, f64) {
    assert!(!times.is_empty());
    times.iter().fold((f64::INFINITY, 0.0), |(least, most), &time| (time.min(least), time.max(most)))
}

/// Returns the mean of some times; NaN if there are none.
fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

/// A load that keeps two segments in flight makes no queue: a round trip of 40 ms, with at most two packets of 3 ms
/// before each. A self probe waits for the segment that may be sent next, up to another round trip.
#[test]
fn probe__takes_round_trips_where_nothing_queues() {
    for payload in ["down", "up"] {
        let mut base = scenario("droptail");
        base.tcp.receive_window = Some(2);
        let result = play(&with_mix(base, vec![tester(payload, json!({"tls_bytes": 1000}))]));
        for stage in 0..3 {
            let (least, most) = time_range(&stage_times(&result, true, stage));
            assert!(least >= 0.040_16 && most < 0.052, "{payload} {stage}: {least} to {most}");
        }
        let (least, most) = time_range(&stage_times(&result, false, 2));
        assert!(least >= 0.040_16 && most < 0.095, "{payload}: {least} to {most}");
        assert!(stage_times(&result, false, 0).is_empty() && stage_times(&result, false, 1).is_empty());
    }
}

/// In a FIFO that flows fill, probes of both kinds wait for up to 120 ms; with a queue for each flow, foreign ones do
/// not, and self probes wait for their own flow alone.
#[test]
fn probe__waits_for_the_queue_that_it_meets() {
    for payload in ["down", "up"] {
        let times = |scheme: &str| {
            let mut base = Scenario { duration: "30s".into(), ..scenario(scheme) };
            (base.link.rate, base.link.buffer) = (Some("20mbit".into()), "200p".into());
            with_up(&mut base, "20mbit");
            (base.at, base.link.up_buffer) = (Some(Ends::Both), Some("200p".into()));
            let result = play(&with_mix(base, vec![tester(payload, json!({"connections": 4}))]));
            (mean(&stage_times(&result, true, 0)), mean(&stage_times(&result, false, 2)))
        };
        let [(fifo, fifo_self), (fair, fair_self)] = ["droptail", "fq-codel"].map(times);
        assert!(fifo > 0.080 && fifo_self > 0.080, "{payload}: {fifo} and {fifo_self}");
        assert!(fair < 0.050 && fair < fifo / 2.0, "{payload}: {fair} for {fifo}");
        assert!(fair_self > fair && fair_self < fifo_self, "{payload}: {fair_self} for {fifo_self}");
    }
}

/// Every probe of the window ends, and no more are sent than the draft allows: 5 % of 4 Mbit/s are about four of
/// either kind a second.
#[test]
fn probes__keep_to_their_share() {
    let params = json!({"start_spread_s": 0, "connections": 2});
    let base = Scenario { duration: "20s".into(), ..scenario("droptail") };
    let result = play(&with_mix(base, vec![entry("responsiveness", params)]));
    let probes = &result.outcome.probes;
    let count = |is_foreign| probes.iter().filter(|probe| probe.is_foreign == is_foreign).count();
    for counted in [count(true), count(false)] {
        assert!((75..=84).contains(&counted), "{counted}");
    }
    let is_over = |probe: &ProbeRecord| probe.ends[2] != mousehole_sim::units::Time::NEVER;
    assert!(probes.iter().all(is_over));
    assert_eq!(result.outcome.transfers.len(), 0);
    assert_eq!(result.outcome.flows.len(), 2);
}

/// Without TLS a foreign probe has a TCP handshake and a request alone.
#[test]
fn probe__without_tls_has_two_spans() {
    let result = play(&with_mix(scenario("droptail"), vec![tester("down", json!({"tls_bytes": 0}))]));
    assert!(stage_times(&result, true, 1).is_empty());
    assert_eq!(stage_times(&result, true, 0).len(), stage_times(&result, true, 2).len());
}
