//! A live connection: both TCP ends, the application's progress, and one lazy timer.

use crate::flow::{Class, Flow};
use crate::packet::Colour;
use crate::tcp::{Params, Receiver, Sender, handshake::Handshake, profile::Opening};
use crate::units::{Dur, Time};

/// What the source of traffic wants opened.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    /// Names the connection across schemes.
    pub key: u64,
    /// Client host.
    pub client: u32,
    /// Server host.
    pub server: u32,
    /// Round-trip time without queueing, if it has its own.
    pub rtt: Option<Dur>,
    /// What is written.
    pub payload: Payload,
    /// Given back to the source when the connection has ended.
    pub tag: u32,
    /// What kind of application it belongs to.
    pub class: Class,
    /// Replayed QUIC.
    pub is_quic: bool,
    /// Writes of the page, if it belongs to one.
    pub page_transfers: u16,
    /// Bytes of the object this connection carries a piece of; 0 when it carries whole writes.
    pub object_bytes: u64,
    /// Names the page, 0 for none; of a connection of a trace, the copy it is from.
    pub page: u64,
    /// How long the server takes to answer a request, beside what it needs as a [`super::server::Servers`].
    pub delay: Dur,
    /// Key of the connection that carries the object's first piece, if `object_bytes` is given.
    pub object_key: u64,
    /// Number of the source of traffic it belongs to.
    pub source: u16,
    /// Data goes from client to server: over the uplink, its acknowledgements over the other.
    pub upload: bool,
    /// Payload of a request; 0 is the profile's.
    pub request_bytes: u16,
    /// The window its packets claim, whatever it is; 0 is the truth.
    pub hint: u8,
    /// Its sender departs from the rules to be taken for something else.
    pub cheats: bool,
}

impl Default for Open {
    /// One byte from server 0 to client 0, for nobody in particular.
    fn default() -> Self {
        Open {
            key: 0,
            client: 0,
            server: 0,
            rtt: None,
            payload: Payload::Single(1),
            tag: u32::MAX,
            class: Class::default(),
            is_quic: false,
            page_transfers: 0,
            object_bytes: 0,
            page: 0,
            delay: Dur::ZERO,
            object_key: 0,
            source: 0,
            upload: false,
            request_bytes: 0,
            hint: 0,
            cheats: false,
        }
    }
}

impl Open {
    /// What markers and queues get to know of it.
    pub fn flow(&self) -> Flow {
        Flow { key: self.key, client: self.client, server: self.server, class: self.class }
    }
}

/// The writes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// One write of so many bytes.
    Single(u64),
    /// The writes of this connection of the run's traffic.
    Replayed(u32),
    /// The writes of this script of the source's.
    Scripted(u32),
    /// A write without end.
    Endless,
    /// Keystrokes by these rules of the run's applications, for ever.
    Keystrokes(u32),
    /// The packets of this datagram flow of the run's applications.
    Datagrams(u32),
}

impl Payload {
    /// Whether its writes are transfers that can be measured.
    pub fn is_measurable(self) -> bool {
        !matches!(self, Payload::Endless | Payload::Datagrams(_))
    }
}

/// The write now under way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    /// Number of the write.
    pub number: u32,
    /// Its payload.
    pub bytes: u64,
    /// Its first segment, and one more than its last.
    pub segments: (u32, u32),
    /// The response to be measured began: SYN or request sent.
    pub start: Time,
    /// First data packet sent.
    pub first_data: Time,
    /// Retransmissions and timeouts before it.
    pub losses: (u32, u32),
    /// The server has been asked for it.
    pub is_asked: bool,
    /// Its last byte has arrived.
    pub is_complete: bool,
    /// It counts among the measured transfers.
    pub is_measured: bool,
}

/// State of a connection in its slot; what its packets on the way need is in its [`Road`](super::layout::Road).
#[repr(align(64))]
pub(super) struct Live {
    pub open: Open,
    pub sender: Sender,
    pub receiver: Receiver,
    pub opener: Handshake,
    pub progress: Progress,
    pub rtt: Dur,
    /// Last segment of the write before, and its payload: it may have to be sent again.
    pub last_before: (u32, u64),
    /// When the next write is asked for.
    pub think_until: Time,
    /// When the answering side sent its SYN-ACK, and how often again.
    pub answered: (Time, u8),
    /// When the pending timer event fires; stale ones carry an older generation.
    pub timer_at: Time,
    pub generation: u32,
    /// Colour of the last data packet received, which its acknowledgement takes over.
    pub answer: Colour,
    pub is_open: bool,
    /// Every write has arrived.
    pub is_finished: bool,
}

impl Live {
    /// A connection that has not sent anything.
    pub fn new(open: Open, params: &Params, phase: Dur, rtt: Dur, generation: u32) -> Live {
        Live {
            open,
            sender: Sender::new(params, phase),
            receiver: Receiver::default(),
            opener: Handshake::default(),
            progress: Progress::default(),
            rtt,
            last_before: (u32::MAX, 0),
            think_until: Time::NEVER,
            answered: (Time::ZERO, 0),
            timer_at: Time::NEVER,
            generation,
            answer: Colour::Green,
            is_open: true,
            is_finished: false,
        }
    }

    /// Who opens and who asks: what the profile says, but an upload is pushed by the client.
    #[inline]
    pub fn opening(&self, params: &Params) -> Opening {
        match params.opening {
            Opening::Request if self.open.upload => Opening::Sender,
            other => other,
        }
    }

    /// Begins write `number` of `bytes` at `now`.
    pub fn begin(&mut self, number: u32, bytes: u64, now: Time, params: &Params) {
        let first = self.progress.segments.1;
        if number > 0 {
            self.last_before = (first - 1, self.last_payload(params));
        }
        let syn = u32::from(number == 0 && params.opening == Opening::OneWaySyn);
        let segments = if bytes == u64::MAX { u32::MAX / 2 } else { params.segments(bytes) };
        self.progress = Progress {
            number,
            bytes,
            segments: (first, first + syn + segments),
            start: now,
            first_data: Time::NEVER,
            losses: self.sender.losses(),
            ..Progress::default()
        };
        self.think_until = Time::NEVER;
    }

    /// Earliest time at which anything is due.
    #[inline]
    pub fn next_due(&self) -> Time {
        let ends = self.sender.poll_timeout().min(self.receiver.poll_timeout());
        ends.min(self.opener.poll_timeout()).min(self.think_until)
    }

    /// Segments of the write under way that are not acknowledged, saturating.
    #[inline]
    pub fn unacknowledged(&self) -> u16 {
        (self.progress.segments.1 - self.sender.una()).min(u32::from(u16::MAX)) as u16
    }

    /// IP length of segment `seq` of the write now under way.
    pub fn segment_bytes(&self, seq: u32, params: &Params) -> u16 {
        let end = self.progress.segments.1;
        if seq == 0 && params.opening == Opening::OneWaySyn {
            return params.ack_bytes as u16;
        }
        let header = params.header_of(seq);
        let payload = if params.whole_segments || self.progress.bytes == u64::MAX {
            u64::from(params.mss)
        } else if seq + 1 == end {
            self.last_payload(params)
        } else if seq == self.last_before.0 {
            self.last_before.1
        } else {
            u64::from(params.mss)
        };
        (payload + u64::from(header)) as u16
    }

    /// Payload of the last segment of the write now under way.
    fn last_payload(&self, params: &Params) -> u64 {
        (self.progress.bytes.max(1) - 1) % u64::from(params.mss) + 1
    }
}
