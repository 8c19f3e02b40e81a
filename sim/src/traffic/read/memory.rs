//! Measures the memory of this process where the system shows it: on Linux, and in WebAssembly, where it is
//! the whole memory.

/// Returns the resident bytes that this process may have if it may grow by `most` bytes from now; `None` if its size is
/// unknown.
pub fn memory_limit(most: u64) -> Option<u64> {
    Some(resident_bytes()?.saturating_add(most))
}

/// Returns the resident bytes of this process, which is the whole memory.
#[cfg(target_arch = "wasm32")]
pub fn resident_bytes() -> Option<u64> {
    const PAGE_BYTES: u64 = 64 * 1024;
    Some(core::arch::wasm32::memory_size(0) as u64 * PAGE_BYTES)
}

/// Returns the resident bytes of this process; `None` on systems without `/proc`.
#[cfg(not(target_arch = "wasm32"))]
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}
