//! Distributions of sizes and counts: their draws, and the closed forms from which loads are computed.

use crate::rng::Stream;
use crate::traffic::connection::HEADER_BYTES;
use serde::{Deserialize, Serialize};

/// A continuous distribution of sizes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Law {
    /// Pareto II (Lomax): P(X > x) = (1 + x/λ)^-shape with λ = mean·(shape − 1).
    Lomax {
        /// Mean before any clamp.
        mean: f64,
        /// Shape, above 1.
        shape: f64,
    },
    /// Pareto I cut to [low, high]: P(X > x) = (low^a·x^-a − (low/high)^a) / (1 − (low/high)^a).
    BoundedPareto {
        /// Least value.
        low: f64,
        /// Greatest value.
        high: f64,
        /// Shape a, not 1.
        shape: f64,
    },
}

impl Law {
    /// Draws a value from the distribution by inversion; advances `stream` by one draw.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match *self {
            Law::Lomax { mean, shape } => stream.lomax(mean, shape),
            Law::BoundedPareto { low, high, shape } => {
                let cut = libm::pow(low / high, shape);
                low * libm::pow(1.0 - stream.uniform() * (1.0 - cut), -1.0 / shape)
            }
        }
    }

    /// Returns P(X > x), the survival function.
    pub fn survival(&self, x: f64) -> f64 {
        match *self {
            Law::Lomax { mean, shape } => libm::pow(1.0 + x.max(0.0) / (mean * (shape - 1.0)), -shape),
            Law::BoundedPareto { low, .. } if x <= low => 1.0,
            Law::BoundedPareto { high, .. } if x >= high => 0.0,
            Law::BoundedPareto { low, high, shape } => {
                let cut = libm::pow(low / high, shape);
                (libm::pow(low / x, shape) - cut) / (1.0 - cut)
            }
        }
    }

    /// Returns the mean of min(X, x), which is the integral of P(X > t) from 0 to x, for x of at least 0.
    pub fn mean_below(&self, x: f64) -> f64 {
        match *self {
            Law::Lomax { mean, shape } => {
                let scale = mean * (shape - 1.0);
                mean * (1.0 - libm::pow(1.0 + x.max(0.0) / scale, 1.0 - shape))
            }
            Law::BoundedPareto { low, .. } if x <= low => x,
            Law::BoundedPareto { low, high, shape } => {
                let (x, cut) = (x.min(high), libm::pow(low / high, shape));
                let power = low * (libm::pow(x / low, 1.0 - shape) - 1.0) / (1.0 - shape);
                low + (power - cut * (x - low)) / (1.0 - cut)
            }
        }
    }
}

/// Whole sizes: a law clamped to [least, cap], then rounded up to a multiple of a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// The law, in bytes.
    pub law: Law,
    /// Smaller sizes are enlarged to this.
    pub least: u64,
    /// Larger sizes become this.
    pub cap: u64,
    /// Sizes are multiples of this, bytes.
    pub unit: u64,
}

impl Sizes {
    /// Draws one size in bytes, at least 1; rounding up to the unit may exceed the cap.
    pub fn draw(&self, mut stream: Stream) -> u64 {
        let drawn = self.law.draw(&mut stream).clamp(self.least as f64, self.cap.max(self.least) as f64);
        (drawn.ceil() as u64).max(1).next_multiple_of(self.unit)
    }

    /// Returns P(size > bytes), exact for the rounded sizes.
    pub fn survival(&self, bytes: u64) -> f64 {
        let whole = bytes / self.unit * self.unit;
        if whole < self.least {
            1.0
        } else if whole >= self.cap {
            0.0
        } else {
            self.law.survival(whole as f64)
        }
    }

    /// Returns the expected size, bytes: exact for units of 100 B or more; otherwise half a byte is added for
    /// rounding.
    pub fn mean(&self) -> f64 {
        if self.unit >= 100 {
            return self.unit as f64 * self.sum_survival(self.unit);
        }
        let (least, cap) = (self.least as f64, self.cap.max(self.least) as f64);
        let rounding = if self.least >= self.cap { 0.0 } else { 0.5 };
        least + self.law.mean_below(cap) - self.law.mean_below(least) + rounding
    }

    /// Returns the expected number of segments of at most `mss` payload bytes. It sums over the segments of the largest
    /// size.
    pub fn mean_segments(&self, mss: u32) -> f64 {
        self.sum_survival(u64::from(mss.max(1)))
    }

    /// Returns the expected wire bytes of a transfer on a separate connection: payload, 40 B for each segment
    /// and for the SYN-ACK.
    pub fn mean_wire(&self, mss: u32) -> f64 {
        self.mean() + HEADER_BYTES as f64 * (self.mean_segments(mss) + 1.0)
    }

    /// Returns Σ P(size > n·step) over n ≥ 0, the mean of a count that rises each `step` bytes. The step is above 0.
    fn sum_survival(&self, step: u64) -> f64 {
        let points = (0u64..).map(|n| n * step).take_while(|point| *point < self.cap.max(self.least));
        points.map(|point| self.survival(point)).sum()
    }
}

/// A distribution of a number, such as the objects of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Count {
    /// Uniform from the first to the second, both included.
    Uniform(u32, u32),
    /// Exponential with the first as its mean, rounded up and cut at the second.
    Exponential(f64, u32),
    /// Pareto I of this mean and shape, rounded up and clamped to [least, most].
    Pareto {
        /// Mean before rounding.
        mean: f64,
        /// Shape, above 1.
        shape: f64,
        /// Least count.
        least: u32,
        /// Greatest count.
        most: u32,
    },
}

impl Count {
    /// Draws one number, at least 1.
    pub fn draw(&self, mut stream: Stream) -> u32 {
        match *self {
            Count::Uniform(least, most) => least + stream.below(u64::from(most - least) + 1) as u32,
            Count::Exponential(mean, most) => (stream.exponential(mean).ceil() as u32).clamp(1, most),
            Count::Pareto { mean, shape, least, most } => {
                let low = mean * (shape - 1.0) / shape;
                let drawn = low * libm::pow(1.0 - stream.uniform(), -1.0 / shape);
                (drawn.ceil().min(f64::from(most)) as u32).clamp(least.max(1), most)
            }
        }
    }

    /// Returns the expected number, after rounding and clamps.
    pub fn mean(&self) -> f64 {
        match *self {
            Count::Uniform(least, most) => f64::from(least + most) / 2.0,
            Count::Exponential(mean, most) => (0..most).map(|n| libm::exp(-f64::from(n) / mean)).sum(),
            Count::Pareto { mean, shape, least, most } => {
                let low = mean * (shape - 1.0) / shape;
                let exceeds = |n: u32| libm::pow(f64::from(n) / low, -shape).min(1.0);
                f64::from(least.max(1)) + (least.max(1)..most).map(exceeds).sum::<f64>()
            }
        }
    }
}

#[cfg(test)]
#[path = "law_tests.rs"]
mod tests;
