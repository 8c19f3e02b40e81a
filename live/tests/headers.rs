//! Each header of the kernel's program compiles alone, in any program, so that it can be read
//! alone.

#![allow(non_snake_case, missing_docs)]

use mousehole_live::object::define_by_name;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs in which every role is absent or has a policy, and every optional part of one is used.
const PROGRAMS: [&str; 4] =
    ["none-none-none", "lfp-policer-multi_red", "sfd-policer-none", "window_marker-none-shred"];

/// Returns the headers of the kernel's program.
fn list_headers() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
    let files = std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|name| name == "h")).collect()
}

/// Asserts that each header compiles as a source file, for each program. `compiler` is the command
/// with its first arguments; one that is not installed is reported as NOT RUN.
fn compile_headers(compiler: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    if mousehole_policy::process::ask_version(compiler[0]).is_none() {
        println!("NOT RUN: {} is not installed", compiler[0]);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("one.c");
    for header in list_headers() {
        std::fs::write(&source, format!("#include \"{}\"\n", header.display())).unwrap();
        for program in PROGRAMS {
            let done = Command::new(compiler[0])
                .args(&compiler[1..])
                .args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"])
                .args(
                    [here.join("bpf"), here.join("../policy/include")]
                        .map(|at| format!("-I{}", at.display())),
                )
                .args(define_by_name(program).unwrap())
                .arg(&source)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{} in {program}: {said}", header.display());
        }
    }
}

#[test]
fn headers__compile_alone_by_gcc() {
    assert!(list_headers().len() > 10);
    compile_headers(&["gcc", "-std=gnu11", "-O2"]);
}

#[test]
fn headers__compile_alone_for_the_kernel() {
    compile_headers(&["clang", "-target", "bpf", "-O2", "-mcpu=v3"]);
}
