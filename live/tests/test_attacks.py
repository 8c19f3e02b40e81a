"""Attacks that another user of the machine prepares against root's commands. Each of them once worked.

The attacker is `nobody`, in separate processes. Root's commands run in a lab with a folder for temporary
files in which everybody may write, as usual.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from live.tests.support import CAPABILITIES, DEVICE, NEAR, assert_refused, read_status, wait_until
from validation.lab.live import Lab, require_program
from validation.lab.namespaces import BPF_ROOT, ROOT

NOBODY = 65534
PIDS = 1000
"""How many process numbers the attacker prepares for: from 1 on in a lab, else from its own on."""
HEADERS = ROOT / "policy" / "include" / "mousehole"
KEPT = Path("/etc/mousehole")
MARK = ("mark", DEVICE, "--via", "dscp")
TEMPLATE = (ROOT / "policy" / "templates" / "marker.h").read_text()
NO_COMPILER = ("CC=/nowhere/cc", "CLANG=/nowhere/clang", "PATH=/usr/sbin:/sbin:/nowhere")


def act_as_nobody(act: Callable[[], object]) -> None:
    """Calls a function as nobody, in a separate process; it must succeed."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            act()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def run_as_nobody(lab: Lab, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs a command as nobody in a lab."""
    return lab.call(NEAR, "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *words)


def run_as_service(lab: Lab, folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs `mousehole-live` as a system service does: without a home, with `folder` for temporary files."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return lab.call(NEAR, "env", "-i", f"PATH={path}", f"TMPDIR={folder}", require_program(), *words)


@pytest.fixture
def shared() -> Iterator[Path]:
    """Creates a folder in which everybody may write, as /tmp, and removes it when the test ends."""
    folder = Path("/tmp") / f"attacks-{secrets.token_hex(8)}"  # noqa: S108, made anew by this test
    folder.mkdir(mode=0o700)
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[Path]:
    """Creates a file that only root can read, and asserts that it is unchanged when the test ends."""
    path = tmp_path / "secret"
    path.write_text("root's\n")
    path.chmod(0o600)
    yield path
    assert path.read_text() == "root's\n"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Writes the header of a policy named `own`. Returns its path."""
    path = tmp_path / "own.h"
    path.write_text(TEMPLATE.replace("placeholder_policy", "own").replace("PLACEHOLDER_POLICY", "OWN"))
    return path


# Runs a command when the header is compiled for its description, but not in the kernel's program.
EVIL = """#ifdef MH_DESCRIBE
#include <stdlib.h>
#undef MH_NO_FAULT
#define MH_NO_FAULT (system("id > %s"), (struct mh_fault){ 0, 0 })
#endif
"""


def plant_headers(shared: Path) -> None:
    """Plants headers, as nobody, in the folder from which the shipped ones were once taken."""
    texts = {path.name: path.read_text() for path in HEADERS.glob("*.h")}
    (line,) = (line for line in texts["policy.h"].splitlines() if line.startswith("#define MH_NO_FAULT"))
    texts["policy.h"] = texts["policy.h"].replace(line, f"{line}\n{EVIL % (shared / 'pwned')}")

    def act() -> None:
        """Writes the headers."""
        folder = shared / "mousehole" / compute_include_name() / "mousehole"
        folder.mkdir(parents=True)
        for name, text in texts.items():
            (folder / name).write_text(text)

    act_as_nobody(act)


def compute_include_name() -> str:
    """Returns the name of the folder of the shipped headers, which anybody can compute."""
    digest = hashlib.sha256()
    for path in sorted(HEADERS.glob("*.h")):
        digest.update(path.name.encode() + path.read_bytes())
    return f"include-{digest.hexdigest()[:16]}"


def test_headers__planted_where_a_service_has_its_temporary_files__are_not_used(
    lab: Lab, shared: Path, own: Path
) -> None:
    plant_headers(shared)
    done = run_as_service(lab, shared, *MARK, "--policy", own, "--marker", "own")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in shared.iterdir()) == ["mousehole"]
    assert lab.run(NEAR, "ls", "/run/mousehole").split() == [compute_include_name(), "lock"]


def test_headers__in_a_cache_that_somebody_else_made__are_refused(lab: Lab, shared: Path, own: Path) -> None:
    plant_headers(shared)
    words = (*MARK, "--policy", own, "--marker", "own")
    done = lab.call(NEAR, "env", f"XDG_CACHE_HOME={shared}", require_program(), *words)
    assert_refused(done, rf"{shared}/mousehole belongs to user {NOBODY}, and this is user 0")
    assert not (shared / "pwned").exists()


def test_headers__in_a_cache_that_a_group_may_replace__are_refused(lab: Lab, shared: Path, own: Path) -> None:
    words = ("env", f"XDG_CACHE_HOME={shared}", require_program(), *MARK, "--policy", own, "--marker", "own")
    os.chown(shared, 0, NOBODY)
    shared.chmod(0o770)
    done = lab.call(NEAR, *words)
    assert_refused(done, rf"{shared} \(mode 770, of user 0\) lets others replace what is in it")
    os.chown(shared, 0, 0)
    assert lab.call(NEAR, *words).returncode == 0


def test_headers__that_were_damaged__are_written_anew(lab: Lab, tmp_path: Path, own: Path) -> None:
    words = (
        "env",
        f"XDG_CACHE_HOME={tmp_path}",
        require_program(),
        *MARK,
        "--policy",
        own,
        "--marker",
        "own",
    )
    assert lab.call(NEAR, *words).returncode == 0
    header = tmp_path / "mousehole" / compute_include_name() / "mousehole" / "flow_meter.h"
    text = header.read_text()
    header.write_text("#error damaged\n")
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    done = lab.call(NEAR, *words)
    assert done.returncode == 0, done.stderr
    assert header.read_text() == text


def test_headers__of_a_user_without_a_home__are_gone_when_the_command_ends(
    lab: Lab, shared: Path, own: Path
) -> None:
    own = Path(shutil.copy(own, shared))
    words = ("--policy", own, "--marker", "own")
    done = run_as_nobody(
        lab,
        "env",
        "-i",
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
        f"TMPDIR={shared}",
        require_program(),
        *MARK,
        *words,
    )
    assert_refused(done, "XDG_RUNTIME_DIR or HOME names one")
    assert list(shared.iterdir()) == [own]


def plant_links(secret: Path, *paths: Path) -> None:
    """Creates links to root's file, as nobody, and their folders where these are missing."""

    def act() -> None:
        """Creates the links."""
        for path in paths:
            path.parent.mkdir(exist_ok=True)
            path.symlink_to(secret)

    act_as_nobody(act)


def test_links__in_folders_whose_names_could_be_guessed__are_not_followed(
    lab: Lab, shared: Path, secret: Path, own: Path
) -> None:
    folders = [shared / f"mousehole-live-{pid}-0" for pid in range(1, PIDS)]
    plant_links(secret, *(folder / name for folder in folders for name in ("kernel.h", "program.o")))
    done = run_as_service(lab, shared, *MARK, "--policy", own, "--marker", "own")
    assert done.returncode == 0, done.stderr


def test_links__for_the_file_of_metrics__are_not_followed(lab: Lab, shared: Path, secret: Path) -> None:
    folder = shared / "textfile"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    plant_links(secret, folder / "x.prom", *(folder / f".x.prom.{pid}" for pid in range(1, PIDS)))
    assert lab.live(NEAR, *MARK).returncode == 0
    done = lab.live(NEAR, "status", "--metrics", folder / "x.prom")
    assert done.returncode == 0, done.stderr
    written = folder / "x.prom"
    assert not written.is_symlink()
    assert written.stat().st_mode & 0o777 == 0o644
    assert "mousehole_running" in written.read_text()
    assert len(list(folder.iterdir())) == PIDS


def test_devices_and_pipes__for_the_file_of_metrics__stay(lab: Lab, shared: Path) -> None:
    device, pipe, link_to_it = shared / "null", shared / "pipe", shared / "link"
    os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    os.mkfifo(pipe)
    link_to_it.symlink_to(device)
    for path in (device, pipe, link_to_it):
        before = path.lstat().st_ino
        done = lab.live(NEAR, "status", "--metrics", path)
        assert_refused(done, "it must be a regular file, no folder, pipe or device")
        assert path.lstat().st_ino == before


def test_folders__for_a_check_of_a_policy__are_not_taken_from_others(shared: Path) -> None:
    constructor = f'__attribute__((constructor)) static void evil(void) {{ system("id > {shared}/pwned"); }}'
    text = f'#include_next "mousehole/sfd.h"\n#ifdef _STDLIB_H\n{constructor}\n#endif\n'

    def act() -> None:
        """Writes a header where the next processes would look for theirs."""
        for pid in range(os.getpid(), os.getpid() + PIDS):
            folder = shared / f"mousehole-check-{pid}-0" / "mousehole"
            folder.mkdir(parents=True)
            (folder / "sfd.h").write_text(text)

    act_as_nobody(act)
    words = [sys.executable, "-m", "mousehole", "policy", "check", "sfd", "--no-kernel"]
    environment = {**os.environ, "TMPDIR": str(shared)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "random records" in done.stdout
    assert not (shared / "pwned").exists()


def test_lock__cannot_be_held_by_others(lab: Lab) -> None:
    assert lab.live(NEAR, *MARK, "--confirm", "3s").returncode == 0
    ours = [BPF_ROOT / "mousehole", Path("/run/mousehole"), Path("/run/mousehole/lock")]
    for path in ours:
        assert run_as_nobody(lab, "flock", "-n", path, "true").returncode != 0
    user = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
    line = f"flock -n {BPF_ROOT} sh -c 'echo held; exec sleep 60'"
    holder = lab.start(NEAR, *user, "sh", "-c", line)
    try:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n", "everybody may open this one here"
        wait_until(lambda: "nothing of ours" in lab.live(NEAR, "status").stdout, 30)
        begin = time.monotonic()
        assert lab.live(NEAR, *MARK).returncode == 0
        assert lab.live(NEAR, "down", DEVICE).returncode == 0
        assert time.monotonic() - begin < 9
    finally:
        holder.kill()
        holder.wait()


def test_lock__that_root_holds_for_long__is_waited_for_and_its_holder_named(lab: Lab) -> None:
    # The third is that of the pins, after the two of the lock.
    inject = "inject=mkdir:signal=STOP:when=3"
    traced = ("strace", "-f", "-o", "/dev/null", "-e", "trace=mkdir", "-e", inject, require_program(), *MARK)
    stopped = lab.start(NEAR, *traced, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: f"mark {DEVICE}" in lab.call(NEAR, "cat", "/run/mousehole/lock").stdout, 30)
        begin = time.monotonic()
        done = lab.live(NEAR, "down", DEVICE)
        assert 9 < time.monotonic() - begin < 30
        assert_refused(
            done, rf"at work for 10 s, process \d+, `\S*mousehole-live mark {DEVICE} .*`; give this"
        )
    finally:
        stopped.kill()
        stopped.wait()


def test_folder_of_pins__that_somebody_else_made__is_refused(lab: Lab) -> None:
    assert run_as_nobody(lab, "mkdir", "-m", "777", BPF_ROOT / "mousehole").returncode == 0
    for words in (MARK, ("status",), ("down", "--all"), ("confirm", DEVICE)):
        assert_refused(lab.live(NEAR, *words), rf"{BPF_ROOT}/mousehole.* belongs to user {NOBODY}")
    lab.run(NEAR, "rmdir", BPF_ROOT / "mousehole")
    assert lab.live(NEAR, *MARK).returncode == 0
    assert run_as_nobody(lab, "ls", BPF_ROOT / "mousehole").returncode != 0


def test_options__from_what_is_no_file__are_refused(lab: Lab, shared: Path) -> None:
    for name in ("pipe", "own.h"):
        act_as_nobody(partial(os.mkfifo, shared / name))
    (shared / "large").touch()
    os.truncate(shared / "large", 1 << 40)
    begin = time.monotonic()
    for path in ("/dev/zero", shared / "pipe", shared):
        assert_refused(lab.live(NEAR, *MARK, "--config", path), rf"{path}; it must be a regular file")
    assert_refused(lab.live(NEAR, *MARK, "--config", shared / "large"), "must have at most 1048576 bytes")
    assert_refused(lab.live(NEAR, *MARK, "--policy", shared / "own.h"), "it must be a regular file")
    assert time.monotonic() - begin < 20


def persist_own_policy(lab: Lab, own: Path, units: Path) -> None:
    """Marks by an own policy, persists that with its units in `units`, and ends it, as before a reboot."""
    words = ("--policy", own, "--marker", "own")
    assert lab.live(NEAR, *MARK, *words).returncode == 0
    units.mkdir(exist_ok=True)
    done = lab.live(NEAR, "persist", DEVICE, "--directory", units)
    assert done.returncode == 0, done.stderr
    assert lab.live(NEAR, "down", DEVICE).returncode == 0


def run_boot(lab: Lab, *before: str) -> subprocess.CompletedProcess[str]:
    """Starts what was persisted as the guard does, on a machine without compilers.

    `before` are variables or a program with its arguments.
    """
    return lab.call(NEAR, "env", *NO_COMPILER, *before, require_program(), "boot", DEVICE)


def test_boot__runs_no_compiler_and_no_code_of_a_policy(lab: Lab, own: Path, tmp_path: Path) -> None:
    persist_own_policy(lab, own, tmp_path / "units")
    unit = (tmp_path / "units" / "mousehole-live.service").read_text()
    assert f"ExecStart={require_program()} guard\n" in unit
    own.write_text("#error its author has changed it\n")
    trace = tmp_path / "trace"
    done = run_boot(lab, str(shutil.which("strace")), "-f", "-o", str(trace), "-e", "trace=execve,openat")
    assert done.returncode == 0, done.stderr
    calls = trace.read_text()
    assert "program.o" in calls
    assert "own.h" in calls, "its digest is looked at"
    assert "own.so" not in calls
    assert "clang" not in calls.replace("CLANG", "")
    assert read_status(lab)["state"] == "running"
    assert read_status(lab)["problems"] == []
    assert lab.live(NEAR, "down", DEVICE).returncode == 0


@pytest.mark.parametrize("file", ["own.h", "program.o", "kept.json", f"../{DEVICE}.toml"])
def test_boot__refuses_what_somebody_else_could_have_written(
    lab: Lab, own: Path, tmp_path: Path, file: str
) -> None:
    persist_own_policy(lab, own, tmp_path / "units")
    path = KEPT / DEVICE / file
    for spoil, mend, reason in (
        ("chown 65534", "chown 0", rf"{Path(file).name}.* belongs to user {NOBODY}"),
        ("chmod 622", "chmod 600", rf"others may write to \S*{Path(file).name}"),
    ):
        lab.run(NEAR, *spoil.split(), path)
        assert_refused(run_boot(lab), reason)
        lab.run(NEAR, *mend.split(), path)
    lab.run(NEAR, "mv", path, f"{path}.real")
    lab.run(NEAR, "ln", "-s", f"{path}.real", path)
    assert run_boot(lab).returncode == 2
    lab.run(NEAR, "mv", f"{path}.real", path)
    for folder in (KEPT, KEPT / DEVICE):
        lab.run(NEAR, "chmod", "777", folder)
        assert_refused(run_boot(lab), f"others may write to {folder}")
        lab.run(NEAR, "chmod", "700", folder)
    lab.run(NEAR, "bash", "-c", f"echo >> {path}")
    done = run_boot(lab)
    # A blank line more is the same note.
    is_note = file not in {"own.h", "program.o"}
    assert done.returncode == (0 if is_note else 2), done.stderr
    assert is_note or "is not as it was kept: its SHA-256 is" in done.stderr


def test_boot__of_nothing__says_so(lab: Lab) -> None:
    assert_refused(run_boot(lab), f"nothing is kept of {DEVICE} in {KEPT}; `mousehole-live persist {DEVICE}`")


def test_status__does_not_run_a_header_that_was_changed(lab: Lab, own: Path, shared: Path) -> None:
    assert lab.live(NEAR, *MARK, "--policy", own, "--marker", "own").returncode == 0
    own.write_text(
        own.read_text().replace(
            "\n/*\n * The parameters.", EVIL % (shared / "pwned") + "\n/*\n * The parameters.", 1
        )
    )
    (problem,) = read_status(lab)["problems"]
    assert f"{own} has changed since it was started" in problem
    for words in (("upgrade", DEVICE), ("tune", DEVICE, "--dscp", "cs1"), ("persist", DEVICE, "--print")):
        assert_refused(lab.live(NEAR, *words), "has changed since it was started")
    assert not (shared / "pwned").exists()
    assert lab.live(NEAR, "down", DEVICE).returncode == 0


ALL = (
    ("up", DEVICE, "--rate", "10mbit", "--scheme", "rio-ps"), ("status",), ("flows",),
    ("tune", DEVICE, "--rate", "8mbit"), ("upgrade", DEVICE), ("down", DEVICE), (*MARK, "--attach", "clsact"),
    ("status", "--json"), ("explain", "10.7.0.2"), ("down", DEVICE),
)  # fmt: skip


def test_three_capabilities__are_enough_for_root(lab: Lab) -> None:
    """As in the units that `persist` writes."""
    before = lab.state(NEAR, DEVICE)
    confined = ("setpriv", "--bounding-set", CAPABILITIES, "--no-new-privs")
    for words in ALL:
        done = lab.call(NEAR, *confined, require_program(), *words)
        assert done.returncode == 0, (words, done.stderr)
    assert lab.state(NEAR, DEVICE) == before


def test_three_capabilities__are_enough_for_another_user(lab: Lab) -> None:
    before = lab.state(NEAR, DEVICE)
    lab.run(NEAR, "mkdir", "-m", "700", "/run/mousehole/of-nobody")
    lab.run(NEAR, "chown", "65534:65534", "/run/mousehole/of-nobody")
    lab.run(NEAR, "chmod", "711", "/run/mousehole")
    confined = (
        "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--no-new-privs",
        "--inh-caps", CAPABILITIES, "--ambient-caps", CAPABILITIES, "--bounding-set", CAPABILITIES,
        "env", "RUNTIME_DIRECTORY=/run/mousehole/of-nobody",
    )  # fmt: skip
    for words in ALL:
        done = lab.call(NEAR, *confined, require_program(), *words)
        assert done.returncode == 0, (words, done.stderr)
    assert lab.state(NEAR, DEVICE) == before
