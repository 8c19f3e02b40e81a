//! Closed-loop replay: which connection waits for which, copies, laps and the laws that every run must keep.
use crate::common::{SCHEMES, assert_error, digest, entry, find_error, play_traffic, scenario, with_mix};
use mousehole_sim::record::Transfer;
use mousehole_sim::scenario::spec::{MixSpec, TrafficSpec};
use mousehole_sim::scenario::{Plan, Scenario, run};
use mousehole_sim::traffic::Traffic;
use mousehole_sim::traffic::read::{ReadOptions, read_contents};
use mousehole_sim::traffic::waiting::{Loop, Waiting};
use mousehole_sim::units::Time;
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Returns a trace of eight clients with five pages each: an index, two objects when it has
/// arrived, a third when the first of these has. Only with `durations` does it say when transfers
/// ended.
fn make_pages(durations: bool) -> Traffic {
    let mut table =
        String::from(if durations { "start,client,bytes,duration\n" } else { "start,client,bytes\n" });
    let mut row = |start: f64, client: u32, bytes: u32, duration: f64| {
        table += &format!("{start:.3},c{client},{bytes}");
        table += &if durations { format!(",{duration:.3}\n") } else { "\n".to_string() };
    };
    for client in 0..8 {
        for page in 0..5 {
            let at = f64::from(client) * 0.37 + f64::from(page) * 3.0;
            row(at, client, 3000 + page, 0.2);
            row(at + 0.21, client, 30_000 + page, 0.5);
            row(at + 0.21, client, 9000 + page, 0.3);
            row(at + 0.55, client, 6000 + page, 0.2);
        }
    }
    read_contents(&[("pages.csv", table.as_bytes())], &ReadOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a scenario that replays the pages.
fn replay_scenario(scheme: &str, replay: Option<&str>, load: Option<f64>) -> Scenario {
    let traffic = TrafficSpec {
        files: vec!["pages.csv".into()],
        replay: replay.map(str::to_string),
        load,
        ..TrafficSpec::default()
    };
    Scenario { traffic, duration: "40s".into(), max_windows: 10, ..scenario(scheme) }
}

/// Returns the copy and the connection of a transfer, by its key.
fn identify_transfer(transfer: &Transfer, traffic: &Traffic) -> (u64, u32) {
    let (place, count) = (transfer.key & ((1 << 26) - 1), traffic.connections.len() as u64);
    (place / count, (place % count) as u32)
}

#[test]
fn closed__each_starts_its_think_time_after_what_it_waited_for() {
    let traffic = make_pages(true);
    let waiting = Waiting::new(&traffic);
    assert_eq!(waiting.count(), 8 * (5 * 4 - 1), "all but the first of each client");
    for scheme in ["droptail", "sfd", "fq-codel"] {
        let result = play_traffic(&replay_scenario(scheme, Some("closed"), Some(0.9)), &traffic);
        assert_eq!(result.load.replay, Some(Loop::Closed));
        assert!(result.load.copies > 1, "{} copies", result.load.copies);
        let ends: HashSet<(u64, u32, Time)> = (result.outcome.transfers.iter())
            .map(|one| (identify_transfer(one, &traffic).0, identify_transfer(one, &traffic).1, one.end))
            .collect();
        let (mut after, mut own_time) = (0, 0);
        for one in &result.outcome.transfers {
            let (copy, connection) = identify_transfer(one, &traffic);
            let parent = waiting
                .wait(connection)
                .map(|wait| (copy, wait.parent, Time(one.start.0 - wait.think.0.min(one.start.0))));
            match parent.is_some_and(|parent| ends.contains(&parent)) {
                true => after += 1,
                false => own_time += 1,
            }
        }
        // The others are first connections of sessions, and those whose predecessors lie before the run.
        assert!(after > 500 && own_time < after / 4, "{scheme}: {after} after, {own_time} at their times");
    }
}

#[test]
fn closed__sessions_begin_at_the_same_times_under_every_scheme() {
    let traffic = make_pages(true);
    let waiting = Waiting::new(&traffic);
    let mut known: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
    let mut expected = None;
    for &scheme in SCHEMES.iter() {
        let result = play_traffic(&replay_scenario(scheme, Some("closed"), Some(0.9)), &traffic);
        let mut keys = HashSet::new();
        let mut sessions = Vec::new();
        for one in &result.outcome.transfers {
            assert!(keys.insert(one.key), "{scheme}: {} was played twice", one.key);
            let what = (one.bytes, one.client);
            assert_eq!(*known.entry(one.key).or_insert(what), what, "{scheme}");
            if waiting.wait(identify_transfer(one, &traffic).1).is_none() {
                sessions.push((one.key, one.start));
            }
        }
        sessions.sort_unstable();
        assert!(sessions.len() > 20, "{}", sessions.len());
        assert_eq!(*expected.get_or_insert_with(|| sessions.clone()), sessions, "{scheme}");
    }
}

/// With few clients a resample draws blocks of time, so a copy may lack what a connection waited for. Such a connection
/// starts at its recorded time, and nothing is played that was not drawn, or played twice.
#[test]
fn closed__a_resample_plays_what_was_drawn_once() {
    let traffic = make_pages(true);
    let plays = |replay: &str, replication| {
        let mut base = replay_scenario("droptail", Some(replay), Some(0.5));
        base.traffic.resample = true;
        let result = play_traffic(&Scenario { replication, ..base }, &traffic);
        let keys: Vec<u64> = result.outcome.transfers.iter().map(|one| one.key).collect();
        let distinct: HashSet<u64> = keys.iter().copied().collect();
        assert_eq!(distinct.len(), keys.len(), "a connection was played twice");
        distinct
    };
    for replication in 0..5 {
        let (closed, open) = (plays("closed", replication), plays("open", replication));
        // Late sessions carry a few connections over the window's ends, so that the two sets are not equal.
        let common = closed.intersection(&open).count();
        assert!(
            common * 10 > 9 * open.len().max(closed.len()),
            "{common} of {} and {}",
            open.len(),
            closed.len()
        );
    }
}

/// A run of an instant may see only connections that wait for others in later laps.
#[test]
fn closed__a_run_of_an_instant_ends() {
    let traffic = make_pages(true);
    for replication in 0..40 {
        let base = replay_scenario("droptail", Some("closed"), Some(0.9));
        play_traffic(&Scenario { duration: "50ms".into(), replication, ..base }, &traffic);
    }
}

/// Later laps begin at their times although earlier ones run late, and what is offered is what open replay offers.
#[test]
fn closed__offers_the_same_bytes_in_the_long_run() {
    let traffic = make_pages(true);
    let carried = |replay, load| {
        let base = replay_scenario("droptail", Some(replay), Some(load));
        let result = play_traffic(&Scenario { duration: "400s".into(), ..base }, &traffic);
        result.outcome.transfers.iter().map(|one| one.bytes).sum::<u64>() as f64
    };
    for load in [0.3, 0.9] {
        let ratio = carried("closed", load) / carried("open", load);
        assert!((0.97..1.03).contains(&ratio), "load {load}: {ratio}");
    }
}

#[test]
fn closed__fast_path_equals_slow_path_and_repeats() {
    let traffic = make_pages(true);
    for scheme in ["droptail", "red", "sfd"] {
        let base = replay_scenario(scheme, Some("closed"), Some(1.1));
        let once = play_traffic(&base, &traffic);
        assert_eq!(digest(&once), digest(&play_traffic(&base, &traffic)), "{scheme}");
        let other = play_traffic(&Scenario { replication: 1, ..base.clone() }, &traffic);
        assert_ne!(digest(&once), digest(&other), "{scheme}");
        let slow = play_traffic(&Scenario { slow_path: true, ..base }, &traffic);
        assert_eq!(once.outcome.transfers, slow.outcome.transfers, "{scheme}");
        for (one, other) in once.outcome.queues.iter().zip(&slow.outcome.queues) {
            assert_eq!(one.colours, other.colours, "{scheme}, {}", one.name);
        }
    }
}

#[test]
fn default__is_closed_where_ends_are_known() {
    let replay = |durations, asked| {
        play_traffic(&replay_scenario("droptail", asked, Some(0.5)), &make_pages(durations)).load.replay
    };
    assert_eq!(replay(true, None), Some(Loop::Closed));
    assert_eq!(replay(false, None), Some(Loop::Open));
    assert_eq!(replay(true, Some("open")), Some(Loop::Open));
    let (known, unknown) = (make_pages(true), make_pages(false));
    let base = replay_scenario("droptail", None, Some(0.5));
    assert_eq!(
        digest(&play_traffic(&base, &unknown)),
        digest(&play_traffic(&replay_scenario("droptail", Some("open"), Some(0.5)), &known))
    );
}

#[test]
fn faults__name_the_field() {
    let odd = replay_scenario("droptail", Some("half"), None);
    assert_error(&find_error(&odd), &["traffic.replay", "\"half\"", "open", "closed"]);
    let mut model = replay_scenario("droptail", Some("closed"), None);
    model.traffic.files.clear();
    model.traffic.model = Some("poisson".into());
    assert_error(&find_error(&model), &["traffic.replay", "\"closed\"", "no files"]);
    let plan = Plan::new(&replay_scenario("droptail", Some("closed"), None))
        .unwrap_or_else(|error| panic!("{error}"));
    let error =
        run(&plan, Some(Arc::new(make_pages(false))), &AtomicBool::new(false)).expect_err("ends are unknown");
    assert_error(&error, &["traffic.replay", "closed", "0 of 160"]);
}

/// In a mix all traces are replayed alike, each with its own tags and tokens.
#[test]
fn closed__in_a_mix_with_misbehaving_senders() {
    let trace = |load| MixSpec { files: vec!["pages.csv".into()], load: Some(load), ..MixSpec::default() };
    let calls = MixSpec { count: Some(1), ..entry("voip", json!({})) };
    let base = Scenario { duration: "30s".into(), max_windows: 10, ..scenario("sfd") };
    let mut all = with_mix(base, vec![trace(0.3), calls, trace(0.2)]);
    all.traffic.replay = Some("closed".into());
    all.traffic.gaming =
        Some(serde_json::from_value(json!({"share": 0.5, "min_bytes": "5kB"})).expect("rules"));
    let parts = Traffic::combine([(1, make_pages(true)), (3, make_pages(true))]);
    let result = play_traffic(&all, &parts);
    for source in [1, 3] {
        let own = result.outcome.transfers.iter().filter(|one| one.source == source);
        assert!(own.count() > 100);
    }
    assert_eq!(digest(&result), digest(&play_traffic(&all, &parts)));
}
