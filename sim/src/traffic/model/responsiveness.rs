//! Tests of responsiveness: long-lived flows that fill the line, and small requests on separate connections
//! and on those flows.
//!
//! After draft-ietf-ippm-responsiveness-06, "Responsiveness under Working Conditions", sections 4.1 and 4.2. A tester
//! adds a load-generating connection each second. When all are there it sends probes: foreign ones, each a new
//! connection with a TLS handshake and a request for one byte, and self probes, each a request for one byte over a
//! load-generating connection that is drawn at random. They alternate, as many as the draft allows: 100 a second
//! (MPS), or so few that they take 5 % of the capacity (PTC) at 5000 B for a foreign and 1000 B for a self probe.
//!
//! The draft adds connections until the goodput no longer grows, at most 16, and ends when the responsiveness is
//! stable. Here the number is a parameter, and the probes of the measured window count.

use super::check::{self, FlowDirection};
use crate::error::Result;
use crate::rng::{Purpose, Stream, mix};
use crate::units::{Dur, Rate};
use serde::{Deserialize, Serialize};

/// Bytes on the wire of a foreign and a self probe together, by the draft's estimate.
const PAIR_BYTES: f64 = 6000.0;

/// Time from one load-generating connection to the next (ID).
pub const INTERVAL: Dur = Dur::from_millis(1000);

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Responsiveness {
    /// Testers, each between separate hosts, during the whole run.
    pub testers: u32,
    /// Which way the load goes; the source's `payload`.
    #[serde(skip)]
    pub direction: FlowDirection,
    /// Load-generating connections of each tester, in each direction that it loads.
    pub connections: u32,
    /// The most probes per second, of both kinds together (MPS).
    pub probes_per_s: f64,
    /// Share of the capacity that the probes may take (PTC).
    pub probe_share: f64,
    /// What a server sends in a TLS handshake, bytes; 0 is without TLS.
    pub tls_bytes: u32,
    /// Testers begin evenly at random within this time, s.
    pub start_spread_s: f64,
    /// Number of the first tester's client and server host.
    pub first_host: u32,
}

impl Default for Responsiveness {
    /// Returns the defaults: one tester of downloads with eight load-generating connections.
    fn default() -> Self {
        Responsiveness {
            testers: 1,
            direction: FlowDirection::Down,
            connections: 8,
            probes_per_s: 100.0,
            probe_share: 0.05,
            tls_bytes: 4000,
            start_spread_s: 1.0,
            first_host: 0,
        }
    }
}

impl Responsiveness {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("testers", f64::from(self.testers), 1.0..=10_000.0),
            ("connections", f64::from(self.connections), 1.0..=16.0),
            ("probes_per_s", self.probes_per_s, 0.1..=10_000.0),
            ("probe_share", self.probe_share, 1e-6..=1.0),
            ("tls_bytes", f64::from(self.tls_bytes), 0.0..=1e6),
            ("start_spread_s", self.start_spread_s, 0.0..=1e6),
            ("first_host", f64::from(self.first_host), 0.0..=1e6),
        ])
    }

    /// Returns the number of tests of all testers: one for each direction that a tester loads.
    pub fn test_count(&self) -> u32 {
        self.testers * self.direction.flows_per_user()
    }

    /// Returns the host at both ends of a test, and whether its load is an upload.
    pub fn host_of_test(&self, test: u32) -> (u32, bool) {
        let (user, upload) = self.direction.user_of_flow(test);
        (self.first_host + user, upload)
    }

    /// Returns the time from one probe of a kind to the next of that kind on a line of `capacity`: as short as both
    /// limits of the draft's section 4.2, MPS and PTC, allow.
    pub fn probe_gap(&self, capacity: Rate) -> Dur {
        let affordable = self.probe_share * capacity.0 as f64 / 8.0 / PAIR_BYTES;
        Dur::from_secs(1.0 / affordable.min(self.probes_per_s / 2.0))
    }
}

/// The draws of the testers under a seed.
#[derive(Debug, Clone, PartialEq)]
pub struct TestDraws {
    model: Responsiveness,
    seed: u64,
}

impl TestDraws {
    /// Returns the draws of a run.
    pub fn new(model: Responsiveness, seed: u64) -> TestDraws {
        TestDraws { model, seed }
    }

    /// Returns the model.
    pub fn model(&self) -> &Responsiveness {
        &self.model
    }

    /// Returns the time at which a test begins, uniform from 0 to below `start_spread_s`; the same for the same seed.
    pub fn start(&self, test: u32) -> Dur {
        let draw = Stream::new(self.seed, Purpose::Arrival, u64::from(test)).uniform();
        Dur::from_secs(draw * self.model.start_spread_s)
    }

    /// Returns the load-generating connection, from 0, that carries self probe `number` of a test.
    pub fn connection(&self, test: u32, number: u32) -> u32 {
        let entity = mix(u64::from(test) << 32 | u64::from(number));
        let draw = Stream::new(self.seed, Purpose::Host, entity).uniform();
        (draw * f64::from(self.model.connections)) as u32
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::units::parse_rate;

    /// 100 probes a second are 300 kB/s (section 4.2): from 48 Mbit/s on they are within 5 %.
    #[test]
    fn probe_gap__keeps_both_limits_of_the_draft() {
        let gap =
            |rate: &str| Responsiveness::default().probe_gap(parse_rate("rate", rate).unwrap()).as_secs();
        assert_eq!([gap("48mbit"), gap("1gbit")], [0.02, 0.02]);
        assert!((gap("24mbit") - 0.04).abs() < 1e-9 && (gap("960kbit") - 1.0).abs() < 1e-9);
    }

    #[test]
    fn connection__is_drawn_evenly() {
        let draws = TestDraws::new(Responsiveness { connections: 4, ..Responsiveness::default() }, 3);
        let mut drawn = [0; 4];
        (0..4000).for_each(|number| drawn[draws.connection(1, number) as usize] += 1);
        assert!(drawn.iter().all(|count| (900..1100).contains(count)), "{drawn:?}");
    }

    #[test]
    fn validate__names_the_parameter() {
        let error = Responsiveness { connections: 17, ..Responsiveness::default() }.validate();
        assert!(error.unwrap_err().to_string().contains("connections"));
    }
}
