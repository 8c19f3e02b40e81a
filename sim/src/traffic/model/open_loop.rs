//! One interface to the open-loop models of pages and connections: arrivals do not depend on the network.

use super::http2::Http2Draws;
use super::packmime::PackMimeDraws;
use super::shred::ShredDraws;
use crate::traffic::connection::{PageOf, Script};
use crate::units::Dur;

/// A connection as a model wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Names the connection, the same under every scheme.
    pub key: u64,
    /// Client host.
    pub client: u32,
    /// Server host.
    pub server: u32,
    /// What it carries.
    pub script: Script,
    /// How long the server takes to answer a request.
    pub delay: Dur,
}

impl Planned {
    /// Returns a connection with one write.
    pub fn single(key: u64, client: u32, server: u32, bytes: u64, page: PageOf) -> Planned {
        let mut script = Script::default();
        script.push(Dur::ZERO, bytes, page);
        Planned::scripted(key, client, server, script)
    }

    /// Returns a connection with several writes.
    pub fn scripted(key: u64, client: u32, server: u32, script: Script) -> Planned {
        Planned { key, client, server, script, delay: Dur::ZERO }
    }
}

/// Draws of an open-loop model.
#[derive(Debug, Clone, PartialEq)]
pub enum OpenLoop {
    /// Pages at constant load.
    Shred(ShredDraws),
    /// Responses of PackMime-HTTP.
    PackMime(Box<PackMimeDraws>),
    /// Pages over long connections.
    Http2(Http2Draws),
}

impl OpenLoop {
    /// Returns the arrivals that lie before the start and are still in progress then, numbered from 0.
    pub fn initial(&self) -> u64 {
        match self {
            OpenLoop::Http2(draws) => draws.initial(),
            OpenLoop::Shred(_) | OpenLoop::PackMime(_) => 0,
        }
    }

    /// Returns when the connections of such an arrival are next active.
    pub fn residual(&self, number: u64) -> Dur {
        match self {
            OpenLoop::Http2(draws) => draws.residual(number),
            OpenLoop::Shred(_) | OpenLoop::PackMime(_) => Dur::ZERO,
        }
    }

    /// Adds the connections of arrival `number` to `planned`; returns the time to the next arrival. Arrivals
    /// must be requested in order.
    pub fn arrival(&mut self, number: u64, planned: &mut Vec<Planned>) -> Dur {
        match self {
            OpenLoop::Shred(draws) => draws.page(number, planned),
            OpenLoop::PackMime(draws) => draws.connection(number, planned),
            OpenLoop::Http2(draws) => draws.connection(number, planned),
        }
    }
}
