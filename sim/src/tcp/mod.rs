//! TCP without I/O ("sans-IO"): the caller passes packets and the time to a sender and a receiver, and asks them what
//! to send.
//!
//! Everything in which TCPs differ is a field of [`Params`]; a profile is a named set of them.
//! Windows and sequence numbers count segments. [`sender`] composes `congestion` (how much may be
//! sent) and `recovery` (which segment), which share the `tcb`.

mod ack_clock;
mod congestion;
pub mod dialect;
pub mod handshake;
mod linux_rtt;
pub mod profile;
pub mod ranges;
pub mod receiver;
mod recovery;
pub mod request_acks;
pub mod rtt;
pub mod sender;
pub mod senders;
mod sequence;
mod tcb;
mod timer;

pub use dialect::{Dialect, Ns2Quirks};
pub use profile::{Congestion, IdleRestart, Params, Variant};
pub use receiver::Receiver;
pub use sender::Sender;
pub use senders::Senders;
