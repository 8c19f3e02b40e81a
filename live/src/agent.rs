//! The agent: what is too slow for every packet. It sweeps the table of flows and lets the policy adapt.

use crate::deployment::Deployment;
use crate::error::Result;

/// Returns whether a deployment has anything for the agent to do.
pub fn is_needed(deployment: &Deployment) -> bool {
    deployment.marker.as_ref().is_some_and(|params| params.policy().period_ns(params).is_some())
}

/// Starts the agent of a device.
///
/// # Errors
/// A sentence when the process cannot be started.
pub fn spawn(name: &str) -> Result<u32> {
    crate::detach::spawn(&["agent", name])
}
