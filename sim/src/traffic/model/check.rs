//! Checks of parameters and the direction of flows, which several models share.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Allowed values of numeric parameters: name, value, range.
pub type Ranges<'a> = &'a [(&'a str, f64, RangeInclusive<f64>)];

/// Checks that each value lies in its range, both ends included; NaN lies in none.
///
/// # Errors
/// [`Error::Field`] naming the first that does not.
pub fn check_ranges(fields: Ranges) -> Result<()> {
    match fields.iter().find(|(_, value, range)| !range.contains(value)) {
        None => Ok(()),
        Some((name, value, range)) => {
            let allowed = format!("from {} to {}", range.start(), range.end());
            Err(Error::field(*name, value, allowed))
        }
    }
}

/// Checks that the value `least` is at most `most`; each is (name, value).
///
/// # Errors
/// [`Error::Field`] naming the first.
pub fn check_order(least: (&str, f64), most: (&str, f64)) -> Result<()> {
    if least.1 <= most.1 {
        return Ok(());
    }
    Err(Error::field(least.0, least.1, format!("at most {}, which is {}", most.0, most.1)))
}

/// Which way the data of a user's flows goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowDirection {
    /// From server to client.
    Down,
    /// From client to server.
    Up,
    /// Each user has a flow of either kind.
    Both,
}

impl FlowDirection {
    /// Parses `down`, `up` or `both`.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field` for any other name.
    pub fn parse_direction(field: &str, name: &str) -> Result<FlowDirection> {
        match name {
            "down" => Ok(FlowDirection::Down),
            "up" => Ok(FlowDirection::Up),
            "both" => Ok(FlowDirection::Both),
            _ => Err(Error::choice(field, name, &["down", "up", "both"])),
        }
    }

    /// Returns the number of flows of a user.
    pub fn flows_per_user(self) -> u32 {
        if self == FlowDirection::Both { 2 } else { 1 }
    }

    /// Returns the user whose flow this is, and whether it is an upload; flows count from 0 over all users.
    pub fn user_of_flow(self, flow: u32) -> (u32, bool) {
        match self {
            FlowDirection::Down => (flow, false),
            FlowDirection::Up => (flow, true),
            FlowDirection::Both => (flow / 2, flow % 2 == 1),
        }
    }
}
