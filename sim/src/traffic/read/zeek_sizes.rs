//! Bytes that the responses of a connection put on the wire, from `http.log` and `conn.log` together.

/// The most bytes of a response that count as headers. The rest belongs to a body that Zeek did not see as a whole.
const MOST_HEADERS: u64 = 4096;

/// Estimates the bytes of each response on the wire from the sizes of the `bodies` and the `total` of the
/// connection; the bodies alone if the total is 0, for unknown. There must be a body if the total is known.
///
/// The rest of the total is split into equal headers, up to [`MOST_HEADERS`] each; any further rest goes to the largest
/// body. Zeek counts bodies decompressed; if they exceed the total, they are scaled, to at least 1 byte unless empty.
pub fn estimate_wire_sizes(bodies: &[u64], total: u64) -> Vec<u64> {
    let sum: u64 = bodies.iter().sum();
    if total == 0 {
        return bodies.to_vec();
    }
    if sum > total {
        let scaled = |body: u64| (u128::from(body) * u128::from(total) / u128::from(sum)) as u64;
        return bodies.iter().map(|&body| scaled(body).max(body.min(1))).collect();
    }
    let rest = total - sum;
    let headers = (rest / bodies.len() as u64).min(MOST_HEADERS);
    let mut sizes: Vec<u64> = bodies.iter().map(|body| body + headers).collect();
    let largest = sizes.iter_mut().max_by_key(|size| **size);
    largest.into_iter().for_each(|size| *size += rest - headers * bodies.len() as u64);
    sizes
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn estimate_wire_sizes__divides_headers_and_keeps_the_total() {
        assert_eq!(estimate_wire_sizes(&[0, 1000], 1601), [300, 1301]);
        assert_eq!(estimate_wire_sizes(&[0, 0], 5), [2, 3]);
        assert_eq!(estimate_wire_sizes(&[0], 7), [7]);
        assert_eq!(estimate_wire_sizes(&[10, 90_000], 1_000_000), [10 + 4096, 1_000_000 - 10 - 4096]);
        assert_eq!(estimate_wire_sizes(&[5, 0], 0), [5, 0]);
    }

    #[test]
    fn estimate_wire_sizes__scales_decompressed_bodies() {
        assert_eq!(estimate_wire_sizes(&[0, 3000, 1000], 400), [0, 300, 100]);
        assert_eq!(estimate_wire_sizes(&[1, 1_000_000], 1000), [1, 999]);
    }
}
