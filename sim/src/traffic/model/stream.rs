//! Models of viewers of videos that come in segments, whose bit rate follows the buffer.
//!
//! A client asks for one segment after the other, each over a separate connection, and waits while its buffer is
//! full. It chooses the bit rate by the buffer alone: BBA-0 of Huang, Johari, McKeown, Trunnell & Watson, "A
//! buffer-based approach to rate adaptation: evidence from a large video streaming service", SIGCOMM 2014, section 4
//! and Algorithm 1. Up to the reservoir it takes the lowest rate, beyond reservoir and cushion the highest, between
//! them a rate on the line from one to the other, which it leaves only when the line has reached the next. The
//! paper's buffer holds 240 s, of which 90 s are the reservoir and 126 s the cushion; the defaults are a tenth of
//! that, so that a run of a minute sees a whole video. The ladder is that of Netflix before 2015 up to 4.3 Mbit/s
//! ("Per-Title Encode Optimization", Netflix Technology Blog, 2015).

use super::check;
use crate::error::{Error, Result};
use crate::rng::{Purpose, Stream, mix};
use crate::units::Dur;
use serde::{Deserialize, Serialize};

/// The most rates of a ladder.
pub const MAX_RATES: usize = 16;

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Viewing {
    /// Viewers, each between separate hosts, during the whole run.
    pub viewers: u32,
    /// Bit rates in which a video is available, ascending, bit/s.
    pub ladder_bps: Vec<f64>,
    /// Length of a segment, s.
    pub segment_s: f64,
    /// Length of a video, s. The first one of each viewer is shorter at random.
    pub video_s: f64,
    /// Mean pause from the end of a video to the next, exponential, s.
    pub pause_s: f64,
    /// What the buffer holds, s.
    pub buffer_s: f64,
    /// Up to this much in the buffer the lowest rate is taken, s.
    pub reservoir_s: f64,
    /// From this much more on the highest, s.
    pub cushion_s: f64,
    /// A video begins, and goes on after it stood still, with this much in the buffer, s.
    pub startup_s: f64,
    /// Viewers begin evenly at random within this time, s.
    pub start_spread_s: f64,
    /// Number of the first viewer's client and server host.
    pub first_host: u32,
}

impl Default for Viewing {
    /// Returns the defaults: one viewer of videos of a minute, with a buffer of 24 s.
    fn default() -> Self {
        Viewing {
            viewers: 1,
            ladder_bps: vec![235e3, 375e3, 560e3, 750e3, 1050e3, 1750e3, 2350e3, 3000e3, 4300e3],
            segment_s: 2.0,
            video_s: 60.0,
            pause_s: 2.0,
            buffer_s: 24.0,
            reservoir_s: 9.0,
            cushion_s: 12.6,
            startup_s: 4.0,
            start_spread_s: 1.0,
            first_host: 0,
        }
    }
}

impl Viewing {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("viewers", f64::from(self.viewers), 1.0..=100_000.0),
            ("segment_s", self.segment_s, 0.1..=100.0),
            ("video_s", self.video_s, 0.1..=1e5),
            ("pause_s", self.pause_s, 0.0..=1e6),
            ("buffer_s", self.buffer_s, 0.1..=1e4),
            ("reservoir_s", self.reservoir_s, 0.0..=1e4),
            ("cushion_s", self.cushion_s, 0.0..=1e4),
            ("startup_s", self.startup_s, 0.0..=1e4),
            ("start_spread_s", self.start_spread_s, 0.0..=1e6),
            ("first_host", f64::from(self.first_host), 0.0..=1e6),
        ])?;
        check::check_order(("segment_s", self.segment_s), ("buffer_s", self.buffer_s))?;
        check::check_order(("startup_s", self.startup_s), ("buffer_s", self.buffer_s))?;
        let ladder = &self.ladder_bps;
        let is_rising = ladder.windows(2).all(|pair| pair[0] < pair[1]);
        let is_within = ladder.iter().all(|rate| (1_000.0..=1e9).contains(rate));
        if !(1..=MAX_RATES).contains(&ladder.len()) || !is_rising || !is_within {
            let allowed = format!("1 to {MAX_RATES} rising rates from 1000 to 1000000000 bit/s");
            let value = serde_json::to_string(ladder).unwrap_or_default();
            return Err(Error::field("ladder_bps", value, allowed));
        }
        Ok(())
    }

    /// Returns the number of segments of a video, the last of which may be shorter than others in time.
    pub fn segments(&self) -> u32 {
        (self.video_s / self.segment_s).ceil() as u32
    }

    /// Returns the bytes of a segment at the rate of index `place` in the ladder.
    pub fn segment_bytes(&self, place: usize) -> u64 {
        ((self.ladder_bps[place] * self.segment_s / 8.0).round() as u64).max(1)
    }

    /// Chooses the rate of the next segment by BBA-0 (Huang et al. 2014, Algorithm 1), with `buffer_s` in the buffer
    /// and after a segment of rate `before`, `None` for the first. Rates are indices in the ladder.
    pub fn choose_rate(&self, buffer_s: f64, before: Option<usize>) -> usize {
        let (ladder, highest) = (&self.ladder_bps, self.ladder_bps.len() - 1);
        if buffer_s <= self.reservoir_s {
            return 0;
        }
        if buffer_s >= self.reservoir_s + self.cushion_s {
            return highest;
        }
        let share = (buffer_s - self.reservoir_s) / self.cushion_s;
        let line = ladder[0] + share * (ladder[highest] - ladder[0]);
        let before = before.unwrap_or(0);
        if line >= ladder[(before + 1).min(highest)] {
            // The highest rate below the line.
            ladder.partition_point(|rate| *rate < line).max(1) - 1
        } else if line <= ladder[before.max(1) - 1] {
            // The lowest above it.
            ladder.partition_point(|rate| *rate <= line).min(highest)
        } else {
            before
        }
    }
}

/// The draws of the viewers under a seed.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewingDraws {
    model: Viewing,
    seed: u64,
}

impl ViewingDraws {
    /// Returns the draws of a run.
    pub fn new(model: Viewing, seed: u64) -> ViewingDraws {
        ViewingDraws { model, seed }
    }

    /// Returns the model.
    pub fn model(&self) -> &Viewing {
        &self.model
    }

    /// Returns the time at which a viewer begins, from 0 to below `start_spread_s`.
    pub fn start(&self, viewer: u32) -> Dur {
        let draw = Stream::new(self.seed, Purpose::Arrival, u64::from(viewer)).uniform();
        Dur::from_secs(draw * self.model.start_spread_s)
    }

    /// Returns how many segments of a video, from 0, a viewer watches, at least one: of the first video, the rest from
    /// a random position on.
    pub fn segments(&self, viewer: u32, video: u32) -> u32 {
        let all = self.model.segments();
        if video > 0 {
            return all;
        }
        let draw = Stream::new(self.seed, Purpose::Count, u64::from(viewer)).uniform();
        ((draw * f64::from(all)) as u32 + 1).min(all)
    }

    /// Draws the pause of a viewer before a video, exponential; equal arguments give equal pauses.
    pub fn pause(&self, viewer: u32, video: u32) -> Dur {
        let entity = mix(u64::from(viewer) << 32 | u64::from(video));
        Dur::from_secs(Stream::new(self.seed, Purpose::Idle, entity).exponential(self.model.pause_s))
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns a model with four rates on a line from 1 to 4 Mbit/s over 30 s above a reservoir of 10 s.
    fn viewing() -> Viewing {
        Viewing {
            ladder_bps: vec![1e6, 2e6, 3e6, 4e6],
            buffer_s: 50.0,
            reservoir_s: 10.0,
            cushion_s: 30.0,
            ..Viewing::default()
        }
    }

    #[test]
    fn choose__by_reservoir_and_cushion() {
        let model = viewing();
        for before in [None, Some(0), Some(3)] {
            assert_eq!((model.choose_rate(10.0, before), model.choose_rate(40.0, before)), (0, 3));
        }
        // 25 s is 2.5 Mbit/s on the line: up to 2 Mbit/s, down to 3 Mbit/s.
        assert_eq!((model.choose_rate(25.0, Some(0)), model.choose_rate(25.0, None)), (1, 1));
        assert_eq!(model.choose_rate(19.0, Some(3)), 1); // 1.9 Mbit/s on the line
        assert_eq!(model.choose_rate(25.0, Some(3)), 2);
    }

    /// The rate stays while the line is between its two neighbours.
    #[test]
    fn choose__keeps_a_rate_until_the_line_reaches_the_next() {
        let model = viewing();
        for buffer_s in [10.5, 20.1, 25.0, 29.9] {
            assert_eq!(model.choose_rate(buffer_s, Some(1)), 1, "{buffer_s}");
        }
        assert_eq!(model.choose_rate(30.0, Some(1)), 1); // the highest rate below a line that is at 3 Mbit/s
        assert_eq!(model.choose_rate(30.1, Some(1)), 2);
        let single = Viewing { ladder_bps: vec![1e6], ..viewing() };
        assert!([0.0, 20.0, 60.0].iter().all(|buffer_s| single.choose_rate(*buffer_s, Some(0)) == 0));
    }

    #[test]
    fn segments__of_a_first_video_are_the_rest_from_a_random_position() {
        let draws = ViewingDraws::new(Viewing { video_s: 100.0, ..viewing() }, 5);
        let lengths: Vec<u32> = (0..1000).map(|viewer| draws.segments(viewer, 0)).collect();
        let mean = lengths.iter().sum::<u32>() as f64 / 1000.0;
        assert!((mean / 25.5 - 1.0).abs() < 0.06, "{mean}");
        assert!(lengths.iter().all(|length| (1..=50).contains(length)));
        assert_eq!((draws.segments(3, 1), draws.model().segment_bytes(1)), (50, 500_000));
    }

    #[test]
    fn validate__a_ladder_rises() {
        for ladder_bps in [vec![], vec![2e6, 1e6], vec![0.0], vec![1e6; 2], vec![f64::NAN]] {
            let error = Viewing { ladder_bps, ..viewing() }.validate().unwrap_err().to_string();
            assert!(error.contains("ladder_bps") && error.contains("rising"), "{error}");
        }
        let error = Viewing { segment_s: 60.0, ..viewing() }.validate().unwrap_err().to_string();
        assert!(error.contains("segment_s") && error.contains("buffer_s"), "{error}");
    }
}
