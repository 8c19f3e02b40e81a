//! SHRED's web generator (Hartling, Claypool & Kinicki, WPI 2002, section 4.1).
//!
//! It is an open loop. All objects of page i are requested at once, each on a separate connection, without an
//! index first. The next page follows after 8·(bytes of page i) ÷ load. The load is therefore constant; it
//! counts object bytes, without headers. Sizes are whole bytes of a Pareto II, clamped. The paper's pages
//! have 1, 1 to 8, 1 to 16 or 1 to 32 objects.

use super::check;
use super::law::{Count, Law, Sizes};
use super::planned::Planned;
use crate::error::Result;
use crate::rng::{Purpose, Stream, mix};
use crate::traffic::connection::PageOf;
use crate::units::{Dur, Rate};
use serde::{Deserialize, Serialize};

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shred {
    /// Object bits per second; a load replaces it by load × rate of the link.
    pub load_bps: f64,
    /// Fewest objects of a page.
    pub objects_min: u32,
    /// Most objects of a page; all numbers in between are equally likely.
    pub objects_max: u32,
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
    /// Server hosts.
    pub servers: u32,
}

impl Default for Shred {
    /// Returns one object per page, 95 % of the paper's 10 Mb/s.
    fn default() -> Self {
        Shred {
            load_bps: 9_500_000.0,
            objects_min: 1,
            objects_max: 1,
            object_mean_bytes: 10_000.0,
            shape: 1.2,
            min_bytes: 12,
            cap_bytes: 2_000_000,
            clients: 100,
            servers: 20,
        }
    }
}

impl Shred {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("load_bps", self.load_bps, 1.0..=1e12),
            ("objects_min", f64::from(self.objects_min), 1.0..=4095.0),
            ("objects_max", f64::from(self.objects_max), 1.0..=4095.0),
            ("object_mean_bytes", self.object_mean_bytes, 1.0..=1e12),
            ("shape", self.shape, 1.001..=100.0),
            ("min_bytes", self.min_bytes as f64, 1.0..=2e9),
            ("cap_bytes", self.cap_bytes as f64, 1.0..=2e9),
            ("clients", f64::from(self.clients), 1.0..=1e6),
            ("servers", f64::from(self.servers), 1.0..=1e6),
        ])?;
        let [fewest, most] = [self.objects_min, self.objects_max].map(f64::from);
        check::check_order(("objects_min", fewest), ("objects_max", most))?;
        check::check_order(("min_bytes", self.min_bytes as f64), ("cap_bytes", self.cap_bytes as f64))
    }

    /// Returns the model whose object bytes load a link of `rate` by `load`, a fraction; headers come in addition.
    pub fn with_load(self, load: f64, rate: Rate) -> Shred {
        Shred { load_bps: load * rate.0 as f64, ..self }
    }

    /// Returns the load on `rate` in wire bytes, as other models count it.
    pub fn offered_load(&self, rate: Rate, mss: u32) -> f64 {
        self.load_bps / rate.0 as f64 * self.sizes().mean_wire(mss) / self.sizes().mean()
    }

    /// Returns the distribution of object sizes.
    pub fn sizes(&self) -> Sizes {
        let law = Law::Lomax { mean: self.object_mean_bytes, shape: self.shape };
        Sizes { law, least: self.min_bytes, cap: self.cap_bytes, unit: 1 }
    }

    /// Returns the draws of one replication.
    pub fn draws(&self, seed: u64, replication: u32) -> ShredDraws {
        ShredDraws { model: self.clone(), seed: mix(seed ^ mix(u64::from(replication))) }
    }
}

/// All draws of one replication, by number of the page.
#[derive(Debug, Clone, PartialEq)]
pub struct ShredDraws {
    model: Shred,
    seed: u64,
}

impl ShredDraws {
    /// Draws the sizes of the objects of page `number`, bytes; equal numbers give equal sizes.
    pub fn sizes(&self, number: u64) -> Vec<u64> {
        let count = Count::Uniform(self.model.objects_min, self.model.objects_max);
        let sizes = self.model.sizes();
        let object =
            |object| sizes.draw(Stream::new(self.seed, Purpose::Size, mix(number) ^ u64::from(object)));
        (0..count.draw(Stream::new(self.seed, Purpose::Count, number))).map(object).collect()
    }

    /// Adds the connections of page `number`, one for each object, to `planned` and returns the time to the next page:
    /// that in which `load_bps` carries the page's objects.
    pub fn add_page(&self, number: u64, planned: &mut Vec<Planned>) -> Dur {
        let mut hosts = Stream::new(self.seed, Purpose::Host, number);
        let client = hosts.below(u64::from(self.model.clients)) as u32;
        let server = hosts.below(u64::from(self.model.servers)) as u32;
        let sizes = self.sizes(number);
        let page = PageOf::new(number + 1, sizes.len() as u64);
        let bytes: u64 = sizes.iter().sum();
        planned.extend(
            sizes.iter().zip(0u64..).map(|(&bytes, object)| {
                Planned::from_write(number << 12 | object, client, server, bytes, page)
            }),
        );
        Dur::from_secs(8.0 * bytes as f64 / self.model.load_bps)
    }
}
