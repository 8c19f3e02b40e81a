//! The way through the headers of one frame.

use super::ledger::reason;
use super::link::Layer;
use super::reason::Reason;

/// The rest of a frame behind the headers that were taken off.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    /// The bytes that were captured.
    pub bytes: &'a [u8],
    /// How many bytes there were on the wire.
    pub wire: u32,
    /// The packet goes on in later fragments, so a length within may exceed `wire`.
    pub is_first_fragment: bool,
}

/// What follows a header, or the reason to leave the frame out.
pub type Step = Result<Layer, Reason>;

impl<'a> Cursor<'a> {
    /// Returns a cursor at the beginning of a frame.
    pub fn new(bytes: &'a [u8], wire: u32) -> Cursor<'a> {
        Cursor { bytes, wire, is_first_fragment: false }
    }

    /// Takes `count` bytes off. The error says whether the frame or only the capture lacks them.
    pub fn skip(&mut self, count: usize) -> Result<(), Reason> {
        let Some(rest) = self.bytes.get(count..) else { return Err(self.too_short(count)) };
        self.bytes = rest;
        self.wire = self.wire.saturating_sub(count as u32);
        Ok(())
    }

    /// Returns why `count` bytes are not there.
    pub fn too_short(&self, count: usize) -> Reason {
        if (self.wire as usize) < count { reason::RUNT.into() } else { reason::CUT.into() }
    }

    /// Returns the byte at a place.
    pub fn byte(&self, at: usize) -> Result<u8, Reason> {
        self.bytes.get(at).copied().ok_or_else(|| self.too_short(at + 1))
    }

    /// Returns two bytes, the first one the higher.
    pub fn half(&self, at: usize) -> Result<u16, Reason> {
        Ok(u16::from_be_bytes([self.byte(at)?, self.byte(at + 1)?]))
    }

    /// Strips a header of `header` bytes that has the EtherType of the next layer at byte `at`.
    pub fn strip_typed_header(&mut self, at: usize, header: usize) -> Step {
        let ether_type = self.half(at)?;
        self.skip(header)?;
        Ok(Layer::Typed(ether_type))
    }
}
