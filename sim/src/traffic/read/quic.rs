//! Recognises QUIC by the first bytes of a datagram.

/// Header form and fixed bit of QUIC (RFC 9000, section 17.2).
const LONG_HEADER: u8 = 0xc0;
/// QUIC 1 (RFC 9000, section 15) and 2 (RFC 9369, section 3.1).
const QUIC_VERSIONS: [u32; 2] = [1, 0x6b33_43cf];
/// The drafts of QUIC 1 that were deployed, 0xff000000 with the draft's number.
const QUIC_DRAFTS: std::ops::RangeInclusive<u32> = 0xff00_0017..=0xff00_0022;

/// Returns whether the payload of a datagram begins with QUIC's long header: form, fixed bit, and a version that is
/// deployed. False for fewer than five captured bytes.
pub fn is_quic(bytes: &[u8]) -> bool {
    let Some(head) = bytes.first_chunk::<5>() else { return false };
    let version = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    let is_deployed = QUIC_VERSIONS.contains(&version) || QUIC_DRAFTS.contains(&version);
    head[0] & LONG_HEADER == LONG_HEADER && is_deployed
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn is_quic__by_the_long_header() {
        let initial = |first: u8, version: u32, id: u8| {
            let mut packet = vec![first];
            packet.extend(version.to_be_bytes());
            packet.push(id);
            packet.extend(vec![7; usize::from(id)]);
            packet.extend([8; 40]);
            packet
        };
        assert!(is_quic(&initial(0xc3, 1, 8)));
        assert!(is_quic(&initial(0xd3, 0x6b33_43cf, 20)), "version 2");
        assert!(is_quic(&initial(0xc0, 0xff00_001d, 8)), "draft 29");
        assert!(!is_quic(&initial(0x83, 1, 8)), "no fixed bit");
        assert!(!is_quic(&initial(0x43, 1, 8)), "a short header");
        assert!(!is_quic(&initial(0xc3, 5, 8)), "another version");
        assert!(is_quic(&initial(0xc3, 1, 8)[..5]), "cut by the capture");
        assert!(!is_quic(&initial(0xc3, 1, 8)[..4]));
        assert!(!is_quic(&[0x80, 0, 0, 0, 1, 8]), "RTP");
    }
}
