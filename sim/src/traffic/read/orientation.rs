//! Decides which side of a connection is the server if no packet of its handshake shows it.

use super::class;
use crate::flow::Class;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::net::IpAddr;

/// Below this only servers have ports; from here to [`FIRST_USER_PORT`] also clients that run as root, such as NFS's.
const FIRST_RESERVED_PORT: u16 = 512;
pub const FIRST_USER_PORT: u16 = 1024;
/// Number of connections from which on the end that they share belongs to no client.
const MANY: u32 = 4;

/// Ports above 511 that are registered for services, by IANA: directories, proxies, web servers, databases, messages
/// and streams. Those of [`class`] come in addition.
const REGISTERED: &[u16] = &[
    515, 548, 554, 631, 636, 1080, 1194, 1433, 1521, 1723, 1883, 1935, 3128, 3268, 3306, 3690, 4443, 5000,
    5222, 5223, 5228, 5269, 5432, 5671, 5672, 6379, 6443, 6667, 6697, 8000, 8008, 8009, 8080, 8081, 8088,
    8333, 8443, 8883, 8888, 9000, 9042, 9090, 9092, 9200, 9418, 9443, 11211, 27017, 50051,
];

/// Ports registered for services over datagrams, in addition to those of [`REGISTERED`] and [`class`]: tunnels, RADIUS,
/// discovery, and Valve's games.
const DATAGRAM_SERVICES: &[u16] = &[1701, 1812, 1813, 1900, 3544, 4500, 27_015, 51_820];

/// Counts of the connections that share ends and ports. Hosts are addresses, or numbers of hosts.
#[derive(Debug)]
pub struct Shares<H = IpAddr> {
    ends: HashMap<(H, u16), End>,
    ports: HashMap<u16, u32>,
}

impl<H> Default for Shares<H> {
    /// Returns counts without connections.
    fn default() -> Shares<H> {
        Shares { ends: HashMap::new(), ports: HashMap::new() }
    }
}

/// Counts of the connections of one end.
#[derive(Debug, Default, Clone, Copy)]
struct End {
    connections: u32,
    /// Connections that this end serves, by their handshakes.
    served: u32,
}

impl<H: Eq + Hash + Copy> Shares<H> {
    /// Counts a connection between two ends and for both ports; `server` is the side of the server, 0 or 1, if a
    /// handshake shows it.
    pub fn add(&mut self, ends: [(H, u16); 2], server: Option<usize>) {
        for (side, end) in ends.into_iter().enumerate() {
            let entry = self.ends.entry(end).or_default();
            entry.connections += 1;
            entry.served += u32::from(server == Some(side));
            *self.ports.entry(end.1).or_default() += 1;
        }
    }

    /// Returns which of two ends is the server, 0 or 1. The first rule by which the ends differ decides:
    ///
    /// 1. handshakes of more connections show it as the server;
    /// 2. its port is below 512;
    /// 3. four connections or more share the end, address and port;
    /// 4. its port is registered for a service;
    /// 5. its port is below 1024;
    /// 6. more connections share the end;
    /// 7. more connections share the port, in powers of two, because a few share any port by chance;
    /// 8. its port is lower.
    ///
    /// `None` if no rule decides.
    pub fn find_server(&self, ends: [(H, u16); 2]) -> Option<usize> {
        let by_port = |rank: &dyn Fn(u16) -> u32| ends.map(|end| rank(end.1));
        let rest = || {
            apply_rules(&[
                self.rank_ends(ends, |end| end.connections),
                by_port(&|port| self.ports.get(&port).map_or(0, |count| count.ilog2())),
                by_port(&|port| u32::from(u16::MAX - port)),
            ])
        };
        self.find_server_by_service(ends).or_else(rest)
    }

    /// Returns which of two ends is the server by the first five rules of [`Shares::find_server`], which show
    /// a service; `None` if none decides.
    pub fn find_server_by_service(&self, ends: [(H, u16); 2]) -> Option<usize> {
        let by_port = |rank: &dyn Fn(u16) -> u32| ends.map(|end| rank(end.1));
        apply_rules(&[
            self.rank_ends(ends, |end| end.served),
            by_port(&|port| u32::from(port < FIRST_RESERVED_PORT)),
            self.rank_ends(ends, |end| if end.connections >= MANY { end.connections } else { 0 }),
            by_port(&|port| u32::from(is_registered(port))),
            by_port(&|port| u32::from(port < FIRST_USER_PORT)),
        ])
    }

    /// Returns the rank that `pick` gives each end; 0 for an end without connections.
    fn rank_ends(&self, ends: [(H, u16); 2], pick: fn(&End) -> u32) -> [u32; 2] {
        ends.map(|end| self.ends.get(&end).map_or(0, pick))
    }
}

impl Shares {
    /// Returns which of the two ends of a flow of datagrams is the server; `None` if no rule decides. There
    /// are no handshakes, and hosts in a call choose both ports at random. So after rules 2 to 5 of
    /// [`Shares::find_server`] the client is the host among `clients`, the clients of other connections; else
    /// the one with a private address; else the end that fewer connections share. Before all rules, the
    /// receivers of a multicast are its clients.
    pub fn find_server_of_datagrams(
        &self,
        ends: [(IpAddr, u16); 2],
        clients: &HashSet<IpAddr>,
    ) -> Option<usize> {
        let by_port = |rank: &dyn Fn(u16) -> u32| ends.map(|end| rank(end.1));
        let by_host = |rank: &dyn Fn(IpAddr) -> bool| ends.map(|end| u32::from(rank(end.0)));
        apply_rules(&[
            by_host(&|host| !is_group(host)),
            by_port(&|port| u32::from(port > 0 && port < FIRST_RESERVED_PORT)),
            self.rank_ends(ends, |end| if end.connections >= MANY { end.connections } else { 0 }),
            by_port(&|port| u32::from(is_registered(port) || DATAGRAM_SERVICES.contains(&port))),
            by_port(&|port| u32::from(port > 0 && port < FIRST_USER_PORT)),
            by_host(&|host| !clients.contains(&host)),
            by_host(&|host| !is_private(host)),
            self.rank_ends(ends, |end| end.connections),
        ])
    }
}

/// Returns the end with the higher rank by the first rule that ranks them differently; `None` if no rule does.
fn apply_rules(rules: &[[u32; 2]]) -> Option<usize> {
    rules.iter().find(|[first, second]| first != second).map(|[first, second]| usize::from(second > first))
}

/// Returns whether an address is that of a group beyond the link: multicast, but not of link-local scope (RFC 5771, section
/// 4; RFC 4291, section 2.7), which neighbours use to find each other.
fn is_group(host: IpAddr) -> bool {
    match host {
        IpAddr::V4(host) => host.is_multicast() && host.octets()[..3] != [224, 0, 0],
        IpAddr::V6(host) => host.is_multicast() && host.octets()[1] & 0x0f > 2,
    }
}

/// Returns whether an address belongs to a private network (RFC 1918, RFC 6598, RFC 4193) or is link-local.
fn is_private(host: IpAddr) -> bool {
    match host {
        IpAddr::V4(host) => {
            let [first, second, ..] = host.octets();
            host.is_private() || host.is_link_local() || first == 100 && second & 0xc0 == 64
        }
        IpAddr::V6(host) => host.octets()[0] & 0xfe == 0xfc || host.segments()[0] & 0xffc0 == 0xfe80,
    }
}

/// Returns whether a port is registered for a service other than the web, or is in [`REGISTERED`].
fn is_registered(port: u16) -> bool {
    REGISTERED.contains(&port) || class::classify_port(port) != Class::Web
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns an end at 10.0.0.`last`.
    fn end(last: u8, port: u16) -> (IpAddr, u16) {
        ([10, 0, 0, last].into(), port)
    }

    #[test]
    fn shares__rules_in_their_order() {
        let mut shares = Shares::default();
        let server = |shares: &Shares, a, b| shares.find_server([a, b]);
        assert_eq!(server(&shares, end(1, 40_000), end(2, 443)), Some(1));
        assert_eq!(server(&shares, end(2, 443), end(1, 40_000)), Some(0));
        assert_eq!(server(&shares, end(1, 1100), end(2, 8080)), Some(1), "registered");
        assert_eq!(server(&shares, end(1, 50_000), end(2, 40_000)), Some(1), "the lower port");
        assert_eq!(server(&shares, end(1, 800), end(2, 2049)), Some(1), "a client that runs as root");
        assert_eq!(server(&shares, end(1, 800), end(2, 30_000)), Some(0));
        assert_eq!(server(&shares, end(1, 7000), end(2, 7000)), None);
        (0..3).for_each(|client| shares.add([end(client, 20_000 + u16::from(client)), end(9, 60_000)], None));
        assert_eq!(server(&shares, end(1, 20_001), end(9, 60_000)), Some(1), "shared end");
        assert_eq!(server(&shares, end(5, 20_009), end(8, 60_000)), Some(1), "shared port");
        shares.add([end(3, 8080), end(9, 60_000)], None);
        assert_eq!(server(&shares, end(3, 8080), end(9, 60_000)), Some(1), "shared by many");
        shares.add([end(7, 45_000), end(9, 60_000)], Some(0));
        assert_eq!(server(&shares, end(7, 45_000), end(9, 60_000)), Some(0), "served before");
    }
}
