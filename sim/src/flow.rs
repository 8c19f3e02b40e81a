//! Properties of a connection that the network may use in addition to its packets.

use mousehole_policy::Application;
use serde::{Deserialize, Serialize};

/// The class of application that a connection belongs to.
///
/// Noureddine & Tobagi, section III, give each a drop precedence of its own and each host's scheduler
/// serves them in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Class {
    /// Someone waits for every packet: remote login, voice, name look-up.
    Interactive = 0,
    /// Someone waits for the whole transfer: the web, and everything of unknown class.
    #[default]
    Web = 1,
    /// Nobody waits: file transfer, mail, backup.
    Bulk = 2,
}

impl Class {
    /// Returns the class by which policies know this one.
    pub fn application(self) -> Application {
        match self {
            Class::Interactive => Application::Interactive,
            Class::Web => Application::Web,
            Class::Bulk => Application::Bulk,
        }
    }
}

/// The properties of a connection that markers and queues are notified of when it opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flow {
    /// Names the connection across schemes.
    pub key: u64,
    /// Client host; it also stands for the user where a scheme counts by user.
    pub client: u32,
    /// Server host.
    pub server: u32,
    /// Class of its application.
    pub class: Class,
}
