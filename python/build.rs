//! Notes the git revision the engine is built from, for the manifests of results.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // HEAD changes with the branch, its log with every commit; in a worktree they are not in ../.git.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    println!("cargo:rustc-env=MOUSEHOLE_REVISION={}", revision().unwrap_or_else(|| "unknown".into()));
}

/// Returns the commit, with `-dirty` when the tree differs from it; nothing outside a git checkout.
fn revision() -> Option<String> {
    git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
}

/// Returns the line that a git command prints; nothing if it fails or prints nothing.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_string()).filter(|text| output.status.success() && !text.is_empty())
}
