//! The models' traffic in the records of a run, against their papers: rates, counts, sizes and pauses.
//!
//! Each is played from a scenario as one writes it, over a link so fast that the network hardly counts.
use crate::common::play;
use mousehole_sim::record::Transfer;
use mousehole_sim::scenario::{RunResult, Scenario};
use std::collections::BTreeMap;

const LINK: &str =
    "warmup = \"0s\"\nmax_windows = 2\n[link]\nrate = \"10gbit\"\nrtt = \"10ms\"\nbuffer = \"100000p\"\n";

/// Runs the model for so many seconds; panics if it is refused, if packets are not conserved or if
/// one is sent again.
fn play_model(seconds: u32, traffic: &str) -> RunResult {
    let text = format!("duration = \"{seconds}s\"\n{LINK}[traffic]\n{traffic}");
    let scenario = Scenario::from_toml(&text, "model.toml").unwrap_or_else(|error| panic!("{error}"));
    let result = play(&scenario);
    assert!(result.is_conserved() && result.outcome.transfers.iter().all(|one| one.retransmits == 0));
    result
}

/// Asserts that a value is within a relative tolerance of the stated one.
fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{what}: {value}, stated {expected}");
}

/// Returns the share of transfers of at most `bytes`.
fn share_below(transfers: &[Transfer], bytes: f64) -> f64 {
    transfers.iter().filter(|one| one.bytes as f64 <= bytes).count() as f64 / transfers.len() as f64
}

/// Returns P(X ≤ bytes) of the Pareto II distribution with this mean and a shape above 1.
fn pareto_share(bytes: f64, mean: f64, shape: f64) -> f64 {
    1.0 - libm::pow(1.0 + bytes / (mean * (shape - 1.0)), -shape)
}

/// Asserts that sizes follow the Pareto II distribution with this mean and shape, within 2 % at
/// five sizes.
fn assert_pareto(transfers: &[Transfer], mean: f64, shape: f64) {
    for bytes in [1000.0, 2000.0, 5000.0, 15_000.0, 60_000.0] {
        let (drawn, stated) = (share_below(transfers, bytes), pareto_share(bytes, mean, shape));
        assert!((drawn - stated).abs() < 0.02, "P(≤ {bytes} B) = {drawn}, stated {stated}");
    }
}

/// Returns the transfers of each page, complete or not, in order of start; pages are in order of
/// their keys.
fn collect_pages(result: &RunResult) -> Vec<Vec<Transfer>> {
    let mut pages: BTreeMap<u64, Vec<Transfer>> = BTreeMap::new();
    for one in result.outcome.transfers.iter().filter(|one| one.page != 0) {
        pages.entry(one.page).or_default().push(*one);
    }
    let mut pages: Vec<_> = pages.into_values().collect();
    pages.iter_mut().for_each(|page| page.sort_by_key(|one| one.start));
    pages
}

/// Returns the mean of the values; NaN if there are none.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Returns the mean time between the requests of a page, in seconds.
fn mean_request_gap(pages: &[Vec<Transfer>]) -> f64 {
    mean(pages.iter().flat_map(|page| page.windows(2)).map(|two| two[1].start.since(two[0].start).as_secs()))
}

/// Returns the mean number of objects of a page.
fn mean_objects(pages: &[Vec<Transfer>]) -> f64 {
    mean(pages.iter().map(|page| page.len() as f64))
}

/// SFD, Table 2: 3 objects a page (rounded down, at least one: 2.81), 10 ms apart, 12 KB in whole packets, Pareto II of
/// shape 1.2; a page about every 10 s in each of 100 pages ÷ 5 s sessions.
#[test]
fn web_sfd__is_table_2() {
    let result = play_model(500, "model = \"web:sfd\"\nparams = { inter_session_s = 5 }\n");
    let (pages, all) = (collect_pages(&result), &result.outcome.transfers);
    assert_near("objects of a page", mean_objects(&pages), 2.81, 0.03);
    assert_near("gap between objects", mean_request_gap(&pages), 0.01, 0.05);
    assert_pareto(all, 12_000.0, 1.2);
    assert!(all.iter().all(|one| one.bytes % 1000 == 0));
    assert_near("pages per second", pages.len() as f64 / 500.0, 20.0, 0.2);
}

/// The same taken literally: rounded up, 1 ÷ (1 − e^(−1/3)) = 3.53 objects.
#[test]
fn web_sfd_literal__rounds_counts_up() {
    let result = play_model(
        200,
        "model = \"web:sfd-literal\"\nparams = { inter_session_s = 2, cold_start = false, cap_bytes = 1000000 }\n",
    );
    assert_near("objects of a page", mean_objects(&collect_pages(&result)), 3.53, 0.03);
}

/// RIO-PS, section IV-A: pages of 2 to 7 objects alike, 50 ms apart, bounded Pareto sizes from 4 packets on with
/// shape 1.2; 9.5 s from page to page.
#[test]
fn web_rio_ps__is_experiment_1_and_2() {
    for (model, top) in
        [("web:rio-ps\"\nparams = { sessions = 100 }", 200_000.0), ("web:rio-ps-small\"\n", 500.0)]
    {
        let result = play_model(400, &format!("model = \"{model}\n"));
        let (pages, all) = (collect_pages(&result), &result.outcome.transfers);
        let sessions = if top > 500.0 { 100.0 } else { 170.0 };
        assert_near("objects of a page", mean_objects(&pages), 4.5, 0.02);
        for count in 2..=7 {
            let alike = pages.iter().filter(|page| page.len() == count).count() as f64;
            assert_near("pages of so many objects", alike / pages.len() as f64, 1.0 / 6.0, 0.12);
        }
        assert_near("gap between objects", mean_request_gap(&pages), 0.05, 0.04);
        for packets in [5.0, 10.0, 40.0, 200.0] {
            let below = |packets: f64| 1.0 - libm::pow(4.0f64 / packets, 1.2);
            let (drawn, stated) = (share_below(all, packets * 500.0), below(packets) / below(top));
            assert!(
                (drawn - stated).abs() < 0.015,
                "{model}: P(≤ {packets} packets) = {drawn}, stated {stated}"
            );
        }
        let page_s = mean(pages.iter().map(|page| {
            let end = page.iter().map(|one| one.end).max().expect("a page has transfers");
            end.since(page[0].start).as_secs()
        }));
        assert_near("pages per second", pages.len() as f64 / 400.0, sessions / (9.5 + page_s), 0.05);
    }
}

/// SHRED, section 4.1: constant load, 1 to n objects alike, all at once, 10 KB in the mean, Pareto II of shape 1.2
/// between 12 B and 2 MB.
#[test]
fn web_shred__is_a_constant_load() {
    for most in [1u32, 8, 16, 32] {
        let result = play_model(60, &format!("model = \"web:shred\"\nparams = {{ objects_max = {most} }}\n"));
        let (pages, all) = (collect_pages(&result), &result.outcome.transfers);
        let bits = all.iter().filter(|one| one.start.as_secs() < 60.0).map(|one| one.bytes as f64 * 8.0);
        assert_near("object bits per second", bits.sum::<f64>() / 60.0, 9.5e6, 0.04);
        assert!(pages.iter().all(|page| page.iter().all(|one| one.start == page[0].start)), "all at once");
        assert_near("objects of a page", mean_objects(&pages), f64::from(1 + most) / 2.0, 0.07);
        assert_pareto(all, 10_000.0, 1.2);
        assert!(all.iter().all(|one| (12..=2_000_000).contains(&one.bytes)));
    }
}

/// PackMime-HTTP at R = 10: 28 % cache validations of median 141 B, downloads of median 2.2 KB; 90 % within ten packets.
#[test]
fn web_packmime__has_its_sizes_and_rate() {
    let params = "model = \"web:packmime\"\nparams = { dependence = 0.0 }\n";
    let result = play_model(2000, params);
    let all: Vec<Transfer> = result.outcome.transfers.to_vec();
    assert_near("connections per second", all.len() as f64 / 2000.0, 10.0, 0.03);
    assert_near("cache validations", share_below(&all, 272.0), 0.28, 0.04);
    assert_near("half of the cache validations", share_below(&all, 141.0), 0.14, 0.05);
    assert_near("median download", share_below(&all, 2200.0), 0.28 + 0.72 / 2.0, 0.02);
    assert_near("at most ten packets", share_below(&all, 14_600.0), 0.898, 0.01);
}

/// Noureddine & Tobagi, section II-B: the index, then the rest on four connections; 2.5 s of thought between pages,
/// evenly from 0 to 5 s; about 82.5 kb/s for each user.
#[test]
fn web_http10__loads_as_the_paper_says() {
    let result = play_model(300, "model = \"web:http10\"\nparams = { users = 60 }\n");
    let all = &result.outcome.transfers;
    let wire: f64 = all.iter().map(|one| one.bytes as f64 + 40.0 * (one.bytes as f64 / 1460.0).ceil()).sum();
    // A page of the paper's takes 2.2 s in addition to the thought; here it takes next to nothing.
    let pages_and_thoughts = collect_pages(&result).len() as f64 * (2.5 + 2.2);
    assert_near("bits per second of a user", wire * 8.0 / pages_and_thoughts, 82_500.0, 0.2);
    assert_pareto(all, 12_000.0, 1.2);
    let mut of: BTreeMap<u32, Vec<Vec<Transfer>>> = BTreeMap::new();
    for page in collect_pages(&result) {
        of.entry(page[0].client).or_default().push(page);
    }
    let mut thoughts = Vec::new();
    for pages in of.values_mut() {
        pages.sort_by_key(|page| page[0].start);
        thoughts.extend(pages.windows(2).map(|two| {
            let end = two[0].iter().map(|one| one.end).max().expect("a page has transfers");
            two[1][0].start.since(end).as_secs()
        }));
    }
    assert_near("thought between pages", mean(thoughts.iter().copied()), 2.5, 0.04);
    assert!(thoughts.iter().all(|thought| (0.0..=5.0).contains(thought)));
}

/// Poisson arrivals: as many as stated, gaps as spread as their mean.
#[test]
fn poisson__has_its_rate_and_sizes() {
    let result = play_model(1000, "model = \"poisson\"\n");
    let mut starts: Vec<f64> = result.outcome.transfers.iter().map(|one| one.start.as_secs()).collect();
    starts.sort_by(f64::total_cmp);
    assert_near("transfers per second", starts.len() as f64 / 1000.0, 10.0, 0.03);
    let gaps: Vec<f64> = starts.windows(2).map(|two| two[1] - two[0]).collect();
    let centre = mean(gaps.iter().copied());
    let spread = mean(gaps.iter().map(|gap| libm::pow(gap - centre, 2.0))).sqrt();
    assert_near("spread of gaps", spread, 0.1, 0.04);
    assert_pareto(&result.outcome.transfers, 12_000.0, 1.2);
}

/// Noureddine & Tobagi, section II: files of 200 KB in the mean, Pareto of shape 1.2, with 2 s between them.
#[test]
fn ftp__has_its_sizes_and_pauses() {
    let result = play_model(600, "model = \"ftp\"\nparams = { users = 20 }\n");
    let all = &result.outcome.transfers;
    let least = 200_000.0 * 0.2 / 1.2;
    for factor in [1.5, 2.0, 4.0, 10.0f64] {
        let (drawn, stated) = (share_below(all, least * factor), 1.0 - libm::pow(factor, -1.2));
        assert!((drawn - stated).abs() < 0.02, "P(≤ {factor} times the least) = {drawn}, stated {stated}");
    }
    let mut of: BTreeMap<u32, Vec<Transfer>> = BTreeMap::new();
    all.iter().for_each(|one| of.entry(one.client).or_default().push(*one));
    let mut pauses = Vec::new();
    for files in of.values_mut() {
        files.sort_by_key(|one| one.start);
        pauses.extend(files.windows(2).map(|two| two[1].start.since(two[0].end).as_secs()));
    }
    assert_near("pause between files", mean(pauses.into_iter()), 2.0, 0.05);
}

/// Telnet: five keystrokes a second, echoes of 100 B on the wire.
#[test]
fn telnet__types_as_stated() {
    let result = play_model(200, "model = \"telnet\"\nparams = { users = 20 }\n");
    assert_near(
        "echoes per second and user",
        result.outcome.transfers.len() as f64 / 200.0 / 20.0,
        5.0,
        0.06,
    );
    assert!(result.outcome.transfers.iter().all(|one| one.bytes == 60), "100 B with 40 B of headers");
}

/// VoIP: 50 packets of 200 B a second while someone talks, who does so 1.004 of every 2.591 s.
#[test]
fn voip__talks_as_stated() {
    let result = play_model(600, "model = \"voip\"\nparams = { calls = 20 }\n");
    let flows = &result.outcome.datagrams;
    assert_eq!(flows.len(), 40, "both ways");
    let sent = flows.iter().map(|flow| flow.sent as f64).sum::<f64>();
    assert_near("packets per second", sent / 600.0 / 40.0, 50.0 * 1.004 / 2.591, 0.04);
}

/// Pages over long connections: about 10 pages each (rounded up: 10.5), of 30 objects (30.5) of 12 KB (capped at 2 MB).
#[test]
fn web_http2__has_its_pages() {
    let result = play_model(300, "model = \"web:http2\"\n");
    let pages = collect_pages(&result);
    let bytes = mean(pages.iter().map(|page| page.iter().map(|one| one.bytes as f64).sum()));
    let capped = 12_000.0 * (1.0 - libm::pow(1.0 + 2e6 / 2400.0f64, -0.2));
    assert_near("bytes of a page", bytes, 30.5 * capped, 0.12);
    assert_near("pages per second", pages.len() as f64 / 300.0, 0.5 * 10.5, 0.3);
}
