"""Draws random cases of one TCP flow for `make oracle`: parameters of a_tcp.tcl, by feature."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "oracle" / "tcl" / "a_tcp.tcl"
VARIANTS = {"Tahoe": "tahoe", "Reno": "reno", "Newreno": "newreno", "Sack1": "sack"}
# What is drawn unless one variant is asked for.
DRAWN = ("Reno", "Newreno", "Sack1")

Value = str | int | float


@dataclass(frozen=True)
class Case:
    """One run: the feature that it was drawn for, and its parameters of a_tcp.tcl other than defaults."""

    feature: str
    params: dict[str, Value]

    def get(self, name: str) -> Value:
        """Returns the value of a parameter in this case; raises `KeyError` for an unknown name."""
        return self.params.get(name, DEFAULTS[name])

    def number(self, name: str) -> float:
        """Returns a parameter as a number; the old era fixes some of them, whatever the case says."""
        old = OLD_ERA if self.get("era") == "old" else {}
        return float(old.get(name, self.get(name)))

    def delays_acks(self) -> bool:
        """Returns whether the sink delays ACKs; Sack1's does so only if `delack` is 2."""
        return self.number("delack") > (self.get("variant") == "Sack1")

    def command(self) -> list[str]:
        """Returns the command that plays the case in ns-2."""
        return ["ns", str(SCRIPT), *(f"{name}={value}" for name, value in self.params.items())]


DEFAULTS: dict[str, Value] = {
    "variant": "Newreno",
    "era": "now",
    "n": 100,
    "drops": "-",
    "ackdrops": "-",
    "syn": 0,
    "iw": 2,
    "win": 64,
    "tick": 0.01,
    "rto0": 3.0,
    "minrto": 0.2,
    "qlim": 1000,
    "bw2": 2,
    "d2": 20,
    "delack": 0,
    "size": 1000,
    "seed": 1,
}
# Under which names `summary.json` has the values in force.
IN_FORCE = {
    "syn": "syn",
    "window": "win",
    "tick_s": "tick",
    "iw": "iw",
    "initial_rto_s": "rto0",
    "min_rto_s": "minrto",
    "bottleneck_mbit": "bw2",
    "bottleneck_delay_ms": "d2",
    "buffer": "qlim",
}
OLD_ERA: dict[str, Value] = {"syn": 0, "iw": 1, "tick": 0.1, "rto0": 6.0, "minrto": 1}


def join_indices(indices: Iterable[int]) -> str:
    """Returns packet indices in the form that a_tcp.tcl takes: sorted, "-" for none."""
    return ",".join(map(str, sorted(set(indices)))) or "-"


def draw_scattered(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws losses at random positions among `n` segments and as many retransmissions.

    This and all other functions of `FEATURES` advance `rng` and return the parameters that they set.
    """
    share = rng.choice((0.01, 0.03, 0.1))
    return {"drops": join_indices(i for i in range(2 * n) if rng.random() < share)}


def draw_burst(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws one or two bursts of losses."""
    bursts = rng.choice((1, 1, 2))
    starts = [rng.randrange(max(1, n - 2)) for _ in range(bursts)]
    return {"drops": join_indices(start + k for start in starts for k in range(rng.choice((4, 8))))}


def draw_retransmission(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws a loss, and losses about one window later, where its retransmission is likely to be."""
    first = rng.randrange(n)
    later = first + rng.randint(3, 40)
    return {"drops": join_indices([first, *range(later, later + rng.choice((1, 2, 5, 10)))])}


def draw_avoidance(rng: random.Random, _: int) -> dict[str, Value]:
    """Draws an early loss that ends slow start, and others in congestion avoidance."""
    early = rng.randrange(5, 25)
    return {
        "n": rng.randint(100, 200),
        "drops": join_indices([early, *(rng.randint(50, 180) for _ in range(3))]),
    }


def draw_window(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws a receive window near what recovery needs."""
    return {**draw_scattered(rng, n), "win": rng.randint(2, 12)}


def draw_queue(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws a buffer that overflows."""
    drops = draw_scattered(rng, n) if rng.random() < 0.3 else {}
    return {**drops, "n": rng.randint(40, 200), "qlim": rng.randint(5, 20)}


def draw_delayed(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws delayed ACKs and losses."""
    return {**rng.choice((draw_scattered, draw_burst, draw_retransmission))(rng, n), "delack": 1}


def draw_syn(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws a transfer that begins with a SYN, with losses."""
    return {**rng.choice((draw_scattered, draw_burst, draw_queue))(rng, n), "era": "now", "syn": 1}


def draw_syn_lost(rng: random.Random, _: int) -> dict[str, Value]:
    """Draws the loss of the SYN, and perhaps of later packets."""
    lost = [0, *rng.choice(([], [1], [2, 5], [4], [1, 2, 9]))]
    return {"drops": join_indices(lost), "era": "now", "syn": 1}


def draw_ticks(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws a coarse clock, with losses."""
    return {**rng.choice((draw_scattered, draw_burst))(rng, n), "era": "now", "tick": rng.choice((0.1, 0.5))}


def draw_timers(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws the first and the least RTO, with losses."""
    chosen = {"rto0": rng.choice((1.0, 3.0, 6.0)), "minrto": rng.choice((0.0, 0.2, 1.0))}
    return {**rng.choice((draw_scattered, draw_burst))(rng, n), "era": "now", **chosen}


def draw_acks(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws losses of ACKs, and perhaps of data."""
    share = rng.choice((0.02, 0.1, 0.3))
    lost = join_indices(i for i in range(2 * n) if rng.random() < share)
    return {**(draw_scattered(rng, n) if rng.random() < 0.6 else {}), "ackdrops": lost}


def draw_path(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws the link's rate and delay, with losses."""
    chosen = {"bw2": rng.choice((0.5, 1, 5, 10, 50)), "d2": rng.choice((1, 5, 50, 150))}
    return {**rng.choice((draw_scattered, draw_burst, draw_queue))(rng, n), **chosen}


def draw_long_bursts(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws losses of most or all of a window, and perhaps of its retransmissions."""
    start = rng.randrange(max(1, n - 2))
    lost = [start + k for k in range(rng.choice((12, 16, 24, 40)))]
    return {"drops": join_indices(index for index in lost if rng.random() < rng.choice((0.6, 0.9, 1.0)))}


def draw_repeated(rng: random.Random, _: int) -> dict[str, Value]:
    """Draws repeated losses of the same few segments, so that the timer backs off."""
    n, start = rng.randint(5, 60), rng.randint(1, 30)
    return {
        "n": n,
        "drops": join_indices(
            [*range(start, start + rng.randint(3, 30)), *range(60, 60 + rng.randint(0, 9))]
        ),
    }


def draw_tiny_queue(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws a buffer of a few packets: every window overflows it."""
    drops = draw_scattered(rng, n) if rng.random() < 0.3 else {}
    return {**drops, "n": rng.randint(20, 200), "qlim": rng.randint(2, 10)}


def draw_short_path(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws a round-trip time far below the clock's tick, with losses."""
    chosen = {"bw2": rng.choice((5, 10, 50)), "d2": rng.choice((0.1, 1, 3)), "tick": rng.choice((0.1, 0.5))}
    return {**rng.choice((draw_scattered, draw_burst, draw_queue, draw_acks))(rng, n), **chosen, "era": "now"}


def draw_few(rng: random.Random, _: int) -> dict[str, Value]:
    """Draws a transfer of a few segments, of which any may be lost, most likely the last."""
    n = rng.randint(1, 10)
    ends = {"drops": join_indices([n - 1, *(rng.randrange(n + 2) for _ in range(rng.randint(0, 4)))])}
    return {
        **ends,
        "n": n,
        "delack": rng.choice((0, 0, 1)),
        "syn": rng.choice((0, 1)),
        "win": rng.choice((20, 64)),
    }


def draw_all_at_once(rng: random.Random, n: int) -> dict[str, Value]:
    """Draws settings of all other features together."""
    some = rng.choice(
        (draw_scattered, draw_burst, draw_long_bursts, draw_retransmission, draw_repeated, draw_tiny_queue)
    )(rng, n)
    lossy = draw_acks(rng, n)["ackdrops"] if rng.random() < 0.4 else "-"
    clock = {"tick": rng.choice((0.01, 0.1, 0.5)), "rto0": rng.choice((1.0, 3.0, 6.0))}
    more = {
        "win": rng.choice((4, 10, 20, 20, 64, 200)),
        "delack": rng.choice((0, 1)),
        "syn": rng.choice((0, 1)),
    }
    place = {"bw2": rng.choice((0.3, 2, 3, 7, 20)), "d2": rng.choice((2, 20, 33, 100))}
    return {**some, "ackdrops": lossy, **clock, **more, **place, "minrto": rng.choice((0.0, 0.2, 1.0))}


FEATURES: dict[str, Callable[[random.Random, int], dict[str, Value]]] = {
    "scattered losses": draw_scattered,
    "bursts of 4 and 8": draw_burst,
    "lost retransmission": draw_retransmission,
    "congestion avoidance": draw_avoidance,
    "small window": draw_window,
    "small queue": draw_queue,
    "delayed ACKs": draw_delayed,
    "SYN": draw_syn,
    "SYN lost": draw_syn_lost,
    "coarse ticks": draw_ticks,
    "timer settings": draw_timers,
    "ACKs lost": draw_acks,
    "other paths": draw_path,
    "bursts of 12 to 40": draw_long_bursts,
    "lost again and again": draw_repeated,
    "queue of 2 to 10": draw_tiny_queue,
    "round trip below a tick": draw_short_path,
    "1 to 10 segments": draw_few,
    "all at once": draw_all_at_once,
}


def draw(count: int, seed: int, variants: Sequence[str] = DRAWN) -> list[Case]:
    """Draws `count` cases, with features and variants in turn; equal seeds give equal cases."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    names = list(FEATURES)
    return [
        draw_case(rng, names[k % len(names)], variants[k // len(names) % len(variants)]) for k in range(count)
    ]


def draw_case(rng: random.Random, feature: str, variant: str) -> Case:
    """Draws a case of a feature; settings that the feature does not set are drawn too.

    Advances `rng`. Parameters with their default value are left out.
    """
    n = rng.choice((rng.randint(5, 20), rng.randint(20, 100), rng.randint(100, 200)))
    params: dict[str, Value] = {"variant": variant, "era": rng.choice(("now", "now", "old")), "n": n}
    params |= {"seed": rng.randrange(1, 2**31 - 1), "iw": rng.choice((1, 2, 2, 3, 4))}
    params |= {"syn": int(rng.random() < 0.2)} if params["era"] == "now" else {}
    params |= FEATURES[feature](rng, n)
    if params["era"] == "old":  # a_tcp.tcl sets these itself
        params = {name: value for name, value in params.items() if name not in OLD_ERA}
    if variant == "Sack1" and params.get("delack"):
        params["delack"] = 2
    return Case(feature, {name: value for name, value in params.items() if value != DEFAULTS[name]})
