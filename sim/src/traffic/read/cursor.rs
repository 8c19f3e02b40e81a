//! A cursor over the headers of one frame.

use super::ledger::reason;
use super::link::Layer;
use super::reason::Reason;

/// The rest of a frame after the headers that were stripped.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    /// The captured bytes.
    pub bytes: &'a [u8],
    /// Number of bytes on the wire.
    pub wire: u32,
    /// Whether the packet continues in later fragments, so that a length inside may exceed `wire`.
    pub is_first_fragment: bool,
}

/// The layer after a header, or the reason to leave the frame out.
pub type Step = Result<Layer, Reason>;

impl<'a> Cursor<'a> {
    /// Returns a cursor at the beginning of a frame of `wire` bytes, of which `bytes` were captured.
    pub fn new(bytes: &'a [u8], wire: u32) -> Cursor<'a> {
        Cursor { bytes, wire, is_first_fragment: false }
    }

    /// Strips `count` bytes, which must have been captured. The cursor stays where it is otherwise.
    ///
    /// # Errors
    /// The reason of [`Cursor::too_short_reason`].
    pub fn skip(&mut self, count: usize) -> Result<(), Reason> {
        let Some(rest) = self.bytes.get(count..) else { return Err(self.too_short_reason(count)) };
        self.bytes = rest;
        self.wire = self.wire.saturating_sub(count as u32);
        Ok(())
    }

    /// Returns the reason why `count` bytes are missing: the frame was too short, or the capture cut it.
    pub fn too_short_reason(&self, count: usize) -> Reason {
        if (self.wire as usize) < count { reason::RUNT.into() } else { reason::CUT.into() }
    }

    /// Returns the byte at an offset.
    ///
    /// # Errors
    /// The reason of [`Cursor::too_short_reason`].
    pub fn byte_at(&self, at: usize) -> Result<u8, Reason> {
        self.bytes.get(at).copied().ok_or_else(|| self.too_short_reason(at + 1))
    }

    /// Returns the big-endian 16-bit number at an offset.
    ///
    /// # Errors
    /// The reason of [`Cursor::too_short_reason`].
    pub fn u16_at(&self, at: usize) -> Result<u16, Reason> {
        Ok(u16::from_be_bytes([self.byte_at(at)?, self.byte_at(at + 1)?]))
    }

    /// Strips a header of `header` bytes that has the EtherType of the next layer at byte `at`. Returns the layer
    /// [`Layer::Typed`], or the reason of [`Cursor::too_short_reason`].
    pub fn strip_typed_header(&mut self, at: usize, header: usize) -> Step {
        let ether_type = self.u16_at(at)?;
        self.skip(header)?;
        Ok(Layer::Typed(ether_type))
    }
}
