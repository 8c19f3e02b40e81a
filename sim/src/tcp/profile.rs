//! Named sets of TCP parameters.
//!
//! `rfc` follows the current standards and is the default. `ns2-2.35` and `ns2-2001` follow the
//! simulator the papers used, at the versions' own defaults (see `oracle/semantics.md`).

use super::dialect::{Dialect, Ns2Quirks};
use crate::error::{Error, Result};
use crate::units::Dur;
use serde::{Deserialize, Serialize};

/// How a sender recovers from loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// Fast retransmit, then slow start from the lost segment on (ns-2's `Agent/TCP`); the ns2 profiles only.
    Tahoe,
    /// Fast retransmit and fast recovery that ends with the first new ACK (RFC 2001).
    Reno,
    /// Stays in recovery on partial ACKs (RFC 6582).
    Newreno,
    /// Selective acknowledgements (RFC 6675).
    Sack,
}

/// Congestion control by the RFCs; the ns-2 profiles have their own Reno.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Congestion {
    /// Grows by one segment per round trip; a reduction leaves half (RFC 5681).
    Reno,
    /// Grows by a cubic function of the time since the last reduction, which leaves seven tenths (RFC 9438).
    Cubic,
    /// Paces by a model of the path (draft-ietf-ccwg-bbr-06); needs RACK.
    Bbr,
    /// Reduces by the share of marks, as senders of L4S do (draft-briscoe-iccrg-prague-congestion-control-04).
    Prague,
}

/// What an idle retransmission timeout leaves of the window (RFC 5681 section 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdleRestart {
    /// All of it.
    Off,
    /// The initial window at most.
    InitialWindow,
    /// Half for each timeout that passed, at least the initial window (Linux, after RFC 2861).
    Halving,
}

/// Who opens a connection, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opening {
    /// Data flows at once (ns-2 one-way TCP without `syn_`).
    None,
    /// Segment 0 is a 40-byte SYN in the data direction and counts as sent data (ns-2 `syn_`).
    OneWaySyn,
    /// The receiver of data opens with a three-way handshake and sends a request per write.
    Request,
    /// The sender of data opens with a three-way handshake (uploads).
    Sender,
}

/// TCP parameters of both ends, the same for all connections of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Params {
    /// Whose rules hold where the RFCs and ns-2 differ; flat in the manifest.
    #[serde(flatten)]
    pub dialect: Dialect,
    /// Loss recovery.
    pub variant: Variant,
    /// Congestion control.
    pub congestion: Congestion,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// IP and TCP header bytes of a data segment.
    pub header: u32,
    /// Bytes of an ACK, SYN or SYN-ACK.
    pub ack_bytes: u32,
    /// Bytes that SACK blocks add to an ACK: for any, and for each (RFC 2018: 2 padded to 4, and 8).
    pub sack_bytes: (u32, u32),
    /// Payload bytes of a request.
    pub request_bytes: u32,
    /// Every segment has full size, whatever the write (ns-2 counts packets).
    pub whole_segments: bool,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Receive window in segments; at most 65,535.
    pub receive_window: u32,
    /// First slow-start threshold in segments; `None` means unlimited (RFC 5681 section 3.1).
    pub initial_ssthresh: Option<u32>,
    /// RTO before any sample (RFC 6298 section 2.1).
    pub initial_rto: Dur,
    /// Least RTO (RFC 6298 section 2.4).
    pub min_rto: Dur,
    /// Greatest RTO.
    pub max_rto: Dur,
    /// Clock tick for RTT samples; 1 ns where clocks are fine.
    pub tick: Dur,
    /// Phase of every connection's clock; `None` draws one per connection.
    pub tick_phase: Option<Dur>,
    /// Proportional rate reduction in recovery by SACK (RFC 9937).
    pub prr: bool,
    /// RACK-TLP in place of counting duplicates (RFC 8985); needs SACK.
    pub rack: bool,
    /// The least RTO bounds four times the spread (Linux), not the sum: the timer is never closer to the
    /// round-trip time than that.
    pub min_rto_on_spread: bool,
    /// Every segment and ACK carries a time stamp (RFC 7323): each ACK gives a round-trip sample, and so do
    /// those of segments sent twice, which ends the backoff. Their bytes are part of `header` and `ack_bytes`.
    pub timestamps: bool,
    /// CUBIC leaves slow start by HyStart and grows in whole segments, as Linux has it.
    pub hystart: bool,
    /// A window that is not used for a retransmission timeout decays to what is used (Linux, RFC 2861).
    pub window_validation: bool,
    /// Tick of the clock on which the sender's timers expire, never early (Linux with 250 Hz: 4 ms); 0 for exact
    /// timers.
    pub timer_tick: Dur,
    /// Timeouts of a SYN that do not double the next one (Linux's `tcp_syn_linear_timeouts`).
    pub linear_syn_timeouts: u8,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// What an idle retransmission timeout leaves of the window.
    pub idle_restart: IdleRestart,
    /// ACK every second segment, or after this delay; `None` acknowledges each (RFC 1122 4.2.3.2).
    pub delayed_ack: Option<Dur>,
    /// Segments at the start of a connection that are acknowledged at once (Linux's `TCP_MAX_QUICKACKS`).
    pub quick_acks: u32,
    /// The receive window grows with what arrives in a round trip, and each segment is acknowledged while it does
    /// (Linux's `tcp_grow_window`, see [`super::receiver`]).
    pub tunes_window: bool,
    /// The answering side acknowledges requests by itself (Linux, see [`super::request_acks`]), not only by its answer.
    pub acks_requests: bool,
    /// Time from a request to its answer at a server whose traffic says nothing of it.
    pub server_think: Dur,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// How connections open.
    pub opening: Opening,
}

/// Names of the profiles, the default first.
pub const PROFILES: [&str; 6] = ["rfc", "linux", "bbr", "prague", "ns2-2.35", "ns2-2001"];

impl Params {
    /// Returns whether a data segment is sent as ECN-capable. Retransmissions are so only with L4S
    /// (RFC 3168 section 6.1.5). Segment 0 of a one-way connection never is, because it negotiates
    /// ECN in ns-2, with or without a SYN.
    pub fn is_ecn_capable(&self, seq: u32, is_retransmission: bool) -> bool {
        let negotiates = seq == 0 && matches!(self.opening, Opening::None | Opening::OneWaySyn);
        self.ecn && (self.is_l4s() || !is_retransmission) && !negotiates
    }

    /// Returns whether the TCP follows ns-2's rules, not the RFCs'.
    #[inline]
    pub fn is_ns2(&self) -> bool {
        matches!(self.dialect, Dialect::Ns2(_))
    }

    /// Returns the header bytes of segment `seq`; some versions of ns-2 omit them from segment 0.
    #[inline]
    pub fn header_bytes(&self, seq: u32) -> u32 {
        if seq == 0 && self.dialect.quirks().first_without_header { 0 } else { self.header }
    }

    /// Returns the profile called `name`.
    ///
    /// # Errors
    /// [`Error::Field`] for an unknown name.
    pub fn find_profile(name: &str) -> Result<Params> {
        match name {
            "rfc" => Ok(rfc()),
            "linux" => Ok(linux()),
            "bbr" => Ok(linux().with_bbr()),
            "prague" => Ok(linux().with_prague()),
            "ns2-2.35" => Ok(ns2_235()),
            "ns2-2001" => Ok(ns2_2001()),
            other => Err(Error::unknown("tcp.profile", "profile", other, PROFILES)),
        }
    }

    /// Returns the same TCP with BBR as its congestion control, without the recovery and idle rules
    /// that BBR replaces.
    #[must_use]
    pub fn with_bbr(self) -> Params {
        Params {
            congestion: Congestion::Bbr,
            prr: false,
            hystart: false,
            window_validation: false,
            idle_restart: IdleRestart::Off,
            ..self
        }
    }

    /// Returns the same TCP with Prague as its congestion control and accurate feedback of marks.
    #[must_use]
    pub fn with_prague(self) -> Params {
        Params { congestion: Congestion::Prague, hystart: false, ecn: true, ..self }
    }

    /// Returns whether packets carry the identifier of L4S and ACKs count marks (RFC 9331, RFC
    /// 9768).
    #[inline]
    pub fn is_l4s(&self) -> bool {
        self.congestion == Congestion::Prague
    }

    /// Returns how many segments `bytes` of payload take; 0 for none.
    pub fn segments(&self, bytes: u64) -> u32 {
        bytes.div_ceil(u64::from(self.mss)) as u32
    }
}

/// Returns the parameters of a TCP that follows the RFCs; other profiles are given as differences
/// from it.
fn rfc() -> Params {
    Params {
        dialect: Dialect::Rfc,
        variant: Variant::Sack,
        congestion: Congestion::Reno,
        mss: 1460,
        header: 40,
        ack_bytes: 40,
        sack_bytes: (4, 8),
        request_bytes: 400,
        whole_segments: false,
        initial_window: 10,
        receive_window: 65_535,
        initial_ssthresh: None,
        initial_rto: Dur::from_millis(1000),
        min_rto: Dur::from_millis(1000),
        max_rto: Dur::from_millis(60_000),
        tick: Dur(1),
        tick_phase: Some(Dur(0)),
        prr: false,
        rack: false,
        min_rto_on_spread: false,
        timestamps: false,
        hystart: false,
        window_validation: false,
        timer_tick: Dur::ZERO,
        linear_syn_timeouts: 0,
        limited_transmit: true,
        idle_restart: IdleRestart::InitialWindow,
        delayed_ack: Some(Dur::from_millis(100)),
        quick_acks: 1,
        tunes_window: false,
        acks_requests: false,
        server_think: Dur::ZERO,
        ecn: false,
        opening: Opening::Request,
    }
}

/// Median delay of web servers in packet traces of 2001 and before (Cao, Cleveland, Gao, Jeffay,
/// Smith & Weigle, "Stochastic Models for Generating Synthetic HTTP Source Traffic", INFOCOM 2004).
const SERVER_THINK: Dur = Dur::from_millis(6);

/// Returns Linux's defaults, as far as they are modelled (`docs/engine.md` lists what is not):
/// segments of 1500 bytes with time stamps.
fn linux() -> Params {
    Params {
        congestion: Congestion::Cubic,
        mss: 1448,
        header: 52,
        ack_bytes: 52,
        min_rto: Dur::from_millis(200),
        max_rto: Dur::from_millis(120_000),
        min_rto_on_spread: true,
        prr: true,
        rack: true,
        timestamps: true,
        hystart: true,
        window_validation: true,
        timer_tick: Dur::from_millis(4),
        linear_syn_timeouts: 4,
        idle_restart: IdleRestart::Halving,
        delayed_ack: Some(Dur::from_millis(40)),
        quick_acks: 16,
        tunes_window: true,
        acks_requests: true,
        server_think: SERVER_THINK,
        ..rfc()
    }
}

/// Returns the parameters of ns-2.35's one-way TCP.
fn ns2_235() -> Params {
    Params {
        dialect: Dialect::Ns2(Ns2Quirks::NS_2_35),
        variant: Variant::Newreno,
        mss: 1000,
        sack_bytes: (0, 8),
        whole_segments: true,
        initial_window: 2,
        receive_window: 20,
        initial_ssthresh: Some(20),
        initial_rto: Dur::from_millis(3000),
        min_rto: Dur::from_millis(200),
        tick: Dur::from_millis(10),
        tick_phase: None,
        idle_restart: IdleRestart::Off,
        delayed_ack: None,
        opening: Opening::OneWaySyn,
        ..rfc()
    }
}

/// Returns the parameters of ns-2's one-way TCP in 2001, as differences from ns-2.35.
fn ns2_2001() -> Params {
    Params {
        dialect: Dialect::Ns2(Ns2Quirks::YEAR_2001),
        header: 0,
        initial_window: 1,
        initial_rto: Dur::from_millis(6000),
        min_rto: Dur::from_millis(1000),
        tick: Dur::from_millis(100),
        limited_transmit: false,
        opening: Opening::None,
        ..ns2_235()
    }
}
