//! Reads the type information of an object (BTF; Documentation/bpf/btf.rst of Linux).

use std::fmt::Write as _;

/// The type information of an object.
#[derive(Debug)]
pub(crate) struct Types<'a> {
    bytes: &'a [u8],
    /// The offset of the names.
    names: usize,
    /// The offset of each type, by its number; type 0 is `void`, whose offset is not used.
    places: Vec<usize>,
}

/// Bytes of a type without what its kind adds.
const HEAD: usize = 12;
const INT: u32 = 1;
const POINTER: u32 = 2;
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const FUNCTION_TYPE: u32 = 13;
const VARIABLE: u32 = 14;
const SECTION: u32 = 15;
const DECLARATION_TAG: u32 = 17;
const ENUM_64: u32 = 19;
/// The kinds that only refer to another type: typedef, volatile, const, restrict, type tag.
const OTHER_NAMES: [u32; 5] = [8, 9, 10, 11, 18];
/// How deep nested types are described; those of our maps do not refer to themselves.
const DEPTH: u32 = 32;

impl<'a> Types<'a> {
    /// Reads the section `.BTF`; `None` if it is cut short.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Types<'a>> {
        let mut types = Types { bytes, names: 0, places: vec![0] };
        let head = types.word(4)?;
        let (mut at, end) = (head + types.word(8)?, head + types.word(8)? + types.word(12)?);
        types.names = head + types.word(16)?;
        while at < end {
            types.places.push(at);
            let (kind, count) = types.kind(at)?;
            at += HEAD
                + match kind {
                    INT | VARIABLE | DECLARATION_TAG => 4,
                    ARRAY => 12,
                    STRUCT | UNION | SECTION | ENUM_64 => 12 * count,
                    ENUM | FUNCTION_TYPE => 8 * count,
                    _ => 0,
                };
        }
        Some(types)
    }

    /// Returns a description of these maps that is equal for programs that can share them: name,
    /// kind and entries, and the names, offsets and types of all members of keys and values. `None`
    /// if there are none or the section is cut short.
    pub(crate) fn describe_maps(&self, names: &[&str]) -> Option<String> {
        let mut text = String::new();
        let mut found = false;
        for &place in &self.places[1..] {
            if self.kind(place)?.0 == VARIABLE && names.contains(&self.name(place)?.as_str()) {
                found = true;
                write!(text, "{} ", self.name(place)?).ok()?;
                self.describe(self.word(place + 8)?, DEPTH, &mut text)?;
                text.push('\n');
            }
        }
        found.then_some(text)
    }

    /// Appends the description of a type, down to `depth` levels, below which it is `void`. `None`
    /// if the section is cut short; `text` then ends in the middle.
    fn describe(&self, number: usize, depth: u32, text: &mut String) -> Option<()> {
        let place = *self.places.get(number)?;
        if number == 0 || depth == 0 {
            text.push_str("void");
            return Some(());
        }
        let ((kind, count), size) = (self.kind(place)?, self.word(place + 8)?);
        match kind {
            POINTER => {
                text.push('*');
                self.describe(size, depth - 1, text)?;
            }
            ARRAY => {
                write!(text, "[{}]", self.word(place + HEAD + 8)?).ok()?;
                self.describe(self.word(place + HEAD)?, depth - 1, text)?;
            }
            STRUCT | UNION => {
                write!(text, "{kind}:{size}{{").ok()?;
                for (number, (name, offset)) in self.members(place, count)?.into_iter().enumerate() {
                    write!(text, "{name}@{offset}=").ok()?;
                    self.describe(self.word(place + HEAD + 12 * number + 4)?, depth - 1, text)?;
                    text.push(';');
                }
                text.push('}');
            }
            _ if OTHER_NAMES.contains(&kind) => self.describe(size, depth - 1, text)?,
            INT => write!(text, "int:{size}:{:x}", self.word(place + HEAD)?).ok()?,
            _ => write!(text, "{kind}:{size}").ok()?,
        }
        Some(())
    }

    /// Returns the bytes of a struct and its members: name and offset in bits. `None` without a
    /// struct of this name.
    #[cfg(test)]
    pub(crate) fn find_struct(&self, name: &str) -> Option<(usize, Vec<(String, usize)>)> {
        let place = self.places[1..].iter().copied().find(|place| {
            self.kind(*place).is_some_and(|(kind, _)| kind == STRUCT)
                && self.name(*place).is_some_and(|known| known == name)
        })?;
        Some((self.word(place + 8)?, self.members(place, self.kind(place)?.1)?))
    }

    /// Returns the members of the struct or union at `place`: name and offset in bits. `None` if
    /// the section is cut short.
    fn members(&self, place: usize, count: usize) -> Option<Vec<(String, usize)>> {
        let one = |number| {
            let at = place + HEAD + 12 * number;
            Some((self.name(at)?, self.word(at + 8)?))
        };
        (0..count).map(one).collect()
    }

    /// Returns a type's kind, and how many members or the like it has; `None` if the section is cut
    /// short.
    fn kind(&self, place: usize) -> Option<(u32, usize)> {
        let word = self.word(place + 4)?;
        Some((word as u32 >> 24 & 0x1f, word & 0xffff))
    }

    /// Returns the name that a type or member at `place` begins with; `None` if the section is cut
    /// short.
    fn name(&self, place: usize) -> Option<String> {
        let from = self.bytes.get(self.names + self.word(place)?..)?;
        let end = from.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&from[..end]).into_owned())
    }

    /// Returns the 32-bit number at an offset; `None` beyond the end.
    fn word(&self, at: usize) -> Option<usize> {
        Some(u32::from_le_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?) as usize)
    }
}
