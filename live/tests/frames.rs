//! A million frames that nobody would send: random bytes, valid frames with changed bytes, and
//! frames cut anywhere.
//!
//! Whatever the frame, a marker changes nothing but the DSCP and IPv4's checksum, a queue also sets
//! CE, a program that only marks drops nothing, and every packet is counted once.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

mod common;

use common::frame::{self, ACK, IPV4, IPV6, TCP, UDP, V4, V6, ethernet, tcp, udp, vlan};
use common::{Config, Context, DROP, Harness, NEXT, can_run, params};
use mousehole_live::layout::{Counters, KEEP_DSCP};
use mousehole_live::object::compile_with;
use mousehole_sim::rng::{Purpose, Stream};

const FRAMES: u32 = 1_000_000;
const FLOWS: u32 = 4096;
/// The time between two frames, ns: most take longer than this at 100 Mb/s, so that they wait.
const PACE_NS: u64 = 4_000;

/// Returns valid Ethernet frames: TCP and UDP, IPv4 and IPv6, options, extension headers, a
/// fragment, VLAN tags, PPPoE, ARP.
fn build_templates() -> Vec<Vec<u8>> {
    let segment = tcp(443, 50_000, ACK, 60);
    let v4 = V4 { traffic_class: 2, ..V4::new(TCP) }.packet(&segment);
    let v6 = V6 { traffic_class: 1, ..V6::new() }.packet(TCP, &segment);
    let options = V4 { options: vec![1; 40], ..V4::new(TCP) }.packet(&segment);
    let cut = V4 { fragment: 0x2000, ..V4::new(UDP) }.packet(&udp(1, 2, &[0; 40]));
    let mut extended = frame::fragment(0, TCP, &segment);
    let mut next = 44;
    for kind in [51u8, 60, 43, 0] {
        extended = frame::extension(kind, if kind == 51 { 12 } else { 16 }, next, &extended);
        next = kind;
    }
    vec![
        ethernet(IPV4, &v4),
        ethernet(IPV6, &v6),
        ethernet(IPV4, &options),
        ethernet(IPV4, &cut),
        ethernet(IPV6, &V6::new().packet(0, &extended)),
        ethernet(0x8100, &vlan(5, IPV4, &v4)),
        ethernet(0x88a8, &vlan(6, 0x8100, &vlan(5, IPV6, &v6))),
        ethernet(0x8864, &frame::pppoe(0x21, &v4)),
        ethernet(0x8100, &vlan(7, 0x8864, &frame::pppoe(0x57, &v6))),
        ethernet(IPV4, &V4::new(UDP).packet(&udp(53, 4000, &[7; 30]))),
        ethernet(frame::ARP, &[1; 28]),
    ]
}

/// Returns the offset of a frame's IP header and its type, by the frame's types; `None` if it is
/// not IP.
fn find_ip_offset(frame: &[u8]) -> Option<(usize, u16)> {
    let word = |at: usize| frame.get(at..at + 2).map(|two| u16::from_be_bytes([two[0], two[1]]));
    let (mut kind, mut at) = (word(12)?, 14);
    for _ in 0..2 {
        if kind == 0x8100 || kind == 0x88a8 {
            (kind, at) = (word(at + 2)?, at + 4);
        }
    }
    if kind == 0x8864 {
        kind = match word(at + 6)? {
            0x21 => IPV4,
            0x57 => IPV6,
            _ => return None,
        };
        at += 8;
    }
    (kind == IPV4 || kind == IPV6).then_some((at, kind))
}

/// Asserts that nothing of a packet changed but its DSCP and checksum, and with `marks_ce` its ECN
/// field to CE.
fn assert_only_marked(before: &[u8], after: &[u8], marks_ce: bool) {
    if before == after {
        return;
    }
    let fail = |why: &str| -> ! { panic!("{why}\nin  {before:02x?}\nout {after:02x?}") };
    if before.len() != after.len() {
        fail("another length");
    }
    let Some((at, kind)) = find_ip_offset(before) else { fail("not IP, and changed") };
    let class = |frame: &[u8]| if kind == IPV4 { frame[at + 1] } else { frame[at] << 4 | frame[at + 1] >> 4 };
    let (old, new) = (class(before), class(after));
    if old & 3 != new & 3 && !(marks_ce && old & 3 != 0 && new & 3 == 3) {
        fail("another ECN codepoint");
    }
    // Undo the change; what is left must be what came in.
    let mut undone = after.to_vec();
    if kind == IPV4 {
        undone[at + 1] = old;
        undone[at + 10..at + 12].copy_from_slice(&before[at + 10..at + 12]);
        if frame::fold_checksum(&before[at..at + 20]) % 0xffff
            != frame::fold_checksum(&after[at..at + 20]) % 0xffff
        {
            fail("a checksum that is not right where the former was");
        }
    } else {
        undone[at..at + 2].copy_from_slice(&before[at..at + 2]);
        if (before[at] >> 4, before[at + 1] & 15) != (after[at] >> 4, after[at + 1] & 15) {
            fail("another version or flow label");
        }
    }
    if undone != before {
        fail("another byte");
    }
}

/// Runs frames through a program, and checks each of them and the sums of the counters.
struct Run {
    harness: Harness,
    marks_ce: bool,
    may_drop: bool,
    /// The time; with the random numbers it goes into the context, from where a program compiled
    /// with `ML_REPLAY` takes it.
    now_ns: u64,
    randoms: Stream,
    packets: u64,
    changed: u64,
    dropped: u64,
}

impl Run {
    /// Returns a run without frames; `marks_ce` says whether the program has a queue, which may also drop.
    fn new(harness: Harness, marks_ce: bool) -> Run {
        Run {
            harness,
            marks_ce,
            may_drop: marks_ce,
            now_ns: 1_000_000_000,
            randoms: Stream::new(4, Purpose::Queue, 0),
            packets: 0,
            changed: 0,
            dropped: 0,
        }
    }

    /// Runs a frame at the next time, checks what became of it and counts it. A frame that the
    /// kernel would not try gets a VLAN tag first.
    fn pass(&mut self, frame: &[u8], mut context: Context) {
        // The kernel does not try a frame that ends within its IP header, unless that is behind a tag.
        let least = match (frame[12], frame[13]) {
            (8, 0) => 34,
            (0x86, 0xdd) => 54,
            _ => 14,
        };
        let mut tagged = Vec::new();
        let frame = if frame.len() < least {
            tagged.extend([&frame[..12], &[0x81, 0, 0, 5], &frame[12..]].concat());
            context.wire_len = if context.wire_len > 0 { context.wire_len + 4 } else { 0 };
            &tagged[..]
        } else {
            frame
        };
        self.now_ns += PACE_NS;
        (context.tstamp, context.cb[0]) = (self.now_ns, self.randoms.bits() as u32);
        let outcome = self.harness.run(frame, context);
        match outcome.verdict {
            NEXT => {}
            DROP if self.may_drop => self.dropped += u64::from(context.gso_segs.max(1)),
            other => panic!("verdict {other} on {frame:02x?}"),
        }
        if outcome.frame != frame {
            self.changed += 1;
            assert_only_marked(frame, outcome.frame, self.marks_ce);
        }
        self.packets += u64::from(context.gso_segs.max(1));
    }

    /// Asserts that every packet was counted once, that every kind occurred, and that some frames
    /// were changed.
    fn finish(self) {
        let all: Counters = self.harness.counters();
        let kinds = [all.ipv4, all.ipv6, all.not_ip, all.malformed];
        assert_eq!(kinds.iter().map(|count| count.packets).sum::<u64>(), self.packets, "{all:?}");
        assert!(kinds.iter().all(|count| count.packets > 0), "{all:?}");
        assert!(all.fragments.packets > 0 && all.super_packets.packets > 0, "{all:?}");
        let colours: u64 = all.colour.iter().map(|count| count.packets).sum();
        // What is not IP has no colour: a queue gives it its place, and it passes.
        assert_eq!(colours, all.ipv4.packets + all.ipv6.packets, "{all:?}");
        assert_eq!(all.dropped.iter().map(|count| count.packets).sum::<u64>(), self.dropped, "{all:?}");
        assert_eq!(all.without_state, 0);
        assert!(
            self.changed > self.packets / 5000,
            "{} of {} frames were changed",
            self.changed,
            self.packets
        );
    }
}

/// Runs every beginning of each template twice, and then `frames` frames: random bytes, changed and
/// cut templates. The seed determines them.
fn feed_frames(run: &mut Run, frames: u32, seed: u64) {
    let templates = build_templates();
    for whole in &templates {
        for length in 14..=whole.len() {
            run.pass(&whole[..length], Context::default());
            run.pass(&whole[..length], Context::default());
        }
    }
    let mut rng = Stream::new(seed, Purpose::Size, 0);
    let mut frame = Vec::with_capacity(2048);
    for number in 0..frames {
        let draw = rng.bits();
        frame.clear();
        if number % 4 == 0 {
            // Random bytes; most have a type and version of IP, so that they are parsed further.
            let length = 14 + (draw % 120) as usize;
            while frame.len() < length {
                frame.extend(rng.bits().to_le_bytes());
            }
            frame.truncate(length);
            let (kind, version) = if draw >> 40 & 1 == 0 { (IPV4, 0x40) } else { (IPV6, 0x60) };
            if draw >> 41 & 7 != 0 {
                frame[12..14].copy_from_slice(&kind.to_be_bytes());
                if length > 14 && draw >> 44 & 3 != 0 {
                    frame[14] = frame[14] & 15 | version;
                }
            }
        } else {
            frame.extend(&templates[(draw % templates.len() as u64) as usize]);
            for _ in 0..draw >> 8 & 3 {
                let change = rng.bits();
                let at = 12 + (change % (frame.len() as u64 - 12)) as usize;
                frame[at] = (change >> 32) as u8;
            }
            if draw >> 10 & 3 == 0 {
                frame.truncate(14 + (draw >> 16) as usize % (frame.len() - 13));
            }
        }
        let mut context = Context::default();
        if draw >> 50 & 15 == 0 {
            let segments = 2 + (draw >> 54 & 31) as u32;
            context.gso_segs = segments;
            context.wire_len = frame.len() as u32 * segments;
            context.gso_size = 100;
        }
        run.pass(&frame, context);
    }
}

#[test]
fn marker__changes_the_dscp_and_the_checksum_only() {
    if !can_run() {
        return;
    }
    let mut config = Config::new(&[params("sfd", &[("th", "0p")])]).with_dscp([KEEP_DSCP, 1, 1]);
    let mut run = Run::new(Harness::load_built_in("sfd-none-none", FLOWS, &config), false);
    feed_frames(&mut run, FRAMES / 2, 1);
    run.finish();
    config.first.action.overrides = 1;
    let mut run = Run::new(Harness::load_built_in("sfd-none-none", FLOWS, &config), false);
    feed_frames(&mut run, FRAMES / 4, 2);
    run.finish();
}

#[test]
fn queue__sets_ce_besides() {
    if !can_run() {
        return;
    }
    let given =
        [("min", "1"), ("max", "4"), ("maxp", "0.5"), ("wq", "0.5"), ("wait", "false"), ("ecn", "true")];
    let marker = params("sfd", &[("th", "0p")]);
    let config = Config::new(&[marker, params("red", &given)])
        .with_fifo(100_000_000, 0, 0, 100, 0)
        .with_dscp([KEEP_DSCP, 1, 1]);
    let object = compile_with("sfd-none-red", &["-DML_REPLAY"]).unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::new(Harness::load(&object, FLOWS, &config), true);
    feed_frames(&mut run, FRAMES / 4, 3);
    let marked = run.harness.counters().ce_marked.packets;
    assert!(marked > 1000, "{marked} packets were marked");
    assert!(run.dropped > 1000, "{} packets were dropped", run.dropped);
    run.finish();
}
