//! Web models in the engine: how pages are fetched, their records, and servers with a CPU.
use crate::common::{connection, digest, play, scenario, with_connections, with_model, with_profile};
use mousehole_sim::record::Transfer;
use mousehole_sim::scenario::spec::{ServerSpec, TrafficSpec};
use mousehole_sim::scenario::{Plan, RunResult, Scenario, run};
use mousehole_sim::traffic::read::{ReadOptions, read_contents};
use mousehole_sim::units::{Dur, Time};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Returns a model with these parameters on a link whose buffer does not overflow.
fn model_scenario(model: &str, params: Value) -> Scenario {
    let mut base = scenario("droptail");
    base.link.buffer = "10000p".into();
    let traffic = TrafficSpec { model: Some(model.into()), params: Some(params), ..TrafficSpec::default() };
    Scenario { traffic, ..base }
}

/// Returns the transfers of each page that has them all, in order of start; pages are in order of
/// their keys.
fn whole_pages(result: &RunResult) -> Vec<Vec<Transfer>> {
    let mut pages: BTreeMap<u64, Vec<Transfer>> = BTreeMap::new();
    for transfer in result.outcome.transfers.iter().filter(|transfer| transfer.page != 0) {
        pages.entry(transfer.page).or_default().push(*transfer);
    }
    let whole = |page: &Vec<Transfer>| page.len() == usize::from(page[0].page_transfers);
    let mut pages: Vec<_> = pages.into_values().filter(whole).collect();
    pages.iter_mut().for_each(|page| page.sort_by_key(|transfer| (transfer.start, transfer.write)));
    pages
}

/// Returns the time from a page's start to its last transfer's end; panics for an empty page.
fn page_time(page: &[Transfer]) -> Dur {
    let end = page.iter().map(|transfer| transfer.end).max().expect("a page has transfers");
    end.since(page[0].start)
}

const FIXED: [(&str, u32); 4] =
    [("objects_min", 7), ("objects_max", 7), ("min_bytes", 5000), ("cap_bytes", 5000)];

/// Returns one user with pages of seven objects of 5000 B.
fn fixed_scenario(model: &str) -> Scenario {
    let mut params = json!({"users": 1, "think_mean_s": 0.5});
    FIXED.iter().for_each(|(name, value)| params[*name] = json!(value));
    model_scenario(model, params)
}

#[test]
fn http10__fetches_the_index_first_and_then_four_at_once() {
    let pages = whole_pages(&play(&fixed_scenario("web:http10")));
    assert!(pages.len() > 5);
    for page in &pages {
        assert_eq!(page.len(), 7);
        assert!(page[1..5].iter().all(|object| object.start == page[0].end), "four when the index is there");
        let mut ends: Vec<Time> = page[1..5].iter().map(|object| object.end).collect();
        ends.sort();
        assert_eq!([page[5].start, page[6].start], [ends[0], ends[1]], "another when one is complete");
        assert!(page.iter().all(|object| object.write == 0 && object.bytes == 5000));
    }
    // On an empty path the index takes its time alone.
    let result = play(&fixed_scenario("web:http10"));
    let index = result.outcome.transfers[0];
    assert!((index.end.since(index.start).as_secs() / result.ideal_s[0] - 1.0).abs() < 1e-9);
}

#[test]
fn http11__uses_one_connection_and_needs_less_time() {
    let pages = whole_pages(&play(&fixed_scenario("web:http11")));
    assert!(pages.len() > 5);
    for page in &pages {
        assert_eq!(
            page.iter().map(|part| (part.write, part.bytes)).collect::<Vec<_>>(),
            [(0, 5000), (1, 30_000)]
        );
        assert!(page[0].key == page[1].key && page[1].start == page[0].end);
    }
    let old = whole_pages(&play(&fixed_scenario("web:http10")));
    assert!(page_time(&pages[0]) < page_time(&old[0]), "no second handshake");
}

/// The user thinks after the page: the next never starts before the last byte of the one before.
#[test]
fn users__think_between_pages() {
    for model in ["web:http10", "web:http11", "web:rio-ps"] {
        let params = if model == "web:rio-ps" {
            json!({"sessions": 1, "inter_page_s": 0.2})
        } else {
            json!({"users": 1})
        };
        let mut pages =
            whole_pages(&play(&Scenario { duration: "200s".into(), ..model_scenario(model, params) }));
        pages.sort_by_key(|page| page[0].start);
        assert!(pages.len() > 10, "{model}: {}", pages.len());
        for pair in pages.windows(2) {
            let end = pair[0].iter().map(|transfer| transfer.end).max();
            assert!(Some(pair[1][0].start) >= end, "{model}");
        }
    }
}

/// SHRED: all objects of a page at once, and the load on object bytes is what was asked for.
#[test]
fn shred__offers_a_constant_load() {
    let params = json!({"objects_min": 1, "objects_max": 8, "cap_bytes": 30_000});
    let mut base = Scenario { duration: "200s".into(), ..model_scenario("web:shred", params) };
    base.traffic.load = Some(0.8);
    let result = play(&base);
    let bytes: u64 = result.outcome.transfers.iter().map(|transfer| transfer.bytes).sum();
    let load = bytes as f64 * 8.0 / 200.0 / 4e6;
    assert!((load - 0.8).abs() < 0.002, "constant, so exact but for the ends: {load}");
    assert!(result.load.achieved.expect("a load") > 0.83, "headers come on top");
    let pages = whole_pages(&result);
    assert!(pages.iter().all(|page| page.iter().all(|object| object.start == page[0].start)));
    let mut next = pages
        .iter()
        .map(|page| (page[0].start, page.iter().map(|one| one.bytes).sum::<u64>()))
        .collect::<Vec<_>>();
    next.sort_unstable();
    for pair in next.windows(2) {
        let gap = 8.0 * pair[0].1 as f64 / 3.2e6;
        assert!((pair[1].0.since(pair[0].0).as_secs() - gap).abs() < 1e-6);
    }
}

/// A page of HTTP/2 waits for the user on its connection; with a download at the same time, the
/// connection carries twice the bytes.
#[test]
fn http2__keeps_its_connection_and_shares_it_with_a_download() {
    let of = |download: u64| {
        let params = json!({"download_bytes": download, "connections_per_s": 0.2, "inter_page_s": 2.0});
        play(&Scenario { duration: "60s".into(), ..model_scenario("web:http2", params) })
    };
    let bytes = |result: &RunResult| {
        let of_pages = result.outcome.transfers.iter().filter(|transfer| transfer.page != 0);
        of_pages.map(|one| ((one.page, one.write % 2), one.bytes)).collect::<BTreeMap<_, _>>()
    };
    let (plain, shared) = (of(0), of(500_000));
    assert!(plain.outcome.transfers.iter().all(|transfer| transfer.page != 0 && transfer.write < 400));
    assert!(shared.outcome.transfers.iter().any(|transfer| transfer.page == 0), "portions of the download");
    assert!(whole_pages(&plain).len() > 20);
    let sums = |of: &BTreeMap<(u64, u32), u64>| {
        let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
        of.iter().for_each(|((page, _), bytes)| *sums.entry(*page).or_default() += bytes);
        sums
    };
    let (plain, shared) = (sums(&bytes(&plain)), sums(&bytes(&shared)));
    let both: Vec<(u64, u64, u64)> = plain
        .iter()
        .filter_map(|(page, bytes)| shared.get(page).map(|twice| (*page, *bytes, *twice)))
        .collect();
    let doubled = both.iter().filter(|(_, bytes, twice)| *twice == 2 * bytes).count();
    let same = both.iter().filter(|(_, bytes, twice)| twice == bytes).count();
    assert!(doubled > 5 && same > 3, "{doubled} doubled, {same} first pages of {}", both.len());
}

/// PackMime's server delay belongs to the response, and to the time alone.
#[test]
fn packmime__answers_after_the_servers_delay() {
    let run = |cap| {
        let params = json!({"connections_per_s": 2.0, "delay_cap_s": cap, "cap_bytes": 1000});
        play(&model_scenario("web:packmime", params))
    };
    let (with, without) = (run(0.1), run(0.0));
    assert_eq!(with.outcome.transfers.len(), without.outcome.transfers.len());
    let by_key = |result: &RunResult| {
        let pairs = result.outcome.transfers.iter().zip(&result.ideal_s);
        pairs
            .map(|(one, alone)| (one.key, (one.end.since(one.start).as_secs(), *alone, one.service_ns)))
            .collect::<BTreeMap<_, _>>()
    };
    let (with, without) = (by_key(&with), by_key(&without));
    let close = with.iter().filter(|(key, (response, alone, service))| {
        let (plain, plain_alone, _) = without[*key];
        let delay = *service as f64 / 1e9;
        (response - plain - delay).abs() < 0.005 && (alone - plain_alone - delay).abs() < 1e-9
    });
    assert!(close.count() as f64 > 0.9 * with.len() as f64, "but for those that meet another on the link");
}

/// With a CPU of 100 kB/s a response of 10 kB waits 100 ms, and the next behind it 100 ms more.
#[test]
fn server__delays_responses_by_its_queue() {
    let two = || {
        vec![
            connection(0.0, &[(0.0, 10_000)]),
            connection(0.001, &[(0.0, 2000)]),
            connection(0.002, &[(0.0, 1000)]),
        ]
    };
    let ends = |order: Option<&str>, profile: &str| {
        let server = order.map(|order| ServerSpec { rate: "100kB/s".into(), order: order.into() });
        let base = with_profile(Scenario { server, ..scenario("droptail") }, profile);
        let result = play(&with_connections(base, two()));
        let firsts: BTreeMap<u64, f64> =
            result.outcome.transfers.iter().map(|one| (one.bytes, one.first_data.as_secs())).collect();
        firsts
    };
    for profile in ["rfc", "ns2-2001"] {
        let [none, fcfs, stf] = [None, Some("fcfs"), Some("stf")].map(|order| ends(order, profile));
        let begin = none[&10_000];
        for (found, expected) in [
            (fcfs[&10_000], 0.1),
            (fcfs[&2000], 0.12),
            (fcfs[&1000], 0.13),
            (stf[&10_000], 0.1),
            (stf[&1000], 0.11),
            (stf[&2000], 0.13),
        ] {
            assert!(
                (found - begin - expected).abs() < 1e-6,
                "{profile}: {found} s for {expected} s after {begin} s"
            );
        }
    }
}

/// A request that waits long at its server is not repeated, and is alone as slow as the server is.
#[test]
fn server__long_jobs_are_no_timeouts() {
    let server = Some(ServerSpec { rate: "1kB/s".into(), order: "fcfs".into() });
    let result = play(&with_connections(
        Scenario { server, ..scenario("droptail") },
        vec![connection(0.0, &[(0.0, 9000)])],
    ));
    let one = result.outcome.transfers[0];
    assert!((one.end.as_secs() / result.ideal_s[0] - 1.0).abs() < 1e-9 && one.end.as_secs() > 9.0);
    assert_eq!(result.outcome.queues[1].colours[0].arrived.packets, 2 + 4, "SYN, request, and ACKs");
}

/// Pages that begin in the window are recorded as a whole, whatever is left of the window.
#[test]
fn pages__that_begin_in_the_window_are_whole() {
    let mut base = with_model(scenario("droptail"), "web:http10", 0.9);
    (base.warmup, base.duration) = ("10s".into(), "20s".into());
    let result = play(&base);
    let mut pages: BTreeMap<u64, Vec<&Transfer>> = BTreeMap::new();
    result.outcome.transfers.iter().for_each(|one| pages.entry(one.page).or_default().push(one));
    let end = Time(30_000_000_000);
    let late = result.outcome.transfers.iter().filter(|one| one.start >= end).count();
    assert!(late > 0, "some object was asked for after the window");
    // The number of a page is that of its index and one.
    let has_index = |page: &&Vec<&Transfer>| page.iter().any(|one| one.key + 1 == one.page);
    let broken: Vec<_> = pages
        .values()
        .filter(has_index)
        .filter(|page| page.len() < usize::from(page[0].page_transfers))
        .collect();
    assert!(broken.is_empty(), "{broken:?}");
}

/// Every model meets every scheme in the same way, keeps the laws, and depends on nothing but its seed.
#[test]
fn models__play_under_schemes_and_repeat() {
    for model in [
        "web:sfd",
        "web:rio-ps",
        "web:rio-ps-small",
        "web:rio-ps-large",
        "web:http10",
        "web:http11",
        "web:http2",
        "web:shred",
        "web:packmime",
    ] {
        for scheme in ["droptail", "sfd", "ns2-rio(gentle=true)"] {
            let base = Scenario { duration: "10s".into(), ..with_model(scenario(scheme), model, 0.6) };
            let one = play(&base);
            assert!(one.is_conserved() && !one.outcome.transfers.is_empty(), "{model} {scheme}");
            assert_eq!(one.ideal_s.len(), one.outcome.transfers.len());
            assert!(one.ideal_s.iter().all(|alone| *alone > 0.0), "{model} {scheme}");
            if scheme == "sfd" {
                assert_eq!(digest(&one), digest(&play(&base)), "{model} {scheme}");
                let slow = play(&Scenario { slow_path: true, ..base });
                assert_eq!(one.outcome.transfers, slow.outcome.transfers, "{model} {scheme}: slow path");
            }
        }
    }
}

/// The load that comes out over a long time is the one asked for, where the loop is open.
#[test]
fn open_models__offer_the_load_they_promise() {
    for (model, params) in [
        (
            "web:http2",
            json!({"cap_bytes": 50_000, "objects_per_page": 4.0, "pages_per_connection": 3.0, "inter_page_s": 1.0, "download_bytes": 100_000}),
        ),
        (
            "web:http2",
            json!({"cap_bytes": 50_000, "objects_per_page": 4.0, "pages_per_connection": 3.0, "inter_page_s": 1.0}),
        ),
        ("web:packmime", json!({"cap_bytes": 50_000, "dependence": 0.0})),
    ] {
        let mut base = Scenario { duration: "1000s".into(), ..model_scenario(model, params) };
        base.traffic.load = Some(0.4);
        let result = play(&base);
        let sent = result.outcome.queues[0].sent().bytes as f64 * 8.0 / 1000.0 / 4e6;
        assert!((sent / 0.4 - 1.0).abs() < 0.06, "{model}: {sent}");
    }
}

#[test]
fn server__faults_name_the_field() {
    let with = |rate: &str, order: &str| {
        let server = Some(ServerSpec { rate: rate.into(), order: order.into() });
        Plan::new(&Scenario { server, ..with_model(scenario("droptail"), "web:sfd", 0.5) })
            .err()
            .map(|fault| fault.to_string())
    };
    assert_eq!(with("200kB/s", "stf"), None);
    assert!(
        with("200kB", "fcfs").is_some_and(|fault| fault.contains("server.rate") && fault.contains("200kB/s"))
    );
    assert!(with("0B/s", "fcfs").is_some_and(|fault| fault.contains("server.rate")));
    assert!(
        with("2MB/s", "sft").is_some_and(|fault| fault.contains("server.order") && fault.contains("stf"))
    );
}

#[test]
fn models__faults_name_the_parameter() {
    for (model, params, named) in [
        ("web:shred", json!({"objects_min": 9}), "traffic.params.objects_min"),
        ("web:rio-ps", json!({"min_packets": 200_000}), "traffic.params.min_packets"),
        ("web:http10", json!({"min_bytes": 0}), "traffic.params.min_bytes"),
        ("web:http11", json!({"paralell": 3}), "did you mean \"parallel\""),
        ("web:http2", json!({"pages_per_connection": 0}), "traffic.params.pages_per_connection"),
        ("web:packmime", json!({"dependence": 0.5}), "traffic.params.dependence"),
    ] {
        let fault = Plan::new(&model_scenario(model, params)).expect_err(model).to_string();
        assert!(fault.contains(named), "{fault}");
    }
}

const LOG: &str = r#"c1 - - [10/Oct/2000:13:55:36 +0000] "GET /a.html HTTP/1.0" 200 4000 "-" "x"
c1 - - [10/Oct/2000:13:55:37 +0000] "GET /a.css HTTP/1.0" 200 3000 "http://h/a.html" "x"
c2 - - [10/Oct/2000:13:55:37 +0000] "GET /a.gif HTTP/1.0" 200 1000 "http://h/a.html" "x"
c1 - - [10/Oct/2000:13:55:38 +0000] "GET /a.gif HTTP/1.0" 200 2000 "http://h/a.css" "x"
c1 - - [10/Oct/2000:13:55:50 +0000] "GET /b/ HTTP/1.0" 304 - "http://h/a.html" "x"
c1 - - [10/Oct/2000:13:55:50 +0000] "GET /b.gif HTTP/1.0" 200 5000 "http://h/b/" "x"
"#;

/// A page of an access log keeps its name through copies, laps and schemes, and no copy shares it with another.
#[test]
fn access_log__pages_reach_the_records() {
    let traffic = read_contents(&[("log", LOG.as_bytes())], &ReadOptions::default()).expect("a log");
    assert_eq!(traffic.pages.count(), 2);
    let mut base = Scenario { duration: "300s".into(), ..scenario("droptail") };
    base.traffic = TrafficSpec { files: vec!["log".into()], load: Some(0.02), ..TrafficSpec::default() };
    let plan = Plan::new(&base).expect("a scenario");
    let result = run(&plan, Some(Arc::new(traffic)), &AtomicBool::new(false)).expect("a run");
    assert!(result.load.copies > 1);
    let pages = whole_pages(&result);
    assert!(pages.len() > 20, "{}", pages.len());
    for page in pages {
        let mut sizes: Vec<u64> = page.iter().map(|one| one.bytes).collect();
        sizes.sort_unstable();
        assert!(sizes == [2000, 3000, 4000] || sizes == [5000], "{sizes:?}");
        assert!(page_time(&page) < Dur::from_secs(5.0), "of one copy, also where the period ends");
    }
    let alone = result.outcome.transfers.iter().filter(|one| one.page == 0);
    assert!(alone.map(|one| one.bytes).all(|bytes| bytes == 1000), "another client's");
}

const ZEEK: &str = "#separator \\x09\n#path\thttp\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\ttrans_depth\thost\turi\treferrer\trequest_body_len\tresponse_body_len\n\
    1.5\tA\tc\t1\ts\t80\t1\th.org\t/\t-\t0\t1000\n\
    2.0\tA\tc\t1\ts\t80\t2\th.org\t/x.png\thttp://h.org/\t0\t2000\n\
    2.1\tB\tc\t2\tt\t80\t1\tcdn.org\t/y.js\thttp://h.org/\t0\t3000\n\
    9.0\tA\tc\t1\ts\t80\t3\th.org\t/next\thttp://h.org/\t0\t4000\n";

/// In an http.log a page may spread over connections, and a connection over pages.
#[test]
fn zeek_http__pages_follow_the_referrer() {
    let traffic = read_contents(&[("http.log", ZEEK.as_bytes())], &ReadOptions::default()).expect("a log");
    let of = |connection, write| traffic.pages.find_page(connection, write);
    assert_eq!([of(0, 0), of(0, 1), of(1, 0), of(0, 2)], [(1, 3), (1, 3), (1, 3), (2, 1)]);
}
