//! Guo and Matta's web sessions (BU-CS-2001-005, section IV-A, Table II).
//!
//! A fixed number of sessions load pages during the whole run. Objects are requested at exponential gaps,
//! each on a separate connection. Sizes are bounded Pareto, in packets, rounded up to whole packets. The paper
//! does not give the number of sessions; the default loads its first link to the published goodput.

use super::check;
use super::law::{Count, Law, Sizes};
use super::users::{Fetch, Think, Users};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RioPs {
    /// Sessions; a load replaces it.
    pub sessions: u32,
    /// Mean time from the end of a page to the next, s, exponential.
    pub inter_page_s: f64,
    /// Fewest objects of a page.
    pub objects_min: u32,
    /// Most objects of a page; all numbers in between are equally likely.
    pub objects_max: u32,
    /// Mean gap between requests of a page, s, exponential.
    pub inter_object_s: f64,
    /// Least size, packets.
    pub min_packets: u32,
    /// Greatest size, packets.
    pub max_packets: u32,
    /// Shape of the bounded Pareto distribution of sizes.
    pub shape: f64,
    /// Payload of a packet of the model, bytes.
    pub packet_bytes: u32,
    /// Client hosts.
    pub clients: u32,
    /// Number of the first of them.
    pub first_host: u32,
    /// From the number of one to that of the next.
    pub host_step: u32,
    /// Server hosts.
    pub servers: u32,
    /// Time that a page is taken to need when the load is computed, s.
    pub assumed_page_s: f64,
}

impl Default for RioPs {
    /// Returns the parameters of experiment 1.
    fn default() -> Self {
        RioPs {
            sessions: 280,
            inter_page_s: 9.5,
            objects_min: 2,
            objects_max: 7,
            inter_object_s: 0.05,
            min_packets: 4,
            max_packets: 200_000,
            shape: 1.2,
            packet_bytes: 500,
            clients: 100,
            first_host: 0,
            host_step: 1,
            servers: 20,
            assumed_page_s: 3.0,
        }
    }
}

impl RioPs {
    /// Returns client set 1 of experiment 2: sizes of at most 500 packets.
    pub fn small() -> RioPs {
        RioPs { sessions: 170, max_packets: 500, ..RioPs::default() }
    }

    /// Returns client set 2 of experiment 2: few and large objects.
    pub fn large() -> RioPs {
        RioPs {
            sessions: 66,
            inter_page_s: 192.0,
            objects_min: 1,
            objects_max: 3,
            inter_object_s: 1.5,
            min_packets: 400,
            assumed_page_s: 10.0,
            ..RioPs::default()
        }
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("sessions", f64::from(self.sessions), 1.0..=1e7),
            ("inter_page_s", self.inter_page_s, 0.0..=1e9),
            ("objects_min", f64::from(self.objects_min), 1.0..=4095.0),
            ("objects_max", f64::from(self.objects_max), 1.0..=4095.0),
            ("inter_object_s", self.inter_object_s, 0.0..=1e6),
            ("min_packets", f64::from(self.min_packets), 1.0..=1e6),
            ("max_packets", f64::from(self.max_packets), 2.0..=1e6),
            ("shape", self.shape, 1.001..=100.0),
            ("packet_bytes", f64::from(self.packet_bytes), 100.0..=65_535.0),
            ("clients", f64::from(self.clients), 1.0..=1e6),
            ("first_host", f64::from(self.first_host), 0.0..=1e6),
            ("host_step", f64::from(self.host_step), 1.0..=1e3),
            ("servers", f64::from(self.servers), 1.0..=1e6),
            ("assumed_page_s", self.assumed_page_s, 0.001..=1e6),
        ])?;
        let [fewest, most] = [self.objects_min, self.objects_max].map(f64::from);
        check::check_order(("objects_min", fewest), ("objects_max", most))?;
        let [least, greatest] = [self.min_packets + 1, self.max_packets].map(f64::from);
        check::check_order(("min_packets", least - 1.0), ("max_packets less one", greatest - 1.0))
    }

    /// Returns the model as a process of users, with sizes in bytes.
    pub fn process(&self) -> Users {
        let unit = u64::from(self.packet_bytes);
        let [low, high] = [self.min_packets, self.max_packets].map(|packets| u64::from(packets) * unit);
        Users {
            users: self.sessions,
            fetch: Fetch::Paced,
            think: Think::Exponential(self.inter_page_s),
            objects: Count::Uniform(self.objects_min, self.objects_max),
            gap_s: self.inter_object_s,
            sizes: Sizes {
                law: Law::BoundedPareto { low: low as f64, high: high as f64, shape: self.shape },
                least: low,
                cap: high,
                unit,
            },
            index_bytes: 0,
            clients: self.clients,
            first_host: self.first_host,
            host_step: self.host_step,
            servers: self.servers,
            assumed_page_s: self.assumed_page_s,
        }
    }
}
