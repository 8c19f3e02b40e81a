//! Starts background processes that outlive the command: agents and timers.

use crate::error::{Failure, Result};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::{env, io};

/// Starts this program with these arguments in a session of its own, in the folder `/` and with the
/// standard streams at /dev/null. Does not wait for it. Returns its process number.
///
/// # Errors
/// A sentence when it cannot be started.
pub fn spawn(arguments: &[&str]) -> Result<u32> {
    let program =
        env::current_exe().map_err(|error| Failure::system("this program's path cannot be read", &error))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: setsid is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::setsid() {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
    let child = command.spawn().map_err(|error| Failure::system("a process cannot be started", &error))?;
    Ok(child.id())
}
