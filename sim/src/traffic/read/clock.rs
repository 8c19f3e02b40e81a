//! Watches the time stamps of a capture's packets for leaps and steps back.

use super::input::base;
use crate::traffic::note::{Note, NoteKind};

/// Packets of several queues or interfaces may be out of order by so much, nanoseconds.
const DISORDER: i64 = 10_000_000;
const SECOND: f64 = 1e9;
const HOUR: i64 = 3600 * 1_000_000_000;

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
        let name = base(path);
        let span = self.latest.max(self.last).saturating_sub(self.earliest);
        let is_leap = self.leap.size >= 24 * HOUR || (self.leap.size >= HOUR && self.leap.size > span / 2);
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
        leap.into_iter().chain(back).collect()
    }
}

/// Returns a time of nanoseconds in the unit that people would take.
fn span_text(nanoseconds: i64) -> String {
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
    fn clock__quiet_hours_are_no_leap() {
        assert_eq!(texts(&[0.0, 3700.0, 7400.0, 11_000.0]), [""; 0]);
        assert_eq!(texts(&[]), [""; 0]);
    }
}
