//! The network of a scenario: its links and the paths over them, as a dumbbell or by `[topology]`.

mod arc;
mod bottleneck;
mod draw;
mod dumbbell;
mod kinds;
mod network;
mod route;
mod shaper;
pub mod spec;
mod stage;
mod wire;

use super::spec::{FaultSpec, Scenario};
use crate::engine::layout::End;
use crate::error::{Error, Result, quote};
use crate::link_layer::Wire;
use crate::units::{Dur, Rate};
pub use bottleneck::fill_bottleneck;
pub use kinds::write_out;
pub(super) use network::FULL_PACKET;
pub use network::{Network, PlannedLink, Runs, Shaper};

/// A full packet must not occupy a link for longer: TCP's retransmission timer expires after this time at the latest,
/// so that hosts on a slower link would only send the same packets again and again.
const LONGEST_TRANSMISSION: Dur = Dur::from_millis(60_000);

impl Network {
    /// Returns the links and paths of a scenario, with its faults and the queues of users at hosts.
    /// The file of a rate that varies is read.
    ///
    /// # Errors
    /// [`Error::Field`] naming the field of `link`, `access`, `topology`, `host_stage` or `faults`,
    /// or the scheme where its rate does not fit the link.
    pub fn new(scenario: &Scenario) -> Result<Network> {
        let mut network = match &scenario.topology {
            None => dumbbell::build_network(scenario)?,
            Some(spec) => draw::build_network(scenario, spec)?,
        };
        check_speed(scenario, &network)?;
        apply_faults(&scenario.faults, &mut network.links, scenario.topology.is_some())?;
        match &scenario.host_stage {
            None => Ok(network),
            Some(stage) => stage::add_host_stage(network, stage, scenario.ends()),
        }
    }
}

/// Checks of every link, shared or private, and of every shaper that a full packet does not occupy
/// it for longer than a retransmission timer.
///
/// # Errors
/// [`Error::Field`] naming the field that gives the rate.
fn check_speed(scenario: &Scenario, network: &Network) -> Result<()> {
    for (number, link) in network.links.iter().enumerate() {
        let name = || format!("link {}", link.name);
        let (field, value) = match (&scenario.topology, number, &scenario.access) {
            (Some(_), _, _) => ("topology.links", name()),
            (None, 0, _) => to_owned_field(scenario.link.down_rate()),
            (None, 1, _) => to_owned_field(scenario.link.up_rate()),
            (None, _, Some(access)) => ("access.rate", access.rate.clone()),
            (None, _, None) => ("host_stage.rate", name()),
        };
        check_rate(field, &value, link.rate, link.wire)?;
        if let Some(shaper) = &link.shaper {
            check_rate("link.shape", &shaper.rate.to_string(), shaper.rate, shaper.wire)?;
        }
    }
    for (end, field) in [(End::ServerOut, "access.rate"), (End::ClientIn, "access.client_rate")] {
        if let (_, Some(rate)) = network.layout.access_link(end) {
            check_rate(field, &rate.to_string(), rate, Wire::default())?;
        }
    }
    Ok(())
}

/// Returns a field and its text, owned.
fn to_owned_field((field, text): (&'static str, &str)) -> (&'static str, String) {
    (field, text.to_string())
}

/// Refuses a rate at which a full packet with its overhead takes longer than
/// [`LONGEST_TRANSMISSION`].
///
/// # Errors
/// [`Error::Field`] naming `field` and `value`.
fn check_rate(field: &str, value: &str, rate: Rate, wire: Wire) -> Result<()> {
    let bytes = wire.bytes(u64::from(FULL_PACKET));
    let time = rate.tx_time(bytes);
    if time <= LONGEST_TRANSMISSION {
        return Ok(());
    }
    let overhead = bytes - u64::from(FULL_PACKET);
    let extra = if overhead == 0 { String::new() } else { format!(" and {overhead} bytes of overhead") };
    let fault = format!("takes {:.0} s to send {FULL_PACKET} bytes{extra}", time.as_secs());
    let allowed = format!("a rate at which that takes at most {:.0} s", LONGEST_TRANSMISSION.as_secs());
    Err(Error::faulty(field, quote(value), fault, allowed))
}

/// Adds the losses that the scenario asks for to their links; several for one link add up.
/// `by_name` allows links other than `down` and `up`.
///
/// # Errors
/// [`Error::Field`] naming `faults.link` or `faults.bernoulli`.
fn apply_faults(specs: &[FaultSpec], links: &mut [PlannedLink], by_name: bool) -> Result<()> {
    for spec in specs {
        let number = match spec.link.as_str() {
            "down" => 0,
            "up" => 1,
            name => links.iter().position(|link| by_name && link.name == name).ok_or_else(|| {
                let names = links.iter().map(|link| link.name.as_str()).filter(|_| by_name);
                Error::unknown("faults.link", "link", name, ["down", "up"].into_iter().chain(names))
            })?,
        };
        if !(0.0..=1.0).contains(&spec.bernoulli) {
            return Err(Error::field("faults.bernoulli", spec.bernoulli, "a probability from 0 to 1"));
        }
        let fault = &mut links[number].fault;
        fault.drop.extend(&spec.drop);
        fault.drop.sort_unstable();
        fault.bernoulli = 1.0 - (1.0 - fault.bernoulli) * (1.0 - spec.bernoulli);
    }
    Ok(())
}
