//! RED and multi-RED inside a queue: averages and overload against ns-2.35's tables (`oracle/README.md`).
#![allow(non_snake_case)]

mod common;

use common::hop::{Hop, coloured, packet};
use common::{golden, golden_rows};
use mousehole_sim::packet::Colour;
use mousehole_sim::queue::Queue;
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::scenario::Scheme;
use mousehole_sim::scenario::scheme::Place;
use mousehole_sim::units::{Buffer, Dur, Rate, Time};

const RATE: Rate = Rate(3_000_000);

fn hop(scheme: &str, rate: Rate, packets: u32, slow: bool) -> Hop {
    let place = Place { rate, buffer: Buffer::Packets(packets), seed: 3, link: 0 };
    let queue = Scheme::parse(scheme)
        .and_then(|scheme| scheme.queue(place))
        .unwrap_or_else(|error| panic!("{error}"));
    Hop::new(rate, queue, slow)
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
            let expected: f64 = expected.parse().unwrap();
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
    }
}

/// Shares dropped of OUT and IN arrivals, and mean packets waiting, of 600 s after 100 s.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Overload {
    out: f64,
    inside: f64,
    waiting: f64,
}

/// One row of `overload.csv` by column name.
struct Row {
    header: Vec<String>,
    fields: Vec<String>,
}

impl Row {
    fn text(&self, column: &str) -> &str {
        let place = self.header.iter().position(|name| name == column).expect("a column of overload.csv");
        self.fields.get(place).map_or("", String::as_str)
    }

    fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or(0.0)
    }

    fn is_on(&self, column: &str) -> bool {
        self.text(column) == "1"
    }

    /// The same queue in our words.
    fn scheme(&self) -> Option<String> {
        let wq = self.number("wq");
        let plain = || {
            let (min, max, maxp) = (self.number("min"), self.number("max"), 1.0 / self.number("linterm"));
            let (gentle, wait, byte) = (self.is_on("gentle"), self.is_on("wait"), self.is_on("bytes"));
            let unit = if self.is_on("qib") { "bytes" } else { "packets" };
            // ns-2 drops early only when more than one packet waits.
            format!(
                "red(min={min},max={max},maxp={maxp},wq={wq},gentle={gentle},wait={wait},byte={byte},unit={unit},guard=2)"
            )
        };
        match self.text("q") {
            "RED" => Some(plain()),
            "RIOds" => Some(format!("sfd(mode=coupled,wq={wq})")),
            "RIOdsD" => Some(format!("sfd(mode=decoupled,wq={wq})")),
            "WREDds" => Some(format!("sfd(mode=total,wq={wq})")),
            _ => None,
        }
    }

    /// How far shares dropped may be apart.
    ///
    /// Plain RED: the spread over our seeds is 0.001. dsRED drops nothing once `count * p_b > 1` and
    /// spaces drops over all colours at once (`multi_red.h` tells why ours does not), which moves drops
    /// between the colours by up to 0.013, and by 0.041 where IN is most of the traffic and decoupled.
    fn tolerance(&self) -> f64 {
        match self.text("q") {
            "RED" => 0.002,
            "RIOdsD" if self.number("share") > 0.5 => 0.045,
            _ => 0.015,
        }
    }

    fn theirs(&self) -> Overload {
        let waiting = self.number("trueq");
        Overload { out: self.number("fid0_droprate"), inside: self.number("fid1_droprate"), waiting }
    }
}

/// The rate at which our draws make as many arrivals as ns-2 had, so that only the queues differ.
fn matched_rate(row: &Row, seed: u64) -> f64 {
    let mut gaps = Stream::new(seed, Purpose::Arrival, 0);
    let wanted = row.number("fid0_arr") + row.number("fid1_arr");
    // 100 s of warm-up, then 600 s.
    let total = (wanted * 7.0 / 6.0) as u64;
    let sum: f64 = (0..total).map(|_| gaps.exponential(1.0)).sum();
    sum / 700.0
}

/// Poisson arrivals of one size at a queue, as `oracle/tcl/b_red.tcl`.
fn overload(row: &Row, scheme: &str, seed: u64) -> Overload {
    let mut hop = hop(scheme, RATE, row.number("qlim") as u32, false);
    let (bytes, rate, share) = (row.number("size") as u16, matched_rate(row, seed), row.number("share"));
    let (mut gaps, mut colours) =
        (Stream::new(seed, Purpose::Arrival, 0), Stream::new(seed, Purpose::Host, 0));
    let (warm, end) = (Time(100_000_000_000), Time(700_000_000_000));
    let mut now = Time::ZERO;
    let mut then = hop.link.counts.colours;
    let mut is_warm = false;
    while now < end {
        now += Dur::from_secs(gaps.exponential(1.0 / rate));
        if !is_warm && now >= warm {
            is_warm = true;
            then = hop.link.counts.colours;
            hop.link.counts.restart_delays();
        }
        let colour = if share > 0.0 && colours.uniform() < share { Colour::Green } else { Colour::Yellow };
        hop.arrive(coloured(colour, packet(0, 0, bytes)), now);
    }
    let counts = hop.link.counts.since(&then);
    let lost = |colour: Colour| {
        let counts = counts[colour.index()];
        (counts.early.packets + counts.forced.packets) as f64 / (counts.arrived.packets as f64).max(1.0)
    };
    let sent: u64 = counts.iter().map(|counts| counts.sent.packets).sum();
    let waiting = sent as f64 / 600.0 * hop.link.counts.delay_mean_s();
    Overload { out: lost(Colour::Yellow), inside: lost(Colour::Green), waiting }
}

fn assert_near(case: &str, ours: Overload, theirs: Overload, tolerance: f64) {
    let apart = (ours.out - theirs.out).abs().max((ours.inside - theirs.inside).abs());
    let queue = (ours.waiting / theirs.waiting - 1.0).abs();
    assert!(apart < tolerance && queue < 0.025, "{case}:\n ours {ours:?}\n ns-2 {theirs:?}");
}

#[test]
fn overload__drops_and_queue_as_ns2() {
    let text = golden("overload.csv");
    let header: Vec<String> = text.lines().next().unwrap().split(',').map(str::to_string).collect();
    let mut compared = 0;
    for (index, fields) in golden_rows("overload.csv").into_iter().enumerate() {
        let row = Row { header: header.clone(), fields };
        let Some(scheme) = row.scheme().filter(|_| row.text("src") == "poisson") else { continue };
        let (ours, theirs) = (overload(&row, &scheme, index as u64), row.theirs());
        let case = format!("{} at {}/s, share {}", row.text("q"), row.text("rate"), row.text("share"));
        assert_near(&case, ours, theirs, row.tolerance());
        compared += 1;
    }
    assert!(compared >= 20, "{compared} rows compared");
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
