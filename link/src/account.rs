//! The account of a run: what it carried, how late packets were, and whether its figures are valid.

use crate::driver::Way;
use hdrhistogram::Histogram;
use mousehole_sim::record::ColourCounts;
use mousehole_sim::units::{Dur, Time};

/// A packet counts as late if it is later than this.
pub const LATE: Dur = Dur::from_millis(2);
/// A run is invalid if a larger share of its packets is late.
pub const MOST_LATE: f64 = 0.001;

/// The distribution of packets' delivery times after they were due.
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
    /// Counts a packet that was due at `due` and delivered at `at`; one before its time counts as
    /// on time. The quantiles resolve 100 ns and end at a minute.
    pub fn add(&mut self, due: Time, at: Time) {
        let late = at.since(due);
        self.late += u64::from(late > LATE);
        self.histogram.saturating_record(late.0 / 100);
    }

    /// Returns how many packets were counted.
    pub fn packets(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns how many packets were later than [`LATE`].
    pub fn late_packets(&self) -> u64 {
        self.late
    }

    /// Returns the share of packets that were later than [`LATE`]; 0 without packets.
    pub fn late_share(&self) -> f64 {
        self.late as f64 / self.packets().max(1) as f64
    }

    /// Returns a quantile (0 to 1) of the lateness in seconds; 0 without packets.
    pub fn quantile_s(&self, quantile: f64) -> f64 {
        if self.packets() == 0 { 0.0 } else { self.histogram.value_at_quantile(quantile) as f64 * 1e-7 }
    }

    /// Returns the largest lateness in seconds; 0 without packets.
    pub fn max_s(&self) -> f64 {
        self.histogram.max() as f64 * 1e-7
    }

    /// Removes all packets.
    pub fn clear(&mut self) {
        self.histogram.clear();
        self.late = 0;
    }
}

/// Packets that could not be carried, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refused {
    /// No IP packets.
    pub not_ip: u64,
    /// Larger than the MTU.
    pub too_large: u64,
    /// Not accepted by the receiving device.
    pub write_failed: u64,
}

/// The packets of one direction. Each packet that was sent has been delivered or dropped, or is
/// still under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
    /// Packets read from the sending side's device.
    pub sent: u64,
    /// Packets that left the link for the receiving side's device, also those that it did not accept
    /// ([`Refused::write_failed`]).
    pub delivered: u64,
    /// Packets dropped by the link.
    pub dropped: u64,
    /// Packets that the link gave a congestion mark.
    pub marked: u64,
    /// Packets between the devices at the end.
    pub under_way: u64,
    /// IP bytes delivered.
    pub delivered_bytes: u64,
}

impl Carried {
    /// Returns whether no packet was lost or invented: those sent are the delivered, the dropped
    /// and those under way.
    pub fn is_conserved(&self) -> bool {
        self.sent == self.delivered + self.dropped + self.under_way
    }
}

/// The account of a run.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// The packets of each direction.
    pub ways: [Carried; 2],
    /// How late packets were.
    pub lateness: Lateness,
    /// Packets that were not carried.
    pub refused: Refused,
    /// Packets lost in the client's and in the server's device.
    pub lost_in_devices: [u64; 2],
    /// The driver's running time as a share of its running and waiting time; 1 if it had neither.
    pub cpu_share: f64,
    /// The driver's processor time as a share of the run's length.
    pub cpu_use: f64,
    /// Whether the driver had a real-time priority.
    pub is_real_time: bool,
    /// Length of the run, s.
    pub seconds: f64,
    /// How many flows were seen.
    pub flows: u64,
    /// The most flows that were alive at once.
    pub most_flows: u64,
}

impl Account {
    /// Returns a sentence for each reason why the figures of the run are invalid: too many late
    /// packets, losses in a device, failed writes, packets that do not add up. None if they are
    /// valid.
    pub fn find_faults(&self) -> Vec<String> {
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

/// A link at a moment, and its counts in the second before.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WayStatus {
    /// Bits per second that left it.
    pub rate_bps: f64,
    /// Waiting packets by colour.
    pub waiting: [u64; 3],
    /// Packets dropped.
    pub dropped: u64,
    /// Packets given a congestion mark.
    pub marked: u64,
}

/// The state of a run, which is reported once a second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Status {
    /// Seconds since the run began.
    pub at_s: f64,
    /// By direction.
    pub ways: [WayStatus; 2],
    /// The largest lateness in the last second.
    pub late_most_s: f64,
    /// The share of its packets that were late.
    pub late_share: f64,
}

impl WayStatus {
    /// Returns the status of a link over the last `seconds`: the rate and the losses and marks
    /// between the counts `before` and `now`, and the packets of each colour that wait now.
    /// `seconds` must be positive.
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
    pub fn way_mut(&mut self, way: Way) -> &mut Carried {
        &mut self.ways[way as usize]
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the account of `packets` packets that are 2 ms late each, and `late` of them by 1 ns
    /// more.
    fn build_account(packets: u64, late: u64) -> Account {
        let mut account = Account { cpu_share: 0.39, ..Account::default() };
        for number in 0..packets {
            let at = if number < late { 2_000_001 } else { 2_000_000 };
            account.lateness.add(Time(1000), Time(1000 + at));
        }
        account
    }

    #[test]
    fn find_faults__more_than_one_late_packet_in_a_thousand() {
        assert_eq!(build_account(10_000, 10).find_faults(), Vec::<String>::new());
        let faults = build_account(10_000, 11).find_faults();
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("0.11 % of the packets were later than 2 ms"), "{faults:?}");
        assert!(faults[0].ends_with("had 39 % of the processor time that it asked for"), "{faults:?}");
    }

    #[test]
    fn find_faults__one_packet_lost_in_a_device_or_invented() {
        let lost = Account { lost_in_devices: [0, 1], ..build_account(100, 0) };
        assert!(lost.find_faults()[0].contains("1 packets were lost in the server's device"));
        let refused = Refused { write_failed: 2, ..Refused::default() };
        assert!(
            Account { refused, ..build_account(100, 0) }.find_faults()[0]
                .starts_with("2 packets were not taken")
        );
        let mut invented = build_account(100, 0);
        *invented.way_mut(Way::Up) =
            Carried { sent: 5, delivered: 3, dropped: 1, under_way: 2, ..Carried::default() };
        assert!(invented.find_faults()[0].contains("fault of the program"));
        invented.way_mut(Way::Up).under_way = 1;
        assert!(invented.find_faults().is_empty());
    }

    #[test]
    fn lateness__quantiles_and_the_longest() {
        let mut account = build_account(1000, 0);
        account.lateness.add(Time(0), Time(7_000_000));
        let lateness = &account.lateness;
        assert!((lateness.quantile_s(0.5) - 2e-3).abs() < 5e-6 && (lateness.max_s() - 7e-3).abs() < 1e-5);
        assert_eq!((lateness.packets(), lateness.late_packets()), (1001, 1));
        // Packets are never early: what is delivered at its time is late by nothing.
        let mut early = Lateness::default();
        early.add(Time(5), Time(5));
        assert_eq!((early.max_s(), early.late_share()), (0.0, 0.0));
    }
}
