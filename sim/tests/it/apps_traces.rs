//! Traces in a mix, together with models and listed connections.
use crate::common::{assert_error, connection, entry, find_error, scenario, with_mix};
use mousehole_sim::record::Transfer;
use mousehole_sim::scenario::spec::{MisbehavingSpec, MixSpec};
use mousehole_sim::scenario::{Plan, RunResult, Scenario, run};
use mousehole_sim::traffic::Traffic;
use mousehole_sim::traffic::read::{Direction, ReadOptions, read_contents};
use mousehole_sim::units::Time;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Returns a trace of twenty pages, each of another client: a document and a picture, read from a
/// web server's log. `direction` is that of its payload.
fn make_trace(direction: Direction) -> Traffic {
    let line = |page: u32, second: u32, path: &str, referer: &str, bytes: u32| {
        let stamp = format!("[12/Mar/2023:10:00:{second:02} +0000]");
        format!("10.0.0.{page} - - {stamp} \"GET {path} HTTP/1.1\" 200 {bytes} \"{referer}\" \"-\"\n")
    };
    let mut log = String::new();
    for page in 0..20 {
        let document = format!("/p{page}.html");
        log += &line(page, 2 * page, &document, "-", 9000 + page);
        log += &line(page, 2 * page + 1, &format!("/p{page}.png"), &format!("http://h{document}"), 20_000);
    }
    let options = ReadOptions { direction, ..ReadOptions::default() };
    read_contents(&[("access.log", log.as_bytes())], &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a trace of uploads, one of them in two writes.
fn make_uploads() -> Traffic {
    let table = "start,client,conn,bytes_up\n0,a,1,5000\n1,b,2,3000\n3,b,2,7000\n4,c,3,40000\n";
    let options = ReadOptions { direction: Direction::Up, ..ReadOptions::default() };
    read_contents(&[("up.csv", table.as_bytes())], &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns an entry of a mix that replays a file; the file need not exist, since tests pass its
/// traffic.
fn file_entry(name: &str, load: Option<f64>) -> MixSpec {
    MixSpec { files: vec![format!("some/{name}")], load, ..MixSpec::default() }
}

/// Returns a scenario of a trace, calls, uploads from a trace, and two listed connections;
/// [`make_parts`] has its traces.
fn scenario_with_everything(scheme: &str) -> Scenario {
    let up = MixSpec { payload: Some("up".into()), ..file_entry("up.csv", Some(0.2)) };
    let calls = MixSpec { count: Some(2), ..entry("voip", json!({})) };
    let base = Scenario { duration: "30s".into(), max_windows: 10, ..scenario(scheme) };
    let mut all = with_mix(base, vec![file_entry("access.log", Some(0.4)), calls, up]);
    all.traffic.connections =
        vec![connection(2.0, &[(0.0, 10_000_000)]), connection(3.0, &[(0.0, 1), (1.0, 2)])];
    all
}

/// Runs a scenario with these traces, by number of their source; panics if it is refused.
fn play_parts(scenario: &Scenario, parts: Vec<(u16, Traffic)>) -> RunResult {
    let plan = Plan::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let traffic = Arc::new(Traffic::combine(parts));
    run(&plan, Some(traffic), &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the traces of [`scenario_with_everything`], by number of their source.
fn make_parts() -> Vec<(u16, Traffic)> {
    vec![(1, make_trace(Direction::Down)), (3, make_uploads().into_uploads())]
}

/// Returns the transfers of a source that start within the window. Later ones, of pages that began
/// in it, are measured only while the run goes on.
fn filter_measured(result: &RunResult, source: u16) -> impl Iterator<Item = &Transfer> {
    let end = Time(30_000_000_000);
    result.outcome.transfers.iter().filter(move |one| one.source == source && one.start < end)
}

/// Returns the drawn properties of a source's transfers: key, write, bytes, and the start of the
/// first write.
fn collect_transfers(result: &RunResult, source: u16) -> BTreeSet<(u64, u32, u64, u64)> {
    let own = filter_measured(result, source);
    own.map(|one| (one.key, one.write, one.bytes, if one.write == 0 { one.start.0 } else { 0 })).collect()
}

#[test]
fn trace__mixes_with_models_and_connections() {
    let result = play_parts(&scenario_with_everything("sfd"), make_parts());
    assert!(result.is_conserved(), "{:?}", result.outcome.balance);
    let names: Vec<&str> = result.sources.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["traffic", "access.log", "voip", "up.csv"]);
    assert_eq!(collect_transfers(&result, 0).iter().map(|one| one.2).collect::<Vec<_>>(), [10_000_000, 1, 2]);
    assert_eq!(result.outcome.datagrams.len(), 4);
    for one in &result.outcome.transfers {
        match one.source {
            0 => assert!(!one.upload),
            1 => assert!(!one.upload && (one.bytes == 20_000 || (9000..9020).contains(&one.bytes))),
            3 => assert!(one.upload && [5000, 3000, 7000, 40_000].contains(&one.bytes)),
            other => panic!("source {other}"),
        }
    }
    let seconds = 30.0;
    let payload = |source| collect_transfers(&result, source).iter().map(|one| one.2 as f64).sum::<f64>();
    for (source, load) in [(1, 0.4), (3, 0.2)] {
        let offered = payload(source) * 8.0 / seconds / 4e6;
        assert!((0.6 * load..1.2 * load).contains(&offered), "{source}: {offered}");
    }
    let calls = 2.0 * 8.0 * 200.0 / 0.02 * 1.004 / (1.004 + 1.587) / 4e6;
    let achieved = result.load.achieved.expect("a load");
    assert!((achieved - 0.4 - calls).abs() < 1e-6, "what goes down: {achieved}");
    assert!(result.load.native.is_some() && result.load.copies > 1);
}

/// The entry's draws depend neither on the other sources nor on the scheme.
#[test]
fn trace__keeps_its_keys_and_draws() {
    let whole = play_parts(&scenario_with_everything("sfd"), make_parts());
    let other = play_parts(&scenario_with_everything("fq-codel"), make_parts());
    let mut less = scenario_with_everything("sfd");
    less.traffic.connections.clear();
    less.traffic.mix.truncate(1);
    let alone = play_parts(&less, vec![(1, make_trace(Direction::Down))]);
    assert!(collect_transfers(&whole, 1).len() > 60);
    assert_eq!(collect_transfers(&whole, 1), collect_transfers(&other, 1));
    assert_eq!(collect_transfers(&whole, 1), collect_transfers(&alone, 1));
    let pages = |result: &RunResult| {
        let own = filter_measured(result, 1).filter(|one| one.page > 0);
        own.map(|one| (one.page, one.page_transfers)).collect::<Vec<_>>()
    };
    let of: BTreeSet<_> = pages(&whole).into_iter().collect();
    assert!(
        of.len() > 20 && of.len() * 2 > pages(&whole).len() * 9 / 10,
        "two transfers a page: {}",
        of.len()
    );
    assert!(of.iter().all(|(_, transfers)| *transfers == 2));
    assert_eq!(of, pages(&alone).into_iter().collect());
}

/// Pages of connections with one write and with several have the same kind of key.
#[test]
fn trace__pages_over_persistent_connections() {
    let log = "#separator \\x09\n#unset_field\t-\n#path\thttp\n#fields\tts\tuid\tid.orig_h\tid.resp_h\thost\turi\
               \treferrer\tresponse_body_len\n\
               1700000000.1\tA\t10.0.0.1\t10.9.0.1\th\t/a.html\t-\t4000\n\
               1700000000.5\tA\t10.0.0.1\t10.9.0.1\th\t/a.png\thttp://h/a.html\t5000\n\
               1700000000.6\tB\t10.0.0.1\t10.9.0.1\th\t/b.png\thttp://h/a.html\t6000\n";
    let zeek = read_contents(&[("http.log", log.as_bytes())], &ReadOptions::default()).expect("a log");
    let scenario =
        with_mix(scenario("droptail"), vec![file_entry("x.csv", None), file_entry("http.log", None)]);
    let table = read_contents(&[("x.csv", b"start,bytes\n0,900\n".as_slice())], &ReadOptions::default())
        .expect("a table");
    let result = play_parts(&scenario, vec![(1, table), (2, zeek)]);
    let pages: BTreeSet<(u64, u16)> = result
        .outcome
        .transfers
        .iter()
        .filter(|one| one.source == 2)
        .map(|one| (one.page, one.page_transfers))
        .collect();
    let transfers = collect_transfers(&result, 2).len();
    assert!(transfers >= 30 && pages.iter().all(|page| page.1 == 3), "{pages:?}");
    assert!(pages.len().abs_diff(transfers / 3) <= 2, "{} pages of {transfers} transfers", pages.len());
    assert!(pages.iter().all(|(page, _)| page >> 56 == 2), "{pages:?}");
}

#[test]
fn trace__may_be_sent_by_misbehaving_senders() {
    let mut scenario = scenario_with_everything("sfd");
    scenario.traffic.gaming = Some(MisbehavingSpec {
        share: 1.0,
        split: 2,
        min_bytes: "20kB".into(),
        sources: vec!["access.log".into()],
        ..MisbehavingSpec::default()
    });
    let result = play_parts(&scenario, make_parts());
    let misbehaving: Vec<_> = result.outcome.transfers.iter().filter(|one| one.misbehaves).collect();
    assert!(
        misbehaving.len() > 30 && misbehaving.iter().all(|one| one.source == 1 && one.object_bytes == 20_000)
    );
}

#[test]
fn trace__must_have_been_read() {
    let plan = Plan::new(&scenario_with_everything("sfd")).expect("a valid scenario");
    let only = Arc::new(Traffic::combine([(1, make_trace(Direction::Down))]));
    let error = run(&plan, Some(only), &AtomicBool::new(false)).expect_err("uploads are missing");
    assert_error(&error, &["traffic.files", "some/up.csv", "read before the run"]);
}

#[test]
fn faults__name_the_entry() {
    let refused = |spec: MixSpec, parts: &[&str]| {
        assert_error(&find_error(&with_mix(scenario("sfd"), vec![spec])), parts)
    };
    let named = || file_entry("a.log", None);
    refused(
        MixSpec { model: "ftp".into(), ..named() },
        &["traffic.mix[0].model", "\"ftp\"", "with files", "one of them"],
    );
    refused(MixSpec::default(), &["traffic.mix[0]", "", "give a model or files", "none was given"]);
    refused(MixSpec { count: Some(2), ..named() }, &["traffic.mix[0].count", "2", "with files", "load"]);
    refused(MixSpec { params: Some(json!({})), ..named() }, &["traffic.mix[0].params", "{}", "only a model"]);
    refused(MixSpec { load: Some(2.5), ..named() }, &["traffic.mix[0].load", "2.5", "at most 2"]);
    refused(MixSpec { payload: Some("side".into()), ..named() }, &["traffic.mix[0].payload", "\"side\""]);
    refused(MixSpec { payload: Some("both".into()), ..named() }, &["traffic.mix[0].payload", "\"both\""]);
}
