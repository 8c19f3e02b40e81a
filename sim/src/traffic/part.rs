//! Traffics made of several sources; each part has the connections of one source.

use super::class::FlowClass;
use super::connection::{Connection, Kind};
use super::{Faults, Pages, Traffic};
use crate::units::Dur;

/// A contiguous range of a traffic's connections.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The connections, by start.
    pub connections: &'a [Connection],
    /// Index of the first connection.
    pub first: u32,
}

impl Part<'_> {
    /// Returns the time from the first start to the last known activity; 0 without connections.
    pub fn span(&self) -> Dur {
        let first = self.connections.iter().map(|connection| connection.start).min().unwrap_or_default();
        let last = self.connections.iter().map(Connection::last_activity).max().unwrap_or_default();
        last.since(first)
    }

    /// Returns the wire bytes of all connections in the data direction; see [`Connection::wire_bytes`].
    pub fn wire_bytes(&self, mss: u32) -> u64 {
        self.connections.iter().map(|connection| connection.wire_bytes(mss)).sum()
    }
}

impl<'a> From<&'a Traffic> for Part<'a> {
    /// Returns all connections of a traffic as one part.
    fn from(traffic: &'a Traffic) -> Part<'a> {
        Part { connections: &traffic.connections, first: 0 }
    }
}

impl Traffic {
    /// Combines several traffics, each with the number of its source; see [`Traffic::part`]. Hosts and starts keep
    /// their numbers and times, so that parts share hosts and only each part is in order of start. Pages are
    /// renumbered.
    pub fn combine(parts: impl IntoIterator<Item = (u16, Traffic)>) -> Traffic {
        let mut whole = Traffic::default();
        for (number, part) in parts {
            let first = whole.connections.len() as u32;
            whole.parts.push((number, first..first + part.connections.len() as u32));
            whole.pages.append(first as usize, part.pages);
            whole.connections.extend(part.connections);
            whole.sources.extend(part.sources);
            whole.skipped.extend(part.skipped);
            whole.notes.extend(part.notes);
            whole.faults = Faults {
                count: whole.faults.count + part.faults.count,
                first: whole.faults.first.or(part.faults.first),
            };
            whole.clients = whole.clients.max(part.clients);
            whole.servers = whole.servers.max(part.servers);
            whole.level = whole.level.max(part.level);
        }
        whole
    }

    /// Returns the wire bytes of all connections in the data direction; see [`Connection::wire_bytes`].
    pub fn wire_bytes(&self, mss: u32) -> u64 {
        Part::from(self).wire_bytes(mss)
    }

    /// Returns the connections of source `number`, or `None` if there is no such source. A traffic that was
    /// not combined is source 0.
    pub fn part(&self, number: u16) -> Option<Part<'_>> {
        if self.parts.is_empty() {
            return (number == 0).then(|| self.into());
        }
        let (_, places) = self.parts.iter().find(|(known, _)| *known == number)?;
        let connections = &self.connections[places.start as usize..places.end as usize];
        Some(Part { connections, first: places.start })
    }

    /// Returns the groups by which results are divided: (source, class) for each class of a source that has
    /// several classes or datagrams.
    pub fn groups(&self) -> Vec<(u16, FlowClass)> {
        let numbers = self.parts.iter().map(|(number, _)| *number);
        let numbers: Vec<u16> = if self.parts.is_empty() { vec![0] } else { numbers.collect() };
        let of_source = |number: u16| {
            let connections = self.part(number).map_or(&[][..], |part| part.connections);
            let mut has = [false; FlowClass::ALL.len()];
            let classes = connections.iter().filter_map(|connection| connection.flow_class);
            classes.for_each(|class| has[class as usize] = true);
            let own: Vec<_> = FlowClass::ALL.into_iter().filter(|class| has[*class as usize]).collect();
            // Datagrams are no transfers, so their class is named even if the source has no other.
            let has_datagrams = connections.iter().any(|connection| connection.kind == Kind::Datagrams);
            let own = if own.len() > 1 || has_datagrams { own } else { Vec::new() };
            own.into_iter().map(move |class| (number, class))
        };
        numbers.into_iter().flat_map(of_source).collect()
    }

    /// Returns this combination with `main` in front as source 0; the connections of `main` have no pages. Sources,
    /// notes and the numbers of hosts are those of `main` alone.
    pub fn with_main(&self, main: Traffic) -> Traffic {
        let shift = main.connections.len() as u32;
        let mut whole = Traffic { parts: vec![(0, 0..shift)], ..main };
        whole.connections.extend_from_slice(&self.connections);
        whole.pages.append(shift as usize, self.pages.clone());
        let shifted =
            |(number, at): &(u16, std::ops::Range<u32>)| (*number, at.start + shift..at.end + shift);
        whole.parts.extend(self.parts.iter().map(shifted));
        whole
    }

    /// Returns the traffic as uploads: its payload crosses the uplink.
    pub fn into_uploads(mut self) -> Traffic {
        self.connections.iter_mut().for_each(|connection| connection.upload = true);
        self
    }
}

impl Pages {
    /// Adds the pages of connections that follow, from index `first` on; page numbers continue after the
    /// present ones. Does nothing if `other` has no pages.
    fn append(&mut self, first: usize, other: Pages) {
        if other.by_connection.is_empty() {
            return;
        }
        self.by_connection.resize(first, Box::default());
        let before = self.transfers.len().max(1) as u32 - 1;
        let moved = |page: &u32| if *page == 0 { 0 } else { page + before };
        self.by_connection
            .extend(other.by_connection.iter().map(|pages| pages.iter().map(moved).collect::<Box<[u32]>>()));
        self.transfers.resize(before as usize + 1, 0);
        self.transfers.extend(other.transfers.into_iter().skip(1));
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::units::{Rate, Time};

    /// Returns connections of these sizes, one a second; `pages` has the page of each, from 1, or is empty.
    fn traffic(sizes: &[u64], pages: &[u32]) -> Traffic {
        let one = |(start, &bytes): (u64, &u64)| Connection {
            client: start as u32,
            ..Connection::from_one_write(Time(start * 1_000_000_000), bytes)
        };
        let connections = (0..).zip(sizes).map(one).collect();
        let pages = Pages::new(pages.iter().map(|&page| Box::from([page])));
        Traffic { pages, ..Traffic::from_connections(connections) }
    }

    #[test]
    fn combine__parts_are_found_by_their_number() {
        let whole = Traffic::combine([(1, traffic(&[10, 20], &[])), (4, traffic(&[30, 40, 50], &[]))]);
        assert!(whole.part(0).is_none() && whole.part(2).is_none());
        let bytes = |number| {
            let part = whole.part(number).expect("a part");
            (part.first, part.connections.iter().map(Connection::bytes).collect::<Vec<_>>())
        };
        assert_eq!((bytes(1), bytes(4)), ((0, vec![10, 20]), (2, vec![30, 40, 50])));
        assert_eq!(whole.part(4).expect("a part").span(), Dur(2_000_000_000));
        assert!(
            whole.summary(Some(Rate(1_000_000)), 1460).native_load.is_none(),
            "each has a load of its own"
        );
        assert_eq!((whole.clients, whole.connections[4].start), (3, Time(2_000_000_000)));
    }

    #[test]
    fn combine__pages_keep_their_connections() {
        let whole = Traffic::combine([
            (0, traffic(&[1], &[])),
            (1, traffic(&[10, 20, 30], &[1, 1, 2])),
            (2, traffic(&[40, 50], &[0, 1])),
        ]);
        let pages: Vec<(u32, u16)> = (0..6).map(|connection| whole.pages.find_page(connection, 0)).collect();
        assert_eq!(pages, [(0, 0), (1, 2), (1, 2), (2, 1), (0, 0), (3, 1)]);
        assert_eq!(whole.pages.count(), 3);
    }

    #[test]
    fn with_main__goes_before_the_parts() {
        let parts = Traffic::combine([(2, traffic(&[10, 20], &[1, 1]))]);
        let whole = parts.with_main(traffic(&[7], &[]));
        assert_eq!(whole.part(0).map(|part| part.connections[0].bytes()), Some(7));
        assert_eq!(whole.part(2).map(|part| (part.first, part.connections.len())), Some((1, 2)));
        assert_eq!([0, 1, 2].map(|connection| whole.pages.find_page(connection, 0).0), [0, 1, 1]);
    }

    #[test]
    fn groups__of_sources_with_several_classes() {
        let with = |classes: &[Option<FlowClass>]| {
            let mut made = traffic(&vec![10; classes.len()], &[]);
            made.connections.iter_mut().zip(classes).for_each(|(one, class)| one.flow_class = *class);
            made
        };
        let (page, call) = (Some(FlowClass::Page), Some(FlowClass::Call));
        assert_eq!(with(&[page, page, None]).groups(), []);
        assert_eq!(with(&[page, call]).groups(), [(0, FlowClass::Call), (0, FlowClass::Page)]);
        let mut alone = with(&[call]);
        alone.connections[0].kind = Kind::Datagrams;
        assert_eq!(alone.groups(), [(0, FlowClass::Call)]);
        let mixed = Traffic::combine([(1, with(&[call])), (3, with(&[page, call]))]);
        assert_eq!(mixed.groups(), [(3, FlowClass::Call), (3, FlowClass::Page)]);
    }

    #[test]
    fn part__of_a_single_traffic_is_all_of_it() {
        let single = traffic(&[10, 20], &[]);
        assert_eq!(single.part(0).map(|part| part.connections.len()), Some(2));
        assert!(single.part(1).is_none());
        assert!(single.into_uploads().connections.iter().all(|connection| connection.upload));
    }
}
