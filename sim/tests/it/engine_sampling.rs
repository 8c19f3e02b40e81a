//! Laws of samples over time: they change no record, and at each of them every packet is accounted for.
use crate::common::{SCHEMES, assert_error, digest, find_error, play, scenario, with_model};
use mousehole_sim::packet::Colour;
use mousehole_sim::scenario::spec::{BulkSpec, LinkSpec, TrafficSpec};
use mousehole_sim::scenario::{RunResult, Scenario};
use mousehole_sim::series::Series;
use mousehole_sim::units::Time;

/// Returns web pages and two downloads on a loaded link; 2 s of warm-up, a window of 6 s.
fn loaded_scenario(scheme: &str, series: Option<&str>) -> Scenario {
    let base = with_model(scenario(scheme), "web:sfd", 0.8);
    let bulk = BulkSpec { flows: 2, start_spread_s: 0.0, rtt_spread: 0.0 };
    Scenario {
        warmup: "2s".into(),
        duration: "6s".into(),
        series: series.map(Into::into),
        traffic: TrafficSpec { bulk: Some(bulk), ..base.traffic },
        ..base
    }
}

/// Returns the values of a link's series over time, summed over colours; none if there is no such
/// series.
fn series_values(result: &RunResult, link: &str, name: &str) -> Vec<(Time, f64)> {
    let own = result.outcome.series.iter().filter(|series| series.link == link && series.name == name);
    own.map(|series| series.points.clone())
        .reduce(|sum, points| sum.iter().zip(points).map(|(one, other)| (one.0, one.1 + other.1)).collect())
        .unwrap_or_default()
}

/// Returns the sum of the values after the beginning of a window, in seconds, and up to its end.
fn sum_within(points: &[(Time, f64)], window: (u64, u64)) -> f64 {
    let seconds = |at: Time| at.as_secs();
    let inside = |&&(at, _): &&(Time, f64)| seconds(at) > window.0 as f64 && seconds(at) <= window.1 as f64;
    points.iter().filter(inside).map(|(_, value)| value).sum()
}

#[test]
fn samples__change_no_record() {
    for scheme in SCHEMES.iter() {
        for slow_path in [false, true] {
            let run = |series| play(&Scenario { slow_path, ..loaded_scenario(scheme, series) });
            let (plain, sampled) = (run(None), run(Some("70ms")));
            assert_eq!(digest(&plain), digest(&sampled), "{scheme}, slow {slow_path}");
            assert_eq!(plain.outcome.events, sampled.outcome.events, "{scheme}, slow {slow_path}");
        }
    }
}

#[test]
fn samples__account_for_every_packet() {
    for scheme in SCHEMES.iter() {
        let result = play(&loaded_scenario(scheme, Some("100ms")));
        for queue in &result.outcome.queues {
            let all = ["arrived", "dropped", "sent"].map(|name| series_values(&result, &queue.name, name));
            let backlog = series_values(&result, &queue.name, "backlog_packets");
            assert_eq!(backlog.len(), 80, "{scheme}, {}", queue.name);
            let mut waiting = 0.0;
            for (place, &(at, packets)) in backlog.iter().enumerate() {
                waiting += all[0][place].1 - all[1][place].1 - all[2][place].1;
                assert_eq!(packets, waiting, "{scheme}, {} at {at:?}", queue.name);
            }
            // On links that nobody shares a sample counts as sent what has arrived, as nothing waits for others.
            if queue.busy.is_some() {
                continue;
            }
            let counted = queue.colours.iter().map(|colour| colour.sent.packets).sum::<u64>();
            assert_eq!(sum_within(&all[2], (2, 8)), counted as f64, "{scheme}, {}", queue.name);
        }
    }
}

/// A FIFO's backlog takes the delay of a packet that arrives then.
#[test]
fn samples__of_a_full_buffer_give_its_delay() {
    let result = play(&loaded_scenario("droptail", Some("10ms")));
    let longest =
        series_values(&result, "down", "backlog_s").into_iter().map(|(_, value)| value).fold(0.0, f64::max);
    let [.., p99] = result.outcome.queues[0].delay_s;
    assert!((0.9..1.2).contains(&(longest / p99)), "{longest} s against {p99} s");
}

#[test]
fn samples__have_a_window_for_each_long_lived_flow() {
    let result = play(&loaded_scenario("droptail", Some("1s")));
    let windows: Vec<&Series> =
        result.outcome.series.iter().filter(|series| series.name == "cwnd_segments").collect();
    let flows: Vec<Option<u64>> = windows.iter().map(|series| series.flow).collect();
    let keys: Vec<Option<u64>> = result.outcome.flows.iter().map(|flow| Some(flow.key)).collect();
    assert_eq!(flows, keys);
    assert!(windows.iter().all(|series| series.points.iter().all(|(_, segments)| *segments >= 1.0)));
    let connections = series_values(&result, "", "connections");
    assert!(connections.iter().all(|(_, open)| *open >= 2.0), "{connections:?}");
}

/// A colour that no packet has gets no series; one that some have gets all of them.
#[test]
fn samples__are_by_the_colours_that_there_are() {
    let colours = |scheme: &str| {
        let result = play(&loaded_scenario(scheme, Some("500ms")));
        let own = |series: &&Series| series.link == "down" && series.name == "dropped";
        result.outcome.series.iter().filter(own).map(|series| series.colour).collect::<Vec<_>>()
    };
    assert_eq!(colours("droptail"), [Some(Colour::Green)]);
    assert_eq!(colours("sfd(th=8p)"), [Some(Colour::Green), Some(Colour::Yellow)]);
}

#[test]
fn samples__follow_the_rate_of_a_trace() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("sampling.trace");
    std::fs::write(&file, "0 4mbit\n1 1mbit\n2 4mbit\n").expect("written");
    let link = LinkSpec { rate: None, down: Some(file.display().to_string()), ..scenario("droptail").link };
    let result = play(&Scenario { link, ..loaded_scenario("droptail", Some("500ms")) });
    let rates: Vec<f64> =
        series_values(&result, "down", "capacity_bps").iter().map(|(_, rate)| rate / 1e6).collect();
    assert_eq!(rates[..4], [4.0, 4.0, 1.0, 1.0]);
}

#[test]
fn samples__are_refused_in_one_sentence() {
    for wrong in ["0s", "1us", "9s", "often"] {
        assert_error(
            &find_error(&loaded_scenario("droptail", Some(wrong))),
            &["series", &format!("{wrong:?}")],
        );
    }
}
