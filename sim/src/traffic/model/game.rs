//! Games: small packets at a constant rate, which do not react to the network.
//!
//! A client sends what its player does, and the server sends the state of the game, each at a constant rate.
//! Measurements of first-person shooters have 20 to 60 packets a second and way of some tens to about a hundred bytes
//! of payload (Feng, Chang, Feng & Walpole, "A traffic characterization of popular on-line games", IEEE/ACM
//! Transactions on Networking 13(3), 2005; Färber, "Network game traffic modelling", NetGames 2002). The defaults lie
//! in the middle: 30 packets of 100 B of IP length a second and way.

use super::check::{self, FlowDirection};
use super::datagrams::Senders;
use crate::error::Result;
use crate::flow::Class;
use crate::playback::Playback;
use crate::units::Dur;
use serde::{Deserialize, Serialize};

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Game {
    /// Players, each between separate hosts, during the whole run.
    pub players: u32,
    /// Which way the packets go.
    pub direction: FlowDirection,
    /// Packets per second of each flow.
    pub packets_per_s: f64,
    /// IP length.
    pub packet_bytes: u32,
    /// Players begin evenly at random within this time, s.
    pub start_spread_s: f64,
    /// Number of the first player's client and server host.
    pub first_host: u32,
}

impl Default for Game {
    /// Returns the defaults: one player, 30 packets of 100 B a second both ways.
    fn default() -> Self {
        Game {
            players: 1,
            direction: FlowDirection::Both,
            packets_per_s: 30.0,
            packet_bytes: 100,
            start_spread_s: 1.0,
            first_host: 0,
        }
    }
}

impl Game {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("players", f64::from(self.players), 1.0..=100_000.0),
            ("packets_per_s", self.packets_per_s, 0.1..=10_000.0),
            ("packet_bytes", f64::from(self.packet_bytes), 28.0..=1500.0),
            ("start_spread_s", self.start_spread_s, 0.0..=1e6),
            ("first_host", f64::from(self.first_host), 0.0..=1e6),
        ])
    }

    /// Returns the model as senders of datagrams, the form that all models of datagrams share.
    pub fn to_senders(&self) -> Senders {
        Senders {
            flows: self.players,
            hosts: 0,
            direction: self.direction,
            packet_bytes: self.packet_bytes as u16,
            interval: Dur::from_secs(1.0 / self.packets_per_s),
            on_s: 0.0,
            off_s: 0.0,
            class: Class::Interactive,
            start_spread_s: self.start_spread_s,
            first_host: self.first_host,
            pictures: None,
            playback: Playback::None,
        }
    }
}
