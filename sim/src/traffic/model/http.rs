//! Browsers of Noureddine and Tobagi's experiments (section II-B): HTTP/1.0 with parallel connections, and
//! HTTP/1.1 with one persistent, pipelined connection.
//!
//! A user requests the index of a page and, when it is complete, everything else: over up to four connections
//! at once, a new one for each object, or all together over the connection of the index, which is closed
//! after the page. Then the user thinks. The paper takes sizes and numbers of objects from elsewhere without
//! giving them; the defaults are those that come within a fifth of its loads. Sizes are whole bytes. We
//! assume that the persistent connection, too, waits for the index before it requests the rest. The paper
//! says only that all requests are assumed to arrive together.

use super::check;
use super::law::{Count, Law, Sizes};
use super::users::{Fetch, Think, Users};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// Users; a load replaces it.
    pub users: u32,
    /// Connections at once behind the index; 0: one persistent, pipelined connection for the page.
    pub parallel: u32,
    /// Mean time from the end of a page to the next, s, uniform from 0 to twice this.
    pub think_mean_s: f64,
    /// Mean of the Pareto distribution of the number of objects, index included, before it is rounded up.
    pub objects_per_page: f64,
    /// Its shape.
    pub objects_shape: f64,
    /// Fewest objects.
    pub objects_min: u32,
    /// Most objects.
    pub objects_max: u32,
    /// Size of the index, bytes; 0 draws it like the others.
    pub index_bytes: u64,
    /// Mean of the Pareto II distribution of sizes, bytes, before the clamps.
    pub object_mean_bytes: f64,
    /// Its shape.
    pub shape: f64,
    /// Smaller objects are enlarged to this, bytes.
    pub min_bytes: u64,
    /// Larger objects are cut to this, bytes.
    pub cap_bytes: u64,
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

impl Http {
    /// Returns the defaults with HTTP/1.0: four connections at once.
    pub fn http10() -> Http {
        Http {
            users: 200,
            parallel: 4,
            think_mean_s: 2.5,
            objects_per_page: 4.0,
            objects_shape: 1.5,
            objects_min: 1,
            objects_max: 100,
            index_bytes: 0,
            object_mean_bytes: 12_000.0,
            shape: 1.2,
            min_bytes: 1,
            cap_bytes: 20_000_000,
            clients: 200,
            first_host: 0,
            host_step: 1,
            servers: 200,
            assumed_page_s: 2.2,
        }
    }

    /// Returns the defaults with HTTP/1.1: one pipelined connection per page.
    pub fn http11() -> Http {
        Http { parallel: 0, ..Http::http10() }
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("users", f64::from(self.users), 1.0..=1e7),
            ("parallel", f64::from(self.parallel), 0.0..=1000.0),
            ("think_mean_s", self.think_mean_s, 0.0..=1e9),
            ("objects_per_page", self.objects_per_page, 0.1..=1000.0),
            ("objects_shape", self.objects_shape, 1.001..=100.0),
            ("objects_min", f64::from(self.objects_min), 1.0..=4095.0),
            ("objects_max", f64::from(self.objects_max), 1.0..=4095.0),
            ("index_bytes", self.index_bytes as f64, 0.0..=2e9),
            ("object_mean_bytes", self.object_mean_bytes, 1.0..=1e12),
            ("shape", self.shape, 1.001..=100.0),
            ("min_bytes", self.min_bytes as f64, 1.0..=2e9),
            ("cap_bytes", self.cap_bytes as f64, 1.0..=2e9),
            ("clients", f64::from(self.clients), 1.0..=1e6),
            ("first_host", f64::from(self.first_host), 0.0..=1e6),
            ("host_step", f64::from(self.host_step), 1.0..=1e3),
            ("servers", f64::from(self.servers), 1.0..=1e6),
            ("assumed_page_s", self.assumed_page_s, 0.001..=1e6),
        ])?;
        let [fewest, most] = [self.objects_min, self.objects_max].map(f64::from);
        check::check_order(("objects_min", fewest), ("objects_max", most))?;
        check::check_order(("min_bytes", self.min_bytes as f64), ("cap_bytes", self.cap_bytes as f64))
    }

    /// Returns the model as a process of users.
    pub fn process(&self) -> Users {
        let law = Law::Lomax { mean: self.object_mean_bytes, shape: self.shape };
        Users {
            users: self.users,
            fetch: if self.parallel == 0 { Fetch::Pipelined } else { Fetch::IndexFirst(self.parallel) },
            think: Think::Uniform(self.think_mean_s),
            objects: Count::Pareto {
                mean: self.objects_per_page,
                shape: self.objects_shape,
                least: self.objects_min,
                most: self.objects_max,
            },
            gap_s: 0.0,
            sizes: Sizes { law, least: self.min_bytes, cap: self.cap_bytes, unit: 1 },
            index_bytes: self.index_bytes,
            clients: self.clients,
            first_host: self.first_host,
            host_step: self.host_step,
            servers: self.servers,
            assumed_page_s: self.assumed_page_s,
        }
    }
}
