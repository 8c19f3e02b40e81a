//! The parameters of the virtual FIFO, for programs in the kernel that decide about packets before a FIFO.

use std::ffi::c_void;

unsafe extern "C" {
    /// Returns the size of the struct of parameters.
    fn mh_virtual_fifo_params_bytes() -> u64;
    /// Writes all of the struct, which is aligned to 8 bytes, for a rate in the allowed range.
    fn mh_virtual_fifo_fill(params: *mut c_void, rate_bps: u64, overhead_bytes: u32, burst_bytes: u32);
}

/// Returns the bytes of `struct mh_virtual_fifo_params` (virtual_fifo.h) of a FIFO of this rate, 1 kbit/s to 1 Tbit/s. Every
/// segment has `overhead_bytes` on the wire beyond its IP length. `burst_bytes` is the token bucket's depth, 0 for none.
///
/// # Panics
/// When the rate is out of range.
pub fn virtual_fifo_params(rate_bps: u64, overhead_bytes: u32, burst_bytes: u32) -> Vec<u8> {
    assert!((1_000..=1_000_000_000_000).contains(&rate_bps), "a rate of {rate_bps} bit/s");
    // SAFETY: the buffer is as long as C says, and aligned as its words of 64 bits.
    unsafe {
        let bytes = mh_virtual_fifo_params_bytes() as usize;
        let mut words = vec![0u64; bytes.div_ceil(8)];
        mh_virtual_fifo_fill(words.as_mut_ptr().cast(), rate_bps, overhead_bytes, burst_bytes);
        words.iter().flat_map(|word| word.to_ne_bytes()).take(bytes).collect()
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// The words are the members of `struct mh_virtual_fifo_params`; a byte takes 1 µs.
    #[test]
    fn params__are_the_members_of_the_struct() {
        let bytes = virtual_fifo_params(8_000_000, 14, 1500);
        let words: Vec<u64> =
            bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))).collect();
        assert_eq!(words[..6], [8_000_000, 4_000_000, 1000, 0, 0, 1_500_000]);
        assert_eq!(bytes[48..], [14u32.to_ne_bytes(), 0u32.to_ne_bytes()].concat());
    }

    /// The buffer's former content does not matter.
    #[test]
    fn params__are_all_filled_in() {
        let mut words = [u64::MAX; 7];
        // SAFETY: the struct is 56 bytes, as above.
        unsafe { mh_virtual_fifo_fill(words.as_mut_ptr().cast(), 3_000_000, 14, 1500) };
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(bytes, virtual_fifo_params(3_000_000, 14, 1500));
    }

    #[test]
    fn params__need_a_rate_in_range() {
        for rate_bps in [1_000, 1_000_000_000_000] {
            assert_eq!(virtual_fifo_params(rate_bps, 0, 0).len(), 56);
        }
        for rate_bps in [999, 1_000_000_000_001] {
            let refused = std::panic::catch_unwind(|| virtual_fifo_params(rate_bps, 0, 0));
            assert!(refused.is_err(), "{rate_bps}");
        }
    }
}
