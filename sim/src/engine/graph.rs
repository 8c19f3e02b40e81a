//! Paths over any graph of links: found once by whoever draws the graph, looked up here in constant time.

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

/// What a path needs to know of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
    /// A marker stands before its queue.
    pub is_marked: bool,
    /// It is a host's own: what that marks, the next marked link polices.
    pub is_host: bool,
}

/// Which path a connection takes by the numbers of its hosts, modulo those there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hosts {
    /// Clients.
    pub clients: u32,
    /// Servers.
    pub servers: u32,
    /// Client n talks to server n; the connection's own server number is not used.
    pub paired: bool,
}

impl Hosts {
    /// Number of the path between two hosts.
    pub fn path(&self, client: u32, server: u32) -> u32 {
        let client = client % self.clients;
        if self.paired { client } else { client * self.servers + server % self.servers }
    }

    /// Client and server of a path.
    pub fn ends(&self, path: u32) -> (u32, u32) {
        if self.paired { (path, path % self.servers) } else { (path / self.servers, path % self.servers) }
    }

    /// Number of paths.
    pub fn paths(&self) -> usize {
        self.clients as usize * if self.paired { 1 } else { self.servers as usize }
    }
}

/// One direction of a path: its links lie together in [`Graph::links`].
#[derive(Debug, Clone, Copy)]
struct Way {
    first: u32,
    hops: u8,
    /// Hop at which the first marker of this way stands.
    mark: u8,
    /// Hop whose policer holds hosts that mark to their contract; [`NOWHERE`] if none do.
    police: u8,
}

const NOWHERE: u8 = u8::MAX;

#[derive(Debug, Clone, Copy)]
struct Path {
    /// Data, then the way back.
    ways: [Way; 2],
    rtt: Dur,
    /// The first path with the same rates and delays.
    alike: u32,
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

/// Rates and delays of both ways, by which paths are alike.
type Shape = [Vec<(u64, u64)>; 2];

impl Graph {
    /// The graph whose path number n has `hops[n]`; `spans` are all links by number. With `remark` every
    /// marker on a path gives colours, else the first alone. `recorded` are the links whose queues are told.
    pub fn new(hosts: Hosts, hops: &[Hops], spans: &[Span], remark: bool, recorded: Vec<u16>) -> Graph {
        let mut graph = Graph { hosts, paths: Vec::new(), links: Vec::new(), remark, recorded };
        let mut shapes: BTreeMap<Shape, u32> = BTreeMap::new();
        for (number, hops) in hops.iter().enumerate() {
            let ways = [&hops.data, &hops.back].map(|links| graph.way(links, spans));
            let shape = [&hops.data, &hops.back].map(|links| shape(links, spans));
            let rtt = shape.iter().flatten().map(|&(_, delay)| delay).sum();
            let alike = *shapes.entry(shape).or_insert(number as u32);
            graph.paths.push(Path { ways, rtt: Dur(rtt), alike });
        }
        graph
    }

    fn way(&mut self, links: &[u16], spans: &[Span]) -> Way {
        let first = self.links.len() as u32;
        let span = |hop: u8| spans[usize::from(links[usize::from(hop)])];
        let hops = links.len() as u8;
        let mut marked = (0..hops).filter(|&hop| span(hop).is_marked);
        let mark = marked.next();
        let edge = marked.find(|&hop| !span(hop).is_host);
        let police = edge.filter(|_| mark.is_some_and(|hop| span(hop).is_host));
        self.links.extend_from_slice(links);
        Way { first, hops, mark: mark.unwrap_or(0), police: police.unwrap_or(NOWHERE) }
    }

    /// How hosts are numbered.
    pub fn hosts(&self) -> Hosts {
        self.hosts
    }

    /// Whether every marker on a path gives colours.
    pub fn remarks(&self) -> bool {
        self.remark
    }

    /// Number of the path between two hosts.
    pub fn path(&self, client: u32, server: u32) -> u32 {
        self.hosts.path(client, server)
    }

    /// Client and server of a path.
    pub fn ends(&self, path: u32) -> (u32, u32) {
        self.hosts.ends(path)
    }

    /// The link of `path` after `hop` links have been passed, if there is one.
    #[inline]
    pub fn link(&self, hop: u8, reverse: bool, path: u32) -> Option<u16> {
        let way = self.way_of(path, reverse);
        (hop < way.hops).then(|| self.links[way.first as usize + usize::from(hop)])
    }

    /// Whether the marker at this hop gives colours.
    #[inline]
    pub fn marks(&self, hop: u8, reverse: bool, path: u32) -> bool {
        self.remark || self.way_of(path, reverse).mark == hop
    }

    /// Whether the policer at this hop holds to their contract the hosts that mark for themselves.
    #[inline]
    pub fn polices(&self, hop: u8, reverse: bool, path: u32) -> bool {
        self.way_of(path, reverse).police == hop
    }

    /// Whether `path` crosses a link, in either direction.
    pub fn crosses(&self, path: u32, link: u16) -> bool {
        self.paths[path as usize].ways.iter().any(|way| {
            let links = &self.links[way.first as usize..];
            links[..usize::from(way.hops)].contains(&link)
        })
    }

    /// Round-trip propagation delay of a path.
    pub fn rtt(&self, path: u32) -> Dur {
        self.paths[path as usize].rtt
    }

    /// The longest round-trip propagation delay.
    pub fn longest_rtt(&self) -> Dur {
        self.paths.iter().map(|path| path.rtt).max().unwrap_or_default()
    }

    /// The first path with the same rates and delays.
    pub fn alike(&self, path: u32) -> u32 {
        self.paths[path as usize].alike
    }

    /// Links whose queues are told.
    pub fn recorded(&self) -> &[u16] {
        &self.recorded
    }

    #[inline]
    fn way_of(&self, path: u32, reverse: bool) -> Way {
        self.paths[path as usize].ways[usize::from(reverse)]
    }
}

fn shape(links: &[u16], spans: &[Span]) -> Vec<(u64, u64)> {
    links.iter().map(|&link| (spans[usize::from(link)].rate.0, spans[usize::from(link)].delay.0)).collect()
}
