//! How a run went: what it carried, how late packets were, and whether its figures can be relied on.

use crate::driver::Way;
use hdrhistogram::Histogram;
use mousehole_sim::record::ColourCounts;
use mousehole_sim::units::{Dur, Time};

/// A packet that is later than this counts as late.
pub const LATE: Dur = Dur::from_millis(2);
/// A run with a larger share of late packets is invalid.
pub const MOST_LATE: f64 = 0.001;

/// How late packets reached their hosts, beyond the time at which they were due.
#[derive(Debug, Clone)]
pub struct Lateness {
    histogram: Histogram<u64>,
    late: u64,
}

impl Default for Lateness {
    fn default() -> Lateness {
        // Up to a minute in units of 100 ns.
        let histogram = Histogram::new_with_bounds(1, 600_000_000, 3).expect("the bounds are valid");
        Lateness { histogram, late: 0 }
    }
}

impl Lateness {
    /// Counts a packet that was due at `due` and delivered at `at`.
    pub fn note(&mut self, due: Time, at: Time) {
        let late = at.since(due);
        self.late += u64::from(late > LATE);
        self.histogram.saturating_record(late.0 / 100);
    }

    /// Returns the packets counted.
    pub fn packets(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns the packets that were late by more than [`LATE`].
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Returns the share of packets that were late by more than [`LATE`].
    pub fn late_share(&self) -> f64 {
        self.late as f64 / self.packets().max(1) as f64
    }

    /// Returns a quantile in seconds.
    pub fn quantile_s(&self, quantile: f64) -> f64 {
        if self.packets() == 0 { 0.0 } else { self.histogram.value_at_quantile(quantile) as f64 * 1e-7 }
    }

    /// Returns the longest in seconds.
    pub fn most_s(&self) -> f64 {
        self.histogram.max() as f64 * 1e-7
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.histogram.clear();
        self.late = 0;
    }
}

/// What packets could not be carried, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refused {
    /// They are no IP packets.
    pub not_ip: u64,
    /// They are larger than the MTU.
    pub too_large: u64,
    /// The device did not take them.
    pub write_failed: u64,
}

/// The packets of one direction: all that were sent have been delivered, dropped, or are still under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
    /// Read from the sending side's device.
    pub sent: u64,
    /// Written to the receiving side's device.
    pub delivered: u64,
    /// Dropped by the link.
    pub dropped: u64,
    /// Given a congestion mark by the link.
    pub marked: u64,
    /// Between the devices at the end.
    pub under_way: u64,
    /// Bytes of IP length delivered.
    pub delivered_bytes: u64,
}

impl Carried {
    /// Returns whether no packet was lost or invented.
    pub fn is_conserved(&self) -> bool {
        self.sent == self.delivered + self.dropped + self.under_way
    }
}

/// How a run went.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// By direction.
    pub ways: [Carried; 2],
    /// How late packets were.
    pub lateness: Lateness,
    /// Packets that were not carried.
    pub refused: Refused,
    /// Packets lost in the devices: the client's, the server's.
    pub lost_in_devices: [u64; 2],
    /// Share of the processor time that the driver asked for and had.
    pub cpu_share: f64,
    /// Processor time of the driver over the length of the run.
    pub cpu_use: f64,
    /// The driver had a real-time priority.
    pub is_real_time: bool,
    /// Length of the run.
    pub seconds: f64,
    /// Flows that were seen.
    pub flows: u64,
    /// The most that were alive at once.
    pub most_flows: u64,
}

impl Account {
    /// Returns the reasons why the figures of the run cannot be relied on; none if they can.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let share = self.lateness.late_share();
        if share > MOST_LATE {
            faults.push(format!(
                "{:.2} % of the packets were later than 2 ms (at most {} % may be); the link had {:.0} % of the \
                 processor time that it asked for",
                share * 100.0,
                MOST_LATE * 100.0,
                self.cpu_share * 100.0
            ));
        }
        for (lost, side) in self.lost_in_devices.iter().zip(["client", "server"]) {
            if *lost > 0 {
                faults.push(format!(
                    "{lost} packets were lost in the {side}'s device, before the link saw them"
                ));
            }
        }
        if self.refused.write_failed > 0 {
            faults.push(format!("{} packets were not taken by a device", self.refused.write_failed));
        }
        if !self.ways.iter().all(Carried::is_conserved) {
            faults.push("packets were lost or invented, which is a fault of the program".into());
        }
        faults
    }
}

/// A link at a moment, and what it did in the second before.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WayStatus {
    /// Bits per second that left it.
    pub rate_bps: f64,
    /// Packets that wait, by colour.
    pub waiting: [u64; 3],
    /// Packets dropped.
    pub dropped: u64,
    /// Packets given a congestion mark.
    pub marked: u64,
}

/// The state of a run, reported once a second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Status {
    /// Seconds since the run began.
    pub at_s: f64,
    /// By direction.
    pub ways: [WayStatus; 2],
    /// The longest lateness of the second.
    pub late_most_s: f64,
    /// Share of its packets that were late.
    pub late_share: f64,
}

impl WayStatus {
    /// Returns the status of a link over the last `seconds`: the rate and the losses and marks between the counts
    /// `before` and `now`, and the packets of each colour that wait now.
    pub fn from_counts(before: &[ColourCounts; 3], now: &[ColourCounts; 3], seconds: f64) -> WayStatus {
        let mut status = WayStatus::default();
        for (index, (now, before)) in now.iter().zip(before).enumerate() {
            let change = now.since(*before);
            status.rate_bps += change.sent.bytes as f64 * 8.0 / seconds;
            status.dropped += change.dropped().packets;
            status.marked += change.marked.packets;
            status.waiting[index] =
                now.arrived.packets.saturating_sub(now.dropped().packets + now.sent.packets);
        }
        status
    }
}

impl Account {
    /// Returns the counts of one direction.
    pub fn way(&mut self, way: Way) -> &mut Carried {
        &mut self.ways[way as usize]
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    fn account(packets: u64, late: u64) -> Account {
        let mut account = Account { cpu_share: 0.39, ..Account::default() };
        for number in 0..packets {
            let at = if number < late { 2_000_001 } else { 2_000_000 };
            account.lateness.note(Time(1000), Time(1000 + at));
        }
        account
    }

    #[test]
    fn faults__more_than_one_late_packet_in_a_thousand() {
        assert_eq!(account(10_000, 10).faults(), Vec::<String>::new());
        let faults = account(10_000, 11).faults();
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("0.11 % of the packets were later than 2 ms"), "{faults:?}");
        assert!(faults[0].ends_with("had 39 % of the processor time that it asked for"), "{faults:?}");
    }

    #[test]
    fn faults__one_packet_lost_in_a_device_or_invented() {
        let lost = Account { lost_in_devices: [0, 1], ..account(100, 0) };
        assert!(lost.faults()[0].contains("1 packets were lost in the server's device"));
        let refused = Refused { write_failed: 2, ..Refused::default() };
        assert!(Account { refused, ..account(100, 0) }.faults()[0].starts_with("2 packets were not taken"));
        let mut invented = account(100, 0);
        *invented.way(Way::Up) =
            Carried { sent: 5, delivered: 3, dropped: 1, under_way: 2, ..Carried::default() };
        assert!(invented.faults()[0].contains("fault of the program"));
        invented.way(Way::Up).under_way = 1;
        assert!(invented.faults().is_empty());
    }

    #[test]
    fn lateness__quantiles_and_the_longest() {
        let mut account = account(1000, 0);
        account.lateness.note(Time(0), Time(7_000_000));
        let lateness = &account.lateness;
        assert!((lateness.quantile_s(0.5) - 2e-3).abs() < 5e-6 && (lateness.most_s() - 7e-3).abs() < 1e-5);
        assert_eq!((lateness.packets(), lateness.late()), (1001, 1));
        // Packets are never early: what is delivered at its time is late by nothing.
        let mut early = Lateness::default();
        early.note(Time(5), Time(5));
        assert_eq!((early.most_s(), early.late_share()), (0.0, 0.0));
    }
}
