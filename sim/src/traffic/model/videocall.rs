//! Video calls: frames at a constant rate, which do not react to the network.
//!
//! A frame is sent at once, in as many packets as it needs, all of the same length. Frames are alike, or every so
//! often one is a key frame, several times as large; the mean rate stays. An encoder that lowers its rate when the
//! network is slow, retransmissions and forward error correction are not modelled: the model asks what the network
//! does to a given video.

use super::check::{self, FlowDirection};
use super::datagrams::{Pictures, Senders};
use crate::error::Result;
use crate::flow::Class;
use crate::playback::Playback;
use crate::units::Dur;
use serde::{Deserialize, Serialize};

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VideoCall {
    /// Calls, each between separate hosts, during the whole run.
    pub calls: u32,
    /// Direction of the video.
    pub direction: FlowDirection,
    /// Mean rate of the frames without headers, bit/s.
    pub rate_bps: f64,
    /// Frames per second.
    pub frames_per_s: f64,
    /// Time from key frame to key frame, s; 0 makes all frames alike.
    pub key_every_s: f64,
    /// Size of a key frame over that of another frame.
    pub key_ratio: f64,
    /// The longest packet, IP length.
    pub packet_bytes: u32,
    /// Time for which the receiver holds a frame of the least delay back, s.
    pub playout_s: f64,
    /// Calls begin evenly at random within this time, s.
    pub start_spread_s: f64,
    /// Number of the first call's client and server host.
    pub first_host: u32,
}

impl Default for VideoCall {
    /// Returns the defaults: one call of 1.5 Mbit/s and 30 frames a second both ways.
    fn default() -> Self {
        VideoCall {
            calls: 1,
            direction: FlowDirection::Both,
            rate_bps: 1.5e6,
            frames_per_s: 30.0,
            key_every_s: 0.0,
            key_ratio: 5.0,
            packet_bytes: 1200,
            playout_s: 0.1,
            start_spread_s: 1.0,
            first_host: 0,
        }
    }
}

impl VideoCall {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("calls", f64::from(self.calls), 1.0..=100_000.0),
            ("rate_bps", self.rate_bps, 1_000.0..=1e9),
            ("frames_per_s", self.frames_per_s, 1.0..=1000.0),
            ("key_every_s", self.key_every_s, 0.0..=1e4),
            ("key_ratio", self.key_ratio, 1.0..=100.0),
            ("packet_bytes", f64::from(self.packet_bytes), 100.0..=1500.0),
            ("playout_s", self.playout_s, 0.0..=10.0),
            ("start_spread_s", self.start_spread_s, 0.0..=1e6),
            ("first_host", f64::from(self.first_host), 0.0..=1e6),
        ])
    }

    /// Returns the model as senders of datagrams, the form that all models of datagrams share.
    pub fn to_senders(&self) -> Senders {
        let interval = Dur::from_secs(1.0 / self.frames_per_s);
        Senders {
            flows: self.calls,
            hosts: 0,
            direction: self.direction,
            packet_bytes: self.packet_bytes as u16,
            interval,
            on_s: 0.0,
            off_s: 0.0,
            class: Class::Interactive,
            start_spread_s: self.start_spread_s,
            first_host: self.first_host,
            pictures: Some(self.compute_pictures()),
            playback: Playback::Frames { interval, hold: Dur::from_secs(self.playout_s) },
        }
    }

    /// Returns sizes of key and other frames, bytes without headers, whose mean meets the rate.
    fn compute_pictures(&self) -> Pictures {
        let mean = self.rate_bps / 8.0 / self.frames_per_s;
        let key_every = (self.key_every_s * self.frames_per_s).round().max(1.0);
        let ratio = if self.key_every_s > 0.0 { self.key_ratio } else { 1.0 };
        let other = mean * key_every / (key_every - 1.0 + ratio);
        let bytes = |size: f64| size.round().max(1.0) as u32;
        Pictures { key_bytes: bytes(other * ratio), other_bytes: bytes(other), key_every: key_every as u32 }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns packets and their length for each of the first frames of a call.
    fn list_frames(call: &VideoCall, frames: u64) -> Vec<(u32, u16)> {
        let (_, stream) = call.to_senders().draw_streams(3).remove(0);
        (0..frames).map(|number| stream.packets(number)).collect()
    }

    /// 1.5 Mbit/s at 30 frames a second is 6250 B a frame: six packets of 1042 B and their headers.
    #[test]
    fn frames__are_alike_without_key_frames() {
        assert_eq!(list_frames(&VideoCall::default(), 40), vec![(6, 1082); 40]);
        let load = VideoCall::default().to_senders().offered_load(1e6);
        assert!((load - 6.0 * 1082.0 * 8.0 * 30.0 / 1e6).abs() < 1e-6, "{load}");
    }

    #[test]
    fn frames__keep_the_rate_with_key_frames() {
        let call = VideoCall { key_every_s: 2.0, ..VideoCall::default() };
        let frames = list_frames(&call, 600);
        let bytes: u32 = frames.iter().map(|&(packets, bytes)| packets * (u32::from(bytes) - 40)).sum();
        assert!((f64::from(bytes) * 8.0 / 20.0 / 1.5e6 - 1.0).abs() < 0.002, "{bytes}");
        let largest = frames.iter().max().unwrap();
        assert_eq!(frames.iter().filter(|&frame| frame == largest).count(), 10);
        assert!(frames.iter().all(|&(_, bytes)| bytes <= 1200));
        let wire: f64 = frames.iter().map(|&(packets, bytes)| f64::from(packets) * f64::from(bytes)).sum();
        assert!((call.to_senders().offered_load(1.0) / (wire * 8.0 / 20.0) - 1.0).abs() < 1e-6);
    }
}
