//! Notes the git revision the engine is built from, for the manifests of results.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../.git/HEAD");
    println!("cargo:rerun-if-changed=../.git/refs/heads");
    println!("cargo:rustc-env=MOUSEHOLE_REVISION={}", revision().unwrap_or_else(|| "unknown".into()));
}

/// Returns the commit, with `-dirty` when the tree differs from it; nothing outside a git checkout.
fn revision() -> Option<String> {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_string()).filter(|text| output.status.success() && !text.is_empty())
}
