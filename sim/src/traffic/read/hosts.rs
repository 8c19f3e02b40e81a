//! Splits hosts as logs write them, some together with a port.

use std::net::{IpAddr, SocketAddr};

/// Splits a host and the port that may follow it, as in `192.0.2.1:443` and `[2001:db8::1]:443`. Brackets around an
/// address are removed. Text that is no address is returned unchanged, without a port.
pub fn split_port(text: &[u8]) -> (&[u8], Option<u16>) {
    // Nearly all names have neither; addresses of IPv6 without brackets have no port.
    let has_port = text.starts_with(b"[") || memchr::memchr_iter(b':', text).count() == 1;
    if !has_port {
        return (text, None);
    }
    let Ok(whole) = std::str::from_utf8(text) else { return (text, None) };
    if let Ok(end) = whole.parse::<SocketAddr>() {
        let colon = whole.rfind(':').unwrap_or(whole.len());
        return (strip_brackets(&text[..colon]), Some(end.port()));
    }
    let host = strip_brackets(text);
    let is_address = std::str::from_utf8(host).is_ok_and(|host| host.parse::<IpAddr>().is_ok());
    (if is_address { host } else { text }, None)
}

/// Parses a port, which may have blanks around it; `None` for anything else.
pub fn parse_port(text: &[u8]) -> Option<u16> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

/// Returns an address without the brackets around it, if it has any.
fn strip_brackets(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(text)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn split_port__addresses_with_and_without_ports() {
        let of = |text: &'static str| split_port(text.as_bytes());
        assert_eq!(of("192.0.2.1:443"), (&b"192.0.2.1"[..], Some(443)));
        assert_eq!(of("[2001:db8::1]:443"), (&b"2001:db8::1"[..], Some(443)));
        assert_eq!(of("[2001:db8::1]"), (&b"2001:db8::1"[..], None));
        for whole in [
            "192.0.2.1",
            "2001:db8::1",
            "2001:db8::1:443",
            "pc:1",
            "pc",
            "1:2:3",
            "[x]:1",
            "192.0.2.1:99999",
            "",
        ] {
            assert_eq!(of(whole), (whole.as_bytes(), None));
        }
    }
}
