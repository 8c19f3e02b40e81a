//! Carries real packets through the simulator's links in real time.
//!
//! - [`driver`] runs both links of a scenario on any clock; it has no I/O.
//! - [`header`] reads IP packets and sets their congestion mark.
//! - [`flows`] assigns flows to slots and times their transfers.
//! - [`account`] records how late packets were, and whether a run is valid.
//! - [`pcapng`] writes packets with their verdicts to a file.
//! - `lab` creates the namespaces and their TUN devices, and `session` runs commands in them
//!   (Linux).

pub mod account;
pub mod driver;
pub mod flows;
pub mod header;
pub mod pcapng;

#[cfg(target_os = "linux")]
mod lab;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
pub mod session;

pub use account::{Account, Status};

use mousehole_sim::error::Error;

/// Why a run failed.
#[derive(Debug)]
pub enum Failure {
    /// An error in the input.
    Input(Error),
    /// A resource that the system denies, in one sentence.
    System(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Input(error)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Failure::Input(error) => error.fmt(f),
            Failure::System(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for Failure {}
