"""Network namespaces without names: only this process holds them, and they vanish with it.

The kernel removes them, their devices and routes however the process ends, SIGKILL included.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLONE_NEWNET = 0x4000_0000
CLONE_NEWNS = 0x0002_0000
PR_SET_PDEATHSIG = 1
TUNSETIFF = 0x4004_54CA
IFF_TUN_NO_PI = 0x1001
MS_PRIVATE = 0x4_0000
MS_REC = 0x4000
MNT_DETACH = 2
BPF_ROOT = Path("/sys/fs/bpf")
NAMES = Path("/run/netns")
SOCKET_BUFFER = 8_000_000
LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Asks the kernel to kill this process as soon as the thread that made it is gone."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def raise_on_error(result: int, what: str) -> None:
    """Raises `OSError` if a C call failed, so that no code continues in the wrong namespace.

    A failed call has a `result` other than 0; `what` names it in the message.
    """
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


class Namespace:
    """A new network namespace, which a descriptor holds open; as a context manager it is entered."""

    def __init__(self) -> None:
        """Moves the calling thread into a new namespace, which has its loopback device up and `SETTINGS`.

        Needs the rights of root; raises `OSError` without them.
        """
        raise_on_error(LIBC.unshare(CLONE_NEWNET), "unshare(CLONE_NEWNET)")
        self.fd = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.path = f"/proc/{os.getpid()}/fd/{self.fd}"
        self.ip("link set lo up")
        self.write_settings(SETTINGS)

    def __enter__(self) -> Namespace:
        """Moves the calling thread into the namespace; raises `OSError` if that fails."""
        raise_on_error(LIBC.setns(self.fd, CLONE_NEWNET), "setns")
        return self

    def __exit__(self, *_: object) -> None:
        """Does nothing: the thread stays in this namespace until it enters another."""

    def write_settings(self, values: dict[str, str]) -> None:
        """Writes values into files below /proc/sys/net of this namespace; the names may be patterns.

        A pattern without a file writes nothing. The thread stays in the namespace.
        """
        with self:
            for name, value in values.items():
                for file in Path("/proc/sys/net").glob(name):
                    file.write_text(value)

    def ip(self, arguments: str) -> None:
        """Runs `ip` in this namespace; raises `RuntimeError` with its message if it fails."""
        self.command("ip " + arguments)

    def command(self, line: str) -> None:
        """Runs a command in this namespace; raises `RuntimeError` with its message if it fails.

        `line` is split at spaces and has no quotes. The thread stays in the namespace.
        """
        with self:
            done = subprocess.run(line.split(), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{line}: {done.stderr.strip() or done.stdout.strip()}")

    def add_tun(self, name: str) -> int:
        """Creates a TUN device in this namespace and returns a descriptor of it that children inherit.

        The device is up and has no address. The thread stays in the namespace.
        """
        with self:
            fd = os.open("/dev/net/tun", os.O_RDWR)
            fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN_NO_PI))
        os.set_inheritable(fd, True)
        self.ip(f"link set {name} up")
        return fd


# Of the new namespaces only. The windows are wide enough never to limit; the rest is Linux's default.
SETTINGS = {
    "ipv4/ip_forward": "1",
    "ipv4/conf/*/rp_filter": "0",
    "ipv6/conf/*/disable_ipv6": "1",
    "ipv4/tcp_rmem": f"4096 {SOCKET_BUFFER} {SOCKET_BUFFER}",
    "ipv4/tcp_wmem": f"4096 {SOCKET_BUFFER} {SOCKET_BUFFER}",
    "ipv4/tcp_no_metrics_save": "1",
}


def mount(source: str, target: Path, kind: str, flags: int = 0) -> None:
    """Mounts a file system; raises `OSError` if that fails."""
    done = LIBC.mount(source.encode(), str(target).encode(), kind.encode(), ctypes.c_ulong(flags), None)
    raise_on_error(done, f"mount {kind} at {target}")


def make_mounts_private() -> None:
    """Gives this process private mounts: of the names of network namespaces, and a BPF file system.

    Changes hold until the process ends. Raises `OSError` without the rights of root.
    """
    raise_on_error(LIBC.unshare(CLONE_NEWNS), "unshare(CLONE_NEWNS)")
    mount("none", Path("/"), "none", MS_REC | MS_PRIVATE)
    # The machine's own BPF file system must not come to light when the private one is unmounted.
    while LIBC.umount2(str(BPF_ROOT).encode(), MNT_DETACH) == 0:
        pass
    NAMES.mkdir(exist_ok=True)
    mount("lab", NAMES, "tmpfs")
    mount("bpf", BPF_ROOT, "bpf")


def raise_priority() -> None:
    """Gives this process real-time priority if that is allowed, so that a busy machine delays it little.

    Does nothing where it is not allowed.
    """
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


@contextlib.contextmanager
def run_network(
    module: str, devices: Sequence[int], words: Sequence[str], report: dict[str, object]
) -> Iterator[None]:
    """Runs a network between TUN devices during the block; `report` is filled with its JSON at the end.

    `module` is a module of this package. `devices` are the descriptors of the devices, and `words` the
    further arguments. Raises `TimeoutExpired` if it does not end within 20 s.
    """
    command = [sys.executable, "-m", f"validation.lab.{module}", *map(str, devices), *words]
    process = subprocess.Popen(
        command, pass_fds=devices, stdout=subprocess.PIPE, text=True, cwd=ROOT, preexec_fn=die_with_parent
    )
    try:
        yield
    finally:
        process.terminate()
        report.update(json.loads(process.communicate(timeout=20)[0]))
