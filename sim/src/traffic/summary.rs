//! Summary of a traffic as it was read, for `inspect` and for manifests.

use super::class::FlowClass;
use super::connection::{Connection, Kind};
use super::note::Note;
use super::overlay::{measure_load, measure_period};
use super::part::Part;
use super::waiting;
use super::{Faults, Skipped, Source, Traffic};
use crate::flow::Class;
use crate::units::{Dur, Rate};
use serde::{Deserialize, Serialize};

/// A transfer of at most this many payload bytes is short (SFD section 4: threshold 15 KB).
pub const SHORT_BYTES: u64 = 15_000;

/// The account of a traffic; every field is plain data with its unit in its name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Share of the clients, or of the connections, that are here; below 1 where memory does not hold all rows.
    pub share: f64,
    /// Connections; flows of datagrams are counted in [`Kinds`].
    pub connections: u64,
    /// Writes of all connections.
    pub transfers: u64,
    /// Client hosts.
    pub clients: u32,
    /// Server hosts.
    pub servers: u32,
    /// From the first start to the last known activity.
    pub span_s: f64,
    /// Span plus the mean gap between starts: the period of a replay.
    pub period_s: f64,
    /// Payload of all writes.
    pub payload_bytes: u64,
    /// Payload and headers in the data direction.
    pub wire_bytes: u64,
    /// Sizes of writes.
    pub size_bytes: Percentiles,
    /// Largest write.
    pub size_max_bytes: u64,
    /// Mean size of a write.
    pub size_mean_bytes: f64,
    /// Share of writes of at most 15 kB.
    pub short_share_count: f64,
    /// Share of payload in writes of at most 15 kB.
    pub short_share_bytes: f64,
    /// Connections whose round-trip time is known.
    pub rtt_known: u64,
    /// Connections whose end is known.
    pub ends_known: u64,
    /// Connections that waited for another of their client; the others begin sessions. See [`super::waiting`].
    pub waiting: u64,
    /// Clients that are addresses of several users, whose connections do not wait.
    pub shared_addresses: u64,
    /// Round-trip times of those whose round-trip time is known.
    pub rtt_s: Option<TimePercentiles>,
    /// Connections whose server's think time is known.
    pub server_think_known: u64,
    /// Think times of their servers.
    pub server_think_s: Option<TimePercentiles>,
    /// The rate that `native_load` refers to.
    pub rate_bps: Option<u64>,
    /// Wire bits over period times rate, when a rate was given.
    pub native_load: Option<f64>,
    /// Connections and payload by transport.
    pub kinds: Kinds,
    /// Connections and payload by kind of application, without datagrams.
    pub classes: Classes,
    /// Recorded flows by class of behaviour, without classes that have none.
    pub flow_classes: Vec<FlowClassCount>,
    /// Rows left out, by reason.
    pub skipped: Vec<Skipped>,
    /// Rows not understood.
    pub faults: Faults,
    /// The input files.
    pub sources: Vec<Source>,
    /// Remarks on the files and on choices made while reading.
    pub notes: Vec<Note>,
}

/// Nearest-rank percentiles in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Percentiles {
    pub p10: u64,
    pub p25: u64,
    pub p50: u64,
    pub p75: u64,
    pub p90: u64,
    pub p95: u64,
    pub p99: u64,
}

/// Nearest-rank percentiles in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TimePercentiles {
    pub p10: f64,
    pub p50: f64,
    pub p90: f64,
}

/// Counts by transport.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kinds {
    /// TCP connections.
    pub tcp_connections: u64,
    /// Their payload.
    pub tcp_bytes: u64,
    /// QUIC flows, which are replayed as TCP.
    pub quic_connections: u64,
    /// Their payload.
    pub quic_bytes: u64,
    /// Flows of datagrams, which are replayed packet by packet.
    pub datagram_flows: u64,
    /// Their packets in both directions.
    pub datagram_packets: u64,
    /// Their bytes of IP length in the direction of the data.
    pub datagram_bytes: u64,
    /// The same in the other direction.
    pub datagram_reverse_bytes: u64,
}

/// Counts by kind of application; see [`crate::flow::Class`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Classes {
    /// Connections someone waits for packet by packet.
    pub interactive_connections: u64,
    /// Their payload.
    pub interactive_bytes: u64,
    /// Connections someone waits for as a whole, and all that are not known.
    pub web_connections: u64,
    /// Their payload.
    pub web_bytes: u64,
    /// Connections of the class bulk, for which nobody waits.
    pub bulk_connections: u64,
    /// Their payload.
    pub bulk_bytes: u64,
}

/// Flows of one class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FlowClassCount {
    /// The class.
    pub class: FlowClass,
    /// How many flows it has.
    pub flows: u64,
    /// Their bytes in the direction of the data: payload, of datagrams IP length.
    pub bytes: u64,
    /// Share of these bytes in those of all recorded flows.
    pub share: f64,
}

impl Traffic {
    /// Returns the summary; `mss` is the payload of a full segment in bytes, for headers on the wire. A load
    /// is computed for a `rate` and a traffic of one part only.
    pub fn summary(&self, rate: Option<Rate>, mss: u32) -> Summary {
        let sizes = self.sort_sizes();
        let payload: u64 = sizes.iter().sum();
        let short = sizes.partition_point(|&size| size <= SHORT_BYTES);
        let short_bytes: u64 = sizes[..short].iter().sum();
        let rtts = self.sort_times(|connection| connection.rtt);
        let thinks = self.sort_times(|connection| connection.server_think.time());
        let extents = self.measure_extents();
        Summary {
            share: libm::ldexp(1.0, -i32::from(self.level)),
            connections: self.transfers().count() as u64,
            transfers: sizes.len() as u64,
            clients: self.clients,
            servers: self.servers,
            span_s: self.span().as_secs(),
            period_s: measure_period(self).as_secs(),
            payload_bytes: payload,
            wire_bytes: self.wire_bytes(mss),
            size_bytes: percentiles(&sizes),
            size_max_bytes: sizes.last().copied().unwrap_or(0),
            size_mean_bytes: ratio(payload, sizes.len() as u64),
            short_share_count: ratio(short as u64, sizes.len() as u64),
            short_share_bytes: ratio(short_bytes, payload),
            rtt_known: rtts.len() as u64,
            ends_known: waiting::count_known_ends(self.into()),
            waiting: extents.iter().map(|extent| extent.waiting).sum(),
            shared_addresses: extents.iter().map(|extent| extent.shared_addresses).sum(),
            rtt_s: time_percentiles(&rtts),
            server_think_known: thinks.len() as u64,
            server_think_s: time_percentiles(&thinks),
            rate_bps: rate.map(|rate| rate.0),
            // The parts of a mix have separate loads.
            native_load: rate.filter(|_| self.parts.is_empty()).map(|rate| measure_load(self, rate, mss)),
            kinds: self.count_kinds(),
            classes: self.count_classes(),
            flow_classes: self.count_flow_classes(),
            skipped: self.skipped.clone(),
            faults: self.faults.clone(),
            sources: self.sources.clone(),
            notes: self.notes.clone(),
        }
    }

    /// Returns the time from the first start to the last known activity.
    pub fn span(&self) -> crate::units::Dur {
        Part::from(self).span()
    }

    /// Returns the extent of waiting in each part; a traffic that was not combined is one part.
    fn measure_extents(&self) -> Vec<waiting::Extent> {
        if self.parts.is_empty() {
            return vec![waiting::Extent::measure(self)];
        }
        self.parts.iter().filter_map(|(number, _)| self.part(*number)).map(waiting::Extent::measure).collect()
    }

    /// Counts connections and payload bytes by class of port or service, without datagrams.
    fn count_classes(&self) -> Classes {
        let mut sums = Classes::default();
        for connection in self.transfers() {
            let (count, bytes) = match connection.class {
                Class::Interactive => (&mut sums.interactive_connections, &mut sums.interactive_bytes),
                Class::Web => (&mut sums.web_connections, &mut sums.web_bytes),
                Class::Bulk => (&mut sums.bulk_connections, &mut sums.bulk_bytes),
            };
            *count += 1;
            *bytes += connection.bytes();
        }
        sums
    }

    /// Returns the connections whose writes are transfers: all but flows of datagrams.
    fn transfers(&self) -> impl Iterator<Item = &Connection> {
        self.connections.iter().filter(|connection| connection.kind != Kind::Datagrams)
    }

    /// Counts flows and bytes of each class of behaviour that occurs.
    fn count_flow_classes(&self) -> Vec<FlowClassCount> {
        let mut sums = [(0, 0); FlowClass::ALL.len()];
        for connection in &self.connections {
            if let Some(class) = connection.flow_class {
                let (flows, bytes) = &mut sums[class as usize];
                (*flows, *bytes) = (*flows + 1, *bytes + connection.bytes());
            }
        }
        let all = sums.iter().map(|(_, bytes)| bytes).sum();
        let count =
            |(class, (flows, bytes))| FlowClassCount { class, flows, bytes, share: ratio(bytes, all) };
        FlowClass::ALL.into_iter().zip(sums).map(count).filter(|count| count.flows > 0).collect()
    }

    /// Returns the sizes of all writes in ascending order, bytes.
    fn sort_sizes(&self) -> Vec<u64> {
        let writes = self.connections.iter().flat_map(|connection| connection.writes.iter());
        let mut sizes: Vec<u64> = writes.map(|write| write.bytes).collect();
        sizes.sort_unstable();
        sizes
    }

    /// Returns the times that `of` knows, one for each such connection, in ascending order, s.
    fn sort_times(&self, of: impl Fn(&Connection) -> Option<Dur>) -> Vec<f64> {
        let mut times: Vec<f64> = self.connections.iter().filter_map(of).map(Dur::as_secs).collect();
        times.sort_unstable_by(f64::total_cmp);
        times
    }

    /// Counts connections and bytes by transport.
    fn count_kinds(&self) -> Kinds {
        let mut kinds = Kinds::default();
        for connection in &self.connections {
            let (count, bytes) = match connection.kind {
                Kind::Tcp => (&mut kinds.tcp_connections, &mut kinds.tcp_bytes),
                Kind::Quic => (&mut kinds.quic_connections, &mut kinds.quic_bytes),
                Kind::Datagrams => (&mut kinds.datagram_flows, &mut kinds.datagram_bytes),
            };
            *count += 1;
            *bytes += connection.bytes();
            if let Some(datagrams) = connection.writes.datagrams() {
                let reverse = datagrams.amount(true);
                kinds.datagram_packets += datagrams.amount(false).packets + reverse.packets;
                kinds.datagram_reverse_bytes += reverse.bytes;
            }
        }
        kinds
    }
}

/// Returns percentiles of ascending values; zeros of none.
fn percentiles(sorted: &[u64]) -> Percentiles {
    let at = |percent| nearest_rank(sorted, percent).unwrap_or(0);
    Percentiles { p10: at(10), p25: at(25), p50: at(50), p75: at(75), p90: at(90), p95: at(95), p99: at(99) }
}

/// Returns percentiles of ascending times, s; `None` of none.
fn time_percentiles(sorted: &[f64]) -> Option<TimePercentiles> {
    let at = |percent| nearest_rank(sorted, percent);
    Some(TimePercentiles { p10: at(10)?, p50: at(50)?, p90: at(90)? })
}

/// Returns the smallest of ascending values that at least `percent` % of them, up to 100, do not exceed; `None` of
/// none.
fn nearest_rank<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// Returns `part / whole`; 0 if the whole is 0.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    #![allow(non_snake_case)]
    use super::*;
    use crate::units::Time;

    /// Returns a connection of `bytes` payload bytes.
    fn connection(start_s: u64, bytes: u64, rtt_ms: Option<u64>) -> Connection {
        let rtt = rtt_ms.map(Dur::from_millis);
        Connection { rtt, ..Connection::from_one_write(Time(start_s * 1_000_000_000), bytes) }
    }

    #[test]
    fn summary__counts_by_hand() {
        let sizes = [1_000, 2_000, 15_000, 15_001, 66_999];
        let list = sizes
            .iter()
            .zip(0..)
            .map(|(&bytes, at)| connection(at, bytes, (at < 3).then_some(10 * (at + 1))));
        let summary = Traffic::from_connections(list.collect()).summary(Some(Rate(1_000_000)), 1000);
        assert_eq!(
            (summary.size_bytes.p10, summary.size_bytes.p50, summary.size_bytes.p99),
            (1_000, 15_000, 66_999)
        );
        assert_eq!((summary.short_share_count, summary.short_share_bytes), (0.6, 0.18));
        assert_eq!((summary.span_s, summary.period_s), (4.0, 5.0));
        let wire = 100_000 + 40 * (1 + 2 + 15 + 16 + 67) + 40 * 5;
        assert_eq!(summary.wire_bytes, wire);
        assert!((summary.native_load.unwrap() - wire as f64 * 8.0 / 5e6).abs() < 1e-12);
        assert_eq!(summary.rtt_s, Some(TimePercentiles { p10: 0.01, p50: 0.02, p90: 0.03 }));
        assert_eq!(summary.rtt_known, 3);
    }

    #[test]
    fn summary__of_an_empty_traffic_is_zero() {
        let summary = Traffic::default().summary(None, 1460);
        assert_eq!((summary.connections, summary.size_bytes.p50, summary.native_load), (0, 0, None));
    }

    #[test]
    fn nearest_rank__on_a_hundred_values() {
        let values: Vec<u64> = (1..=100).collect();
        assert_eq!(
            [1, 50, 99, 100].map(|percent| nearest_rank(&values, percent)),
            [1, 50, 99, 100].map(Some)
        );
    }
}
