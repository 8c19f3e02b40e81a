//! How far the kernel's verifier walks: no program that is built in may need more than a tenth of what it allows.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

mod common;

use common::can_run;
use mousehole_live::kernel::{Maps, load};
use mousehole_live::object::{built_in, built_in_object};

const MOST_INSTRUCTIONS: u32 = 100_000;

/// Prints the table with `cargo test -p mousehole-live --test verifier -- --nocapture`.
#[test]
fn built_in_programs__stay_below_the_limit() {
    if !can_run() {
        return;
    }
    let (mut walked, mut refused) = (Vec::new(), Vec::new());
    for name in built_in() {
        let object = built_in_object(name).expect("it is built in");
        match load(&object, Maps { place: None, reuse: false, flows: 1024 }) {
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
