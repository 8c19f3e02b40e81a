//! Paths over any graph of links. `scenario/topology` computes them before the run; here they are looked up in
//! constant time.

use crate::units::{Dur, Rate};
use std::collections::BTreeMap;

/// The links of one path in order, both ways.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hops {
    /// From the server, which sends the data, to the client.
    pub data: Vec<u16>,
    /// From the client to the server.
    pub back: Vec<u16>,
}

/// The properties of a link that its paths depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
    /// A marker stands before its queue.
    pub is_marked: bool,
    /// It is the access link of a host: packets that it marks are policed at the next link with a marker.
    pub is_host: bool,
}

/// The hosts of a graph. The numbers of a connection's hosts, modulo the hosts there are, select its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hosts {
    /// Clients.
    pub clients: u32,
    /// Servers.
    pub servers: u32,
    /// Client n is paired with server n; the connection's own server number is not used.
    pub paired: bool,
}

impl Hosts {
    /// Returns the number of the path between two hosts, whose numbers are taken modulo the hosts
    /// there are. It panics if there are none.
    pub fn path(&self, client: u32, server: u32) -> u32 {
        let client = client % self.clients;
        if self.paired { client } else { client * self.servers + server % self.servers }
    }

    /// Returns the client and the server of a path.
    pub fn ends(&self, path: u32) -> (u32, u32) {
        if self.paired { (path, path % self.servers) } else { (path / self.servers, path % self.servers) }
    }

    /// Returns the number of paths, whose numbers run from 0.
    pub fn paths(&self) -> usize {
        self.clients as usize * if self.paired { 1 } else { self.servers as usize }
    }
}

/// One direction of a path; its links are stored one after the other in [`Graph::links`].
#[derive(Debug, Clone, Copy)]
struct Direction {
    first: u32,
    hops: u8,
    /// Hop of the first marker.
    mark: u8,
    /// Hop whose policer checks packets that hosts have marked; [`NO_HOP`] if there is none.
    police: u8,
}

const NO_HOP: u8 = u8::MAX;

#[derive(Debug, Clone, Copy)]
struct Path {
    /// The direction of the data, then of the acknowledgements.
    directions: [Direction; 2],
    rtt: Dur,
    /// The first path with the same rates and delays.
    equivalent: u32,
}

/// The paths of a run over any graph.
#[derive(Debug)]
pub struct Graph {
    hosts: Hosts,
    paths: Vec<Path>,
    links: Vec<u16>,
    remark: bool,
    recorded: Vec<u16>,
}

/// Rates and delays in both directions; paths with the same ones are equivalent.
type Shape = [Vec<(u64, u64)>; 2];

impl Graph {
    /// Returns the graph whose path number n has `hops[n]`; `spans` are all links by number. With
    /// `remark` every marker on a path sets colours, otherwise only the first. `recorded` are the
    /// links whose queues are reported. A direction has at most 255 links. It panics if a path
    /// crosses a link without a span.
    pub fn new(hosts: Hosts, hops: &[Hops], spans: &[Span], remark: bool, recorded: Vec<u16>) -> Graph {
        let mut graph = Graph { hosts, paths: Vec::new(), links: Vec::new(), remark, recorded };
        let mut shapes: BTreeMap<Shape, u32> = BTreeMap::new();
        for (number, hops) in hops.iter().enumerate() {
            let directions = [&hops.data, &hops.back].map(|links| graph.add_direction(links, spans));
            let shape = [&hops.data, &hops.back].map(|links| shape(links, spans));
            let rtt = shape.iter().flatten().map(|&(_, delay)| delay).sum();
            let equivalent = *shapes.entry(shape).or_insert(number as u32);
            graph.paths.push(Path { directions, rtt: Dur(rtt), equivalent });
        }
        graph
    }

    /// Appends the links of one direction to the graph's list; returns where they stand, with the
    /// hops of its first marker (0 if it has none) and its policer. There is a policer only if the
    /// first marker belongs to a host and another one follows inside the network.
    fn add_direction(&mut self, links: &[u16], spans: &[Span]) -> Direction {
        let first = self.links.len() as u32;
        let span = |hop: u8| spans[usize::from(links[usize::from(hop)])];
        let hops = links.len() as u8;
        let mut marked = (0..hops).filter(|&hop| span(hop).is_marked);
        let mark = marked.next();
        let edge = marked.find(|&hop| !span(hop).is_host);
        let police = edge.filter(|_| mark.is_some_and(|hop| span(hop).is_host));
        self.links.extend_from_slice(links);
        Direction { first, hops, mark: mark.unwrap_or(0), police: police.unwrap_or(NO_HOP) }
    }

    /// Returns the numbers of hosts.
    pub fn hosts(&self) -> Hosts {
        self.hosts
    }

    /// Returns whether every marker on a path sets colours.
    pub fn remarks(&self) -> bool {
        self.remark
    }

    /// Returns the number of the path between two hosts, whose numbers are taken modulo the hosts
    /// there are.
    pub fn path(&self, client: u32, server: u32) -> u32 {
        self.hosts.path(client, server)
    }

    /// Returns the client and the server of a path.
    pub fn ends(&self, path: u32) -> (u32, u32) {
        self.hosts.ends(path)
    }

    /// Returns the link of `path` after `hop` links have been crossed, `None` at its end; `reverse`
    /// selects the direction of the acknowledgements.
    #[inline]
    pub fn link_at(&self, hop: u8, reverse: bool, path: u32) -> Option<u16> {
        let direction = self.direction(path, reverse);
        (hop < direction.hops).then(|| self.links[direction.first as usize + usize::from(hop)])
    }

    /// Returns whether the marker at this hop sets colours. The hop must have a marker.
    #[inline]
    pub fn marks(&self, hop: u8, reverse: bool, path: u32) -> bool {
        self.remark || self.direction(path, reverse).mark == hop
    }

    /// Returns whether the policer at this hop checks packets that hosts have marked.
    #[inline]
    pub fn polices(&self, hop: u8, reverse: bool, path: u32) -> bool {
        self.direction(path, reverse).police == hop
    }

    /// Returns whether `path` crosses a link, in either direction.
    pub fn crosses(&self, path: u32, link: u16) -> bool {
        self.paths[path as usize].directions.iter().any(|direction| {
            let links = &self.links[direction.first as usize..];
            links[..usize::from(direction.hops)].contains(&link)
        })
    }

    /// Returns the round-trip propagation delay of a path.
    pub fn rtt(&self, path: u32) -> Dur {
        self.paths[path as usize].rtt
    }

    /// Returns the longest round-trip propagation delay of all paths; zero without paths.
    pub fn longest_rtt(&self) -> Dur {
        self.paths.iter().map(|path| path.rtt).max().unwrap_or_default()
    }

    /// Returns the number of the first path with the same rates and delays.
    pub fn equivalent(&self, path: u32) -> u32 {
        self.paths[path as usize].equivalent
    }

    /// Returns the links whose queues are reported.
    pub fn recorded(&self) -> &[u16] {
        &self.recorded
    }

    /// Returns one direction of a path.
    #[inline]
    fn direction(&self, path: u32, reverse: bool) -> Direction {
        self.paths[path as usize].directions[usize::from(reverse)]
    }
}

/// Returns rate in bit/s and delay in ns of each link, by which equivalent paths are recognised.
fn shape(links: &[u16], spans: &[Span]) -> Vec<(u64, u64)> {
    links.iter().map(|&link| (spans[usize::from(link)].rate.0, spans[usize::from(link)].delay.0)).collect()
}
