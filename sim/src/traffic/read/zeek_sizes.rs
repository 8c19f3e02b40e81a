//! Bytes that the responses of a connection put on the wire, from `http.log` and `conn.log` together.

/// Bytes of a response beside its body that are taken for headers, at most. What is left beyond that belongs to
/// a body that Zeek did not see as a whole.
const MOST_HEADERS: u64 = 4096;

/// Returns what each response put on the wire, if the connection carried `total` bytes, 0 if that is unknown.
///
/// What the bodies leave of them is headers, alike for all responses up to [`MOST_HEADERS`], and beyond that the
/// unseen part of the largest body. Zeek counts bodies decompressed; where they exceed the total, they are scaled.
pub fn on_the_wire(bodies: &[u64], total: u64) -> Vec<u64> {
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
    fn on_the_wire__divides_headers_and_keeps_the_total() {
        assert_eq!(on_the_wire(&[0, 1000], 1601), [300, 1301]);
        assert_eq!(on_the_wire(&[0, 0], 5), [2, 3]);
        assert_eq!(on_the_wire(&[0], 7), [7]);
        assert_eq!(on_the_wire(&[10, 90_000], 1_000_000), [10 + 4096, 1_000_000 - 10 - 4096]);
        assert_eq!(on_the_wire(&[5, 0], 0), [5, 0]);
    }

    #[test]
    fn on_the_wire__scales_decompressed_bodies() {
        assert_eq!(on_the_wire(&[0, 3000, 1000], 400), [0, 300, 100]);
        assert_eq!(on_the_wire(&[1, 1_000_000], 1000), [1, 999]);
    }
}
