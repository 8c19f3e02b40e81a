#![allow(non_snake_case)]
use super::super::closed_loop::PageDraws;
use super::super::{http::Http, http2::Http2, rio_ps::RioPs};
use super::*;

const MSS: u32 = 1460;

/// Fails unless a value is within a relative tolerance of the expected one.
fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{value} for {expected}");
}

/// Returns the wire bytes of the connections of a page of user 3, counted segment by segment.
fn count_wire_bytes(draws: &PageDraws, page: u32) -> u64 {
    let objects = draws.page(3, page).objects;
    let segments = |bytes: u64| bytes + 40 * bytes.div_ceil(u64::from(MSS));
    match draws.fetch() {
        Fetch::Pipelined => {
            draws.page_script(3, page, objects).writes.iter().map(|write| segments(write.bytes)).sum::<u64>()
                + 40
        }
        _ => (0..objects).map(|object| segments(draws.object(3, page, object).bytes) + 40).sum(),
    }
}

#[test]
fn page_wire__agrees_with_draws() {
    let http = |model: Http| Http { cap_bytes: 100_000, ..model };
    for process in [
        RioPs::small().process(),
        http(Http::http10()).process(),
        http(Http::http11()).process(),
        Http {
            index_bytes: 1000,
            min_bytes: 10_000,
            cap_bytes: 10_000,
            objects_min: 9,
            objects_max: 9,
            ..Http::http10()
        }
        .process(),
    ] {
        let draws = PageDraws::Users(process.draws(2, 0));
        let drawn = (0..60_000).map(|page| count_wire_bytes(&draws, page)).sum::<u64>() as f64 / 6e4;
        assert_near(drawn, process.mean_page_wire(MSS), 0.02);
    }
}

/// 40.2 kb/s for each session of experiment 1 if pages take no time, whole packets a little more.
/// 82.5 kb/s for each user of HTTP.
#[test]
fn loads__for_one_user_are_near_the_papers() {
    let rio = Users { users: 1, assumed_page_s: 0.0, gap_s: 0.0, ..RioPs::default().process() };
    let payload = rio.objects.mean() * rio.sizes.mean() * 8.0 / rio.cycle_s();
    assert_near(payload, 40_200.0, 0.04);
    let http = Users { users: 1, ..Http::http10().process() };
    assert_near(http.offered_load(Rate(1_000_000), MSS), 0.0825, 0.2);
}

/// Users of one kind at every second host from the first on, another kind between them.
#[test]
fn client__is_where_the_parameters_place_it() {
    let placed = Http { clients: 3, first_host: 1, host_step: 2, ..Http::http10() };
    let draws = placed.process().draws(1, 0);
    assert_eq!([0, 1, 2, 3, 4].map(|user| draws.client(user)), [1, 3, 5, 1, 3]);
    let draws = RioPs { clients: 2, first_host: 10, ..RioPs::large() }.process().draws(1, 0);
    assert_eq!([0, 1, 2].map(|user| draws.client(user)), [10, 11, 10]);
    assert_eq!(RioPs::default().process().draws(1, 0).client(7), 7);
}

#[test]
fn draws__have_their_means() {
    let mean = |of: &dyn Fn(u32) -> f64| (0..50_000).map(of).sum::<f64>() / 5e4;
    let rio = RioPs::default().process().draws(5, 1);
    assert_near(mean(&|page| rio.think(7, page).as_secs()), 9.5, 0.02);
    assert_near(mean(&|page| rio.object(7, page, 3).gap.as_secs()), 0.05, 0.02);
    assert_near(mean(&|page| f64::from(rio.page(7, page).objects)), 4.5, 0.01);
    let http = Http::http10().process().draws(5, 1);
    assert_near(mean(&|page| http.think(7, page).as_secs()), 2.5, 0.02);
    assert!((0..1000).all(|page| http.think(7, page) <= Dur::from_secs(5.0)));
    assert_eq!(http.page(1, 2), Http::http10().process().draws(5, 1).page(1, 2));
    assert_ne!(
        (0..20).map(|page| http.object(1, page, 0).bytes).collect::<Vec<_>>(),
        (0..20).map(|page| http.object(2, page, 0).bytes).collect::<Vec<_>>()
    );
}

#[test]
fn users_for_load__come_nearest() {
    let process = RioPs::default().process();
    let users = process.users_for_load(0.9, Rate(10_000_000), MSS);
    let load = Users { users, ..process }.offered_load(Rate(10_000_000), MSS);
    assert!((load - 0.9).abs() < 0.003, "{users} users: {load}");
}

#[test]
fn http2__wire_agrees_with_draws() {
    for download_bytes in [0, 100_000] {
        let model =
            Http2 { cap_bytes: 50_000, pages_per_connection: 3.0, download_bytes, ..Http2::default() };
        let draws = model.draws(4, 0);
        let wire_bytes = |number| {
            let script = draws.draw_script(number);
            script.writes.iter().map(|write| write.bytes + 40 * write.bytes.div_ceil(1460)).sum::<u64>() + 40
        };
        let drawn = (0..4000).map(wire_bytes).sum::<u64>() as f64 / 4e3;
        assert_near(drawn, model.mean_wire(MSS), 0.05);
    }
}

#[test]
fn http2__starts_with_connections_in_progress() {
    let model = Http2::default();
    let count = |replication| model.draws(1, replication).initial_connections() as f64;
    let mean = (0..400).map(count).sum::<f64>() / 400.0;
    assert_near(mean, 0.5 * 10.51 * 11.0, 0.03);
}

/// Names of transfers and of pages are unique.
#[test]
fn keys__name_one_thing_each() {
    let draws = PageDraws::Users(RioPs::default().process().draws(1, 0));
    let mut keys = Vec::new();
    for session in 0..5 {
        for page in 0..50 {
            keys.extend(
                (0..draws.page(session, page).objects).map(|object| draws.key(session, page, object, 0)),
            );
        }
    }
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count);
    assert_ne!(draws.name_page(0, 0, 2).key, 0);
    assert_ne!(draws.name_page(0, 1, 2).key, draws.name_page(0, 0, 2).key);
}
