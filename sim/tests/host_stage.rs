//! Schemes that act at the sending host: shaped there, they keep to their contracts on the way.

#![allow(non_snake_case)]

mod common;

use common::{play, scenario};
use mousehole_sim::scenario::Scenario;
use mousehole_sim::scenario::spec::TrafficSpec;
use mousehole_sim::scenario::topology::spec::HostStageSpec;
use serde_json::json;

/// One user, one long upload of `class`-less bytes at 10 Mb/s, through `scheme` with a stage at its host.
fn one_user(scheme: &str, bytes: u64) -> Scenario {
    let connection = json!({"start_s": 0.0, "writes": [{"bytes": bytes}]});
    let connections = serde_json::from_value(json!([connection])).expect("a connection");
    Scenario {
        warmup: "0s".into(),
        duration: "60s".into(),
        max_windows: 1,
        host_stage: Some(HostStageSpec { users: 1, mark: true, ..stage() }),
        traffic: TrafficSpec { connections, ..TrafficSpec::default() },
        ..scenario(scheme)
    }
}

fn stage() -> HostStageSpec {
    serde_json::from_value(json!({"users": 1})).expect("a stage")
}

/// Seconds that the only transfer takes.
fn takes(scenario: &Scenario) -> f64 {
    let result = play(scenario);
    let [transfer] = result.outcome.transfers[..] else { panic!("one transfer") };
    assert!(result.is_conserved());
    transfer.end.since(transfer.start).as_secs()
}

/// All web packets are yellow under APPL: 500 kB at 250 kb/s take 16 s less the burst.
#[test]
fn appl__web_waits_for_its_tokens() {
    let shaped = takes(&one_user("appl", 500_000));
    let least = (500_000.0 - 6_000.0) * 8.0 / 250e3;
    assert!((least..least * 1.1).contains(&shaped), "{shaped} s, tokens alone {least} s");
}

/// Beyond both thresholds TCP-DS's packets are red and need no tokens; with a small window they wait for theirs.
#[test]
fn tcp_ds__only_small_windows_wait() {
    let shaped = takes(&one_user("tcp-ds", 500_000));
    let always_yellow = takes(&one_user("tcp-ds(high=1,med=65535)", 500_000));
    let never = takes(&one_user("tcp-ds(high=1,med=1)", 500_000));
    let tokens = (500_000.0 - 6_000.0) * 8.0 / 500e3;
    assert!((tokens..tokens * 1.1).contains(&always_yellow), "{always_yellow} s, tokens alone {tokens} s");
    assert!(never < shaped && shaped < always_yellow, "{never}, {shaped}, {always_yellow}");
}

#[test]
fn contract__is_what_the_parameters_say() {
    let slow = takes(&one_user("appl(med_rate=100kbit)", 100_000));
    let fast = takes(&one_user("appl(med_rate=1mbit)", 100_000));
    assert!((7.5..8.5).contains(&slow), "{slow}");
    assert!(fast < 1.2, "{fast}");
}
