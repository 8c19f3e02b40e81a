//! Notes the git revision the engine is built from, for the manifests of results, and a digest of its sources, by
//! which results that were kept are found again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: [&str; 9] = [
    "python/src",
    "scheme/src",
    "sim/src",
    "answer/src",
    "compare/src",
    "policy/include",
    "policy/src",
    "policy/check/src",
    "Cargo.lock",
];

fn main() {
    let root = find_workspace();
    println!("cargo:rerun-if-changed={}", root.join("python/build.rs").display());
    // HEAD changes with the branch, its log with every commit; in a worktree they are not in .git of the root.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = run_git(&["rev-parse", "--path-format=absolute", "--git-path", file]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    println!("cargo:rustc-env=MOUSEHOLE_REVISION={}", read_revision().unwrap_or_else(|| "unknown".into()));
    println!("cargo:rustc-env=MOUSEHOLE_SOURCES={:032x}", digest_of_sources(&root));
}

/// Returns the folder of the workspace, which has the lock file; the package is one of the folders in it.
fn find_workspace() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let package = Path::new(&package);
    let found = package.ancestors().find(|folder| folder.join("Cargo.lock").is_file());
    found.unwrap_or(package).to_path_buf()
}

/// Returns a digest of the names and contents of all sources: 128 bits of FNV-1a, which nobody attacks here.
fn digest_of_sources(root: &Path) -> u128 {
    let mut digest = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            digest = (digest ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    };
    for source in SOURCES {
        println!("cargo:rerun-if-changed={}", root.join(source).display());
        for file in list_files(&root.join(source)) {
            add(file.strip_prefix(root).unwrap_or(&file).to_string_lossy().as_bytes());
            add(&fs::read(&file).unwrap_or_default());
        }
    }
    digest
}

/// Returns the files in a folder and all folders in it, in the order of their names; a file gives itself.
fn list_files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return vec![path.to_path_buf()] };
    let mut found: Vec<PathBuf> = entries.flatten().flat_map(|entry| list_files(&entry.path())).collect();
    found.sort();
    found
}

/// Returns the commit, with `-dirty` when the tree differs from it; nothing outside a git checkout.
fn read_revision() -> Option<String> {
    run_git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
}

/// Returns the line that a git command prints; nothing if it fails or prints nothing.
fn run_git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_string()).filter(|text| output.status.success() && !text.is_empty())
}
