//! Delivery rate samples (draft-ietf-ccwg-bbr-06 section 4.1), in segments and seconds.
//!
//! A sample is the data delivered between the sending of a segment and its delivery, over the longer of the times
//! in which it was sent and in which it was acknowledged. Only BBR uses samples; other senders have none of this
//! state. The state of a segment lives as long as that of [`super::rack`], in the same order.

use crate::tcp::congestion::{LostSegment, RateSample};
use crate::units::{Dur, Time};
use std::collections::VecDeque;

/// What was known when a segment was sent (section 4.1.2.1.2).
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Time,
    delivered: u32,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u32,
    in_flight: u32,
    is_app_limited: bool,
}

/// The newest segment that the present acknowledgement delivers.
#[derive(Debug, Clone, Copy)]
struct Newest {
    seq: u32,
    sent: Sent,
    send_elapsed: Dur,
    ack_elapsed: Dur,
}

/// State of one connection (section 4.1.2.1.1).
#[derive(Debug, Clone, Default)]
pub(super) struct DeliveryRate {
    segments: VecDeque<Sent>,
    /// Segments delivered so far (`C.delivered`), and when the last one was.
    delivered: u32,
    delivered_at: Time,
    /// When the segment was sent that was delivered last (`C.first_send_time`).
    first_sent_at: Time,
    /// Segments marked lost so far (`C.lost`).
    lost: u32,
    /// Samples are limited by the application until more than this is delivered; 0 if they are not.
    app_limited: u32,
    newest: Option<Newest>,
    /// Segments marked lost that have not been reported to congestion control.
    losses: Vec<LostSegment>,
}

impl DeliveryRate {
    /// Returns how many segments were delivered so far.
    pub(super) fn delivered(&self) -> u32 {
        self.delivered
    }

    /// Returns whether the application limits the rate at present.
    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }

    /// Records that the application leaves the path without data, with `in_flight` segments in
    /// flight (`MarkConnectionAppLimited`). It holds until more than those have been delivered.
    pub(super) fn mark_app_limited(&mut self, in_flight: u32) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Records that the segment at `index` is sent, for the first time or again; with it,
    /// `in_flight` segments are in flight. Index 0 is the first unacknowledged segment, and a new
    /// one has the index after the last.
    pub(super) fn on_sent(&mut self, index: usize, in_flight: u32, now: Time) {
        if in_flight <= 1 {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        let sent = Sent {
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: self.lost,
            in_flight,
            is_app_limited: self.is_app_limited(),
        };
        match self.segments.get_mut(index) {
            Some(segment) => *segment = sent,
            None => self.segments.push_back(sent),
        }
    }

    /// Begins an acknowledgement (`InitRateSample`). Its deliveries are reported afterwards, by
    /// [`DeliveryRate::on_acked`] and [`DeliveryRate::on_sacked`].
    pub(super) fn begin_ack(&mut self) {
        self.newest = None;
    }

    /// Removes the first segment, numbered `seq`, which is cumulatively acknowledged. It counts as
    /// delivered if `is_new`: it was not SACKed before.
    pub(super) fn on_acked(&mut self, seq: u32, is_new: bool, now: Time) {
        if let Some(sent) = self.segments.pop_front()
            && is_new
        {
            self.record_delivery(seq, sent, now);
        }
    }

    /// Records the delivery of segment `seq`, at `index`, which stays outstanding. The caller
    /// reports each segment once.
    pub(super) fn on_sacked(&mut self, seq: u32, index: usize, now: Time) {
        if let Some(&sent) = self.segments.get(index) {
            self.record_delivery(seq, sent, now);
        }
    }

    /// Records a delivery; of those of one acknowledgement the segment sent last gives the sample
    /// (`UpdateRateSample`).
    fn record_delivery(&mut self, seq: u32, sent: Sent, now: Time) {
        self.delivered += 1;
        self.delivered_at = now;
        let is_newest = match self.newest {
            None => true,
            Some(newest) => (sent.at, seq) > (self.first_sent_at, newest.seq),
        };
        if is_newest {
            let send_elapsed = sent.at.since(sent.first_sent_at);
            let ack_elapsed = now.since(sent.delivered_at);
            self.newest = Some(Newest { seq, sent, send_elapsed, ack_elapsed });
            self.first_sent_at = sent.at;
        }
    }

    /// Records that segment `seq`, at `index`, is lost, and adds it to the losses that
    /// [`DeliveryRate::take_losses`] returns.
    pub(super) fn on_lost(&mut self, seq: u32, index: usize) {
        self.lost += 1;
        if let Some(sent) = self.segments.get(index) {
            self.losses.push(LostSegment {
                seq,
                lost: self.lost - sent.lost,
                tx_in_flight: sent.in_flight,
                is_app_limited: sent.is_app_limited,
            });
        }
    }

    /// Returns the segments marked lost since the last call, and forgets them.
    pub(super) fn take_losses(&mut self) -> Vec<LostSegment> {
        std::mem::take(&mut self.losses)
    }

    /// Returns the rate sample of the present acknowledgement (`GenerateRateSample`), in segments per
    /// second; `None` if it delivered nothing. The caller has recorded all its deliveries. The rate
    /// is 0 if the interval is 0 or shorter than `min_rtt`. Ends the application limit once more
    /// segments are delivered than [`DeliveryRate::mark_app_limited`] demanded.
    pub(super) fn sample(&mut self, min_rtt: Option<Dur>) -> Option<RateSample> {
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let Newest { sent, send_elapsed, ack_elapsed, .. } = self.newest?;
        let interval = send_elapsed.max(ack_elapsed);
        let delivered = self.delivered - sent.delivered;
        let is_reliable = interval > Dur::ZERO && min_rtt.is_none_or(|least| interval >= least);
        Some(RateSample {
            rate: if is_reliable { f64::from(delivered) / interval.as_secs() } else { 0.0 },
            delivered,
            prior_delivered: sent.delivered,
            lost: self.lost - sent.lost,
            tx_in_flight: sent.in_flight,
            is_app_limited: sent.is_app_limited,
        })
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the time `ms` milliseconds after the start.
    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// Ten segments back to back, delivered one per millisecond after 100 ms: the ACKs' spacing is the rate.
    #[test]
    fn sample__is_the_slower_of_sending_and_delivery() {
        let mut rate = DeliveryRate::default();
        (0..10).for_each(|seq| rate.on_sent(seq, seq as u32 + 1, ms(0)));
        for seq in 0..10 {
            rate.begin_ack();
            rate.on_acked(seq, true, ms(100 + u64::from(seq)));
        }
        let sample = rate.sample(None).expect("a delivery");
        assert_eq!((sample.delivered, sample.prior_delivered, sample.tx_in_flight), (10, 0, 10));
        assert!((sample.rate - 10.0 / 0.109).abs() < 1e-6);
        // A segment sent now has the time of the last delivery; one sent later shows the spacing.
        (0..10).for_each(|index| rate.on_sent(index, index as u32 + 1, ms(109 + index as u64)));
        rate.begin_ack();
        (10..20).for_each(|seq| rate.on_acked(seq, true, ms(230)));
        let sample = rate.sample(None).expect("a delivery");
        assert!((sample.rate - 10.0 / 0.121).abs() < 1e-6, "{}", sample.rate);
    }

    #[test]
    fn sample__shorter_than_the_round_trip_has_no_rate() {
        let mut rate = DeliveryRate::default();
        rate.on_sent(0, 1, ms(0));
        rate.begin_ack();
        rate.on_acked(0, true, ms(9));
        assert_eq!(rate.sample(Some(Dur::from_millis(10))).map(|sample| sample.rate), Some(0.0));
    }

    #[test]
    fn mark_app_limited__lasts_until_what_was_in_flight_is_delivered() {
        let mut rate = DeliveryRate::default();
        rate.on_sent(0, 1, ms(0));
        rate.mark_app_limited(1);
        rate.on_sent(1, 2, ms(1));
        rate.begin_ack();
        rate.on_acked(0, true, ms(50));
        assert!(!rate.sample(None).expect("a delivery").is_app_limited);
        assert!(rate.is_app_limited());
        rate.begin_ack();
        rate.on_acked(1, true, ms(51));
        assert!(rate.sample(None).expect("a delivery").is_app_limited);
        assert!(!rate.is_app_limited());
    }

    #[test]
    fn on_lost__reports_the_losses_since_the_segment_was_sent() {
        let mut rate = DeliveryRate::default();
        (0..4).for_each(|seq| rate.on_sent(seq, seq as u32 + 1, ms(0)));
        rate.on_lost(0, 0);
        rate.on_lost(1, 1);
        let losses = rate
            .take_losses()
            .iter()
            .map(|loss| (loss.seq, loss.lost, loss.tx_in_flight))
            .collect::<Vec<_>>();
        assert_eq!(losses, [(0, 1, 1), (1, 2, 2)]);
        assert!(rate.take_losses().is_empty());
    }
}
