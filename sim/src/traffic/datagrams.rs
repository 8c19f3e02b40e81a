//! Recorded datagrams: the packets of UDP and of every other protocol but TCP.
//!
//! They are replayed in an open loop, at the times and with the sizes of the record, in both directions.

use crate::units::Dur;

/// The longest datagram that is replayed, IP length in bytes: no link here takes a longer one.
pub const MOST_BYTES: u16 = 1500;
/// Bytes of the headers of IPv4 and UDP.
pub const UDP_HEADERS: u64 = 28;
/// The length of the shortest datagram, an IPv4 header, bytes.
const LEAST_BYTES: u64 = 20;
/// The flow is over if it is silent for longer: NATs forget UDP after two minutes at the earliest (RFC 4787, REQ-5).
pub const SILENCE: Dur = Dur::from_millis(120_000);

/// Bits of a [`Datagram`] for its length; the direction's bit and the time follow above them.
const SIZE_BITS: u32 = 11;
const REVERSE: u64 = 1 << SIZE_BITS;
const OFFSET_BIT: u32 = SIZE_BITS + 1;

/// A packet of a flow in eight bytes: when it was sent, how long it was, and which way it went. The order is that of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Datagram(u64);

impl Datagram {
    /// Returns a datagram that is sent `at` after the start of its flow, at most 52 days. `bytes` is its IP length, at
    /// most [`MOST_BYTES`]; larger values of both are cut to that. `is_reverse` means against the data of transfers.
    pub fn new(at: Dur, bytes: u16, is_reverse: bool) -> Datagram {
        let offset = at.0.min(u64::MAX >> OFFSET_BIT) << OFFSET_BIT;
        Datagram(offset | if is_reverse { REVERSE } else { 0 } | u64::from(bytes.min(MOST_BYTES)))
    }

    /// Returns the datagram in the other direction.
    pub fn reversed(self) -> Datagram {
        Datagram(self.0 ^ REVERSE)
    }

    /// Returns the time since the start of the flow.
    pub fn at(self) -> Dur {
        Dur(self.0 >> OFFSET_BIT)
    }

    /// Returns the IP length, bytes.
    pub fn bytes(self) -> u16 {
        (self.0 & (REVERSE - 1)) as u16
    }

    /// Returns whether it goes against the data of transfers: from the client to the server, unless uploads are read.
    pub fn is_reverse(self) -> bool {
        self.0 & REVERSE != 0
    }
}

/// Packets of one direction, and their bytes of IP length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// How many.
    pub packets: u64,
    /// Their IP lengths together.
    pub bytes: u64,
}

impl Amount {
    /// Returns an amount of which only the sums are known. A datagram has 20 to 1500 bytes, so packets or
    /// bytes are raised where the sums contradict that.
    pub fn from_sums(packets: u64, bytes: u64) -> Amount {
        let packets = packets.max(bytes.div_ceil(u64::from(MOST_BYTES)));
        Amount { packets, bytes: bytes.max(packets.saturating_mul(LEAST_BYTES)) }
    }

    /// Returns the sum of two amounts.
    pub fn plus(self, other: Amount) -> Amount {
        Amount { packets: self.packets + other.packets, bytes: self.bytes.saturating_add(other.bytes) }
    }

    /// Counts a datagram.
    fn add(&mut self, datagram: Datagram) {
        self.packets += 1;
        self.bytes += u64::from(datagram.bytes());
    }
}

/// An encrypted tunnel, whose content a record does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tunnel {
    /// WireGuard.
    WireGuard,
    /// OpenVPN over UDP.
    OpenVpn,
    /// IPsec: ESP or AH, or ESP in UDP (RFC 3948).
    Ipsec,
}

impl Tunnel {
    /// Returns the name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Tunnel::WireGuard => "WireGuard",
            Tunnel::OpenVpn => "OpenVPN",
            Tunnel::Ipsec => "IPsec",
        }
    }
}

/// What identifies a flow of datagrams in addition to its hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Service {
    /// IP's protocol or next header.
    pub protocol: u8,
    /// The server's port, 0 if the protocol has none.
    pub port: u16,
    /// The tunnel that its first packets reveal, if it is one.
    pub tunnel: Option<Tunnel>,
}

/// The datagrams of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datagrams {
    /// Protocol and port.
    pub service: Service,
    /// In the direction of the data, and in the other one.
    amounts: [Amount; 2],
    form: Form,
}

/// How the packets of a flow are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// Each packet, by time.
    Listed(Box<[Datagram]>),
    /// Packets of equal length at equal distances, the last of each direction this long after the start.
    Even(Dur),
}

impl Datagrams {
    /// Returns a flow of these datagrams, which may be in any order; those of equal times keep theirs.
    pub fn from_list(service: Service, mut list: Vec<Datagram>) -> Datagrams {
        if !list.is_sorted_by_key(|datagram| datagram.at()) {
            list.sort_by_key(|datagram| datagram.at());
        }
        let mut amounts = [Amount::default(); 2];
        list.iter().for_each(|&datagram| amounts[usize::from(datagram.is_reverse())].add(datagram));
        Datagrams { service, amounts, form: Form::Listed(list.into_boxed_slice()) }
    }

    /// Returns a flow of which only sums are known: the amounts in the direction of the data and in the other
    /// one. Each direction's packets are spread evenly over `duration`.
    pub fn from_sums(service: Service, duration: Dur, amounts: [Amount; 2]) -> Datagrams {
        Datagrams { service, amounts, form: Form::Even(duration) }
    }

    /// Returns packets and bytes of one direction.
    pub fn amount(&self, is_reverse: bool) -> Amount {
        self.amounts[usize::from(is_reverse)]
    }

    /// Returns the number of packets in both directions.
    pub fn packets(&self) -> u64 {
        self.amount(false).packets + self.amount(true).packets
    }

    /// Returns the time from the start of the flow to its last packet.
    pub fn duration(&self) -> Dur {
        match &self.form {
            Form::Listed(list) => list.last().map_or(Dur::ZERO, |last| last.at()),
            Form::Even(_) => {
                [0, 1].map(|side| self.last_packet_time(side == 1)).into_iter().max().unwrap_or(Dur::ZERO)
            }
        }
    }

    /// Returns the first datagram of one direction at position `from` or later, and the position after it; `None` at
    /// the end. Positions count from 0 and have no other meaning.
    pub fn next(&self, is_reverse: bool, from: u64) -> Option<(Datagram, u64)> {
        match &self.form {
            Form::Listed(list) => {
                let rest = list.get(from as usize..)?;
                let ahead = rest.iter().position(|datagram| datagram.is_reverse() == is_reverse)?;
                Some((rest[ahead], from + ahead as u64 + 1))
            }
            Form::Even(duration) => {
                let amount = self.amount(is_reverse);
                (from < amount.packets).then(|| {
                    let sent = |packets| share_evenly(amount.bytes, packets, amount.packets);
                    let bytes = sent(from + 1) - sent(from);
                    let at = share_evenly(duration.0, from, amount.packets.saturating_sub(1).max(1));
                    (Datagram::new(Dur(at), bytes as u16, is_reverse), from + 1)
                })
            }
        }
    }

    /// Returns the position, for [`Datagrams::next`] of the same direction, of the first datagram that is sent `at`
    /// after the start of the flow or later; the end if there is none.
    pub fn find_position(&self, is_reverse: bool, at: Dur) -> u64 {
        match &self.form {
            Form::Listed(list) => list.partition_point(|datagram| datagram.at() < at) as u64,
            Form::Even(_) => {
                let is_before =
                    |position| self.next(is_reverse, position).is_some_and(|(next, _)| next.at() < at);
                let (mut low, mut high) = (0, self.amount(is_reverse).packets);
                while low < high {
                    let middle = low + (high - low) / 2;
                    (low, high) = if is_before(middle) { (middle + 1, high) } else { (low, middle) };
                }
                low
            }
        }
    }

    /// Returns the datagrams of both directions in order of time.
    pub fn iter(&self) -> impl Iterator<Item = Datagram> + '_ {
        let mut next = [self.next(false, 0), self.next(true, 0)];
        std::iter::from_fn(move || {
            let side = match next {
                [Some((one, _)), Some((other, _))] => usize::from(other.at() < one.at()),
                [None, _] => 1,
                [_, None] => 0,
            };
            let (datagram, behind) = next[side]?;
            next[side] = self.next(side == 1, behind);
            Some(datagram)
        })
    }

    /// Returns the time of the last packet of a direction whose packets are spread evenly; zero without
    /// packets.
    fn last_packet_time(&self, is_reverse: bool) -> Dur {
        let last = self.amount(is_reverse).packets.checked_sub(1);
        last.and_then(|last| self.next(is_reverse, last)).map_or(Dur::ZERO, |(last, _)| last.at())
    }
}

/// Returns `part` of `whole` equal parts of `sum`, rounded down; `whole` must not be 0.
fn share_evenly(sum: u64, part: u64, whole: u64) -> u64 {
    (u128::from(sum) * u128::from(part) / u128::from(whole)) as u64
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a datagram `at_ms` after the start of its flow.
    fn datagram(at_ms: u64, bytes: u16, is_reverse: bool) -> Datagram {
        Datagram::new(Dur::from_millis(at_ms), bytes, is_reverse)
    }

    /// Returns all datagrams of one direction.
    fn collect_direction(flow: &Datagrams, is_reverse: bool) -> Vec<Datagram> {
        let mut place = 0;
        std::iter::from_fn(|| {
            let (datagram, behind) = flow.next(is_reverse, place)?;
            place = behind;
            Some(datagram)
        })
        .collect()
    }

    #[test]
    fn datagram__has_eight_bytes() {
        assert_eq!(size_of::<Datagram>(), 8);
        let last = Datagram::new(Dur(u64::MAX), 9000, true);
        assert_eq!((last.at(), last.bytes(), last.is_reverse()), (Dur(u64::MAX >> 12), 1500, true));
    }

    #[test]
    fn from_list__each_direction_by_time() {
        let list = vec![datagram(20, 200, false), datagram(0, 100, true), datagram(10, 300, true)];
        let flow = Datagrams::from_list(Service::default(), list);
        assert_eq!(collect_direction(&flow, true), [datagram(0, 100, true), datagram(10, 300, true)]);
        assert_eq!(collect_direction(&flow, false), [datagram(20, 200, false)]);
        assert_eq!(flow.amount(true), Amount { packets: 2, bytes: 400 });
        assert_eq!((flow.duration(), flow.iter().count()), (Dur::from_millis(20), 3));
        let (next, _) = flow.next(true, flow.find_position(true, Dur::from_millis(1))).unwrap();
        assert_eq!(next, datagram(10, 300, true));
        assert_eq!(flow.next(true, flow.find_position(true, Dur::from_millis(11))), None);
    }

    #[test]
    fn from_sums__keeps_to_what_links_take() {
        assert_eq!(Amount::from_sums(1, 4000), Amount { packets: 3, bytes: 4000 });
        assert_eq!(Amount::from_sums(10, 50), Amount { packets: 10, bytes: 200 });
        assert_eq!(Amount::from_sums(0, 0), Amount::default());
    }

    proptest! {
        #[test]
        fn datagram__gives_back_what_it_was_made_of(at in 0u64..1 << 52, bytes in 0u16..=1500, is_reverse: bool) {
            let datagram = Datagram::new(Dur(at), bytes, is_reverse);
            prop_assert_eq!((datagram.at(), datagram.bytes(), datagram.is_reverse()), (Dur(at), bytes, is_reverse));
        }

        /// A flow of which sums are known has these sums, within its duration, from any time on.
        #[test]
        fn from_sums__has_its_sums(
            sums in prop::array::uniform2((0u64..300, 0u64..400_000)),
            duration in 0u64..1 << 40,
            from in 0u64..1 << 40,
        ) {
            let amounts = sums.map(|(packets, bytes)| Amount::from_sums(packets, bytes));
            let flow = Datagrams::from_sums(Service::default(), Dur(duration), amounts);
            for (is_reverse, amount) in [(false, amounts[0]), (true, amounts[1])] {
                let list = collect_direction(&flow, is_reverse);
                let bytes: u64 = list.iter().map(|one| u64::from(one.bytes())).sum();
                prop_assert_eq!(Amount { packets: list.len() as u64, bytes }, amount);
                prop_assert!(list.is_sorted() && list.iter().all(|one| one.at() <= Dur(duration)));
                let place = flow.find_position(is_reverse, Dur(from)) as usize;
                prop_assert_eq!(place, list.iter().filter(|one| one.at() < Dur(from)).count());
            }
            prop_assert!(flow.iter().map(Datagram::at).is_sorted());
            prop_assert_eq!(flow.iter().map(Datagram::at).max().unwrap_or(Dur::ZERO), flow.duration());
        }
    }
}
