//! Cuts a transfer into pieces, for SFD's L2S transform and for misbehaving senders.

/// Returns the number of pieces when `bytes` are cut into `pieces` of equal size rounded up, at least 1; it
/// may be lower than `pieces`.
pub fn count_pieces(bytes: u64, pieces: u32) -> u64 {
    let size = piece_size(bytes, pieces);
    bytes.max(1).div_ceil(size)
}

/// Returns the bytes of piece `number`, from 0 to below [`count_pieces`]: all are equal but the last, which has the
/// rest.
pub fn piece_bytes(bytes: u64, pieces: u32, number: u64) -> u64 {
    chunk_bytes(bytes, piece_size(bytes, pieces), number)
}

/// Returns the bytes of chunk `number`, from 0, when `bytes` are cut into chunks of `size`; the last has the rest.
/// `number * size` must not exceed `bytes`.
pub fn chunk_bytes(bytes: u64, size: u64, number: u64) -> u64 {
    size.min(bytes - number * size)
}

/// Returns the bytes of every piece but the last, rounded up, at least 1.
fn piece_size(bytes: u64, pieces: u32) -> u64 {
    bytes.max(1).div_ceil(u64::from(pieces.max(1)))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn piece_bytes__pieces_make_the_whole() {
        for bytes in [1u64, 2, 7, 10, 1000, 10_000_019] {
            for pieces in [1u32, 2, 3, 8, 64] {
                let count = count_pieces(bytes, pieces);
                assert!(count <= u64::from(pieces) && count >= 1);
                let parts: Vec<u64> = (0..count).map(|number| piece_bytes(bytes, pieces, number)).collect();
                assert_eq!(parts.iter().sum::<u64>(), bytes, "{bytes} in {pieces}: {parts:?}");
                assert!(parts.iter().all(|&part| part >= 1));
            }
        }
    }
}
