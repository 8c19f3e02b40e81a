//! Counter-based random numbers: every draw is a pure function of (seed, purpose, entity, index).
//!
//! The generator is Philox4x32-10 (Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy
//! as 1, 2, 3", SC 2011, section 3.3). A draw never depends on what else happened in the run, so the
//! same traffic meets every scheme, and results do not change with the number of threads.

/// The purpose of a draw; the streams of different purposes are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// Drop and mark decisions of a queue; the entity is the link.
    Queue = 1,
    /// Marker decisions such as probabilistic promotion; the entity is the flow.
    Marker = 2,
    /// Losses of a faulty link; the entity is the link.
    Fault = 3,
    /// Times at which sessions, connections or bulk flows start.
    Arrival = 4,
    /// Object sizes.
    Size = 5,
    /// Number of pages, objects or requests.
    Count = 6,
    /// Idle and think times.
    Idle = 7,
    /// Choice of hosts and paths.
    Host = 8,
    /// Shifts of copies when a trace is overlaid on itself.
    Overlay = 9,
    /// Where a measurement window is cut from a trace.
    Window = 10,
    /// Spreading of whole-second time stamps.
    Spread = 11,
    /// Phase of a coarse TCP clock; the entity is the connection.
    TickPhase = 12,
    /// Hash perturbation of a fair queue.
    Hash = 13,
    /// Which clients of a trace a replication resamples; the entity is the replication.
    Resample = 14,
    /// What a model fitted to a trace plays; the entity is the replication.
    Fitted = 15,
    /// Which senders misbehave; the entity is the transfer.
    Misbehaviour = 20,
    /// Which TCP a connection has; the entity is the connection.
    Tcp = 21,
}

/// A stream of draws for one (seed, purpose, entity); cheap to copy, remembers only its index.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    key: [u32; 2],
    entity: u64,
    index: u64,
}

impl Stream {
    /// Returns the stream of `entity` for `purpose` under `seed`, at index 0.
    pub fn new(seed: u64, purpose: Purpose, entity: u64) -> Stream {
        let mixed = mix(seed ^ mix(purpose as u64));
        Stream { key: [mixed as u32, (mixed >> 32) as u32], entity, index: 0 }
    }

    /// Returns the 64 random bits at `index` of the stream; earlier draws do not matter, and the
    /// stream stays where it is.
    pub fn draw_at(&self, index: u64) -> u64 {
        let counter = [index as u32, (index >> 32) as u32, self.entity as u32, (self.entity >> 32) as u32];
        let block = philox4x32(counter, self.key);
        u64::from(block[0]) | u64::from(block[1]) << 32
    }

    /// Draws the next 64 random bits and moves the stream on by one, as each draw below does but
    /// [`Stream::poisson`].
    pub fn bits(&mut self) -> u64 {
        let value = self.draw_at(self.index);
        self.index += 1;
        value
    }

    /// Moves the stream on by one draw without computing it.
    pub fn skip(&mut self) {
        self.index += 1;
    }

    /// Draws the next 32 random bits `u`; policies take `u / 2^32` as a uniform number.
    pub fn bits32(&mut self) -> u32 {
        self.bits() as u32
    }

    /// Draws a number uniform in [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws an integer uniform in [0, n); `n` must be positive.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Draws an exponential number with this mean, 0 or greater, by inversion.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Draws a Pareto II (Lomax) number with this mean and a shape above 1 by inversion:
    /// `λ(U^(-1/shape) − 1)` with `λ = mean·(shape−1)`.
    pub fn lomax(&mut self, mean: f64, shape: f64) -> f64 {
        mean * (shape - 1.0) * (libm::pow(1.0 - self.uniform(), -1.0 / shape) - 1.0)
    }

    /// Draws a Poisson number with this mean by counting exponential gaps, each one draw of the
    /// stream. The time grows with the mean, which may be in the thousands.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        let mut sum = self.exponential(1.0);
        let mut count = 0;
        while sum < mean {
            count += 1;
            sum += self.exponential(1.0);
        }
        count
    }
}

/// Returns a hash of `value`: near inputs give unrelated outputs (SplitMix64's finaliser).
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the Philox4x32-10 block of `counter` under `key`.
fn philox4x32(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let low = u64::from(counter[0]) * 0xd251_1f53;
        let high = u64::from(counter[2]) * 0xcd9e_8d57;
        counter = [
            (high >> 32) as u32 ^ counter[1] ^ key[0],
            high as u32,
            (low >> 32) as u32 ^ counter[3] ^ key[1],
            low as u32,
        ];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Known answers published with the Random123 library.
    #[test]
    fn philox__known_answers() {
        assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox4x32([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        let pi = philox4x32([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]);
        assert_eq!(pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }

    #[test]
    fn streams__differ_by_each_coordinate() {
        let base = Stream::new(1, Purpose::Size, 1).draw_at(0);
        assert_ne!(base, Stream::new(2, Purpose::Size, 1).draw_at(0));
        assert_ne!(base, Stream::new(1, Purpose::Idle, 1).draw_at(0));
        assert_ne!(base, Stream::new(1, Purpose::Size, 2).draw_at(0));
        assert_ne!(base, Stream::new(1, Purpose::Size, 1).draw_at(1));
    }

    #[test]
    fn lomax__has_the_papers_share_of_short_objects() {
        let mut stream = Stream::new(7, Purpose::Size, 0);
        let short = (0..100_000).filter(|_| stream.lomax(12_000.0, 1.2) < 15_000.0).count();
        assert!((0.902..0.912).contains(&(short as f64 / 1e5)), "0.907, got {short}");
    }
}
