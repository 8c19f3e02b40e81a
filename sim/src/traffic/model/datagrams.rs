//! Models of datagrams at a constant rate, all the time or in spurts, which do not react to the network.
//!
//! `udp` is a sender that ignores loss. `voip` is a telephone call: 200 B every 20 ms, the packets of G.711 (160 B of
//! sound and 40 B of IP, UDP and RTP headers), in talk spurts and pauses of exponential length with the means of Recommendation
//! ITU-T P.59 (03/93) for conversational speech.

use super::check::{self, FlowDirection};
use crate::error::Result;
use crate::flow::Class;
use crate::playback::{Codec, Playback};
use crate::rng::{Purpose, Stream as Draws, mix};
use crate::units::Dur;
use serde::{Deserialize, Serialize};

/// Parameters of `udp`; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Udp {
    /// Senders.
    pub flows: u32,
    /// Client hosts that they belong to in turn, each with separate servers; 0: a client for each.
    pub hosts: u32,
    /// Which way the packets go; the source's `payload`.
    #[serde(skip)]
    pub direction: FlowDirection,
    /// Rate of each while it sends, bits of IP length per second.
    pub rate_bps: f64,
    /// IP length.
    pub packet_bytes: u32,
    /// Mean length of a spurt, exponential, s; 0 sends all the time.
    pub on_s: f64,
    /// Mean pause between spurts, exponential, s.
    pub off_s: f64,
    /// What schemes that know applications take it for.
    pub class: Class,
    /// Whether each is the tunnel of a virtual private network, so that its delay and loss are judged.
    pub tunnel: bool,
    /// Senders begin evenly at random within this time, s.
    pub start_spread_s: f64,
    /// Number of the first sender's client and server host.
    pub first_host: u32,
}

/// Parameters of `voip`; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Voip {
    /// Calls, each between separate hosts, during the whole run.
    pub calls: u32,
    /// Direction of the sound; the source's `payload`.
    #[serde(skip)]
    pub direction: FlowDirection,
    /// IP length.
    pub packet_bytes: u32,
    /// Time from packet to packet within a spurt, s.
    pub interval_s: f64,
    /// Mean talk spurt, exponential, s; 0 talks all the time.
    pub on_s: f64,
    /// Mean pause, exponential, s.
    pub off_s: f64,
    /// What makes the sound.
    pub codec: Codec,
    /// Time for which the receiver holds a packet of the least delay back, s.
    pub playout_s: f64,
    /// Calls begin evenly at random within this time, s.
    pub start_spread_s: f64,
    /// Number of the first call's client and server host.
    pub first_host: u32,
}

impl Default for Udp {
    /// Returns the defaults: one sender of 1 Mbit/s that never pauses.
    fn default() -> Self {
        Udp {
            flows: 1,
            hosts: 0,
            direction: FlowDirection::Down,
            rate_bps: 1e6,
            packet_bytes: 1000,
            on_s: 0.0,
            off_s: 0.0,
            class: Class::Bulk,
            tunnel: false,
            start_spread_s: 1.0,
            first_host: 0,
        }
    }
}

impl Default for Voip {
    /// Returns the defaults: ten calls of G.711 both ways, with the talk spurts and pauses of ITU-T P.59.
    fn default() -> Self {
        Voip {
            calls: 10,
            direction: FlowDirection::Both,
            packet_bytes: 200,
            interval_s: 0.02,
            on_s: 1.004,
            off_s: 1.587,
            codec: Codec::G711Plc,
            playout_s: 0.06,
            start_spread_s: 1.0,
            first_host: 0,
        }
    }
}

impl Udp {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("flows", f64::from(self.flows), 1.0..=100_000.0),
            ("hosts", f64::from(self.hosts), 0.0..=100_000.0),
            ("rate_bps", self.rate_bps, 1.0..=1e11),
            ("packet_bytes", f64::from(self.packet_bytes), 28.0..=1500.0),
            ("on_s", self.on_s, 0.0..=1e6),
            ("off_s", self.off_s, 0.0..=1e6),
            ("start_spread_s", self.start_spread_s, 0.0..=1e6),
            ("first_host", f64::from(self.first_host), 0.0..=1e6),
        ])
    }

    /// Returns the model as senders of datagrams, the form that all models of datagrams share.
    pub fn to_senders(&self) -> Senders {
        Senders {
            flows: self.flows,
            hosts: self.hosts,
            direction: self.direction,
            packet_bytes: self.packet_bytes as u16,
            interval: Dur::from_secs(f64::from(self.packet_bytes) * 8.0 / self.rate_bps),
            on_s: self.on_s,
            off_s: self.off_s,
            class: self.class,
            start_spread_s: self.start_spread_s,
            first_host: self.first_host,
            pictures: None,
            playback: Playback::None,
        }
    }
}

impl Voip {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("calls", f64::from(self.calls), 1.0..=100_000.0),
            ("packet_bytes", f64::from(self.packet_bytes), 28.0..=1500.0),
            ("interval_s", self.interval_s, 1e-4..=10.0),
            ("on_s", self.on_s, 0.0..=1e6),
            ("off_s", self.off_s, 0.0..=1e6),
            ("playout_s", self.playout_s, 0.0..=10.0),
            ("start_spread_s", self.start_spread_s, 0.0..=1e6),
            ("first_host", f64::from(self.first_host), 0.0..=1e6),
        ])
    }

    /// Returns the model as senders of datagrams, the form that all models of datagrams share.
    pub fn to_senders(&self) -> Senders {
        Senders {
            flows: self.calls,
            hosts: 0,
            direction: self.direction,
            packet_bytes: self.packet_bytes as u16,
            interval: Dur::from_secs(self.interval_s),
            on_s: self.on_s,
            off_s: self.off_s,
            class: Class::Interactive,
            start_spread_s: self.start_spread_s,
            first_host: self.first_host,
            pictures: None,
            playback: Playback::Sound {
                codec: self.codec,
                packet: Dur::from_secs(self.interval_s),
                hold: Dur::from_secs(self.playout_s),
            },
        }
    }
}

/// Senders of datagrams of any application.
#[derive(Debug, Clone, PartialEq)]
pub struct Senders {
    /// Number of users; each has as many flows as [`FlowDirection::flows_per_user`] says.
    pub(super) flows: u32,
    /// Client hosts that they belong to in turn; 0: one for each.
    pub(super) hosts: u32,
    pub(super) direction: FlowDirection,
    pub(super) packet_bytes: u16,
    pub(super) interval: Dur,
    pub(super) on_s: f64,
    pub(super) off_s: f64,
    pub(super) class: Class,
    pub(super) start_spread_s: f64,
    pub(super) first_host: u32,
    pub(super) pictures: Option<Pictures>,
    pub(super) playback: Playback,
}

/// The frames of a video; each is sent at once as several packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pictures {
    /// Bytes of a key frame, without headers.
    pub key_bytes: u32,
    /// Bytes of any other frame.
    pub other_bytes: u32,
    /// From one key frame to the next, in frames; at least 1.
    pub key_every: u32,
}

impl Pictures {
    /// Bytes of the headers of IP, UDP and RTP.
    pub const HEADER_BYTES: u32 = 40;

    /// Returns the number of packets of frame `number` and the IP length of each: as few as packets of at most `most`
    /// bytes allow, all equally long.
    fn split_frame(&self, number: u64, most: u16) -> (u32, u16) {
        let is_key = number.is_multiple_of(u64::from(self.key_every));
        let bytes = if is_key { self.key_bytes } else { self.other_bytes };
        let packets = bytes.div_ceil(u32::from(most) - Pictures::HEADER_BYTES).max(1);
        (packets, (bytes.div_ceil(packets) + Pictures::HEADER_BYTES) as u16)
    }

    /// Returns the mean number of bytes on the wire per frame, for packets of at most `most` bytes.
    fn mean_bytes(&self, most: u16) -> f64 {
        let wire = |number| {
            let (packets, bytes) = self.split_frame(number, most);
            f64::from(packets) * f64::from(bytes)
        };
        let others = f64::from(self.key_every - 1);
        let other = if self.key_every > 1 { wire(1) } else { 0.0 };
        (wire(0) + others * other) / f64::from(self.key_every)
    }
}

/// The start, the hosts and the direction of one flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Begin {
    /// Number of the flow in the model.
    pub flow: u32,
    /// Start of the flow, since the start of the run.
    pub at: Dur,
    /// Host that receives, or sends if `upload` is set.
    pub client: u32,
    /// Host at the other end.
    pub server: u32,
    /// Whether the packets go from client to server.
    pub upload: bool,
    /// What schemes that know applications take it for.
    pub class: Class,
}

/// One flow of datagrams.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// IP length.
    pub packet_bytes: u16,
    /// From packet to packet, or from frame to frame, within a spurt.
    pub interval: Dur,
    /// How the receiver plays it.
    pub playback: Playback,
    on_s: f64,
    off_s: f64,
    pictures: Option<Pictures>,
    seed: u64,
    flow: u64,
}

impl Senders {
    /// Returns every flow with its packets, drawn under `seed`.
    pub fn draw_streams(&self, seed: u64) -> Vec<(Begin, Stream)> {
        (0..self.flows * self.direction.flows_per_user())
            .map(|flow| (self.draw_begin(seed, flow), self.stream(seed, flow)))
            .collect()
    }

    /// Draws start, hosts and direction of a flow; only the start is random.
    fn draw_begin(&self, seed: u64, flow: u32) -> Begin {
        let (user, upload) = self.direction.user_of_flow(flow);
        let draw = Draws::new(seed, Purpose::Arrival, u64::from(flow)).uniform();
        let at = Dur::from_secs(draw * self.start_spread_s);
        let client = if self.hosts == 0 { user } else { user % self.hosts };
        let (client, server) = (self.first_host + client, self.first_host + user);
        Begin { flow, at, client, server, upload, class: self.class }
    }

    /// Returns the packets of a flow, which it draws under `seed` as they are asked for.
    fn stream(&self, seed: u64, flow: u32) -> Stream {
        Stream {
            packet_bytes: self.packet_bytes,
            interval: self.interval,
            playback: self.playback,
            on_s: self.on_s,
            off_s: self.off_s,
            pictures: self.pictures,
            seed,
            flow: u64::from(flow),
        }
    }

    /// Returns the load on a link of `rate_bps` in one direction, a fraction, with pauses and headers.
    pub fn offered_load(&self, rate_bps: f64) -> f64 {
        let active = if self.on_s > 0.0 { self.on_s / (self.on_s + self.off_s) } else { 1.0 };
        let bytes = match self.pictures {
            Some(pictures) => pictures.mean_bytes(self.packet_bytes),
            None => f64::from(self.packet_bytes),
        };
        let peak = bytes * 8.0 / self.interval.as_secs();
        f64::from(self.flows) * peak * active / rate_bps
    }
}

impl Stream {
    /// Returns how many packets are sent at once as number `number`, from 0, and the IP length of
    /// each. Each flow begins at a random frame between two key frames.
    pub fn packets(&self, number: u64) -> (u32, u16) {
        match self.pictures {
            None => (1, self.packet_bytes),
            Some(pictures) => {
                let phase = self.draws(Purpose::Size, 0).uniform() * f64::from(pictures.key_every);
                pictures.split_frame(number + phase as u64, self.packet_bytes)
            }
        }
    }

    /// Returns the number of packets, or frames, of spurt `number`, at least one; `u64::MAX` without pauses,
    /// where a single spurt never ends.
    pub fn spurt_packets(&self, number: u64) -> u64 {
        if self.on_s == 0.0 || self.off_s == 0.0 {
            return u64::MAX;
        }
        let length = self.draws(Purpose::Count, number).exponential(self.on_s);
        ((length / self.interval.as_secs()).round() as u64).max(1)
    }

    /// Draws the pause before spurt `number`, exponential; the same number has the same pause.
    pub fn pause(&self, number: u64) -> Dur {
        Dur::from_secs(self.draws(Purpose::Idle, number).exponential(self.off_s))
    }

    /// Returns the random stream of draw `number` of this flow for a purpose.
    fn draws(&self, purpose: Purpose, number: u64) -> Draws {
        Draws::new(self.seed, purpose, mix(self.flow << 32 ^ mix(number)))
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn voip__talks_as_much_as_it_says() {
        let senders = Voip::default().to_senders();
        let streams = senders.draw_streams(9);
        assert_eq!(streams.len(), 20);
        let (mut packets, mut pauses, spurts) = (0u64, 0.0, 4000u64);
        for (_, stream) in &streams {
            packets += (0..spurts).map(|k| stream.spurt_packets(k)).sum::<u64>();
            pauses += (0..spurts).map(|k| stream.pause(k).as_secs()).sum::<f64>();
        }
        let count = 20.0 * spurts as f64;
        let talk = packets as f64 * 0.02 / count;
        assert!((talk / 1.004 - 1.0).abs() < 0.02, "{talk}");
        assert!((pauses / count / 1.587 - 1.0).abs() < 0.02, "{}", pauses / count);
        let load = senders.offered_load(80_000.0 * 10.0);
        assert!((load - 1.004 / 2.591).abs() < 1e-9, "{load}");
    }

    #[test]
    fn voip__is_played_as_a_recorded_call() {
        assert_eq!(Voip::default().to_senders().playback, Playback::CALL);
    }

    #[test]
    fn udp__senders_belong_to_hosts_in_turn() {
        let hosts = |hosts| {
            let udp = Udp { flows: 3, hosts, first_host: 10, ..Udp::default() };
            let begins =
                udp.to_senders().draw_streams(1).into_iter().map(|(begin, _)| (begin.client, begin.server));
            begins.collect::<Vec<_>>()
        };
        assert_eq!(hosts(0), [(10, 10), (11, 11), (12, 12)]);
        assert_eq!(hosts(1), [(10, 10), (10, 11), (10, 12)]);
        assert_eq!(hosts(2), [(10, 10), (11, 11), (10, 12)]);
    }

    #[test]
    fn udp__without_pauses_never_stops() {
        let udp = Udp { rate_bps: 2e6, packet_bytes: 500, ..Udp::default() };
        let [(begin, stream)] = &udp.to_senders().draw_streams(1)[..] else { panic!("one flow") };
        assert_eq!((stream.interval, stream.spurt_packets(0)), (Dur::from_millis(2), u64::MAX));
        assert!(begin.at < Dur::from_millis(1000) && !begin.upload);
    }
}
