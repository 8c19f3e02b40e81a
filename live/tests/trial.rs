//! The randomised trial in the kernel: whose packets stay unchanged, and when a transfer begins and
//! ends.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

mod common;

use common::frame::{ACK, IPV4, SYN, TCP, V4, V6, build_flow_frame, ethernet, tcp};
use common::{Config, Context, Harness, can_run, params};
use mousehole_live::layout::{KEEP_DSCP, PAUSE_MS, Transfer, Trial, USER_IS_DESTINATION};
use mousehole_live::object::compile_with;
use std::net::Ipv4Addr;

/// A trial that spares half of the hosts.
const TRIAL: Trial = Trial {
    key: [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 77],
    spared_q32: 1 << 31,
};

/// Returns a marker whose flows are yellow from their second packet on. `is_destination` says
/// whether receivers are the hosts.
fn load_marker(trial: Trial, is_destination: bool) -> Harness {
    let mut config = Config::new(&[params("sfd", &[("th", "1p")])]).with_dscp([KEEP_DSCP, 1, 1]);
    config.first.trial = trial;
    config.first.flags = if is_destination { USER_IS_DESTINATION } else { 0 };
    let object = compile_with("sfd-none-none", &["-DML_REPLAY"]).unwrap_or_else(|error| panic!("{error}"));
    Harness::load(&object, 1024, &config)
}

/// Runs a frame twice. Returns whether the second one is changed; with a new flow that is its
/// second packet.
fn is_marked(harness: &mut Harness, frame: &[u8]) -> bool {
    harness.run(frame, Context::default());
    harness.run(frame, Context::default()).frame != frame
}

#[test]
fn trial__leaves_the_packets_of_spared_hosts_as_they_are() {
    if !can_run() {
        return;
    }
    let (mut uploads, mut downloads) = (load_marker(TRIAL, false), load_marker(TRIAL, true));
    let mut spared = 0;
    for number in 0..200u32 {
        let host = Ipv4Addr::from(10 << 24 | number);
        let is_spared = TRIAL.spares(&host.to_ipv6_mapped().octets());
        spared += u32::from(is_spared);
        assert_eq!(is_marked(&mut uploads, &build_flow_frame(number)), !is_spared, "{host}");
        let to = V4 { destination: host, ..V4::new(TCP) };
        let frame = ethernet(IPV4, &to.packet(&tcp(443, 50_000, ACK, 1000)));
        assert_eq!(is_marked(&mut downloads, &frame), !is_spared, "{host}");
    }
    assert!((70..130).contains(&spared), "{spared}");
    let header = V6::new();
    let frame = ethernet(common::frame::IPV6, &header.packet(TCP, &tcp(443, 50_000, ACK, 1000)));
    assert_eq!(is_marked(&mut uploads, &frame), !TRIAL.spares(&header.source.octets()));
}

#[test]
fn trial__none_marks_all_and_notes_nothing() {
    if !can_run() {
        return;
    }
    let mut harness = load_marker(Trial::NONE, false);
    assert!((0..50).all(|number| is_marked(&mut harness, &build_flow_frame(number))));
    assert!(harness.transfers().is_empty());
}

#[test]
fn transfer__lasts_from_its_syn_to_its_last_payload_before_a_pause() {
    if !can_run() {
        return;
    }
    let mut harness = load_marker(TRIAL, false);
    let mut send = |flags: u8, payload: usize, at_ms: u64| {
        let frame = ethernet(IPV4, &V4::new(TCP).packet(&tcp(443, 50_000, flags, payload)));
        harness.run(&frame, Context { tstamp: at_ms * 1_000_000, ..Context::default() });
        harness
            .transfers()
            .iter()
            .map(|one: &Transfer| (one.began_ms, one.ended_ms, one.bytes))
            .collect::<Vec<_>>()
    };
    let pause = u64::from(PAUSE_MS);
    // A flow without a SYN has no transfer.
    assert_eq!(send(ACK, 1000, 500), []);
    assert_eq!(send(SYN, 0, 1_000), [(1_000, 1_000, 0)]);
    assert_eq!(send(SYN, 0, 2_000), [(1_000, 1_000, 0)], "a SYN that is sent again begins nothing");
    assert_eq!(send(ACK, 1000, 2_100), [(1_000, 2_100, 1_040)]);
    assert_eq!(send(ACK, 0, 2_200), [(1_000, 2_100, 1_040)], "an acknowledgement carries nothing");
    assert_eq!(send(ACK, 500, 2_100 + pause), [(1_000, 7_100, 1_580)]);
    assert_eq!(send(ACK, 500, 7_101 + pause), [(1_000, 7_100, 1_580)], "after a pause it is over");
    assert_eq!(send(SYN, 0, 20_000), [(20_000, 20_000, 0)], "the next connection of these ports");
}
