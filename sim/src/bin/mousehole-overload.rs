//! Queues under open-loop overload beside ns-2's (`oracle/golden/overload.csv`), as CSV; `make validation` calls it.
//!
//! `mousehole-overload 5`: every row that our schemes can be set to, with five seeds. Ours are means over the
//! seeds, the spreads are the largest less the smallest.

#[path = "../../tests/common/hop.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod hop;

use hop::{Hop, coloured, packet};
use mousehole_sim::error::Result;
use mousehole_sim::packet::Colour;
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::scenario::Scheme;
use mousehole_sim::scenario::scheme::Place;
use mousehole_sim::units::{Buffer, Dur, Rate, Time};
use std::collections::HashMap;
use std::process::ExitCode;

const RATE: Rate = Rate(3_000_000);
const WARM: Time = Time(100_000_000_000);
const END: Time = Time(700_000_000_000);
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../oracle/golden/overload.csv");

fn main() -> ExitCode {
    let seeds = std::env::args().nth(1).and_then(|text| text.parse::<u64>().ok()).filter(|seeds| *seeds > 0);
    let Some(seeds) = seeds else {
        eprintln!("usage: mousehole-overload SEEDS");
        return ExitCode::from(2);
    };
    match std::fs::read_to_string(GOLDEN)
        .map_err(|error| error.to_string())
        .and_then(|text| compare(&text, seeds))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mousehole-overload: {GOLDEN}: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints a line for each row of the table that there is a scheme for, and counts the others.
fn compare(text: &str, seeds: u64) -> std::result::Result<(), String> {
    println!(
        "queue,rate,share,scheme,out,ns2_out,spread_out,in,ns2_in,spread_in,queue_packets,ns2_queue_packets,spread_queue"
    );
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut left_out = 0;
    for line in lines {
        let row = Row(header.iter().copied().zip(line.split(',')).collect());
        let Some(scheme) = row.scheme().filter(|_| row.text("src") == "poisson") else {
            left_out += 1;
            continue;
        };
        let runs: Result<Vec<Overload>> = (0..seeds).map(|seed| overload(&row, &scheme, seed)).collect();
        println!("{}", row.beside(&scheme, &runs.map_err(|error| error.to_string())?));
    }
    eprintln!("{left_out} rows left out: other sources, or a queue that is not among our schemes");
    Ok(())
}

/// Shares dropped of OUT and IN arrivals, and mean packets waiting, of 600 s after 100 s.
#[derive(Debug, Clone, Copy)]
struct Overload {
    out: f64,
    inside: f64,
    waiting: f64,
}

/// One of the three.
type Measure = fn(&Overload) -> f64;

/// A row of the table: fields by column.
struct Row<'a>(HashMap<&'a str, &'a str>);

impl Row<'_> {
    fn text(&self, column: &str) -> &str {
        self.0.get(column).copied().unwrap_or_default()
    }

    fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or(0.0)
    }

    fn is_on(&self, column: &str) -> bool {
        self.text(column) == "1"
    }

    /// The same queue in our words; ns-2's RED drops early only when more than one packet waits.
    fn scheme(&self) -> Option<String> {
        let wq = self.number("wq");
        match self.text("q") {
            "RED" => {
                let (min, max, maxp) = (self.number("min"), self.number("max"), 1.0 / self.number("linterm"));
                let (gentle, wait, byte) = (self.is_on("gentle"), self.is_on("wait"), self.is_on("bytes"));
                let unit = if self.is_on("qib") { "bytes" } else { "packets" };
                let how = format!("gentle={gentle},wait={wait},byte={byte},unit={unit},guard=2");
                Some(format!("red(min={min},max={max},maxp={maxp},wq={wq},{how})"))
            }
            "RIOds" => Some(format!("sfd(mode=coupled,wq={wq})")),
            "RIOdsD" => Some(format!("sfd(mode=decoupled,wq={wq})")),
            "WREDds" => Some(format!("sfd(mode=total,wq={wq})")),
            _ => None,
        }
    }

    fn theirs(&self) -> Overload {
        let waiting = self.number("trueq");
        Overload { out: self.number("fid0_droprate"), inside: self.number("fid1_droprate"), waiting }
    }

    /// The line printed for this row.
    fn beside(&self, scheme: &str, runs: &[Overload]) -> String {
        let theirs = self.theirs();
        let measures: [(Measure, f64); 3] = [
            (|run| run.out, theirs.out),
            (|run| run.inside, theirs.inside),
            (|run| run.waiting, theirs.waiting),
        ];
        let cells = measures.map(|(measure, expected)| {
            let values: Vec<f64> = runs.iter().map(measure).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let most = values.iter().copied().fold(f64::MIN, f64::max);
            let least = values.iter().copied().fold(f64::MAX, f64::min);
            format!("{mean:.6},{expected},{:.6}", most - least)
        });
        let quoted = format!("\"{scheme}\"");
        format!(
            "{},{},{},{quoted},{}",
            self.text("q"),
            self.text("rate"),
            self.text("share"),
            cells.join(",")
        )
    }
}

/// The rate at which our draws make as many arrivals as ns-2 had, so that only the queues differ.
fn matched_rate(row: &Row, seed: u64) -> f64 {
    let mut gaps = Stream::new(seed, Purpose::Arrival, 0);
    let counted = row.number("fid0_arr") + row.number("fid1_arr");
    let total = (counted * END.as_secs() / (END.as_secs() - WARM.as_secs())) as u64;
    let sum: f64 = (0..total).map(|_| gaps.exponential(1.0)).sum();
    sum / END.as_secs()
}

/// Poisson arrivals of one size at a queue, as `oracle/tcl/b_red.tcl`.
fn overload(row: &Row, scheme: &str, seed: u64) -> Result<Overload> {
    let buffer = Buffer::Packets(row.number("qlim") as u32);
    let queue = Scheme::parse(scheme)?.queue(Place { rate: RATE, buffer, seed: 3, link: 0 })?;
    let mut hop = Hop::new(RATE, queue, false);
    let (bytes, rate, share) = (row.number("size") as u16, matched_rate(row, seed), row.number("share"));
    let (mut gaps, mut colours) =
        (Stream::new(seed, Purpose::Arrival, 0), Stream::new(seed, Purpose::Host, 0));
    let mut now = Time::ZERO;
    let mut then = None;
    while now < END {
        now += Dur::from_secs(gaps.exponential(1.0 / rate));
        if then.is_none() && now >= WARM {
            then = Some(hop.link.counts.colours);
            hop.link.counts.restart_delays();
        }
        let colour = if share > 0.0 && colours.uniform() < share { Colour::Green } else { Colour::Yellow };
        hop.arrive(coloured(colour, packet(0, 0, bytes)), now);
        hop.left.clear();
        hop.dropped.clear();
    }
    let counts = hop.link.counts.since(&then.unwrap_or_default());
    let lost = |colour: Colour| {
        let counts = counts[colour.index()];
        (counts.early.packets + counts.forced.packets) as f64 / (counts.arrived.packets as f64).max(1.0)
    };
    let sent: u64 = counts.iter().map(|counts| counts.sent.packets).sum();
    let waiting = sent as f64 / (END.as_secs() - WARM.as_secs()) * hop.link.counts.delay_mean_s();
    Ok(Overload { out: lost(Colour::Yellow), inside: lost(Colour::Green), waiting })
}
