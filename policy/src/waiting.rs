//! Mirrors of `queue.h`: the structs of a queue's backlog by band, and the bits of a queue's answer.

use crate::base::{Backlog, NEVER, View};

/// Most bands of a queue; `MH_MOST_BANDS`.
pub const MOST_BANDS: usize = 1024;

pub(crate) const BAND: u32 = 0xffff;
pub(crate) const MARKED: u32 = 0x10000;
pub(crate) const DROPPED: u32 = 0x20000;
pub(crate) const HEAD: u32 = 0x40000;
pub(crate) const REFUSED: u32 = 0x80000;
pub(crate) const AGAIN: u32 = 0x10_0000;
pub(crate) const FITS: u32 = 0x20_0000;

/// A band of a queue; `struct mh_band`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Band {
    /// Its backlog, and since when it is idle.
    pub waiting: Backlog,
    /// When its head arrived; without meaning while it is empty.
    pub head_since_ns: u64,
    /// Its head; without meaning while it is empty.
    pub head: View,
}

/// `struct mh_waiting` without its bands.
#[repr(C)]
pub(crate) struct RawWaiting {
    all: Backlog,
    band: [Band; 0],
}

/// The backlog of a queue, of all packets and by band: `struct mh_waiting` with its bands.
#[derive(Debug, Clone)]
pub struct Waiting(Box<[u64]>);

const ALL_WORDS: usize = size_of::<Backlog>() / 8;
const BAND_WORDS: usize = size_of::<Band>() / 8;

impl Waiting {
    /// Returns the backlog of a queue with so many bands, all empty: idle since 0 each, while all together count as
    /// busy.
    pub fn new(bands: usize) -> Waiting {
        let mut made = Waiting(vec![0; ALL_WORDS + BAND_WORDS * bands].into());
        made.all_mut().idle_since_ns = NEVER;
        made
    }

    /// Returns the backlog of all bands together.
    #[inline]
    pub fn all(&self) -> &Backlog {
        // SAFETY: the words begin with a backlog, of which all bits are valid.
        unsafe { &*self.0.as_ptr().cast() }
    }

    /// Returns the backlog of all bands together, to change it; the bands do not follow.
    #[inline]
    pub fn all_mut(&mut self) -> &mut Backlog {
        // SAFETY: as above.
        unsafe { &mut *self.0.as_mut_ptr().cast() }
    }

    /// Returns a band.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn band(&self, band: usize) -> &Band {
        let words = &self.0[ALL_WORDS + BAND_WORDS * band..][..BAND_WORDS];
        // SAFETY: the words are a band that was made here or below: its colours are colours.
        unsafe { &*words.as_ptr().cast() }
    }

    /// Returns a band, to change it.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn band_mut(&mut self, band: usize) -> &mut Band {
        let words = &mut self.0[ALL_WORDS + BAND_WORDS * band..][..BAND_WORDS];
        // SAFETY: as above.
        unsafe { &mut *words.as_mut_ptr().cast() }
    }

    /// Returns the address of the struct, for calls of a header's functions.
    #[inline]
    pub(crate) fn pointer(&self) -> *const RawWaiting {
        self.0.as_ptr().cast()
    }
}

/// Returns the structs' sizes and their members' offsets, in bytes, in the order of `mh_layout` (layout.c).
#[cfg(test)]
pub(crate) fn layout() -> Vec<usize> {
    use std::mem::offset_of;
    vec![
        size_of::<RawWaiting>(),
        offset_of!(RawWaiting, all),
        offset_of!(RawWaiting, band),
        size_of::<Band>(),
        offset_of!(Band, waiting),
        offset_of!(Band, head_since_ns),
        offset_of!(Band, head),
    ]
}

/// Returns the constants in the order of `mh_constants` (layout.c).
#[cfg(test)]
pub(crate) fn constants() -> [u32; 8] {
    [MOST_BANDS as u32, BAND, MARKED, DROPPED, HEAD, REFUSED, AGAIN, FITS]
}
