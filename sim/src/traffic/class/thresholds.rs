//! The thresholds of the rule. Each has its source, or is a reading: a choice of ours between published
//! values and those in captures.

use crate::units::Dur;
use std::ops::RangeInclusive;

/// A packet with less payload is small. G.711 has 172 B at 20 ms (RFC 3551 section 4.5.14 and RTP's 12 B), and 252 B
/// at 30 ms; game servers send 130 B on average (Feng et al. 2002). Reading: the round number above.
pub const SMALL_BYTES: u32 = 300;
/// At most the payload of a keystroke or its echo. A packet of SSH with one character has 36 to 52 B by RFC 4253
/// section 6 and the ciphers in use. Reading: room for an escape sequence or a short line.
pub const TINY_BYTES: u32 = 128;
/// A larger write is a chunk of a stream. Streaming sends blocks of 64 kB to 2.5 MB and more between its pauses (Rao et
/// al., CoNEXT 2011). Reading.
pub const CHUNK_BYTES: u64 = 100_000;
/// A stream's sender pauses for so long between chunks. Segments of HLS last 6 s by custom (RFC 8216 has them named by
/// whole seconds). Reading.
pub const CHUNK_PAUSE: Dur = Dur::from_millis(1000);
/// Packets closer to each other belong to one frame: half the interval of 60 frames a second. Reading.
pub const WITHIN_FRAME: Dur = Dur::from_millis(8);

/// Packets of a direction that must be seen before its rhythm counts: a second of G.711 at 20 ms. Reading.
pub const LEAST_PACKETS: u64 = 50;
/// A shorter flow has no steady state. Reading.
pub const LEAST_DURATION: Dur = Dur::from_millis(2000);
/// Share of small packets in a direction of calls and games. Reading: a server sends a whole picture of the game at
/// times.
pub const SMALL_SHARE: f64 = 0.8;
/// Share of packets that begin as RTP does, from which a flow is RTP; STUN, RTCP and DTLS share its ports (RFC 7983).
/// Reading.
pub const RTP_SHARE: f64 = 0.8;

/// Frame lengths of codecs, ms: 20 by default, and whole multiples of 10 (RFC 3551 section 4.2); Opus has 10, 20, 40
/// and 60 (RFC 6716 section 2.1.4).
pub const CODEC_MS: [u32; 5] = [10, 20, 30, 40, 60];
/// Bounds of the median gap of sound: the shortest and longest of [`CODEC_MS`], with jitter. Reading.
pub const SOUND_GAP_MS: RangeInclusive<u32> = 8..=65;
/// A median that differs by at most so much from a codec's frame length counts as one, ms. Reading.
pub const CODEC_NEAR_MS: u32 = 1;
/// Share of gaps near the median. A call with silence suppression has as many long gaps as talk spurts, which last a
/// second (ITU-T P.59), that is one in fifty packets; the rest is jitter. Reading.
pub const SOUND_STEADY: f64 = 0.6;
/// Without RTP, sound has sizes within this share of their median. Reading.
pub const SOUND_SIZES: f64 = 0.25;

/// Packets a second of a game. Servers send every 50 ms and clients somewhat more often (Feng et al. 2002); the
/// fastest servers of today have 128 ticks a second. Reading: half of the former to the latter.
pub const GAME_RATE: RangeInclusive<f64> = 10.0..=130.0;
/// Share of gaps near the median in one direction at least. Reading.
pub const GAME_STEADY: f64 = 0.5;

/// Interval of frames, ms: 15 to 60 a second, with jitter. Reading.
pub const FRAME_MS: RangeInclusive<u32> = 12..=80;
/// Share of intervals near the median. Reading.
pub const FRAME_STEADY: f64 = 0.6;
/// Mean number of packets in a frame, the least. Reading.
pub const FRAME_PACKETS: f64 = 1.5;
/// Share of packets of a video call that are not small. Reading.
pub const LARGE_SHARE: f64 = 0.3;
/// The same of RTP, where sound may share the flow (RFC 8843). Reading.
pub const RTP_LARGE_SHARE: f64 = 0.2;
/// No video call is faster, bit/s. Reading: twice what conferencing programs ask for in full HD.
pub const VIDEO_MAX_BPS: f64 = 8e6;
/// Packets that must come back: reports of the receiver (RFC 3550 section 6). Reading.
pub const FEEDBACK_PACKETS: u64 = 10;

/// Chunks from which a flow is a stream. Reading.
pub const LEAST_CHUNKS: u32 = 3;
/// At least so much payload for each packet of requests is a transfer, and no page. A TLS connection sends three
/// packets or so before it asks for anything; objects of pages have tens of kilobytes. Reading.
pub const TRANSFER_PER_REQUEST: u64 = 100_000;
/// Share of small packets in a transfer, which fills its packets, at most. Reading.
pub const TRANSFER_SMALL_SHARE: f64 = 0.5;
/// A row of a log with so much payload is a transfer, since logs do not count requests. Reading.
pub const TRANSFER_BYTES: u64 = 1_000_000;

/// Packets of keystrokes and of echoes, the least. Reading.
pub const LEAST_KEYS: u64 = 20;
/// Share of the client's packets that are tiny, and of the server's. Reading.
pub const TINY_SHARE: [f64; 2] = [0.7, 0.5];
/// Keystrokes that follow each other within half a second, for each pause for thought: a program that only reports
/// now and then has one. People type with a mean gap of 1.1 s, pauses included (Danzig & Jamin's tcplib, by Paxson &
/// Floyd 1995). Reading.
pub const KEYS_PER_PAUSE: f64 = 2.0;
/// Packets from the server for each one from the client. Reading.
pub const ECHOES: RangeInclusive<f64> = 0.4..=4.0;
/// Keystrokes a second where a log has only totals. Reading.
pub const KEY_RATE: RangeInclusive<f64> = 0.2..=10.0;

/// Directions of a call in a log differ by at most this share in rate and size. Reading.
pub const ALIKE: f64 = 0.2;
/// Mean payload of video's packets in a log, the least. Reading.
pub const VIDEO_MEAN_BYTES: f64 = 400.0;
/// Frames a second of a video call of which a log has the totals, the least. Reading.
pub const LEAST_FRAMES: f64 = 15.0;
/// Share of the payload that comes back in a log's row of a video call. Reading.
pub const VIDEO_BACK: f64 = 0.1;

/// The longest message of DNS (RFC 1035 section 4.2.2); a flow to a port of names that carries more is judged by what
/// it does.
pub const NAME_BYTES: u64 = 65_535;
