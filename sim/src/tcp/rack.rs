//! RACK: loss detection by time (RFC 8985 section 6), in segments.
//!
//! A segment is lost when one sent later has been delivered and the reordering window has passed since.
//! The time of the last transmission is kept for each segment that is outstanding, and for no others.
//!
//! *Deviations*: the least round-trip time is that of the whole connection; receivers send no DSACK, so the
//! reordering window never widens (section 6.2 step 4, `reo_wnd_mult` = 1).

use super::ranges::Ranges;
use super::receiver::AckFields;
use crate::units::{Dur, Time};
use std::collections::VecDeque;

/// Selectively acknowledged segments that tell a loss at once while no reordering has been seen.
const DUP_THRESH: u32 = 3;
/// Room kept for send times between two writes.
const KEPT: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Sacked,
}

/// One segment that is not cumulatively acknowledged.
#[derive(Debug, Clone, Copy)]
struct Segment {
    sent: Time,
    state: State,
    retransmitted: bool,
}

/// What an acknowledgement brought.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AckSummary {
    /// Segments delivered that had not been before.
    pub(super) delivered: u32,
    /// It carried SACK blocks.
    pub(super) has_blocks: bool,
    /// It acknowledged a segment that was sent only once: a round-trip time without doubt.
    pub(super) has_sample: bool,
}

/// Send times and what follows from them.
#[derive(Debug, Clone, Default)]
pub(super) struct Rack {
    /// The first segment kept.
    base: u32,
    segments: VecDeque<Segment>,
    sacked: Ranges,
    sacked_count: u32,
    pub(super) in_flight: u32,
    lost: u32,
    /// No segment below is lost.
    lost_from: u32,
    /// One more than the highest segment sent again.
    retransmitted_below: u32,
    /// One more than the highest segment delivered (`RACK.fack`).
    fack: u32,
    /// Send time and number of the most recently sent segment that was delivered.
    latest: (Time, u32),
    /// The same among those that the present acknowledgement delivers: their round-trip time is `rtt`.
    newest: (Time, u32),
    has_sample: bool,
    rtt: Dur,
    min_rtt: Option<Dur>,
    reordering_seen: bool,
}

impl Rack {
    /// Segments delivered so far.
    pub(super) fn delivered(&self) -> u32 {
        self.base + self.sacked_count
    }

    /// Whether SACK blocks are outstanding or losses unrepaired: then probes wait (section 7.2).
    pub(super) fn is_clean(&self) -> bool {
        self.sacked_count == 0 && self.lost == 0
    }

    /// Segment `seq` goes out.
    pub(super) fn send(&mut self, seq: u32, now: Time) {
        let place = (seq - self.base) as usize;
        let Some(segment) = self.segments.get_mut(place) else {
            debug_assert_eq!(place, self.segments.len(), "segments are first sent in order");
            self.segments.push_back(Segment { sent: now, state: State::InFlight, retransmitted: false });
            self.in_flight += 1;
            return;
        };
        if segment.state == State::Lost {
            self.lost -= 1;
            self.in_flight += 1;
        }
        *segment = Segment { sent: now, state: State::InFlight, retransmitted: true };
        self.retransmitted_below = self.retransmitted_below.max(seq + 1);
    }

    /// The first lost segment.
    pub(super) fn next_lost(&mut self) -> Option<u32> {
        if self.lost == 0 {
            return None;
        }
        let from = self.lost_from.max(self.base);
        let is_lost = |segment: &Segment| segment.state == State::Lost;
        let ahead = self.segments.iter().skip((from - self.base) as usize).position(is_lost)?;
        self.lost_from = from + ahead as u32;
        Some(self.lost_from)
    }

    /// Takes an acknowledgement (section 6.2 steps 1 to 3).
    pub(super) fn take(&mut self, ack: &AckFields, now: Time) -> AckSummary {
        let mut summary = AckSummary::default();
        (self.newest, self.has_sample) = ((Time::ZERO, 0), false);
        while self.base < ack.next
            && let Some(segment) = self.segments.pop_front()
        {
            if segment.state == State::Sacked {
                self.sacked_count -= 1;
            } else {
                summary.delivered += 1;
                self.deliver(self.base, segment, now);
            }
            self.base += 1;
        }
        self.sacked.trim(self.base);
        if self.segments.is_empty() && self.segments.capacity() > KEPT {
            self.segments.shrink_to(0);
        }
        // Rising, so that what one acknowledgement tells never looks like reordering.
        let mut blocks = ack.sacks;
        blocks.sort_unstable_by_key(|block| block.offset);
        for block in blocks.iter().filter(|block| block.length > 0) {
            summary.has_blocks = true;
            let from = ack.next + u32::from(block.offset);
            summary.delivered += self.sack(from, from + u32::from(block.length), now);
        }
        summary.has_sample = self.has_sample;
        summary
    }

    fn sack(&mut self, from: u32, to: u32, now: Time) -> u32 {
        let mut seq = from;
        let mut count = 0;
        while seq < to {
            if let Some((_, end)) = self.sacked.find(seq) {
                seq = end;
                continue;
            }
            let place = (seq - self.base) as usize;
            let Some(&segment) = self.segments.get(place) else { break };
            self.segments[place].state = State::Sacked;
            self.deliver(seq, segment, now);
            count += 1;
            seq += 1;
        }
        self.sacked.insert(from, seq.max(from));
        self.sacked_count += count;
        count
    }

    fn deliver(&mut self, seq: u32, segment: Segment, now: Time) {
        match segment.state {
            State::InFlight => self.in_flight -= 1,
            State::Lost => self.lost -= 1,
            State::Sacked => {}
        }
        self.has_sample |= !segment.retransmitted;
        self.reordering_seen |= seq + 1 < self.fack && !segment.retransmitted;
        self.fack = self.fack.max(seq + 1);
        let rtt = now.since(segment.sent);
        // Too soon for the retransmission: the original has arrived after all.
        if segment.retransmitted && self.min_rtt.is_none_or(|least| rtt < least) {
            return;
        }
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        if (segment.sent, seq) >= self.newest {
            (self.newest, self.rtt) = ((segment.sent, seq), rtt);
        }
        self.latest = self.latest.max((segment.sent, seq));
    }

    /// Section 6.2 step 4: nothing while no reordering has been seen and losses are plain, else a quarter
    /// of the least round-trip time, at most the smoothed one.
    fn reordering_window(&self, in_recovery: bool, srtt: Option<Dur>) -> Dur {
        if !self.reordering_seen && (in_recovery || self.sacked_count >= DUP_THRESH) {
            return Dur::ZERO;
        }
        let quarter = Dur(self.min_rtt.unwrap_or(Dur::ZERO).0 / 4);
        srtt.map_or(quarter, |srtt| quarter.min(srtt))
    }

    /// Section 6.2 step 5: marks what is lost now; returns how many, and when to look again.
    pub(super) fn detect(&mut self, now: Time, in_recovery: bool, srtt: Option<Dur>) -> (u32, Time) {
        let patience = self.rtt + self.reordering_window(in_recovery, srtt);
        let mut found = 0;
        let mut reordering_due = Time::ZERO;
        let mut seq = self.base;
        while let Some(segment) = self.segments.get_mut((seq - self.base) as usize) {
            if segment.state == State::Sacked {
                seq = self.sacked.find(seq).map_or(seq + 1, |(_, to)| to);
                continue;
            }
            let is_overtaken = (segment.sent, seq) < self.latest;
            // Beyond what was sent again send times only rise.
            if !is_overtaken && seq >= self.retransmitted_below {
                break;
            }
            if is_overtaken && segment.state == State::InFlight {
                let due = segment.sent + patience;
                if due <= now {
                    segment.state = State::Lost;
                    found += 1;
                    self.lost_from = self.lost_from.min(seq);
                } else {
                    reordering_due = reordering_due.max(due);
                }
            }
            seq += 1;
        }
        self.lost += found;
        self.in_flight -= found;
        (found, if reordering_due == Time::ZERO { Time::NEVER } else { reordering_due })
    }

    /// The retransmission timer fired (section 6.3): the first segment is lost, and what was sent long ago.
    pub(super) fn time_out(&mut self, now: Time, srtt: Option<Dur>) {
        let patience = self.rtt + self.reordering_window(true, srtt);
        for (place, segment) in self.segments.iter_mut().enumerate() {
            if segment.state == State::InFlight && (place == 0 || segment.sent + patience <= now) {
                segment.state = State::Lost;
                self.lost += 1;
                self.in_flight -= 1;
            }
        }
        self.lost_from = self.base;
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::packet::SackBlock;

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    fn ack(next: u32, (from, to): (u32, u32)) -> AckFields {
        let block = SackBlock { offset: (from - next) as u16, length: (to - from) as u16 };
        AckFields { next, sacks: [block, SackBlock::default(), SackBlock::default()], ece: false }
    }

    /// Section 6.2 step 2: in order of sending, so that the round-trip time is that of what was sent last.
    #[test]
    fn take__the_round_trip_is_that_of_the_segment_sent_last() {
        let mut rack = Rack::default();
        (0..4).for_each(|seq| rack.send(seq, ms(0)));
        [(4, 40), (5, 50), (6, 90)].into_iter().for_each(|(seq, at)| rack.send(seq, ms(at)));
        rack.take(&ack(0, (1, 4)), ms(100));
        assert_eq!(rack.detect(ms(100), false, None).0, 1);
        rack.send(0, ms(100));
        // 0 took 100 ms, 5 took 150 ms: 4 and 6, sent before 0, are lost.
        rack.take(&ack(4, (5, 6)), ms(200));
        assert_eq!((rack.rtt, rack.detect(ms(200), true, None).0), (Dur::from_millis(100), 2));
    }
}
