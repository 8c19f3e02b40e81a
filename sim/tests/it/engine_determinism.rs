//! The same seed gives the same run, in any number of threads, and the same traffic under every scheme.
use crate::common::{SCHEMES, digest, play, scenario, with_model};
use mousehole_sim::scenario::Scenario;
use std::collections::BTreeMap;

/// Returns a scenario of a model at a load, with 1 s of warm-up and a window of 6 s.
fn short_scenario(scheme: &str, model: &str, load: f64) -> Scenario {
    let base = Scenario { warmup: "1s".into(), duration: "6s".into(), max_windows: 10, ..scenario(scheme) };
    with_model(base, model, load)
}

/// Returns the digests of every second scheme's run, in the order of schemes, computed by so many
/// threads.
fn compute_digests(threads: usize) -> Vec<u64> {
    let scenarios: Vec<Scenario> =
        SCHEMES.iter().step_by(2).map(|scheme| short_scenario(scheme, "web:sfd", 0.8)).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let mut found: Vec<(usize, u64)> = std::thread::scope(|scope| {
        let work = || {
            let mut mine = Vec::new();
            loop {
                let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let Some(scenario) = scenarios.get(index) else { return mine };
                mine.push((index, digest(&play(scenario))));
            }
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    found.sort_unstable();
    found.into_iter().map(|(_, digest)| digest).collect()
}

#[test]
fn seed__same_result_with_any_number_of_threads() {
    let once = compute_digests(1);
    assert_eq!(once.len(), SCHEMES.len().div_ceil(2));
    assert_eq!(once, compute_digests(2));
    assert_eq!(once, compute_digests(4));
}

#[test]
fn seed__another_replication_or_seed_is_another_run() {
    for model in ["web:sfd", "poisson"] {
        let base = short_scenario("sfd", model, 0.8);
        let first = digest(&play(&base));
        assert_ne!(first, digest(&play(&Scenario { replication: 1, ..base.clone() })));
        assert_ne!(first, digest(&play(&Scenario { seed: 2, ..base })));
    }
}

/// Open-loop traffic does not depend on the network: the same transfers start at the same times.
#[test]
fn draws__open_loop_traffic_is_the_same_under_every_scheme() {
    let traffic_under = |scheme: &str| {
        let result = play(&short_scenario(scheme, "poisson", 0.95));
        let mut traffic: Vec<_> =
            result.outcome.transfers.iter().map(|one| (one.key, one.write, one.bytes, one.start)).collect();
        traffic.sort_unstable();
        traffic
    };
    let expected = traffic_under("droptail");
    assert!(expected.len() > 50, "{} transfers", expected.len());
    for &scheme in SCHEMES.iter() {
        assert_eq!(traffic_under(scheme), expected, "{scheme}");
    }
}

/// Closed-loop traffic makes the same draws: what the same key names has the same size and client.
#[test]
fn draws__closed_loop_keys_name_the_same_object_under_every_scheme() {
    let mut known: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
    let mut seen = 0;
    for &scheme in SCHEMES.iter() {
        for transfer in play(&short_scenario(scheme, "web:sfd", 0.95)).outcome.transfers {
            let what = (transfer.bytes, transfer.client);
            assert_eq!(*known.entry(transfer.key).or_insert(what), what, "{scheme}: {transfer:?}");
            seen += 1;
        }
    }
    assert!(known.len() * 4 < seen, "keys recur: {} keys, {seen} transfers", known.len());
}
