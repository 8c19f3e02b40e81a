//! PackMime-HTTP (Cao, Cleveland, Gao, Jeffay, Smith & Weigle, "Stochastic Models for Generating Synthetic HTTP
//! Source Traffic", INFOCOM 2004) with HTTP/1.0, as LFP uses it: one response per connection.
//!
//! With R new connections per second and L = log2 R, and logit⁻¹(x) = 2^x ÷ (1 + 2^x):
//! - inter-arrival times of connections are Weibull of shape logit⁻¹(0.352 + 0.388 L) and mean 1/R; through a Gaussian
//!   they are dependent over long ranges: a share v = logit⁻¹(0.333 + 0.414 L) of its variance is white noise,
//!   the rest fractional noise with d = 0.33, each value added to the one before it;
//! - responses come in runs that alternate between downloads and cache validations; a run's length is a Weibull
//!   rounded up, of shapes logit⁻¹(1.293 + 0.316 L) and logit⁻¹(0.718 + 0.357 L);
//! - sizes of downloads follow a curve of log2(bytes) over log2(1 − U), straight between the points of
//!   [`DOWNLOADS`]; those of validations lie below 272 B with median 141 and mean 153, here straight between
//!   three points that have these;
//! - the server answers after 1 ÷ Weibull(0.63, 305) s, at most 0.1 s.
//!
//! Sizes of requests are not modelled: a request is one packet, `tcp.request_bytes` long.

mod noise;

pub use noise::Noise;

use super::check;
use super::planned::Planned;
use crate::error::Result;
use crate::rng::{Purpose, Stream, mix};
use crate::traffic::connection::{HEADER_BYTES, PageOf};
use crate::units::{Dur, Rate};
use serde::{Deserialize, Serialize};

/// (log2(1 − U), log2(bytes)) of downloads. The last segment is the Pareto tail, which ns-2 does not cut where the
/// published table ends, at 2^25.9 B: of 8.8 million of its responses 15 are larger, up to 369 MB, and the exponent of
/// its tail is 1.227 ± 0.008.
pub const DOWNLOADS: [(f64, f64); 14] = [
    (0.0, 8.108),
    (-0.002, 8.108),
    (-0.553, 9.861),
    (-1.104, 11.413),
    (-1.654, 12.601),
    (-2.205, 13.344),
    (-2.756, 13.778),
    (-3.307, 14.293),
    (-3.858, 14.868),
    (-4.409, 15.160),
    (-4.959, 15.300),
    (-5.694, 15.739),
    (-6.061, 16.033),
    (-6.061 - (31.0 - 16.033) / 0.8123, 31.0),
];

/// (U, bytes) of cache validations.
pub const VALIDATIONS: [(f64, f64); 3] = [(0.0, 58.0), (0.5, 141.0), (1.0, 272.0)];

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackMime {
    /// R, new connections per second; a load replaces it.
    pub connections_per_s: f64,
    /// Shape of the Weibull gaps between connections; 0: computed from R.
    pub gap_shape: f64,
    /// d of the fractional noise behind the gaps; 0: independent gaps.
    pub dependence: f64,
    /// Share of white noise in it; negative: computed from R.
    pub white_share: f64,
    /// Scale of the Weibull for the length of a run of downloads.
    pub download_run_scale: f64,
    /// Its shape; 0: computed from R.
    pub download_run_shape: f64,
    /// Scale of the Weibull for the length of a run of cache validations.
    pub validation_run_scale: f64,
    /// Its shape; 0: computed from R.
    pub validation_run_shape: f64,
    /// Larger responses are cut to this, bytes.
    pub cap_bytes: u64,
    /// Scale of the Weibull whose inverse is the server's delay, 1/s.
    pub delay_scale: f64,
    /// Its shape.
    pub delay_shape: f64,
    /// Longest delay, s; 0: none at all.
    pub delay_cap_s: f64,
    /// Client hosts.
    pub clients: u32,
    /// Server hosts.
    pub servers: u32,
}

impl Default for PackMime {
    /// Returns the parameters with R = 10, LFP's medium load.
    fn default() -> Self {
        PackMime {
            connections_per_s: 10.0,
            gap_shape: 0.0,
            dependence: 0.33,
            white_share: -1.0,
            download_run_scale: 3.11,
            download_run_shape: 0.0,
            validation_run_scale: 0.775,
            validation_run_shape: 0.0,
            cap_bytes: 2_000_000_000,
            delay_scale: 305.0,
            delay_shape: 0.63,
            delay_cap_s: 0.1,
            clients: 100,
            servers: 20,
        }
    }
}

/// Returns logit⁻¹(x) = 2^x ÷ (1 + 2^x).
fn inverse_logit(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp2(-x))
}

impl PackMime {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("connections_per_s", self.connections_per_s, 1e-6..=1e6),
            ("gap_shape", self.gap_shape, 0.0..=100.0),
            ("dependence", self.dependence, 0.0..=0.49),
            ("white_share", self.white_share, -1.0..=1.0),
            ("download_run_scale", self.download_run_scale, 0.01..=1e4),
            ("download_run_shape", self.download_run_shape, 0.0..=100.0),
            ("validation_run_scale", self.validation_run_scale, 0.01..=1e4),
            ("validation_run_shape", self.validation_run_shape, 0.0..=100.0),
            ("cap_bytes", self.cap_bytes as f64, 1.0..=2e9),
            ("delay_scale", self.delay_scale, 1e-3..=1e9),
            ("delay_shape", self.delay_shape, 0.1..=100.0),
            ("delay_cap_s", self.delay_cap_s, 0.0..=60.0),
            ("clients", f64::from(self.clients), 1.0..=1e6),
            ("servers", f64::from(self.servers), 1.0..=1e6),
        ])
    }

    /// Returns L, the binary logarithm of R.
    fn log_rate(&self) -> f64 {
        libm::log2(self.connections_per_s)
    }

    /// Returns the shape of the Weibull distribution of inter-arrival times, by the rate unless it is given.
    pub fn gap_shape(&self) -> f64 {
        value_or(self.gap_shape, inverse_logit(0.352 + 0.388 * self.log_rate()))
    }

    /// Returns the share of white noise in the Gaussian behind the gaps, by the rate unless it is given.
    pub fn white_share(&self) -> f64 {
        match self.white_share {
            share if share >= 0.0 => share,
            _ => inverse_logit(0.333 + 0.414 * self.log_rate()),
        }
    }

    /// Returns (scale, shape) of the Weibull distribution of the length of a run of downloads or of cache
    /// validations.
    fn run_distribution(&self, is_download: bool) -> (f64, f64) {
        let by_rate = |from, slope| inverse_logit(from + slope * self.log_rate());
        match is_download {
            true => (self.download_run_scale, value_or(self.download_run_shape, by_rate(1.293, 0.316))),
            false => (self.validation_run_scale, value_or(self.validation_run_shape, by_rate(0.718, 0.357))),
        }
    }

    /// Returns the expected length of a run: a Weibull variable rounded up.
    pub fn mean_run(&self, is_download: bool) -> f64 {
        let (scale, shape) = self.run_distribution(is_download);
        let exceeds = |n: u32| libm::exp(-libm::pow(f64::from(n) / scale, shape));
        (0..100_000).map(exceeds).take_while(|share| *share > 1e-12).sum()
    }

    /// Returns the share of responses that are cache validations.
    pub fn validation_share(&self) -> f64 {
        let [downloads, validations] = [true, false].map(|is_download| self.mean_run(is_download));
        validations / (downloads + validations)
    }

    /// Returns the expected size of a download, bytes, before it is cut to whole bytes. Between two points of
    /// the curve with slope m, ∫ 2^y(x) d(1 − 2^x) = (2^(y+x) at the start − 2^(y+x) at the end) ÷ (1 + m).
    pub fn mean_download(&self) -> f64 {
        let cap = libm::log2(self.cap_bytes as f64);
        let mut mean = 0.0;
        for pair in DOWNLOADS.windows(2) {
            let [(from_x, from_y), (to_x, to_y)] = [pair[0], pair[1]];
            let slope = (to_y - from_y) / (to_x - from_x);
            let (x, y) = if to_y > cap { (from_x + (cap - from_y) / slope, cap) } else { (to_x, to_y) };
            mean += (libm::exp2(from_y + from_x) - libm::exp2(y + x)) / (1.0 + slope);
            if to_y > cap || to_x == DOWNLOADS[DOWNLOADS.len() - 1].0 {
                return mean + libm::exp2(y + x);
            }
        }
        mean
    }

    /// Returns the expected size of a response, bytes.
    pub fn mean_bytes(&self) -> f64 {
        let share = self.validation_share();
        share * 153.0 + (1.0 - share) * self.mean_download()
    }

    /// Returns P(download > bytes), the survival function of downloads, with the cap.
    pub fn download_survival(&self, bytes: f64) -> f64 {
        let y = libm::log2(bytes);
        if bytes >= self.cap_bytes as f64 || y >= DOWNLOADS[DOWNLOADS.len() - 1].1 {
            return 0.0;
        }
        let above = DOWNLOADS.windows(2).find(|pair| pair[0].1 <= y && y < pair[1].1);
        above.map_or(1.0, |pair| {
            let [(from_x, from_y), (to_x, to_y)] = [pair[0], pair[1]];
            libm::exp2(from_x + (y - from_y) * (to_x - from_x) / (to_y - from_y))
        })
    }

    /// Returns the expected wire bytes of a connection: payload, 40 B for each segment and for the SYN-ACK.
    pub fn mean_wire(&self, mss: u32) -> f64 {
        let more = self.mean_further_segments(f64::from(mss.max(1)));
        self.mean_bytes() + HEADER_BYTES as f64 * (2.0 + (1.0 - self.validation_share()) * more)
    }

    /// Returns the expected number of segments of a download beyond the first: the sum of P(download > n ·
    /// mss) over n ≥ 1. Far out in the tail, where P falls as a power, an integral replaces the sum (midpoint
    /// rule, exact to 1e-9).
    fn mean_further_segments(&self, mss: f64) -> f64 {
        let [.., (tail_x, tail_y), (last_x, last_y)] = DOWNLOADS;
        let exponent = (tail_x - last_x) / (last_y - tail_y);
        let all = (self.cap_bytes as f64 / mss).ceil();
        let singly = all.min((libm::exp2(tail_y) / mss).ceil() + 10_000.0);
        let points = (1u64..).map(|n| n as f64).take_while(|n| *n < singly);
        let sum: f64 = points.map(|n| self.download_survival(n * mss)).sum();
        let above = |n: f64| n * libm::exp2(tail_x - exponent * (libm::log2(n * mss) - tail_y));
        let rest = (above(singly - 0.5) - above(all - 0.5)) / (exponent - 1.0);
        sum + if singly < all { rest } else { 0.0 }
    }

    /// Returns the load on `rate` that the parameters offer.
    pub fn offered_load(&self, rate: Rate, mss: u32) -> f64 {
        self.connections_per_s * self.mean_wire(mss) * 8.0 / rate.0 as f64
    }

    /// Returns the model with the rate R that loads a link of `rate` by `load`. The mix of responses depends
    /// a little on R, so it iterates 20 times.
    pub fn with_load(self, load: f64, rate: Rate, mss: u32) -> PackMime {
        let mut model = self;
        for _ in 0..20 {
            let missing = load / model.offered_load(rate, mss);
            model.connections_per_s *= missing;
        }
        model
    }

    /// Returns the draws of one replication.
    pub fn draws(&self, seed: u64, replication: u32) -> PackMimeDraws {
        let seed = mix(seed ^ mix(u64::from(replication)));
        let noise = Noise::new(self.dependence, self.white_share(), seed);
        PackMimeDraws { model: self.clone(), seed, noise, run: 0, left: 0 }
    }
}

/// Returns `given` if it is above 0, else `otherwise`.
fn value_or(given: f64, otherwise: f64) -> f64 {
    if given > 0.0 { given } else { otherwise }
}

/// The draws of one replication, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct PackMimeDraws {
    model: PackMime,
    seed: u64,
    noise: Noise,
    /// Number of runs so far; odd runs are downloads, so the first one is.
    run: u64,
    /// Responses left in the present run.
    left: u64,
}

impl PackMimeDraws {
    /// Adds connection `number` to `planned` and returns the time to the next. Callers must request
    /// connections once each and in order, since runs of responses and blocks of noise advance.
    pub fn add_connection(&mut self, number: u64, planned: &mut Vec<Planned>) -> Dur {
        let mut hosts = self.stream(Purpose::Host, number);
        let client = hosts.below(u64::from(self.model.clients)) as u32;
        let server = hosts.below(u64::from(self.model.servers)) as u32;
        let bytes = self.draw_response(number);
        let server_think = Some(self.draw_delay(number));
        planned.push(Planned {
            server_think,
            ..Planned::from_write(number, client, server, bytes, PageOf::default())
        });
        self.draw_gap(number)
    }

    /// Draws the size of the next response, bytes, from 1 to the cap. Counts it in its run, and begins a run if the
    /// last one is complete.
    fn draw_response(&mut self, number: u64) -> u64 {
        if self.left == 0 {
            self.run += 1;
            let (scale, shape) = self.model.run_distribution(self.is_download());
            let length =
                weibull_quantile(self.stream(Purpose::Count, self.run).uniform(), scale, shape).ceil();
            self.left = (length as u64).max(1);
        }
        self.left -= 1;
        let mut stream = self.stream(Purpose::Size, number);
        let bytes = if self.is_download() {
            download_quantile(stream.uniform())
        } else {
            validation_quantile(stream.uniform())
        };
        (bytes as u64).clamp(1, self.model.cap_bytes)
    }

    /// Returns whether the present run is one of downloads.
    fn is_download(&self) -> bool {
        self.run % 2 == 1
    }

    /// Draws the server's delay: the reciprocal of a Weibull value, capped.
    fn draw_delay(&self, number: u64) -> Dur {
        let drawn = weibull_quantile(
            self.stream(Purpose::Idle, number).uniform(),
            self.model.delay_scale,
            self.model.delay_shape,
        );
        Dur::from_secs((1.0 / drawn.max(1e-9)).min(self.model.delay_cap_s))
    }

    /// Draws the inter-arrival time to the next connection: Weibull, with long-range dependence from the
    /// noise, which may draw a new block.
    fn draw_gap(&mut self, number: u64) -> Dur {
        let shape = self.model.gap_shape();
        let scale = 1.0 / (self.model.connections_per_s * libm::tgamma(1.0 + 1.0 / shape));
        Dur::from_secs(weibull_quantile(self.noise.uniform(number), scale, shape))
    }

    /// Returns the random stream of an entity for a purpose.
    fn stream(&self, purpose: Purpose, entity: u64) -> Stream {
        Stream::new(self.seed, purpose, entity)
    }
}

/// Returns the quantile of a Weibull distribution at `u` in [0, 1).
fn weibull_quantile(u: f64, scale: f64, shape: f64) -> f64 {
    scale * libm::pow(-libm::log1p(-u), 1.0 / shape)
}

/// Returns the quantile of download sizes, bytes, at `u` in [0, 1): a piecewise linear curve through
/// [`DOWNLOADS`].
fn download_quantile(u: f64) -> f64 {
    let x = libm::log2(1.0 - u);
    let between = DOWNLOADS.windows(2).find(|pair| x > pair[1].0);
    let last = DOWNLOADS[DOWNLOADS.len() - 1].1;
    libm::exp2(between.map_or(last, |pair| {
        let [(from_x, from_y), (to_x, to_y)] = [pair[0], pair[1]];
        from_y + (x - from_x) * (to_y - from_y) / (to_x - from_x)
    }))
}

/// Returns the quantile of the sizes of cache validations, bytes, at `u` in [0, 1]: a piecewise linear curve
/// through [`VALIDATIONS`].
fn validation_quantile(u: f64) -> f64 {
    let pair = if u < 0.5 { [VALIDATIONS[0], VALIDATIONS[1]] } else { [VALIDATIONS[1], VALIDATIONS[2]] };
    pair[0].1 + (u - pair[0].0) / (pair[1].0 - pair[0].0) * (pair[1].1 - pair[0].1)
}

#[cfg(test)]
mod tests;
