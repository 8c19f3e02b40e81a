#![allow(non_snake_case)]
use super::*;
use crate::playback::Codec;

/// Returns the statistics of a flow that has begun.
fn stats(playback: Playback) -> ReceiveStats {
    ReceiveStats { open: Some(Open::default()), ..ReceiveStats::new(playback) }
}

/// Returns the record of a flow whose packets are sent every 20 ms and take these times; `None` is lost.
fn play(playback: Playback, delays_ms: &[Option<u64>]) -> DatagramRecord {
    let mut flow = stats(playback);
    for (number, delay) in (7u32..).zip(delays_ms) {
        flow.record_sent(Time(u64::from(number) * 20_000_000), number, 1);
        match delay {
            Some(ms) => flow.record_arrival(number, Dur::from_millis(*ms), 200),
            None => flow.lost += 1,
        }
    }
    flow.record(&[]).expect("it began")
}

/// RFC 3550: J += (|D| − J) / 16 with D the change of transit time.
#[test]
fn record_arrival__jitter_by_hand() {
    let record = play(Playback::None, &[Some(10), Some(26), Some(26), Some(10)]);
    let (first, second) = (1.0, 1.0 - 1.0 / 16.0);
    let third = second + (16.0 - second) / 16.0;
    let expected = (first + second + third) / 3.0 / 1e3;
    assert!((record.jitter_s - expected).abs() < 1e-12, "{} for {expected}", record.jitter_s);
    assert_eq!((record.sent, record.received, record.bytes), (4, 4, 800));
    assert_eq!(record.delay_s, [0.018, 0.010, 0.026, 0.026]);
    assert_eq!(record.played, Played::Not);
}

#[test]
fn record__counts_packets_later_than_50_ms() {
    let record = play(Playback::None, &[Some(50), None, Some(51), Some(10), Some(90)]);
    assert_eq!((record.sent, record.received, record.lost, record.late), (5, 4, 1, 2));
}

/// The least delay is 10 ms and packets are held back 60 ms: one of 71 ms is as good as lost.
#[test]
fn play_out__sound_misses_what_is_lost_or_late() {
    let hold = Dur::from_millis(60);
    let sound = Playback::Sound { codec: Codec::G711, packet: Dur::from_millis(20), hold };
    let delays = [None, Some(10), Some(70), Some(71), None, None, Some(30), None];
    let Played::Sound { codec, mouth_to_ear_s, packets, missing, gaps } = play(sound, &delays).played else {
        panic!("sound")
    };
    assert_eq!((codec, packets, missing, gaps), (Codec::G711, 8, 5, 3));
    assert!((mouth_to_ear_s - 0.090).abs() < 1e-12, "{mouth_to_ear_s}");
    let Played::Sound { mouth_to_ear_s, missing, gaps, .. } = play(sound, &[None, None]).played else {
        panic!("sound")
    };
    assert!(mouth_to_ear_s.is_nan() && (missing, gaps) == (2, 1));
}

/// Returns frames, missing frames, freezes and length in seconds of a video of two packets every 40
/// ms, held back 50 ms; `None` is a lost packet.
fn play_video(delays_ms: &[[Option<u64>; 2]]) -> (u64, u64, u64, f64) {
    let mut flow = stats(Playback::Frames { interval: Dur::from_millis(40), hold: Dur::from_millis(50) });
    for (frame, delays) in (0u32..).zip(delays_ms) {
        flow.record_sent(Time(u64::from(frame) * 40_000_000), 2 * frame, 2);
        for (number, delay) in (2 * frame..).zip(delays) {
            if let Some(ms) = delay {
                flow.record_arrival(number, Dur::from_millis(*ms), 1000);
            }
        }
    }
    match flow.record(&[]).expect("it began").played {
        Played::Frames { frames, missing, freezes, length_s } => (frames, missing, freezes, length_s),
        other => panic!("{other:?}"),
    }
}

#[test]
fn play_out__a_frame_needs_all_its_packets_in_time() {
    let whole = [Some(10), Some(11)];
    let (frames, missing, freezes, length_s) =
        play_video(&[whole, [Some(10), None], [Some(61), Some(12)], [Some(60), Some(12)], whole]);
    assert_eq!((frames, missing, freezes), (5, 2, 0));
    assert!((length_s - 0.2).abs() < 1e-12);
    assert_eq!(play_video(&[]), (0, 0, 0, 0.0));
}

/// With frames every 40 ms a freeze is a frame that is shown 190 ms or longer.
#[test]
fn play_out__a_freeze_is_150_ms_beyond_the_mean() {
    let (whole, lost) = ([Some(10), Some(10)], [None, Some(10)]);
    let with_gap = |gap: usize| {
        let frames: Vec<_> = [vec![whole; 10], vec![lost; gap], vec![whole; 10]].concat();
        play_video(&frames).2
    };
    assert_eq!((with_gap(3), with_gap(4), with_gap(20)), (0, 1, 1));
    // A late frame is shown late: the first of four that take 200 ms ends the gap after 180 ms, the others are
    // overtaken.
    let late = |ms, frames| {
        let late = [Some(ms), Some(10)];
        play_video(&[vec![whole; 10], vec![late; frames], vec![whole; 10]].concat()).2
    };
    assert_eq!((late(200, 4), late(230, 5)), (0, 1));
    // A picture that never comes, or does not come back, is one freeze.
    assert_eq!(play_video(&[lost; 40]).2, 1);
    assert_eq!(play_video(&[vec![whole; 10], vec![lost; 40]].concat()).2, 1);
}

/// Slow frames are the mean after a while: three times as long and 150 ms longer are compared with it.
#[test]
fn freezes__are_compared_with_the_latest_frames() {
    let ms = |times: &[u64]| times.iter().map(|time| time * 1_000_000).collect::<Vec<u64>>();
    let slow: Vec<u64> = (1..=40).map(|frame| frame * 100).collect();
    let after = |gap: u64| {
        let mut shown = slow.clone();
        shown.push(4000 + gap);
        count_freezes(&ms(&shown), 0, (4000 + gap) * 1_000_000, Dur::from_millis(100))
    };
    assert_eq!((after(299), after(300)), (0, 1));
}
