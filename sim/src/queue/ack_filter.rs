//! CAKE's ACK filter: an arriving ACK makes an older one of its flow that still waits superfluous.
//!
//! tc-cake(8), and the rule of `cake_ack_filter` in Linux's `sch_cake.c`, described from its behaviour. A waiting pure ACK
//! may go if the arriving one acknowledges at least as much, and more by number or by SACK. An ACK whose echo of a mark
//! differs from the one before it stays, so that no mark is lost. The plain filter drops the oldest such ACK once there
//! are two of them, and so leaves the distance that Reno's duplicates need; the aggressive one also drops a single one that
//! stands right before the arriving ACK and has the same echo.
//!
//! Deviations: only a pure ACK triggers the filter (Linux: any segment, as all have an acknowledgement), since segments of
//! data do not carry one here.

use super::packet_fifo::PacketFifo;
use crate::packet::{Kind, Packet, SackBlock, flag};

/// How an ACK filter works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckFilter {
    /// Keeps one superfluous ACK.
    Conservative,
    /// Keeps none where it is known to be safe.
    Aggressive,
}

impl AckFilter {
    /// Returns the index in `fifo`, 0 for the head, of the ACK that its newest packet makes
    /// superfluous. `None` if there is none, or the newest packet is no ACK. Nothing is removed.
    pub(super) fn find_superfluous(self, fifo: &PacketFifo) -> Option<usize> {
        let newest = fifo.tail().filter(|packet| packet.kind == Kind::Ack)?;
        let last = fifo.occupancy().packets as usize - 1;
        let is_same_flow =
            |packet: &Packet| packet.flow == newest.flow && packet.is_reverse() == newest.is_reverse();
        let mut eligible: Option<(usize, bool)> = None;
        let mut count = 0;
        let of_flow = fifo.packets().take(last).enumerate().filter(|(_, packet)| is_same_flow(packet));
        for (place, packet) in of_flow {
            if eligible.is_some_and(|(_, echo)| echo != packet.has(flag::ECE)) {
                eligible = None;
                count -= 1;
            }
            if packet.kind != Kind::Ack || !is_superseded(packet, newest) {
                continue;
            }
            eligible.get_or_insert((place, packet.has(flag::ECE)));
            if count > 0 {
                return eligible.map(|(place, _)| place);
            }
            count += 1;
        }
        let is_next = |&(place, echo): &(usize, bool)| place + 1 == last && echo == newest.has(flag::ECE);
        eligible.filter(|_| self == AckFilter::Aggressive).filter(is_next).map(|(place, _)| place)
    }
}

/// Returns whether `newer` acknowledges all that `ack` does, and more, by number or by SACK.
fn is_superseded(ack: &Packet, newer: &Packet) -> bool {
    if ack.seq > newer.seq || !sack_blocks(ack).all(|block| is_covered(block, newer)) {
        return false;
    }
    let amount = |packet: &Packet| sack_blocks(packet).map(|(from, to)| to - from).sum::<u32>();
    ack.seq < newer.seq || amount(newer) > amount(ack)
}

/// Returns whether one of the SACK blocks of `newer` holds this range. As in Linux what lies below its cumulative
/// acknowledgement does not count.
fn is_covered((from, to): (u32, u32), newer: &Packet) -> bool {
    sack_blocks(newer).any(|(begin, end)| begin <= from && to <= end)
}

/// Returns the SACK blocks of an ACK as segments `[from, to)`.
fn sack_blocks(ack: &Packet) -> impl Iterator<Item = (u32, u32)> + '_ {
    let next = ack.seq;
    let given = |block: &&SackBlock| block.length > 0;
    ack.sacks.iter().filter(given).map(move |block| {
        let from = next + u32::from(block.offset);
        (from, from + u32::from(block.length))
    })
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::units::Time;

    /// Returns a pure ACK.
    fn ack(next: u32) -> Packet {
        Packet { flags: flag::REVERSE, ..Packet::new(1, Kind::Ack, next, 52) }
    }

    /// Returns an ACK with one SACK block.
    fn sack(next: u32, offset: u16, length: u16) -> Packet {
        let mut packet = ack(next);
        packet.sacks[0] = SackBlock { offset, length };
        packet
    }

    /// Returns the index of the superfluous ACK by either filter, when these packets wait.
    fn superfluous(packets: &[Packet]) -> [Option<usize>; 2] {
        let mut fifo = PacketFifo::default();
        packets.iter().for_each(|&packet| fifo.push(packet, Time::ZERO));
        [AckFilter::Conservative, AckFilter::Aggressive].map(|filter| filter.find_superfluous(&fifo))
    }

    #[test]
    fn superfluous__the_oldest_of_two_or_the_one_before() {
        assert_eq!(superfluous(&[ack(2)]), [None; 2]);
        assert_eq!(superfluous(&[ack(2), ack(4)]), [None, Some(0)]);
        assert_eq!(superfluous(&[ack(2), ack(4), ack(6)]), [Some(0); 2]);
        let other = Packet { flow: 2, ..ack(3) };
        assert_eq!(superfluous(&[ack(2), other, ack(4)]), [None; 2], "not right before the newest");
        assert_eq!(superfluous(&[other, ack(2), ack(4), ack(6)]), [Some(1); 2]);
    }

    #[test]
    fn superfluous__duplicates_stay() {
        assert_eq!(superfluous(&[ack(2), ack(2), ack(2)]), [None; 2]);
        assert_eq!(
            superfluous(&[sack(2, 1, 1), sack(2, 1, 2), sack(2, 1, 3)]),
            [Some(0); 2],
            "each reports more"
        );
        assert_eq!(superfluous(&[sack(2, 1, 1), sack(2, 1, 1), sack(2, 1, 1)]), [None; 2]);
        assert_eq!(superfluous(&[sack(2, 5, 1), sack(3, 1, 1), sack(4, 1, 1)]), [None; 2], "another range");
        assert_eq!(
            superfluous(&[sack(2, 1, 1), ack(6), ack(8)]),
            [None, Some(1)],
            "a SACK needs one that covers it"
        );
    }

    #[test]
    fn superfluous__no_echo_of_a_mark_is_lost() {
        let echo = |next| Packet { flags: flag::REVERSE | flag::ECE, ..ack(next) };
        assert_eq!(superfluous(&[ack(2), echo(4), ack(6)]), [None; 2]);
        assert_eq!(superfluous(&[ack(2), echo(4)]), [None; 2]);
        assert_eq!(superfluous(&[echo(2), echo(4), echo(6)]), [Some(0); 2]);
    }

    #[test]
    fn superfluous__data_and_requests_are_no_acks() {
        let data = Packet::new(1, Kind::Data, 9, 1500);
        let request = Packet { flags: flag::REVERSE, ..Packet::new(1, Kind::Request, 1, 452) };
        assert_eq!(superfluous(&[request, request, ack(6)]), [None; 2]);
        assert_eq!(superfluous(&[ack(2), ack(4), data]), [None; 2]);
    }
}
