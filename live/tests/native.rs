//! What `up --native` refuses, in one sentence each. What it does is tested in a virtual machine,
//! since few kernels accept queue disciplines by struct_ops.

#![allow(non_snake_case, missing_docs)]

use mousehole_live::deployment::{Deployment, Shaper};
use mousehole_live::device::Device;
use mousehole_live::error::Failure;
use mousehole_live::layout::{HAS_TWINS, Plain as _, Settings};
use mousehole_live::native::{IS_BUILT_IN, is_supported_by_kernel};
use mousehole_live::object::find_built_in;
use mousehole_live::request::{Mode, Request};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns what `up --native --dry-run` prints for a scheme, and its exit status.
fn rehearse(scheme: &str) -> (String, Option<i32>) {
    rehearse_with(&["--scheme", scheme])
}

/// Returns what `up --native --dry-run` prints with these options, on standard error if it fails,
/// and its exit status.
fn rehearse_with(words: &[&str]) -> (String, Option<i32>) {
    let done = Command::new(env!("CARGO_BIN_EXE_mousehole-live"))
        .args(["up", "lo", "--native", "--dry-run", "--rate", "1mbit"])
        .args(words)
        .output()
        .unwrap();
    let said = if done.status.success() { done.stdout } else { done.stderr };
    (String::from_utf8(said).unwrap(), done.status.code())
}

#[test]
fn queues_that_the_kernel_cannot_run__are_refused_with_the_reason() {
    for (scheme, reason) in [
        ("rio-ps", "--native runs queues that are headers"),
        ("sfd|wrr", "reads the application of a packet, and the kernel knows none"),
    ] {
        let (said, status) = rehearse(scheme);
        assert!(said.contains(reason) && said.trim().lines().count() == 1, "{scheme}: {said}");
        assert_eq!(status, Some(2), "{scheme}");
    }
}

/// Returns the deployment of a scheme as a native queue at `lo`, or at the IFB of its downloads.
fn plan(scheme: &str, is_download: bool) -> Result<Deployment, Failure> {
    let request = Request {
        scheme: scheme.into(),
        rate: Some("3mbit".into()),
        native: true,
        download: is_download.then(|| "lo".into()),
        ..Request::new(Mode::Up)
    };
    Deployment::new(&request, &Device::find("lo").unwrap(), None)
}

#[test]
fn twins__are_made_before_queues_that_mark_and_no_others() {
    for (scheme, wanted) in [
        ("fq-codel", HAS_TWINS),
        ("fq-codel(ecn=false)", 0),
        ("codel", HAS_TWINS),
        ("dualpi2", HAS_TWINS),
        ("dualpi2(ecn=false)", HAS_TWINS),
        ("lfp", 0),
        ("pias", 0),
        ("rio-ps|priority-red(ecn=true)", HAS_TWINS),
        ("rio-ps|priority-red", 0),
    ] {
        let deployment = plan(scheme, false).unwrap();
        let request = Request { rate: Some("3mbit".into()), native: true, ..Request::new(Mode::Up) };
        let bytes = deployment.settings(&request, &Device::find("lo").unwrap());
        assert_eq!(Settings::read(&bytes).flags, wanted, "{scheme}");
    }
}

#[test]
fn ifb__refuses_queues_that_mark() {
    let error = plan("fq-codel", true).unwrap_err().to_string();
    assert!(
        error.contains("fq-codel, which marks packets, at an IFB") && error.contains("ecn=false"),
        "{error}"
    );
    plan("fq-codel(ecn=false)", true).unwrap();
}

/// Writes the queue header of docs/own-policy.md into a folder. Returns its path.
fn write_own_queue(folder: &Path) -> PathBuf {
    let page = include_str!("../../docs/own-policy.md");
    let mut blocks = page.split("```c\n").skip(1).filter_map(|rest| rest.split("```").next());
    let path = folder.join("least-attained.h");
    std::fs::write(&path, blocks.find(|block| block.contains("MH_QUEUE(")).unwrap()).unwrap();
    path
}

#[test]
fn own_queue__is_compiled_behind_the_program_that_counts() {
    let folder = tempfile::tempdir().unwrap();
    let request = Request {
        scheme: "least-attained(lowest=5kB)".into(),
        policy: vec![write_own_queue(folder.path())],
        rate: Some("3mbit".into()),
        native: true,
        ..Request::new(Mode::Up)
    };
    let deployment = Deployment::new(&request, &Device::find("lo").unwrap(), None).unwrap();
    assert!(matches!(deployment.shaper, Shaper::Native { .. }));
    let objects = deployment.objects().unwrap();
    assert_eq!(Some(objects.egress), find_built_in("none-none-none"));
    let queue = objects.queue.unwrap();
    let has = |text: &[u8]| queue.windows(text.len()).any(|part| part == text);
    assert!(has(b"mh_least_attained_params") && has(b"ml_queue_ops"));
}

#[test]
fn build_or_kernel_without_struct_ops_of_queues__is_named() {
    let folder = tempfile::tempdir().unwrap();
    let own = write_own_queue(folder.path()).display().to_string();
    assert_refused_or_planned(&rehearse("pias"), "priority");
    assert_refused_or_planned(
        &rehearse_with(&["--policy", &own, "--scheme", "least-attained"]),
        "least-attained",
    );
}

/// Asserts that `--native` is refused in one sentence if the kernel or build does not support it,
/// and otherwise names the queue.
fn assert_refused_or_planned((said, status): &(String, Option<i32>), queue: &str) {
    let status = *status;
    if !IS_BUILT_IN {
        assert!(said.contains("this build of mousehole-live has no native queues"), "{said}");
        assert_eq!((said.trim().lines().count(), status), (1, Some(2)), "{said}");
        return;
    }
    match is_supported_by_kernel().unwrap_or(false) {
        true => {
            assert!(said.contains(&format!("the queue {queue} is a queue discipline of its own")), "{said}");
        }
        false => {
            assert!(
                said.contains("--native needs a kernel of 6.16 or later with CONFIG_NET_SCH_BPF"),
                "{said}"
            );
            assert_eq!((said.trim().lines().count(), status), (1, Some(2)), "{said}");
        }
    }
}
