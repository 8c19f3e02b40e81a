//! Measures the cost of a packet in the kernel, compared with a program that parses and counts
//! only, and with a firewall rule.
//!
//! As root: `make bench WHAT=live`. Programs take turns, so that all meet the same load of the
//! machine. A row gives the median and the minimum of many short measurements. There are five
//! tables:
//!
//! 1. One flow: `BPF_PROG_TEST_RUN` with a context repeats one frame.
//! 2. Many flows: each run is a separate call on the next flow in a random order, so that the
//!    flow's entry is not in the processor's cache. The reference program is measured in the same
//!    way.
//! 3. The same flows as real packets of a socket through a device, by the kernel's statistics of
//!    programs' run time (`BPF_ENABLE_STATS`, which ends with this process).
//! 4. The CPU time of sending such packets, with the marker and with an nft rule that selects flows
//!    by `ct bytes`.
//! 5. One, two and eight threads at once on one set of maps. `ARGS=contention` prints this table
//!    alone.

#![allow(non_snake_case, missing_docs)]

#[path = "../../tests/common/mod.rs"]
mod common;
mod contention;
mod firewall;
mod traffic;

use common::frame::build_flow_frame;
use common::{Config, Context, Harness, can_run, params};
use mousehole_live::layout::KEEP_DSCP;
use mousehole_live::object::compile_with;
use mousehole_policy::Params;

/// Runs of one measurement, and measurements of each program.
const REPEAT: u32 = 20_000;
const MEASUREMENTS: usize = 200;
/// Flows of the large table, its entries, and how many runs are measured.
const FLOWS: u32 = 131_072;
const ENTRIES: u32 = FLOWS / 4 * 5;
const CALLS: u32 = 100_000;

/// A program, and how much it may cost above the reference, ns.
pub(crate) struct Row {
    name: &'static str,
    limit: f64,
    pub(crate) harness: Harness,
    pub(crate) taken: Vec<f64>,
}

impl Row {
    /// Loads a program with these policies; `limit` is 0 if it has none.
    ///
    /// # Panics
    /// If the program cannot be compiled or loaded.
    pub(crate) fn new(name: &'static str, limit: f64, program: &str, policies: &[Params]) -> Row {
        let mut config = Config::new(policies).with_dscp([KEEP_DSCP, 1, 1]);
        if !program.ends_with("-none") {
            // So fast that the queue stays short and nothing is dropped.
            config = config.with_fifo(100_000_000_000, 14, 0, 1000, 0);
        }
        let harness = match name {
            EMPTY => {
                let object =
                    compile_with(program, &["-DML_COUNT_ONLY"]).unwrap_or_else(|error| panic!("{error}"));
                Harness::load(&object, ENTRIES, &config)
            }
            _ => Harness::load_built_in(program, ENTRIES, &config),
        };
        Row { name, limit, harness, taken: Vec::new() }
    }

    /// Sorts its measurements, of which there must be one, and returns their median and minimum,
    /// ns.
    fn summarise(&mut self) -> (f64, f64) {
        self.taken.sort_unstable_by(f64::total_cmp);
        (self.taken[self.taken.len() / 2], self.taken[0])
    }
}

/// The title of the reference program.
pub(crate) const EMPTY: &str = "parse and count only";

/// Prints a table: each row's cost, and its excess over the first row, which must be the reference
/// program.
pub(crate) fn print_table(title: &str, rows: &mut [Row]) {
    println!(
        "{title}\n{:<28}{:>8}{:>8}{:>10}{:>10}{:>8}{:>8}",
        "ns a packet", "median", "least", "above", "least", "limit", "ratio"
    );
    let (empty, least_empty) = rows[0].summarise();
    for row in rows {
        let (median, least) = row.summarise();
        let (above, least_above) = (median - empty, least - least_empty);
        print!("{:<28}{median:>8.0}{least:>8.0}{above:>10.0}{least_above:>10.0}", row.name);
        match row.limit {
            limit if limit > 0.0 => println!("{limit:>8.0}{:>8.2}", above / limit),
            _ => println!(),
        }
    }
    println!();
}

/// Returns the flow of a call, below 2¹⁷, so that all flows come by turns in an irregular order.
pub(crate) fn shuffle(call: u32) -> u32 {
    call.wrapping_mul(2_654_435_761) >> 15
}

/// Prints all tables, or that of threads alone.
fn main() {
    if !can_run() {
        return;
    }
    match std::env::args().nth(1).as_deref() {
        None => measure_costs(),
        Some("contention") => {}
        Some(other) => panic!("{other:?} is no table of this program; contention is"),
    }
    contention::measure();
}

/// Measures and prints the tables of costs: all but that of threads. Says which could not be run,
/// and why.
fn measure_costs() {
    let sfd = || params("sfd", &[]);
    let rio_ps = || params("rio-ps", &[]);
    let (red, multi_red, shred) =
        (|| params("red", &[]), || params("multi-red", &[]), || params("shred", &[]));
    let mut rows = [
        Row::new(EMPTY, 0.0, "sfd-none-none", &[sfd()]),
        Row::new("marker sfd", 60.0, "sfd-none-none", &[sfd()]),
        Row::new("marker rio-ps", 60.0, "rio_ps-none-none", &[rio_ps()]),
        Row::new("queue droptail", 110.0, "none-none-droptail", &[]),
        Row::new("queue red", 110.0, "none-none-red", &[red()]),
        Row::new("queue multi-red", 110.0, "none-none-multi_red", &[multi_red()]),
        Row::new("queue shred", 110.0, "none-none-shred", &[shred()]),
        Row::new("sfd with multi-red", 170.0, "sfd-none-multi_red", &[sfd(), multi_red()]),
        Row::new("rio-ps with multi-red", 170.0, "rio_ps-none-multi_red", &[rio_ps(), multi_red()]),
    ];
    let one = build_flow_frame(1);
    for _ in 0..MEASUREMENTS {
        for row in &mut rows {
            let taken = row.harness.time_runs(&one, Context::default(), REPEAT);
            row.taken.push(f64::from(taken));
        }
    }
    print_table("One flow", &mut rows);
    drop(rows);

    let mut rows = [
        Row::new(EMPTY, 0.0, "sfd-none-none", &[sfd()]),
        Row::new("marker sfd", 250.0, "sfd-none-none", &[sfd()]),
        Row::new("marker rio-ps", 250.0, "rio_ps-none-none", &[rio_ps()]),
    ];
    for row in &mut rows {
        for flow in 0..FLOWS {
            row.harness.time_runs(&build_flow_frame(flow), Context::default(), 1);
        }
    }
    for call in 0..CALLS {
        let flow = shuffle(call);
        let one = build_flow_frame(flow);
        for row in &mut rows {
            let taken = row.harness.time_runs(&one, Context::default(), 1);
            row.taken.push(f64::from(taken));
        }
    }
    print_table(&format!("{FLOWS} flows, each run on another one"), &mut rows);
    if let Err(why) = traffic::measure(&mut rows, FLOWS) {
        println!("NOT RUN: programs under real traffic: {why}\n");
    }
    drop(rows);
    if let Err(why) = firewall::measure() {
        println!("NOT RUN: the marker beside nft's rule: {why}");
    }
}
