#![allow(non_snake_case)]
use super::*;
use crate::traffic::model::stream::Viewing;

const WHOLE: (Time, Time) = (Time::ZERO, Time(u64::MAX - 1));

/// Returns one viewer of one rate of 1 Mbit/s in segments of 2 s. It starts at once, plays from 4 s
/// in the buffer on, and its buffer holds 6 s.
fn viewing() -> Viewing {
    Viewing {
        ladder_bps: vec![1e6],
        buffer_s: 6.0,
        startup_s: 4.0,
        start_spread_s: 0.0,
        video_s: 20.0,
        ..Viewing::default()
    }
}

/// Returns the time `seconds` after the start.
fn at(seconds: f64) -> Time {
    Time::ZERO + Dur::from_secs(seconds)
}

/// Returns viewers whose first segment has been asked for, of a video of ten segments.
fn begin_viewing(window: (Time, Time)) -> (Viewers, Commands) {
    let mut viewers = Viewers::new(ViewingDraws::new(viewing(), 1), window);
    let mut commands = Commands::default();
    viewers.begin(&mut commands);
    assert_eq!(std::mem::take(&mut commands.wake), [(Time::ZERO, 0)]);
    viewers.viewers[0].segments = 10;
    viewers.wake(0, Time::ZERO, &mut commands);
    (viewers, commands)
}

/// Delivers the segment that was asked for, at a time in seconds.
fn arrive(viewers: &mut Viewers, commands: &mut Commands, seconds: f64) {
    assert_eq!(commands.open.drain(..).count(), 1, "one segment at a time");
    viewers.connection_finished(0, at(seconds), commands);
}

#[test]
fn viewer__starts_stalls_and_goes_on() {
    let (mut viewers, mut commands) = begin_viewing(WHOLE);
    for seconds in [1.0, 2.0] {
        arrive(&mut viewers, &mut commands, seconds); // 4 s at 2 s: it begins
    }
    arrive(&mut viewers, &mut commands, 9.0); // empty at 6 s
    arrive(&mut viewers, &mut commands, 11.0); // 4 s again: it goes on
    let [record] = viewers.views(at(13.0))[..] else { panic!("one viewer") };
    assert_eq!((record.starts, record.startup_s), (1, 2.0));
    assert_eq!((record.played_s, record.stalled_s), (4.0 + 2.0, 5.0));
    assert_eq!((record.segments, record.rate_bps), (4, 4e6));
}

#[test]
fn viewer__waits_while_the_buffer_is_full() {
    let (mut viewers, mut commands) = begin_viewing(WHOLE);
    for seconds in [0.5, 1.0, 1.5] {
        arrive(&mut viewers, &mut commands, seconds);
    }
    // 5.5 s in the buffer at 1.5 s: there is room for two more when 4 s are left.
    assert_eq!(std::mem::take(&mut commands.wake), [(at(3.0), 0)]);
    assert!(commands.open.is_empty());
    viewers.wake(0, at(3.0), &mut commands);
    let [open] = commands.open[..] else { panic!("one segment") };
    assert_eq!((open.payload, open.tag), (Payload::Single(250_000), 0));
}

#[test]
fn viewer__begins_the_next_video_when_the_last_is_over() {
    let (mut viewers, mut commands) = begin_viewing(WHOLE);
    viewers.viewers[0].segments = 2;
    for seconds in [1.0, 2.0] {
        arrive(&mut viewers, &mut commands, seconds);
    }
    let [(next, 0)] = commands.wake[..] else { panic!("one time") };
    let [record] = viewers.views(next)[..] else { panic!("one viewer, who thinks of the next video") };
    assert_eq!((record.starts, record.played_s), (1, 4.0));
    assert_eq!(next, at(6.0) + viewers.draws.pause(0, 1));
    viewers.wake(0, next, &mut commands);
    assert_eq!((viewers.viewers[0].video, viewers.viewers[0].segments), (1, 10));
    let [record] = viewers.views(next + Dur::from_secs(3.0))[..] else { panic!("one viewer") };
    // The second video has not begun; the pause is no stall.
    assert_eq!((record.starts, record.startup_s), (2, 2.0 + 3.0));
    assert_eq!((record.played_s, record.stalled_s), (4.0, 0.0));
}

#[test]
fn records__are_about_the_window() {
    let (mut viewers, mut commands) = begin_viewing((at(5.0), at(8.0)));
    for seconds in [1.0, 2.0, 9.0, 11.0] {
        arrive(&mut viewers, &mut commands, seconds);
    }
    let [record] = viewers.views(at(13.0))[..] else { panic!("one viewer") };
    assert_eq!((record.starts, record.segments), (0, 0));
    assert_eq!((record.played_s, record.stalled_s), (1.0, 2.0));
}
