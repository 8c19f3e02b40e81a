//! Compiles the C sources of a check, in a scratch folder.

use mousehole_policy::files::{make_scratch_folder, write_new};
use mousehole_policy::{Function, Origin, Policy, PolicyKind, headers_folder, process};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, io};
use tempfile::TempDir;

const SOURCES: [(&str, &str); 3] = [
    ("record.h", include_str!("../c/record.h")),
    ("calls.c", include_str!("../c/calls.c")),
    ("driver.c", include_str!("../c/driver.c")),
];

/// A folder with the C sources of a check; removed when dropped.
pub(crate) struct Workshop {
    pub folder: PathBuf,
    include: PathBuf,
    definitions: Vec<String>,
    _kept: TempDir,
}

impl Workshop {
    /// Writes the sources into a new scratch folder, and makes the macros' definitions for a policy. The shipped
    /// headers are written to the cache if they are not there.
    ///
    /// # Errors
    /// If a folder cannot be written, or a user's header no longer exists.
    pub fn new(policy: &Policy) -> io::Result<Workshop> {
        let kept = make_scratch_folder()?;
        let folder = kept.path().to_path_buf();
        for (name, text) in SOURCES {
            write_new(&folder.join(name), text.as_bytes())?;
        }
        let header = match policy.origin() {
            Origin::Shipped => format!("mousehole/{}.h", policy.c_name()),
            Origin::Header { path, .. } => fs::canonicalize(path)?.display().to_string(),
        };
        let (include, definitions) = (headers_folder()?, definitions(policy, &header));
        Ok(Workshop { folder, include, definitions, _kept: kept })
    }

    /// Compiles one of the sources to `output`, with these arguments before the macros' definitions, within the limits
    /// of [`process::compile`]. Returns the compiler's output, also if it fails.
    ///
    /// # Errors
    /// If the compiler cannot be started, or takes too long.
    pub fn compile(
        &self,
        compiler: &str,
        arguments: &[&str],
        source: &str,
        output: &Path,
    ) -> io::Result<Output> {
        let mut command = Command::new(compiler);
        command
            .args(arguments)
            .args(&self.definitions)
            .arg("-I")
            .arg(&self.include)
            .arg("-o")
            .arg(output)
            .arg(self.folder.join(source))
            .env("TMPDIR", &self.folder); // a compiler that is ended leaves its files
        process::compile(&mut command)
    }
}

/// Returns the compiler's arguments that define macros about a policy: its header, name, kind and sizes of states, and
/// one for each function that it offers.
fn definitions(policy: &Policy, header: &str) -> Vec<String> {
    let offered = Function::ALL[1..].iter().filter(|function| policy.offers(**function));
    let mut all: Vec<String> =
        offered.map(|function| format!("-DMH_CHECK_HAS_{}", function.name().to_uppercase())).collect();
    all.push(format!("-DMH_CHECK_HEADER=\"{header}\""));
    all.push(format!("-DMH_CHECK_NAME={}", policy.c_name()));
    all.push(format!("-DMH_CHECK_DROPPER={}", u32::from(policy.kind() == PolicyKind::Dropper)));
    all.push(format!("-DMH_CHECK_QUEUE={}", u32::from(policy.kind() == PolicyKind::Queue)));
    all.push(format!("-DMH_CHECK_FLOW_WORDS={}", policy.flow_words().max(1)));
    all.push(format!("-DMH_CHECK_STATE_WORDS={}", policy.state_words().max(1)));
    all
}

/// Returns the command of clang: `$CLANG`, else `clang`; `None` if it does not run with `--version`, as this call does.
pub(crate) fn clang() -> Option<String> {
    let command = process::name_clang();
    process::ask_version(&command).map(|_| command)
}

/// Returns a compiler's messages, without the scratch folder in the paths.
pub(crate) fn compiler_messages(output: &Output, workshop: &Workshop) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.replace(&format!("{}/", workshop.folder.display()), "").trim_end().to_string()
}
