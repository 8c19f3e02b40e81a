//! Schemes that act at the sending host: traffic shaped there conforms to its profile on the whole path.

use crate::common::{connection, digest, payload, play, scenario};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::flow::Class;
use mousehole_sim::scenario::spec::{ConnectionSpec, Ends, TrafficSpec};
use mousehole_sim::scenario::topology::spec::HostStageSpec;
use mousehole_sim::scenario::{RunResult, Scenario};
use serde_json::json;

/// Returns one user with one long download at 4 Mbit/s, through `scheme` with a stage at its host.
fn one_user_scenario(scheme: &str, bytes: u64) -> Scenario {
    let connection = json!({"start_s": 0.0, "writes": [{"bytes": bytes}]});
    let connections = serde_json::from_value(json!([connection])).expect("a connection");
    Scenario {
        warmup: "0s".into(),
        duration: "60s".into(),
        max_windows: 1,
        host_stage: Some(HostStageSpec { users: 1, mark: true, ..default_stage() }),
        traffic: TrafficSpec { connections, ..TrafficSpec::default() },
        ..scenario(scheme)
    }
}

/// Returns a host stage for one user, with its defaults.
fn default_stage() -> HostStageSpec {
    serde_json::from_value(json!({"users": 1})).expect("a stage")
}

/// Returns the seconds that the scenario's only transfer takes; panics if there is not one, or
/// packets are not conserved.
fn transfer_seconds(scenario: &Scenario) -> f64 {
    let result = play(scenario);
    let [transfer] = result.outcome.transfers[..] else { panic!("one transfer") };
    assert!(result.is_conserved());
    transfer.end.since(transfer.start).as_secs()
}

/// All web packets are yellow under APPL: 500 kB at 250 kb/s take 16 s less the burst.
#[test]
fn appl__web_waits_for_its_tokens() {
    let shaped = transfer_seconds(&one_user_scenario("appl", 500_000));
    let least = (500_000.0 - 6_000.0) * 8.0 / 250e3;
    assert!((least..least * 1.1).contains(&shaped), "{shaped} s, tokens alone {least} s");
}

/// Beyond both thresholds TCP-DS's packets are red and need no tokens; with a small window they wait for theirs.
#[test]
fn tcp_ds__only_small_windows_wait() {
    let shaped = transfer_seconds(&one_user_scenario("tcp-ds", 500_000));
    let always_yellow = transfer_seconds(&one_user_scenario("tcp-ds(high=1,med=65535)", 500_000));
    let never = transfer_seconds(&one_user_scenario("tcp-ds(high=1,med=1)", 500_000));
    let tokens = (500_000.0 - 6_000.0) * 8.0 / 500e3;
    assert!((tokens..tokens * 1.1).contains(&always_yellow), "{always_yellow} s, tokens alone {tokens} s");
    assert!(never < shaped && shaped < always_yellow, "{never}, {shaped}, {always_yellow}");
}

#[test]
fn profile__follows_the_parameters() {
    let slow = transfer_seconds(&one_user_scenario("appl(med_rate=100kbit)", 100_000));
    let fast = transfer_seconds(&one_user_scenario("appl(med_rate=1mbit)", 100_000));
    assert!((7.5..8.5).contains(&slow), "{slow}");
    assert!(fast < 1.2, "{fast}");
}

/// Returns three users with an interactive, a web and a bulk transfer each, both ways, through
/// `scheme`.
fn three_user_scenario(scheme: &str, host_stage: Option<HostStageSpec>) -> Scenario {
    let one = |number: u32| ConnectionSpec {
        client: number % 3,
        server: number % 3,
        class: [Class::Interactive, Class::Web, Class::Bulk][number as usize / 3 % 3],
        payload: payload(number >= 9),
        ..connection(f64::from(number) * 0.1, &[(0.0, 150_000), (0.5, 20_000)])
    };
    let connections = (0..18).map(one).collect();
    let traffic = TrafficSpec { connections, ..TrafficSpec::default() };
    Scenario {
        warmup: "0s".into(),
        duration: "60s".into(),
        at: Some(Ends::Both),
        host_stage,
        traffic,
        ..scenario(scheme)
    }
}

/// Returns the packets dropped by the policers before the bottleneck, either way, within the
/// window; panics if packets are not conserved.
fn count_policed(result: &RunResult) -> u64 {
    assert!(result.is_conserved());
    result
        .outcome
        .queues
        .iter()
        .flat_map(|queue| &queue.colours)
        .map(|colour| colour.dropped_for(DropReason::Policed).packets)
        .sum()
}

/// Class E: a shaper never trips the policer of the same contract. The policer is at the network's edge and drops,
/// so that one offence would show; the same users without shapers offend. Exact only where all packets take equally
/// long from the one to the other, as here: at a host's finite rate small packets catch up with large ones.
#[test]
fn shaper__never_trips_the_policer_behind_it() {
    for scheme in ["appl", "tcp-ds", "tcp-ds-r"] {
        for settings in
            ["police=drop", "police=drop,hold_acks=true", "police=drop,high_rate=90kbit,burst=2000B"]
        {
            let scheme = format!("{scheme}({settings})");
            let shaped = play(&three_user_scenario(
                &scheme,
                Some(HostStageSpec { users: 3, mark: true, ..default_stage() }),
            ));
            assert_eq!(count_policed(&shaped), 0, "{scheme}");
            let coloured = shaped.outcome.queues[0].colours;
            assert!(
                coloured[0].sent.packets > 100 && coloured[1].sent.packets > 100,
                "{scheme}: {coloured:?}"
            );
            let unshaped = play(&three_user_scenario(&scheme, None));
            assert!(count_policed(&unshaped) > 20, "{scheme}: {} policed", count_policed(&unshaped));
        }
    }
}

#[test]
fn policer__ignores_recolours_or_drops() {
    let sent = |police: &str| {
        let result = play(&three_user_scenario(&format!("tcp-ds(police={police})"), None));
        let packets = |index: usize| result.outcome.queues[0].colours[index].arrived.packets;
        ([packets(0), packets(1), packets(2)], count_policed(&result))
    };
    let ([remark, none, drop], policed) = {
        let ways = ["remark", "none", "drop"].map(sent);
        (ways.map(|way| way.0), ways.map(|way| way.1))
    };
    assert_eq!((policed[0], policed[1]), (0, 0));
    assert!(policed[2] > 0 && drop[0] > 0, "{policed:?}");
    assert!(remark[2] > none[2], "what is remarked arrives red: {remark:?}, {none:?}");
}

/// A contract in percent is a share of the bottleneck's rate wherever it is held, also at hosts without a limit.
#[test]
fn profile__may_be_a_share_of_the_bottleneck() {
    let stages = [None, Some(HostStageSpec { users: 3, mark: true, ..default_stage() })];
    for stage in stages {
        let run = |contract: &str| {
            digest(&play(&three_user_scenario(&format!("tcp-ds({contract})"), stage.clone())))
        };
        let share = run("high_rate=5%,med_rate=10%");
        assert_eq!(share, run("high_rate=200kbit,med_rate=400kbit"));
        assert_ne!(share, run("high_rate=6%,med_rate=10%"));
    }
}
