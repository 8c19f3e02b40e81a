//! Compiles the C headers, through one shim of plain functions, into the crate.

fn main() {
    println!("cargo::rerun-if-changed=include");
    println!("cargo::rerun-if-changed=src/shim.c");
    cc::Build::new()
        .file("src/shim.c")
        .include("include")
        .std("c11")
        .opt_level(3)
        .flags(["-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .compile("mousehole_policy");
}
