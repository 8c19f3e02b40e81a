//! Structs of fixed layout as bytes, and back.

use mousehole_policy::{aggregate_marker, lfp, policer, size_history, token_bucket};
use mousehole_policy::{demotion, rio_ps, shred, shred_edge, window_marker};
use mousehole_policy::{flow_meter, multi_red, promotion, red, sfd, threshold_marker};

/// A struct of integers without padding: every byte is initialised and every pattern of bytes is a value.
///
/// # Safety
/// Only for `repr(C)` types to which this applies.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    // SAFETY (of each): repr(C) structs of integers whose padding is a field, as the policies' layout test shows.
    ($($name:ty),+ $(,)?) => { $(unsafe impl Plain for $name {})+ };
}

plain!(red::Params, red::State, multi_red::Params, multi_red::State, flow_meter::Params, flow_meter::Meter);
plain!(threshold_marker::Params, promotion::Params, promotion::State, sfd::Params, sfd::Flow);
plain!(token_bucket::Params, token_bucket::State, policer::Params, policer::State);
plain!(aggregate_marker::Params, aggregate_marker::State, size_history::Params, size_history::State);
plain!(lfp::Params, lfp::State, lfp::Flow);
plain!(
    rio_ps::Params,
    shred::Params,
    shred::State,
    shred_edge::Params,
    window_marker::Params,
    demotion::Params
);

/// The bytes of a value.
pub fn bytes<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: as many bytes as the value has, all initialised, and for as long as it lives.
    unsafe { std::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}

/// The value that consists of these bytes; `None` unless there are exactly as many as it has.
pub fn value<T: Plain>(bytes: &[u8]) -> Option<T> {
    // SAFETY: long enough, and any bytes make a value.
    (bytes.len() == size_of::<T>()).then(|| unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// A state from its fields, each given as (value, bytes it takes).
pub fn packed<T: Plain>(fields: &[(u64, usize)]) -> T {
    let mut all = Vec::with_capacity(size_of::<T>());
    for (field, width) in fields {
        all.extend_from_slice(&field.to_le_bytes()[..*width]);
    }
    value(&all).expect("the fields make up the struct")
}

/// The unsigned integer of 4 or 8 bytes at `offset`.
pub fn word(bytes: &[u8], offset: usize, width: usize) -> u64 {
    match width {
        4 => u64::from(u32::from_le_bytes(bytes[offset..offset + 4].try_into().expect("four bytes"))),
        _ => u64::from_le_bytes(bytes[offset..offset + 8].try_into().expect("eight bytes")),
    }
}

/// Writes what [`word`] reads.
pub fn set_word(bytes: &mut [u8], offset: usize, width: usize, to: u64) {
    bytes[offset..offset + width].copy_from_slice(&to.to_le_bytes()[..width]);
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn value__undoes_bytes() {
        let state: red::State = packed(&[(7, 8), (8, 8), (9, 8), (1, 4), (0, 4)]);
        assert_eq!(value(bytes(&state)), Some(state));
        assert_eq!(word(bytes(&state), 16, 8), 9);
        assert_eq!(value::<red::State>(&[0; 31]), None);
    }

    #[test]
    fn set_word__leaves_its_neighbours() {
        let mut all = [0xff; 16];
        set_word(&mut all, 4, 4, 1);
        assert_eq!((word(&all, 0, 4), word(&all, 4, 4), word(&all, 8, 8)), (0xffff_ffff, 1, u64::MAX));
    }
}
