//! A live connection: both TCP ends, the progress of its application, and one lazy timer.

use crate::flow::{Class, Flow};
use crate::packet::Colour;
use crate::tcp::handshake::Handshake;
use crate::tcp::profile::Opening;
use crate::tcp::request_acks::RequestAcks;
use crate::tcp::{Params, Receiver, Sender};
use crate::traffic::class::FlowClass;
use crate::units::{Dur, Time};

/// The command to open a connection.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    /// Names the connection across schemes.
    pub key: u64,
    /// Client host.
    pub client: u32,
    /// Server host.
    pub server: u32,
    /// Round-trip time without queueing; `None` for the scenario's.
    pub rtt: Option<Dur>,
    /// The writes it carries.
    pub payload: Payload,
    /// The source gets it back when the connection has ended, unless it is [`super::commands::NO_TAG`].
    pub tag: u32,
    /// Class of its application.
    pub class: Class,
    /// Class of a recorded flow by its behaviour; `None` if it was not recorded.
    pub flow_class: Option<FlowClass>,
    /// It was QUIC in the trace.
    pub is_quic: bool,
    /// Number of transfers of its page; 0 without a page.
    pub page_transfers: u16,
    /// Bytes of the object of which this connection carries a piece; 0 if it carries whole writes.
    pub object_bytes: u64,
    /// Key of its page, 0 for none. For a replayed connection of several writes, the copy of the trace.
    pub page: u64,
    /// Time from a request to its answer in addition to that of the server's CPU ([`super::server`]); `None` for the
    /// profile's ([`Params::server_think`]).
    pub server_think: Option<Dur>,
    /// Key of the connection that carries the object's first piece, if `object_bytes` is given.
    pub object_key: u64,
    /// Number of the source of traffic it belongs to.
    pub source: u16,
    /// Data goes from client to server: over the uplink, and its acknowledgements over the downlink.
    pub upload: bool,
    /// Payload of a request in bytes; 0 for the profile's.
    pub request_bytes: u16,
    /// Window in segments that its packets claim; 0 for the sender's true window.
    pub hint: u8,
    /// Its sender misbehaves; see [`super::misbehaving`].
    pub misbehaves: bool,
}

impl Default for Open {
    /// Returns a connection of one byte from server 0 to client 0.
    fn default() -> Self {
        Open {
            key: 0,
            client: 0,
            server: 0,
            rtt: None,
            payload: Payload::Single(1),
            tag: u32::MAX,
            class: Class::default(),
            flow_class: None,
            is_quic: false,
            page_transfers: 0,
            object_bytes: 0,
            page: 0,
            server_think: None,
            object_key: 0,
            source: 0,
            upload: false,
            request_bytes: 0,
            hint: 0,
            misbehaves: false,
        }
    }
}

impl Open {
    /// Returns the properties by which markers and queues know the connection.
    pub fn flow(&self) -> Flow {
        Flow { key: self.key, client: self.client, server: self.server, class: self.class }
    }

    /// Returns whether its datagrams are small and evenly spaced, so that they build no queue: of a model of the class
    /// interactive, or recorded and by their behaviour a call, a game or a video call.
    pub fn builds_no_queue(&self) -> bool {
        match self.flow_class {
            Some(class) => matches!(class, FlowClass::Call | FlowClass::Game | FlowClass::VideoCall),
            None => self.class == Class::Interactive,
        }
    }
}

/// The writes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// One write of this many bytes.
    Single(u64),
    /// The writes of this connection of the run's traffic.
    Replayed(u32),
    /// The writes of this script of [`super::commands::Commands::scripts`].
    Scripted(u32),
    /// A write without end: a long-lived flow.
    LongLived,
    /// Keystrokes without end, by these rules of the run's applications.
    Keystrokes(u32),
    /// A foreign probe: a TLS handshake, unless it has no bytes, and an answer of one byte.
    Probe {
        /// Bytes that the server sends in the handshake; 0 without one.
        tls_bytes: u32,
        /// Number of its record, which the engine assigns.
        record: u32,
    },
    /// The packets of this datagram flow of the run: those of its applications come first, then recorded ones.
    Datagrams(u32),
    /// The datagrams that this connection of the run's traffic sends in the direction of [`Open::upload`], from those on
    /// that come `joined` after its start.
    Recorded {
        /// Index of the connection.
        connection: u32,
        /// Age of the recorded flow when it is opened.
        joined: Dur,
    },
}

impl Payload {
    /// Returns whether its writes can be measured as transfers. Long-lived flows, datagrams and
    /// probes have records of other kinds.
    pub fn is_measurable(self) -> bool {
        !matches!(
            self,
            Payload::LongLived | Payload::Datagrams(_) | Payload::Recorded { .. } | Payload::Probe { .. }
        )
    }
}

/// The present write.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    /// Number of the write.
    pub number: u32,
    /// Its payload.
    pub bytes: u64,
    /// Its first segment, and one more than its last.
    pub segments: (u32, u32),
    /// When its response time began: SYN or request sent.
    pub start: Time,
    /// When its first data packet was sent; [`Time::NEVER`] before that.
    pub first_data: Time,
    /// When its first segment arrived; [`Time::NEVER`] before that.
    pub first_byte: Time,
    /// Retransmissions and timeouts of the connection before it.
    pub losses: (u32, u32),
    /// Packets from the sender of the data that links have dropped since it began.
    pub dropped: u32,
    /// The server has received the request for it.
    pub is_asked: bool,
    /// Its last byte has arrived.
    pub is_complete: bool,
    /// It is a measured transfer.
    pub is_measured: bool,
}

/// State of a connection in its slot; its packets in the network use [`PathState`](super::layout::PathState) instead.
#[repr(align(64))]
pub(super) struct Live {
    pub open: Open,
    pub sender: Sender,
    pub receiver: Receiver,
    pub opener: Handshake,
    pub request_acks: RequestAcks,
    pub progress: Progress,
    pub rtt: Dur,
    /// Last segment of the previous write, and its payload: it may have to be retransmitted.
    pub last_before: (u32, u64),
    /// Bytes before the present write, wrapping.
    pub before: u32,
    /// When the next write begins; [`Time::NEVER`] if none is scheduled.
    pub think_until: Time,
    /// When the answering side sent its SYN-ACK, [`Time::ZERO`] before that, and how often it repeated it.
    pub answered: (Time, u8),
    /// When the pending timer event fires.
    pub timer_at: Time,
    /// Generation of the pending timer event; stale events carry an older one.
    pub generation: u32,
    /// Colour of the last data packet received, which acknowledgements copy.
    pub answer: Colour,
    /// Index of its TCP in the run's.
    pub tcp: u8,
    pub is_open: bool,
    /// Every write has arrived.
    pub is_finished: bool,
}

impl Live {
    /// Returns a connection that is open and has not sent anything. `tcp` is the index of `params`
    /// in the run's TCPs, `phase` that of its clock tick, `rtt` its round-trip time without
    /// queueing. `generation` must be greater than that of the connection that had the slot before.
    pub fn new(open: Open, (tcp, params): (u8, &Params), phase: Dur, rtt: Dur, generation: u32) -> Live {
        Live {
            open,
            sender: Sender::with_salt(params, phase, open.key),
            receiver: Receiver::default(),
            opener: Handshake::default(),
            request_acks: RequestAcks::default(),
            progress: Progress::default(),
            rtt,
            last_before: (u32::MAX, 0),
            before: 0,
            think_until: Time::NEVER,
            answered: (Time::ZERO, 0),
            timer_at: Time::NEVER,
            generation,
            answer: Colour::Green,
            tcp,
            is_open: true,
            is_finished: false,
        }
    }

    /// Returns how the connection opens: as the profile says, except that in an upload the sender
    /// of data opens where its receiver would.
    #[inline]
    pub fn opening(&self, params: &Params) -> Opening {
        match params.opening {
            Opening::Request if self.open.upload => Opening::Sender,
            other => other,
        }
    }

    /// Begins write `number`, from 0, of `bytes` at `now`; `u64::MAX` is a write without end. It
    /// resets the progress and cancels the scheduled next write. The write before must be complete.
    pub fn begin(&mut self, number: u32, bytes: u64, now: Time, params: &Params) {
        let first = self.progress.segments.1;
        if number > 0 {
            self.before = self.position_after(first, params);
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
            first_byte: Time::NEVER,
            losses: self.sender.losses(),
            ..Progress::default()
        };
        self.think_until = Time::NEVER;
    }

    /// Returns the earliest time at which a timer or the next write is due; [`Time::NEVER`] if
    /// nothing is.
    #[inline]
    pub fn next_due(&self) -> Time {
        let ends = self.sender.poll_timeout().min(self.receiver.poll_timeout());
        ends.min(self.opener.poll_timeout()).min(self.think_until)
    }

    /// Returns the number of segments up to the end of the present write that are not acknowledged,
    /// at most 65,535.
    #[inline]
    pub fn unacknowledged(&self) -> u16 {
        (self.progress.segments.1 - self.sender.una()).min(u32::from(u16::MAX)) as u16
    }

    /// Returns the IP length of segment `seq` in bytes. Only the last segment of the present write
    /// and that of the one before can be short; every other one counts as full. A one-way SYN has
    /// the length of an ACK.
    pub fn segment_bytes(&self, seq: u32, params: &Params) -> u16 {
        let end = self.progress.segments.1;
        if seq == 0 && params.opening == Opening::OneWaySyn {
            return params.ack_bytes as u16;
        }
        let header = params.header_bytes(seq);
        let payload = if seq + 1 == end && self.progress.bytes != u64::MAX {
            self.last_payload(params)
        } else if seq == self.last_before.0 {
            self.last_before.1
        } else {
            u64::from(params.mss)
        };
        (payload + u64::from(header)) as u16
    }

    /// Returns the bytes of the connection's first `segments` segments, wrapping. It is exact
    /// within the present write and the one before it. Earlier segments count as full; only a
    /// packet that was late by a whole write can need them.
    #[inline]
    pub fn position_after(&self, segments: u32, params: &Params) -> u32 {
        let (first, end) = self.progress.segments;
        if segments <= first {
            let back = first - segments;
            let last = if back == 0 { 0 } else { self.last_before.1 as u32 };
            return self
                .before
                .wrapping_sub(back.saturating_sub(1).wrapping_mul(params.mss).wrapping_add(last));
        }
        let syn = u32::from(first == 0 && params.opening == Opening::OneWaySyn);
        let full = (segments - first - syn).wrapping_mul(params.mss);
        let is_last = segments == end && self.progress.bytes != u64::MAX;
        let missing = if is_last { params.mss - self.last_payload(params) as u32 } else { 0 };
        self.before.wrapping_add(full.wrapping_sub(missing))
    }

    /// Returns the payload of the last segment of the present write in bytes, 1 to the MSS; the MSS
    /// where all segments are full.
    fn last_payload(&self, params: &Params) -> u64 {
        if params.whole_segments {
            return u64::from(params.mss);
        }
        (self.progress.bytes.max(1) - 1) % u64::from(params.mss) + 1
    }
}
