//! RACK: loss detection by time (RFC 8985 section 6), in segments.
//!
//! A segment is lost when one sent later has been delivered and the reordering window has passed since.
//! The time of the last transmission is stored for each segment that is outstanding, and for no others.
//!
//! *Deviations*: the least round-trip time is that of the whole connection; receivers send no DSACK, so the
//! reordering window never widens (section 6.2 step 4, `reo_wnd_mult` = 1).

use super::common::DUP_THRESH;
use super::delivery_rate::DeliveryRate;
use crate::tcp::ranges::Ranges;
use crate::tcp::receiver::AckFields;
use crate::units::{Dur, Time};
use std::collections::VecDeque;

/// Capacity for segments that is not freed between two writes.
const RETAINED_CAPACITY: usize = 32;

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

/// The delivery that an acknowledgement reports.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AckSummary {
    /// Segments delivered that had not been before.
    pub(super) delivered: u32,
    /// It carried SACK blocks.
    pub(super) has_blocks: bool,
    /// It acknowledged a segment that was sent only once, so that its round-trip time is certain.
    pub(super) has_sample: bool,
    /// Round-trip times of the segments that it newly delivers.
    pub(super) rtt: DeliveredRtt,
}

/// Round-trip times that one acknowledgement shows, of segments sent once; without any, that of the first segment
/// acknowledged, measured by time stamps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DeliveredRtt {
    acked: Option<(Dur, Dur)>,
    sacked: Option<(Dur, Dur)>,
    has_acked_again: bool,
    stamped: Option<Dur>,
}

impl DeliveredRtt {
    /// Returns the round-trip time of the first segment, the input of the retransmission timeout
    /// (`seq_rtt_us`); `None` if the acknowledgement shows none.
    pub(super) fn first_rtt(&self) -> Option<Dur> {
        self.unambiguous_acked().or(self.sacked).map(|(first, _)| first).or(self.stamped)
    }

    /// Returns the round-trip time of the last segment, the input of congestion control
    /// (`ca_rtt_us`); `None` if the acknowledgement shows none.
    pub(super) fn last_rtt(&self) -> Option<Dur> {
        self.sacked.or(self.unambiguous_acked()).map(|(_, last)| last).or(self.stamped)
    }

    /// Returns the times of the first and last segment cumulatively acknowledged. It is `None` if
    /// any of them was sent twice, since the acknowledgement may be that of the first transmission.
    fn unambiguous_acked(&self) -> Option<(Dur, Dur)> {
        self.acked.filter(|_| !self.has_acked_again)
    }

    /// Returns the round-trip time of the first segment newly SACKed that was sent once.
    pub(super) fn first_sacked_rtt(&self) -> Option<Dur> {
        self.sacked.map(|(first, _)| first)
    }

    /// Adds a cumulatively acknowledged segment. One that was SACKed before gives no time; one that
    /// was retransmitted makes the times ambiguous.
    fn on_acked(&mut self, segment: Segment, now: Time) {
        let rtt = now.since(segment.sent);
        if segment.retransmitted {
            self.has_acked_again = true;
        } else if segment.state != State::Sacked {
            self.acked = Some((self.acked.map_or(rtt, |(first, _)| first), rtt));
        }
    }

    /// Adds a newly SACKed segment, unless it was retransmitted.
    fn on_sacked(&mut self, segment: Segment, now: Time) {
        if !segment.retransmitted {
            let rtt = now.since(segment.sent);
            self.sacked = Some((self.sacked.map_or(rtt, |(first, _)| first), rtt));
        }
    }
}

/// State of every outstanding segment, and the round-trip times that loss detection needs.
#[derive(Debug, Clone, Default)]
pub(super) struct Rack {
    /// Number of the first segment stored: everything below is acknowledged.
    base: u32,
    segments: VecDeque<Segment>,
    sacked: Ranges,
    sacked_count: u32,
    in_flight: u32,
    /// Segments lost and not sent again.
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
    /// Delivery rate samples, if congestion control asks for them.
    pub(super) rate: Option<Box<DeliveryRate>>,
}

impl Rack {
    /// Returns the state of a connection that has sent nothing; `has_rate` selects delivery rate
    /// samples.
    pub(super) fn new(has_rate: bool) -> Rack {
        Rack { rate: has_rate.then(Box::default), ..Rack::default() }
    }

    /// Records the handshake's round-trip time as the least one so far. Its packets are small, so
    /// that it may be less than that of any segment of data.
    pub(super) fn on_handshake(&mut self, rtt: Dur) {
        self.min_rtt = Some(rtt);
    }

    /// Returns how many segments have been delivered so far, cumulatively or selectively
    /// acknowledged.
    pub(super) fn delivered(&self) -> u32 {
        self.base + self.sacked_count
    }

    /// Returns how many segments are in flight: sent, and neither delivered nor lost.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Returns the least round-trip time so far; `None` before any sample.
    pub(super) fn min_rtt(&self) -> Option<Dur> {
        self.min_rtt
    }

    /// Returns how many segments are lost and not sent again.
    pub(super) fn lost(&self) -> u32 {
        self.lost
    }

    /// Returns whether no SACK block is outstanding and no loss unrepaired; otherwise probes wait
    /// (section 7.2).
    pub(super) fn is_clean(&self) -> bool {
        self.sacked_count == 0 && self.lost == 0
    }

    /// Returns when the first unacknowledged segment was last retransmitted; `None` if it was not.
    pub(super) fn first_retransmitted_at(&self) -> Option<Time> {
        self.segments.front().filter(|segment| segment.retransmitted).map(|segment| segment.sent)
    }

    /// Records that segment `seq` is sent, for the first time or again, and counts it as in flight.
    /// New segments must come in order; a cumulatively acknowledged one must not come again.
    pub(super) fn on_sent(&mut self, seq: u32, now: Time) {
        let index = (seq - self.base) as usize;
        let Some(segment) = self.segments.get_mut(index) else {
            debug_assert_eq!(index, self.segments.len(), "segments are first sent in order");
            self.segments.push_back(Segment { sent: now, state: State::InFlight, retransmitted: false });
            self.in_flight += 1;
            if let Some(rate) = &mut self.rate {
                rate.on_sent(index, self.in_flight, now);
            }
            return;
        };
        if segment.state == State::Lost {
            self.lost -= 1;
            self.in_flight += 1;
        }
        *segment = Segment { sent: now, state: State::InFlight, retransmitted: true };
        self.retransmitted_below = self.retransmitted_below.max(seq + 1);
        if let Some(rate) = &mut self.rate {
            rate.on_sent(index, self.in_flight, now);
        }
    }

    /// Returns the first lost segment that was not sent again; `None` if there is none. It stays
    /// lost until [`Rack::on_sent`] records it.
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

    /// Updates the segments by an acknowledgement (section 6.2 steps 1 to 3): removes those below
    /// `ack.next`, marks those in SACK blocks, and measures round-trip times. Returns what it
    /// delivers. Losses are detected afterwards ([`Rack::detect_losses`]).
    pub(super) fn on_ack(&mut self, ack: &AckFields, now: Time) -> AckSummary {
        let mut summary = AckSummary::default();
        if let Some(rate) = &mut self.rate {
            rate.begin_ack();
        }
        if let Some(segment) = self.segments.front().filter(|_| ack.next > self.base) {
            let rtt = now.since(segment.sent);
            let is_possible = self.min_rtt.is_none_or(|least| rtt >= least);
            summary.rtt.stamped = is_possible.then_some(rtt);
        }
        (self.newest, self.has_sample) = ((Time::ZERO, 0), false);
        while self.base < ack.next
            && let Some(segment) = self.segments.pop_front()
        {
            summary.rtt.on_acked(segment, now);
            if let Some(rate) = &mut self.rate {
                rate.on_acked(self.base, segment.state != State::Sacked, now);
            }
            if segment.state == State::Sacked {
                self.sacked_count -= 1;
            } else {
                summary.delivered += 1;
                self.record_delivery(self.base, segment, now);
            }
            self.base += 1;
        }
        self.sacked.trim(self.base);
        if self.segments.is_empty() && self.segments.capacity() > RETAINED_CAPACITY {
            self.segments.shrink_to(0);
        }
        // In rising order, so that the blocks of one acknowledgement never look like reordering.
        let mut blocks = ack.sacks;
        blocks.sort_unstable_by_key(|block| block.offset);
        for (from, to) in (AckFields { sacks: blocks, ..*ack }).blocks() {
            summary.has_blocks = true;
            summary.delivered += self.on_sacked(from, to, now, &mut summary.rtt);
        }
        summary.has_sample = self.has_sample;
        summary
    }

    /// Marks the segments `[from, to)` of a SACK block as delivered, and adds their round-trip
    /// times to `rtt`; returns how many it newly covers. Segments never sent are ignored.
    fn on_sacked(&mut self, from: u32, to: u32, now: Time, rtt: &mut DeliveredRtt) -> u32 {
        let mut seq = from;
        let mut count = 0;
        while seq < to {
            if let Some((_, end)) = self.sacked.find(seq) {
                seq = end;
                continue;
            }
            let index = (seq - self.base) as usize;
            let Some(&segment) = self.segments.get(index) else { break };
            rtt.on_sacked(segment, now);
            if let Some(rate) = &mut self.rate {
                rate.on_sacked(seq, index, now);
            }
            self.segments[index].state = State::Sacked;
            self.record_delivery(seq, segment, now);
            count += 1;
            seq += 1;
        }
        self.sacked.insert(from, seq.max(from));
        self.sacked_count += count;
        count
    }

    /// Records that `segment` was delivered: counts, round-trip time, reordering. A retransmission
    /// that is answered sooner than the least round-trip time gives no time, since the original has
    /// arrived.
    fn record_delivery(&mut self, seq: u32, segment: Segment, now: Time) {
        match segment.state {
            State::InFlight => self.in_flight -= 1,
            State::Lost => self.lost -= 1,
            State::Sacked => {}
        }
        self.has_sample |= !segment.retransmitted;
        self.reordering_seen |= seq + 1 < self.fack && !segment.retransmitted;
        self.fack = self.fack.max(seq + 1);
        let rtt = now.since(segment.sent);
        // Too soon after the retransmission: the original has arrived after all.
        if segment.retransmitted && self.min_rtt.is_none_or(|least| rtt < least) {
            return;
        }
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        if (segment.sent, seq) >= self.newest {
            (self.newest, self.rtt) = ((segment.sent, seq), rtt);
        }
        self.latest = self.latest.max((segment.sent, seq));
    }

    /// Returns the reordering window (section 6.2 step 4). It is zero in recovery or with three
    /// segments SACKed, while no reordering has been seen; otherwise a quarter of the least
    /// round-trip time, at most the smoothed one.
    fn reordering_window(&self, in_recovery: bool, srtt: Option<Dur>) -> Dur {
        if !self.reordering_seen && (in_recovery || self.sacked_count >= DUP_THRESH) {
            return Dur::ZERO;
        }
        let quarter = Dur(self.min_rtt.unwrap_or(Dur::ZERO).0 / 4);
        srtt.map_or(quarter, |srtt| quarter.min(srtt))
    }

    /// Marks the segments that are lost now (section 6.2 step 5). Returns how many there are, and
    /// when the reordering window of all others has passed ([`Time::NEVER`] if there are none).
    pub(super) fn detect_losses(&mut self, now: Time, in_recovery: bool, srtt: Option<Dur>) -> (u32, Time) {
        let wait = self.rtt + self.reordering_window(in_recovery, srtt);
        let mut found = 0;
        let mut reordering_due = Time::ZERO;
        let mut seq = self.base;
        while let Some(segment) = self.segments.get_mut((seq - self.base) as usize) {
            if segment.state == State::Sacked {
                seq = self.sacked.find(seq).map_or(seq + 1, |(_, to)| to);
                continue;
            }
            let is_overtaken = (segment.sent, seq) < self.latest;
            // Above the highest retransmission send times only rise.
            if !is_overtaken && seq >= self.retransmitted_below {
                break;
            }
            if is_overtaken && segment.state == State::InFlight {
                let due = segment.sent + wait;
                if due <= now {
                    segment.state = State::Lost;
                    if let Some(rate) = &mut self.rate {
                        rate.on_lost(seq, (seq - self.base) as usize);
                    }
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

    /// Marks losses after a retransmission timeout (section 6.3): the first segment, and all that
    /// were sent a round trip and the reordering window ago or earlier.
    pub(super) fn on_timeout(&mut self, now: Time, srtt: Option<Dur>) {
        let wait = self.rtt + self.reordering_window(true, srtt);
        for (index, segment) in self.segments.iter_mut().enumerate() {
            if segment.state == State::InFlight && (index == 0 || segment.sent + wait <= now) {
                segment.state = State::Lost;
                if let Some(rate) = &mut self.rate {
                    rate.on_lost(self.base + index as u32, index);
                }
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

    /// Returns the time `ms` milliseconds after the start.
    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// Returns an ACK with one SACK block.
    fn ack(next: u32, (from, to): (u32, u32)) -> AckFields {
        let block = SackBlock { offset: (from - next) as u16, length: (to - from) as u16 };
        AckFields { next, sacks: [block, SackBlock::default(), SackBlock::default()], ece: false, marks: 0 }
    }

    /// Section 6.2 step 2: in order of sending, so that the round-trip time is that of what was sent last.
    #[test]
    fn on_ack__the_round_trip_is_that_of_the_segment_sent_last() {
        let mut rack = Rack::default();
        (0..4).for_each(|seq| rack.on_sent(seq, ms(0)));
        [(4, 40), (5, 50), (6, 90)].into_iter().for_each(|(seq, at)| rack.on_sent(seq, ms(at)));
        rack.on_ack(&ack(0, (1, 4)), ms(100));
        assert_eq!(rack.detect_losses(ms(100), false, None).0, 1);
        rack.on_sent(0, ms(100));
        // 0 took 100 ms, 5 took 150 ms: 4 and 6, sent before 0, are lost.
        rack.on_ack(&ack(4, (5, 6)), ms(200));
        assert_eq!((rack.rtt, rack.detect_losses(ms(200), true, None).0), (Dur::from_millis(100), 2));
    }
}
