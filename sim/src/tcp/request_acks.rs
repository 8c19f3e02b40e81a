//! The answering side's acknowledgements of requests, as Linux sends them.
//!
//! A request is one segment. A kernel acknowledges it before the program that answers has run, unless the connection is
//! interactive (`inet_csk_in_pingpong_mode`):
//!
//! - On a cold connection the ACK is sent at once: the first data starts a quick phase of up to 16 segments
//!   (`tcp_event_data_recv`, `tcp_incr_quickack` with `TCP_MAX_QUICKACKS`; `__tcp_ack_snd_check` sends). Its budget does
//!   not matter here: where it is used up, the ACK is sent when the program has read the request (`tcp_cleanup_rbuf`).
//! - An answer less than the ACK's delay after the request makes the connection interactive (`tcp_event_data_sent`).
//!   Then ACKs of requests are delayed by [`Params::delayed_ack`] (`tcp_send_delayed_ack`, `TCP_ATO_MIN`; RFC 1122
//!   section 4.2.3.2), and ride on the answer if that is sooner.
//! - An ACK that had to be sent after the delay ends it (`tcp_delack_timer_handler`), and so does a request that arrives
//!   twice, which is acknowledged at once (`tcp_send_dupack`, `tcp_enter_quickack_mode`). Idle time does not.
//!
//! Deviation: the delay does not adapt to the distance of requests.

use super::profile::Params;
use crate::units::Time;

/// State of the answering side of one connection.
#[derive(Debug, Clone, Copy)]
pub struct RequestAcks {
    /// When the last request arrived.
    asked: Time,
    /// When a delayed ACK is due; [`Time::NEVER`] if none waits.
    due: Time,
    /// Linux's `pingpong`.
    is_interactive: bool,
}

impl Default for RequestAcks {
    fn default() -> Self {
        RequestAcks { asked: Time::ZERO, due: Time::NEVER, is_interactive: false }
    }
}

/// The acknowledgement that a request causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestAck {
    /// It is sent now.
    Now,
    /// It is sent at this time, unless an answer carries it before.
    At(Time),
    /// The answer carries it.
    Carried,
}

impl RequestAcks {
    /// Handles a request; returns how it is acknowledged. For a delayed ACK the caller calls
    /// [`RequestAcks::handle_timeout`] at the time returned.
    pub fn handle_request(&mut self, now: Time, params: &Params) -> RequestAck {
        if !params.acks_requests {
            return RequestAck::Carried;
        }
        self.asked = now;
        match params.delayed_ack.filter(|_| self.is_interactive) {
            Some(delay) => {
                self.due = now + delay;
                RequestAck::At(self.due)
            }
            None => RequestAck::Now,
        }
    }

    /// Handles a request that has arrived before, which ends the interactive mode and cancels a
    /// delayed ACK; returns whether an ACK is sent now.
    pub fn handle_repeated_request(&mut self, params: &Params) -> bool {
        self.is_interactive = false;
        self.due = Time::NEVER;
        params.acks_requests
    }

    /// Records that the answer begins, which carries an ACK and cancels a delayed one. A quick
    /// answer makes the connection interactive.
    pub fn note_answer(&mut self, now: Time, params: &Params) {
        self.due = Time::NEVER;
        self.is_interactive |= params.delayed_ack.is_some_and(|delay| now.since(self.asked) < delay);
    }

    /// Handles the expiry of a delayed ACK's timer; returns whether the ACK is sent, which ends the
    /// interactive mode. It is not if an answer has carried it, or the ACK is due at another time.
    pub fn handle_timeout(&mut self, now: Time) -> bool {
        if self.due != now {
            return false;
        }
        self.due = Time::NEVER;
        self.is_interactive = false;
        true
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::units::Dur;

    const CONVERSATION_START: Time = Time(5_000_000_000);

    /// Returns the parameters of the profile `linux`.
    fn linux() -> Params {
        Params::find_profile("linux").expect("a known profile")
    }

    /// Returns the time `after` milliseconds from the start of the conversation.
    fn ms(after: u64) -> Time {
        CONVERSATION_START + Dur::from_millis(after)
    }

    #[test]
    fn request_acks__quick_when_cold_and_delayed_when_warm() {
        let (params, mut acks) = (linux(), RequestAcks::default());
        assert_eq!(acks.handle_request(ms(0), &params), RequestAck::Now);
        acks.note_answer(ms(39), &params);
        assert_eq!(
            acks.handle_request(ms(60_000), &params),
            RequestAck::At(ms(60_040)),
            "idle time is no end"
        );
        acks.note_answer(ms(60_010), &params);
        assert!(!acks.handle_timeout(ms(60_040)), "the answer has carried it");
        assert_eq!(acks.handle_request(ms(61_000), &params), RequestAck::At(ms(61_040)));
        assert!(acks.handle_timeout(ms(61_040)));
        acks.note_answer(ms(61_050), &params);
        assert_eq!(
            acks.handle_request(ms(62_000), &params),
            RequestAck::Now,
            "a missed delay ends the dialogue"
        );
    }

    #[test]
    fn request_acks__stay_quick_where_the_program_is_slow() {
        let (params, mut acks) = (linux(), RequestAcks::default());
        for start in [0, 1000, 2000] {
            assert_eq!(acks.handle_request(ms(start), &params), RequestAck::Now);
            acks.note_answer(ms(start + 40), &params);
        }
    }

    #[test]
    fn request_acks__of_a_repeated_request_are_quick() {
        let (params, mut acks) = (linux(), RequestAcks::default());
        acks.handle_request(ms(0), &params);
        acks.note_answer(ms(1), &params);
        assert!(acks.handle_repeated_request(&params));
        assert_eq!(acks.handle_request(ms(100), &params), RequestAck::Now);
    }

    #[test]
    fn request_acks__are_not_of_every_profile() {
        for profile in ["rfc", "ns2-2.35", "ns2-2001"] {
            let (params, mut acks) =
                (Params::find_profile(profile).expect("a known profile"), RequestAcks::default());
            assert_eq!(acks.handle_request(ms(0), &params), RequestAck::Carried, "{profile}");
            assert!(!acks.handle_repeated_request(&params), "{profile}");
        }
        let undelayed = Params { delayed_ack: None, ..linux() };
        let mut acks = RequestAcks::default();
        for start in [0, 100] {
            assert_eq!(acks.handle_request(ms(start), &undelayed), RequestAck::Now);
            acks.note_answer(ms(start + 1), &undelayed);
        }
    }
}
