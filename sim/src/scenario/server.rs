//! Parses the `[server]` part of a scenario: the servers' CPUs.

use super::spec::ServerSpec;
use crate::engine::server::Order;
use crate::error::{Error, Result, quote};
use crate::traffic::read::Direction;
use crate::units::{Rate, parse_size};

/// Returns the rate of each server's CPU and the order of its jobs. The text gives bytes per
/// second, the rate is in bit/s.
///
/// # Errors
/// [`Error::Field`] naming `server.rate` or `server.order`, or `server` where clients send the
/// data.
pub(super) fn parse_server(spec: &ServerSpec, direction: Direction) -> Result<(Rate, Order)> {
    if direction == Direction::Up {
        let allowed = "servers send the data only with payload \"down\"";
        return Err(Error::conflict("server", "a server", "traffic.payload \"up\"", allowed));
    }
    let allowed = "a number of bytes per second with a unit, such as 200kB/s, from 1B/s to 100GB/s";
    let fault = || Error::field("server.rate", quote(&spec.rate), allowed);
    let size = spec.rate.strip_suffix("/s").ok_or_else(fault)?;
    let bytes = parse_size("server.rate", size).map_err(|_| fault())?;
    if !(1..=100_000_000_000).contains(&bytes) {
        return Err(fault());
    }
    let order = match spec.order.as_str() {
        "fcfs" => Order::Fcfs,
        "stf" => Order::Stf,
        other => return Err(Error::choice("server.order", other, &["fcfs", "stf"])),
    };
    Ok((Rate(8 * bytes), order))
}
