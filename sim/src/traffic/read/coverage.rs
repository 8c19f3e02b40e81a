//! Records which bytes of a TCP stream were seen, so that retransmissions count once.

use std::ops::Range;

/// Position of the first byte; it leaves room for earlier bytes (reordered, no SYN seen).
const ORIGIN: u64 = 1 << 40;
/// With more spans than this, the oldest gaps are closed; a gap that old is a loss of the capture.
const MAX_SPANS: usize = 4096;

/// Seen ranges of one direction of one connection.
#[derive(Debug, Default, Clone)]
pub struct Coverage {
    /// Disjoint, ascending, never touching.
    spans: Vec<Range<u64>>,
    /// Highest position reached, and its 32-bit sequence number.
    top: Option<(u64, u32)>,
    /// Nothing below counts; the initial sequence number fixes it.
    floor: u64,
}

/// The new bytes of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Added {
    /// Bytes not seen before.
    pub bytes: u64,
    /// Whether they lie beyond all bytes seen before.
    pub in_front: bool,
}

impl Coverage {
    /// Sets the sequence number of the stream's first byte, if the SYN comes before any data. Earlier bytes
    /// do not count. Does nothing after the first call or the first [`Coverage::add`].
    pub fn begin(&mut self, first_byte: u32) {
        if self.top.is_none() {
            self.top = Some((ORIGIN, first_byte));
            self.floor = ORIGIN;
        }
    }

    /// Marks `len` bytes from sequence number `seq` as seen. Sequence numbers wrap at 2³², so a segment is
    /// placed nearest to the highest byte so far. Returns its new bytes; none for an empty or repeated segment and
    /// below the stream's first byte.
    pub fn add(&mut self, seq: u32, len: u32) -> Added {
        let (top, top_seq) = *self.top.get_or_insert((ORIGIN, seq));
        let start = top.saturating_add_signed(i64::from(seq.wrapping_sub(top_seq) as i32));
        let range = start.max(self.floor)..(start + u64::from(len)).max(self.floor);
        if range.is_empty() {
            return Added::default();
        }
        if range.end > top {
            self.top = Some((range.end, top_seq.wrapping_add((range.end - top) as u32)));
        }
        let in_front = range.start >= self.spans.last().map_or(0, |last| last.end);
        Added { bytes: self.insert(range), in_front }
    }

    /// Returns the heap memory that it uses, bytes.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&self.spans[..])
    }

    /// Adds a range of positions, which is not empty, and joins the spans it touches. Returns the number of new ones.
    fn insert(&mut self, range: Range<u64>) -> u64 {
        if let Some(last) = self.spans.last_mut().filter(|last| last.end == range.start) {
            last.end = range.end;
            return range.end - range.start;
        }
        let from = self.spans.partition_point(|span| span.end < range.start);
        let to = self.spans.partition_point(|span| span.start <= range.end);
        let touched = &self.spans[from..to];
        let overlap: u64 = touched
            .iter()
            .map(|span| span.end.min(range.end).saturating_sub(span.start.max(range.start)))
            .sum();
        let start = touched.first().map_or(range.start, |span| span.start.min(range.start));
        let end = touched.last().map_or(range.end, |span| span.end.max(range.end));
        self.spans.splice(from..to, std::iter::once(start..end));
        self.close_old_gaps();
        range.end - range.start - overlap
    }

    /// Bounds memory: beyond [`MAX_SPANS`] the older half becomes one span.
    fn close_old_gaps(&mut self) {
        if self.spans.len() > MAX_SPANS {
            let half = MAX_SPANS / 2;
            let merged = self.spans[0].start..self.spans[half].end;
            self.spans.splice(..=half, std::iter::once(merged));
        }
    }
}

#[cfg(test)]
#[path = "coverage_tests.rs"]
mod tests;
