//! `up --native`: what it refuses, in one sentence each. What it does is tried in a guest, since few kernels take queues.

#![allow(non_snake_case, missing_docs)]

use mousehole_live::native::{IS_BUILT_IN, is_known_to_kernel};
use std::process::Command;

/// Returns what `up --native --dry-run` says to a scheme, and its status.
fn rehearse(scheme: &str) -> (String, Option<i32>) {
    let done = Command::new(env!("CARGO_BIN_EXE_mousehole-live"))
        .args(["up", "lo", "--native", "--dry-run", "--rate", "1mbit", "--scheme", scheme])
        .output()
        .unwrap();
    let said = if done.status.success() { done.stdout } else { done.stderr };
    (String::from_utf8(said).unwrap(), done.status.code())
}

#[test]
fn queues_that_the_kernel_cannot_run__are_refused_with_the_reason() {
    for (scheme, reason) in [
        ("rio-ps", "--native runs queues that are headers"),
        ("dualpi2", "which marks packets, since a queue discipline by struct_ops may not write into them"),
        ("sfd|wrr", "reads the application of a packet, and the kernel knows none"),
    ] {
        let (said, status) = rehearse(scheme);
        assert!(said.contains(reason) && said.trim().lines().count() == 1, "{scheme}: {said}");
        assert_eq!(status, Some(2), "{scheme}");
    }
}

#[test]
fn build_or_kernel_without_struct_ops_of_queues__is_named() {
    let (said, status) = rehearse("pias");
    if !IS_BUILT_IN {
        assert!(said.contains("this build of mousehole-live has no native queues"), "{said}");
        assert_eq!((said.trim().lines().count(), status), (1, Some(2)), "{said}");
        return;
    }
    match is_known_to_kernel().unwrap_or(false) {
        true => assert!(said.contains("the queue priority is a queue discipline of its own"), "{said}"),
        false => {
            assert!(
                said.contains("--native needs a kernel of 6.16 or later with CONFIG_NET_SCH_BPF"),
                "{said}"
            );
            assert_eq!((said.trim().lines().count(), status), (1, Some(2)), "{said}");
        }
    }
}
