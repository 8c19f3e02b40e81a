//! `persist`: makes what runs now come back at boot, and whenever its device does. One file for
//! each device says what runs there, and a systemd unit runs the guard that maintains it. Nothing
//! is enabled unless `--now` asks for it.

use crate::device::Device;
use crate::error::{Failure, Result};
use crate::home::Home;
use crate::qdisc::Qdisc;
use crate::request::Request;
use crate::{download, guard, kept, netlink, stop};
use mousehole_policy::files;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where an administrator's systemd units are.
pub const UNITS: &str = "/etc/systemd/system";
/// The first line of our files. Files without it are never overwritten or removed.
const HEADER: &str = "# Written by `mousehole-live persist`; it may be written over or removed by it.";
/// The name of the guard's unit.
const UNIT: &str = "mousehole-live.service";

/// The options of `persist`.
#[derive(Debug, Clone, Default)]
pub struct Manner {
    /// Remove the files instead of writing them.
    pub remove: bool,
    /// Print the files instead of writing them.
    pub print: bool,
    /// Also enable and start the guard; with `remove`, disable and stop it after its last device.
    pub now: bool,
    /// The folder for the unit; by default [`UNITS`].
    pub directory: Option<PathBuf>,
}

/// Writes, prints or removes a device's file and the guard's unit. Writing also saves copies of the
/// user's policies, which compiles them and runs their native code; with `now`, systemd's units are
/// reloaded and the guard's is enabled. Returns lines for the user.
///
/// # Errors
/// A sentence when nothing runs at the device, `now` is requested without systemd, systemctl fails,
/// or a file was not written by us or cannot be written. Files written before stay.
pub fn persist(name: &str, manner: &Manner) -> Result<Vec<String>> {
    let has_systemd = Path::new("/run/systemd/system").is_dir();
    if manner.now && !has_systemd {
        return Err(Failure::new(
            "--now needs systemd, which does not run here; start `mousehole-live guard` yourself",
        ));
    }
    let folder = Path::new(kept::FOLDER);
    let units = manner.directory.clone().or_else(|| has_systemd.then(|| UNITS.into()));
    let unit = units.map(|units| units.join(UNIT));
    if manner.remove {
        return remove(name, folder, unit.as_deref(), manner.now);
    }
    let program = std::env::current_exe()
        .map_err(|error| Failure::system("this program's path cannot be read", &error))?;
    let mut all: Vec<Snapshot> =
        download::list_sides(name).into_iter().map(Snapshot::take).collect::<Result<_>>()?;
    let mut texts: Vec<(PathBuf, String)> = Vec::new();
    let mut lines = Vec::new();
    if !manner.print {
        let paths = all.iter().map(|one| guard::file_path(folder, &one.name)).chain(unit.clone());
        paths.collect::<Vec<_>>().iter().try_for_each(|path| refuse_foreign(path))?;
        for one in &mut all {
            lines.extend(one.save_policies()?);
        }
        files::make_private_folder(folder).map_err(|error| Failure::system(folder.display(), &error))?;
    }
    for one in &all {
        texts.push((guard::file_path(folder, &one.name), format_file(&one.request)?));
    }
    texts.extend(unit.clone().map(|unit| (unit, format_unit(&program))));
    if manner.print {
        return Ok(texts
            .into_iter()
            .flat_map(|(path, text)| [format!("# {}", path.display()), text])
            .collect());
    }
    for (path, text) in texts {
        files::replace(&path, text.as_bytes())
            .map_err(|error| Failure::system(format!("{} cannot be written", path.display()), &error))?;
        lines.push(format!("{} is written", path.display()));
    }
    lines.push(match (&unit, manner.now) {
        (Some(_), true) => {
            systemctl(&["daemon-reload"])?;
            systemctl(&["enable", "--now", UNIT])?;
            format!("{name}: the guard keeps it from now on")
        }
        (Some(_), false) => {
            format!("not enabled yet; `systemctl daemon-reload && systemctl enable --now {UNIT}` has the guard keep it")
        }
        (None, _) => format!(
            "systemd does not run here; have your system run `{} guard` when it starts, and again should it end",
            program.display()
        ),
    });
    Ok(lines)
}

/// The state of one device that is to be made persistent.
struct Snapshot {
    name: String,
    device: Device,
    root: Option<Qdisc>,
    is_shipped: bool,
    request: Request,
}

impl Snapshot {
    /// Reads what runs at a device and plans its request; the record is read under the lock.
    ///
    /// # Errors
    /// A sentence when nothing of ours is there, or its record or device cannot be read.
    fn take(name: String) -> Result<Snapshot> {
        let home = Home::lock()?;
        let place = stop::find(&name)?.ok_or_else(|| stop::nothing_here(&name))?;
        let record = place.record()?;
        drop(home);
        let device = Device::find(&name)?;
        let root = netlink::find_root(device.index)?;
        let is_shipped = record.deployment(&device, root.as_ref())?.is_shipped;
        Ok(Snapshot { name, device, root, is_shipped, request: record.request })
    }

    /// Saves the user's own policies with their program, and makes the request name the copies.
    /// Returns a line for the user; `None` if all policies are shipped.
    ///
    /// # Errors
    /// As [`kept::write`] and [`kept::read`].
    fn save_policies(&mut self) -> Result<Option<String>> {
        if self.is_shipped {
            return Ok(None);
        }
        kept::write(&self.request, &self.device, self.root.as_ref())?;
        self.request = kept::read(&self.name)?.0.request;
        Ok(Some(format!(
            "{} has copies of the headers and their program; the guard compiles nothing and runs no native code of theirs",
            kept::folder(&self.name).display()
        )))
    }
}

/// Returns the text of a device's file: the request as TOML with the keys of `--config`.
///
/// # Errors
/// A sentence when the request has no form in TOML.
fn format_file(request: &Request) -> Result<String> {
    let keys = toml::to_string(request)
        .map_err(|error| Failure::new(format!("what was asked for cannot be written; {error}")))?;
    Ok(format!("{HEADER}\n{keys}"))
}

/// Removes the files of a device and of its downloads with what is saved of their policies, and the
/// unit with the last device; `now` also disables and stops the unit. What runs goes on. Returns
/// lines for the user.
///
/// # Errors
/// A sentence when there is no such file, one was not written by us, or systemctl or a removal
/// fails; what was removed before stays so.
fn remove(name: &str, folder: &Path, unit: Option<&Path>, now: bool) -> Result<Vec<String>> {
    // The files of its downloads too.
    let mut devices = vec![name.to_string(), download::ifb_name(name)];
    devices.retain(|one| guard::file_path(folder, one).exists());
    if devices.is_empty() {
        return Err(Failure::new(format!("{} has no file for {name}", folder.display())));
    }
    devices.iter().try_for_each(|one| refuse_foreign(&guard::file_path(folder, one)))?;
    let mut lines = Vec::new();
    let mut take = |path: &Path| -> Result<()> {
        fs::remove_file(path)
            .map_err(|error| Failure::system(format!("{} cannot be removed", path.display()), &error))?;
        lines.push(format!("{} is removed", path.display()));
        Ok(())
    };
    devices.iter().try_for_each(|one| take(&guard::file_path(folder, one)))?;
    let is_last = guard::list_devices(folder).is_ok_and(|names| names.is_empty());
    if let Some(unit) = unit.filter(|unit| is_last && unit.exists()) {
        refuse_foreign(unit)?;
        if now {
            systemctl(&["disable", "--now", UNIT])?;
        }
        take(unit)?;
        if now {
            systemctl(&["daemon-reload"])?;
        }
    }
    for one in &devices {
        if kept::remove(one)? {
            lines.push(format!("{} is removed", kept::folder(one).display()));
        }
    }
    lines.push(format!("what runs at {name} goes on; `mousehole-live down {name}` ends it"));
    Ok(lines)
}

/// Rejects a file that we did not write; a file that does not exist is accepted.
///
/// # Errors
/// A sentence that says so, also when the file cannot be read.
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

/// Runs systemctl with these arguments and waits for it.
///
/// # Errors
/// A sentence with what it printed on standard error, or that it does not run.
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

/// Returns an argument quoted for ExecStart (systemd.service(5), "Command lines").
fn quote(word: &str) -> String {
    let text = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    let is_plain = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:,+=%".contains(&byte));
    if is_plain { text } else { format!("\"{text}\"") }
}

/// The guard's unit, as the Debian package installs it. It grants only the capabilities that
/// loading programs and changing the network need. Stopping the unit leaves everything running.
const SERVICE: &str = include_str!("../packages/debian/mousehole-live.service");
/// The path of the program in that unit.
const PROGRAM: &str = "/usr/sbin/mousehole-live";

/// Returns the guard's unit with this program's path in it.
fn format_unit(program: &Path) -> String {
    format!("{HEADER}\n{}", SERVICE.replace(PROGRAM, &quote(&program.display().to_string())))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::request::{Attach, Mode, User, Via};

    #[test]
    fn file__asks_for_the_same_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wan.toml");
        let up = Request {
            scheme: "rio-ps(slr=5)".into(),
            rate: Some("9500kbit".into()),
            flows: 1024,
            user: User::Destination,
            attach: Attach::Clsact,
            replace: true,
            ..Request::new(Mode::Up)
        };
        let mark = Request {
            classes: vec!["1:20".into(), "1:30".into()],
            via: Some(Via::Class),
            shadow: true,
            overrides: true,
            ..Request::new(Mode::Mark)
        };
        let host = Request {
            scheme: "tcp-ds".into(),
            initial_window: Some(10),
            via: Some(Via::Dscp),
            dscp: "af11,af12,af13".into(),
            shape: Some("2s".into()),
            ..Request::new(Mode::Mark)
        };
        for request in [up, mark, host] {
            fs::write(&path, format_file(&request).unwrap()).unwrap();
            assert_eq!(Request::read_of_any_mode(&path).unwrap(), request);
        }
    }

    #[test]
    fn unit__has_three_capabilities_and_starts_again() {
        let text = format_unit(Path::new("/opt/mouse hole/mousehole-live"));
        assert_eq!(text.lines().next(), Some(HEADER));
        assert!(
            text.contains("ExecStart=\"/opt/mouse hole/mousehole-live\" guard\nRestart=always\n"),
            "{text}"
        );
        let bound = "\nCapabilityBoundingSet=CAP_NET_ADMIN CAP_BPF CAP_PERFMON\n";
        assert!(text.contains(bound) && text.contains("\nNoNewPrivileges=yes\n"), "{text}");
        assert!(!text.contains(PROGRAM) && !text.contains("ExecStop"), "{text}");
    }

    #[test]
    fn paths_of_units__are_quoted() {
        assert_eq!(quote("/usr/sbin/mousehole-live"), "/usr/sbin/mousehole-live");
        assert_eq!(quote("/a/10%"), "/a/10%%");
        assert_eq!(quote("a \"b\" $c\\"), "\"a \\\"b\\\" $$c\\\\\"");
        assert_eq!(quote(""), "\"\"");
    }

    #[test]
    fn foreign_files__stay() {
        let place = tempfile::tempdir().unwrap();
        let (path, unit) = (guard::file_path(place.path(), "wan"), place.path().join(UNIT));
        let gone = || remove("wan", place.path(), Some(&unit), false);
        fs::write(&path, "mode = 'mark'\n").unwrap();
        assert!(gone().unwrap_err().to_string().contains("is not ours and stays"));
        for other in ["wan", "lan"] {
            fs::write(guard::file_path(place.path(), other), format!("{HEADER}\nmode = 'mark'\n")).unwrap();
        }
        fs::write(&unit, format!("{HEADER}\n[Unit]\n")).unwrap();
        assert!(gone().unwrap()[0].ends_with("wan.toml is removed"));
        assert!(!path.exists() && unit.exists(), "the guard has another device");
        assert!(gone().unwrap_err().to_string().contains("has no file for wan"));
        remove("lan", place.path(), Some(&unit), false).unwrap();
        assert!(!unit.exists());
    }
}
