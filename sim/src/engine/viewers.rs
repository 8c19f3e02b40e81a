//! Viewers of streams: each asks for the next segment when the one before has arrived and its buffer has room, and
//! plays what the buffer holds.

use super::commands::{Commands, ConnectionSource};
use super::connection::{Open, Payload};
use crate::record::ViewRecord;
use crate::traffic::model::stream::ViewingDraws;
use crate::units::{Dur, Time};

/// State of a viewer's player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Player {
    /// No video was asked for, or the last one is over.
    Idle,
    /// A video was asked for and has not begun.
    Starting,
    /// It plays what the buffer holds.
    Playing,
    /// It stands still for want of data.
    Stalled,
}

#[derive(Debug, Clone, Copy)]
struct Viewer {
    player: Player,
    /// Number of the present video, and when it was asked for.
    video: u32,
    asked: Time,
    /// Its segments, and how many of them have arrived.
    segments: u32,
    arrived: u32,
    /// Position in the ladder of the segment asked for last; `None` before the first of a video.
    place: Option<usize>,
    /// Video in the buffer at the time `at`, up to which it was played.
    buffer: Dur,
    at: Time,
    record: ViewRecord,
}

/// All viewers of a run; tokens and tags are their numbers.
pub struct Viewers {
    draws: ViewingDraws,
    window: (Time, Time),
    segment: Dur,
    viewers: Vec<Viewer>,
}

impl Viewers {
    /// Returns viewers before their first video, recorded from the beginning of `window` to its
    /// end; the length of each one's first video is drawn.
    pub fn new(draws: ViewingDraws, window: (Time, Time)) -> Viewers {
        let viewer = |number: u32| Viewer {
            player: Player::Idle,
            video: 0,
            asked: Time::ZERO,
            segments: draws.segments(number, 0),
            arrived: 0,
            place: None,
            buffer: Dur::ZERO,
            at: Time::ZERO,
            record: ViewRecord {
                key: u64::from(number),
                client: draws.model().first_host + number,
                ..ViewRecord::default()
            },
        };
        let viewers = (0..draws.model().viewers).map(viewer).collect();
        Viewers { segment: Dur::from_secs(draws.model().segment_s), draws, window, viewers }
    }

    /// Adds the command to open a connection for the next segment of the viewer's video, at the
    /// rate that its model chooses by the buffer. The rate becomes the viewer's present one.
    fn request_segment(&mut self, number: u32, commands: &mut Commands) {
        let (model, viewer) = (self.draws.model(), &mut self.viewers[number as usize]);
        let place = model.choose_rate(viewer.buffer.as_secs(), viewer.place);
        viewer.place = Some(place);
        // The rate is part of the key, so that transfers of the same key have the same size under every scheme.
        let segment = u64::from(viewer.video & 0xfff) << 16 | u64::from(viewer.arrived & 0xffff);
        let host = model.first_host + number;
        commands.open.push(Open {
            key: u64::from(number) << 32 | segment << 4 | place as u64,
            client: host,
            server: host,
            payload: Payload::Single(model.segment_bytes(place)),
            tag: number,
            ..Open::default()
        });
    }
}

impl ConnectionSource for Viewers {
    /// Schedules the first video of every viewer.
    fn begin(&mut self, commands: &mut Commands) {
        let starts = (0..self.viewers.len() as u32).map(|number| (self.draws.start(number), number));
        commands.wake.extend(starts.map(|(start, number)| (Time::ZERO + start, number)));
    }

    /// Requests the next segment, now that the buffer has room. If the last video is over, the next
    /// one begins with its first segment.
    fn wake(&mut self, number: u32, now: Time, commands: &mut Commands) {
        let segments = self.draws.segments(number, self.viewers[number as usize].video + 1);
        let viewer = &mut self.viewers[number as usize];
        viewer.play_until(now, self.window);
        let is_over = viewer.arrived == viewer.segments;
        if is_over {
            (viewer.video, viewer.segments, viewer.arrived) = (viewer.video + 1, segments, 0);
            viewer.place = None;
        }
        if viewer.arrived == 0 {
            (viewer.player, viewer.asked) = (Player::Starting, now);
        }
        self.request_segment(number, commands);
    }

    /// Adds a segment to the buffer, starts the player if that is enough, and requests or schedules
    /// the next segment or video.
    fn connection_finished(&mut self, number: u32, now: Time, commands: &mut Commands) {
        let (model, window) = (self.draws.model(), self.window);
        let (full, startup) = (Dur::from_secs(model.buffer_s), Dur::from_secs(model.startup_s));
        let viewer = &mut self.viewers[number as usize];
        viewer.play_until(now, window);
        viewer.arrived += 1;
        viewer.buffer += self.segment;
        if (window.0..window.1).contains(&now) {
            viewer.record.segments += 1;
            viewer.record.rate_bps += model.ladder_bps[viewer.place.unwrap_or(0)];
        }
        let is_whole = viewer.arrived == viewer.segments;
        if viewer.player != Player::Playing && (viewer.buffer >= startup || is_whole) {
            if viewer.player == Player::Starting {
                viewer.record_start(now, window);
            }
            viewer.player = Player::Playing;
        }
        if is_whole {
            let pause = self.draws.pause(number, viewer.video + 1);
            commands.wake.push((now + viewer.buffer + pause, number));
        } else if viewer.buffer + self.segment > full && viewer.player == Player::Playing {
            commands.wake.push((now + Dur((viewer.buffer + self.segment).0 - full.0), number));
        } else {
            self.request_segment(number, commands);
        }
    }

    /// Returns the record of each viewer that has asked for a video, as of `now`; the viewers
    /// themselves do not change.
    fn views(&self, now: Time) -> Vec<ViewRecord> {
        let seen = self.viewers.iter().map(|viewer| {
            let mut viewer = *viewer;
            viewer.play_until(now, self.window);
            if viewer.player == Player::Starting {
                viewer.record_start(now, self.window);
            }
            viewer
        });
        seen.filter(|viewer| viewer.place.is_some() || viewer.video > 0).map(|viewer| viewer.record).collect()
    }
}

impl Viewer {
    /// Plays the video from the last call up to `now`: empties the buffer, records how long it
    /// played and how long it stood still within the window, and stalls or ends the player when the
    /// buffer is empty.
    fn play_until(&mut self, now: Time, window: (Time, Time)) {
        let (from, passed) = (self.at, now.since(self.at));
        self.at = now;
        match self.player {
            Player::Idle | Player::Starting => {}
            Player::Stalled => self.record.stalled_s += overlap_s(from, now, window),
            Player::Playing => {
                let played = passed.min(self.buffer);
                let ran_dry = from + played;
                self.record.played_s += overlap_s(from, ran_dry, window);
                self.buffer = Dur(self.buffer.0 - played.0);
                if self.arrived == self.segments && self.buffer == Dur::ZERO {
                    self.player = Player::Idle;
                } else if played < passed {
                    self.player = Player::Stalled;
                    self.record.stalled_s += overlap_s(ran_dry, now, window);
                }
            }
        }
    }

    /// Adds the time to the first picture of a video that was asked for within the window to the
    /// record; other videos change nothing. If the video has not begun, the time so far counts.
    fn record_start(&mut self, now: Time, window: (Time, Time)) {
        if (window.0..window.1).contains(&self.asked) {
            self.record.starts += 1;
            self.record.startup_s += now.since(self.asked).as_secs();
        }
    }
}

/// Returns the part of the time from `begin` to `end` that lies within the window, in seconds; 0 if
/// none does.
fn overlap_s(begin: Time, end: Time, window: (Time, Time)) -> f64 {
    let (begin, end) = (begin.max(window.0), end.min(window.1));
    if begin < end { end.since(begin).as_secs() } else { 0.0 }
}

#[cfg(test)]
#[path = "viewers_tests.rs"]
mod tests;
