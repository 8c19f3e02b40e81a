"""A try of `validation.hostile`, with samples and values that several kinds of tries share."""

from __future__ import annotations

import gzip
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

STEERING = ("\x1b]", "\x07", "\u202e", "\x9b", "\udc9b")
"""What must not reach a terminal: an escape that sets titles, a bell, a turn of direction, an 8-bit CSI.

The last one is the byte of a CSI outside a character of UTF-8.
"""
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
    """One command line with its files, or a piece of Python."""

    kind: str
    words: tuple[str, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    """Names of files that the command is to write."""
    is_refused: bool = False
    """Whether success would be wrong."""
    statuses: tuple[int, ...] = USAGE
    code: str = ""
    """Python that runs in the place of a command line."""
    environment: Mapping[str, str | None] = field(default_factory=dict)
    """Variables that are set, or taken away."""
    limits: tuple[tuple[int, int], ...] = ()
    """Limits of `resource` and their values."""
    kill_after_s: float | None = None
    """When it is killed, to be run again."""


def mutate(content: bytes, draws: random.Random) -> bytes:
    """Returns the content with random damage: cut, overwritten, inserted, deleted, compressed or repeated.

    Advances `draws`. Raises `ValueError` for most damage to empty content.
    """
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
