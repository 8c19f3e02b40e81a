//! The verifier's work: no built-in program may need more than a tenth of the instructions that the
//! kernel allows.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

mod common;

use common::can_run;
use mousehole_live::kernel::{Maps, load};
use mousehole_live::object::{find_built_in, list_built_in};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};

const MOST_INSTRUCTIONS: u32 = 100_000;

/// Prints the table with `cargo test -p mousehole-live --test verifier -- --nocapture`.
#[test]
fn built_in_programs__stay_below_the_limit() {
    if !can_run() {
        return;
    }
    let (mut walked, mut refused) = (Vec::new(), Vec::new());
    for name in list_built_in() {
        let object = find_built_in(name).expect("it is built in");
        match load(&object, Maps { place: None, reuse: false, flows: 1024, notes_transfers: false }) {
            Ok(loaded) => {
                walked.push((loaded.verified_instructions().expect("kernels from 5.16 on tell"), name));
            }
            Err(failure) => refused.push(format!("{name}: {failure}")),
        }
    }
    walked.sort_unstable_by(|a, b| b.cmp(a));
    for (instructions, name) in &walked {
        println!("{instructions:>8}  {name}");
    }
    assert!(refused.is_empty(), "the kernel refuses {}:\n{}", refused.len(), refused.join("\n"));
    assert!(walked.len() > 20, "{} programs are built in", walked.len());
    assert!(walked[0].0 <= MOST_INSTRUCTIONS, "{} needs {} instructions", walked[0].1, walked[0].0);
}

/// The verifier accepts a packet's context as argument of a global function only where the kernel has type information
/// (BTF), which kernels of routers lack. The program itself is in a section of its own.
#[test]
fn built_in_programs__have_no_global_function_besides_the_program() {
    for name in list_built_in() {
        let bytes = find_built_in(name).expect("it is built in");
        let file = object::File::parse(&*bytes).expect("clang writes ELF");
        let text = file.section_by_name(".text").map(|section| section.index());
        let of_text = |symbol: &object::Symbol| symbol.section_index() == text && symbol.is_definition();
        let mut global = file.symbols().filter(|symbol| symbol.is_global() && of_text(symbol));
        let found = global.next().map(|symbol| symbol.name().expect("it has a name").to_string());
        assert_eq!(found, None, "{name}: the function is global");
    }
}

/// The newest helper that programs may call, `bpf_ktime_get_coarse_ns` of Linux 5.11. Those that take a callback are newer
/// and need a kernel that compiles programs (JIT), which those of 32-bit machines often do not.
const NEWEST_HELPER: u32 = 160;

/// Returns the numbers of the helpers that an object calls, in the order of its instructions, each
/// as often as it is called.
fn list_helpers(bytes: &[u8]) -> Vec<u32> {
    const LOAD_LONG: u8 = 0x18;
    const CALL: u8 = 0x85;
    let file = object::File::parse(bytes).expect("clang writes ELF");
    let mut found = Vec::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let mut instructions = section.data().expect("it has data").chunks_exact(8);
        while let Some(one) = instructions.next() {
            match one[0] {
                LOAD_LONG => drop(instructions.next()),
                // The source register is not 0 in calls of the program's functions.
                CALL if one[1] >> 4 == 0 => found.push(u32::from_le_bytes([one[4], one[5], one[6], one[7]])),
                _ => {}
            }
        }
    }
    found
}

#[test]
fn built_in_programs__call_no_helper_that_linux_5_15_lacks() {
    for name in list_built_in() {
        let called = list_helpers(&find_built_in(name).expect("it is built in"));
        assert!(called.contains(&1), "{name} looks nothing up: {called:?}");
        let newest = called.iter().max().expect("it calls some");
        assert!(*newest <= NEWEST_HELPER, "{name} calls the helper {newest}");
    }
}
