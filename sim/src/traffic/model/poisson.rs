//! Open-loop transfers: Poisson arrivals (exponential inter-arrival times) of Pareto II sizes, or of the
//! sizes of a file, each on a separate connection.
//!
//! Every draw is a function of (seed, replication, number of the transfer).

use super::cdf::Cdf;
use super::check;
use super::pareto::sum_survival;
use crate::error::Result;
use crate::rng::{Purpose, Stream, mix};
use crate::traffic::connection::HEADER_BYTES;
use crate::units::{Dur, Rate};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Poisson {
    /// Mean arrivals per second; a load replaces it.
    pub transfers_per_s: f64,
    /// Mean of the Pareto II distribution of sizes, bytes, before the cap.
    pub object_mean_bytes: f64,
    /// Its shape.
    pub shape: f64,
    /// Larger transfers are cut to this, bytes.
    pub cap_bytes: u64,
    /// A file of sizes and cumulative shares in place of the distribution and its cap.
    pub sizes: String,
    /// Bytes in a unit of that file's sizes.
    pub sizes_unit_bytes: f64,
    /// The client sends; the source's `payload`.
    #[serde(skip)]
    pub upload: bool,
    /// Client hosts.
    pub clients: u32,
    /// Server hosts.
    pub servers: u32,
    #[serde(skip)]
    table: Option<Arc<Cdf>>,
}

impl Default for Poisson {
    /// Returns the defaults: sizes as in SFD Table 2, capped at 20 MB; ten transfers a second.
    fn default() -> Self {
        Poisson {
            transfers_per_s: 10.0,
            object_mean_bytes: 12_000.0,
            shape: 1.2,
            cap_bytes: 20_000_000,
            sizes: String::new(),
            sizes_unit_bytes: 1.0,
            upload: false,
            clients: 100,
            servers: 20,
            table: None,
        }
    }
}

impl Poisson {
    /// Returns the defaults with the sizes of a file, which [`Poisson::validate`] reads.
    pub fn from_sizes(file: &str) -> Poisson {
        Poisson { sizes: file.to_string(), ..Poisson::default() }
    }

    /// Checks every parameter and reads the file of sizes, if one is named.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter; those of [`Cdf::read`].
    pub fn validate(mut self) -> Result<Poisson> {
        check::check_ranges(&[
            ("transfers_per_s", self.transfers_per_s, 1e-6..=1e6),
            ("object_mean_bytes", self.object_mean_bytes, 1.0..=1e12),
            ("shape", self.shape, 1.001..=100.0),
            ("cap_bytes", self.cap_bytes as f64, 1.0..=1e12),
            ("clients", f64::from(self.clients), 1.0..=1e6),
            ("sizes_unit_bytes", self.sizes_unit_bytes, 1e-3..=1e6),
            ("servers", f64::from(self.servers), 1.0..=1e6),
        ])?;
        if !self.sizes.is_empty() {
            self.table = Some(Arc::new(Cdf::read(&self.sizes, self.sizes_unit_bytes)?));
        }
        Ok(self)
    }

    /// Returns the model with the arrival rate that loads a link of `rate` by `load`, a fraction, with segments of
    /// `mss` payload bytes.
    pub fn with_load(self, load: f64, rate: Rate, mss: u32) -> Poisson {
        Poisson { transfers_per_s: load * rate.0 as f64 / 8.0 / self.mean_wire_bytes(mss), ..self }
    }

    /// Returns the load on `rate` that the parameters offer.
    pub fn offered_load(&self, rate: Rate, mss: u32) -> f64 {
        self.mean_wire_bytes(mss) * 8.0 * self.transfers_per_s / rate.0 as f64
    }

    /// Returns the expected wire bytes of a transfer: payload, 40 B per segment of `mss` payload bytes, 40 B for the
    /// SYN-ACK. Call it after [`Poisson::validate`] if sizes come from a file.
    pub fn mean_wire_bytes(&self, mss: u32) -> f64 {
        if let Some(table) = &self.table {
            return table.mean() + 0.5 + HEADER_BYTES as f64 * (table.mean_segments(mss) + 1.0);
        }
        let scale = self.object_mean_bytes * (self.shape - 1.0);
        let cap = self.cap_bytes as f64;
        let payload =
            scale / (self.shape - 1.0) * (1.0 - libm::pow(1.0 + cap / scale, 1.0 - self.shape)) + 0.5;
        let segments = sum_survival(scale, self.shape, f64::from(mss.max(1)), cap);
        payload + HEADER_BYTES as f64 * (segments + 1.0)
    }

    /// Returns the draws of one replication.
    pub fn draws(&self, seed: u64, replication: u32) -> PoissonDraws {
        PoissonDraws { model: self.clone(), seed: mix(seed ^ mix(u64::from(replication))) }
    }
}

/// All draws of one replication, by number of the transfer.
#[derive(Debug, Clone, PartialEq)]
pub struct PoissonDraws {
    model: Poisson,
    seed: u64,
}

impl PoissonDraws {
    /// Returns the inter-arrival time before transfer `number`, from the previous arrival or the start.
    pub fn gap(&self, number: u64) -> Dur {
        Dur::from_secs(self.stream(Purpose::Arrival, number).exponential(1.0 / self.model.transfers_per_s))
    }

    /// Returns the payload bytes of transfer `number`, at least 1.
    pub fn bytes(&self, number: u64) -> u64 {
        let mut stream = self.stream(Purpose::Size, number);
        if let Some(table) = &self.model.table {
            return table.quantile(stream.uniform());
        }
        let drawn = stream.lomax(self.model.object_mean_bytes, self.model.shape);
        (drawn.min(self.model.cap_bytes as f64).ceil() as u64).max(1)
    }

    /// Returns whether the client sends.
    pub fn is_upload(&self) -> bool {
        self.model.upload
    }

    /// Returns client and server of transfer `number`.
    pub fn hosts(&self, number: u64) -> (u32, u32) {
        let mut stream = self.stream(Purpose::Host, number);
        (
            stream.below(u64::from(self.model.clients)) as u32,
            stream.below(u64::from(self.model.servers)) as u32,
        )
    }

    /// Returns the random stream of a transfer for a purpose.
    fn stream(&self, purpose: Purpose, number: u64) -> Stream {
        Stream::new(self.seed, purpose, number)
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn mean_wire_bytes__agree_with_many_draws() {
        let model = Poisson { cap_bytes: 200_000, ..Poisson::default() };
        let draws = model.draws(3, 0);
        let count = 200_000u64;
        let wire = |number| {
            let bytes = draws.bytes(number);
            bytes + 40 * (bytes.div_ceil(1460) + 1)
        };
        let mean = (0..count).map(wire).sum::<u64>() as f64 / count as f64;
        let expected = model.mean_wire_bytes(1460);
        assert!((mean / expected - 1.0).abs() < 0.015, "drawn {mean}, expected {expected}");
    }

    #[test]
    fn with_load__is_what_is_offered() {
        let rate = Rate(10_000_000);
        let model = Poisson::default().with_load(0.7, rate, 1460);
        assert!((model.offered_load(rate, 1460) - 0.7).abs() < 1e-12);
    }
}
