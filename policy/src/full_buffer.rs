//! The rules of `full_buffer.h`: whether a buffer has room for an arrival, and the verdict on one that finds it full.

use crate::base::{Backlog, Verdict};

/// The capacity of a buffer; `struct mh_limit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Limit {
    count: u64,
    unit: u32,
    reserved: u32,
}

unsafe extern "C" {
    safe fn mh_full_buffer_is_full(limit: &Limit, backlog: &Backlog, ip_bytes: u32, segments: u32) -> u32;
    safe fn mh_full_buffer_asks_dropper(full: u32, sees_full_buffers: u32) -> u32;
    safe fn mh_full_buffer_verdict(full: u32, verdict: u32) -> u32;
}

impl Limit {
    /// Returns a limit in bytes of IP length.
    pub fn bytes(count: u64) -> Limit {
        Limit { count, unit: 0, reserved: 0 } // MH_BYTES
    }

    /// Returns a limit in packets.
    pub fn packets(count: u32) -> Limit {
        Limit { count: count.into(), unit: 1, reserved: 0 } // MH_PACKETS
    }

    /// Returns whether there is no room for a packet of `ip_bytes` in so many segments.
    #[inline]
    pub fn is_full(&self, backlog: &Backlog, ip_bytes: u32, segments: u32) -> bool {
        mh_full_buffer_is_full(self, backlog, ip_bytes, segments) != 0
    }
}

/// The rules for a packet that finds the buffer full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FullBuffer;

impl FullBuffer {
    /// Returns whether the dropper is called for the packet: only one that [sees full
    /// buffers](crate::Policy::sees_full_buffers).
    #[inline]
    pub fn asks(self, sees_full_buffers: bool) -> bool {
        mh_full_buffer_asks_dropper(1, sees_full_buffers.into()) != 0
    }

    /// Returns the final verdict from the dropper's, which is [`Verdict::Pass`] if it was not called.
    #[inline]
    pub fn verdict(self, verdict: Verdict) -> Verdict {
        Verdict::from_c(mh_full_buffer_verdict(1, verdict as u32))
    }
}

/// Returns the size of [`Limit`] and its members' offsets, in bytes, in the order of `mh_layout` (layout.c).
#[cfg(test)]
pub(crate) fn layout() -> Vec<usize> {
    use std::mem::offset_of;
    vec![size_of::<Limit>(), offset_of!(Limit, count), offset_of!(Limit, unit)]
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::base::{Colour, NEVER};

    #[test]
    fn is_full__counts_the_arrival_with_all_its_segments() {
        let mut backlog = Backlog::new(3, 4500, NEVER);
        let full = |limit: Limit, backlog: &Backlog, segments| limit.is_full(backlog, 1500, segments);
        assert_eq!([3, 4].map(|packets| full(Limit::packets(packets), &backlog, 1)), [true, false]);
        assert_eq!([5, 6].map(|packets| full(Limit::packets(packets), &backlog, 3)), [true, false]);
        assert_eq!([5999, 6000].map(|bytes| full(Limit::bytes(bytes), &backlog, 1)), [true, false]);
        backlog.remove(Colour::Green, 1500);
        assert!(!full(Limit::packets(3), &backlog, 1) && !full(Limit::bytes(5999), &backlog, 1));
        assert!(full(Limit::packets(0), &Backlog::default(), 1));
    }

    #[test]
    fn verdict__is_forced_unless_the_dropper_drops() {
        let all = [Verdict::Pass, Verdict::Mark, Verdict::Early, Verdict::Forced];
        let forced = Verdict::Forced;
        assert_eq!(all.map(|verdict| FullBuffer.verdict(verdict)), [forced, forced, Verdict::Early, forced]);
        assert_eq!(all.map(|verdict| mh_full_buffer_verdict(0, verdict as u32)), [0, 1, 2, 3]);
        assert_eq!([false, true].map(|sees| FullBuffer.asks(sees)), [false, true]);
        assert_eq!([0, 1].map(|sees| mh_full_buffer_asks_dropper(0, sees)), [1, 1]);
    }
}
