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
        /// The codec that encoded it.
        codec: Codec,
        /// Duration of the sound in one packet; a packet is sent when so much has been recorded.
        packet: Dur,
        /// Time for which a packet of the least delay is held back.
        hold: Dur,
    },
    /// Frames of a picture: the packets that are sent at the same time.
    Frames {
        /// Time between two frames.
        interval: Dur,
        /// Time for which a frame of the least delay is held back.
        hold: Dur,
    },
}

impl Playback {
    /// Playback assumed for a recorded call, whose codec and receiver are unknown: the defaults of
    /// `voip`.
    pub const CALL: Playback =
        Playback::Sound { codec: Codec::G711Plc, packet: Dur(20_000_000), hold: Dur(60_000_000) };
}
