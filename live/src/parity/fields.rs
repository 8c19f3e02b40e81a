//! The layout of C structs, as the object's own type information (BTF) has it.

use libbpf_rs::HasSize as _;
use libbpf_rs::btf::types::{Array, Int, MemberAttr, Struct};
use libbpf_rs::btf::{Btf, BtfType};

/// An integer somewhere in a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Where it stands, such as `level[1].min_q32`.
    pub path: String,
    /// Its own name, such as `min_q32`.
    pub name: String,
    /// Bytes from the beginning of the outermost struct.
    pub offset: usize,
    /// Bytes it takes.
    pub width: usize,
}

/// Every integer in the struct of this name, nested ones included.
///
/// # Panics
/// When the object has no such struct, or it holds what a policy's must not: pointers, bit fields, unions.
pub fn fields(object: &[u8], name: &str) -> Vec<Field> {
    with_struct(object, name, |btf, found| {
        let mut all = Vec::new();
        let whole = Field { path: String::new(), name: String::new(), offset: 0, width: 0 };
        members(btf, &found, &whole, &mut all);
        all
    })
}

/// Size of the struct of this name, bytes.
///
/// # Panics
/// When the object has no such struct.
pub fn size(object: &[u8], name: &str) -> usize {
    with_struct(object, name, |_, found| found.size())
}

fn with_struct<T>(object: &[u8], name: &str, use_it: impl FnOnce(&Btf<'_>, Struct<'_>) -> T) -> T {
    let btf = Btf::from_raw("parity", object).expect("an eBPF object").expect("compiled with -g");
    let found = btf.type_by_name::<Struct<'_>>(name);
    use_it(&btf, found.unwrap_or_else(|| panic!("the object has no struct {name}")))
}

fn members(btf: &Btf<'_>, parent: &Struct<'_>, place: &Field, all: &mut Vec<Field>) {
    for member in parent.iter() {
        let MemberAttr::Normal { offset: bits } = member.attr else { panic!("{}: a bit field", place.path) };
        let name = member.name.expect("a named member").to_string_lossy().into_owned();
        let path = if place.path.is_empty() { name.clone() } else { format!("{}.{name}", place.path) };
        let here = Field { path, name, offset: place.offset + bits as usize / 8, width: 0 };
        let kind = btf.type_by_id::<BtfType<'_>>(member.ty).expect("a member's type");
        leaves(btf, &kind.skip_mods_and_typedefs(), here, all);
    }
}

fn leaves(btf: &Btf<'_>, kind: &BtfType<'_>, here: Field, all: &mut Vec<Field>) {
    if let Ok(int) = Int::try_from(*kind) {
        all.push(Field { width: usize::from(int.bits) / 8, ..here });
    } else if let Ok(nested) = Struct::try_from(*kind) {
        members(btf, &nested, &here, all);
    } else if let Ok(array) = Array::try_from(*kind) {
        elements(btf, &array, &here, all);
    } else {
        panic!("{}: neither integer, struct nor array", here.path);
    }
}

fn elements(btf: &Btf<'_>, array: &Array<'_>, here: &Field, all: &mut Vec<Field>) {
    let element = array.contained_type().skip_mods_and_typedefs();
    for index in 0..array.capacity() {
        let first = all.len();
        leaves(btf, &element, Field { path: format!("{}[{index}]", here.path), ..here.clone() }, all);
        let width = all[first..].iter().map(|field| field.width).sum::<usize>();
        all[first..].iter_mut().for_each(|field| field.offset += index * width);
    }
}
