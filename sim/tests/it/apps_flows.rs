//! Logins, file transfers in both directions and datagrams: exact times on an empty link, and conservation laws.
use crate::common::{SCHEMES, entry, find_error, payload, play, scenario, with_direction, with_mix, with_up};
use mousehole_sim::record::{FlowRecord, Played, Transfer};
use mousehole_sim::scenario::spec::{ConnectionSpec, Ends, MixSpec};
use mousehole_sim::scenario::{RunResult, Scenario};
use mousehole_sim::units::Time;
use serde_json::{Value, json};

/// Runs a model alone on the common scenario's link under drop-tail; panics if the scenario is
/// refused.
fn play_alone(model: &str, params: Value) -> RunResult {
    play(&with_mix(scenario("droptail"), vec![entry(model, params)]))
}

/// Asserts that a value is within a relative tolerance of the expected one, which is not 0.
fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() <= tolerance, "{value} for {expected}");
}

/// 100 B at 4 Mbit/s take 0.2 ms each way on top of 40 ms.
#[test]
fn telnet__echo_delay_is_exact_on_an_empty_link() {
    let result = play_alone("telnet", json!({"users": 1}));
    let echoes = &result.outcome.transfers;
    let undisturbed = echoes.iter().filter(|echo| echo.end.since(echo.start).0 == 40_400_000);
    assert!(undisturbed.count() * 3 > echoes.len());
    for (echo, ideal_s) in echoes.iter().zip(&result.ideal_s) {
        let delay = echo.end.since(echo.start).0;
        match echo.write {
            // The SYN and its answer come first, 40 B each way.
            0 => assert_eq!(delay, 40_400_000 + 40_160_000),
            // Typed while the echo before is not acknowledged yet, it waits for that 40-byte ACK of its own.
            _ => assert!([40_400_000, 40_480_000].contains(&delay), "{echo:?}"),
        }
        let expected = if echo.write == 0 { 0.080_56 } else { 0.040_4 };
        assert!((ideal_s - expected).abs() < 1e-9, "{ideal_s}");
    }
    assert!(echoes.iter().all(|echo| echo.bytes == 60));
}

#[test]
fn telnet__types_about_five_characters_a_second() {
    let result = play_alone("telnet", json!({"users": 20}));
    let typed = result.outcome.transfers.len() as f64 / 20.0 / 20.0;
    // A keystroke waits for its predecessor's echo: the mean gap is E[max(X, 40.4 ms)] with X of mean 0.2 s.
    let expected = 1.0 / (0.0404 + 0.2 * libm::exp(-0.0404f64 / 0.2));
    assert_near(typed, expected, 0.05);
    assert!(result.outcome.queues[0].colours[0].sent.packets > 1000);
}

/// Runs one connection with one write of `bytes` from the start on.
fn play_one_connection(upload: bool, bytes: u64) -> RunResult {
    let one = ConnectionSpec { payload: payload(upload), ..crate::common::connection(0.0, &[(0.0, bytes)]) };
    play(&crate::common::with_connections(scenario("droptail"), vec![one]))
}

/// SYN, SYN-ACK and the first window: an upload needs no request, so its data leaves with the handshake's last
/// packet.
#[test]
fn upload__is_exact_on_an_empty_link() {
    let result = play_one_connection(true, 14_600);
    let [transfer] = result.outcome.transfers[..] else { panic!("one transfer") };
    let (syn, answer, data) = (80_000, 80_000, 3_000_000);
    assert_eq!(transfer.end.since(transfer.start).0, 60_000_000 + syn + answer + 10 * data);
    assert!(transfer.upload);
    let [down, up] = &result.outcome.queues[..] else { panic!("two queues") };
    assert_eq!(up.colours[0].sent.packets, 11, "a SYN and ten segments");
    assert!(down.colours[0].sent.bytes < 600, "nothing but a SYN-ACK and ACKs");
    assert_eq!(result.outcome.goodput_bytes, 0);
    assert_eq!(result.outcome.goodput_up_bytes, 14_600);
}

#[test]
fn ideal_time__of_an_upload_is_its_time_on_an_empty_link() {
    for upload in [false, true] {
        for bytes in [1, 1_460, 5_000, 100_001, 300_000] {
            let mut scenario = scenario("droptail");
            with_up(&mut scenario, "2mbit");
            (scenario.link.buffer, scenario.link.up_buffer) = ("100000p".into(), Some("100000p".into()));
            let one = ConnectionSpec {
                payload: payload(upload),
                ..crate::common::connection(0.0, &[(0.0, bytes)])
            };
            let result = play(&crate::common::with_connections(scenario, vec![one]));
            let [transfer] = result.outcome.transfers[..] else { panic!("one transfer") };
            let took = transfer.end.since(transfer.start).as_secs();
            assert!(
                (took - result.ideal_s[0]).abs() < 1e-9,
                "{upload} {bytes}: {took}, {}",
                result.ideal_s[0]
            );
        }
    }
}

#[test]
fn ftp__users_pause_and_go_on() {
    let params = json!({"users": 4, "mean_bytes": 20000, "shape": 0, "off_s": 0.5});
    let result = play(&with_mix(scenario("droptail"), vec![with_direction("both", entry("ftp", params))]));
    let transfers = &result.outcome.transfers;
    assert!(transfers.iter().all(|one| one.bytes == 20_000 && one.end != Time::NEVER));
    let (up, down): (Vec<&Transfer>, Vec<&Transfer>) = transfers.iter().partition(|one| one.upload);
    // A cycle is a pause of 0.5 s and a transfer of less than 0.3 s.
    for way in [&up, &down] {
        assert!((70..=160).contains(&way.len()), "{}", way.len());
    }
    let bytes = |way: &[&Transfer]| way.len() as u64 * 20_000;
    assert!(result.outcome.goodput_bytes.abs_diff(bytes(&down)) <= 80_000);
    assert!(result.outcome.goodput_up_bytes.abs_diff(bytes(&up)) <= 80_000);
}

/// A period is kept whatever the network does: 8 users, a file each every 5 s, for 20 s.
#[test]
fn ftp__period_is_kept() {
    let params = json!({"users": 8, "mean_bytes": 500_000, "shape": 0, "period_s": 5, "start_spread_s": 0});
    let result = play_alone("ftp", params);
    let mut starts: Vec<u64> = result.outcome.transfers.iter().map(|one| one.start.0).collect();
    starts.sort_unstable();
    assert_eq!(starts.len(), 32);
    let seconds = [0u64, 5, 10, 15].into_iter().flat_map(|second| [second * 1_000_000_000; 8]);
    assert!(starts.into_iter().eq(seconds));
    assert_near(
        result.load.achieved.unwrap_or(f64::NAN),
        8.0 * 500_000.0 * (1.0 + 40.0 / 1460.0) * 8.0 / 5.0 / 4e6,
        0.01,
    );
}

/// With `skip`, files of one user do not overlap, and each starts on time: 4 Mb/s for 8 users with 0.8 Mb/s each.
#[test]
fn ftp__skips_periods_of_unfinished_files() {
    let params = json!({"users": 8, "mean_bytes": 500_000, "shape": 0, "period_s": 5, "start_spread_s": 0, "skip": true});
    let result = play_alone("ftp", params);
    assert_eq!(result.load.achieved, None);
    let mut transfers = result.outcome.transfers;
    transfers.sort_unstable_by_key(|one| (one.client, one.start));
    assert!(transfers.len() < 32, "{}", transfers.len());
    for pair in transfers.windows(2).filter(|pair| pair[0].client == pair[1].client) {
        assert!(pair[0].end <= pair[1].start);
        assert_eq!(pair[1].start.0 % 5_000_000_000, 0);
    }
}

/// What flows without end deliver adds up to the goodput of each direction.
#[test]
fn ftp__long_lived_flows_fill_both_directions() {
    let mut base = Scenario { warmup: "5s".into(), ..scenario("droptail") };
    base.link.up_buffer = Some("30p".into());
    let result = play(&with_mix(
        base,
        vec![with_direction("both", entry("ftp", json!({"users": 3, "endless": true})))],
    ));
    assert!(result.outcome.transfers.is_empty());
    let flows = &result.outcome.flows;
    assert_eq!(flows.len(), 6);
    for (upload, goodput) in [(false, result.outcome.goodput_bytes), (true, result.outcome.goodput_up_bytes)]
    {
        let sum: u64 = flows.iter().filter(|flow| flow.upload == upload).map(|flow| flow.bytes).sum();
        assert_near(sum as f64, goodput as f64, 0.03);
        assert!(sum > 6_000_000, "{sum} B in 20 s at 4 Mbit/s");
    }
}

#[test]
fn bulk__flows_record_their_goodput() {
    let mut base = scenario("red");
    base.traffic.bulk =
        Some(mousehole_sim::scenario::spec::BulkSpec { flows: 3, start_spread_s: 0.0, rtt_spread: 0.0 });
    let result = play(&base);
    assert_eq!(result.outcome.flows.len(), 3);
    assert!(result.outcome.flows.iter().all(|flow| flow.source == FlowRecord::BULK));
    let sum: u64 = result.outcome.flows.iter().map(|flow| flow.bytes).sum();
    assert_near(sum as f64, result.outcome.goodput_bytes as f64, 0.03);
}

/// 1000 B at 4 Mbit/s take 2 ms on top of 20 ms one way; a packet every 10 ms never meets another.
#[test]
fn udp__delay_is_exact_on_an_empty_link() {
    for direction in ["down", "up"] {
        let result = play(&with_mix(
            scenario("droptail"),
            vec![with_direction(direction, entry("udp", json!({"rate_bps": 800_000})))],
        ));
        let [flow] = &result.outcome.datagrams[..] else { panic!("one flow") };
        assert_eq!(flow.delay_s, [0.022; 4], "{direction}");
        assert_eq!(flow.jitter_s, 0.0);
        assert_eq!((flow.lost, flow.sent), (0, flow.received));
        assert!((1900..=2000).contains(&flow.sent), "{}", flow.sent);
        assert_eq!(flow.bytes, flow.received * 1000);
        assert_eq!(flow.upload, direction == "up");
    }
}

/// Twice the rate of the link: half is lost, and what arrives has waited for a full buffer.
#[test]
fn udp__ignores_loss() {
    let result = play_alone("udp", json!({"rate_bps": 8_000_000}));
    let [flow] = &result.outcome.datagrams[..] else { panic!("one flow") };
    assert_eq!(flow.sent, flow.received + flow.lost);
    assert_near(flow.lost as f64 / flow.sent as f64, 0.5, 0.01);
    // 30 packets wait, one is in transmission: (30 + 1) × 2 ms at the most.
    assert!((0.020 + 0.060..=0.020 + 0.062).contains(&flow.delay_s[1]), "{:?}", flow.delay_s);
}

#[test]
fn voip__sends_as_often_as_it_talks() {
    let result = play_alone("voip", json!({"calls": 25}));
    assert_eq!(result.outcome.datagrams.len(), 50);
    let sent: u64 = result.outcome.datagrams.iter().map(|flow| flow.sent).sum();
    assert_near(sent as f64, 50.0 * 20.0 * 50.0 * 1.004 / 2.591, 0.1);
    for flow in &result.outcome.datagrams {
        assert_eq!(flow.sent, flow.received + flow.lost);
        assert!(flow.delay_s[0] >= 0.0204 - 1e-12 && flow.delay_s[1] <= flow.delay_s[3]);
    }
}

/// 100 B at 4 Mbit/s take 0.2 ms on top of 20 ms one way.
#[test]
fn game__is_exact_on_an_empty_link() {
    let result = play_alone("game", json!({"players": 1, "packets_per_s": 50, "start_spread_s": 0}));
    assert_eq!(result.outcome.datagrams.len(), 2);
    for flow in &result.outcome.datagrams {
        assert_eq!((flow.delay_s, flow.lost, flow.late), ([0.0202; 4], 0, 0));
        assert!(flow.sent.abs_diff(1000) <= 1, "{}", flow.sent);
        assert_eq!(flow.played, Played::Not);
    }
}

/// Six packets of 1082 B are sent at once: each is 2.164 ms in the link, behind those before it.
#[test]
fn videocall__is_exact_on_an_empty_link() {
    let params = json!({"calls": 1, "direction": "down", "start_spread_s": 0});
    let result = play_alone("videocall", params);
    let [flow] = &result.outcome.datagrams[..] else { panic!("one flow") };
    let Played::Frames { frames, missing, freezes, length_s } = flow.played else { panic!("frames") };
    assert_eq!((flow.sent, flow.received, missing, freezes), (6 * frames, 6 * frames, 0, 0));
    assert!(frames.abs_diff(600) <= 1 && (length_s - frames as f64 / 30.0).abs() < 1e-6);
    assert!((flow.delay_s[3] - (0.020 + 6.0 * 0.002_164)).abs() < 1e-9, "{:?}", flow.delay_s);
    assert!((flow.delay_s[0] - (0.020 + 3.5 * 0.002_164)).abs() < 1e-9, "{:?}", flow.delay_s);
}

/// A frame that has no time to wait is late unless it arrives as fast as the first of all packets.
#[test]
fn videocall__misses_what_comes_after_its_deadline() {
    for (playout_s, is_missing) in [(0.0108, true), (0.0109, false)] {
        let params = json!({"calls": 1, "direction": "down", "playout_s": playout_s});
        let result = play_alone("videocall", params);
        let Played::Frames { frames, missing, .. } = result.outcome.datagrams[0].played else {
            panic!("frames")
        };
        assert_eq!(missing, if is_missing { frames } else { 0 }, "{playout_s}");
    }
}

/// On a link twice as fast as the ladder's top, a viewer climbs to it as the buffer fills, and never waits.
#[test]
fn stream__climbs_to_the_highest_rate_on_an_empty_link() {
    let ladder = json!([250_000, 500_000, 1_000_000, 2_000_000]);
    let params = json!({"viewers": 1, "ladder_bps": ladder, "video_s": 1000, "start_spread_s": 0});
    let result = play_alone("stream", params);
    let [view] = result.outcome.views[..] else { panic!("one viewer") };
    let ended = result.outcome.ended.as_secs();
    assert!(view.stalled_s == 0.0 && view.played_s > 19.0 && ended < 60.0, "{view:?}");
    let sizes: Vec<u64> = result.outcome.transfers.iter().map(|one| one.bytes).collect();
    assert!(sizes.is_sorted(), "{sizes:?}");
    assert_eq!((sizes.first(), sizes.last()), (Some(&62_500), Some(&500_000)));
    let mean = sizes.iter().sum::<u64>() as f64 * 8.0 / 2.0 / sizes.len() as f64;
    assert_near(view.rate_bps / view.segments as f64, mean, 0.1);
}

/// A link slower than the lowest rate: a video stands still as long as its segments take longer than they last.
#[test]
fn stream__stands_still_on_a_link_that_is_too_slow() {
    let mut base = scenario("droptail");
    (base.link.rate, base.duration) = (Some("500kbit".into()), "120s".into());
    let params = json!({"viewers": 1, "ladder_bps": [800_000], "video_s": 10_000, "start_spread_s": 0});
    let result = play(&with_mix(base, vec![entry("stream", params)]));
    let [view] = result.outcome.views[..] else { panic!("one viewer") };
    // 200 kB a segment of 2 s, with 40 B of headers for each 1460 B; the windows are slow to open, too.
    let least = 1.0 - 500.0 / 800.0 * 1460.0 / 1500.0;
    let share = view.stalled_s / (view.stalled_s + view.played_s);
    assert!((least - 0.01..least + 0.15).contains(&share), "{share} for at least {least}");
    // It is in one state or another all the time from the first request on.
    assert!((view.startup_s + view.stalled_s + view.played_s - 120.0).abs() < 1e-6, "{view:?}");
}

/// A viewer of short videos asks for one after the other, and each start is a few round trips and two segments.
#[test]
fn stream__times_its_starts() {
    let params = json!({"viewers": 4, "video_s": 4, "pause_s": 0.5, "ladder_bps": [400_000]});
    let result = play_alone("stream", params);
    assert_eq!(result.outcome.views.len(), 4);
    let starts: u64 = result.outcome.views.iter().map(|view| view.starts).sum();
    let startup_s: f64 = result.outcome.views.iter().map(|view| view.startup_s).sum();
    // 5 s and more for a video and its pause, in 20 s.
    assert!((10..=18).contains(&starts), "{starts}");
    let mean = startup_s / starts as f64;
    assert!((0.3..1.5).contains(&mean), "{mean}");
}

/// One event per hop or two: the same records.
#[test]
fn paths__uploads_and_datagrams_are_the_same_on_both() {
    let run = |slow_path| {
        let base = Scenario { at: Some(Ends::Both), duration: "6s".into(), slow_path, ..scenario("red") };
        play(&with_mix(
            base,
            vec![
                entry("telnet", json!({"users": 3})),
                with_direction("both", entry("ftp", json!({"users": 2, "off_s": 0.3}))),
                entry("voip", json!({"calls": 3})),
                entry("udp", json!({"rate_bps": 700_000})),
                entry("game", json!({"players": 2})),
                entry("videocall", json!({"rate_bps": 600_000, "key_every_s": 1})),
                entry("stream", json!({"viewers": 2})),
            ],
        ))
    };
    let (fast, slow) = (run(false), run(true));
    assert!(slow.outcome.events > fast.outcome.events);
    assert_eq!(fast.outcome.transfers, slow.outcome.transfers);
    assert_eq!(fast.outcome.datagrams, slow.outcome.datagrams);
    assert_eq!(fast.outcome.views, slow.outcome.views);
    assert_eq!(fast.outcome.views.len(), 2);
    assert!(fast.outcome.datagrams.iter().any(|flow| flow.lost > 0));
}

/// Everything at once, under every scheme: every link keeps its packets, every datagram is accounted for.
#[test]
fn conservation__with_uploads_and_datagrams() {
    for &scheme in SCHEMES.iter() {
        let base =
            Scenario { at: Some(Ends::Both), duration: "6s".into(), max_windows: 40, ..scenario(scheme) };
        let result = play(&with_mix(
            base,
            vec![
                with_direction("up", MixSpec { load: Some(0.6), ..entry("poisson", json!({})) }),
                with_direction("both", entry("ftp", json!({"users": 2, "endless": true}))),
                with_direction("both", entry("udp", json!({"flows": 2, "rate_bps": 1_000_000}))),
                entry("voip", json!({"calls": 2})),
                entry("videocall", json!({"rate_bps": 600_000})),
                entry("stream", json!({})),
            ],
        ));
        assert!(result.is_conserved(), "{scheme}: {:?}", result.outcome.balance);
        for flow in &result.outcome.datagrams {
            assert_eq!(flow.sent, flow.received + flow.lost, "{scheme}");
            assert!(flow.received > 0, "{scheme}: {flow:?}");
        }
        let lost: u64 = result.outcome.datagrams.iter().map(|flow| flow.lost).sum();
        let all: u64 = result.outcome.balance.iter().map(|link| link.dropped.0).sum();
        // Ideals have a buffer that holds everything, or none; within its budget a host's datagrams are the last to go.
        let is_ideal = ["srpt", "las", "empty", "excess-tins-cake", "excess-budget-cake"]
            .iter()
            .any(|ideal| scheme.ends_with(ideal));
        assert!(lost > 0 || is_ideal, "{scheme}");
        assert!(lost <= all, "{scheme}: {lost} of {all}");
    }
}

#[test]
fn models__of_calls_games_and_streams_name_a_faulty_parameter() {
    for (model, params, parts) in [
        ("voip", json!({"playout_s": -1}), ["playout_s", "-1", "from 0 to 10"]),
        ("voip", json!({"codec": "g729"}), ["codec", "g729", "g711-plc"]),
        ("game", json!({"packets_per_s": 0}), ["packets_per_s", "0", "from 0.1"]),
        ("game", json!({"packet_bytes": 9000}), ["packet_bytes", "9000", "to 1500"]),
        ("videocall", json!({"key_ratio": 0.5}), ["key_ratio", "0.5", "from 1 to 100"]),
        ("videocall", json!({"frame_rate": 30}), ["frame_rate", "parameter", "frames_per_s"]),
        ("stream", json!({"ladder_bps": [2e6, 1e6]}), ["ladder_bps", "2000000", "rising"]),
        ("stream", json!({"startup_s": 30}), ["startup_s", "30", "buffer_s"]),
    ] {
        let error = find_error(&with_mix(scenario("droptail"), vec![entry(model, params)]));
        let sentence = error.to_string();
        assert!(sentence.starts_with("traffic.mix[0].params") && !sentence.contains('\n'), "{sentence}");
        assert!(parts.iter().all(|part| sentence.contains(part)), "{parts:?}: {sentence}");
    }
}
