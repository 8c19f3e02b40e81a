//! Reads the layout of C structs from the type information (BTF) of an eBPF object.

use object::{Object as _, ObjectSection as _};

/// An integer member of a struct, at any depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its path from the outermost struct, such as `level[1].min_q32`.
    pub path: String,
    /// Bytes from the beginning of the outermost struct.
    pub offset: usize,
    /// Bytes it takes.
    pub width: usize,
}

/// Returns every integer in the struct that a typedef names, nested ones included, in the order of their offsets. `elf`
/// is the object's bytes, compiled with type information (`-g`).
///
/// # Errors
/// One sentence, if the object has no such type, or the struct has a member that is no integer, struct or array.
pub(crate) fn read_fields(elf: &[u8], typedef: &str) -> Result<Vec<Field>, String> {
    let file =
        object::File::parse(elf).map_err(|error| format!("the eBPF object cannot be read; {error}"))?;
    let section = file.section_by_name(".BTF").and_then(|section| section.data().ok());
    let types = section.and_then(Types::parse).ok_or("the eBPF object has no readable type information")?;
    let found =
        (1..types.all.len()).find(|id| types.all[*id].kind == TYPEDEF && types.all[*id].name == typedef);
    let id = found.ok_or_else(|| format!("the eBPF object has no type {typedef}"))?;
    let mut fields = Vec::new();
    let whole = Field { path: String::new(), offset: 0, width: 0 };
    types.append_fields(id, whole, &mut fields)?;
    Ok(fields)
}

// Kinds of types; linux/btf.h.
const INT: u32 = 1;
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const TYPEDEF: u32 = 8;
const QUALIFIERS: [u32; 5] = [TYPEDEF, 9, 10, 11, 18];
const BIT_FIELDS: u32 = 1 << 31;

/// An entry of a `.BTF` section.
struct Type {
    kind: u32,
    name: String,
    /// Size in bytes; of a typedef or qualifier, the index of the type that it stands for.
    size_or_type: u32,
    has_bit_fields: bool,
    /// The words after the header: members, an array's element and length.
    words: Vec<u32>,
}

/// The types of an object, by their index, and the names that they refer to.
struct Types {
    all: Vec<Type>,
    strings: Vec<u8>,
}

impl Types {
    /// Parses a `.BTF` section (a header, types, strings); `None` if it is damaged.
    fn parse(section: &[u8]) -> Option<Types> {
        let word = |at: usize| Some(u32::from_le_bytes(section.get(at..at + 4)?.try_into().ok()?));
        if word(0)? & 0xffff != 0xeb9f {
            return None;
        }
        let header = word(4)? as usize;
        let (first, length) = (header + word(8)? as usize, word(12)? as usize);
        let strings = section.get(header + word(16)? as usize..)?.to_vec();
        let nothing =
            Type { kind: 0, name: String::new(), size_or_type: 0, has_bit_fields: false, words: vec![] };
        let mut types = Types { all: vec![nothing], strings };
        let mut at = first;
        while at < first + length {
            let info = word(at + 4)?;
            let (kind, members) = (info >> 24 & 0x1f, info & 0xffff);
            let extra = match kind {
                INT | 14 | 17 => 1, // variables and declaration tags have one word, too
                ARRAY => 3,
                STRUCT | UNION | 15 | 19 => 3 * members,
                ENUM | 13 => 2 * members,
                _ => 0,
            } as usize;
            let words = (0..extra).map(|index| word(at + 12 + 4 * index)).collect::<Option<Vec<u32>>>()?;
            let name = types.string(word(at)?);
            let has_bit_fields = info & BIT_FIELDS != 0;
            types.all.push(Type { kind, name, size_or_type: word(at + 8)?, has_bit_fields, words });
            at += 12 + 4 * extra;
        }
        Some(types)
    }

    /// Returns the name that begins at byte `at` of the strings; an empty one beyond their end.
    fn string(&self, at: u32) -> String {
        let bytes = self.strings.get(at as usize..).unwrap_or_default();
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }

    /// Appends to `all` a field for every integer of type `id`, whose path and offset are those of `here`.
    ///
    /// # Errors
    /// A sentence for damaged types, and for a field that is a union, a pointer or a bit field.
    fn append_fields(&self, id: usize, here: Field, all: &mut Vec<Field>) -> Result<(), String> {
        let found = self.resolve(id).ok_or("the eBPF object's type information is broken")?;
        match found.kind {
            INT | ENUM => all.push(Field { width: found.size_or_type as usize, ..here }),
            STRUCT if !found.has_bit_fields => {
                for member in found.words.chunks_exact(3) {
                    let name = self.string(member[0]);
                    let path = if here.path.is_empty() { name } else { format!("{}.{name}", here.path) };
                    let offset = here.offset + member[2] as usize / 8;
                    self.append_fields(member[1] as usize, Field { path, offset, width: 0 }, all)?;
                }
            }
            ARRAY => self.append_elements(found, &here, all)?,
            _ => {
                return Err(format!(
                    "has a parameter field {} that is neither an integer, a struct nor an array of such",
                    here.path
                ));
            }
        }
        Ok(())
    }

    /// Appends to `all` a field for every integer of every element of an array, whose path and offset are those of `here`.
    ///
    /// # Errors
    /// As [`Types::append_fields`].
    fn append_elements(&self, array: &Type, here: &Field, all: &mut Vec<Field>) -> Result<(), String> {
        let (element, count) = (array.words[0] as usize, array.words[2] as usize);
        let size = self.size(element).ok_or("the eBPF object's type information is broken")?;
        for index in 0..count {
            let (path, offset) = (format!("{}[{index}]", here.path), here.offset + index * size);
            self.append_fields(element, Field { path, offset, width: 0 }, all)?;
        }
        Ok(())
    }

    /// Returns the type that `id` stands for behind typedefs and qualifiers; `None` for damaged types.
    fn resolve(&self, mut id: usize) -> Option<&Type> {
        for _ in 0..self.all.len() {
            let found = self.all.get(id)?;
            if !QUALIFIERS.contains(&found.kind) {
                return Some(found);
            }
            id = found.size_or_type as usize;
        }
        None
    }

    /// Returns the size of type `id` in bytes; `None` for damaged types.
    fn size(&self, id: usize) -> Option<usize> {
        let found = self.resolve(id)?;
        match found.kind {
            ARRAY => Some(self.size(found.words[0] as usize)? * found.words[2] as usize),
            _ => Some(found.size_or_type as usize),
        }
    }
}
