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
    /// Returns the number of arrivals before the start that are still in progress at the start; they are
    /// numbered from 0.
    pub fn initial_arrivals(&self) -> u64 {
        match self {
            OpenLoop::Http2(draws) => draws.initial_connections(),
            OpenLoop::Shred(_) | OpenLoop::PackMime(_) => 0,
        }
    }

    /// Returns the time after the start at which initial arrival `number` is next active.
    pub fn residual_time(&self, number: u64) -> Dur {
        match self {
            OpenLoop::Http2(draws) => draws.residual_think(number),
            OpenLoop::Shred(_) | OpenLoop::PackMime(_) => Dur::ZERO,
        }
    }

    /// Adds the connections of arrival `number` to `planned`; returns the time to the next arrival. Arrivals
    /// must be requested once each and in order from 0, since [`PackMimeDraws`] advances its state.
    pub fn add_arrival(&mut self, number: u64, planned: &mut Vec<Planned>) -> Dur {
        match self {
            OpenLoop::Shred(draws) => draws.add_page(number, planned),
            OpenLoop::PackMime(draws) => draws.add_connection(number, planned),
            OpenLoop::Http2(draws) => draws.add_connection(number, planned),
        }
    }
}
