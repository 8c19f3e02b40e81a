//! Compiles the C headers, through a shim of plain functions, into the crate.

const SOURCES: [&str; 2] = ["src/shim.c", "src/shim_layout.c"];

fn main() {
    println!("cargo::rerun-if-changed=include");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    cc::Build::new()
        .files(SOURCES)
        .include("include")
        .std("c11")
        .opt_level(3)
        .flags(["-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .compile("mousehole_policy");
}
