//! Compiles the eBPF programs in `bpf/` with clang.

use std::path::PathBuf;
use std::process::{Command, exit};

const FLAGS: [&str; 9] = [
    "-target",
    "bpf",
    "-O2",
    "-g",
    "-mcpu=v3",
    "-fno-strict-aliasing",
    "-Wall",
    "-Werror",
    "-I../policy/include",
];

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-changed=../policy/include");
    println!("cargo::rerun-if-env-changed=CLANG");
    let object = PathBuf::from(std::env::var_os("OUT_DIR").unwrap()).join("parity.bpf.o");
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".to_string());
    let mut command = Command::new(&clang);
    command.args(FLAGS);
    for folder in system_headers(&clang) {
        command.arg("-idirafter").arg(folder);
    }
    let status = command.arg("-c").arg("bpf/parity.bpf.c").arg("-o").arg(object).status();
    if !status.is_ok_and(|status| status.success()) {
        fail("bpf/parity.bpf.c does not compile for eBPF; the compiler's message is above");
    }
}

/// Where the native target has its headers: `linux/bpf.h` needs `asm/types.h` from there.
fn system_headers(clang: &str) -> Vec<String> {
    let arguments = ["-v", "-E", "-x", "c", "/dev/null", "-o", "/dev/null"];
    let Ok(done) = Command::new(clang).args(arguments).output() else {
        fail(&format!(
            "{clang} is not here; mousehole-live compiles its eBPF programs with it \
             (`make deps` installs it, CLANG=... names another)"
        ));
    };
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    let listed = text.lines().skip_while(|line| !line.starts_with("#include <...>")).skip(1);
    listed.take_while(|line| line.starts_with(' ')).map(|line| line.trim().to_string()).collect()
}

fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    exit(1);
}
