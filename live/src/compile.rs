// How a program for the kernel is compiled by clang. Included by build.rs and by object.rs.

use mousehole_policy::{Function, Policy};

/// A policy as a program includes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The policy's name in C.
    pub(crate) name: String,
    /// The header's path, as the program includes it.
    pub(crate) header: String,
    /// The macros that tell the program what the policy needs, without the role that precedes them.
    pub(crate) traits: Vec<&'static str>,
}

impl Named {
    /// Returns how a program includes this policy from `header`.
    pub(crate) fn new(policy: &Policy, header: String) -> Named {
        let (state, published) = (policy.sizes().2, policy.published());
        // Packets share the state before the published part, or all of it if the policy publishes nothing.
        let shares = if published.is_empty() { state > 0 } else { published.start > 0 };
        let all = [
            ("SHARES", shares),
            ("PUBLISHES", !published.is_empty()),
            ("RESTARTS", policy.offers(Function::Restarts)),
            ("DRAWS", policy.offers_draws()),
            ("SHAPES", policy.shapes()),
            ("TRACKS", policy.tracks_departures()),
            ("READS_HINTS", policy.reads_hints()),
            ("SEES_FULL", policy.sees_full_buffers()),
            ("OVERFLOWS", policy.offers(Function::Overflow)),
            ("READS_FLOWS", policy.reads_flows()),
        ];
        let traits = all.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
        Named { name: policy.c_name().to_string(), header, traits }
    }

    /// Returns whether it is a shipped policy; the header of any other is included by its absolute
    /// path.
    #[allow(dead_code, reason = "build.rs has no other")]
    pub(crate) fn is_shipped(&self) -> bool {
        self.header.starts_with("mousehole/")
    }
}

/// Returns the clause that says why a queue cannot run as a queue discipline of the kernel; `None`
/// if it can.
pub(crate) fn find_native_obstacle(queue: &Policy) -> Option<&'static str> {
    let why = "which reads the application of a packet, and the kernel knows none";
    queue.reads_applications().then_some(why)
}

/// The queue that a program decides for, after its markers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Nothing: the program marks only.
    None,
    /// A FIFO with a buffer and no drop policy.
    DropTail,
    /// A FIFO with this drop policy.
    Dropper(Named),
}

/// The policies of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Combination {
    pub(crate) marker: Option<Named>,
    pub(crate) user: Option<Named>,
    pub(crate) queue: Queue,
}

impl Combination {
    /// Returns its name, such as `sfd-policer-multi_red`, with `none` in place of a missing policy
    /// and `droptail` for a FIFO without one.
    pub(crate) fn name(&self) -> String {
        let name = |one: &Option<Named>| one.as_ref().map_or("none".to_string(), |named| named.name.clone());
        let queue = match &self.queue {
            Queue::None => "none",
            Queue::DropTail => "droptail",
            Queue::Dropper(named) => &named.name,
        };
        format!("{}-{}-{queue}", name(&self.marker), name(&self.user))
    }
}

/// The oldest clang that keeps the type tags by which the kernel recognises pointers to packets.
pub(crate) const NATIVE_CLANG: u32 = 16;

/// Returns a command of clang that can compile native queues: the usual one if it is new enough, else
/// the newest `clang-N` that runs. Runs `--version` of the candidates.
///
/// # Errors
/// A sentence when there is none.
pub(crate) fn find_native_clang() -> std::result::Result<String, String> {
    let first = mousehole_policy::process::name_clang();
    let number = |command: &str| {
        let said = mousehole_policy::process::ask_version(command)?;
        said.split("version ").nth(1)?.split('.').next()?.parse::<u32>().ok()
    };
    let there = number(&first);
    if there.is_some_and(|number| number >= NATIVE_CLANG) {
        return Ok(first);
    }
    let others = (NATIVE_CLANG..=NATIVE_CLANG + 8).rev().map(|number| format!("clang-{number}"));
    others.into_iter().find(|command| number(command).is_some()).ok_or_else(|| {
        let found = there.map_or("does not run".to_string(), |number| format!("is version {number}"));
        format!(
            "{first} {found}, and a native queue needs clang {NATIVE_CLANG} or later, as of the package clang-{NATIVE_CLANG}; CLANG names \
             another"
        )
    })
}

/// Returns clang's macro definitions for a native queue: its name, header, and the traits that such
/// a program uses.
pub(crate) fn define_native(queue: &Named) -> Vec<String> {
    let mut all = vec![
        format!("-DML_NATIVE={}", queue.name),
        format!("-DML_NATIVE_HEADER=\"{}\"", queue.header),
    ];
    let traits = ["DRAWS", "OVERFLOWS", "READS_FLOWS"];
    all.extend(traits.iter().filter(|one| queue.traits.contains(one)).map(|one| format!("-DML_NATIVE_{one}=1")));
    all
}

/// Returns clang's macro definitions for a program: name, header and traits of the policy in each
/// role, and whether it has a queue.
pub(crate) fn define_program(one: &Combination) -> Vec<String> {
    let mut all = Vec::new();
    let mut define = |role: &str, named: &Named| {
        all.push(format!("-DML_{role}={}", named.name));
        all.push(format!("-DML_{role}_HEADER=\"{}\"", named.header));
        all.extend(named.traits.iter().map(|name| format!("-DML_{role}_{name}=1")));
    };
    if let Some(marker) = &one.marker {
        define("MARKER", marker);
    }
    if let Some(user) = &one.user {
        define("USER", user);
    }
    if let Queue::Dropper(dropper) = &one.queue {
        define("DROPPER", dropper);
    }
    if one.queue != Queue::None {
        all.push("-DML_QUEUE=1".into());
    }
    all
}

/// Returns clang's arguments for compiling the file `source` of the folder `sources` into `object`.
/// `headers` is the policies' include folder.
pub(crate) fn build_arguments(
    headers: &std::path::Path,
    sources: &std::path::Path,
    source: &str,
    definitions: Vec<String>,
    object: &std::path::Path,
) -> Vec<String> {
    let mut all: Vec<String> =
        ["-O2", "-g", "-mcpu=v3", "-target", "bpf", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror"]
            .map(String::from)
            .to_vec();
    all.push(format!("-I{}", headers.display()));
    all.push(format!("-I{}", sources.display()));
    all.extend(definitions);
    all.extend(["-c".into(), "-o".into(), object.display().to_string(), sources.join(source).display().to_string()]);
    all
}
