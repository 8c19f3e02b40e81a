//! How a receiver plays the datagrams of a flow: as sound, as frames of a picture, or not at all.
//!
//! Sound and frames are held back for a fixed time. Their playout point is the least one-way delay of the flow's
//! packets plus that time: what was sent at t is played at t plus this, and what has not arrived by then is missing.

use crate::units::Dur;
use serde::{Deserialize, Serialize};

/// A codec, as far as its quality under loss is known (Recommendation ITU-T G.113 Appendix I).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Codec {
    /// G.711 without packet loss concealment.
    G711,
    /// G.711 with the packet loss concealment of its Appendix I.
    G711Plc,
}

/// What is done with the packets that arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Playback {
    /// Each is used when it arrives, or nothing is known of it.
    #[default]
    None,
    /// Sound: each packet holds `packet` of it.
    Sound {
        /// What made it.
        codec: Codec,
        /// Sound in a packet, which is as long in the making.
        packet: Dur,
        /// Time for which a packet of the least delay is held back.
        hold: Dur,
    },
    /// Frames of a picture: the packets that are sent at the same time.
    Frames {
        /// From frame to frame.
        interval: Dur,
        /// Time for which a frame of the least delay is held back.
        hold: Dur,
    },
}

impl Playback {
    /// Of a recorded call, whose codec and receiver are not known: as `voip` has them unless something else is given.
    pub const CALL: Playback =
        Playback::Sound { codec: Codec::G711Plc, packet: Dur(20_000_000), hold: Dur(60_000_000) };
}
