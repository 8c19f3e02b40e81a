//! The flow table: how full it gets before a new flow evicts another.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

mod common;

use common::frame::build_flow_frame;
use common::{Config, Context, Harness, can_run, params};
use mousehole_live::layout::KEEP_DSCP;
use std::collections::HashSet;

const ENTRIES: u32 = 8192;

/// Returns a program in whose flow table of [`ENTRIES`] entries each of `flows` flows has sent one
/// packet.
fn fill_table(flows: u32) -> Harness {
    let config = Config::new(&[params("sfd", &[])]).with_dscp([KEEP_DSCP, 1, 1]);
    let mut harness = Harness::load_built_in("sfd-none-none", ENTRIES, &config);
    for flow in 0..flows {
        harness.run(&build_flow_frame(flow), Context::default());
    }
    harness
}

/// Returns the numbers of the flows in the table, after asserting that each has one entry.
fn list_held_flows(harness: &Harness) -> HashSet<u32> {
    let numbers: Vec<u32> = harness
        .flows()
        .iter()
        .map(|(key, ..)| u32::from_be_bytes([0, key.source[13], key.source[14], key.source[15]]))
        .collect();
    let distinct: HashSet<u32> = numbers.iter().copied().collect();
    assert_eq!(distinct.len(), numbers.len(), "a flow has one entry");
    distinct
}

#[test]
fn table__holds_nearly_all_flows_up_to_four_fifths() {
    if !can_run() {
        return;
    }
    let flows = ENTRIES / 5 * 4;
    let mut harness = fill_table(flows);
    // With ideal hashes about one flow is evicted.
    let count = list_held_flows(&harness).len() as u32;
    assert!(count >= flows - flows / 500, "{count} of {flows} flows");
    assert_eq!(harness.counters().new_flows, u64::from(flows));
    for flow in 0..flows {
        harness.run(&build_flow_frame(flow), Context::default());
    }
    let again = harness.counters().new_flows - u64::from(flows);
    assert!(again <= u64::from(flows / 250), "{again} flows were met as new twice");
}

#[test]
fn table__is_full_before_the_oldest_make_room() {
    if !can_run() {
        return;
    }
    let flows = ENTRIES * 4;
    let held = list_held_flows(&fill_table(flows));
    assert!(held.len() as u32 > ENTRIES / 100 * 99, "{} of {ENTRIES} entries", held.len());
    let last = (flows - ENTRIES / 2..flows).filter(|flow| held.contains(flow)).count() as u32;
    assert!(last > ENTRIES / 2 / 100 * 95, "{last} of the last {} flows", ENTRIES / 2);
}
