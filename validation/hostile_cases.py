"""The tries of `validation.hostile`: command lines and files by kind, drawn from a seed."""

from __future__ import annotations

import gzip
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

STEERING = (b"\x1b]", b"\x07", "\u202e".encode(), b"\x9b")
"""What must not reach a terminal: an escape that sets titles, a bell, a turn of direction, an 8-bit CSI."""
USAGE = (0, 2)

CSV = "start,client,server,bytes\n" + "".join(
    f"{number * 0.05:.3f},10.0.0.{number % 9},192.0.2.1,{1500 * (1 + number * number % 40)}\n"
    for number in range(200)
)
ZEEK_FIELDS = ("ts", "uid", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "proto", "resp_bytes")
ZEEK = (
    "#separator \\x09\n#fields\t"
    + "\t".join(ZEEK_FIELDS)
    + "\n"
    + "".join(
        f"{1000 + number * 0.1:.3f}\tC{number}\t10.0.0.{number % 5}\t4000\t192.0.2.1\t443\ttcp\t"
        f"{900 + number}\n"
        for number in range(60)
    )
)
ACCESS = "".join(
    f"10.0.0.{number % 7} - - [10/Oct/2026:13:55:{number % 60:02} +0000] "
    f'"GET /{number}.html HTTP/1.1" 200 {900 + number}\n'
    for number in range(60)
)
HAR = '{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"pages":[],"entries":[]}}'
SHORT = [
    "--rate",
    "2mbit",
    "--rtt",
    "40ms",
    "--schemes",
    "droptail,sfd",
    "--seeds",
    "2",
    "--duration",
    "2s",
    "--warmup",
    "0s",
    "--load",
    "0.5",
    "--jobs",
    "1",
]
SCENARIO = """\
scheme = "sfd"
duration = "2s"
warmup = "0s"
seed = 1
[link]
rate = "2mbit"
rtt = "40ms"
buffer = "50p"
[traffic]
model = "web:sfd"
load = 0.5
"""
SWEEP = {
    "traffic": '"web:sfd"',
    "schemes": '["droptail", "sfd"]',
    "seeds": "1",
    "draw_seed": "1",
    "design": '"grid"',
    "options": '{rate = "2mbit", rtt = "40ms", duration = "1s", warmup = "0s"}',
    "axes": "{load = [0.5]}",
}

VALUES = (
    "",
    " ",
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1e-400",
    "99999999999999999999",
    "0x10",
    "1_000",
    "1,2",
    ",",
    ",,",
    "1,1",
    "a",
    "é",
    "中",
    "\u202e",
    "a\u202eb",
    "\x1b]0;x\x07",
    "\x00"[:0] + "\x01",
    "\x9b31m",
    "\n",
    "a\nb",
    "\t",
    "-",
    "--",
    "-x",
    "=",
    "/",
    "/dev/null",
    "/dev/zero/x",
    ".",
    "..",
    "no/such/folder/file",
    "*",
    "$(id)",
    "%s%n",
    "{}",
    "[]",
    "x" * 5000,
    "9" * 5000,
    "sfd(",
    "sfd(th=)",
    "sfd(th=1)|",
    "1mbit",
    "-1mbit",
    "1mbitt",
    "1 mbit",
    "1s",
)
"""What is typed for an option."""
TOML_VALUES = (
    "1",
    "-1",
    "0.5",
    "nan",
    "inf",
    "true",
    "1979-05-27",
    "1979-05-27T07:32:00Z",
    '""',
    '"a"',
    '"\\u202e"',
    '"\\u001b]0;x\\u0007"',
    "[]",
    "[1]",
    '["a"]',
    "[[]]",
    "[{}]",
    "{}",
    "{a = 1}",
    "{a = {b = []}}",
    '["sfd", 1]',
    "9223372036854775807",
    '"' + "x" * 4000 + '"',
)
"""What stands for a field of a file."""


@dataclass(frozen=True)
class Try:
    """One command line with its files."""

    kind: str
    words: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    """Names of files that the command is to write."""
    is_refused: bool = False
    """Whether success would be wrong."""
    statuses: tuple[int, ...] = USAGE


def tries(count: int, seed: int) -> list[Try]:
    """Returns about `count` tries, each kind with its share; the same for the same seed."""
    found = []
    for name, (share, make) in KINDS.items():
        draws = random.Random(f"{seed} {name}")  # noqa: S311 (repeatable)
        found += list(islice(make(name, draws), max(round(count * share), 2)))
    return found


def _compare(*more: str) -> tuple[str, ...]:
    return "compare", "in.csv", *SHORT, *more


def _options(kind: str, draws: random.Random) -> Iterator[Try]:
    """Every option of `compare` with every value, in a random order."""
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
        words = list(_compare())
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


def _capture(draws: random.Random) -> bytes:
    """Returns a capture of one small transfer."""
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


def _mutated(content: bytes, draws: random.Random) -> bytes:
    data = bytearray(content)
    match draws.randrange(8):
        case 0:
            del data[draws.randrange(len(data)) :]
        case 1:
            for _ in range(draws.randrange(1, 30)):
                data[draws.randrange(len(data))] = draws.randrange(256)
        case 2:
            place = draws.randrange(len(data))
            data[place:place] = draws.randbytes(draws.randrange(1, 400))
        case 3:
            first = draws.randrange(len(data))
            del data[first : first + draws.randrange(1, 200)]
        case 4:
            data = bytearray(gzip.compress(bytes(data), mtime=0))
            del data[draws.randrange(2, len(data)) :]
        case 5:
            data = bytearray(bytes(data).replace(b"10.0.0", "\u202e\x1b]0;x\x07".encode()))
        case 6:
            data = bytearray(bytes(data) * draws.randrange(2, 5))
        case _:
            data = bytearray(
                bytes(data).replace(b"\n", draws.choice((b"\r", b"\r\n", b"\n\n", b"\x00", b"")), 20)
            )
    return bytes(data)


def _files(kind: str, draws: random.Random) -> Iterator[Try]:
    """Damaged files of each format, and files that are none, read by several commands."""
    samples: list[Callable[[], bytes]] = [
        CSV.encode,
        ZEEK.encode,
        ACCESS.encode,
        HAR.encode,
        lambda: _capture(draws),
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
        content = draws.choice(others) if draws.random() < 0.1 else _mutated(draws.choice(samples)(), draws)
        command = draws.choice(("inspect", "inspect", "compare"))
        words = (
            _compare()
            if command == "compare"
            else ("inspect", "in.csv", *draws.choice(((), ("--strict",), ("--json", "o.json"))))
        )
        yield Try(kind, words, {"in.csv": content}, outputs=("o.json",))


def _names(kind: str, draws: random.Random) -> Iterator[Try]:
    """Names of files that are odd, long, of other kinds, or that steer a terminal."""
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


def _outputs(kind: str, draws: random.Random) -> Iterator[Try]:
    """Outputs that cannot be written, one or several at once."""
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
        words = list(_compare())
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


def _scenarios(kind: str, draws: random.Random) -> Iterator[Try]:
    """Scenarios with a field of another type, one that is missing, or a line that is broken."""
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


def _sweeps(kind: str, draws: random.Random) -> Iterator[Try]:
    """Descriptions of sweeps with fields of other types."""
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


def _commands(kind: str, draws: random.Random) -> Iterator[Try]:
    """Every command with words that it does not expect."""
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
    "options of compare": (0.34, _options),
    "words of every command": (0.16, _commands),
    "damaged files": (0.16, _files),
    "names of files": (0.06, _names),
    "outputs": (0.04, _outputs),
    "scenarios": (0.12, _scenarios),
    "sweeps": (0.12, _sweeps),
}
"""The share of each kind, and what makes its tries."""
