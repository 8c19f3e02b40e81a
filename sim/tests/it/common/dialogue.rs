//! Harnesses for a TCP sender and a TCP receiver without a network: a test plays the other end.

use mousehole_sim::packet::{Kind, Packet, SackBlock, flag};
use mousehole_sim::tcp::receiver::{AckFields, Reply};
use mousehole_sim::tcp::sender::Transmit;
use mousehole_sim::tcp::{Params, Receiver, Sender, Variant};
use mousehole_sim::units::{Dur, Time};

/// Returns the parameters of profile `rfc` with a variant.
pub fn rfc(variant: Variant) -> Params {
    Params { variant, ..Params::find_profile("rfc").expect("a known profile") }
}

/// Returns an acknowledgement of everything below `next`, with up to three SACK blocks `[from, to)`
/// above it, and perhaps the echo of a congestion mark.
pub fn make_ack(next: u32, blocks: &[(u32, u32)], ece: bool) -> AckFields {
    let mut sacks = [SackBlock::default(); 3];
    for (block, &(from, to)) in sacks.iter_mut().zip(blocks) {
        *block = SackBlock { offset: (from - next) as u16, length: (to - from) as u16 };
    }
    AckFields { next, sacks, ece, marks: 0 }
}

/// A sender, the time, and what it put on the wire last.
pub struct SenderHarness {
    pub params: Params,
    pub sender: Sender,
    pub now: Time,
    pub last: Vec<Transmit>,
}

impl SenderHarness {
    /// Returns a sender with nothing written, at time zero; its handshake is over.
    pub fn new(params: Params) -> SenderHarness {
        SenderHarness { sender: Sender::new(&params, Dur::ZERO), params, now: Time::ZERO, last: Vec::new() }
    }

    /// Writes this many segments; returns the numbers of the segments sent at once.
    pub fn write(&mut self, segments: u32) -> Vec<u32> {
        self.sender.write(segments, self.now, &self.params);
        self.send_segments()
    }

    /// Acknowledges everything below `next`; returns the segments sent.
    pub fn ack(&mut self, next: u32) -> Vec<u32> {
        self.handle_ack(make_ack(next, &[], false))
    }

    /// Acknowledges everything below `next` with the echo of a congestion mark; returns the
    /// segments sent.
    pub fn ack_with_echo(&mut self, next: u32) -> Vec<u32> {
        self.handle_ack(make_ack(next, &[], true))
    }

    /// Acknowledges everything below `next`, with SACK blocks; returns the segments sent.
    pub fn sack(&mut self, next: u32, blocks: &[(u32, u32)]) -> Vec<u32> {
        self.handle_ack(make_ack(next, blocks, false))
    }

    /// Lets `ms` milliseconds pass; no timer fires.
    pub fn wait(&mut self, ms: u64) {
        self.now += Dur::from_millis(ms);
    }

    /// Lets time pass until the sender's timer fires; returns the numbers of the segments sent. It
    /// panics if no timer runs.
    pub fn time_out(&mut self) -> Vec<u32> {
        self.now = self.sender.poll_timeout();
        assert_ne!(self.now, Time::NEVER, "no timer runs");
        self.sender.handle_timeout(self.now, &self.params);
        self.send_segments()
    }

    /// Returns the milliseconds until the timer fires; a huge number if none runs.
    pub fn timer_ms(&self) -> f64 {
        self.sender.poll_timeout().since(self.now).as_secs() * 1e3
    }

    /// Delivers an acknowledgement; returns the segments sent.
    fn handle_ack(&mut self, ack: AckFields) -> Vec<u32> {
        self.sender.handle_ack(&ack, self.now, &self.params);
        self.send_segments()
    }

    /// Sends what the sender may send and stores it in `last`; returns the segments' numbers. It
    /// panics if the sender does not stop.
    fn send_segments(&mut self) -> Vec<u32> {
        self.last.clear();
        while let Some(out) = self.sender.poll_transmit(self.now, &self.params) {
            self.last.push(out);
            assert!(self.last.len() < 10_000, "the sender does not stop");
        }
        self.last.iter().map(|out| out.seq).collect()
    }
}

/// A receiver and the time.
pub struct ReceiverHarness {
    pub params: Params,
    pub receiver: Receiver,
    pub now: Time,
    /// Segments that arrive in a round trip.
    pub round: f64,
}

impl ReceiverHarness {
    /// Returns a receiver that has seen no segment, at time zero; a round trip brings it one
    /// segment.
    pub fn new(params: Params) -> ReceiverHarness {
        ReceiverHarness { params, receiver: Receiver::default(), now: Time::ZERO, round: 1.0 }
    }

    /// Delivers an ECN-capable segment now; returns the acknowledgement that is sent at once,
    /// `None` if it is delayed.
    pub fn receive(&mut self, seq: u32) -> Option<AckFields> {
        self.receive_with(seq, 0)
    }

    /// Delivers an ECN-capable segment with further flags now; returns the acknowledgement that is
    /// sent at once, `None` if it is delayed.
    pub fn receive_with(&mut self, seq: u32, flags: u8) -> Option<AckFields> {
        let mut packet = Packet::new(0, Kind::Data, seq, 1500);
        packet.flags = flags | flag::ECT;
        match self.receiver.handle_data(&packet, self.round, self.now, &self.params) {
            Reply::Now(ack) => Some(ack),
            Reply::Later => None,
        }
    }
}

/// Returns the SACK blocks of an acknowledgement as `[from, to)`, in its order.
pub fn list_blocks(ack: &AckFields) -> Vec<(u32, u32)> {
    let held = ack.sacks.iter().filter(|block| block.length > 0);
    held.map(|b| (ack.next + u32::from(b.offset), ack.next + u32::from(b.offset) + u32::from(b.length)))
        .collect()
}
