//! Determines the application class of a connection, by the service that a log names or by the server's port.
//!
//! Ports are IANA's service names and port numbers, and those that peer-to-peer clients take by default.
//! Everything else is web: most of it is, and a wrong guess costs least there.

use super::hosts;
use crate::flow::Class;
use std::ops::RangeInclusive;

/// Someone waits for every packet: ssh, telnet, names, time, remote desktops, calls and their set-up.
const INTERACTIVE: &[RangeInclusive<u16>] = &[
    22..=23,
    53..=53,
    123..=123,
    513..=514,
    853..=853,
    1494..=1494,
    3389..=3389,
    3478..=3479,
    5060..=5061,
    5353..=5353,
    5900..=5909,
    6000..=6009,
];

/// Nobody waits: file transfer, mail, news, file services, backup, peer-to-peer.
const BULK: &[RangeInclusive<u16>] = &[
    20..=21,
    25..=25,
    110..=110,
    119..=119,
    137..=139,
    143..=143,
    445..=445,
    465..=465,
    563..=563,
    587..=587,
    873..=873,
    989..=990,
    993..=993,
    995..=995,
    2049..=2049,
    4662..=4662,
    6881..=6889,
];

/// Zeek's names of services that are not web.
const INTERACTIVE_SERVICES: &[&str] = &[
    "ssh", "telnet", "rlogin", "rsh", "dns", "ntp", "rdp", "rfb", "vnc", "sip", "irc", "xmpp", "stun", "mqtt",
];
const BULK_SERVICES: &[&str] = &[
    "ftp",
    "ftp-data",
    "smtp",
    "pop3",
    "imap",
    "nntp",
    "smb",
    "nfs",
    "tftp",
    "rsync",
    "bittorrent",
    "syslog",
];

/// Names of application protocols in TLS (ALPN, IANA's registry) that are not web.
const INTERACTIVE_ALPN: &[&str] = &[
    "dot",
    "doq",
    "irc",
    "xmpp-client",
    "xmpp-server",
    "sip/2",
    "stun.turn",
    "stun.nat-discovery",
    "mqtt",
    "webrtc",
    "c-webrtc",
    "coap",
    "ntske/1",
];
const BULK_ALPN: &[&str] = &["ftp", "imap", "pop3", "smtp", "nntp", "nnsp", "managesieve", "smb"];
/// And those that are.
const WEB_ALPN: &[&str] = &["http/0.9", "http/1.0", "http/1.1", "h2", "h2c"];

/// Returns the class of the protocol that a TLS or QUIC handshake names; `None` if the name is unknown.
pub fn classify_alpn(name: &[u8]) -> Option<Class> {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let among = |known: &[&str]| known.contains(&name.trim());
    match (among(INTERACTIVE_ALPN), among(BULK_ALPN)) {
        (true, _) => Some(Class::Interactive),
        (_, true) => Some(Class::Bulk),
        // Drafts of HTTP/3 have names such as h3-29.
        _ => (among(WEB_ALPN) || name.starts_with("h3")).then_some(Class::Web),
    }
}

/// Returns whether a log's service, one name or several, includes QUIC.
pub fn names_quic(service: &[u8]) -> bool {
    service.split(|&c| c == b',').any(|name| name.eq_ignore_ascii_case(b"quic"))
}

/// Returns the class of a server port; web if it is unknown.
pub fn classify_port(port: u16) -> Class {
    let among = |ranges: &[RangeInclusive<u16>]| ranges.iter().any(|range| range.contains(&port));
    match (among(INTERACTIVE), among(BULK)) {
        (true, _) => Class::Interactive,
        (_, true) => Class::Bulk,
        _ => Class::Web,
    }
}

/// Returns the class of a log's service, which may be several names separated by commas (`ssl,smtp`). Without
/// a known name the server's port decides; otherwise the class is web.
pub fn classify(service: &[u8], port: &[u8]) -> Class {
    // The names that nearly all rows of large logs have.
    match service {
        b"ssl" | b"http" if port == b"443" || port == b"80" => return Class::Web,
        b"dns" => return Class::Interactive,
        _ => {}
    }
    let service = String::from_utf8_lossy(service).to_ascii_lowercase();
    let among = |known: &[&str]| service.split(',').any(|name| known.contains(&name.trim()));
    if among(INTERACTIVE_SERVICES) {
        return Class::Interactive;
    }
    if among(BULK_SERVICES) {
        return Class::Bulk;
    }
    // The port decides only if no name shows the application.
    let is_silent =
        service.split(',').all(|name| matches!(name.trim(), "" | "-" | "ssl" | "tls" | "quic" | "(empty)"));
    match hosts::parse_port(port) {
        Some(port) if is_silent => classify_port(port),
        _ => Class::Web,
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn classify_port__lists_do_not_overlap() {
        for port in 0..=u16::MAX {
            let among =
                |ranges: &[RangeInclusive<u16>]| ranges.iter().filter(|range| range.contains(&port)).count();
            assert!(among(INTERACTIVE) + among(BULK) <= 1, "{port}");
        }
        assert_eq!([22, 23, 53, 3389, 5060].map(classify_port), [Class::Interactive; 5]);
        assert_eq!([20, 21, 25, 110, 143, 873, 6881, 6889].map(classify_port), [Class::Bulk; 8]);
        assert_eq!([80, 443, 8080, 6890, 0].map(classify_port), [Class::Web; 5]);
    }

    #[test]
    fn classify__a_named_service_goes_before_the_port() {
        assert_eq!(classify(b"ssh", b"443"), Class::Interactive);
        assert_eq!(classify(b"http", b"22"), Class::Web);
        assert_eq!(classify(b"smtp,ssl", b"443"), Class::Bulk);
        assert_eq!(classify(b"-", b"22"), Class::Interactive);
        assert_eq!(classify(b"ssl", b"993"), Class::Bulk);
        assert_eq!(classify(b"", b"no port"), Class::Web);
        assert_eq!(classify(b"quic,ssl", b"853"), Class::Interactive);
    }

    #[test]
    fn classify_alpn__recognises_applications_over_tls() {
        let of = |name: &str| classify_alpn(name.as_bytes());
        assert_eq!(["h2", "h3-29", "http/1.1"].map(of), [Some(Class::Web); 3]);
        assert_eq!([of("doq"), of("imap"), of("-")], [Some(Class::Interactive), Some(Class::Bulk), None]);
        assert!(names_quic(b"ssl,quic") && !names_quic(b"ssl"));
    }
}
