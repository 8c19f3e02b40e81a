//! The parameters of the virtual FIFO, for programs in the kernel that decide before a FIFO.

use std::ffi::c_void;

unsafe extern "C" {
    fn mh_virtual_fifo_params_bytes() -> u64;
    fn mh_virtual_fifo_fill(params: *mut c_void, rate_bps: u64, overhead_bytes: u32, burst_bytes: u32);
}

/// Returns `struct mh_virtual_fifo_params` of virtual_fifo.h, as C has it: for a FIFO of this rate (1 kbit/s to 1 Tbit/s),
/// with so many bytes on the wire beyond each packet's IP length and a token bucket of this depth, 0 for none.
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
