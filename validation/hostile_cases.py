"""The tries of `validation.hostile`: command lines and files by kind, drawn from a seed."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from itertools import islice

from validation import hostile_library as library
from validation.hostile_try import (
    ACCESS,
    CSV,
    HAR,
    SCENARIO,
    SHORT,
    SWEEP,
    TOML_VALUES,
    VALUES,
    ZEEK,
    Try,
    mutate,
)


def draw_tries(count: int, seed: int) -> list[Try]:
    """Draws about `count` tries, in proportion to `KINDS`, at least two of each kind.

    Equal seeds give equal tries.
    """
    found = []
    for name, (share, make) in KINDS.items():
        draws = random.Random(f"{seed} {name}")  # noqa: S311 (repeatable)
        found += list(islice(make(name, draws), max(round(count * share), 2)))
    return found


def _compare_words(*more: str) -> tuple[str, ...]:
    """Returns the arguments of a short `compare` of in.csv, with `more` at the end."""
    return "compare", "in.csv", *SHORT, *more


def _try_options(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields `compare` with each option and each value, in random order; each pair comes once.

    Advances `draws`.
    """
    from mousehole.commands._registry import LoadedCommands

    options = sorted(
        option
        for param in LoadedCommands()["compare"].params
        for option in param.opts
        if option.startswith("--") and not getattr(param, "is_flag", False)
    )
    left_out = ("--dask", "--policy")  # of machines and compilers
    pairs = [(option, value) for option in options if option not in left_out for value in VALUES]
    draws.shuffle(pairs)
    for option, value in pairs:
        words = list(_compare_words())
        if option in words:
            place = words.index(option)
            del words[place : place + 2]
        is_output = option in ("--json", "--html", "--plot", "--heatmap", "--save-scenario")
        yield Try(
            kind,
            (*words, option, value),
            {"in.csv": CSV.encode()},
            is_refused=value == "",
            outputs=(value,) if is_output and "/" not in value else (),
        )


def _draw_capture(draws: random.Random) -> bytes:
    """Draws a pcap file of one small TCP transfer in up to 29 segments; advances `draws`."""
    packets = [struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    sequence = 1
    for number in range(draws.randrange(1, 30)):
        payload = bytes(draws.randrange(1400))
        tcp = struct.pack(">HHIIBBHHH", 443, 5000, sequence, 1, 0x50, 0x10, 1000, 0, 0)
        ip = struct.pack(
            ">BBHHHBBH4s4s",
            0x45,
            0,
            40 + len(payload),
            number,
            0,
            64,
            6,
            0,
            bytes([192, 0, 2, 1]),
            bytes([10, 0, 0, draws.randrange(5)]),
        )
        frame = bytes(12) + b"\x08\x00" + ip + tcp + payload
        packets.append(struct.pack("<IIII", number, 0, len(frame), len(frame)) + frame)
        sequence += len(payload)
    return b"".join(packets)


def _try_files(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields commands that read damaged files of each format, and files of no format.

    Never ends; advances `draws`.
    """
    samples: list[Callable[[], bytes]] = [
        CSV.encode,
        ZEEK.encode,
        ACCESS.encode,
        HAR.encode,
        lambda: _draw_capture(draws),
    ]
    others = [
        b"",
        b"\x00" * 100,
        b"\x1f\x8b",
        b"\xff\xfe",
        b"PAR1",
        b"\n" * 50,
        b"{" * 90_000,
        b"[" * 90_000,
        b"x" * 90_000,
    ]
    while True:
        content = draws.choice(others) if draws.random() < 0.1 else mutate(draws.choice(samples)(), draws)
        command = draws.choice(("inspect", "inspect", "compare"))
        words = (
            _compare_words()
            if command == "compare"
            else ("inspect", "in.csv", *draws.choice(((), ("--strict",), ("--json", "o.json"))))
        )
        yield Try(kind, words, {"in.csv": content}, outputs=("o.json",))


def _try_names(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields commands with file names that are odd, too long, of special files, or control a terminal.

    Never ends; advances `draws`.
    """
    odd = [
        "\x1b]0;x\x07\x1b[31mred.csv",
        "a\u202eb.csv",
        "\x9b31m.csv",
        "-.csv",
        "--help.csv",
        " .csv",
        "a\nb.csv",
        "é中.csv",
        "'.csv",
        '".csv',
        "<script>.csv",
        "=cmd.csv",
        "%s%n.csv",
        "[bold].csv",
        "x" * 250,
    ]
    wrong = [
        "\udcff.csv",
        "x" * 300,
        "no.csv",
        ".",
        "/",
        "loop",
        "gone",
        "/dev/null",
        "",
        "a\udc80b/c.csv",
        "/proc/self/mem",
    ]
    commands = [
        ("inspect",),
        ("compare", *SHORT),
        ("compare", *SHORT, "--json", "-"),
        ("compare", *SHORT, "--html", "o.html"),
        ("run",),
        (
            "tune",
            "--rate",
            "2mbit",
            "--rtt",
            "40ms",
            "--load",
            "0.5",
            "--duration",
            "2s",
            "--warmup",
            "0s",
            "--trials",
            "2",
        ),
        ("sweep",),
        ("show",),
        ("read",),
        ("sweep", "show"),
    ]
    while True:
        words = draws.choice(commands)
        if draws.random() < 0.5:
            name = draws.choice(wrong)
            yield Try(
                kind,
                (*words, name),
                {"in.csv": CSV.encode()},
                {"loop": "loop", "gone": "nothing"},
                is_refused=True,
                outputs=("o.html",),
            )
        else:
            name = draws.choice(odd)
            yield Try(kind, (*words, f"./{name}"), {name: CSV.encode()}, outputs=("o.html",))


def _try_outputs(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields commands whose outputs cannot be written, one or several at once.

    Never ends; advances `draws`.
    """
    bad = [
        "/dev/full",
        "no/o{}",
        "folder-of-root/o{}",
        "/proc/o{}",
        "/sys/o{}",
        "x" * 300 + "{}",
        "loop/o{}",
        ".",
        "/",
        "in.csv",
        "",
    ]
    options = {"--json": ".json", "--html": ".html", "--plot": ".png", "--save-scenario": ".toml"}
    while True:
        words = list(_compare_words())
        chosen = draws.sample(sorted(options), draws.randrange(1, 4))
        target = draws.choice(bad).replace("{}", options[chosen[0]])
        words += [chosen[0], target]
        written = []
        for option in chosen[1:]:
            written.append(f"o{options[option]}")
            words += [option, written[-1]]
        yield Try(
            kind,
            tuple(words),
            {"in.csv": CSV.encode()},
            {"loop": "loop"},
            is_refused=True,
            outputs=() if target == "/dev/full" else tuple(written),
        )


def _try_scenarios(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields scenarios with a field of a wrong type, a missing line or a broken one.

    Never ends; advances `draws`.
    """
    while True:
        lines = SCENARIO.splitlines()
        for _ in range(draws.randrange(1, 3)):
            place = draws.randrange(len(lines))
            name = lines[place].partition(" = ")[0]
            match draws.randrange(5):
                case 0:
                    del lines[place]
                case 1:
                    lines[place] = lines[place][: draws.randrange(len(lines[place]) + 1)]
                case _ if not name.startswith("["):
                    lines[place] = f"{name} = {draws.choice(TOML_VALUES)}"
                case _:
                    lines[place] = f"{name.strip('[]')} = {draws.choice(TOML_VALUES)}"
        words = draws.choice(
            (
                ("run", "in.toml"),
                ("run", "in.toml", "--json", "o.json"),
                ("compare", "in.toml", "--schemes", "droptail,sfd", "--seeds", "1", "--jobs", "1"),
            )
        )
        yield Try(kind, words, {"in.toml": "\n".join(lines).encode()}, outputs=("o.json",))


def _try_sweeps(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields sweep files with fields of wrong types, odd axes or odd traffic.

    Never ends; advances `draws`.
    """
    axes = ("load", "rate", "buffer", "traffic.mix", "traffic", "scheme", "sfd.th", "seed", "link", "no.such")
    traffics = ('"no.csv"', '"."', '"/dev/zero"', '""', '["in.csv", "no.csv"]', '"in.csv"', '"loop"')
    while True:
        fields = dict(SWEEP)
        match draws.randrange(4):
            case 0:
                fields[draws.choice(sorted(fields))] = draws.choice(TOML_VALUES)
            case 1:
                fields["axes"] = f'{{"{draws.choice(axes)}" = [{draws.choice(TOML_VALUES)}]}}'
            case 2:
                fields["traffic"] = draws.choice(traffics)
            case _:
                del fields[draws.choice(sorted(fields))]
                fields[draws.choice((*sorted(fields), "policy", "cells", "schema", "other"))] = draws.choice(
                    TOML_VALUES
                )
        text = "\n".join(f"{name} = {value}" for name, value in fields.items())
        words = ("sweep", "in.toml", *draws.choice((("--dry-run",), ("--out", "found"), ())))
        yield Try(kind, words, {"in.toml": text.encode(), "in.csv": CSV.encode()}, {"loop": "loop"})


def _try_commands(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields every command with unexpected arguments, without end; advances `draws`."""
    commands = (
        "inspect",
        "compare",
        "run",
        "schemes",
        "show",
        "tune",
        "sweep",
        "paper",
        "policy",
        "completion",
        "help",
        "days",
        "",
    )
    more = (
        "--json",
        "--html",
        "--rate",
        "--no-such",
        "-h",
        "in.csv",
        "web:sfd",
        "home",
        "in.toml",
        "--scheme",
        "sfd",
        *VALUES,
    )
    while True:
        words = [draws.choice(commands), *draws.choices(more, k=draws.randrange(1, 4))]
        if words[0] == "paper" or ("tune" in words and "web:sfd" in words):
            continue  # they work, for minutes
        yield Try(
            kind,
            tuple(word for word in words if word),
            {"in.csv": CSV.encode(), "in.toml": SCENARIO.encode()},
        )


KINDS: dict[str, tuple[float, Callable[[str, random.Random], Iterator[Try]]]] = {
    "options of compare": (0.30, _try_options),
    "words of every command": (0.15, _try_commands),
    "damaged files": (0.11, _try_files),
    "damaged logs of all formats": (0.10, library.try_logs),
    "formats of one's own": (0.04, library.try_own_formats),
    "names of files": (0.05, _try_names),
    "outputs": (0.03, _try_outputs),
    "scenarios": (0.06, _try_scenarios),
    "scenarios and arguments in Python": (0.05, library.try_python_scenarios),
    "sweeps": (0.05, _try_sweeps),
    "graphs": (0.02, library.try_graphs),
    "frames": (0.035, library.try_frames),
    "environment and limits": (0.025, library.try_environments),
    "kills": (0.01, library.try_kills),
    "headers of one's own": (0.01, library.try_headers),
}
"""The share of each kind, and what makes its tries."""
