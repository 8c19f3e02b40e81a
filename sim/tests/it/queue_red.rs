//! RED and multi-RED inside a queue: averages against ns-2.35's tables (`oracle/README.md`).
use crate::common::hop::{Hop, coloured, packet};
use crate::common::{golden, golden_rows};
use mousehole_sim::packet::Colour;
use mousehole_sim::queue::Queue;
use mousehole_sim::units::{Buffer, Rate, Time};

const RATE: Rate = Rate(3_000_000);

fn hop(scheme: &str, rate: Rate, packets: u32, slow: bool) -> Hop {
    Hop::with_scheme(scheme, rate, Buffer::Packets(packets), slow).unwrap_or_else(|error| panic!("{error}"))
}

fn averages(hop: &mut Hop) -> Vec<f64> {
    match hop.link.queue() {
        Queue::Fifo(fifo) => fifo.averages(),
        _ => Vec::new(),
    }
}

/// Plays `seq.in` and compares the averages after every arrival. Everything goes three times as slowly,
/// so that 1000 bytes take a whole number of nanoseconds: idle times in the table are whole slots.
fn assert_averages(scheme: &str, table: &str, slow: bool) {
    let mut hop = hop(scheme, Rate(RATE.0 / 3), 10_000, slow);
    // In bytes, ns-2 gives the average to six digits of them.
    let unit = if table == "REDqib" { 1000.0 } else { 1.0 };
    let input = golden("red-average/seq.in");
    let rows = golden_rows(&format!("red-average/{table}.csv"));
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
        assert_averages("red(min=1000,max=2000,maxp=0.02)", "RED", slow);
        assert_averages(&format!("sfd(mode=coupled,{two})"), "RIOC", slow);
        assert_averages(&format!("sfd(mode=decoupled,{two})"), "RIOD", slow);
        // One precedence for both classes is one queue for all.
        assert_averages(&format!("sfd(mode=total,{two})"), "REDds", slow);
        assert_averages("red(min=1000,max=2000,unit=bytes)", "REDqib", slow);
    }
}

/// What stands beside the policies to repeat ns-2's runs keeps the same averages.
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
        let mut hop = hop("red(min=1000,max=2000,wq=0.5)", Rate(1_000_000), 100, slow);
        let arrivals_ms = [(0, 0.0), (0, 0.0), (0, 0.5), (17, 0.25), (50, 0.25 * 0.25 * 0.5)];
        for (at_ms, expected) in arrivals_ms {
            hop.arrive(packet(0, 0, 1000), Time(at_ms * 1_000_000));
            assert_eq!(averages(&mut hop), [expected], "at {at_ms} ms, slow path {slow}");
        }
    }
}
