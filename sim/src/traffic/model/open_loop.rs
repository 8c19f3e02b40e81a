//! One interface to the open-loop models of pages and connections: arrivals do not depend on the network.

use super::http2::Http2Draws;
use super::packmime::PackMimeDraws;
use super::planned::Planned;
use super::shred::ShredDraws;
use crate::units::Dur;

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
