//! Watches the time stamps of a capture's packets, and of a log's rows, for leaps and steps back.

use super::input::file_name;
use crate::traffic::note::{Note, NoteKind};

/// Packets of several queues or interfaces may be out of order by so much, nanoseconds.
const DISORDER: i64 = 10_000_000;
const SECOND: f64 = 1e9;
const HOUR: i64 = 3600 * 1_000_000_000;
/// Rows of a log are out of order by less, but for those of long connections.
const STEP: i64 = HOUR / 2;
/// So many rows in a row stay behind a clock that was set back; so many steps a clock may take, more are another order.
const STAYS: u64 = 10;
const MOST_STEPS: u64 = 3;
/// Fewer packets or rows say nothing of the clock's resolution.
const FEW: u64 = 20;
/// Fewer stamps at equal distances may be chance, or somebody's small example.
const MANY: u64 = 100;
const MINUTE: i64 = 60 * 1_000_000_000;
/// Stamps from here on, the year 2000, are dates; those before count from a file's begin.
const DATES: i64 = 946_684_800 * 1_000_000_000;

/// What the time stamps of one capture do.
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
    /// Adds the next packet's stamp, nanoseconds.
    pub fn packet(&mut self, at: i64) {
        let step = at.saturating_sub(self.last);
        if !(0..=self.leap.size).contains(&step) {
            self.unusual(at, step);
        }
        self.is_fine = self.is_fine || at % SECOND as i64 != 0;
        self.last = at;
        self.packets += 1;
    }

    /// Takes note of a first packet, a wider leap or a step back.
    fn unusual(&mut self, at: i64, step: i64) {
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

    /// Returns remarks on the clock of the file at `path`: on a leap of an hour or more that is most of the span, or
    /// of a day, and on steps back.
    pub fn notes(&self, path: &str) -> Vec<Note> {
        let name = file_name(path);
        let span = self.latest.max(self.last).saturating_sub(self.earliest);
        let is_leap = self.leap.size >= 24 * HOUR || is_most(self.leap.size, span);
        let leap = is_leap.then(|| {
            let (by, after) = (span_text(self.leap.size), self.leap.after);
            let text = format!("{name}: time jumps by {by} after packet {after}");
            Note { row: Some(after), ..Note::new(NoteKind::TimeJumps, Some(name.clone()), text) }
        });
        let back = (self.steps_back > 0).then(|| {
            let (by, after) = (span_text(self.back.size), self.back.after);
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

/// Returns whether a leap is an hour or more, and most of a span.
pub fn is_most(leap: i64, span: i64) -> bool {
    leap >= HOUR && leap > span / 2
}

/// What the time stamps of one log's rows do in the order of the file. Single rows are out of order, as those of long
/// connections are, and whole files may have another order; a clock that was set back is behind from one row on.
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
    /// Whether a stamp was no whole minute of a date.
    has_finer: bool,
    beat: Beat,
}

/// Whether rows come at equal distances, the same number of them each time, as samples of counters do.
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
    /// Returns the step of the stamps, nanoseconds, given that none has a part of a second.
    pub fn resolution(&self) -> i64 {
        if self.rows >= FEW && !self.has_finer { MINUTE } else { SECOND as i64 }
    }

    /// Returns the time between stamps, nanoseconds, if it and the number of rows at each are always the same.
    pub fn beat(&self) -> Option<i64> {
        let is_beat = self.beat.stamps >= MANY && !self.beat.is_broken;
        is_beat.then_some(self.beat.distance.saturating_abs())
    }

    /// Adds the next row's stamp, nanoseconds; `row` is its number.
    pub fn row(&mut self, at: i64, row: u64) {
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

    /// Returns a remark if the clock of the file at `path` was set back.
    pub fn note(&self, path: &str) -> Option<Note> {
        let (name, Step { size, after }) = (file_name(path), self.back);
        (1..=MOST_STEPS).contains(&self.steps).then(|| {
            let text = format!(
                "{name}: the clock goes back by {} after row {after}; was it set, or is it the end of summer time?",
                span_text(size)
            );
            let (count, row) = (Some(self.steps), Some(after));
            Note { count, row, ..Note::new(NoteKind::TimeGoesBack, Some(name), text) }
        })
    }
}

/// Returns a time of nanoseconds in the unit that people would take.
pub fn span_text(nanoseconds: i64) -> String {
    const UNITS: [(f64, &str); 5] =
        [(365.25 * 86_400.0, "years"), (86_400.0, "days"), (3600.0, "h"), (60.0, "min"), (1.0, "s")];
    let seconds = nanoseconds as f64 / SECOND;
    let unit = UNITS.iter().find(|(length, _)| seconds >= *length);
    let (amount, name) = unit.map_or((1000.0 * seconds, "ms"), |(length, name)| (seconds / length, *name));
    let digits = usize::from(amount < 99.95);
    format!("{amount:.digits$} {name}")
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    fn texts(seconds: &[f64]) -> Vec<String> {
        let mut clock = Clock::default();
        seconds.iter().for_each(|at| clock.packet((at * SECOND) as i64));
        clock.notes("dir/a.pcap").into_iter().map(|note| note.text).collect()
    }

    #[test]
    fn clock__tells_leaps_with_the_packet_before() {
        let year = 365.25 * 86_400.0;
        assert_eq!(
            texts(&[1e9, 1e9 + 1.0, 1e9 + 1.0 + 4.2 * year]),
            ["a.pcap: time jumps by 4.2 years after packet 2"]
        );
        assert_eq!(texts(&[0.0, 0.0, 5400.0, 5401.0]), ["a.pcap: time jumps by 1.5 h after packet 2"]);
    }

    #[test]
    fn clock__tells_steps_back_but_no_disorder() {
        assert_eq!(texts(&[0.0, 1.0, 0.995, 2.0]), [""; 0]);
        assert_eq!(texts(&[5.0, 8.0, 5.5, 9.0]), ["a.pcap: the clock goes back by 2.5 s after packet 2"]);
        assert_eq!(
            texts(&[5.0, 4.0, 9.0, 7.0, 7.1]),
            ["a.pcap: the clock goes back 2 times, by up to 2.0 s, after packet 3"]
        );
    }

    #[test]
    fn clock__says_that_it_has_whole_seconds_only() {
        let whole: Vec<f64> = (0..20).map(f64::from).collect();
        assert!(texts(&whole)[0].contains("whole seconds"));
        assert_eq!(texts(&whole[..19]), [""; 0]);
        assert_eq!(texts(&[&whole[..], &[19.5]].concat()), [""; 0]);
    }

    fn rows_text(minutes: impl IntoIterator<Item = u32>) -> Option<String> {
        let mut clock = RowClock::default();
        for (place, minute) in minutes.into_iter().enumerate() {
            clock.row(i64::from(minute) * 60 * SECOND as i64, place as u64 + 1);
        }
        clock.note("dir/a.log").map(|note| note.text)
    }

    #[test]
    fn row_clock__tells_a_clock_that_was_set_back() {
        let text = rows_text((60..120).chain(60..180)).unwrap();
        assert!(text.starts_with("a.log: the clock goes back by 59.0 min after row 60;"), "{text}");
    }

    #[test]
    fn row_clock__long_connections_and_other_orders_are_none() {
        assert_eq!(rows_text((100..120).chain([3]).chain(120..150).chain([5, 7]).chain(150..170)), None);
        assert_eq!(rows_text((0..300).rev()), None, "newest first");
        let by_client = (0..5).flat_map(|_| (0..90).step_by(5));
        assert_eq!(rows_text(by_client), None);
    }

    #[test]
    fn clock__quiet_hours_are_no_leap() {
        assert_eq!(texts(&[0.0, 3700.0, 7400.0, 11_000.0]), [""; 0]);
        assert_eq!(texts(&[]), [""; 0]);
    }
}
