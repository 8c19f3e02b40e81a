"""Makes random events at devices that a guard watches, and measures wrong states and leftovers.

`make validation WHAT=live_events ARGS='--events 1000 --seed 1'`, as root. A guard watches two
files: a queue at the egress of `wan`, and one at its downloads. Devices, queues, redirections,
files and processes then change at random, as on a router: reconnects, SQM's restarts, killed
processes, containers that end. After each event, what runs must be what the files ask for within
`LIMIT_S`, or be paused where its queue was taken. Another device and the queues that others put at
`wan` must stay as they are. The seed determines the order of the events, not their times. `--busy
N` runs N processes that always want a CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from validation.lab.live import Lab, find_obstacle, require_program
from validation.lab.namespaces import BPF_ROOT
from validation.lab.tools import keep_busy

NEAR, FAR, DEVICE, OTHER = "near", "far", "wan", "foreign"
FOLDER = "/etc/mousehole"
MADE = f"ifb-{DEVICE}"
FLOWS = 4_321
LIMIT_S = 10.0
SCHEMES = ("rio-ps", "s-sfd", "droptail")
SHAPER = "tbf rate 3mbit burst 8k limit 99k"

State = dict[str, dict[str, Any]]
Holds = Callable[[State], bool]


@dataclass
class Outcome:
    """The counts of events, the times of wrong states, and the faults."""

    events: Counter[str] = field(default_factory=Counter)
    wrong_s: list[tuple[float, str]] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    leaked: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Returns whether every state was restored, nothing was left over and nothing foreign was changed."""
        return not (self.never or self.foreign or self.leaked)

    def summary(self) -> str:
        """Returns the counts and the longest wrong state as one line."""
        times = sorted(self.wrong_s)
        longest, event = times[-1] if times else (0.0, "none")
        middle = times[len(times) // 2][0] if times else 0.0
        late = sum(seconds >= 1 for seconds, _ in times)
        return (
            f"{self.events.total()} events: wrong state {middle:.2f} s (median), "
            f"longest {longest:.2f} s ({event}), {late} of 1 s or more, {len(self.never)} for ever; "
            f"{len(self.leaked)} tables left over, {len(self.foreign)} foreign changes"
        )

    def table(self) -> str:
        """Returns a text table: for each kind of event its number and the duration of wrong states, s."""
        kinds = sorted({name for _, name in self.wrong_s})
        lines = [f"{'wrong state, s':28}{'times':>6}{'median':>8}{'longest':>8}"]
        for kind in kinds:
            times = sorted(seconds for seconds, name in self.wrong_s if name == kind)
            lines.append(f"{kind:28}{len(times):>6}{times[len(times) // 2]:>8.2f}{times[-1]:>8.2f}")
        return "\n".join(lines)


class World:
    """A router's end of a line, with the guard that watches it."""

    def __init__(self, lab: Lab, draws: random.Random, log: Path) -> None:
        """Creates a foreign device with a queue, writes the guard's files and starts the guard."""
        self.lab, self.draws, self.log = lab, draws, log
        self.process: subprocess.Popen[str] | None = None
        lab.run(NEAR, *shlex.split(f"ip link add {OTHER} type veth peer name {OTHER}-peer"))
        lab.run(NEAR, *shlex.split(f"tc qdisc add dev {OTHER} root handle 7: {SHAPER}"))
        lab.run(NEAR, *shlex.split(f"tc qdisc add dev {OTHER} clsact"))
        self.other = self.look_at_other()
        self.rate, self.scheme = "10mbit", "rio-ps"
        self.write_files()
        self.start()

    # What the files ask for, and what is there.

    def write_files(self) -> None:
        """Writes both files of the guard, each whole, as `persist` does; they ask for `rate` and `scheme`."""
        text = f"mode = 'up'\nrate = '{self.rate}'\nscheme = '{self.scheme}'\nflows = {FLOWS}\n"
        for name, more in ((DEVICE, ""), (MADE, f"download = '{DEVICE}'\n")):
            path = f"{FOLDER}/{name}.toml"
            line = f"printf %s {shlex.quote(text + more)} > {path}.new && mv {path}.new {path}"
            self.lab.run(NEAR, "bash", "-c", line)

    def read_states(self) -> State:
        """Returns the report of `mousehole-live status` for each device, empty if it fails."""
        done = self.lab.live(NEAR, "status", "--json")
        devices = json.loads(done.stdout)["devices"] if done.returncode == 0 else []
        return {one["device"]: one for one in devices}

    def look_at_other(self) -> Any:
        """Returns the queues, filters and programs of the foreign device."""
        seen = self.lab.state(NEAR, OTHER)
        return {name: value for name, value in seen.items() if name.startswith(OTHER)}

    def queues(self) -> str:
        """Returns the queues at the device, as text."""
        return str(self.lab.tc(NEAR, DEVICE, ["qdisc"]))

    def list_folders(self) -> list[str]:
        """Returns the names of the devices of which something is pinned."""
        return self.lab.call(NEAR, "ls", f"{BPF_ROOT}/mousehole").stdout.split()

    def is_right(self, states: State) -> bool:
        """Returns whether both devices run as their files say, and nothing else runs.

        Downloads must be redirected too.
        """
        shown = self.lab.call(NEAR, "tc", "filter", "show", "dev", DEVICE, "ingress").stdout
        return (
            set(states) == {DEVICE, MADE} and all(map(self.runs_as_asked, states.values())) and MADE in shown
        )

    def runs_as_asked(self, one: dict[str, Any]) -> bool:
        """Returns whether a device, given as its status, runs without problems as its file says."""
        wanted = (self.scheme, self.rate)
        return one["state"] == "running" and not one["problems"] and (one["scheme"], one["rate"]) == wanted

    def is_paused(self, states: State) -> bool:
        """Returns whether the queue at the device is paused while downloads are still shaped."""
        if set(states) != {DEVICE, MADE}:
            return False
        return "it is paused" in str(states[DEVICE]["problems"]) and self.runs_as_asked(states[MADE])

    # Processes.

    def start(self) -> None:
        """Starts a guard; its standard error goes to the log."""
        self.process = self.lab.start(NEAR, require_program(), "guard", stderr=self.log.open("a"))

    def kill(self) -> None:
        """Kills the guard, if there is one."""
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def tc(self, line: str) -> None:
        """Runs `tc`, as another program would; raises `RuntimeError` if it fails."""
        self.lab.run(NEAR, "tc", *line.split())

    def renew(self) -> None:
        """Writes files that ask for another rate, so that everything must run whatever the state was."""
        former = self.rate
        while self.rate == former:  # what was taken down by hand stays so until its file changes
            self.rate = f"{self.draws.randint(5, 99)}mbit"
        self.write_files()


def replug(world: World) -> Holds:
    """Deletes the device and makes it again, as `ppp0` does at a reconnect.

    Returns the condition that must hold afterwards.
    """
    lab = world.lab
    lab.call(NEAR, "ip", "link", "del", DEVICE)
    if world.draws.random() < 0.5:
        time.sleep(world.draws.random() * 0.3)
    lab.pair(NEAR, DEVICE, "10.7.0.1/24", FAR, "lan", "10.7.0.2/24")
    return world.is_right


def rename(world: World) -> Holds:
    """Gives the device another name for a moment; returns the condition that must hold afterwards."""
    world.lab.run(NEAR, *shlex.split(f"ip link set {DEVICE} down name away"))
    time.sleep(world.draws.random() * 0.3)
    world.lab.run(NEAR, *shlex.split(f"ip link set away name {DEVICE} up"))
    return world.is_right


def down_and_up(world: World) -> Holds:
    """Sets the device down and up; returns the condition that must hold afterwards."""
    world.lab.run(NEAR, *shlex.split(f"ip link set {DEVICE} down"))
    world.lab.run(NEAR, *shlex.split(f"ip link set {DEVICE} up"))
    return world.is_right


def lose_queue(world: World) -> Holds:
    """Deletes the shaper, as another program might; returns the condition that must hold afterwards."""
    world.tc(f"qdisc del dev {DEVICE} root")
    return world.is_paused


def replace_queue(world: World) -> Holds:
    """Puts a foreign shaper in place of ours; it must stay, by the condition that it returns."""
    world.tc(f"qdisc replace dev {DEVICE} root handle 9: {SHAPER}")
    return lambda states: world.is_paused(states) and "'9:'" in world.queues()


def restart_sqm(world: World) -> Holds:
    """Removes some of redirection, IFB and clsact, as SQM does when it stops.

    Returns the condition that must hold afterwards.
    """
    steps = [
        ("tc", "filter", "del", "dev", DEVICE, "ingress"),
        ("tc", "qdisc", "del", "dev", DEVICE, "clsact"),
        ("ip", "link", "del", MADE),
    ]
    for step in world.draws.sample(steps, world.draws.randint(1, 3)):
        world.lab.call(NEAR, *step)
    return world.is_right


def kill_guard(world: World) -> Holds:
    """Kills the guard, perhaps replugs the device, and starts another guard.

    Returns the condition that must hold afterwards.
    """
    world.kill()
    if world.draws.random() < 0.5:
        replug(world)
    world.start()
    return world.is_right


def kill_command(world: World) -> Holds:
    """Kills a command at a random moment; then the files ask for another rate.

    Returns the condition that must hold afterwards.
    """
    words = world.draws.choice(
        [
            ("down", DEVICE),
            ("up", DEVICE, "--rate", "5mbit"),
            ("tune", MADE, "--rate", "7mbit"),
            ("down", "--all"),
        ]
    )
    process = world.lab.start(NEAR, require_program(), *words)
    time.sleep(world.draws.random() * 0.1)
    process.kill()
    process.communicate()
    # What the command had done by then was asked for by hand.
    world.renew()
    return world.is_right


def kill_on_start(world: World) -> Holds:
    """Kills the guard while it starts the queues of its files, and starts another guard.

    Returns the condition that must hold afterwards.
    """
    world.kill()
    world.lab.call(NEAR, "ip", "link", "del", DEVICE)
    world.lab.pair(NEAR, DEVICE, "10.7.0.1/24", FAR, "lan", "10.7.0.2/24")
    world.start()
    time.sleep(world.draws.random() * 0.2)
    world.kill()
    world.start()
    return world.is_right


def end_container(world: World) -> Holds:
    """Deletes a network namespace with a queue of ours; the next start must remove its pins.

    Its device is also replugged. Returns the condition that must hold afterwards.
    """
    lab, net = world.lab, "container"
    lab.add(net)
    lab.run(net, *shlex.split("ip link add d0 type veth peer name d1"))
    lab.live(net, "up", "d0", "--rate", "3mbit", "--scheme", "rio-ps", "--no-agent", "--flows", str(FLOWS))
    os.close(lab.nets.pop(net))
    lab.run(NEAR, "ip", "netns", "del", net)
    return replug(world)


def change_file(world: World) -> Holds:
    """Changes scheme and rate in the files at random; returns the condition that must hold afterwards."""
    world.scheme = world.draws.choice(SCHEMES)
    world.renew()
    return world.is_right


EVENTS: tuple[Callable[[World], Holds], ...] = (
    replug, rename, down_and_up, lose_queue, replace_queue, restart_sqm, kill_guard, kill_command,
    kill_on_start, end_container, change_file,
)  # fmt: skip


def play(lab: Lab, events: int, seed: int, log: Path, say: Callable[[str], None] = print) -> Outcome:
    """Plays random events in a lab with the namespaces `near` and `far`, joined at `wan`.

    Equal seeds draw equal events. `say` receives progress lines. At the end the guard is killed, and all that
    runs is taken down.
    """
    told, outcome, world = 0, Outcome(), World(lab, random.Random(seed), log)  # noqa: S311
    try:
        settle(world, outcome, "start", world.is_right)
        for at in range(events):
            event = world.draws.choice(EVENTS)
            name = event.__name__
            outcome.events[name] += 1
            settle(world, outcome, name, event(world))
            if world.look_at_other() != world.other:
                outcome.foreign.append(f"{at} {name}: {OTHER} changed")
                world.other = world.look_at_other()
            if event in {lose_queue, replace_queue}:
                # Who took the queue gives it back, and another file starts afresh.
                if "'9:'" in world.queues():
                    world.tc(f"qdisc del dev {DEVICE} root")
                elif event is replace_queue:
                    outcome.foreign.append(f"{at} {name}: the queue of somebody else is gone")
                world.lab.live(NEAR, "down", DEVICE)
                world.renew()
                settle(world, outcome, f"{name} (mended)", world.is_right)
            for line in outcome.never[told:]:
                say(line)
            told = len(outcome.never)
            if at % 100 == 99:
                say(f"{at + 1}: {outcome.summary()}")
        world.kill()
        lab.live(NEAR, "down", "--all")
        outcome.leaked += find_leftovers(lab)
    finally:
        world.kill()
    return outcome


def settle(world: World, outcome: Outcome, name: str, holds: Holds) -> None:
    """Waits until the state is right, and records how long it was wrong.

    A state wrong for `LIMIT_S` is a fault; then the files ask for another rate, and the next event begins
    from that.
    """
    begin = time.monotonic()
    while True:
        states = world.read_states()
        asked = time.monotonic()
        if holds(states) and len(world.list_folders()) == 2:
            outcome.wrong_s.append((asked - begin, name))
            return
        if asked - begin > LIMIT_S:
            problems = {device: (one["state"], one["problems"]) for device, one in states.items()}
            said = world.log.read_text().splitlines()[-12:]
            outcome.never.append("\n  ".join([f"{name}: {problems}, kept {world.list_folders()}", *said]))
            world.renew()
            return
        time.sleep(0.02)


def find_leftovers(lab: Lab) -> list[str]:
    """Returns our pins, maps and programs that remain though nothing runs; waits up to 5 s for the kernel."""
    for _ in range(50):
        found_here = lab.pinned() + lab.owned(FLOWS)
        if not found_here:
            break
        time.sleep(0.1)
    return found_here


def main() -> int:
    """Plays the events that the command line asks for, and prints faults and a table of wrong states.

    Returns 1 if something came wrong, also where it cannot run.
    """
    parser = argparse.ArgumentParser(description="Play random events at devices that a guard keeps.")
    parser.add_argument("--events", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--seed", type=int, default=1, help="which order (default 1)")
    parser.add_argument("--busy", type=int, default=0, help="processes that always want a CPU (default 0)")
    given = parser.parse_args()
    reason = find_obstacle()
    if reason:
        print(f"NOT RUN: {reason}")
        return 1
    with tempfile.TemporaryDirectory() as folder, keep_busy(given.busy), Lab() as lab:
        log = Path(folder) / "guard.log"
        lab.add(NEAR)
        lab.add(FAR)
        lab.pair(NEAR, DEVICE, "10.7.0.1/24", FAR, "lan", "10.7.0.2/24")
        outcome = play(lab, given.events, given.seed, log)
        for line in outcome.never + outcome.foreign + outcome.leaked:
            print(line)
        if not outcome.is_sound:
            print(log.read_text()[-4000:])
    print(outcome.table())
    load = f"{given.busy} busy processes beside it, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"
    print(f"seed {given.seed}, {load}: {outcome.summary()}")
    return 0 if outcome.is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
