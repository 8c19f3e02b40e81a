//! TCP, sans-IO: a sender and a receiver that are told packets and the time, and asked what to send.
//!
//! Everything in which TCPs differ is a field of [`Params`]; a profile is a named set of them.
//! Windows and sequence numbers count segments.

mod cubic;
pub mod dialect;
mod extras;
mod growth;
pub mod handshake;
pub mod profile;
mod prr;
mod rack;
pub mod ranges;
pub mod receiver;
mod recovery;
pub mod rtt;
mod sack;
mod sack_ns2;
pub mod sender;
mod tlp;

pub use dialect::{Dialect, Ns2Quirks};
pub use profile::{Congestion, Params, Variant};
pub use receiver::Receiver;
pub use sender::Sender;
