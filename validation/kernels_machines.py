"""`mousehole-live` on 32-bit machines: the static programs on Debian's kernels of ARMv7 and MIPS, in QEMU.

These kernels have no type information (BTF) and interpret programs, as those of many routers do. A guest
marks, shapes, sets up both ends of a line with its kernel's own CAKE, and takes everything back; each command
must say what is expected. `make live TARGETS="armv7 mipsel"` builds the programs.

Exit code 1 when a check fails. Where no guest can run, the program says NOT RUN and why, and fails only where
CI is set.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from validation import kernels_image
from validation.kernels_image import (
    Archive,
    Kernel,
    ObstacleError,
    add_modules,
    make_suite_options,
    run,
    unpack,
)

SUITE = "bookworm"
LIMIT_S = 600
MODULES = [
    *("veth", "ifb", "sch_ingress", "cls_bpf", "cls_matchall", "act_mirred"),
    *("sch_tbf", "sch_htb", "sch_fq_codel", "sch_cake"),
]


@dataclass(frozen=True)
class Machine:
    """A machine: Debian's name of it, of its kernel's flavour, Rust's target, and how QEMU starts it."""

    debian: str
    flavour: str
    target: str
    qemu: tuple[str, ...]
    console: str


MACHINES = {
    "armv7": Machine(
        *("armhf", "armmp", "armv7-unknown-linux-musleabihf"),
        ("qemu-system-arm", "-M", "virt", "-cpu", "cortex-a15"),
        "ttyAMA0",
    ),
    "mipsel": Machine(
        *("mipsel", "4kc-malta", "mipsel-unknown-linux-musl"),
        ("qemu-system-mipsel", "-M", "malta", "-cpu", "24Kf"),
        "ttyS0",
    ),
}
SEND = "ping -c 6 -s 1400 -i 0.2 -I d0 10.9.0.2 > /dev/null"
CHECKS = {
    "mousehole-live mark d0 --via dscp --marker sfd(th=3kB) --no-agent": r"sfd\(th=3kB\) runs",
    "mousehole-live explain 10.9.0.2": r"33 % green, 67 % yellow",
    "mousehole-live down d0": r"the program is removed",
    "mousehole-live up d0 --scheme rio-ps --rate 10mbit": r"rio-ps runs",
    "mousehole-live status --check": r"OK - d0: up rio-ps runs",
    "mousehole-live down --all": r"default qdisc is back",
    "mousehole-live setup d0 --down 20mbit --up 1mbit": r"cake bandwidth 950kbit",
    "mousehole-live status d0": r"root qdisc cake",
    "mousehole-live status --check ": r"OK - ifb-d0",
    "mousehole-live down --all ": r"no longer redirected",
    "mousehole-live status": r"nothing of ours",
}
"""What a guest types, and what must be said; packets follow each. A space makes a line another one."""
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /tools
for one in proc:/proc sysfs:/sys devtmpfs:/dev bpf:/sys/fs/bpf tmpfs:/run; do
    /bin/busybox mount -t ${one%:*} none ${one#*:}
done
for module in $(/bin/busybox cat /modules/order); do /bin/busybox insmod /modules/$module; done
/bin/busybox --install -s /tools
export PATH=/bin:/tools
ip link set lo up
ip link add name d0 type veth peer name d1
ip link set d0 up
ip link set d1 up
ip addr add 10.9.0.1/24 dev d0
arp -s 10.9.0.2 02:00:00:00:00:09
"""


def fetch(machine: Machine) -> tuple[Path, Kernel]:
    """Returns Debian's busybox and newest kernel for a machine, downloaded and unpacked once.

    Uses the network. Raises `ObstacleError` where apt does not offer them.
    """
    kernels_image.CACHE.mkdir(parents=True, exist_ok=True)
    options = make_suite_options(SUITE, machine.debian)
    found = run(
        "apt-cache", *options, "search", "--names-only", f"^linux-image-6\\.1\\..*-{machine.flavour}$"
    )
    names = sorted(line.split()[0] for line in found.splitlines() if "-rt-" not in line)
    if not names:
        raise ObstacleError(f"apt knows no kernel of Debian for {machine.debian}")
    folder = kernels_image.CACHE / f"{machine.debian}-{names[-1]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=kernels_image.CACHE) as place:
            for package in (f"{names[-1]}:{machine.debian}", f"busybox-static:{machine.debian}"):
                unpack(package, options, Path(place, "whole"))
            Path(place, "whole").rename(folder)
    release = names[-1].removeprefix("linux-image-")
    kernel = Kernel("6.1", release, folder / "boot" / f"vmlinuz-{release}", folder / "lib/modules" / release)
    return folder / "bin/busybox", kernel


def make_image(machine: Machine, busybox: Path, kernel: Kernel) -> bytes:
    """Returns the archive that a guest runs; raises `ObstacleError` where the program is not built.

    The archive types the commands of `CHECKS` and switches the machine off.
    """
    target = Path(os.environ.get("CARGO_TARGET_DIR", kernels_image.ROOT / "target"), machine.target)
    program = target / "static" / "mousehole-live"
    if not program.exists():
        raise ObstacleError(f'{program} is missing; `make live TARGETS="{" ".join(MACHINES)}"` builds it')
    archive = Archive()
    archive.copy(busybox, "bin/busybox")
    archive.add("bin/sh", stat.S_IFLNK | 0o777, b"busybox")
    archive.copy(program, "bin/mousehole-live")
    add_modules(archive, kernel, MODULES)
    lines = [INIT]
    for number, command in enumerate(CHECKS):
        words = shlex.join(shlex.split(command))
        lines.append(f"echo BEGIN {number}; {words} 2>&1; echo END {number} $?; {SEND}\n")
    archive.file("init", "".join([*lines, "poweroff -f\n"]).encode())
    return archive.whole()


def list_failures(name: str, said: str) -> Iterator[str]:
    """Yields the checks of a guest that failed, and prints each check.

    `said` is the whole output of the guest; a check that it did not reach has failed.
    """
    for number, (command, wanted) in enumerate(CHECKS.items()):
        found = re.search(rf"^BEGIN {number}\s(.*?)^END {number} (\d+)", said, re.M | re.S)
        is_right = bool(found and found[2] == "0" and re.search(wanted, found[1]))
        last = found[1].strip().splitlines()[-1:] if found else ["it was not reached"]
        print(f"{'pass' if is_right else 'FAIL'}  {name}  {command.strip()}: {''.join(last)}", flush=True)
        if not is_right:
            yield f"{name} {command.strip()}"


def play(name: str, machine: Machine) -> list[str]:
    """Runs a guest, prints its checks, and returns those that failed.

    Raises `ObstacleError` where it cannot run, `TimeoutExpired` after `LIMIT_S`.
    """
    program = machine.qemu[0]
    if shutil.which(program) is None:
        raise ObstacleError(f"{program} is missing; `apt install {program.replace('mipsel', 'mips')}`")
    busybox, kernel = fetch(machine)
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, "initrd")
        archive.write_bytes(make_image(machine, busybox, kernel))
        words = [
            *machine.qemu,
            *("-m", "512", "-kernel", str(kernel.image), "-initrd", str(archive), "-no-reboot"),
            *("-display", "none", "-monitor", "none", "-serial", "stdio"),
            *("-append", f"console={machine.console} panic=-1 loglevel=3"),
        ]
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, errors="replace"
        )
    return list(list_failures(f"{name} {kernel.release}", done.stdout.replace("\r", "")))


def main() -> int:
    """Runs every machine, or those that are named as arguments, and prints the results.

    Returns 1 if a check failed, and where CI is set also if a machine could not run. Raises `KeyError` for an
    unknown name.
    """
    failed: list[str] = []
    for name in sys.argv[1:] or MACHINES:
        try:
            failed += play(name, MACHINES[name])
        except (ObstacleError, subprocess.TimeoutExpired) as error:
            print(f"NOT RUN  {name}: {error}")
            failed += [name] if os.environ.get("CI") else []
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
