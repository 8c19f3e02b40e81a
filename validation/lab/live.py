"""Network namespaces in which `mousehole-live` is tested, with private mounts and processes.

A keeper is the first process of a new PID namespace. It has a private tmpfs at /run/netns and a
private BPF file system at /sys/fs/bpf, and it dies with the process that made it, SIGKILL included.
The kernel then kills every other process in there, agents and timers included, and with the last of
them the network namespaces, their devices, and everything pinned are gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from validation.lab.namespaces import (
    BPF_ROOT,
    CLONE_NEWNET,
    CLONE_NEWNS,
    LIBC,
    NAMES,
    ROOT,
    die_with_parent,
    raise_on_error,
)
from validation.lab.tools import find_missing

CLONE_NEWPID = 0x2000_0000
BPF_CALL = {"x86_64": 321, "aarch64": 280}
BPF_PROG_QUERY = 16
BPF_TCX_EGRESS = 47
OWN_FOLDERS = (Path("/run/mousehole"), Path("/etc/mousehole"))
"""Where `mousehole-live` keeps its lock, and what `persist` keeps; each lab has its own."""
TOOLS = {"ip": "iproute2", "tc": "iproute2", "bpftool": "bpftool", "unshare": "util-linux"}
COUNTERS = {"direct_packets_stat", "bytes", "packets", "drops", "overlimits", "requeues", "backlog", "qlen"}


def find_program() -> Path | None:
    """Returns the path of `mousehole-live`, or None if there is none.

    That is MOUSEHOLE_LIVE, which need not exist, or the newest build.
    """
    given = os.environ.get("MOUSEHOLE_LIVE")
    if given:
        return Path(given)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    places = (target / kind / "mousehole-live" for kind in ("release", "quick", "debug"))
    built = [path for path in places if path.exists()]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


def find_obstacle(*, needs_program: bool = True) -> str | None:
    """Returns the reason why the lab cannot be used here, such as a program not built, or None."""
    if sys.platform != "linux":
        return "network namespaces are Linux's"
    if os.geteuid() != 0:
        return "network namespaces and programs for the kernel need root"
    if reason := find_missing(TOOLS):
        return reason
    if not needs_program:
        return None
    found = find_program()
    if found is None or not found.exists():
        return "mousehole-live is not built; 'cargo build -p mousehole-live' builds it"
    return None


class Lab:
    """Network namespaces with private mounts and processes, which all end with this process."""

    def __init__(self) -> None:
        """Starts the keeper, a process with private mounts, network and processes, and opens its namespaces.

        Needs the rights of root; raises `RuntimeError` if the keeper does not start.
        """
        # The machine's own BPF file system must not come to light when a test unmounts the private one.
        own = "".join(
            f"mkdir -p {folder}; mount -t tmpfs -o mode=0700 lab {folder}; " for folder in OWN_FOLDERS
        )
        script = (
            f"while mountpoint -q {BPF_ROOT}; do umount {BPF_ROOT} || exit 1; done; "
            f"mount -t tmpfs lab {NAMES} 2>/dev/null || {{ mkdir -p {NAMES}; mount -t tmpfs lab {NAMES}; }}; "
            f"mount -t bpf bpf {BPF_ROOT}; {own}echo ready; exec sleep infinity"
        )
        words = ["--mount", "--propagation", "private", "--net", "--pid", "--fork", "--kill-child"]
        self.unshared = subprocess.Popen(
            ["unshare", *words, "--mount-proc", "bash", "-c", script],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,
        )
        if not self.unshared.stdout or self.unshared.stdout.readline() != "ready\n":
            raise RuntimeError("the keeper of the namespaces did not start")
        children = Path(f"/proc/{self.unshared.pid}/task/{self.unshared.pid}/children")
        self.keeper = int(children.read_text().split()[0])
        self.own = {kind: os.open(f"/proc/self/ns/{kind}", os.O_RDONLY) for kind in ("pid", "net")}
        self.inner = {kind: os.open(f"/proc/{self.keeper}/ns/{kind}", os.O_RDONLY) for kind in ("pid", "mnt")}
        self.nets: dict[str, int] = {}

    def __enter__(self) -> Lab:
        """Returns the lab itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the lab."""
        self.close()

    def close(self) -> None:
        """Kills every process in the namespaces, which removes the namespaces too; is called once."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.keeper, signal.SIGKILL)
        self.unshared.kill()
        self.unshared.communicate()
        for descriptor in [*self.own.values(), *self.inner.values(), *self.nets.values()]:
            os.close(descriptor)

    def add(self, name: str) -> None:
        """Creates a network namespace with its loopback device up."""
        anywhere = os.open(f"/proc/{self.keeper}/ns/net", os.O_RDONLY)
        self.nets[""] = anywhere
        self.run("", "ip", "netns", "add", name)
        os.close(self.nets.pop(""))
        top = Path("/proc", str(self.keeper), "root")  # of the mount namespace
        self.nets[name] = os.open(f"{top}{NAMES}/{name}", os.O_RDONLY)
        self.run(name, "ip", "link", "set", "lo", "up")

    def pair(self, one: str, device: str, address: str, other: str, far: str, far_address: str) -> None:
        """Joins two namespaces by a veth pair with addresses, such as 10.0.0.1/24, and sets both ends up.

        Raises `RuntimeError` if a command fails.
        """
        self.run(one, "ip", "link", "add", device, "type", "veth", "peer", "name", far, "netns", other)
        for net, name, here in ((one, device, address), (other, far, far_address)):
            self.run(net, "ip", "addr", "add", here, "dev", name)
            self.run(net, "ip", "link", "set", name, "up")

    def start(self, net: str, *words: str | Path, **how: Any) -> subprocess.Popen[str]:
        """Starts a command in a namespace with the options `how` of `Popen`, and returns its process.

        The command has the lab's mounts and processes and ends with this thread. Its pipes are open by
        default, and its input is empty. The process id is that of the command itself.
        """
        own = how.pop("preexec_fn", None)

        def enter() -> None:
            """Moves the child into the namespaces; called between fork and exec."""
            die_with_parent()
            raise_on_error(LIBC.setns(self.inner["mnt"], CLONE_NEWNS), "setns(mnt)")
            raise_on_error(LIBC.setns(self.nets[net], CLONE_NEWNET), "setns(net)")
            if own:
                own()

        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        # The namespace of processes is that of children only.
        raise_on_error(LIBC.setns(self.inner["pid"], CLONE_NEWPID), "setns(pid)")
        try:
            return subprocess.Popen(
                [str(word) for word in words], text=True, preexec_fn=enter, cwd="/", **(pipes | how)
            )
        finally:
            raise_on_error(LIBC.setns(self.own["pid"], CLONE_NEWPID), "setns(pid)")

    def call(self, net: str, *words: str | Path, **how: Any) -> subprocess.CompletedProcess[str]:
        """Runs a command in a namespace and returns its result; raises `TimeoutExpired` after 60 s."""
        process = self.start(net, *words, **how)
        try:
            out, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, errors)

    def run(self, net: str, *words: str | Path, **how: Any) -> str:
        """Runs a command in a namespace and returns its standard output; raises `RuntimeError` if it fails.

        Raises `TimeoutExpired` after 60 s.
        """
        done = self.call(net, *words, **how)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def live(self, net: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Runs `mousehole-live` in a namespace, and returns its result.

        Raises `RuntimeError` if it is not built, `TimeoutExpired` after 60 s.
        """
        return self.call(net, require_program(), *words)

    @contextlib.contextmanager
    def inside(self, net: str) -> Iterator[None]:
        """Moves this thread into a network namespace during the block, for the sockets that it opens.

        Blocks do not nest: the end of each leads back to the namespace in which the lab was made. Raises
        `OSError` if a move fails.
        """
        raise_on_error(LIBC.setns(self.nets[net], CLONE_NEWNET), "setns(net)")
        try:
            yield
        finally:
            raise_on_error(LIBC.setns(self.own["net"], CLONE_NEWNET), "setns(net)")

    def state(self, net: str, *devices: str) -> dict[str, Any]:
        """Returns queues, filters and programs of devices, and all pins, without counters, for comparison.

        Raises `RuntimeError` for a device that does not exist.
        """
        said: dict[str, Any] = {"pinned": self.pinned(), "attached": self.json(net, "bpftool", "-j", "net")}
        for device in devices:
            for words in (["qdisc"], ["class"], ["filter", "egress"], ["filter", "ingress"]):
                said[f"{device} {' '.join(words)}"] = self.tc(net, device, words)
            link = self.json(net, "ip", "-d", "-j", "link", "show", "dev", device)[0]
            said[f"{device} tcx"] = self.tcx(net, device)
            said[f"{device} link"] = {name: link.get(name) for name in ("gso_max_segs", "mtu", "qdisc")}
        return said

    def tcx(self, net: str, device: str) -> list[int]:
        """Returns the ids of the programs at a device's tcx egress hook, which older bpftools do not show.

        There are 16 at most. Raises `OSError` where the kernel has no such hook, or for an unknown device.
        """
        numbers = (ctypes.c_uint32 * 16)()
        with self.inside(net):
            index = socket.if_nametoindex(device)
            query = bytearray(
                struct.pack(
                    "=IIIIQI36x", index, BPF_TCX_EGRESS, 0, 0, ctypes.addressof(numbers), len(numbers)
                )
            )
            buffer = (ctypes.c_char * len(query)).from_buffer(query)
            number = BPF_CALL[platform.machine()]
            done = LIBC.syscall(number, BPF_PROG_QUERY, ctypes.byref(buffer), len(query))
        raise_on_error(done, "bpf(BPF_PROG_QUERY)")
        count = struct.unpack_from("=I", buffer, 24)[0]
        return list(numbers[:count])

    def tc(self, net: str, device: str, words: Sequence[str]) -> Any:
        """Returns the objects that `tc -j` lists at a device, without counters; `words` are kind and side.

        Classes come as lines of text, since tc lists them so in any case.
        """
        kind, *side = words
        done = self.call(net, "tc", "-j", kind, "show", "dev", device, *side)
        try:
            return strip_counters(json.loads(done.stdout or "[]"))
        except json.JSONDecodeError:
            return done.stdout.splitlines()  # of classes, which tc lists as text whatever it is told

    def json(self, net: str, *words: str) -> Any:
        """Returns the JSON that a command prints, without counters; an empty list if it prints nothing.

        Raises `RuntimeError` if the command fails.
        """
        return strip_counters(json.loads(self.run(net, *words) or "[]"))

    def pinned(self) -> list[str]:
        """Returns the sorted paths of everything pinned below the BPF folder of `mousehole-live`."""
        found = self.call(next(iter(self.nets)), "find", str(BPF_ROOT / "mousehole")).stdout
        return sorted(found.split())

    def owned(self, flows: int) -> list[str]:
        """Returns our BPF maps with `flows` entries, and the programs that use them, anywhere on the machine.

        Each is a text such as "map 12". The kernel's lists name no owner, so an unusual number of entries
        identifies a lab's maps. The lab must have a namespace.
        """
        net = next(iter(self.nets))
        maps = [
            one["id"]
            for one in json.loads(self.run(net, "bpftool", "-j", "map", "show"))
            if one.get("max_entries") == flows and str(one.get("name", "")).startswith("ml_")
        ]
        programs = json.loads(self.run(net, "bpftool", "-j", "prog", "show"))
        using = [one["id"] for one in programs if set(one.get("map_ids", [])) & set(maps)]
        return [f"map {one}" for one in maps] + [f"prog {one}" for one in using]


def require_program() -> Path:
    """Returns the path of `mousehole-live`; raises `RuntimeError` if it is not built."""
    path = find_program()
    if path is None:
        raise RuntimeError(find_obstacle())
    return path


def strip_counters(value: Any) -> Any:
    """Returns a JSON value without the counters in it."""
    if isinstance(value, dict):
        return {name: strip_counters(one) for name, one in value.items() if name not in COUNTERS}
    if isinstance(value, list):
        return [strip_counters(one) for one in value]
    return value


class Echo:
    """A stream of small datagrams to an echo server and back, to measure interruptions."""

    INTERVAL_S = 0.01

    def __init__(self, lab: Lab, near: str, far: str, address: str, port: int = 7007) -> None:
        """Opens a socket at each end, and starts the threads that exchange datagrams until `close`."""
        with lab.inside(far):
            self.echoing = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.echoing.bind((address, port))
        with lab.inside(near):
            self.asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.asking.connect((address, port))
        for end in (self.echoing, self.asking):
            end.settimeout(0.2)
        self.answers = 0
        self.over = threading.Event()
        self.threads = [
            threading.Thread(target=one, daemon=True) for one in (self._echo, self._send, self._count_answers)
        ]
        for thread in self.threads:
            thread.start()

    def _echo(self) -> None:
        """Sends datagrams back to their senders until the end."""
        while not self.over.is_set():
            with contextlib.suppress(OSError):
                data, who = self.echoing.recvfrom(2048)
                self.echoing.sendto(data, who)

    def _send(self) -> None:
        """Sends a datagram each `INTERVAL_S` until the end."""
        while not self.over.is_set():
            with contextlib.suppress(OSError):
                self.asking.send(bytes(100))
            time.sleep(self.INTERVAL_S)

    def _count_answers(self) -> None:
        """Counts the answers until the end."""
        while not self.over.is_set():
            with contextlib.suppress(OSError):
                self.asking.recv(2048)
                self.answers += 1

    def answers_within(self, seconds: float) -> bool:
        """Returns whether a datagram sent from now on is answered within so many seconds.

        Waits until it is answered, or for the whole time.
        """
        before, deadline = self.answers, time.monotonic() + seconds
        # Two, since one may have been under way.
        while time.monotonic() < deadline and self.answers < before + 2:
            time.sleep(0.005)
        return self.answers >= before + 2

    def close(self) -> None:
        """Stops the threads and closes the sockets; waits for the threads, at most 0.2 s each."""
        self.over.set()
        for thread in self.threads:
            thread.join()
        self.echoing.close()
        self.asking.close()


def transfer(lab: Lab, server: str, client: str, address: str, size: int, port: int = 7008) -> float:
    """Returns the time, s, in which a client receives `size` bytes over TCP from a server at an address.

    Raises `RuntimeError` if fewer bytes arrive, `TimeoutError` after 30 s of silence.
    """
    with lab.inside(server):
        listener = socket.create_server((address, port))

    def serve() -> None:
        """Sends the bytes to one client."""
        end, _ = listener.accept()
        with end:
            end.sendall(bytes(size))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    begin = time.monotonic()
    with lab.inside(client):
        end = socket.socket()
    with end:
        end.settimeout(30)
        end.connect((address, port))
        received = 0
        while data := end.recv(1 << 16):
            received += len(data)
    thread.join()
    listener.close()
    if received != size:
        raise RuntimeError(f"{received} of {size} bytes arrived")
    return time.monotonic() - begin
