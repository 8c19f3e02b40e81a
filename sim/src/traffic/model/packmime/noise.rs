//! Gaussian noise with long-range dependence and unit variance: the sum of white noise and fractional noise of order
//! d, in which each value is added to the one before it (FARIMA(0, d, 1)).
//!
//! The noise is drawn exactly, by circulant embedding of the covariances (Davies & Harte, "Tests for Hurst effect",
//! Biometrika 1987), in blocks. Blocks are independent of each other, so dependence does not extend beyond
//! one.

use crate::rng::{Purpose, Stream};

/// Values of a block; at ten connections per second nearly an hour.
pub const BLOCK: usize = 1 << 15;

/// The noise of one replication; it stores the last block that was drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    seed: u64,
    /// Weight of each frequency; see [`compute_weights`]. Empty for white noise.
    weights: Vec<f64>,
    block: Option<u64>,
    values: Vec<f64>,
}

impl Noise {
    /// Returns noise of order `dependence` with this share of white noise; white noise alone for order 0 or share 1.
    pub fn new(dependence: f64, white_share: f64, seed: u64) -> Noise {
        let is_white = dependence == 0.0 || white_share == 1.0;
        let weights = if is_white { Vec::new() } else { compute_weights(dependence, white_share) };
        Noise { seed, weights, block: None, values: Vec::new() }
    }

    /// Returns value `number` of the noise mapped by the normal distribution function, uniform in [0, 1). A number of
    /// another block than the last has its block drawn and stored; the value depends on seed and number alone.
    pub fn uniform(&mut self, number: u64) -> f64 {
        if self.weights.is_empty() {
            return Stream::new(self.seed, Purpose::Arrival, number).uniform();
        }
        let block = number / BLOCK as u64;
        if self.block != Some(block) {
            self.values = self.draw_block(block);
            self.block = Some(block);
        }
        let value = self.values[number as usize % BLOCK];
        (0.5 * libm::erfc(-value / std::f64::consts::SQRT_2)).clamp(0.0, 1.0 - f64::EPSILON)
    }

    /// Returns the values of the last block that was drawn; none before the first, or for white noise.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Draws a whole block of the noise, by a Fourier transform of weighted normals.
    fn draw_block(&self, block: u64) -> Vec<f64> {
        let points = self.weights.len();
        let normal =
            |k: usize| draw_normals(Stream::new(self.seed, Purpose::Arrival, block << 32 | k as u64));
        let mut circle: Vec<(f64, f64)> = (0..points)
            .map(|k| {
                let (real, imaginary) = normal(k);
                (self.weights[k] * real, self.weights[k] * imaginary)
            })
            .collect();
        apply_fourier_transform(&mut circle);
        circle.into_iter().take(BLOCK).map(|(real, _)| real).collect()
    }
}

/// Draws two independent standard normals (Box and Muller) from the first two numbers of the stream.
fn draw_normals(mut stream: Stream) -> (f64, f64) {
    let radius = (-2.0 * libm::log(1.0 - stream.uniform())).sqrt();
    let angle = std::f64::consts::TAU * stream.uniform();
    (radius * libm::cos(angle), radius * libm::sin(angle))
}

/// Returns the autocorrelation of the noise at lags 0 to `lags`, both included; 1 at lag 0. That of the fractional part
/// is Hosking's, "Fractional differencing", Biometrika 68 (1981).
pub fn compute_correlations(dependence: f64, white_share: f64, lags: usize) -> Vec<f64> {
    // Of fractional noise: ρ(0) = 1, ρ(k) = ρ(k − 1)·(k − 1 + d) ÷ (k − d).
    let mut plain = vec![1.0; lags + 2];
    for k in 1..plain.len() {
        plain[k] = plain[k - 1] * (k as f64 - 1.0 + dependence) / (k as f64 - dependence);
    }
    let added = |k: usize| 2.0 * plain[k] + plain[k.abs_diff(1)] + plain[k + 1];
    let share = (1.0 - white_share) / added(0);
    (0..=lags).map(|k| if k == 0 { 1.0 } else { share * added(k) }).collect()
}

/// Returns the weight of each of 2 · [`BLOCK`] frequencies: with standard normals in its real and imaginary part, the
/// real part of the transform has the wanted autocorrelation (Davies & Harte 1987). Negative eigenvalues count as 0.
fn compute_weights(dependence: f64, white_share: f64) -> Vec<f64> {
    let lags = compute_correlations(dependence, white_share, BLOCK);
    let points = 2 * BLOCK;
    let mut circle: Vec<(f64, f64)> = (0..points).map(|k| (lags[k.min(points - k)], 0.0)).collect();
    apply_fourier_transform(&mut circle);
    circle.into_iter().map(|(value, _)| (value.max(0.0) / points as f64).sqrt()).collect()
}

/// Computes the discrete Fourier transform in place; the length is a power of two.
fn apply_fourier_transform(values: &mut [(f64, f64)]) {
    let count = values.len();
    let shift = usize::BITS - count.trailing_zeros();
    for k in 0..count {
        let mirrored = k.reverse_bits() >> shift;
        if k < mirrored {
            values.swap(k, mirrored);
        }
    }
    let mut half = 1;
    while half < count {
        let step = -std::f64::consts::PI / half as f64;
        let turns: Vec<(f64, f64)> =
            (0..half).map(|k| (libm::cos(step * k as f64), libm::sin(step * k as f64))).collect();
        for pair in values.chunks_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for ((a, b), turn) in low.iter_mut().zip(high).zip(&turns) {
                let turned = (b.0 * turn.0 - b.1 * turn.1, b.0 * turn.1 + b.1 * turn.0);
                (*a, *b) = ((a.0 + turned.0, a.1 + turned.1), (a.0 - turned.0, a.1 - turned.1));
            }
        }
        half *= 2;
    }
}
