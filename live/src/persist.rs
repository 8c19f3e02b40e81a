//! `persist`: what runs now comes back at boot, by units of systemd. Nothing is enabled unless that is asked for.

use crate::device::Device;
use crate::error::{Failure, Result};
use crate::home::Home;
use crate::request::{Attach, DEFAULT_BUFFER, DEFAULT_FLOWS, Mode, Request, User, Via};
use crate::{kept, stop, tc};
use clap::ValueEnum;
use mousehole_policy::files;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where administrators' units are.
pub const UNITS: &str = "/etc/systemd/system";
/// The first line of our files; others are never written over nor removed.
const HEADER: &str = "# Written by `mousehole-live persist`; it may be written over or removed by it.";

/// What is to be done with the units.
#[derive(Debug, Clone, Default)]
pub struct Manner {
    /// Removed instead of written.
    pub remove: bool,
    /// Printed instead of written.
    pub print: bool,
    /// Enabled and started as well, or disabled and stopped.
    pub now: bool,
    /// Where they are written; [`UNITS`] if not given.
    pub directory: Option<PathBuf>,
}

/// A unit: its file's name and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unit {
    name: String,
    text: String,
}

/// Writes, prints or removes a device's units. Returns lines for the user.
///
/// # Errors
/// A sentence when nothing runs at the device, there is no systemd, or a file is somebody else's.
pub fn persist(name: &str, manner: &Manner) -> Result<Vec<String>> {
    let has_systemd = Path::new("/run/systemd/system").is_dir();
    if !manner.print && (manner.now || manner.directory.is_none()) && !has_systemd {
        return Err(Failure::new(format!(
            "systemd does not run here; put the command that `mousehole-live persist {name} --print` shows as ExecStart where \
             your system starts networks (on OpenWrt a file in /etc/hotplug.d/iface that runs it when ACTION is ifup)"
        )));
    }
    let folder = manner.directory.clone().unwrap_or_else(|| UNITS.into());
    if manner.remove {
        return remove(name, &folder, manner.now);
    }
    let home = Home::lock()?;
    let place = crate::home::find(name)?.ok_or_else(|| stop::nothing(name))?;
    let record = place.record()?;
    drop(home);
    let device = Device::find(name)?;
    let root = tc::root(name)?;
    let (deployment, request) = (record.deployment(&device, root.as_ref())?, record.request);
    let program = std::env::current_exe()
        .map_err(|error| Failure::system("this program's path cannot be read", &error))?;
    let start = match deployment.is_shipped {
        true => [words(name, &request)?, vec!["--no-agent".into()]].concat(),
        false => vec!["boot".into(), name.into()],
    };
    let units = units(name, &request.scheme, start, deployment.needs_agent(), &program);
    if manner.print {
        return Ok(units
            .iter()
            .flat_map(|unit| [format!("# {}", folder.join(&unit.name).display()), unit.text.clone()])
            .collect());
    }
    for unit in &units {
        refuse_foreign(&folder.join(&unit.name))?;
    }
    let mut lines = Vec::new();
    if !deployment.is_shipped {
        kept::write(&request, &device, root.as_ref())?;
        lines.push(format!(
            "{} has copies of the headers and their program; boot compiles nothing and runs no native code of theirs",
            kept::folder(name).display()
        ));
    }
    for unit in &units {
        let path = folder.join(&unit.name);
        files::replace(&path, unit.text.as_bytes())
            .map_err(|error| Failure::system(format!("{} cannot be written", path.display()), &error))?;
        lines.push(format!("{} is written", path.display()));
    }
    let names: Vec<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
    if manner.now {
        systemctl(&["daemon-reload"])?;
        systemctl(&[&["enable", "--now"], names.as_slice()].concat())?;
        lines.push(format!("{name}: enabled; it was started afresh by systemd"));
    } else {
        lines.push(format!(
            "not enabled yet; `systemctl daemon-reload && systemctl enable --now {}` does that and starts {name} afresh",
            names.join(" ")
        ));
    }
    Ok(lines)
}

fn remove(name: &str, folder: &Path, now: bool) -> Result<Vec<String>> {
    let paths: Vec<PathBuf> = [unit_name(name), agent_name(name)]
        .iter()
        .map(|unit| folder.join(unit))
        .filter(|path| path.exists())
        .collect();
    if paths.is_empty() {
        return Err(Failure::new(format!("{} has no units for {name}", folder.display())));
    }
    paths.iter().try_for_each(|path| refuse_foreign(path))?;
    let mut lines = Vec::new();
    for path in &paths {
        let unit = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if now {
            systemctl(&["disable", "--now", &unit])?;
        }
        fs::remove_file(path)
            .map_err(|error| Failure::system(format!("{} cannot be removed", path.display()), &error))?;
        lines.push(format!("{} is removed", path.display()));
    }
    if kept::remove(name)? {
        lines.push(format!("{} is removed", kept::folder(name).display()));
    }
    if now {
        systemctl(&["daemon-reload"])?;
    } else {
        lines.push(format!("what runs at {name} goes on; `mousehole-live down {name}` ends it"));
    }
    Ok(lines)
}

/// Refuses a file that was not written by us.
fn refuse_foreign(path: &Path) -> Result<()> {
    match files::read_text(path) {
        Ok(text) if text.lines().next() == Some(HEADER) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => Err(Failure::new(format!(
            "{} is not ours and stays as it is; --directory names another folder",
            path.display()
        ))),
    }
}

fn systemctl(words: &[&str]) -> Result<()> {
    let done = Command::new("systemctl")
        .args(words)
        .output()
        .map_err(|error| Failure::system("systemctl does not run", &error))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "`systemctl {}` failed; {}",
            words.join(" "),
            String::from_utf8_lossy(&done.stderr).trim().replace('\n', " ")
        ))),
    }
}

fn unit_name(device: &str) -> String {
    format!("mousehole-live-{}.service", kept::escape(device))
}

fn agent_name(device: &str) -> String {
    format!("mousehole-live-agent-{}.service", kept::escape(device))
}

/// Returns a word as it stands in a command of a unit.
fn quote(word: &str) -> String {
    let text = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    let is_plain = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:,+=%".contains(&byte));
    if is_plain { text } else { format!("\"{text}\"") }
}

/// What the units' commands may do: nothing but what the kernel's network and its programs need. Whoever gets hold of one
/// has no more.
const CONFINED: &str = "\
CapabilityBoundingSet=CAP_NET_ADMIN CAP_BPF CAP_PERFMON
AmbientCapabilities=CAP_NET_ADMIN CAP_BPF CAP_PERFMON
NoNewPrivileges=yes
PrivateTmp=yes
ProtectSystem=strict
# For the lock; /sys/fs/bpf can be written under ProtectSystem=strict.
RuntimeDirectory=mousehole
RuntimeDirectoryMode=0700
RuntimeDirectoryPreserve=yes
";

/// Returns the units; `start` is what starts it, in words after the program's name.
fn units(name: &str, scheme: &str, start: Vec<String>, needs_agent: bool, program: &Path) -> Vec<Unit> {
    let command = |words: &[String]| {
        let all: Vec<String> = std::iter::once(program.display().to_string())
            .chain(words.iter().cloned())
            .map(|word| quote(&word))
            .collect();
        all.join(" ")
    };
    let word = |text: &str| text.to_string();
    let device = format!("sys-subsystem-net-devices-{}.device", kept::escape(name));
    let down = command(&[word("down"), word(name)]);
    let main = format!(
        "{HEADER}\n\
         [Unit]\n\
         Description=Mousehole at {name}: {}\n\
         Wants=network-online.target\n\
         After=network-online.target {device}\n\
         BindsTo={device}\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         # Leftovers, and what was started by hand; nothing there is no fault.\n\
         ExecStartPre=-{down}\n\
         ExecStart={}\n\
         ExecStop={down}\n\
         {CONFINED}\
         \n\
         [Install]\n\
         WantedBy=multi-user.target {device}\n",
        scheme.replace('%', "%%"),
        command(&start),
    );
    let mut units = vec![Unit { name: unit_name(name), text: main }];
    if needs_agent {
        let service = unit_name(name);
        let text = format!(
            "{HEADER}\n\
             [Unit]\n\
             Description=Agent of Mousehole at {name}\n\
             After={service}\n\
             BindsTo={service}\n\
             \n\
             [Service]\n\
             ExecStart={}\n\
             Restart=always\n\
             RestartSec=1\n\
             {CONFINED}\
             \n\
             [Install]\n\
             WantedBy={service}\n",
            command(&[word("agent"), word(name)]),
        );
        units.push(Unit { name: agent_name(name), text });
    }
    units
}

/// Returns the command that makes a request, `tune`'s changes included: its words after the program's name.
fn words(device: &str, request: &Request) -> Result<Vec<String>> {
    // Of `host`, what sets a queue up is what `up` does; colours need its own options.
    let is_host = request.mode == Mode::Mark && request.initial_window.is_some();
    if is_host && (request.via != Some(Via::Dscp) || request.overrides) {
        return Err(Failure::new(format!(
            "{device} was started by `host` and tuned to tell the queue in another way, which no command does at once; \
             `mousehole-live tune {device} --via dscp --override off` takes that back"
        )));
    }
    let (verb, scheme) = match request.mode {
        Mode::Mark if is_host => ("host", "--scheme"),
        Mode::Mark => ("mark", "--marker"),
        Mode::Up => ("up", "--scheme"),
    };
    let mut words = vec![verb.to_string(), device.to_string()];
    let mut option = |name: &str, value: &str| words.extend([name.to_string(), value.to_string()]);
    option(scheme, &request.scheme);
    match request.mode {
        Mode::Mark if is_host => {
            option("--initial-window", &request.initial_window.unwrap_or_default().to_string());
            option("--dscp", &request.dscp);
            if let Some(rate) = &request.rate {
                option("--rate", rate);
            }
            if let Some(time) = &request.shape {
                option("--shape", time);
            }
        }
        Mode::Mark => {
            if let Some(rate) = &request.rate {
                option("--rate", rate);
            }
            if let Some(via) = request.via {
                option("--via", &name_of(via));
            }
            if !request.classes.is_empty() {
                option("--classes", &request.classes.join(","));
            }
            if request.dscp != Request::new(Mode::Mark).dscp {
                option("--dscp", &request.dscp);
            }
        }
        Mode::Up => {
            if let Some(rate) = &request.rate {
                option("--rate", rate);
            }
            if request.buffer != DEFAULT_BUFFER {
                option("--buffer", &request.buffer);
            }
            if let Some(burst) = &request.burst {
                option("--burst", burst);
            }
            if let Some(overhead) = request.overhead {
                option("--overhead", &overhead.to_string());
            }
        }
    }
    if request.flows != DEFAULT_FLOWS {
        option("--flows", &request.flows.to_string());
    }
    if request.user != User::Source {
        option("--user", &name_of(request.user));
    }
    if request.attach != Attach::Auto {
        option("--attach", &name_of(request.attach));
    }
    let flags = [
        ("--override", request.overrides && request.mode == Mode::Mark),
        ("--replace", request.replace && (request.mode == Mode::Up || is_host)),
        ("--shadow", request.shadow),
        ("--no-gso", request.no_gso),
    ];
    words.extend(flags.iter().filter(|(_, given)| *given).map(|(name, _)| name.to_string()));
    Ok(words)
}

fn name_of<T: ValueEnum>(value: T) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    fn example() -> Request {
        Request {
            scheme: "rio-ps(slr=5)".into(),
            rate: Some("9500kbit".into()),
            flows: 1024,
            user: User::Destination,
            attach: Attach::Clsact,
            replace: true,
            via: Some(Via::Dscp),
            ..Request::new(Mode::Up)
        }
    }

    #[test]
    fn words__make_the_same_request() {
        let words = words("wan", &example()).unwrap().join(" ");
        assert_eq!(
            words,
            "up wan --scheme rio-ps(slr=5) --rate 9500kbit --flows 1024 --user destination --attach clsact --replace"
        );
        let mark = Request {
            classes: vec!["1:20".into(), "1:30".into()],
            via: Some(Via::Class),
            rate: Some("5mbit".into()),
            shadow: true,
            ..Request::new(Mode::Mark)
        };
        let words = super::words("wan", &mark).unwrap().join(" ");
        assert_eq!(
            words,
            "mark wan --marker sfd(th=30kB) --rate 5mbit --via class --classes 1:20,1:30 --shadow"
        );
    }

    #[test]
    fn words_of_host__keep_its_window_and_its_wait() {
        let host = Request {
            scheme: "tcp-ds".into(),
            initial_window: Some(10),
            via: Some(Via::Dscp),
            dscp: "af11,af12,af13".into(),
            shape: Some("2s".into()),
            replace: true,
            ..Request::new(Mode::Mark)
        };
        let words = words("eth0", &host).unwrap().join(" ");
        assert_eq!(
            words,
            "host eth0 --scheme tcp-ds --initial-window 10 --dscp af11,af12,af13 --shape 2s --replace"
        );
        let tuned = Request { overrides: true, ..host };
        assert!(super::words("eth0", &tuned).unwrap_err().to_string().contains("tune eth0 --via dscp"));
    }

    #[test]
    fn units__are_bound_to_the_device() {
        let start = [words("eth0.7-x", &example()).unwrap(), vec!["--no-agent".into()]].concat();
        let all = units("eth0.7-x", "rio-ps", start, true, Path::new("/usr/bin/mousehole-live"));
        assert_eq!(all[0].name, "mousehole-live-eth0.7\\x2dx.service");
        let text = &all[0].text;
        for line in [
            "BindsTo=sys-subsystem-net-devices-eth0.7\\x2dx.device",
            "ExecStop=/usr/bin/mousehole-live down eth0.7-x",
            "ExecStart=/usr/bin/mousehole-live up eth0.7-x --scheme \"rio-ps(slr=5)\" --rate 9500kbit --flows 1024 --user \
             destination --attach clsact --replace --no-agent",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is missing in\n{text}");
        }
        assert!(all.iter().all(|unit| unit.text.contains(CONFINED)));
        assert_eq!(text.lines().next(), Some(HEADER));
        assert!(all[1].text.contains("ExecStart=/usr/bin/mousehole-live agent eth0.7-x\nRestart=always\n"));
        assert!(all[1].text.contains("BindsTo=mousehole-live-eth0.7\\x2dx.service\n"));
        let boot = vec!["boot".into(), "wan".into()];
        let (alone, after) = (units("wan", "own", boot, false, Path::new("/x")), "ExecStart=/x boot wan\n");
        assert!(alone.len() == 1 && alone[0].text.contains(after), "{alone:?}");
    }

    #[test]
    fn words_of_units__are_quoted() {
        assert_eq!(quote("9500kbit"), "9500kbit");
        assert_eq!(quote("sfd(th=10%)"), "\"sfd(th=10%%)\"");
        assert_eq!(quote("a \"b\" $c\\"), "\"a \\\"b\\\" $$c\\\\\"");
        assert_eq!(quote(""), "\"\"");
    }

    #[test]
    fn foreign_files__stay() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        let path = folder.join(unit_name("wan"));
        fs::write(&path, "[Unit]\n").unwrap();
        let manner = Manner { remove: true, directory: Some(folder.into()), ..Manner::default() };
        assert!(persist("wan", &manner).unwrap_err().to_string().contains("is not ours and stays"));
        fs::write(&path, format!("{HEADER}\n[Unit]\n")).unwrap();
        persist("wan", &manner).unwrap();
        assert!(!path.exists());
        assert!(persist("wan", &manner).unwrap_err().to_string().contains("has no units for wan"));
    }
}
