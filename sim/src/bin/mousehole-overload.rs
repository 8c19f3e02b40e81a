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

/// Rate of the link.
const RATE: Rate = Rate(3_000_000);
const WARM: Time = Time(100_000_000_000);
const END: Time = Time(700_000_000_000);
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../oracle/golden/overload.csv");
const RULES: [&str; 2] = ["ns2", "policy"];
const HEADER: &str = "queue,src,rate,share,rule,seeds,scheme,out,ns2_out,sd_out,in,ns2_in,sd_in,\
    queue_packets,ns2_queue_packets,sd_queue";

/// Compares every row of the table with as many seeds as the command line says; exits with 2 on a
/// usage error, an unreadable table or a failed scheme.
fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().and_then(|text| text.parse::<u64>().ok()).filter(|seeds| *seeds > 0);
    let rule = arguments.next();
    let is_rule = rule.as_ref().is_none_or(|rule| RULES.contains(&rule.as_str()));
    let Some(seeds) = seeds.filter(|_| is_rule && arguments.next().is_none()) else {
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

/// Prints the header and, for each row of the table that has a scheme, a line for each rule, or for
/// `only` one. The number of the other rows goes to standard error.
///
/// # Errors
/// The error of the first scheme that fails, as text.
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
            RULES.into_iter().zip(schemes).filter(|(rule, _)| only.is_none_or(|wanted| wanted == *rule))
        {
            let runs: Result<Vec<Overload>> =
                (0..seeds).map(|seed| Source::new(&row, seed).play(&scheme)).collect();
            println!("{}", row.format_comparison(rule, &scheme, &runs.map_err(|error| error.to_string())?));
        }
    }
    if left_out > 0 {
        eprintln!("{left_out} rows left out: a queue that is not among our schemes");
    }
    Ok(())
}

/// Shares dropped of OUT and IN arrivals, and mean packets waiting, over 600 s after 100 s.
#[derive(Debug, Clone, Copy)]
struct Overload {
    out: f64,
    inside: f64,
    waiting: f64,
}

/// Selects one of the three.
type Measure = fn(&Overload) -> f64;

/// A row of the table: fields by column.
struct Row<'a>(HashMap<&'a str, &'a str>);

impl Row<'_> {
    /// Returns the field of a column; empty if the table has no such column.
    fn text(&self, column: &str) -> &str {
        self.0.get(column).copied().unwrap_or_default()
    }

    /// Returns the field of a column as a number; 0 if there is none or it is no number.
    fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or(0.0)
    }

    /// Returns whether the field of a column is 1.
    fn is_on(&self, column: &str) -> bool {
        self.text(column) == "1"
    }

    /// Returns the row's queue as two of our schemes: by ns-2's rule, and by the policy's. `None`
    /// for a queue that we do not have.
    fn schemes(&self) -> Option<[String; 2]> {
        let wq = self.number("wq");
        let (ns2, policy) = match self.text("q") {
            "RED" => (self.red_scheme("ns2-red", ""), self.red_scheme("red", ",guard=2,mean=1000B")),
            // One precedence: all packets are OUT.
            "REDds" => (
                format!("ns2-sfd(mode=decoupled,{})", self.red_parameters("out_")),
                self.red_scheme("red", ",mean=1000B"),
            ),
            "RIOds" => {
                (format!("ns2-sfd(mode=coupled,wq={wq})"), self.sfd_scheme("coupled", &format!("wq={wq}")))
            }
            "RIOdsD" => (
                format!("ns2-sfd(mode=decoupled,wq={wq})"),
                self.sfd_scheme("decoupled", &format!("wq={wq}")),
            ),
            "RIO" => {
                let how = format!("wq={wq},gentle={},wait={}", self.is_on("gentle"), self.is_on("wait"));
                (format!("ns2-rio({how})"), self.sfd_scheme("coupled", &how))
            }
            "WREDds" => {
                (format!("ns2-sfd(mode=total,wq={wq})"), self.sfd_scheme("total", &format!("wq={wq}")))
            }
            _ => return None,
        };
        Some([ns2, policy])
    }

    /// Returns SFD with the thresholds of its Table 1 in packets, whatever the buffer; `how` are
    /// further parameters.
    fn sfd_scheme(&self, mode: &str, how: &str) -> String {
        format!("sfd(mode={mode},in_min=10,in_max=30,out_min=8,out_max=24,unit=packets,mean=1000B,{how})")
    }

    /// Returns RED's line as parameters of a scheme, with `prefix` before their names; the weight
    /// has none.
    fn red_parameters(&self, prefix: &str) -> String {
        let (min, max, maxp) = (self.number("min"), self.number("max"), 1.0 / self.number("linterm"));
        format!("{prefix}min={min},{prefix}max={max},{prefix}maxp={maxp},wq={}", self.number("wq"))
    }

    /// Returns RED with the row's parameters and `more` parameters, which begin with a comma.
    /// Options hold only for ns-2's plain RED.
    fn red_scheme(&self, scheme: &str, more: &str) -> String {
        let is_plain = self.text("q") == "RED";
        let on = |column: &str| is_plain && self.is_on(column);
        let unit = if on("qib") { "bytes" } else { "packets" };
        let how =
            format!("gentle={},wait={},byte={},unit={unit}{more}", on("gentle"), on("wait"), on("bytes"));
        format!("{scheme}({},{how})", self.red_parameters(""))
    }

    /// Returns ns-2's result of the row.
    fn ns2_result(&self) -> Overload {
        let waiting = self.number("trueq");
        Overload { out: self.number("fid0_droprate"), inside: self.number("fid1_droprate"), waiting }
    }

    /// Returns the line printed for this row under one of the rules: its names, then mean, ns-2's
    /// value and sample standard deviation of each measure. `runs` must not be empty.
    fn format_comparison(&self, rule: &str, scheme: &str, runs: &[Overload]) -> String {
        let ns2 = self.ns2_result();
        let measures: [(Measure, f64); 3] =
            [(|run| run.out, ns2.out), (|run| run.inside, ns2.inside), (|run| run.waiting, ns2.waiting)];
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
    /// Returns the arrivals of a row; `seed` is that of times and colours.
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

    /// Sends the arrivals through a queue with this scheme until [`END`]; returns its result from
    /// [`WARM`] on.
    ///
    /// # Errors
    /// That of a scheme that does not parse or does not fit the link.
    fn play(mut self, scheme: &str) -> Result<Overload> {
        let mut hop = Hop::with_scheme(scheme, RATE, Buffer::Packets(self.limit), false)?;
        hop.link.measure(WARM, END);
        let mut now = Time::ZERO;
        let mut then = None;
        while now < END {
            now += self.draw_gap();
            if then.is_none() && now >= WARM {
                then = Some(hop.link.counts.colours);
            }
            let colour = self.draw_colour();
            hop.arrive(coloured(colour, packet(0, 0, self.bytes)), now);
            hop.left.clear();
            hop.dropped.clear();
        }
        let counts = hop.link.counts.since(&then.unwrap_or_default());
        Ok(Overload::from_counts(&counts, hop.link.counts.delay_mean_s()))
    }

    /// Draws the time to the next arrival; evenly spaced arrivals draw nothing.
    fn draw_gap(&mut self) -> Dur {
        let mean_s = 1.0 / self.rate;
        Dur::from_secs(if self.even { mean_s } else { self.gaps.exponential(mean_s) })
    }

    /// Draws the colour of an arrival: green is IN, yellow is OUT. Without IN packets it draws
    /// nothing.
    fn draw_colour(&mut self) -> Colour {
        if self.share > 0.0 && self.colours.uniform() < self.share { Colour::Green } else { Colour::Yellow }
    }
}

impl Overload {
    /// Returns the result for the counts of the measured time and its mean queueing delay. The mean
    /// number waiting follows from the delay by Little's law; a colour without arrivals has lost a
    /// share of 0.
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

/// Returns the rate in arrivals per second at which our draws make as many arrivals as ns-2
/// counted, so that only the queues differ.
fn matched_rate(row: &Row, seed: u64) -> f64 {
    let mut gaps = Stream::new(seed, Purpose::Arrival, 0);
    let counted = row.number("fid0_arr") + row.number("fid1_arr");
    let total = (counted * END.as_secs() / (END.as_secs() - WARM.as_secs())) as u64;
    let sum: f64 = (0..total).map(|_| gaps.exponential(1.0)).sum();
    sum / END.as_secs()
}
