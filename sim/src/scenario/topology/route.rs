//! Static shortest paths: least delay, then fewest links, then the next node's name.

use crate::units::Dur;
use petgraph::algo::dijkstra;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeRef, Reversed};
use petgraph::{Incoming, Outgoing};
use std::collections::BTreeMap;
use std::ops::Add;

/// Cost of a path: delay first, then links.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
struct Cost {
    delay_ns: u64,
    links: u32,
}

impl Add for Cost {
    type Output = Cost;
    fn add(self, other: Cost) -> Cost {
        Cost { delay_ns: self.delay_ns + other.delay_ns, links: self.links + other.links }
    }
}

/// A router: finds shortest paths, and caches the results for each destination.
pub struct Router {
    graph: DiGraph<(), Cost>,
    /// By destination: the link to take at each node.
    next: BTreeMap<usize, Vec<Option<u16>>>,
}

impl Router {
    /// Returns a router over nodes numbered in the order of their names, and one-way links (from, to, delay).
    pub fn new(nodes: usize, links: impl Iterator<Item = (usize, usize, Dur)>) -> Router {
        let mut graph = DiGraph::with_capacity(nodes, 0);
        for _ in 0..nodes {
            graph.add_node(());
        }
        for (from, to, delay) in links {
            graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), Cost { delay_ns: delay.0, links: 1 });
        }
        Router { graph, next: BTreeMap::new() }
    }

    /// Returns the links of the shortest path from one node to another, in order; `None` if there
    /// is none. The first path to a destination computes the routes of all nodes to it, which are
    /// stored.
    pub fn find_path(&mut self, from: usize, to: usize) -> Option<Vec<u16>> {
        // A host with one link in is reached by way of the node before it, which it shares with others.
        let mut into = self.graph.edges_directed(NodeIndex::new(to), Incoming);
        let last = match (into.next(), into.next()) {
            (Some(only), None) => Some((only.source().index(), only.id().index() as u16)),
            _ => None,
        };
        let target = last.map_or(to, |(before, _)| before);
        let next = self.next.entry(target).or_insert_with(|| next_links(&self.graph, target));
        let mut links = Vec::new();
        let mut node = from;
        while node != target {
            let link = next[node]?;
            links.push(link);
            node = self.graph.raw_edges()[usize::from(link)].target().index();
        }
        links.extend(last.map(|(_, link)| link));
        Some(links)
    }
}

/// Returns the link to take at each node towards `target`; `None` where there is no path, and at
/// the target. Of equal paths the one whose next node has the lowest number is taken.
fn next_links(graph: &DiGraph<(), Cost>, target: usize) -> Vec<Option<u16>> {
    let costs = dijkstra(Reversed(graph), NodeIndex::new(target), None, |edge| *edge.weight());
    let best = |node: NodeIndex| {
        let cost = costs.get(&node)?;
        let on_shortest = graph
            .edges_directed(node, Outgoing)
            .filter(|edge| costs.get(&edge.target()).is_some_and(|rest| *edge.weight() + *rest == *cost));
        on_shortest.min_by_key(|edge| edge.target()).map(|edge| edge.id().index() as u16)
    };
    graph.node_indices().map(best).collect()
}
