//! Watches the time stamps of a capture's packets, and of a log's rows, for leaps and steps back.

use super::input::file_name;
use crate::traffic::note::{Note, NoteKind};

/// Packets of several queues or interfaces may be out of order by up to this much, nanoseconds.
const DISORDER: i64 = 10_000_000;
const SECOND: f64 = 1e9;
const HOUR: i64 = 3600 * 1_000_000_000;
/// Rows of a log are out of order by less than this, except those of long connections.
const STEP: i64 = HOUR / 2;
/// Number of consecutive rows that stay behind a clock that was set back. With more steps than
/// [`MOST_STEPS`], the rows are merely in another order.
const STAYS: u64 = 10;
const MOST_STEPS: u64 = 3;
/// Fewer packets or rows do not show the clock's resolution.
const FEW: u64 = 20;
/// Fewer equally spaced stamps may be chance, or a small example.
const MANY: u64 = 100;
const MINUTE: i64 = 60 * 1_000_000_000;
/// Stamps from the year 2000 on are dates; earlier ones count from the beginning of a file.
const DATES: i64 = 946_684_800 * 1_000_000_000;

/// The leaps and steps back of one capture's time stamps.
#[derive(Debug, Default)]
pub struct Clock {
    packets: u64,
    last: i64,
    earliest: i64,
    latest: i64,
    leap: Step,
    back: Step,
    steps_back: u64,
    /// Whether a stamp had a part of a second.
    is_fine: bool,
}

/// The largest step of one direction, and the number of the packet before it.
#[derive(Debug, Default, Clone, Copy)]
struct Step {
    size: i64,
    after: u64,
}

impl Clock {
    /// Adds the stamp of the capture's next packet, nanoseconds; packets count from 1.
    pub fn add_packet(&mut self, at: i64) {
        let step = at.saturating_sub(self.last);
        if !(0..=self.leap.size).contains(&step) {
            self.record_unusual(at, step);
        }
        self.is_fine = self.is_fine || at % SECOND as i64 != 0;
        self.last = at;
        self.packets += 1;
    }

    /// Records a first packet, a wider leap or a step back.
    fn record_unusual(&mut self, at: i64, step: i64) {
        if self.packets == 0 {
            (self.earliest, self.latest) = (at, at);
        } else if step > 0 {
            self.leap = Step { size: step, after: self.packets };
        } else {
            (self.earliest, self.latest) = (self.earliest.min(at), self.latest.max(self.last));
            if step < -DISORDER {
                self.steps_back += 1;
                if -step > self.back.size {
                    self.back = Step { size: -step, after: self.packets };
                }
            }
        }
    }

    /// Returns remarks on the clock of the file at `path`: on a leap of an hour or more that is
    /// most of the span, or of a day; on steps back of more than [`DISORDER`]; and on stamps of whole seconds, unless
    /// there are fewer than [`FEW`]. Empty without any.
    pub fn to_notes(&self, path: &str) -> Vec<Note> {
        let name = file_name(path);
        let span = self.latest.max(self.last).saturating_sub(self.earliest);
        let is_leap = self.leap.size >= 24 * HOUR || is_most(self.leap.size, span);
        let leap = is_leap.then(|| {
            let (by, after) = (format_span(self.leap.size), self.leap.after);
            let text = format!("{name}: time jumps by {by} after packet {after}");
            Note { row: Some(after), ..Note::new(NoteKind::TimeJumps, Some(name.clone()), text) }
        });
        let back = (self.steps_back > 0).then(|| {
            let (by, after) = (format_span(self.back.size), self.back.after);
            let text = match self.steps_back {
                1 => format!("{name}: the clock goes back by {by} after packet {after}"),
                times => {
                    format!("{name}: the clock goes back {times} times, by up to {by}, after packet {after}")
                }
            };
            let (count, row) = (Some(self.steps_back), Some(after));
            Note { count, row, ..Note::new(NoteKind::TimeGoesBack, Some(name.clone()), text) }
        });
        let is_coarse = self.packets >= FEW && !self.is_fine;
        let coarse = is_coarse.then(|| {
            let text = format!(
                "{name}: time stamps are whole seconds, so that pauses and RTTs are not known; give --rtt"
            );
            Note::new(NoteKind::Doubt, Some(name.clone()), text)
        });
        leap.into_iter().chain(back).chain(coarse).collect()
    }
}

/// Returns whether a leap is an hour or more, and more than half of a span; all in nanoseconds.
pub fn is_most(leap: i64, span: i64) -> bool {
    leap >= HOUR && leap > span / 2
}

/// The time stamps of one log's rows in the order of the file, watched for a clock that was set back. Single
/// rows may be out of order, as those of long connections are, and whole files may have another order; after
/// a clock was set back, all rows are behind.
#[derive(Debug, Default)]
pub struct RowClock {
    rows: u64,
    last: i64,
    /// The time before the last step back, and the rows since that stayed behind it.
    before: Option<i64>,
    behind: u64,
    step: Step,
    back: Step,
    steps: u64,
    /// Whether a stamp was not a whole minute of a date.
    has_finer: bool,
    beat: Beat,
}

/// Watches whether rows come at equal intervals, with the same number of rows each time, as samples of
/// counters do.
#[derive(Debug, Default)]
struct Beat {
    stamps: u64,
    /// Rows of the latest stamp, and of each one before it.
    rows: u64,
    rows_each: u64,
    distance: i64,
    is_broken: bool,
}

impl Beat {
    /// Adds a row that is `step` nanoseconds after the one before it; the first row's step means nothing.
    fn add(&mut self, step: i64) {
        if self.stamps > 0 && step == 0 {
            self.rows += 1;
            self.is_broken |= self.stamps > 1 && self.rows > self.rows_each;
            return;
        }
        match self.stamps {
            0 => {}
            1 => (self.rows_each, self.distance) = (self.rows, step),
            _ => self.is_broken |= self.rows != self.rows_each || step != self.distance,
        }
        self.stamps += 1;
        self.rows = 1;
    }
}

impl RowClock {
    /// Returns the resolution of the stamps, ns: a minute if at least [`FEW`] rows are all dates of whole minutes, else
    /// a second. It holds only for stamps without a part of a second.
    pub fn resolution(&self) -> i64 {
        if self.rows >= FEW && !self.has_finer { MINUTE } else { SECOND as i64 }
    }

    /// Returns the interval between stamps, ns, if it and the number of rows at each stamp are always the
    /// same; `None` if not, or for few stamps.
    pub fn find_beat(&self) -> Option<i64> {
        let is_beat = self.beat.stamps >= MANY && !self.beat.is_broken;
        is_beat.then_some(self.beat.distance.saturating_abs())
    }

    /// Adds the next row's stamp, nanoseconds; `row` is its number in the file, from 1. A step back of [`STEP`] or more
    /// counts once [`STAYS`] rows in succession stay behind it.
    pub fn add_row(&mut self, at: i64, row: u64) {
        self.has_finer = self.has_finer || at < DATES || at % MINUTE != 0;
        if !self.beat.is_broken {
            self.beat.add(at.saturating_sub(self.last));
        }
        let back = self.last.saturating_sub(at);
        if let Some(before) = self.before {
            let is_behind = before.saturating_sub(at) >= STEP;
            self.behind = if is_behind { self.behind + 1 } else { 0 };
            if !is_behind {
                self.before = None;
            } else if self.behind == STAYS {
                self.steps += 1;
                if self.step.size > self.back.size {
                    self.back = self.step;
                }
                self.before = None;
            }
        }
        if self.rows > 0 && back >= STEP && self.before.is_none() {
            (self.before, self.behind) = (Some(self.last), 1);
            self.step = Step { size: back, after: row.saturating_sub(1) };
        }
        self.last = at;
        self.rows += 1;
    }

    /// Returns a remark on the widest step if the clock of the file at `path` was set back; `None` without a step, or
    /// with more than [`MOST_STEPS`].
    pub fn to_note(&self, path: &str) -> Option<Note> {
        let (name, Step { size, after }) = (file_name(path), self.back);
        (1..=MOST_STEPS).contains(&self.steps).then(|| {
            let text = format!(
                "{name}: the clock goes back by {} after row {after}; was it set, or is it the end of summer time?",
                format_span(size)
            );
            let (count, row) = (Some(self.steps), Some(after));
            Note { count, row, ..Note::new(NoteKind::TimeGoesBack, Some(name), text) }
        })
    }
}

/// Formats a time in nanoseconds in its largest suitable unit, from ms to years, with one decimal below 100.
pub fn format_span(nanoseconds: i64) -> String {
    const UNITS: [(f64, &str); 5] =
        [(365.25 * 86_400.0, "years"), (86_400.0, "days"), (3600.0, "h"), (60.0, "min"), (1.0, "s")];
    let seconds = nanoseconds as f64 / SECOND;
    let unit = UNITS.iter().find(|(length, _)| seconds.abs() >= *length);
    let (amount, name) = unit.map_or((1000.0 * seconds, "ms"), |(length, name)| (seconds / length, *name));
    let digits = usize::from(amount.abs() < 99.95);
    format!("{amount:.digits$} {name}")
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the notes on packets at these times, s.
    fn note_packets(seconds: &[f64]) -> Vec<String> {
        let mut clock = Clock::default();
        seconds.iter().for_each(|at| clock.add_packet((at * SECOND) as i64));
        clock.to_notes("dir/a.pcap").into_iter().map(|note| note.text).collect()
    }

    #[test]
    fn clock__notes_leaps_with_the_packet_before() {
        let year = 365.25 * 86_400.0;
        assert_eq!(
            note_packets(&[1e9, 1e9 + 1.0, 1e9 + 1.0 + 4.2 * year]),
            ["a.pcap: time jumps by 4.2 years after packet 2"]
        );
        assert_eq!(note_packets(&[0.0, 0.0, 5400.0, 5401.0]), ["a.pcap: time jumps by 1.5 h after packet 2"]);
    }

    #[test]
    fn clock__notes_steps_back_but_no_disorder() {
        assert_eq!(note_packets(&[0.0, 1.0, 0.995, 2.0]), [""; 0]);
        assert_eq!(
            note_packets(&[5.0, 8.0, 5.5, 9.0]),
            ["a.pcap: the clock goes back by 2.5 s after packet 2"]
        );
        assert_eq!(
            note_packets(&[5.0, 4.0, 9.0, 7.0, 7.1]),
            ["a.pcap: the clock goes back 2 times, by up to 2.0 s, after packet 3"]
        );
    }

    #[test]
    fn clock__notes_that_it_has_whole_seconds_only() {
        let whole: Vec<f64> = (0..20).map(f64::from).collect();
        assert!(note_packets(&whole)[0].contains("whole seconds"));
        assert_eq!(note_packets(&whole[..19]), [""; 0]);
        assert_eq!(note_packets(&[&whole[..], &[19.5]].concat()), [""; 0]);
    }

    /// Returns the note on rows at these times, minutes.
    fn note_rows(minutes: impl IntoIterator<Item = u32>) -> Option<String> {
        let mut clock = RowClock::default();
        for (place, minute) in minutes.into_iter().enumerate() {
            clock.add_row(i64::from(minute) * 60 * SECOND as i64, place as u64 + 1);
        }
        clock.to_note("dir/a.log").map(|note| note.text)
    }

    #[test]
    fn row_clock__notes_a_clock_that_was_set_back() {
        let text = note_rows((60..120).chain(60..180)).unwrap();
        assert!(text.starts_with("a.log: the clock goes back by 59.0 min after row 60;"), "{text}");
    }

    #[test]
    fn row_clock__long_connections_and_other_orders_are_none() {
        assert_eq!(note_rows((100..120).chain([3]).chain(120..150).chain([5, 7]).chain(150..170)), None);
        assert_eq!(note_rows((0..300).rev()), None, "newest first");
        let by_client = (0..5).flat_map(|_| (0..90).step_by(5));
        assert_eq!(note_rows(by_client), None);
    }

    #[test]
    fn clock__quiet_hours_are_no_leap() {
        assert_eq!(note_packets(&[0.0, 3700.0, 7400.0, 11_000.0]), [""; 0]);
        assert_eq!(note_packets(&[]), [""; 0]);
    }
}
