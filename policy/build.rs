//! Compiles the description of every policy header, and embeds the headers for users' own policies.
//!
//! A header in `include/mousehole` that ends in `MH_MARKER(name, …)`, `MH_DROPPER(name, …)` or `MH_QUEUE(name, …)` is a
//! policy. It needs no entry anywhere else.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=include");
    println!("cargo::rerun-if-changed=src/layout.c");
    println!("cargo::rerun-if-changed=src/virtual_fifo.c");
    println!("cargo::rerun-if-changed=src/full_buffer.c");
    println!("cargo::rerun-if-changed=src/queue.c");
    let headers = read_headers(Path::new("include/mousehole"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let registry = out.join("policies.c");
    fs::write(&registry, registry_source(&headers)).expect("OUT_DIR can be written");
    fs::write(out.join("headers.rs"), headers_source(&headers)).expect("OUT_DIR can be written");
    let sources = ["src/layout.c", "src/full_buffer.c", "src/queue.c", "src/virtual_fifo.c"].map(Path::new);
    compile(&[&[registry.as_path()], &sources[..]].concat(), "mousehole_policy");
    // For the tests alone: no program links this library, as nothing else refers to its functions.
    println!("cargo::rerun-if-changed=tests/parts");
    compile(&["tests/parts/functions.c", "tests/parts/setup.c"].map(Path::new), "mousehole_policy_parts");
}

/// Compiles C sources, which may include the headers, to a static library of this name, and links it to the crate.
fn compile(sources: &[&Path], library: &str) {
    cc::Build::new()
        .files(sources)
        .include("include")
        .std("c11")
        .opt_level(3)
        .flag("-ffp-contract=off") // a * b + c is rounded twice everywhere, not once where a machine can
        .flags(["-Wall", "-Wextra", "-Wpedantic", "-Wno-missing-field-initializers", "-Werror"])
        .compile(library);
}

/// A header: its name without `.h`, its path and its text.
struct Header {
    name: String,
    path: PathBuf,
    text: String,
}

/// Reads all headers in a folder; the result is sorted by path.
fn read_headers(folder: &Path) -> Vec<Header> {
    let entries =
        fs::read_dir(folder).expect("include/mousehole exists").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "h")).collect();
    paths.sort();
    let header = |path: PathBuf| Header {
        name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
        text: fs::read_to_string(&path).expect("a header is text"),
        path: fs::canonicalize(&path).expect("a header exists"),
    };
    paths.into_iter().map(header).collect()
}

/// Returns whether a header describes a policy of its own name.
fn is_policy(header: &Header) -> bool {
    ["MH_MARKER", "MH_DROPPER", "MH_QUEUE"]
        .iter()
        .any(|kind| header.text.contains(&format!("\n{kind}({},", header.name)))
}

/// Returns C source that includes every policy's header with its description and defines `mh_policies`, the table of all
/// descriptions, in the order of `headers`.
fn registry_source(headers: &[Header]) -> String {
    let mut source = String::from("#define MH_DESCRIBE\n#include \"mousehole/policy.h\"\n");
    let policies: Vec<&Header> = headers.iter().filter(|header| is_policy(header)).collect();
    for policy in &policies {
        let _ = writeln!(source, "#include \"mousehole/{}.h\"", policy.name);
    }
    source.push_str("const struct mh_policy *const mh_policies[] = {\n");
    for policy in &policies {
        let _ = writeln!(source, "\t&mh_policy_{},", policy.name);
    }
    source.push_str("};\n");
    let _ = writeln!(source, "const unsigned long mh_policy_count = {};", policies.len());
    source
}

/// Returns Rust source that defines `HEADERS`, a table of each header's file name and text.
fn headers_source(headers: &[Header]) -> String {
    let mut source = format!("pub(crate) const HEADERS: [(&str, &str); {}] = [\n", headers.len());
    for header in headers {
        let _ = writeln!(source, "    (\"{}.h\", include_str!({:?})),", header.name, header.path);
    }
    source.push_str("];\n");
    source
}
