"""Fetches Debian's kernels and starts them in QEMU, from an archive of all files that a guest needs.

A guest has no disk, no network and no file of the host: its root is an initial RAM file system with
the tools, Python, `mousehole-live` and this repository's `validation`. So it can run in virtual
time: the clock counts instructions (`-icount`) and jumps to the next timer when the guest is idle.
A busy host makes the run longer and changes nothing in it.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from validation.lab.namespaces import die_with_parent
from validation.lab.tools import find_missing

ROOT = Path(__file__).resolve().parent.parent
# Series that apt is not expected to know, and the suite of Debian that has them.
SUITES = {"7.2": "trixie-backports"}
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# From 7 on a kernel is in three packages.
PARTS = ("binary", "modules", "base")
CACHE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "kernels"
QEMU = "qemu-system-x86_64"
# It compiles headers of one's own in guests that have native queues.
COMPILER = "clang-16"
HOST_TOOLS = {QEMU: "qemu-system-x86", "busybox": "busybox-static", "dpkg-deb": "dpkg", "ethtool": "ethtool"}
HOST_TOOLS |= {"ip": "iproute2", "tc": "iproute2", "nft": "nftables"}
GUEST_TOOLS = ["ip", "tc", "ethtool", "nft", "bpftool"]
MODULES = [
    *("veth", "tun", "ifb", "sch_ingress", "cls_bpf", "cls_matchall", "cls_u32", "cls_fw", "act_mirred"),
    *("sch_cake", "sch_htb", "sch_tbf", "sch_red", "sch_netem", "sch_fq", "sch_prio", "sch_fq_codel"),
    *("crc32c_generic", "nf_tables", "nft_flow_offload", "nf_flow_table_inet", "af_packet", "tcp_cubic"),
    "dummy",
]
# These are no modules of newer kernels any more, but parts of them.
GONE_INTO_THE_KERNEL = {"crc32c_generic"}
GUEST = "validation.kernels_guest"
REPORT = "MOUSEHOLE "
# An instruction lasts 2 to the so many ns, here 4: a machine of 250 million instructions a second.
SHIFT = 2
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /etc
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t bpf bpf /sys/fs/bpf
/bin/busybox mount -t tmpfs tmp /tmp
/bin/busybox mount -t tmpfs run /run
/bin/busybox ip link set lo up
for module in $(/bin/busybox cat /modules/order); do
    /bin/busybox insmod /modules/$module || echo "insmod $module failed"
done
export PATH=/bin PYTHONHOME={home} PYTHONDONTWRITEBYTECODE=1 CC={compiler}
cd /repository
{python} -m {guest} /task.json > /dev/ttyS1 2> /dev/ttyS0
/bin/busybox poweroff -f
"""


class ObstacleError(Exception):
    """A reason why a kernel cannot be run here."""


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel: its series, such as 6.12, its release, image and folder of modules."""

    series: str
    release: str
    image: Path
    modules: Path


def find_obstacle() -> str | None:
    """Returns the reason why no guest can run here, if there is one."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return "the kernels are for x86-64, and so are the tools that are put beside them"
    return find_missing(HOST_TOOLS, "make deps KERNELS=1")


def find_newest(names: Sequence[str], series: str) -> str | None:
    """Returns the newest of Debian's packages with an ordinary kernel of a series, or None.

    Versions are compared number by number.
    """
    shape = re.compile(rf"linux-(?:image|binary)-({re.escape(series)}\.\d+(?:-\d+)?)(?:\+\w+)?-amd64")
    matches = [match for name in names if (match := shape.fullmatch(name))]
    if not matches:
        return None
    return max(matches, key=lambda match: [int(part) for part in re.split(r"[.-]", match[1])]).string


def fetch(series: str) -> Kernel:
    """Returns the newest kernel of a series that apt offers, downloaded and unpacked if it is not yet.

    Uses the network. Raises `ObstacleError` if apt offers none, or if a package cannot be downloaded or
    unpacked.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    suite = SUITES.get(series)
    options = make_suite_options(suite) if suite else []
    first = PARTS[0] if suite else "image"
    found = run(
        *("apt-cache", *options, "search", "--names-only", f"^linux-{first}-{re.escape(series)}\\..*-amd64$")
    )
    package = find_newest([line.split()[0] for line in found.splitlines() if line], series)
    if package is None:
        raise ObstacleError(
            f"apt knows no linux-{first}-{series}.*-amd64; Debian 12 has 6.1, and 6.12 in its backports"
        )
    release = package.removeprefix(f"linux-{first}-")
    folder = CACHE / package
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=CACHE) as place:
            for part in PARTS if suite else [first]:
                unpack(f"linux-{part}-{release}", options, Path(place, "whole"))
            Path(place, "whole").rename(folder)
    tops = [path for path in (folder / "lib/modules", folder / "usr/lib/modules") if path.is_dir()]
    modules = tops[0] / release
    images = [path for path in (folder / "boot" / f"vmlinuz-{release}", modules / "vmlinuz") if path.exists()]
    return Kernel(series, release, images[0], modules)


def unpack(package: str, options: Sequence[str], folder: Path) -> None:
    """Downloads a Debian package, unless it is in the cache, and unpacks it into a folder.

    `package` may name its architecture after a colon. Raises `ObstacleError` if it cannot be downloaded or
    unpacked.
    """
    name, _, architecture = package.partition(":")
    shape = f"{name}_*{architecture}.deb"
    files = list(CACHE.glob(shape))
    if not files:
        print(f"live-kernels: fetching {package} by apt", file=sys.stderr, flush=True)
        run("apt-get", *options, "download", package, cwd=CACHE)
        files = list(CACHE.glob(shape))
    run("dpkg-deb", "-x", str(files[0]), str(folder))


def make_suite_options(suite: str, architecture: str = "") -> list[str]:
    """Returns apt options that add one more suite of Debian, from the site of the other packages.

    Renews the suite's lists over the network; they lie in the cache, and the system's stay unchanged.
    `architecture` is that of another machine, empty for this one. Raises `ObstacleError` without such a site.
    """
    folder = CACHE / (f"{suite}-{architecture}" if architecture else suite)
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    words = ("indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Created-By: Packages")
    sites = run("apt-get", *words).split()
    if not sites:
        raise ObstacleError(f"apt has no packages of Debian here, and so none of {suite}")
    machine = f"arch={architecture} " if architecture else ""
    source = f"deb [{machine}signed-by={KEYS}] {sites[0]} {suite} main\n"
    (folder / "sources.list").write_text(source, encoding="utf-8")
    (folder / "status").touch()
    places = {
        "Etc::sourcelist": folder / "sources.list",
        "Etc::sourceparts": "/dev/null",
        "State": folder,
        "State::lists": folder / "lists",
        "State::status": folder / "status",
        "Cache": folder / "cache",
    }
    options = [word for name, place in places.items() for word in ("-o", f"Dir::{name}={place}")]
    if architecture:
        options += ["-o", f"APT::Architectures=amd64,{architecture}"]
    run("apt-get", *options, "update")
    return options


def run(*words: str, cwd: Path | None = None) -> str:
    """Runs a command on the host and returns its standard output.

    Raises `ObstacleError` with the command's message if it fails or cannot be started.
    """
    try:
        done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ObstacleError(f"{words[0]}: {error.strerror}") from None
    if done.returncode:
        raise ObstacleError(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


@dataclass
class Archive:
    """An initial RAM file system, in cpio's format `newc`."""

    parts: list[bytes] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def add(self, name: str, mode: int, data: bytes = b"") -> None:
        """Adds an entry and its parent folders; an entry of the same name is left as it is.

        `mode` has the file type's bits. `data` is the content of a file, or the target of a symbolic link.
        """
        name = name.lstrip("/")
        if name in self.names or not name:
            return
        self.names.add(name)
        above = str(Path(name).parent)
        if above != ".":
            self.add(above, stat.S_IFDIR | 0o755)
        self.parts.append(self._entry(len(self.names), name, mode, data))

    def file(self, name: str, data: bytes, mode: int = 0o755) -> None:
        """Adds a regular file with the permissions `mode`."""
        self.add(name, stat.S_IFREG | mode, data)

    def copy(self, path: Path, name: str | None = None) -> None:
        """Adds a copy of a host file, under its path or another name.

        Raises `OSError` for a file that cannot be read.
        """
        self.file(name or str(path), path.read_bytes(), path.stat().st_mode & 0o777)

    def whole(self) -> bytes:
        """Returns the whole archive with its trailer."""
        return b"".join([*self.parts, self._entry(0, "TRAILER!!!", 0, b"")])

    @staticmethod
    def _entry(number: int, name: str, mode: int, data: bytes) -> bytes:
        """Returns an entry of cpio's format `newc`, padded; `number` is its inode."""
        named = name.encode() + b"\0"
        values = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(named), 0]
        head = b"070701" + b"".join(b"%08X" % value for value in values) + named
        return pad(head) + pad(data)


def pad(data: bytes) -> bytes:
    """Returns bytes, padded with zeros to a multiple of four."""
    return data + bytes(-len(data) % 4)


def list_libraries(path: Path) -> Iterator[Path]:
    """Yields the shared libraries that a program or library loads, by `ldd`; none for a static program."""
    done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)
    for found in re.findall(r"(/\S+) \(0x", done.stdout):
        yield Path(os.path.normpath(found))


def add_program(archive: Archive, path: Path, name: str) -> None:
    """Adds a program and the libraries that it loads."""
    archive.copy(path.resolve(), name)
    for library in list_libraries(path):
        archive.copy(library)


def add_compiler(archive: Archive) -> None:
    """Adds clang and all files that it needs to compile a user's header.

    Raises `ObstacleError` if the compiler fails.
    """
    clang = Path(str(shutil.which(COMPILER)))
    program = clang.resolve()
    add_program(archive, program, str(program))
    archive.add(f"bin/{COMPILER}", stat.S_IFLNK | 0o777, str(program).encode())
    linker = Path(run(COMPILER, "-print-prog-name=ld").strip())
    add_program(archive, linker.resolve(), "bin/ld")
    words = [
        "-DMH_DESCRIBE",
        "-DMH_OWN_NAME=own",
        f"-I{ROOT / 'policy/include'}",
        str(ROOT / "policy/src/own.c"),
    ]
    headers = run(COMPILER, "-M", *words).replace("\\\n", " ").split()
    with tempfile.TemporaryDirectory() as folder:
        words += ["-shared", "-fPIC", "-nostartfiles", "-Wl,--trace", "-o", f"{folder}/own.so"]
        linked = run(COMPILER, *words).split()
    # By this file it finds the folder of the linker's.
    beside = run(COMPILER, "-print-file-name=crtbegin.o").strip()
    for name in [*headers, *linked, beside]:
        path = Path(os.path.normpath(name))
        if path.is_absolute() and path.exists() and not path.is_relative_to(ROOT):
            archive.copy(path)


def add_python(archive: Archive) -> tuple[str, str]:
    """Adds this interpreter and the modules that the guest imports; returns its path and its home.

    Both are paths in the guest, too. Imports the guest's modules in another process to list them. Raises
    `ObstacleError` if that fails.
    """
    program = Path(sys.executable).resolve()
    add_program(archive, program, str(program))
    script = (
        f"import sys, runpy, {GUEST}\n"
        "for module in list(sys.modules.values()):\n"
        "    print(getattr(module, '__file__', None) or '')\n"
        "    print(getattr(module, '__cached__', None) or '')\n"
    )
    listed = run(sys.executable, "-c", script, cwd=ROOT)
    library = Path(sys.base_prefix)
    for path in sorted({Path(line) for line in listed.splitlines() if line}):
        if not path.is_relative_to(library) or "site-packages" in path.parts or not path.exists():
            continue
        archive.copy(path)
        if path.suffix == ".so":
            for loaded in list_libraries(path):
                archive.copy(loaded)
    # By these the interpreter finds its library.
    folder = sysconfig.get_path("stdlib")
    archive.add(f"{folder}/lib-dynload", stat.S_IFDIR | 0o755)
    archive.copy(Path(folder, "os.py"))
    return str(program), sys.base_prefix


def add_modules(archive: Archive, kernel: Kernel, modules: Sequence[str] = MODULES) -> None:
    """Adds these kernel modules with their dependencies; /modules/order lists them in the order of loading.

    Modules that are built in are left out. Raises `ObstacleError` for another one that the kernel lacks, also
    if it is a dependency.
    """
    files = {module_name(path): path for path in kernel.modules.rglob("*.ko*")}
    built_in = {module_name(Path(line)) for line in (kernel.modules / "modules.builtin").read_text().split()}
    order: list[str] = []

    def add(name: str) -> None:
        """Adds a module after those that it needs; raises `ObstacleError` if it is missing.

        Does nothing for one that is added or built in, or is a part of this kernel by now.
        """
        if name in order or name in built_in:
            return
        if name not in files and name in GONE_INTO_THE_KERNEL:
            return
        if name not in files:
            raise ObstacleError(f"the kernel {kernel.release} has no module {name}")
        data = files[name].read_bytes()
        data = lzma.decompress(data) if files[name].suffix == ".xz" else data
        needs = re.search(rb"\0depends=([^\0]*)\0", data)
        for other in needs[1].decode().split(",") if needs and needs[1] else []:
            add(other.replace("-", "_"))
        order.append(name)
        archive.file(f"modules/{name}", data, 0o644)

    for module in modules:
        add(module)
    archive.file("modules/order", "\n".join(order).encode(), 0o644)


def module_name(path: Path) -> str:
    """Returns the module name of a module file."""
    return path.name.partition(".ko")[0].replace("-", "_")


def make_image(
    kernel: Kernel, program: Path, parity: Path | None = None, own: dict[str, str] | None = None
) -> bytes:
    """Returns the archive that all guests of a kernel share, without a task.

    `program` is `mousehole-live`, and `parity` the program that compares native queues. `own` maps names of
    user-written headers, which the guest can compile, to their text. All tools must be installed. Raises
    `ObstacleError` if a module is missing or the compiler fails.
    """
    archive = Archive()
    busybox = Path(str(shutil.which("busybox")))
    add_program(archive, busybox, "bin/busybox")
    archive.add("bin/sh", stat.S_IFLNK | 0o777, b"busybox")
    for tool in GUEST_TOOLS:
        add_program(archive, Path(str(shutil.which(tool))), f"bin/{tool}")
    add_program(archive, program, "bin/mousehole-live")
    if parity:
        add_program(archive, parity, "bin/native_parity")
        with tempfile.TemporaryDirectory() as folder:
            run(str(parity), "compile", folder)
            for path in sorted(Path(folder).iterdir()):
                archive.copy(path, f"queues/{path.name}")
    for name, text in (own or {}).items():
        archive.file(f"own/{name}", text.encode(), 0o644)
    if own:
        add_compiler(archive)
    python, home = add_python(archive)
    for path in sorted((ROOT / "validation").rglob("*.py")):
        archive.copy(path, f"repository/{path.relative_to(ROOT)}")
    add_modules(archive, kernel)
    archive.file("init", INIT.format(python=python, home=home, guest=GUEST, compiler=COMPILER).encode())
    return archive.whole()


def play(kernel: Kernel, base: Path, task: Any, limit_s: float) -> Iterator[Any]:
    """Starts a guest with a task and yields the values that it reports until it ends.

    `base` is the file of its archive. The task may set `shift`: an instruction lasts 2 to this power, ns; and
    `cpus`, which take turns at those instructions. A caller that ends early closes the iterator, which ends
    the guest. Raises `RuntimeError` with the console's last lines if the guest does not end properly within
    `limit_s`.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        initrd, console, report = folder / "initrd", folder / "console", folder / "report"
        extra = Archive()
        extra.file("task.json", json.dumps(task).encode(), 0o644)
        shutil.copyfile(base, initrd)
        with initrd.open("ab") as file:
            file.write(bytes(-base.stat().st_size % 4) + extra.whole())
        report.touch()
        words = [
            *("nice", QEMU, "-accel", "tcg", "-icount", f"shift={task.get('shift', SHIFT)},sleep=off"),
            *("-M", "q35", "-cpu", "max", "-smp", str(task.get("cpus", 1))),
            *("-m", "2048", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
            *("-rtc", "base=2026-01-01,clock=vm", "-kernel", str(kernel.image), "-initrd", str(initrd)),
            *("-serial", f"file:{console}", "-serial", f"file:{report}"),
            *("-append", "console=ttyS0 panic=-1 tsc=reliable loglevel=4"),
        ]
        guest = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent
        )
        deadline, said = time.monotonic() + limit_s, ""
        try:
            with report.open(encoding="utf-8", errors="replace") as lines:
                unfinished = ""
                while said != "end":
                    is_over = guest.poll() is not None or time.monotonic() > deadline
                    unfinished += lines.read()
                    *whole, unfinished = unfinished.split("\n")
                    for line in whole:
                        if line.startswith(REPORT):
                            said = json.loads(line.removeprefix(REPORT))
                            if said != "end":
                                yield said
                    if is_over and said != "end":
                        guest.kill()
                        tail = console.read_text(errors="replace")[-3000:] if console.exists() else ""
                        error = guest.communicate()[1].strip() or f"it ended early, or not in {limit_s:.0f} s"
                        raise RuntimeError(f"the guest of {kernel.release}: {error}\n{tail}")
                    time.sleep(0.2)
        finally:
            guest.kill()
            guest.communicate()
