//! The programs for the kernel: built in, or compiled now for a user's own policy.

use crate::error::{Failure, Result, reason};
use mousehole_policy::{Origin, headers_folder};
use std::borrow::Cow;
use std::process::Command;
use std::{env, fs};

include!("compile.rs");
include!(concat!(env!("OUT_DIR"), "/programs.rs"));

const SOURCES: [(&str, &str); 4] = [
    ("kernel.h", include_str!("../bpf/kernel.h")),
    ("layout.h", include_str!("../bpf/layout.h")),
    ("parse.h", include_str!("../bpf/parse.h")),
    ("program.c", include_str!("../bpf/program.c")),
];

/// Returns how a policy is named in a program.
pub(crate) fn named(policy: &Policy) -> Result<Named> {
    let header = match policy.origin() {
        Origin::Shipped => format!("mousehole/{}.h", policy.c_name()),
        Origin::Header { path, .. } => fs::canonicalize(path)
            .map_err(|error| Failure::system(path.display(), &error))?
            .display()
            .to_string(),
    };
    Ok(Named::new(policy, header))
}

/// Returns the names of all programs that are built in.
pub fn built_in() -> Vec<&'static str> {
    PROGRAMS.iter().map(|(name, _)| *name).collect()
}

/// Returns the object of a combination: the one built in, else one compiled by clang now.
///
/// # Errors
/// A sentence when clang is missing or refuses it.
pub(crate) fn object(combination: &Combination, is_shipped: bool) -> Result<Cow<'static, [u8]>> {
    let name = combination.name();
    let known = PROGRAMS.iter().find(|(known, _)| *known == name).filter(|_| is_shipped);
    match known {
        Some((_, object)) => Ok(Cow::Borrowed(*object)),
        None => compile(combination).map(Cow::Owned),
    }
}

/// Returns the bytes of a key and an entry of the table of flows, by the object's own account of its types; `None` of an
/// object that has none.
pub fn entry_bytes(bytes: &[u8]) -> Option<usize> {
    let mut open = libbpf_rs::ObjectBuilder::default().open_memory(bytes).ok()?;
    let map = open.maps_mut().find(|map| map.name() == "ml_flows")?;
    Some((map.key_size() + map.value_size()) as usize)
}

fn compile(combination: &Combination) -> Result<Vec<u8>> {
    let headers = headers_folder()
        .map_err(|error| Failure::system("the policies' headers cannot be written", &error))?;
    let folder = env::temp_dir().join(format!("mousehole-live-{}", std::process::id()));
    let made = fs::create_dir_all(&folder)
        .and_then(|()| SOURCES.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text)));
    let result = made.map_err(|error| Failure::system(folder.display(), &error)).and_then(|()| {
        let object = folder.join("program.o");
        let (command, arguments) = (clang(), arguments(&headers, &folder, combination, &object));
        let done = Command::new(&command).args(arguments).output().map_err(|error| {
            let why = "it compiles programs that are not built in, and is of the package clang";
            Failure::new(format!("{command} does not run ({}); {why}", reason(&error)))
        })?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(Failure::new(format!(
                "{}: does not compile for the kernel; {}",
                combination.name(),
                said.trim()
            )));
        }
        fs::read(&object).map_err(|error| Failure::system(object.display(), &error))
    });
    let _ = fs::remove_dir_all(&folder); // what cannot be removed stays in the temporary folder
    result
}
