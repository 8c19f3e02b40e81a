//! How much memory this process has, where the system says so (Linux).

/// Returns the resident bytes that this process may have if it may grow by `most`; `None` where nobody knows.
pub fn ceiling(most: u64) -> Option<u64> {
    Some(resident()?.saturating_add(most))
}

/// Returns the resident bytes of this process; `None` where nobody knows.
pub fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}
