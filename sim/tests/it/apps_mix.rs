//! Several sources at once: keys, names, and the same draws under every scheme.
use crate::common::{
    SCHEMES, assert_error, entry, find_error, play, scenario, with_direction, with_mix, with_model,
};
use mousehole_sim::scenario::spec::{MisbehavingSpec, MixSpec, TrafficSpec};
use mousehole_sim::scenario::{Plan, RunResult, Scenario};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Returns a scenario of a mix of six sources under `scheme`, with 1 s of warm-up and a window of 8
/// s. Sources 1 and 2 are open-loop.
fn short_scenario(scheme: &str) -> Scenario {
    let base = Scenario { warmup: "1s".into(), duration: "8s".into(), max_windows: 10, ..scenario(scheme) };
    with_mix(
        base,
        vec![
            MixSpec { load: Some(0.4), ..entry("poisson", json!({})) },
            with_direction(
                "up",
                MixSpec { load: Some(0.2), name: Some("up".into()), ..entry("poisson", json!({})) },
            ),
            MixSpec { count: Some(3), ..entry("telnet", json!({})) },
            with_direction("both", MixSpec { count: Some(2), ..entry("ftp", json!({"mean_bytes": 60000})) }),
            MixSpec { count: Some(2), ..entry("voip", json!({})) },
            MixSpec { load: Some(0.2), ..entry("web:sfd", json!({})) },
        ],
    )
}

type Named = (u64, u32, u16, bool, u64);

/// Returns key, source, bytes and start in ns of the transfers of the open-loop sources, sorted.
fn list_open_loop_transfers(result: &RunResult) -> Vec<(u64, u16, u64, u64)> {
    let open = result.outcome.transfers.iter().filter(|one| one.source <= 2);
    let mut named: Vec<_> = open.map(|one| (one.key, one.source, one.bytes, one.start.0)).collect();
    named.sort_unstable();
    named
}

#[test]
fn mix__keys_are_unique_and_name_the_same_under_every_scheme() {
    let mut known: BTreeMap<(u64, u32), Named> = BTreeMap::new();
    let expected = list_open_loop_transfers(&play(&short_scenario("droptail")));
    assert!(expected.len() > 60, "{}", expected.len());
    for &scheme in SCHEMES.iter() {
        let result = play(&short_scenario(scheme));
        assert!(result.is_conserved(), "{scheme}: {:?}", result.outcome.balance);
        assert_eq!(list_open_loop_transfers(&result), expected, "{scheme}");
        let mut seen = BTreeSet::new();
        for one in &result.outcome.transfers {
            assert!(seen.insert((one.key, one.write)), "{scheme}: {one:?} stands twice");
            let what = (one.bytes, one.client, one.source, one.upload, one.object_key);
            assert_eq!(*known.entry((one.key, one.write)).or_insert(what), what, "{scheme}");
        }
    }
}

#[test]
fn mix__records_name_their_source() {
    let result = play(&short_scenario("sfd"));
    let names: Vec<&str> = result.sources.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["poisson", "up", "telnet", "ftp", "voip", "web:sfd"]);
    let of: BTreeMap<u16, &str> =
        result.sources.iter().map(|(number, name)| (*number, name.as_str())).collect();
    let found: BTreeSet<&str> = result.outcome.transfers.iter().map(|one| of[&one.source]).collect();
    assert_eq!(found, BTreeSet::from(["poisson", "up", "telnet", "ftp", "web:sfd"]));
    for one in &result.outcome.transfers {
        match of[&one.source] {
            "up" => assert!(one.upload),
            "poisson" | "telnet" | "web:sfd" => assert!(!one.upload),
            _ => {}
        }
    }
    assert!(result.outcome.datagrams.iter().all(|flow| of[&flow.source] == "voip"));
    assert_eq!(result.outcome.datagrams.len(), 4);
    assert!(result.goodput_bps > 0.0 && result.goodput_up_bps > 0.0);
}

/// The main source keeps its keys and draws when a mix is added.
#[test]
fn mix__the_main_source_is_as_without_it() {
    let base = Scenario { warmup: "1s".into(), duration: "8s".into(), ..scenario("droptail") };
    let alone = with_model(base, "poisson", 0.3);
    let mut beside = alone.clone();
    beside.traffic.mix = vec![MixSpec { count: Some(4), ..entry("telnet", json!({})) }];
    let main = |result: &RunResult| {
        let own = result.outcome.transfers.iter().filter(|one| one.source == 0);
        own.map(|one| (one.key, one.bytes, one.start)).collect::<BTreeSet<_>>()
    };
    let (without, with) = (play(&alone), play(&beside));
    assert_eq!(main(&without), main(&with));
    assert!(with.outcome.transfers.iter().any(|one| one.source == 1));
    assert_eq!(without.sources, [(0, "poisson".to_string())]);
}

/// Two entries of the same model do not draw alike.
#[test]
fn mix__equal_entries_are_different_traffic() {
    let twice = vec![MixSpec { load: Some(0.2), ..entry("poisson", json!({})) }; 2];
    let result = play(&with_mix(Scenario { duration: "10s".into(), ..scenario("droptail") }, twice));
    let sizes = |source| {
        let own = result.outcome.transfers.iter().filter(move |one| one.source == source);
        own.map(|one| one.bytes).collect::<BTreeSet<_>>()
    };
    assert!(sizes(1).len() > 15 && sizes(1).intersection(&sizes(2)).count() * 5 < sizes(1).len());
    let names: Vec<&str> = result.sources.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["poisson", "poisson-2"]);
}

#[test]
fn mix__faults_name_the_entry() {
    let with = |specs: Vec<MixSpec>| find_error(&with_mix(scenario("droptail"), specs));
    let one = |spec: MixSpec| with(vec![spec]);
    assert_error(
        &one(entry("telnt", json!({}))),
        &["traffic.mix[0].model", "\"telnt\"", "did you mean \"telnet\""],
    );
    assert_error(
        &one(entry("telnet", json!({"usrs": 1}))),
        &["traffic.mix[0].params", "\"usrs\"", "did you mean \"users\""],
    );
    assert_error(
        &one(entry("ftp", json!({"users": 0}))),
        &["traffic.mix[0].params.users", "0", "from 1 to 100000"],
    );
    assert_error(
        &one(with_direction("out", entry("ftp", json!({})))),
        &["traffic.mix[0].payload", "\"out\"", "up"],
    );
    for (old_name, old) in
        [("\"direction\"", json!({"direction": "up"})), ("\"upload\"", json!({"upload": true}))]
    {
        assert_error(
            &one(entry("poisson", old)),
            &["traffic.mix[0].params", old_name, "was replaced", "payload = \"up\""],
        );
    }
    for (model, way) in [("poisson", "both"), ("web:sfd", "up"), ("telnet", "both")] {
        assert_error(
            &one(with_direction(way, entry(model, json!({})))),
            &["traffic.mix[0].payload", &format!("\"{way}\""), model],
        );
    }
    assert_error(&one(entry("ftp", json!({"shape": 0.5}))), &["traffic.mix[0].params.shape", "0.5", "1.001"]);
    assert_error(
        &one(MixSpec { load: Some(0.5), ..entry("ftp", json!({})) }),
        &["traffic.mix[0].load", "0.5", "model ftp, which has a number of users"],
    );
    assert_error(
        &one(MixSpec { load: Some(3.0), ..entry("poisson", json!({})) }),
        &["traffic.mix[0].load", "3", "at most 2"],
    );
    assert_error(
        &one(MixSpec { count: Some(5), ..entry("poisson", json!({})) }),
        &["traffic.mix[0].count", "5", "no number of users", "give load or params.transfers_per_s"],
    );
    for (model, parameter) in [
        ("web:sfd", "inter_session_s"),
        ("web:shred", "load_bps"),
        ("web:packmime", "connections_per_s"),
        ("web:http2", "connections_per_s"),
    ] {
        let spec = MixSpec { count: Some(5), ..entry(model, json!({})) };
        assert_error(&one(spec), &["traffic.mix[0].count", "5", model, "give load", parameter]);
        assert!(
            Plan::new(&with_mix(scenario("droptail"), vec![entry(model, json!({parameter: 7.0}))])).is_ok()
        );
    }
    let both = MixSpec { count: Some(5), load: Some(0.5), ..entry("web:rio-ps", json!({})) };
    assert_error(&one(both), &["traffic.mix[0].count", "5", "load", "one of them"]);
    let twice = MixSpec { count: Some(5), ..entry("web:http10", json!({"users": 4})) };
    assert_error(&one(twice), &["traffic.mix[0].count", "5", "params.users", "one of them"]);
    let twice = MixSpec { name: Some("a".into()), ..entry("telnet", json!({})) };
    assert_error(&with(vec![twice.clone(), twice]), &["traffic.mix[0].name", "\"a\"", "no other source"]);
    assert_error(&with(vec![entry("telnet", json!({})); 64]), &["traffic.mix", "64 entries", "at most 63"]);
    let mut up = with_mix(scenario("droptail"), vec![entry("ftp", json!({}))]);
    up.traffic.payload = Some("up".into());
    assert_error(&find_error(&up), &["traffic.payload", "\"up\"", "a payload of its own"]);
    let one_way = crate::common::with_profile(
        with_mix(scenario("droptail"), vec![entry("telnet", json!({}))]),
        "ns2-2001",
    );
    assert_error(&find_error(&one_way), &["tcp.profile", "\"ns2-2001\"", "rfc or linux"]);
    let listed = Scenario {
        traffic: TrafficSpec { load: Some(0.5), model: Some("voip".into()), ..TrafficSpec::default() },
        ..scenario("droptail")
    };
    assert_error(&find_error(&listed), &["traffic.load", "0.5", "voip", "a number of users"]);
}

/// Of models that have so many users, `count` says how many.
#[test]
fn count__is_the_parameter_that_says_how_many() {
    for (model, parameter) in [
        ("web:rio-ps", "sessions"),
        ("web:rio-ps-small", "sessions"),
        ("web:rio-ps-large", "sessions"),
        ("web:http10", "users"),
        ("web:http11", "users"),
        ("telnet", "users"),
        ("ftp", "users"),
        ("udp", "flows"),
        ("voip", "calls"),
        ("game", "players"),
        ("videocall", "calls"),
        ("stream", "viewers"),
    ] {
        let spec = MixSpec { count: Some(7), ..MixSpec { model: model.into(), ..MixSpec::default() } };
        let plan =
            Plan::new(&with_mix(scenario("droptail"), vec![spec])).unwrap_or_else(|error| panic!("{error}"));
        let filled = &plan.filled().traffic.mix[0];
        assert_eq!(filled.params.as_ref().expect("filled in")[parameter], 7, "{model}");
    }
}

#[test]
fn misbehaving__faults_name_the_field() {
    let with = |spec: MisbehavingSpec| {
        let mut scenario = with_mix(scenario("droptail"), vec![entry("ftp", json!({}))]);
        scenario.traffic.gaming = Some(spec);
        find_error(&scenario)
    };
    let good = MisbehavingSpec::default;
    assert_error(&with(MisbehavingSpec { share: 1.5, ..good() }), &["traffic.gaming.share", "1.5", "0 to 1"]);
    assert_error(&with(MisbehavingSpec { split: 0, ..good() }), &["traffic.gaming.split", "0", "1 to 1000"]);
    assert_error(
        &with(MisbehavingSpec { pieces: "paralel".into(), ..good() }),
        &["traffic.gaming.pieces", "\"paralel\"", "did you mean \"parallel\""],
    );
    assert_error(
        &with(MisbehavingSpec { min_bytes: "10".into(), ..good() }),
        &["traffic.gaming.min_bytes", "\"10\"", "no unit"],
    );
    assert_error(
        &with(MisbehavingSpec { sources: vec!["fpt".into()], ..good() }),
        &["traffic.gaming.sources", "\"fpt\"", "did you mean \"ftp\""],
    );
}

#[test]
fn mix__toml_and_what_is_filled_in_read_the_same() {
    let text = "[traffic]\n[[traffic.mix]]\nmodel = \"ftp\"\ncount = 3\nparams = { endless = true }\n\
                [[traffic.mix]]\nname = \"calls\"\nmodel = \"voip\"\n[traffic.gaming]\nhint = 1\nsplit = 1\n";
    let scenario = Scenario::from_toml(text, "mix.toml").unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::new(&scenario).unwrap_or_else(|error| panic!("{error}"));
    let filled = plan.filled();
    let again =
        Scenario::from_toml(&filled.to_toml(), "filled.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, filled);
    let params = filled.traffic.mix[0].params.as_ref().expect("filled in");
    assert_eq!((params["users"].as_u64(), params["endless"].as_bool()), (Some(3), Some(true)));
    assert_eq!(filled.traffic.mix[0].name.as_deref(), Some("ftp"));
}
