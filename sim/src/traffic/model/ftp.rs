//! File transfers: one after the other with pauses, at fixed times, or without end; either way.
//!
//! Defaults are Noureddine & Tobagi's (section II): sizes Pareto of shape 1.2 and mean 200 kB, pauses
//! exponential of mean 2 s. With `period_s` a file begins every period, even if the previous one is
//! unfinished, as Guo & Matta's foreground flows do, or not then, with `skip`.

use super::cdf::Cdf;
use super::check::{self, FlowDirection};
use crate::error::{Error, Result};
use crate::rng::{Purpose, Stream, mix};
use crate::traffic::connection::HEADER_BYTES;
use crate::units::Dur;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ftp {
    /// Users, each between separate hosts.
    pub users: u32,
    /// Which way the files go; the source's `payload`.
    #[serde(skip)]
    pub direction: FlowDirection,
    /// Mean size, bytes, before the cap.
    pub mean_bytes: f64,
    /// Shape of the Pareto distribution of sizes; 0 makes every file as large as the mean.
    pub shape: f64,
    /// Larger files are cut to this, bytes.
    pub cap_bytes: u64,
    /// A file of sizes and cumulative shares that replaces the distribution.
    pub sizes: String,
    /// Bytes in a unit of that file's sizes.
    pub sizes_unit_bytes: f64,
    /// Mean pause from the end of a file to the next, exponential, s.
    pub off_s: f64,
    /// Interval at which files begin, s, even if the previous one is unfinished; 0 is off.
    pub period_s: f64,
    /// With a period: a file that would begin while the previous one is unfinished is left out.
    pub skip: bool,
    /// One file without end; it is not a transfer but a flow whose goodput is noted.
    pub endless: bool,
    /// Users begin evenly at random within this time, s.
    pub start_spread_s: f64,
    /// Number of the first user's client and server host.
    pub first_host: u32,
    #[serde(skip)]
    table: Option<Arc<Cdf>>,
}

impl Default for Ftp {
    /// Returns the defaults: ten users who download one file after the other.
    fn default() -> Self {
        Ftp {
            users: 10,
            direction: FlowDirection::Down,
            mean_bytes: 200_000.0,
            shape: 1.2,
            cap_bytes: 1_000_000_000,
            sizes: String::new(),
            sizes_unit_bytes: 1.0,
            off_s: 2.0,
            period_s: 0.0,
            skip: false,
            endless: false,
            start_spread_s: 2.0,
            first_host: 0,
            table: None,
        }
    }
}

impl Ftp {
    /// Checks every parameter and reads the file of sizes, if one is named.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter; [`Error::Row`] or [`Error::File`] of the file of sizes.
    pub fn validate(mut self) -> Result<Ftp> {
        check::check_ranges(&[
            ("users", f64::from(self.users), 1.0..=100_000.0),
            ("mean_bytes", self.mean_bytes, 1.0..=1e12),
            ("cap_bytes", self.cap_bytes as f64, 1.0..=1e12),
            ("sizes_unit_bytes", self.sizes_unit_bytes, 1e-3..=1e6),
            ("off_s", self.off_s, 0.0..=1e6),
            ("period_s", self.period_s, 0.0..=1e6),
            ("start_spread_s", self.start_spread_s, 0.0..=1e6),
            ("first_host", f64::from(self.first_host), 0.0..=1e6),
        ])?;
        if self.shape != 0.0 && !(1.001..=100.0).contains(&self.shape) {
            let allowed = "from 1.001 to 100, or 0 for files of one size";
            return Err(Error::field("shape", self.shape, allowed));
        }
        if self.skip && self.period_s == 0.0 {
            return Err(Error::field("skip", true, "false without period_s"));
        }
        if !self.sizes.is_empty() {
            self.table = Some(Arc::new(Cdf::read(&self.sizes, self.sizes_unit_bytes)?));
        }
        Ok(self)
    }

    /// Returns the number of flows of all users.
    pub fn flow_count(&self) -> u32 {
        self.users * self.direction.flows_per_user()
    }

    /// Returns the host at both ends of a flow, and whether it is an upload.
    pub fn host_of_flow(&self, flow: u32) -> (u32, bool) {
        let (user, upload) = self.direction.user_of_flow(flow);
        (self.first_host + user, upload)
    }

    /// Returns the load on a link of `rate_bps` in one direction if it does not depend on the network: with
    /// `period_s`, and without `skip` and `endless`. `None` otherwise. Headers count in proportion to the payload, for
    /// segments of `mss` bytes.
    pub fn offered_load(&self, rate_bps: f64, mss: u32) -> Option<f64> {
        let wire = self.mean_bytes() * (1.0 + HEADER_BYTES as f64 / f64::from(mss.max(1)));
        let per_s = f64::from(self.users) / self.period_s;
        (self.period_s > 0.0 && !self.skip && !self.endless).then(|| wire * 8.0 * per_s / rate_bps)
    }

    /// Returns the mean size after the cap, bytes: for a Pareto distribution from m on, the integral of the
    /// survival function up to the cap; of a file of sizes its mean. Call it after [`Ftp::validate`], which reads the
    /// file.
    pub fn mean_bytes(&self) -> f64 {
        if let Some(table) = &self.table {
            return table.mean();
        }
        let cap = self.cap_bytes as f64;
        if self.shape == 0.0 {
            return self.mean_bytes.min(cap);
        }
        let least = self.least_bytes();
        if cap <= least {
            return cap;
        }
        least + least / (self.shape - 1.0) * (1.0 - libm::pow(least / cap, self.shape - 1.0))
    }

    /// Returns the smallest size of the Pareto distribution, bytes.
    fn least_bytes(&self) -> f64 {
        self.mean_bytes * (self.shape - 1.0) / self.shape
    }

    /// Returns the draws of a run under `seed`; call it after [`Ftp::validate`].
    pub fn draws(&self, seed: u64) -> FtpDraws {
        FtpDraws { model: self.clone(), seed }
    }
}

/// All draws of one run, by flow and number of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct FtpDraws {
    model: Ftp,
    seed: u64,
}

impl FtpDraws {
    /// Returns the parameters of the model.
    pub fn model(&self) -> &Ftp {
        &self.model
    }

    /// Returns the time at which a flow begins, from 0 to below `start_spread_s`.
    pub fn start(&self, flow: u32) -> Dur {
        let draw = Stream::new(self.seed, Purpose::Arrival, u64::from(flow)).uniform();
        Dur::from_secs(draw * self.model.start_spread_s)
    }

    /// Returns the payload bytes of file `number` of a flow, at least 1; the same under every scheme.
    pub fn bytes(&self, flow: u32, number: u32) -> u64 {
        let uniform = self.stream(Purpose::Size, flow, number).uniform();
        let model = &self.model;
        if let Some(table) = &model.table {
            return table.quantile(uniform);
        }
        let drawn = match model.shape {
            0.0 => model.mean_bytes,
            shape => model.least_bytes() * libm::pow(1.0 - uniform, -1.0 / shape),
        };
        (drawn.min(model.cap_bytes as f64).round() as u64).max(1)
    }

    /// Returns the pause before file `number` of a flow, exponential with mean `off_s`.
    pub fn pause(&self, flow: u32, number: u32) -> Dur {
        Dur::from_secs(self.stream(Purpose::Idle, flow, number).exponential(self.model.off_s))
    }

    /// Returns the random stream of a file for a purpose.
    fn stream(&self, purpose: Purpose, flow: u32, number: u32) -> Stream {
        Stream::new(self.seed, purpose, mix(u64::from(flow) << 32 | u64::from(number)))
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the sizes of `count` files of ten flows.
    fn draw_sizes(model: Ftp, count: u32) -> Vec<f64> {
        let draws = model.validate().unwrap_or_else(|error| panic!("{error}")).draws(7);
        (0..count).map(|number| draws.bytes(number % 10, number) as f64).collect()
    }

    #[test]
    fn bytes__pareto_of_the_paper() {
        let sizes = draw_sizes(Ftp { cap_bytes: 10_000_000, ..Ftp::default() }, 300_000);
        let least: f64 = 200_000.0 * 0.2 / 1.2;
        assert!(sizes.iter().all(|&size| size >= least.floor() && size <= 1e7));
        let above = |bytes: f64| sizes.iter().filter(|&&size| size > bytes).count() as f64 / 3e5;
        for bytes in [50_000.0, 100_000.0, 1_000_000.0] {
            let expected = libm::pow(least / bytes, 1.2);
            assert!((above(bytes) / expected - 1.0).abs() < 0.03, "{bytes}: {} for {expected}", above(bytes));
        }
        let mean = sizes.iter().sum::<f64>() / 3e5;
        let expected = Ftp { cap_bytes: 10_000_000, ..Ftp::default() }.mean_bytes();
        assert!((mean / expected - 1.0).abs() < 0.03, "{mean} for {expected}");
    }

    #[test]
    fn bytes__of_one_size_and_pauses() {
        let model = Ftp { shape: 0.0, mean_bytes: 50_000.0, ..Ftp::default() };
        assert!(draw_sizes(model.clone(), 100).iter().all(|&size| size == 50_000.0));
        let draws = model.draws(7);
        let mean = (0..100_000).map(|number| draws.pause(number % 7, number).as_secs()).sum::<f64>() / 1e5;
        assert!((mean / 2.0 - 1.0).abs() < 0.015, "{mean}");
    }

    #[test]
    fn host_of_flow__both_ways_have_a_flow_each() {
        let both = Ftp { users: 2, direction: FlowDirection::Both, first_host: 5, ..Ftp::default() };
        let hosts: Vec<_> = (0..both.flow_count()).map(|flow| both.host_of_flow(flow)).collect();
        assert_eq!(hosts, [(5, false), (5, true), (6, false), (6, true)]);
    }
}
