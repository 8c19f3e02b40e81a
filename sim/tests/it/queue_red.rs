//! RED and multi-RED inside a queue: averages against ns-2.35's tables (`oracle/README.md`).
use crate::common::hop::{Hop, coloured, packet};
use crate::common::{read_golden, read_golden_rows};
use mousehole_sim::packet::Colour;
use mousehole_sim::queue::Queue;
use mousehole_sim::units::{Buffer, Rate, Time};

const RATE: Rate = Rate(3_000_000);

/// Returns a link with the queue of `scheme` and a buffer of so many packets; panics if the scheme
/// is wrong.
fn make_hop(scheme: &str, rate: Rate, packets: u32, slow: bool) -> Hop {
    Hop::with_scheme(scheme, rate, Buffer::Packets(packets), slow).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the averages of the link's FIFO in packets; none for any other queue.
fn averages(hop: &mut Hop) -> Vec<f64> {
    match hop.link.queue() {
        Queue::Fifo(fifo) => fifo.averages(),
        _ => Vec::new(),
    }
}

/// Plays `seq.in` and asserts the averages after every arrival. Time is three times as slow, so
/// that 1000 bytes take a whole number of nanoseconds: idle times in the table are whole slots.
fn assert_averages(scheme: &str, table: &str, slow: bool) {
    let mut hop = make_hop(scheme, Rate(RATE.0 / 3), 10_000, slow);
    // In bytes, ns-2 gives the average to six digits of them.
    let unit = if table == "REDqib" { 1000.0 } else { 1.0 };
    let input = read_golden("red-average/seq.in");
    let rows = read_golden_rows(&format!("red-average/{table}.csv"));
    assert_eq!(input.lines().count(), rows.len());
    for (line, row) in input.lines().zip(rows) {
        let fields: Vec<f64> = line.split(' ').map(|field| field.parse().unwrap()).collect();
        let now = Time((fields[0] * 1e6).round() as u64 * 3000);
        let colour = if fields[1] == 1.0 { Colour::Green } else { Colour::Yellow };
        hop.arrive(coloured(colour, packet(0, 0, fields[2] as u16)), now);
        let ours = averages(&mut hop);
        for (index, expected) in
            [&row[3], &row[4]].into_iter().enumerate().filter(|(_, text)| !text.is_empty())
        {
            let expected = expected.parse::<f64>().unwrap() / unit;
            assert!(
                (ours[index] - expected).abs() < 1e-5,
                "{table} at {}: {} for {expected}",
                row[0],
                ours[index]
            );
        }
    }
}

#[test]
fn averages__equal_ns2_on_both_paths() {
    let two = "in_min=1000,in_max=2000,out_min=1000,out_max=2000";
    for slow in [false, true] {
        assert_averages("red(min=1000,max=2000,maxp=0.02,wq=0.02,mean=1000B)", "RED", slow);
        assert_averages(&format!("sfd(mode=coupled,mean=1000B,{two})"), "RIOC", slow);
        assert_averages(&format!("sfd(mode=decoupled,mean=1000B,{two})"), "RIOD", slow);
        // One precedence for both classes is one queue for all.
        assert_averages(&format!("sfd(mode=total,mean=1000B,{two})"), "REDds", slow);
        assert_averages("red(min=1000,max=2000,wq=0.02,unit=bytes,mean=1000B)", "REDqib", slow);
    }
}

/// The queues that exist to repeat ns-2's runs keep the same averages as ns-2, on both paths.
#[test]
fn averages__of_ns2s_own_queues_equal_ns2_on_both_paths() {
    let two = "in_min=1000,in_max=2000,out_min=1000,out_max=2000";
    for slow in [false, true] {
        assert_averages("ns2-red(min=1000,max=2000,maxp=0.02)", "RED", slow);
        assert_averages(&format!("ns2-sfd(mode=coupled,{two})"), "RIOC", slow);
        assert_averages(&format!("ns2-sfd(mode=decoupled,{two})"), "RIOD", slow);
        assert_averages(&format!("ns2-sfd(mode=total,{two})"), "WRED", slow);
        assert_averages(&format!("ns2-rio({two})"), "RIO", slow);
        assert_averages("ns2-red(min=1000,max=2000,unit=bytes)", "REDqib", slow);
    }
}

/// Idle time is when nothing is sent, not when nothing waits: the last packet is still in transmission.
#[test]
fn averages__do_not_decay_while_the_link_is_busy() {
    for slow in [false, true] {
        // A packet takes 8 ms, a slot of idle time too.
        let mut hop = make_hop("red(min=1000,max=2000,wq=0.5,mean=1000B)", Rate(1_000_000), 100, slow);
        let arrivals_ms = [(0, 0.0), (0, 0.0), (0, 0.5), (17, 0.25), (50, 0.25 * 0.25 * 0.5)];
        for (at_ms, expected) in arrivals_ms {
            hop.arrive(packet(0, 0, 1000), Time(at_ms * 1_000_000));
            assert_eq!(averages(&mut hop), [expected], "at {at_ms} ms, slow path {slow}");
        }
    }
}

/// Offers packets to a queue of two whose link has just begun a transmission of 80 ms, and returns the averages after
/// the queue filled up and after ten more arrivals that found it full.
fn averages_at_a_full_buffer(scheme: &str, slow: bool) -> (Vec<f64>, Vec<f64>) {
    let mut hop = make_hop(scheme, Rate(100_000), 2, slow);
    let mut offer = |from: u32, to: u32| {
        for seq in from..to {
            hop.arrive(packet(0, seq, 1000), Time(1_000_000 + u64::from(seq)));
        }
        averages(&mut hop)
    };
    // One packet is in transmission, two wait.
    let filled = offer(0, 3);
    let full = offer(3, 13);
    assert!(hop.dropped.len() >= 10, "{scheme}: {} drops", hop.dropped.len());
    (filled, full)
}

/// Plain RED updates its average at every arrival, also one that finds the buffer full (Floyd & Jacobson 1993, figure 2).
#[test]
fn average__of_red_moves_at_a_full_buffer() {
    for slow in [false, true] {
        let (filled, full) = averages_at_a_full_buffer("red(min=100,max=200,wq=0.5)", slow);
        assert!(filled[0] < 1.0, "{filled:?}");
        // Two packets wait: the distance to 2 halves with each of ten arrivals.
        let expected = 2.0 - (2.0 - filled[0]) / 1024.0;
        assert!((full[0] - expected).abs() < 1e-6, "{} for {expected}", full[0]);
    }
}

/// ns-2's DiffServ RED, and multi-RED after it, leave their averages alone at a full buffer.
#[test]
fn average__of_multi_red_stays_at_a_full_buffer() {
    for slow in [false, true] {
        let scheme = "sfd(mode=total,in_min=100,in_max=200,out_min=100,out_max=200,wq=0.5)";
        let (filled, full) = averages_at_a_full_buffer(scheme, slow);
        assert_eq!(filled, full);
    }
}
