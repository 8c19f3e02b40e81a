//! Corrections of flow classes by the user, which override the rule: `port 5060=call`, `net 10.8.0.0/16 and
//! proto udp=vpn`.

use super::FlowClass;
use super::head::Protocol;
use crate::error::{Error, Result, quote};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const FORM: &str = "CONDITION=CLASS, where a condition is port N, host ADDRESS, net ADDRESS/PREFIX or proto NAME, or \
                    several joined by and, such as 'port 5060=call'";
/// The names of protocols that a condition accepts in addition to numbers.
const PROTOCOLS: &[(&str, u8)] = &[("tcp", 6), ("udp", 17), ("esp", 50), ("ah", 51)];

/// The properties of a flow by which a correction selects it.
#[derive(Debug, Clone, Copy)]
pub struct Ends<'a> {
    /// The protocol that carries it.
    pub protocol: Protocol,
    /// Hosts as the source writes them.
    pub hosts: [&'a [u8]; 2],
    /// Ports; 0 if the source has none.
    pub ports: [u16; 2],
}

/// Corrections in the order in which they were given; the first that matches a flow counts.
#[derive(Debug, Default)]
pub struct Corrections(Vec<Correction>);

/// One correction, with its text for messages.
#[derive(Debug)]
struct Correction {
    text: String,
    conditions: Vec<Condition>,
    class: FlowClass,
    /// Flows that it has matched.
    matched: AtomicU64,
    /// Index of the earlier correction that took a flow that this one matches, too; `NONE` before there is one.
    hidden_by: AtomicUsize,
}

/// No index of a correction.
const NONE: usize = usize::MAX;

/// A condition on a flow.
#[derive(Debug, PartialEq, Eq)]
enum Condition {
    Port(u16),
    Protocol(u8),
    /// An address and the length of its prefix.
    Net(IpAddr, u8),
    /// A host that is no address, as access logs may have.
    Name(String),
}

impl Corrections {
    /// Parses corrections.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field` for a text of another form, an unknown class, or a number out of range.
    pub fn parse<'a>(field: &str, texts: impl IntoIterator<Item = &'a str>) -> Result<Corrections> {
        texts.into_iter().map(|text| Correction::parse(field, text)).collect::<Result<_>>().map(Corrections)
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the class of the first correction that a flow matches and counts the match, for
    /// [`Corrections::check`]; `None` if no correction matches.
    pub fn find_class(&self, ends: &Ends) -> Option<FlowClass> {
        let first = self.0.iter().position(|correction| correction.matches(ends))?;
        let correction = &self.0[first];
        correction.matched.fetch_add(1, Ordering::Relaxed);
        for later in &self.0[first + 1..] {
            if later.matched.load(Ordering::Relaxed) == 0 && later.matches(ends) {
                later.hidden_by.store(first, Ordering::Relaxed);
            }
        }
        Some(correction.class)
    }

    /// Refuses corrections that have classified no flow. Call it after all flows are classified.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field`, with the first of them, and with the earlier one that took its flows if
    /// there is one.
    pub fn check(&self, field: &str) -> Result<()> {
        let idle = self.0.iter().find(|correction| correction.matched.load(Ordering::Relaxed) == 0);
        let Some(Correction { text, hidden_by, .. }) = idle else { return Ok(()) };
        Err(match self.0.get(hidden_by.load(Ordering::Relaxed)) {
            Some(Correction { text: earlier, .. }) => {
                let problem =
                    format!("classifies no flow, as \"{earlier}\" comes first and takes all that it matches");
                Error::faulty(field, quote(text), problem, "given before it, or left out")
            }
            None => Error::faulty(field, quote(text), "matches no flow", "a condition that some flow meets"),
        })
    }
}

impl Correction {
    /// Parses one correction, `CONDITION and CONDITION=CLASS`; `field` is named in errors.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field`, with the faulty text, for another form, condition or class.
    fn parse(field: &str, text: &str) -> Result<Correction> {
        let malformed = || Error::faulty(field, quote(text), "is no correction", FORM);
        let (conditions, class) = text.rsplit_once('=').ok_or_else(malformed)?;
        let words: Vec<&str> = conditions.split_whitespace().collect();
        let conditions = words
            .split(|word| *word == "and")
            .map(|pair| match pair {
                [kind, value] => Condition::parse(field, text, kind, value),
                _ => Err(malformed()),
            })
            .collect::<Result<_>>()?;
        let class = FlowClass::parse(field, class.trim())?;
        Ok(Correction {
            text: text.to_string(),
            conditions,
            class,
            matched: AtomicU64::new(0),
            hidden_by: AtomicUsize::new(NONE),
        })
    }

    /// Returns whether a flow meets all conditions.
    fn matches(&self, ends: &Ends) -> bool {
        self.conditions.iter().all(|condition| condition.matches(ends))
    }
}

impl Condition {
    /// Parses a condition of `kind` port, proto, host or net; `text` is the whole correction, for errors.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field` for another kind, or for a value out of range.
    fn parse(field: &str, text: &str, kind: &str, value: &str) -> Result<Condition> {
        let refuse =
            |allowed: &str| Error::faulty(field, quote(text), format!("has {kind} {value}"), allowed);
        match kind {
            "port" => match value.parse() {
                Ok(port @ 1..) => Ok(Condition::Port(port)),
                _ => Err(refuse("a port from 1 to 65535")),
            },
            "proto" => {
                let named = PROTOCOLS.iter().find(|(name, _)| *name == value).map(|(_, number)| *number);
                let number = named.or_else(|| value.parse().ok());
                number
                    .map(Condition::Protocol)
                    .ok_or_else(|| refuse("a protocol: tcp, udp, esp, ah, or a number from 0 to 255"))
            }
            "host" => Ok(match value.parse::<IpAddr>() {
                Ok(address) => Condition::Net(address, address_bits(address)),
                Err(_) => Condition::Name(value.to_ascii_lowercase()),
            }),
            "net" => parse_network(value).ok_or_else(|| refuse("a net: ADDRESS/PREFIX, such as 10.0.0.0/8")),
            _ => Err(Error::unknown(field, "condition", kind, ["port", "host", "net", "proto"])),
        }
    }

    /// Returns whether a flow meets the condition, by its protocol or by either of its ends.
    fn matches(&self, ends: &Ends) -> bool {
        match self {
            Condition::Port(port) => ends.ports.contains(port),
            Condition::Protocol(number) => *number == ip_number(ends.protocol),
            Condition::Net(net, prefix) => ends.hosts.iter().any(|host| {
                let address = std::str::from_utf8(host).ok().and_then(|host| host.parse::<IpAddr>().ok());
                address.is_some_and(|address| is_within(address.to_canonical(), *net, *prefix))
            }),
            Condition::Name(name) => ends.hosts.iter().any(|host| host.eq_ignore_ascii_case(name.as_bytes())),
        }
    }
}

/// Returns the number of the protocol in the IP header; for QUIC that of UDP.
fn ip_number(protocol: Protocol) -> u8 {
    match protocol {
        Protocol::Tcp => 6,
        Protocol::Udp | Protocol::Quic => 17,
        Protocol::Ip(number) => number,
    }
}

/// Parses `ADDRESS/PREFIX`; `None` if either part is malformed or the prefix too long.
fn parse_network(value: &str) -> Option<Condition> {
    let (address, prefix) = value.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let prefix = prefix.parse().ok().filter(|prefix| *prefix <= address_bits(address))?;
    Some(Condition::Net(address, prefix))
}

/// Returns the length of the address, which is the longest prefix.
fn address_bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Returns whether the address lies in the network of `prefix` bits, at most 128; false if the IP versions differ.
fn is_within(address: IpAddr, net: IpAddr, prefix: u8) -> bool {
    let bits = |address| match address {
        IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
        IpAddr::V6(address) => u128::from(address),
    };
    let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
    address.is_ipv4() == net.is_ipv4() && (bits(address) ^ bits(net)) & mask == 0
}

#[cfg(test)]
#[path = "correction_tests.rs"]
mod tests;
