//! The parts of a scenario that an emulator uses for real packets: its two links with their queues and markers.

use super::run::Parts;
use super::scheme::Scheme;
use super::spec::{SCHEMA, Scenario};
use super::topology::Network;
use crate::engine::layout::Access;
use crate::error::{Error, Result, quote};
use crate::link::Link;
use crate::marker::Marker;
use crate::units::{Dur, Rate};

/// The links of a scenario, ready for packets.
pub struct Emulation {
    /// The link that data crosses to the client, then the other.
    pub links: [Link; 2],
    /// The marker before each.
    pub markers: [Marker; 2],
    /// Delay of a packet between a host and a link, at each of the four ends.
    pub host_delay: Dur,
    /// Round-trip time without queueing.
    pub rtt: Dur,
    /// Seed of the replication.
    pub seed: u64,
}

impl Emulation {
    /// Checks the link and the scheme of a scenario, and builds them. Traffic, TCP and run length do not matter.
    ///
    /// # Errors
    /// [`Error::Field`] naming the faulty field, or one that only the simulator can have.
    pub fn new(scenario: &Scenario) -> Result<Emulation> {
        if scenario.schema != SCHEMA {
            return Err(Error::field("schema", quote(&scenario.schema), format!("\"{SCHEMA}\"")));
        }
        refuse_networks(scenario)?;
        let network = Network::new(scenario)?;
        debug_assert!(matches!(network.layout.access, Access::Unlimited));
        let scheme = Scheme::parse(&scenario.scheme)?;
        if let Some((part, reason)) = scheme.only_simulated() {
            let fault = format!("cannot be run on real packets: {part} {reason}");
            let allowed = "a scheme that a router could run";
            return Err(Error::faulty("scheme", quote(&scenario.scheme), fault, allowed));
        }
        let seed = scenario.replication_seed();
        let parts = Parts { links: &network.links, scheme: &scheme, slow_path: scenario.slow_path };
        Ok(Emulation {
            links: take_two(parts.build_links(seed)?),
            markers: take_two(parts.build_markers(seed)?),
            host_delay: network.layout.host_delay(network.rtt, 0),
            rtt: network.rtt,
            seed,
        })
    }

    /// Returns the rates of both links.
    pub fn rates(&self) -> [Rate; 2] {
        [self.links[0].rate, self.links[1].rate]
    }
}

/// Refuses parts of a scenario that real packets cannot have; nothing else is checked.
///
/// # Errors
/// [`Error::Field`] naming the first such part.
fn refuse_networks(scenario: &Scenario) -> Result<()> {
    let given = [
        ("topology", scenario.topology.is_some()),
        ("access", scenario.access.is_some()),
        ("host_stage", scenario.host_stage.is_some()),
        ("server", scenario.server.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((field, _)) => {
            Err(Error::conflict(field, "given", "real packets", "leave it out; they cross one link each way"))
        }
        None => Ok(()),
    }
}

/// Returns the elements as an array; there are two, since a dumbbell without access links has two
/// links. It panics for any other number.
fn take_two<T>(all: Vec<T>) -> [T; 2] {
    all.try_into().unwrap_or_else(|_| unreachable!("a dumbbell without access links has two links"))
}
