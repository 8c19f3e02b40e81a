//! Misbehaving senders: which senders misbehave, how, and that the pieces sum to the transfer.
use crate::common::{SCHEMES, entry, play, scenario, with_mix};
use mousehole_sim::scenario::spec::{MisbehavingSpec, MixSpec, TrafficSpec};
use mousehole_sim::scenario::{RunResult, Scenario};
use mousehole_sim::units::Time;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the scenario with misbehaving senders; the rest of its traffic stays.
fn with_gaming(base: Scenario, gaming: MisbehavingSpec) -> Scenario {
    let traffic = TrafficSpec { gaming: Some(gaming), ..base.traffic };
    Scenario { traffic, ..base }
}

/// Returns a scenario of one transfer of `bytes` that starts at time zero.
fn one_transfer_scenario(bytes: u64) -> Scenario {
    crate::common::with_connections(scenario("droptail"), crate::common::transfers(1, 0.0, bytes))
}

/// Returns the rule by which all senders split transfers into four pieces, `parallel` or
/// `consecutive`.
fn split_all(pieces: &str) -> MisbehavingSpec {
    MisbehavingSpec { share: 1.0, split: 4, pieces: pieces.into(), ..MisbehavingSpec::default() }
}

#[test]
fn split__pieces_make_the_whole() {
    for pieces in ["parallel", "consecutive"] {
        let result = play(&with_gaming(one_transfer_scenario(1_000_001), split_all(pieces)));
        let parts = &result.outcome.transfers;
        let sizes: Vec<u64> = parts.iter().map(|part| part.bytes).collect();
        assert_eq!((sizes.len(), sizes.iter().sum::<u64>()), (4, 1_000_001), "{pieces}: {sizes:?}");
        assert!(parts.iter().all(|part| part.misbehaves && part.object_bytes == 1_000_001));
        assert_eq!(parts.iter().map(|part| part.object_key).collect::<BTreeSet<_>>().len(), 1);
        let keys: BTreeSet<u64> = parts.iter().map(|part| part.key).collect();
        assert!(keys.len() == 4 && keys.contains(&parts[0].object_key));
        let mut times: Vec<(u64, u64)> = parts.iter().map(|part| (part.start.0, part.end.0)).collect();
        times.sort_unstable();
        match pieces {
            "parallel" => assert!(times.iter().all(|time| time.0 == 0)),
            _ => assert!(times.windows(2).all(|pair| pair[0].1 == pair[1].0), "{times:?}"),
        }
    }
}

#[test]
fn min_bytes__leaves_small_transfers_alone() {
    let result = play(&with_gaming(one_transfer_scenario(99_999), split_all("parallel")));
    assert_eq!(result.outcome.transfers.len(), 1);
    assert!(!result.outcome.transfers[0].misbehaves);
    assert_eq!(
        play(&with_gaming(one_transfer_scenario(100_000), split_all("parallel"))).outcome.transfers.len(),
        4
    );
}

/// A session that waits for its page hears of the object's end when its last piece has come.
#[test]
fn split__a_closed_loop_goes_on() {
    for pieces in ["parallel", "consecutive"] {
        let params = json!({"users": 3, "mean_bytes": 200_000, "shape": 0, "off_s": 0.1});
        let base = with_mix(scenario("droptail"), vec![entry("ftp", params)]);
        let result = play(&with_gaming(base, split_all(pieces)));
        let mut objects: BTreeMap<u64, (u64, u64, Time)> = BTreeMap::new();
        for part in &result.outcome.transfers {
            let object = objects.entry(part.object_key).or_insert((0, u64::MAX, Time::ZERO));
            *object = (object.0 + part.bytes, object.1.min(part.start.0), object.2.max(part.end));
        }
        assert!(objects.len() > 20, "{pieces}: {}", objects.len());
        // The key of a file holds its flow and number; those of a flow must not overlap.
        for flow in 0..3u64 {
            let key = |number: u64| 1u64 << 56 | flow << 32 | number;
            let files: Vec<_> = (0..).map_while(|number| objects.get(&key(number))).collect();
            assert!(files.len() > 5);
            assert!(files.windows(2).all(|pair| pair[0].2.0 < pair[1].1), "{pieces}, flow {flow}");
        }
    }
}

/// Returns the keys of the objects whose sender misbehaved, each once.
fn list_misbehaving(result: &RunResult) -> BTreeSet<u64> {
    result.outcome.transfers.iter().filter(|one| one.misbehaves).map(|one| one.object_key).collect()
}

#[test]
fn share__draws_the_same_senders_under_every_scheme() {
    let scenario = |scheme: &str| {
        let base = Scenario { duration: "10s".into(), ..scenario(scheme) };
        let mix = vec![
            MixSpec { load: Some(0.8), ..entry("poisson", json!({"cap_bytes": 200_000})) },
            MixSpec { load: Some(0.1), name: Some("honest".into()), ..entry("poisson", json!({})) },
        ];
        let gaming = MisbehavingSpec {
            share: 0.3,
            min_bytes: "5kB".into(),
            sources: vec!["poisson".into()],
            ..MisbehavingSpec::default()
        };
        with_gaming(with_mix(base, mix), gaming)
    };
    let expected = list_misbehaving(&play(&scenario("droptail")));
    for &scheme in SCHEMES.iter() {
        let result = play(&scenario(scheme));
        assert_eq!(list_misbehaving(&result), expected, "{scheme}");
        let large = result.outcome.transfers.iter().filter(|one| one.object_bytes >= 5000 && one.source == 1);
        let large: BTreeSet<u64> = large.map(|one| one.object_key).collect();
        let share = expected.len() as f64 / large.len() as f64;
        assert!(large.len() > 60 && (0.15..0.45).contains(&share), "{scheme}: {share} of {}", large.len());
        assert!(result.outcome.transfers.iter().all(|one| one.source == 1 || !one.misbehaves));
    }
}

/// Flows without end become as many flows without end.
#[test]
fn split__multiplies_long_lived_flows() {
    let mix = vec![entry("ftp", json!({"users": 2, "endless": true}))];
    let result = play(&with_gaming(with_mix(scenario("droptail"), mix.clone()), split_all("parallel")));
    assert_eq!(result.outcome.flows.len(), 8);
    assert!(result.outcome.flows.iter().all(|flow| flow.misbehaves));
    let honest = play(&with_gaming(
        with_mix(scenario("droptail"), mix),
        MisbehavingSpec { share: 0.0, ..split_all("parallel") },
    ));
    assert_eq!(honest.outcome.flows.len(), 2);
    assert!(honest.outcome.flows.iter().all(|flow| !flow.misbehaves));
}

/// SFD's L2S is one of the model's own; its pieces say what they are pieces of.
#[test]
fn l2s__pieces_name_their_object() {
    let base = crate::common::with_model(scenario("droptail"), "web:sfd", 0.6);
    let params = Some(json!({"transform": "l2s", "cap_bytes": 1_000_000}));
    let base = Scenario { traffic: TrafficSpec { params, ..base.traffic }, ..base };
    let result = play(&base);
    let mut objects: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for part in &result.outcome.transfers {
        objects.entry(part.object_key).or_default().push((part.bytes, part.object_bytes));
    }
    // Objects whose first pieces came before the window are not whole.
    let whole = objects.values().filter(|parts| parts.iter().map(|part| part.0).sum::<u64>() == parts[0].1);
    assert!(whole.clone().any(|parts| parts.len() > 2));
    assert!(whole.count() * 10 > objects.len() * 9);
}
