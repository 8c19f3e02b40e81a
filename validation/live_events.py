"""Random events at devices that a guard keeps: how long the state is wrong, and what is left over.

`make validation WHAT=live_events ARGS='--events 1000 --seed 1'`, as root. A guard keeps two files: a queue
at the egress of `wan`, and one at its downloads. Devices, queues, redirections, files and processes then
change at random, as on a router: reconnects, SQM's restarts, killed processes, containers that end. After
each event, what runs must be what the files ask for within `LIMIT_S`, or be paused where its queue was
taken. Another device and the queues that others put at `wan` must stay as they are. The seed makes the order
of the events, not their times. `--busy N` has N processes that always want a CPU run beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from validation.lab.live import Lab, find_live, find_obstacle
from validation.lab.namespaces import BPF_ROOT, die_with_parent

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
    """What became of the events."""

    events: Counter[str] = field(default_factory=Counter)
    wrong_s: list[tuple[float, str]] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    leaked: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether all came right, nothing was left over and nobody else's was changed."""
        return not (self.never or self.foreign or self.leaked)

    def summary(self) -> str:
        """Returns one line."""
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
        """Returns a line for each kind of event: how often, and how long the state was wrong."""
        kinds = sorted({name for _, name in self.wrong_s})
        lines = [f"{'wrong state, s':28}{'times':>6}{'median':>8}{'longest':>8}"]
        for kind in kinds:
            times = sorted(seconds for seconds, name in self.wrong_s if name == kind)
            lines.append(f"{kind:28}{len(times):>6}{times[len(times) // 2]:>8.2f}{times[-1]:>8.2f}")
        return "\n".join(lines)


class World:
    """A router's end of a line, which a guard keeps."""

    def __init__(self, lab: Lab, draws: random.Random, log: Path) -> None:
        self.lab, self.draws, self.log = lab, draws, log
        self.process: subprocess.Popen[str] | None = None
        lab.run(NEAR, *shlex.split(f"ip link add {OTHER} type veth peer name {OTHER}-peer"))
        lab.run(NEAR, *shlex.split(f"tc qdisc add dev {OTHER} root handle 7: {SHAPER}"))
        lab.run(NEAR, *shlex.split(f"tc qdisc add dev {OTHER} clsact"))
        self.other = self.look_at_other()
        self.rate, self.scheme = "10mbit", "rio-ps"
        self.write()
        self.start()

    # What the files ask for, and what is there.

    def write(self) -> None:
        """Writes both files, as `persist` does: whole."""
        text = f"mode = 'up'\nrate = '{self.rate}'\nscheme = '{self.scheme}'\nflows = {FLOWS}\n"
        for name, more in ((DEVICE, ""), (MADE, f"download = '{DEVICE}'\n")):
            path = f"{FOLDER}/{name}.toml"
            line = f"printf %s {shlex.quote(text + more)} > {path}.new && mv {path}.new {path}"
            self.lab.run(NEAR, "bash", "-c", line)

    def states(self) -> State:
        """Returns what `status` says of each device."""
        done = self.lab.live(NEAR, "status", "--json")
        devices = json.loads(done.stdout)["devices"] if done.returncode == 0 else []
        return {one["device"]: one for one in devices}

    def look_at_other(self) -> Any:
        """Returns all that is at the device of somebody else."""
        seen = self.lab.state(NEAR, OTHER)
        return {name: value for name, value in seen.items() if name.startswith(OTHER)}

    def root(self) -> str:
        """Returns the queues at the device, as text."""
        return str(self.lab.tc(NEAR, DEVICE, ["qdisc"]))

    def places(self) -> list[str]:
        """Returns the folders of devices of which something is kept."""
        return self.lab.call(NEAR, "ls", f"{BPF_ROOT}/mousehole").stdout.split()

    def is_right(self, states: State) -> bool:
        """Returns whether both run as their files say, and nothing else is kept."""
        shown = self.lab.call(NEAR, "tc", "filter", "show", "dev", DEVICE, "ingress").stdout
        return set(states) == {DEVICE, MADE} and all(map(self.runs, states.values())) and MADE in shown

    def runs(self, one: dict[str, Any]) -> bool:
        """Returns whether one runs as its file says."""
        wanted = (self.scheme, self.rate)
        return one["state"] == "running" and not one["problems"] and (one["scheme"], one["rate"]) == wanted

    def is_paused(self, states: State) -> bool:
        """Returns whether the queue at the device is paused and downloads go on."""
        if set(states) != {DEVICE, MADE}:
            return False
        return "it is paused" in str(states[DEVICE]["problems"]) and self.runs(states[MADE])

    # Processes.

    def start(self) -> None:
        """Starts a guard."""
        self.process = self.lab.start(NEAR, find_live(), "guard", stderr=self.log.open("a"))

    def kill(self) -> None:
        """Kills the guard."""
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def tc(self, line: str) -> None:
        """Runs `tc`, as somebody else does."""
        self.lab.run(NEAR, "tc", *line.split())

    def renew(self) -> None:
        """Asks for another rate, after which everything is to run whatever was there before."""
        former = self.rate
        while self.rate == former:  # what was taken down by hand stays so until its file changes
            self.rate = f"{self.draws.randint(5, 99)}mbit"
        self.write()


def replug(world: World) -> Holds:
    """The device goes and comes again, as `ppp0` does after a reconnect."""
    lab = world.lab
    lab.call(NEAR, "ip", "link", "del", DEVICE)
    if world.draws.random() < 0.5:
        time.sleep(world.draws.random() * 0.3)
    lab.pair(NEAR, DEVICE, "10.7.0.1/24", FAR, "lan", "10.7.0.2/24")
    return world.is_right


def rename(world: World) -> Holds:
    """The device gets another name for a moment."""
    world.lab.run(NEAR, *shlex.split(f"ip link set {DEVICE} down name away"))
    time.sleep(world.draws.random() * 0.3)
    world.lab.run(NEAR, *shlex.split(f"ip link set away name {DEVICE} up"))
    return world.is_right


def down_and_up(world: World) -> Holds:
    """The device is set down and up."""
    world.lab.run(NEAR, *shlex.split(f"ip link set {DEVICE} down"))
    world.lab.run(NEAR, *shlex.split(f"ip link set {DEVICE} up"))
    return world.is_right


def lose_queue(world: World) -> Holds:
    """Somebody deletes the shaper."""
    world.tc(f"qdisc del dev {DEVICE} root")
    return world.is_paused


def replace_queue(world: World) -> Holds:
    """Somebody puts a shaper of his own in place of ours; it stays."""
    world.tc(f"qdisc replace dev {DEVICE} root handle 9: {SHAPER}")
    return lambda states: world.is_paused(states) and "'9:'" in world.root()


def restart_sqm(world: World) -> Holds:
    """SQM stops: redirection, IFB and what belongs to both are gone."""
    steps = [
        ("tc", "filter", "del", "dev", DEVICE, "ingress"),
        ("tc", "qdisc", "del", "dev", DEVICE, "clsact"),
        ("ip", "link", "del", MADE),
    ]
    for step in world.draws.sample(steps, world.draws.randint(1, 3)):
        world.lab.call(NEAR, *step)
    return world.is_right


def kill_guard(world: World) -> Holds:
    """The guard is killed, the device perhaps goes meanwhile, and another guard starts."""
    world.kill()
    if world.draws.random() < 0.5:
        replug(world)
    world.start()
    return world.is_right


def kill_command(world: World) -> Holds:
    """A command is killed at some moment."""
    words = world.draws.choice(
        [
            ("down", DEVICE),
            ("up", DEVICE, "--rate", "5mbit"),
            ("tune", MADE, "--rate", "7mbit"),
            ("down", "--all"),
        ]
    )
    process = world.lab.start(NEAR, find_live(), *words)
    time.sleep(world.draws.random() * 0.1)
    process.kill()
    process.communicate()
    # What the command had done by then was asked for by hand.
    world.renew()
    return world.is_right


def kill_on_start(world: World) -> Holds:
    """The guard is killed while it starts what its files say."""
    world.kill()
    world.lab.call(NEAR, "ip", "link", "del", DEVICE)
    world.lab.pair(NEAR, DEVICE, "10.7.0.1/24", FAR, "lan", "10.7.0.2/24")
    world.start()
    time.sleep(world.draws.random() * 0.2)
    world.kill()
    world.start()
    return world.is_right


def end_container(world: World) -> Holds:
    """A network namespace with a queue of ours is deleted; the next start removes what was kept of it."""
    lab, net = world.lab, "container"
    lab.add(net)
    lab.run(net, *shlex.split("ip link add d0 type veth peer name d1"))
    lab.live(net, "up", "d0", "--rate", "3mbit", "--scheme", "rio-ps", "--no-agent", "--flows", str(FLOWS))
    os.close(lab.nets.pop(net))
    lab.run(NEAR, "ip", "netns", "del", net)
    return replug(world)


def change_file(world: World) -> Holds:
    """The files ask for something else."""
    world.scheme = world.draws.choice(SCHEMES)
    world.renew()
    return world.is_right


EVENTS: tuple[Callable[[World], Holds], ...] = (
    replug, rename, down_and_up, lose_queue, replace_queue, restart_sqm, kill_guard, kill_command,
    kill_on_start, end_container, change_file,
)  # fmt: skip


def play(lab: Lab, events: int, seed: int, log: Path, say: Callable[[str], None] = print) -> Outcome:
    """Plays so many events in a lab with the namespaces `near` and `far`, joined at `wan`."""
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
                if "'9:'" in world.root():
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
        outcome.leaked += left_over(lab)
    finally:
        world.kill()
    return outcome


def settle(world: World, outcome: Outcome, name: str, holds: Holds) -> None:
    """Waits until the state is right, and notes how long it was not."""
    begin = time.monotonic()
    while True:
        states = world.states()
        asked = time.monotonic()
        if holds(states) and len(world.places()) == 2:
            outcome.wrong_s.append((asked - begin, name))
            return
        if asked - begin > LIMIT_S:
            problems = {device: (one["state"], one["problems"]) for device, one in states.items()}
            said = world.log.read_text().splitlines()[-12:]
            outcome.never.append("\n  ".join([f"{name}: {problems}, kept {world.places()}", *said]))
            world.renew()
            return
        time.sleep(0.02)


def left_over(lab: Lab) -> list[str]:
    """Returns what is pinned or loaded of ours although nothing runs; the kernel frees it a moment later."""
    for _ in range(50):
        found_here = lab.pinned() + lab.owned(FLOWS)
        if not found_here:
            break
        time.sleep(0.1)
    return found_here


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """Has so many processes want a CPU all the time while the context lasts."""
    words = [sys.executable, "-c", "while True: pass"]
    started = [subprocess.Popen(words, preexec_fn=die_with_parent) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.communicate()


def main() -> int:
    """Plays the events that the command line asks for; returns 1 if something came wrong."""
    parser = argparse.ArgumentParser(description="Play random events at devices that a guard keeps.")
    parser.add_argument("--events", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--seed", type=int, default=1, help="which order (default 1)")
    parser.add_argument("--busy", type=int, default=0, help="processes that always want a CPU (default 0)")
    given = parser.parse_args()
    reason = find_obstacle()
    if reason:
        print(f"NOT RUN: {reason}")
        return 1
    with tempfile.TemporaryDirectory() as folder, busy(given.busy), Lab() as lab:
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
