#![allow(non_snake_case)]

use super::*;
use crate::traffic::connection::{Kind, Write, Writes};
use crate::traffic::datagrams::{Datagram, Service};

const WANTED: Wanted = Wanted {
    bytes_per_s: Some(100_000.0),
    mss: 1460,
    span: Dur::from_millis(300_000),
    most_bytes: 1_000_000,
};

/// Returns thirty transfers of three clients within a minute, in bursts of three. The logarithms of
/// their sizes have a triangular distribution.
fn capture() -> Traffic {
    let mut stream = Stream::new(7, Purpose::Size, 0);
    let one = |k: u64| Connection {
        client: (k / 3 % 3) as u32,
        duration: Some(Dur::from_millis(10)),
        ..Connection::from_one_write(
            Time((k / 3 * 6_000 + k % 3) * 1_000_000),
            libm::exp(8.0 + 1.5 * (stream.uniform() + stream.uniform() - 1.0)) as u64,
        )
    };
    Traffic::from_connections((0..30).map(one).collect())
}

/// Returns the bytes of all writes.
fn sizes(traffic: &Traffic) -> Vec<f64> {
    traffic.connections.iter().flat_map(|one| one.writes.iter().map(|write| write.bytes as f64)).collect()
}

/// Returns the mean of the natural logarithms.
fn mean_log(sizes: &[f64]) -> f64 {
    sizes.iter().map(|size| libm::log(*size)).sum::<f64>() / sizes.len() as f64
}

#[test]
fn draw_fitted__meets_the_load_with_users_of_their_own_for_the_whole_span() {
    let (capture, found) = (capture(), draw_fitted(&capture(), &WANTED, (1, 0)));
    let clients = found.traffic.clients;
    assert!(found.copies > 3 && clients == 3 * found.copies, "{} {clients}", found.copies);
    let period = measure_period(&found.traffic);
    assert!(period >= Dur::from_millis(295_000), "{period:?}");
    let load = found.traffic.wire_bytes(1460) as f64 / period.as_secs() / 100_000.0;
    assert!((1.0..1.5).contains(&load), "{load}");
    assert!(found.traffic.connections.is_sorted_by_key(|one| one.start));
    // Bursts of three connections within 2 ms of the same client stay together.
    let burst = |one: &Connection| one.start.0 / 1_000_000 % 6_000;
    let near = found.traffic.connections.iter().filter(|one| burst(one) < 100).count();
    assert!(near > 0 && capture.connections.len() == 30);
    let mut gaps = std::collections::BTreeMap::new();
    for one in &found.traffic.connections {
        gaps.entry(one.client).or_insert_with(Vec::new).push(one.start.0);
    }
    let close = gaps.values().flat_map(|own| own.windows(2)).filter(|pair| pair[1] - pair[0] <= 2_000_000);
    let share = close.count() as f64 / found.traffic.connections.len() as f64;
    assert!((0.6..0.7).contains(&share), "two of three follow within the burst: {share}");
}

/// A connection that pauses for long makes the period longer than the laps; the load is met all the same, in one copy.
#[test]
fn draw_fitted__meets_the_load_where_activity_outlasts_the_laps() {
    let mut recorded = capture();
    let pause = Dur::from_millis(400_000);
    recorded.connections[29].writes =
        vec![Write { idle: Dur::ZERO, bytes: 500 }, Write { idle: pause, bytes: 900 }].into();
    let found = draw_fitted(&recorded, &WANTED, (1, 0)).traffic;
    assert!(found.wire_bytes(1460) as f64 >= 100_000.0 * measure_period(&found).as_secs());
}

#[test]
fn draw_fitted__is_named_by_seed_and_replication() {
    let connections = |run| draw_fitted(&capture(), &WANTED, run).traffic.connections;
    assert_eq!(connections((1, 0)), connections((1, 0)));
    assert_ne!(connections((1, 0)), connections((1, 1)));
    assert_ne!(connections((1, 0)), connections((2, 0)));
}

#[test]
fn draw_fitted__sizes_are_of_the_capture_with_a_tail_beyond_it() {
    let recorded = sizes(&capture());
    let largest = recorded.iter().copied().fold(0.0, f64::max);
    let (mut middles, mut beyond) = (Vec::new(), 0);
    for replication in 0..40 {
        let found = sizes(&draw_fitted(&capture(), &WANTED, (1, replication)).traffic);
        assert!(found.iter().all(|size| (1.0..=1e6).contains(size)));
        beyond += usize::from(found.iter().any(|&size| size > 2.0 * largest));
        middles.push(mean_log(&found));
    }
    let middle = middles.iter().sum::<f64>() / 40.0;
    assert!((middle - mean_log(&recorded)).abs() < 0.15, "{middle} {}", mean_log(&recorded));
    // Replications differ as captures of 30 transfers do.
    let deviation = |of: &[f64], mean: f64| {
        (of.iter().map(|one| libm::pow(one - mean, 2.0)).sum::<f64>() / (of.len() - 1) as f64).sqrt()
    };
    let logs: Vec<f64> = recorded.iter().map(|size| libm::log(*size)).collect();
    let expected = deviation(&logs, mean_log(&recorded)) / 30f64.sqrt();
    let found = deviation(&middles, middle);
    assert!((0.6..1.8).contains(&(found / expected)), "{found} {expected}");
    assert!(beyond > 30, "{beyond} of 40 have sizes that no capture of 30 shows");
}

#[test]
fn draw_fitted__without_a_load_has_the_capture_s_own_clients() {
    let wanted = Wanted { bytes_per_s: None, span: Dur::from_millis(1), ..WANTED };
    let found = draw_fitted(&capture(), &wanted, (1, 0));
    assert_eq!((found.copies, found.traffic.clients), (1, 3));
    let without_bytes = draw_fitted(&Traffic::default(), &WANTED, (1, 0));
    assert_eq!((without_bytes.copies, without_bytes.traffic.connections.len()), (1, 0));
}

#[test]
fn draw_fitted__leaves_datagrams_and_pauses_as_they_are() {
    let mut recorded = capture();
    let list = (0..50).map(|k| Datagram::new(Dur::from_millis(20 * k), 200, k % 2 == 0)).collect();
    let datagrams = Writes::from_datagrams(Datagrams::from_list(Service::default(), list));
    recorded.connections[0] =
        Connection { kind: Kind::Datagrams, writes: datagrams, ..recorded.connections[0].clone() };
    let pause = Dur::from_millis(750);
    recorded.connections[29].writes =
        vec![Write { idle: Dur::ZERO, bytes: 500 }, Write { idle: pause, bytes: 900 }].into();
    let found = draw_fitted(&recorded, &WANTED, (1, 0)).traffic;
    let calls: Vec<_> = found.connections.iter().filter(|one| one.kind == Kind::Datagrams).collect();
    assert!(!calls.is_empty() && calls.iter().all(|one| one.writes == recorded.connections[0].writes));
    let several: Vec<_> = found.connections.iter().filter(|one| one.writes.len() == 2).collect();
    assert!(!several.is_empty() && several.iter().all(|one| one.writes[1].idle == pause));
}

#[test]
fn draw_fitted__pages_belong_to_one_draw() {
    let mut recorded = capture();
    recorded.pages = Pages::new((0..30u32).map(|k| vec![k / 3 + 1].into_boxed_slice()));
    let found = draw_fitted(&recorded, &WANTED, (1, 0)).traffic;
    let mut of_page = std::collections::BTreeMap::new();
    for (place, one) in (0..).zip(&found.connections) {
        let (page, transfers) = found.pages.find_page(place, 0);
        assert_eq!(transfers, 3);
        of_page.entry(page).or_insert_with(Vec::new).push((one.client, one.start.0));
    }
    assert!(of_page.len() > 10 && of_page.values().all(|own| own.len() == 3));
    assert!(of_page.values().all(|own| own[2].0 == own[0].0 && own[2].1 - own[0].1 <= 2_000_000));
}

#[test]
fn sizes__of_one_value_or_none_are_defined() {
    let mut stream = Stream::new(1, Purpose::Size, 0);
    for given in [vec![], vec![1000.0], vec![1000.0; 40]] {
        let fitted = Sizes::fit(given, 50_000, &mut stream);
        assert!(
            (0..100).all(|_| (900..=1100).contains(&fitted.draw(1000, &mut stream)) || fitted.most == 0.0)
        );
        assert!((0..100).all(|_| fitted.draw(2000, &mut stream) >= 1));
    }
}
