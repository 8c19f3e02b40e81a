//! Runs queues under open-loop overload and compares them with ns-2's (`oracle/golden/overload.csv`), as CSV; `make
//! validation` and the test `queue_overload` call it.
//!
//! `mousehole-overload 10` runs every row that our schemes can reproduce with ten seeds: first with ns-2's own rules
//! (`rule` = ns2), then with the policy that is deployed (`rule` = policy). `mousehole-overload 10 ns2` prints only one
//! of the two. Our values are means over the seeds; `sd` is the sample standard deviation of a single run.

#[path = "../../tests/it/common/hop.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod hop;

use hop::{Hop, coloured, packet};
use mousehole_sim::error::Result;
use mousehole_sim::packet::Colour;
use mousehole_sim::record::ColourCounts;
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::units::{Buffer, Dur, Rate, Time};
use std::collections::HashMap;
use std::process::ExitCode;

const RATE: Rate = Rate(3_000_000);
const WARM: Time = Time(100_000_000_000);
const END: Time = Time(700_000_000_000);
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../oracle/golden/overload.csv");
const RULES: [&str; 2] = ["ns2", "policy"];
const HEADER: &str = "queue,src,rate,share,rule,seeds,scheme,out,ns2_out,sd_out,in,ns2_in,sd_in,\
    queue_packets,ns2_queue_packets,sd_queue";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().and_then(|text| text.parse::<u64>().ok()).filter(|seeds| *seeds > 0);
    let rule = arguments.next().filter(|rule| RULES.contains(&rule.as_str()));
    let Some(seeds) = seeds else {
        eprintln!("usage: mousehole-overload SEEDS [ns2|policy]");
        return ExitCode::from(2);
    };
    let read = std::fs::read_to_string(GOLDEN).map_err(|error| error.to_string());
    match read.and_then(|text| compare(&text, seeds, rule.as_deref())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mousehole-overload: {GOLDEN}: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints a line by each rule for each row of the table that there is a scheme for, and counts the others.
fn compare(text: &str, seeds: u64, only: Option<&str>) -> std::result::Result<(), String> {
    println!("{HEADER}");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut left_out = 0;
    for line in lines {
        let row = Row(header.iter().copied().zip(line.split(',')).collect());
        let Some(schemes) = row.schemes() else {
            left_out += 1;
            continue;
        };
        for (rule, scheme) in
            RULES.into_iter().zip(schemes).filter(|(rule, _)| only.is_none_or(|one| one == *rule))
        {
            let runs: Result<Vec<Overload>> =
                (0..seeds).map(|seed| Source::new(&row, seed).play(&scheme)).collect();
            println!("{}", row.comparison(rule, &scheme, &runs.map_err(|error| error.to_string())?));
        }
    }
    if left_out > 0 {
        eprintln!("{left_out} rows left out: a queue that is not among our schemes");
    }
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

    /// Returns the same queue in our words: by ns-2's rule, by the policy's.
    fn schemes(&self) -> Option<[String; 2]> {
        let wq = self.number("wq");
        let (ns2, policy) = match self.text("q") {
            "RED" => (self.red("ns2-red", ""), self.red("red", ",guard=2,mean=1000B")),
            // One precedence: all packets are OUT.
            "REDds" => {
                (format!("ns2-sfd(mode=decoupled,{})", self.line("out_")), self.red("red", ",mean=1000B"))
            }
            "RIOds" => (format!("ns2-sfd(mode=coupled,wq={wq})"), self.sfd("coupled", &format!("wq={wq}"))),
            "RIOdsD" => {
                (format!("ns2-sfd(mode=decoupled,wq={wq})"), self.sfd("decoupled", &format!("wq={wq}")))
            }
            "RIO" => {
                let how = format!("wq={wq},gentle={},wait={}", self.is_on("gentle"), self.is_on("wait"));
                (format!("ns2-rio({how})"), self.sfd("coupled", &how))
            }
            "WREDds" => (format!("ns2-sfd(mode=total,wq={wq})"), self.sfd("total", &format!("wq={wq}"))),
            _ => return None,
        };
        Some([ns2, policy])
    }

    /// Returns SFD with the thresholds of its Table 1 in packets, whatever the buffer.
    fn sfd(&self, mode: &str, how: &str) -> String {
        format!("sfd(mode={mode},in_min=10,in_max=30,out_min=8,out_max=24,unit=packets,mean=1000B,{how})")
    }

    fn line(&self, prefix: &str) -> String {
        let (min, max, maxp) = (self.number("min"), self.number("max"), 1.0 / self.number("linterm"));
        format!("{prefix}min={min},{prefix}max={max},{prefix}maxp={maxp},wq={}", self.number("wq"))
    }

    fn red(&self, scheme: &str, more: &str) -> String {
        let is_plain = self.text("q") == "RED";
        let on = |column: &str| is_plain && self.is_on(column);
        let unit = if on("qib") { "bytes" } else { "packets" };
        let how =
            format!("gentle={},wait={},byte={},unit={unit}{more}", on("gentle"), on("wait"), on("bytes"));
        format!("{scheme}({},{how})", self.line(""))
    }

    fn theirs(&self) -> Overload {
        let waiting = self.number("trueq");
        Overload { out: self.number("fid0_droprate"), inside: self.number("fid1_droprate"), waiting }
    }

    /// Returns the line printed for this row under one of the rules.
    fn comparison(&self, rule: &str, scheme: &str, runs: &[Overload]) -> String {
        let theirs = self.theirs();
        let measures: [(Measure, f64); 3] = [
            (|run| run.out, theirs.out),
            (|run| run.inside, theirs.inside),
            (|run| run.waiting, theirs.waiting),
        ];
        let cells = measures.map(|(measure, expected)| {
            let values: Vec<f64> = runs.iter().map(measure).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            let freedom = values.len().saturating_sub(1).max(1) as f64;
            format!("{mean:.6},{expected},{:.8}", (squares / freedom).sqrt())
        });
        let names = ["q", "src", "rate", "share"].map(|column| self.text(column)).join(",");
        format!("{names},{rule},{},\"{scheme}\",{}", runs.len(), cells.join(","))
    }
}

/// Arrivals of one size, as `oracle/tcl/b_red.tcl` makes them: Poisson or evenly spaced.
struct Source {
    bytes: u16,
    limit: u32,
    /// Arrivals per second.
    rate: f64,
    /// Share of IN.
    share: f64,
    even: bool,
    gaps: Stream,
    colours: Stream,
}

impl Source {
    fn new(row: &Row, seed: u64) -> Source {
        let even = row.text("src") == "cbr";
        Source {
            bytes: row.number("size") as u16,
            limit: row.number("qlim") as u32,
            rate: if even { row.number("rate") } else { matched_rate(row, seed) },
            share: row.number("share"),
            even,
            gaps: Stream::new(seed, Purpose::Arrival, 0),
            colours: Stream::new(seed, Purpose::Host, 0),
        }
    }

    fn play(mut self, scheme: &str) -> Result<Overload> {
        let mut hop = Hop::with_scheme(scheme, RATE, Buffer::Packets(self.limit), false)?;
        hop.link.measure(WARM, END);
        let mut now = Time::ZERO;
        let mut then = None;
        while now < END {
            now += self.gap();
            if then.is_none() && now >= WARM {
                then = Some(hop.link.counts.colours);
            }
            let colour = self.colour();
            hop.arrive(coloured(colour, packet(0, 0, self.bytes)), now);
            hop.left.clear();
            hop.dropped.clear();
        }
        let counts = hop.link.counts.since(&then.unwrap_or_default());
        Ok(Overload::from_counts(&counts, hop.link.counts.delay_mean_s()))
    }

    fn gap(&mut self) -> Dur {
        let mean_s = 1.0 / self.rate;
        Dur::from_secs(if self.even { mean_s } else { self.gaps.exponential(mean_s) })
    }

    fn colour(&mut self) -> Colour {
        if self.share > 0.0 && self.colours.uniform() < self.share { Colour::Green } else { Colour::Yellow }
    }
}

impl Overload {
    fn from_counts(counts: &[ColourCounts; 3], delay_mean_s: f64) -> Overload {
        let lost = |colour: Colour| {
            let counts = counts[colour.index()];
            counts.dropped().packets as f64 / (counts.arrived.packets as f64).max(1.0)
        };
        let sent: u64 = counts.iter().map(|counts| counts.sent.packets).sum();
        let waiting = sent as f64 / (END.as_secs() - WARM.as_secs()) * delay_mean_s;
        Overload { out: lost(Colour::Yellow), inside: lost(Colour::Green), waiting }
    }
}

/// Returns the rate at which our draws make as many arrivals as ns-2 had, so that only the queues differ.
fn matched_rate(row: &Row, seed: u64) -> f64 {
    let mut gaps = Stream::new(seed, Purpose::Arrival, 0);
    let counted = row.number("fid0_arr") + row.number("fid1_arr");
    let total = (counted * END.as_secs() / (END.as_secs() - WARM.as_secs())) as u64;
    let sum: f64 = (0..total).map(|_| gaps.exponential(1.0)).sum();
    sum / END.as_secs()
}
