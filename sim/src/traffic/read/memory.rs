//! How much memory this process has, where that is known: on Linux, and in WebAssembly, whose memory is all there is.

/// Returns the resident bytes that this process may have if it may grow by `most`; `None` where the system does not
/// tell its size.
pub fn memory_limit(most: u64) -> Option<u64> {
    Some(resident()?.saturating_add(most))
}

/// Returns the resident bytes of this process; `None` where nobody knows.
#[cfg(target_arch = "wasm32")]
pub fn resident() -> Option<u64> {
    const PAGE_BYTES: u64 = 64 * 1024;
    Some(core::arch::wasm32::memory_size(0) as u64 * PAGE_BYTES)
}

/// Returns the resident bytes of this process; `None` where nobody knows.
#[cfg(not(target_arch = "wasm32"))]
pub fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}
