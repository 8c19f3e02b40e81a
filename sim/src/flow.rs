//! What the network may know of a connection beside its packets.

use serde::{Deserialize, Serialize};

/// What kind of application a connection belongs to.
///
/// Noureddine & Tobagi, section III, give each a drop precedence of its own and each host's scheduler
/// serves them in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Class {
    /// Someone waits for every packet: remote login, voice, names.
    Interactive = 0,
    /// Someone waits for the whole: the web, and whatever is not known to be another.
    #[default]
    Web = 1,
    /// Nobody waits: file transfer, mail, backup.
    Bulk = 2,
}

/// A connection as markers and queues get to know it, once, when it opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flow {
    /// Names the connection across schemes.
    pub key: u64,
    /// Host that asks; its user, where a scheme counts by user.
    pub client: u32,
    /// Host that answers.
    pub server: u32,
    /// What kind of application it belongs to.
    pub class: Class,
}
