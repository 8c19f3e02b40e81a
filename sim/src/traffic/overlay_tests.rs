#![allow(non_snake_case)]
use super::*;
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, Write};
use proptest::prelude::*;
use std::collections::HashSet;

const RATE: Rate = Rate(1_000_000);

/// Returns a connection of `bytes` payload bytes that starts `start_ms` after the traffic.
fn connection(start_ms: u64, client: u32, bytes: u64) -> Connection {
    Connection { client, ..Connection::from_one_write(Time(start_ms * 1_000_000), bytes) }
}

/// Returns 10 connections in 9 s, so T = 10 s; 10 × 10,440 wire bytes are a load of 0.08352.
fn traffic() -> Traffic {
    Traffic::from_connections((0..10).map(|k| connection(k * 1000, (k % 3) as u32, 10_000)).collect())
}

/// Returns the overlay of [`traffic`] for a target load.
fn overlay_to_load(load: f64) -> Overlay {
    Overlay::new(&traffic(), Some(load), RATE, 1000, 1, 0).unwrap()
}

#[test]
fn new__counts_copies_and_dilates_to_meet_the_load() {
    let overlay = overlay_to_load(0.5);
    assert!((overlay.native - 0.083_52).abs() < 1e-12);
    assert_eq!(overlay.copies, 6);
    assert!((overlay.dilation - 6.0 * 0.083_52 / 0.5).abs() < 1e-12);
    assert!((overlay.achieved - 0.5).abs() < 1e-9);
    assert_eq!(overlay.arrivals().len(), 60);
    assert_eq!(size_of::<Arrival>(), 16);
}

#[test]
fn new__stretches_a_traffic_that_is_too_dense() {
    let overlay = overlay_to_load(0.01);
    assert_eq!(overlay.copies, 1);
    assert!((overlay.dilation - 8.352).abs() < 1e-9);
    assert!((overlay.achieved - 0.01).abs() < 1e-9);
}

#[test]
fn new__an_exact_multiple_needs_no_further_copy() {
    let overlay = overlay_to_load(3.0 * 0.083_52);
    assert_eq!(overlay.copies, 3);
    assert!((overlay.dilation - 1.0).abs() < 1e-9);
}

#[test]
fn new__without_target_keeps_times() {
    let overlay = Overlay::new(&traffic(), None, RATE, 1000, 1, 0).unwrap();
    let starts: Vec<Time> = overlay.arrivals().iter().map(|arrival| arrival.at).collect();
    assert_eq!(starts, traffic().connections.iter().map(|connection| connection.start).collect::<Vec<_>>());
    assert_eq!((overlay.copies, overlay.dilation, overlay.period), (1, 1.0, Dur(10_000_000_000)));
}

#[test]
fn new__keeps_a_clients_connections_together() {
    let overlay = overlay_to_load(0.5);
    let traffic = traffic();
    for copy in 0..overlay.copies {
        for client in 0..3 {
            let of_client: Vec<&Arrival> = overlay
                .arrivals()
                .iter()
                .filter(|arrival| {
                    arrival.copy == copy && traffic.connections[arrival.connection as usize].client == client
                })
                .collect();
            let period = overlay.period.0 as f64;
            let shift = |arrival: &Arrival| {
                let start =
                    traffic.connections[arrival.connection as usize].start.0 as f64 * overlay.dilation;
                (arrival.at.0 as f64 - start).rem_euclid(period)
            };
            let first = shift(of_client[0]);
            assert!(of_client.iter().all(|arrival| (shift(arrival) - first).abs() < 2.0));
        }
    }
}

/// The randomisation that intervals rest on: neither the clients of a copy nor the copies of a client are in step.
#[test]
fn new__shifts_every_client_of_every_copy_by_itself() {
    let (overlay, traffic) = (overlay_to_load(0.5), traffic());
    let shifts: HashSet<u64> = overlay
        .arrivals()
        .iter()
        .map(|arrival| {
            let connection = &traffic.connections[arrival.connection as usize];
            let start = connection.start.0 as f64 * overlay.dilation;
            let shift = (arrival.at.0 as f64 - start).rem_euclid(overlay.period.0 as f64);
            // Rounded to a millisecond, since dilated starts are rounded to nanoseconds.
            (shift / 1e6).round() as u64
        })
        .collect();
    assert_eq!(shifts.len(), overlay.copies as usize * 3, "{shifts:?}");
}

/// Shifts are uniform over the period: each tenth of it holds its share.
#[test]
fn new__shifts_are_uniform_over_the_period() {
    let one = Traffic::from_connections(vec![connection(0, 0, 10_000), connection(9_000, 1, 10_000)]);
    let overlay = Overlay::new(&one, Some(2.0), Rate(100_000_000), 1000, 5, 0).unwrap();
    let mut tenths = [0u32; 10];
    for arrival in overlay.arrivals().iter().filter(|arrival| arrival.connection == 0) {
        tenths[(arrival.at.0 * 10 / overlay.period.0) as usize] += 1;
    }
    let expected = f64::from(overlay.copies) / 10.0;
    let chi_square: f64 =
        tenths.iter().map(|&count| libm::pow(f64::from(count) - expected, 2.0) / expected).sum();
    // The 99.9 % quantile of chi-square with 9 degrees of freedom is 27.9.
    assert!(expected > 100.0 && chi_square < 27.9, "{tenths:?}");
}

#[test]
fn new__replications_shift_differently() {
    let one = Overlay::new(&traffic(), Some(0.5), RATE, 1000, 1, 0).unwrap();
    let again = Overlay::new(&traffic(), Some(0.5), RATE, 1000, 1, 0).unwrap();
    let other = Overlay::new(&traffic(), Some(0.5), RATE, 1000, 1, 1).unwrap();
    assert_eq!(one.arrivals(), again.arrivals());
    assert_ne!(one.arrivals(), other.arrivals());
    assert_ne!(one.window_offset(1, 0), one.window_offset(1, 1));
}

#[test]
fn new__refuses_loads_out_of_range() {
    for load in [0.0, -0.1, 20.0, f64::NAN] {
        let error = Overlay::new(&traffic(), Some(load), RATE, 1000, 1, 0).unwrap_err().to_string();
        assert!(error.starts_with("load: ") && error.contains("at most 2"), "{error}");
    }
    let error =
        Overlay::new(&traffic(), Some(2.0), Rate(1_000_000_000_000), 1000, 1, 0).unwrap_err().to_string();
    assert!(error.contains("50 million"), "{error}");
}

#[test]
fn measure_period__of_one_connection_is_a_second_or_its_pauses() {
    let mut one = Traffic::from_connections(vec![connection(0, 0, 100)]);
    assert_eq!(measure_period(&one), Dur(1_000_000_000));
    let pause = Write { idle: Dur(5_000_000_000), bytes: 1 };
    one.connections[0].writes = [&one.connections[0].writes[..], &[pause]].concat().into();
    assert_eq!(measure_period(&one), Dur(5_000_000_000));
}

/// Each repetition of a copy has a different number; a start that was shifted beyond the period's end belongs
/// to the repetition before.
#[test]
fn page_copy__names_copy_and_repetition() {
    let (overlay, traffic) = (overlay_to_load(0.5), traffic());
    let mut wrapped = 0;
    for arrival in overlay.arrivals() {
        let connection = &traffic.connections[arrival.connection as usize];
        let has_wrapped = overlay.compute_start(arrival.connection, connection.start, arrival.copy).1;
        wrapped += u32::from(has_wrapped);
        for repetition in [0, 3] {
            let expected = (repetition + 1 - u64::from(has_wrapped)) * 6 + u64::from(arrival.copy);
            assert_eq!(overlay.page_copy(arrival, repetition, connection.start), expected);
        }
        assert!(overlay.page_copy(arrival, 1 << 40, connection.start) < 1 << 24);
    }
    assert!((1..60).contains(&wrapped), "{wrapped}");
}

/// A run of some seconds sees the same arrivals, whether or not the rest of the period was laid out.
#[test]
fn for_span__keeps_what_a_run_sees() {
    for (replication, span) in [(0, Dur(3_000_000_000)), (1, Dur(1)), (2, Dur(40_000_000_000))] {
        let whole = Overlay::new(&traffic(), Some(1.3), RATE, 1000, 1, replication).unwrap();
        let part = Overlay::for_span(&traffic(), Some(1.3), RATE, 1000, (1, replication), span).unwrap();
        let offset = whole.window_offset(1, replication);
        let seen = |overlay: &Overlay| -> Vec<(Time, Arrival, u64)> {
            let arrivals = overlay.arrivals_from(offset);
            arrivals.take_while(|one| one.0.0 <= span.0).map(|(at, one, turn)| (at, *one, turn)).collect()
        };
        assert_eq!(seen(&part), seen(&whole), "{span:?}");
        assert!(part.arrivals().len() <= whole.arrivals().len());
        assert_eq!((part.copies, part.achieved), (whole.copies, whole.achieved));
    }
}

/// Connections that start at either end of the span belong to it, to the nanosecond.
#[test]
fn for_span__keeps_what_starts_at_its_ends() {
    let at = |ns| {
        let middle = Connection { start: Time(ns), ..connection(0, 1, 100) };
        Traffic::from_connections(vec![connection(0, 0, 100), middle, connection(9000, 2, 100)])
    };
    let span_of = |ns, seed| Overlay::for_span(&at(ns), None, RATE, 1000, (seed, 0), Dur(1000)).unwrap();
    let offset_of = |seed| span_of(1_000_000_000, seed).window_offset(seed, 0).0;
    let seed = (0..).find(|&seed| (1_000_000_000..8_000_000_000).contains(&offset_of(seed))).unwrap();
    let offset = offset_of(seed);
    for (ns, is_kept) in [(offset - 1, false), (offset, true), (offset + 1000, true), (offset + 1001, false)]
    {
        assert_eq!(span_of(ns, seed).arrivals().len(), usize::from(is_kept), "{ns} from {offset}");
    }
}

proptest! {
    #[test]
    fn arrivals_from__is_endless_ordered_and_unique(load in 0.01f64..2.0, offset in 0u64..400_000_000_000, seed: u64) {
        let overlay = Overlay::new(&traffic(), Some(load), RATE, 1000, seed, 0).unwrap();
        let count = overlay.arrivals().len() * 3;
        let got: Vec<_> = overlay.arrivals_from(Time(offset)).take(count).collect();
        prop_assert_eq!(got.len(), count);
        prop_assert!(got.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        prop_assert!(got[count - 1].0.0 <= 3 * overlay.period.0);
        let keys: HashSet<u64> = got.iter().map(|(_, arrival, repetition)| overlay.key(arrival, *repetition)).collect();
        prop_assert_eq!(keys.len(), count);
        for (at, arrival, repetition) in got {
            prop_assert_eq!(at.0 + offset, repetition * overlay.period.0 + arrival.at.0);
        }
    }

    #[test]
    fn new__meets_every_load(load in 0.001f64..2.0, bytes in 1u64..5_000_000) {
        let traffic = Traffic::from_connections(vec![connection(0, 0, bytes), connection(700, 1, 99)]);
        let overlay = Overlay::new(&traffic, Some(load), RATE, 1460, 3, 0).unwrap();
        prop_assert!((overlay.achieved / load - 1.0).abs() < 1e-6);
        prop_assert!(overlay.dilation >= 1.0 - 1e-6);
    }
}

proptest! {
    /// The first search, in time before dilation, misses no connection that starts in the span.
    #[test]
    fn from_resample__holds_what_starts_in_the_span(
        load in 0.002f64..2.0, span_ms in 0u64..80_000, seed: u64, are_few: bool
    ) {
        let traffic = if are_few { few_clients() } else { many_clients() };
        let span = Dur(span_ms * 1_000_000);
        let overlay = Overlay::from_resample(&traffic, load, RATE, 1000, (seed, 3), span).unwrap();
        let offset = overlay.window_offset(seed, 3).0;
        let mut expected = Vec::new();
        for copy in 0..overlay.copy_numbers {
            for (connection, index) in traffic.connections.iter().zip(0..) {
                let (at, _) = overlay.compute_start(index, connection.start, copy);
                let since = (at.0 + overlay.period.0 - offset) % overlay.period.0;
                if copy / overlay.copies < overlay.draws.times(overlay.find_unit(index)) && since <= span.0 {
                    expected.push(Arrival { at, connection: index, copy });
                }
            }
        }
        expected.sort_unstable();
        prop_assert_eq!(overlay.arrivals(), &expected[..]);
    }
}

// --- resamples ---

/// Returns 60 clients of two connections each within 59.5 s.
fn many_clients() -> Traffic {
    let starts = (0..120).map(|k| connection(k * 500, (k % 60) as u32, 1000 + 100 * (k % 60)));
    Traffic::from_connections(starts.collect())
}

/// Returns three clients that start one connection each per second, for a minute.
fn few_clients() -> Traffic {
    let starts = (0..180).map(|k| connection(k * 1000 / 3, (k % 3) as u32, 1000 + 100 * (k % 60)));
    Traffic::from_connections(starts.collect())
}

/// Returns the overlay of a resample of the traffic, at half load.
fn overlay_resample(traffic: &Traffic, seed: u64, replication: u32) -> Overlay {
    Overlay::from_resample(traffic, 0.5, RATE, 1000, (seed, replication), Dur(u64::MAX)).unwrap()
}

#[test]
fn from_resample__draws_as_many_clients_and_meets_the_load() {
    let traffic = many_clients();
    for replication in 0..20 {
        let overlay = overlay_resample(&traffic, 1, replication);
        assert_eq!(
            overlay.arrivals().len(),
            120 * overlay.copies as usize,
            "every client has two connections"
        );
        assert!((overlay.achieved - 0.5).abs() < 1e-6);
        assert!((overlay.native - measure_load(&traffic, RATE, 1000)).abs() < 1e-12);
        let clients: HashSet<u32> = overlay
            .arrivals()
            .iter()
            .map(|arrival| traffic.connections[arrival.connection as usize].client)
            .collect();
        // 1 − 1/e of 60 clients is 38; the standard deviation is 2.4.
        assert!((28..=48).contains(&clients.len()), "{} distinct clients", clients.len());
    }
}

#[test]
fn from_resample__is_named_by_seed_and_replication() {
    let traffic = many_clients();
    let one = overlay_resample(&traffic, 1, 0);
    assert_eq!(one.arrivals(), overlay_resample(&traffic, 1, 0).arrivals());
    assert_ne!(one.arrivals(), overlay_resample(&traffic, 1, 1).arrivals());
    assert_ne!(one.arrivals(), overlay_resample(&traffic, 2, 0).arrivals());
}

#[test]
fn from_resample__keys_are_unique_and_a_client_drawn_twice_has_two_shifts() {
    let traffic = many_clients();
    let overlay = overlay_resample(&traffic, 1, 0);
    let keys: HashSet<u64> = (0..3)
        .flat_map(|repetition| overlay.arrivals().iter().map(move |arrival| (arrival, repetition)))
        .map(|(arrival, repetition)| overlay.key(arrival, repetition))
        .collect();
    assert_eq!(keys.len(), 3 * overlay.arrivals().len());
    let times: HashSet<(u32, Time)> =
        overlay.arrivals().iter().map(|arrival| (arrival.connection, arrival.at)).collect();
    assert_eq!(times.len(), overlay.arrivals().len());
}

/// Blocks of time fill the slots of each client of each copy once. So where all blocks are alike, connections start at the
/// times at which they start without a resample.
#[test]
fn from_resample__blocks_leave_no_slot_empty() {
    // The pause makes the period a minute: 20 blocks of 30 connections of each client.
    let pause = Dur(100_000_000 - 59_900_000_000 / 1799);
    let writes = [Write { idle: Dur::ZERO, bytes: 500 }, Write { idle: pause, bytes: 500 }];
    let one =
        |k: u64| Connection { writes: writes.to_vec().into(), ..connection(k / 3 * 100, (k % 3) as u32, 1) };
    let alike = Traffic::from_connections((0..1800).map(one).collect());
    assert_eq!(measure_period(&alike), Dur::from_millis(60_000));
    let sorted = |overlay: &Overlay| overlay.arrivals().iter().map(|arrival| arrival.at).collect::<Vec<_>>();
    for replication in 0..5 {
        let drawn = overlay_resample(&alike, 1, replication);
        let plain = Overlay::new(&alike, Some(0.5), RATE, 1000, 1, replication).unwrap();
        assert!(plain.copies > 1 && drawn.copy_numbers > plain.copies, "blocks are drawn several times");
        assert!(sorted(&drawn) == sorted(&plain), "replication {replication}");
    }
}

#[test]
fn from_resample__blocks_are_together_and_keep_their_order() {
    let traffic = few_clients();
    let overlay = overlay_resample(&traffic, 1, 0);
    assert!(overlay.are_together(0, 3) && overlay.are_together(0, 6), "one client within 3 s");
    assert!(!overlay.are_together(0, 1), "two clients");
    assert!(!overlay.are_together(0, 9), "the next block of a client");
    for copy in 0..overlay.copies {
        let at = |index: u32| {
            let (at, has_wrapped) =
                overlay.compute_start(index, traffic.connections[index as usize].start, copy);
            at.0 + u64::from(has_wrapped) * overlay.period.0
        };
        let gap = (at(3) - at(0)) as f64 / overlay.dilation;
        assert!((gap - 1e9).abs() < 2.0, "copy {copy}: {gap}");
    }
}

/// Users who act together do so in copies as well: the same part of the starts lies in the bursts.
#[test]
fn from_resample__keeps_bursts_of_all_clients() {
    let at = |client: u64, k: u64| {
        if k.is_multiple_of(2) { k * 15_000 } else { (k - 1) * 15_000 + (client * 150) % 9000 }
    };
    let together = (0..70u64).flat_map(|client| (0..40).map(move |k| (client, k)));
    let mut connections: Vec<Connection> =
        together.map(|(client, k)| connection(at(client, k) + client * 10, client as u32, 10_000)).collect();
    connections.sort_by_key(|one| one.start);
    let traffic = Traffic::from_connections(connections);
    let load = 2.5 * measure_load(&traffic, RATE, 1000);
    let overlay = Overlay::from_resample(&traffic, load, RATE, 1000, (1, 0), Dur(u64::MAX)).unwrap();
    let mut of_bins = [0u32; 6];
    let period = measure_period(&traffic).0 as f64 * overlay.dilation;
    for arrival in overlay.arrivals() {
        let own = arrival.at.0 as f64 / period * measure_period(&traffic).0 as f64;
        of_bins[(own as u64 / 5_000_000_000 % 6) as usize] += 1;
    }
    // Half of the time, as bins of 5 s may begin before a burst and end after it.
    let in_burst = f64::from(of_bins[5] + of_bins[0] + of_bins[1]) / f64::from(of_bins.iter().sum::<u32>());
    assert!(in_burst > 0.9, "{of_bins:?}");
}
