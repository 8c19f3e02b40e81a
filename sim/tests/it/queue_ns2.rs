//! ns-2's RED, RIO and DiffServ RED, arrival by arrival: the average, and the decision for the same random number
//! (`oracle/golden/drop-decisions`).
use crate::common::read_golden_rows;
use mousehole_policy::{Backlog, Verdict};
use mousehole_sim::packet::Colour;
use mousehole_sim::queue::ns2_dsred::Mode;
use mousehole_sim::queue::{Ns2DsRed, Ns2Red, Ns2Rio, RedLine};
use mousehole_sim::units::{Buffer, Rate, Time};
use std::collections::VecDeque;

const RATE: Rate = Rate(1_000_000);
const LIMIT: u32 = 40;

/// One line of a table: `time,class,size,u,waiting,average0,average1,decision`.
struct Arrival {
    now: Time,
    colour: Colour,
    bytes: u16,
    u: f64,
    waiting: u32,
    averages: Vec<f64>,
    decision: String,
}

impl Arrival {
    /// Returns the arrival of a row of ns-2's table; panics for a field that is no number.
    fn from_row(row: &[String]) -> Arrival {
        let number = |index: usize| row[index].parse::<f64>().expect("a number");
        Arrival {
            now: Time((number(0) * 1e6).round() as u64 * 1000),
            colour: if row[1] == "1" { Colour::Green } else { Colour::Yellow },
            bytes: number(2) as u16,
            u: number(3),
            waiting: number(4) as u32,
            averages: [5, 6].into_iter().filter(|&index| !row[index].is_empty()).map(number).collect(),
            decision: row[7].clone(),
        }
    }
}

/// A queue under test.
trait Judge {
    /// Judges an arrival that finds a backlog, and updates the averages.
    fn judge(&mut self, arrival: &Arrival, found: &Backlog) -> Verdict;
    /// Records a departure, if the queue uses it.
    fn record_departure(&mut self, _: Colour, _: &Backlog, _: Time) {}
    /// Returns the averages that ns-2's table has.
    fn averages(&self) -> Vec<f64>;
    /// Returns the names of early and forced drops in ns-2's table, which differ only for its
    /// DiffServ queue.
    fn drop_names(&self) -> [&'static str; 2];
}

impl Judge for Ns2Red {
    fn judge(&mut self, arrival: &Arrival, found: &Backlog) -> Verdict {
        Ns2Red::judge(self, arrival.bytes, false, found, arrival.now, arrival.u)
    }

    fn averages(&self) -> Vec<f64> {
        vec![self.average()]
    }

    fn drop_names(&self) -> [&'static str; 2] {
        ["drop", "drop"]
    }
}

impl Judge for Ns2Rio {
    fn judge(&mut self, arrival: &Arrival, found: &Backlog) -> Verdict {
        let packet = (arrival.colour, arrival.bytes, false);
        Ns2Rio::judge(self, packet, found, arrival.now, arrival.u)
    }

    fn averages(&self) -> Vec<f64> {
        vec![self.average(Colour::Green), self.average(Colour::Yellow)]
    }

    fn drop_names(&self) -> [&'static str; 2] {
        ["drop", "drop"]
    }
}

impl Judge for Ns2DsRed {
    fn judge(&mut self, arrival: &Arrival, found: &Backlog) -> Verdict {
        match found.packets >= LIMIT {
            true => Verdict::Forced,
            false => Ns2DsRed::judge(self, arrival.colour, false, found, arrival.now, arrival.u),
        }
    }

    fn record_departure(&mut self, colour: Colour, after: &Backlog, now: Time) {
        Ns2DsRed::record_departure(self, colour, after, now);
    }

    fn averages(&self) -> Vec<f64> {
        vec![self.average(Colour::Green), self.average(Colour::Yellow)]
    }

    fn drop_names(&self) -> [&'static str; 2] {
        ["early", "forced"]
    }
}

/// A FIFO before a link: packets waiting with their start of transmission.
struct Server {
    promised: VecDeque<(Time, Colour, u16)>,
    found: Backlog,
    free: Time,
}

impl Server {
    /// Returns an idle link.
    fn new() -> Server {
        Server {
            promised: VecDeque::new(),
            found: Backlog { idle_since_ns: 0, ..Backlog::default() },
            free: Time::ZERO,
        }
    }

    /// Serves the packets that start by `now`, reports their departures to `judge`, and sets since
    /// when the link is idle.
    fn advance(&mut self, now: Time, judge: &mut impl Judge) {
        while let Some(&(start, colour, bytes)) = self.promised.front().filter(|first| first.0 <= now) {
            self.promised.pop_front();
            self.found.remove(colour, bytes.into());
            judge.record_departure(colour, &self.found, start);
        }
        self.found.idle_since_ns = if self.free <= now { self.free.0 } else { Time::NEVER.0 };
    }

    /// Adds an arrival that was not dropped.
    fn serve(&mut self, arrival: &Arrival, judge: &mut impl Judge) {
        let start = arrival.now.max(self.free);
        self.free = start + RATE.tx_time(arrival.bytes.into());
        self.found.add(arrival.colour, arrival.bytes.into());
        self.promised.push_back((start, arrival.colour, arrival.bytes));
        self.advance(arrival.now, judge);
    }
}

/// Plays a table and asserts packets found, averages and decisions. At least `drops` of its
/// arrivals must be drops, and 1000 rows be there, so that there is something to compare.
fn assert_decisions(table: &str, judge: &mut impl Judge, drops: usize) {
    let mut server = Server::new();
    let mut dropped = 0;
    let rows = read_golden_rows(&format!("drop-decisions/{table}.csv"));
    assert!(rows.len() >= 1000, "{table}: {} rows", rows.len());
    for arrival in rows.iter().map(|row| Arrival::from_row(row)) {
        let at = format!("{table} at {} s", arrival.now.as_secs());
        server.advance(arrival.now, judge);
        assert_eq!(server.found.packets, arrival.waiting, "{at}: packets found");
        let verdict = judge.judge(&arrival, &server.found);
        for (ours, theirs) in judge.averages().into_iter().zip(&arrival.averages) {
            // RED's average is printed to six digits, DiffServ RED's to six decimals.
            assert!(
                (ours - theirs).abs() < 2e-6 * theirs.max(1.0) * 3.0,
                "{at}: average {ours}, ns-2 {theirs}"
            );
        }
        let [early, forced] = judge.drop_names();
        let decision = match verdict {
            Verdict::Pass | Verdict::Mark => "pass",
            Verdict::Early => early,
            Verdict::Forced => forced,
        };
        assert_eq!(decision, arrival.decision, "{at}: u {}, averages {:?}", arrival.u, arrival.averages);
        match verdict.drops() {
            true => dropped += 1,
            false => server.serve(&arrival, judge),
        }
    }
    assert!(dropped >= drops, "{table}: {dropped} drops");
}

/// Returns the settings of `oracle/tcl/q_drops.tcl`.
fn plain_red_line() -> RedLine {
    RedLine {
        min_packets: 5.0,
        max_packets: 15.0,
        max_p: 0.1,
        w_q: 0.05,
        mean_packet_bytes: 1000.0,
        rate_bps: RATE.0 as f64,
        ..RedLine::default()
    }
}

/// Asserts the decisions of ns-2's RED with a buffer of `limit` packets.
fn assert_red(table: &str, limit: u32, spec: RedLine) {
    let mut red = Ns2Red::new(spec, Buffer::Packets(limit));
    assert_decisions(table, &mut red, 60);
}

/// Asserts the decisions of ns-2's RIO with a buffer of `limit` packets; `both` has what IN and OUT
/// share.
fn assert_rio(table: &str, limit: u32, both: RedLine) {
    let inside = RedLine { min_packets: 8.0, max_packets: 20.0, max_p: 0.05, ..both };
    let out = RedLine { min_packets: 4.0, max_packets: 12.0, max_p: 0.2, ..both };
    let mut rio = Ns2Rio::new(inside, out, Buffer::Packets(limit));
    assert_decisions(table, &mut rio, 60);
}

/// Asserts the decisions of ns-2's DiffServ RED.
fn assert_dsred(table: &str, mode: Mode) {
    let inside = RedLine { min_packets: 8.0, max_packets: 20.0, max_p: 0.05, ..plain_red_line() };
    let out = RedLine { min_packets: 4.0, max_packets: 12.0, max_p: 0.2, w_q: 0.03, ..plain_red_line() };
    assert_decisions(table, &mut Ns2DsRed::new(mode, &[inside, out]), 60);
}

#[test]
fn decisions__of_red_equal_ns2() {
    assert_red("RED", LIMIT, plain_red_line());
    assert_red("RED-wait", LIMIT, RedLine { wait: true, ..plain_red_line() });
    assert_red("RED-gentle-wait", LIMIT, RedLine { gentle: true, wait: true, ..plain_red_line() });
}

#[test]
fn decisions__of_red_in_bytes_equal_ns2() {
    let bytes = RedLine { byte_mode: true, queue_in_bytes: true, ..plain_red_line() };
    assert_red("RED-bytes", LIMIT, bytes);
    assert_red("RED-bytes-gentle-wait", LIMIT, RedLine { gentle: true, wait: true, ..bytes });
}

#[test]
fn decisions__of_red_at_a_full_buffer_equal_ns2() {
    assert_red("RED-full", 14, RedLine { gentle: true, wait: true, ..plain_red_line() });
}

#[test]
fn decisions__of_coupled_multi_red_equal_ns2() {
    assert_dsred("RIOC", Mode::Coupled);
}

#[test]
fn decisions__of_decoupled_multi_red_equal_ns2() {
    assert_dsred("RIOD", Mode::Decoupled);
}

#[test]
fn decisions__of_total_multi_red_equal_ns2() {
    assert_dsred("WRED", Mode::Total);
}

#[test]
fn decisions__of_rio_equal_ns2() {
    assert_rio("RIO", LIMIT, plain_red_line());
    assert_rio("RIO-in", LIMIT, plain_red_line());
    assert_rio("RIO-wait", LIMIT, RedLine { wait: true, ..plain_red_line() });
    assert_rio("RIO-gentle-wait", LIMIT, RedLine { gentle: true, wait: true, ..plain_red_line() });
}

#[test]
fn decisions__of_rio_with_packets_of_many_sizes_equal_ns2() {
    assert_rio("RIO-sizes", LIMIT, plain_red_line());
}

#[test]
fn decisions__of_rio_at_a_full_buffer_equal_ns2() {
    assert_rio("RIO-full", 10, RedLine { gentle: true, wait: true, ..plain_red_line() });
}
