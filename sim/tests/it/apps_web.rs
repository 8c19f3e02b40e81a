//! Web models in a mix and with misbehaving senders: pages, the writes of their connections, and servers.
use crate::common::{SCHEMES, entry, play, scenario, with_direction, with_mix};
use mousehole_sim::record::Transfer;
use mousehole_sim::scenario::spec::{MisbehavingSpec, MixSpec, ServerSpec, TrafficSpec};
use mousehole_sim::scenario::{RunResult, Scenario};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Returns browsers whose pages have seven objects of 5000 B, so that each connection of
/// `web:http11` writes 5000 and 30,000 B.
fn browsers(model: &str, name: &str) -> MixSpec {
    let params = json!({
        "users": 2, "think_mean_s": 0.5, "objects_min": 7, "objects_max": 7, "min_bytes": 5000, "cap_bytes": 5000
    });
    MixSpec { name: Some(name.into()), ..entry(model, params) }
}

/// Returns a scenario of these sources, whose buffer does not overflow.
fn roomy_scenario(scheme: &str, entries: Vec<MixSpec>) -> Scenario {
    let mut base = Scenario { warmup: "1s".into(), duration: "20s".into(), ..scenario(scheme) };
    base.link.buffer = "10000p".into();
    with_mix(base, entries)
}

/// Returns a scenario of two equal sources of browsers, one of another kind, and pages of
/// `web:http2`.
fn three_sources(scheme: &str) -> Scenario {
    roomy_scenario(
        scheme,
        vec![
            browsers("web:http11", "one"),
            browsers("web:http11", "two"),
            browsers("web:http10", "three"),
            MixSpec { load: Some(0.1), ..entry("web:http2", json!({})) },
        ],
    )
}

/// Returns the pages of a source that have all their transfers, by key.
fn group_pages(result: &RunResult, source: u16) -> BTreeMap<u64, Vec<Transfer>> {
    let mut pages: BTreeMap<u64, Vec<Transfer>> = BTreeMap::new();
    for one in result.outcome.transfers.iter().filter(|one| one.source == source && one.page != 0) {
        pages.entry(one.page).or_default().push(*one);
    }
    let known = |page: &Vec<Transfer>| page.len() == usize::from(page[0].page_transfers);
    pages.into_iter().filter(|(_, page)| known(page)).collect()
}

/// Returns number and bytes of a page's writes, sorted.
fn list_writes(page: &[Transfer]) -> Vec<(u32, u64)> {
    let mut writes: Vec<_> = page.iter().map(|one| (one.write, one.bytes)).collect();
    writes.sort_unstable();
    writes
}

#[test]
fn mix__each_web_entry_has_pages_of_its_own() {
    let result = play(&three_sources("droptail"));
    let mut seen = BTreeSet::new();
    for source in 1..=4 {
        let pages = group_pages(&result, source);
        assert!(pages.len() > 5, "source {source}: {}", pages.len());
        assert!(pages.keys().all(|&page| seen.insert(page)), "a page of source {source} is another's, too");
        match source {
            1 | 2 => assert!(pages.values().all(|page| list_writes(page) == [(0, 5000), (1, 30_000)])),
            3 => assert!(pages.values().all(|page| list_writes(page) == [(0, 5000); 7])),
            _ => {}
        }
    }
    assert!(result.ideal_s.iter().all(|time| time.is_finite()));
    for (one, alone) in result.outcome.transfers.iter().zip(&result.ideal_s) {
        assert!(one.end.since(one.start).as_secs() > alone - 1e-9, "{one:?} is faster than alone: {alone} s");
    }
}

/// Closed loops play on at other times under another scheme, but what a page is stays the same.
#[test]
fn mix__pages_are_the_same_under_every_scheme() {
    let mut known: BTreeMap<u64, (u16, Vec<(u32, u64)>)> = BTreeMap::new();
    for &scheme in SCHEMES.iter() {
        let result = play(&three_sources(scheme));
        assert!(result.is_conserved(), "{scheme}");
        for source in 1..=4 {
            for (key, page) in group_pages(&result, source) {
                let what = (source, list_writes(&page));
                assert_eq!(*known.entry(key).or_insert_with(|| what.clone()), what, "{scheme}");
            }
        }
    }
}

/// Runs pages of `web:http2` whose senders all split transfers of at least 20 kB into `split`
/// pieces and claim a window of one segment.
fn play_gamed(split: u32, params: Value) -> RunResult {
    let base = roomy_scenario("droptail", vec![MixSpec { load: Some(0.3), ..entry("web:http2", params) }]);
    let gaming = MisbehavingSpec {
        share: 1.0,
        split,
        hint: 1,
        min_bytes: "20000B".into(),
        ..MisbehavingSpec::default()
    };
    let traffic = TrafficSpec { gaming: Some(gaming), ..base.traffic };
    play(&Scenario { traffic, ..base })
}

/// A connection of several writes stays one: it can lie about its window, not come in pieces.
#[test]
fn misbehaving__keeps_the_writes_of_a_connection_together() {
    let [whole, split] = [1, 4].map(|split| play_gamed(split, json!({})));
    let long = |result: &RunResult| -> BTreeSet<(u64, u32, u64)> {
        let of = result.outcome.transfers.iter().filter(|one| one.template.is_some() && one.misbehaves);
        of.map(|one| (one.key, one.write, one.bytes)).collect()
    };
    let (whole, split) = (long(&whole), long(&split));
    assert!(whole.len() > 20 && whole == split, "{} and {}", whole.len(), split.len());
}

/// A server's CPU delays what servers send, whatever source asked for it, and nothing that clients send.
#[test]
fn server__works_for_downloads_only() {
    let with = |upload: bool| {
        let server = Some(ServerSpec { rate: "10kB/s".into(), order: "fcfs".into() });
        let direction = if upload { "up" } else { "down" };
        let params = json!({"users": 1, "mean_bytes": 20_000, "shape": 0, "off_s": 5.0});
        let base = roomy_scenario("droptail", vec![with_direction(direction, entry("ftp", params))]);
        play(&Scenario { server, duration: "200s".into(), ..base })
    };
    for (upload, service_s) in [(false, 2.0), (true, 0.0)] {
        let result = with(upload);
        assert!(result.outcome.transfers.len() > 3);
        for (one, alone) in result.outcome.transfers.iter().zip(&result.ideal_s) {
            assert_eq!((one.service_ns as f64 / 1e9, one.upload), (service_s, upload));
            assert!(*alone > service_s && *alone < service_s + 1.0, "{alone}");
            assert!(one.first_data.since(one.start).as_secs() >= service_s);
        }
    }
}
