//! A connection that an open-loop model has drawn.

use crate::traffic::connection::{PageOf, Script};
use crate::units::Dur;

/// A connection to be opened at a model's arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Key of the connection, the same under every scheme.
    pub key: u64,
    /// Client host.
    pub client: u32,
    /// Server host.
    pub server: u32,
    /// The writes that it carries.
    pub script: Script,
    /// Time that the server takes to answer a request, if the model gives one.
    pub server_think: Option<Dur>,
}

impl Planned {
    /// Returns a connection with one write of `bytes`.
    pub fn from_write(key: u64, client: u32, server: u32, bytes: u64, page: PageOf) -> Planned {
        let mut script = Script::default();
        script.push(Dur::ZERO, bytes, page);
        Planned::from_script(key, client, server, script)
    }

    /// Returns a connection with the writes of `script`.
    pub fn from_script(key: u64, client: u32, server: u32, script: Script) -> Planned {
        Planned { key, client, server, script, server_think: None }
    }
}
