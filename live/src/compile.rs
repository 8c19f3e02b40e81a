// How a program for the kernel is compiled. Included by build.rs and by object.rs.

/// A policy in C: its name, and its header as it is included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) header: String,
}

/// What stands behind the markers in a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Nothing: the program marks only.
    None,
    /// A FIFO with a buffer and no drop policy.
    DropTail,
    /// A FIFO with this drop policy, and whether it wants to know of departures.
    Dropper(Named, bool),
}

/// The policies of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Combination {
    pub(crate) marker: Option<Named>,
    pub(crate) user: Option<Named>,
    pub(crate) queue: Queue,
}

impl Combination {
    /// Returns its name, such as `sfd-policer-multi_red`; `none` stands where there is no policy.
    pub(crate) fn name(&self) -> String {
        let name = |one: &Option<Named>| one.as_ref().map_or("none".to_string(), |named| named.name.clone());
        let queue = match &self.queue {
            Queue::None => "none",
            Queue::DropTail => "droptail",
            Queue::Dropper(named, _) => &named.name,
        };
        format!("{}-{}-{queue}", name(&self.marker), name(&self.user))
    }
}

/// Returns the command of clang: `$CLANG`, else `clang`.
pub(crate) fn clang() -> String {
    std::env::var("CLANG").ok().filter(|command| !command.is_empty()).unwrap_or_else(|| "clang".into())
}

/// Returns clang's arguments for a program; `sources` holds program.c.
pub(crate) fn arguments(
    headers: &std::path::Path,
    sources: &std::path::Path,
    one: &Combination,
    object: &std::path::Path,
) -> Vec<String> {
    let mut all: Vec<String> =
        ["-O2", "-g", "-mcpu=v3", "-target", "bpf", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror"]
            .map(String::from)
            .to_vec();
    all.push(format!("-I{}", headers.display()));
    all.push(format!("-I{}", sources.display()));
    let mut define = |role: &str, named: &Named| {
        all.push(format!("-DML_{role}={}", named.name));
        all.push(format!("-DML_{role}_HEADER=\"{}\"", named.header));
    };
    if let Some(marker) = &one.marker {
        define("MARKER", marker);
    }
    if let Some(user) = &one.user {
        define("USER", user);
    }
    if let Queue::Dropper(dropper, tracks_departures) = &one.queue {
        define("DROPPER", dropper);
        all.push(format!("-DML_TRACKS={}", u32::from(*tracks_departures)));
    }
    if one.queue != Queue::None {
        all.push("-DML_QUEUE=1".into());
    }
    all.extend(["-c".into(), "-o".into(), object.display().to_string(), sources.join("program.c").display().to_string()]);
    all
}
