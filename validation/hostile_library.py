"""Tries of `validation.hostile` that need more than arguments: Python, graphs, formats, headers,
environments, kills.
"""

from __future__ import annotations

import json
import random
import resource
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from validation.hostile_try import CSV, SCENARIO, SHORT, TOML_VALUES, Try, mutate

ROOT = Path(__file__).resolve().parent.parent
FORMATS = ROOT / "sim" / "src" / "traffic" / "read" / "formats"
TEMPLATE = ROOT / "policy" / "templates" / "marker.h"

OPTIONS = (
    "dict(rate='2mbit', rtt='40ms', schemes='droptail,sfd', duration='2s', warmup='0s', seeds=1, load=0.5, "
    "jobs=1)"
)
COLUMNS = (
    "[0.5 * n for n in range(30)]",
    "[f'10.0.0.{n % 5}' for n in range(30)]",
    "[1000 + n for n in range(30)]",
    "[None] * 30",
    "[-1] * 30",
    "[float('nan')] * 30",
    "[float('inf')] * 30",
    "[1 << 62] * 30",
    "[1 << 100] * 30",
    "[[1, 2]] * 30",
    "[{'a': 1}] * 30",
    "[True, False] * 15",
    "[b'\\xff\\x00'] * 30",
    "['\\u202e\\x1b]0;x\\x07'] * 30",
    "['x' * 100_000] * 30",
    "[decimal.Decimal('1.5')] * 30",
    "[datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)] * 30",
    "[datetime.date(1, 1, 1)] * 30",
    "[datetime.timedelta(days=1)] * 30",
    "[object()] * 30",
)
"""What a column of a frame may hold, as Python."""
FRAMES = (
    "polars.DataFrame(columns, strict=False)",
    "polars.DataFrame(columns, strict=False).lazy()",
    "polars.DataFrame(columns, strict=False).head(0)",
    "pandas.DataFrame(columns)",
    "pandas.DataFrame(columns).iloc[:0]",
    "pandas.concat([pandas.DataFrame(columns)] * 2, axis=1)",
    "pandas.DataFrame(columns).set_index('start')",
    "pandas.DataFrame(columns).astype('category')",
    "pyarrow.table(columns)",
    "pyarrow.table(columns).to_reader()",
    "pyarrow.table(columns).to_batches()[0]",
    "duckdb.arrow(pyarrow.table(columns))",
    "duckdb.sql('select 1 as start, 2 as bytes where false')",
    "columns",
    "list(columns)",
    "iter([columns])",
)
PYTHON_VALUES = (
    "None",
    "0",
    "-1",
    "1.5",
    "float('nan')",
    "float('inf')",
    "True",
    "''",
    "'a'",
    "'\\u202e'",
    "b'a'",
    "[]",
    "[1]",
    "['a']",
    "[None]",
    "{}",
    "{'a': 1}",
    "{1: 2}",
    "()",
    "set()",
    "datetime.date(2026, 1, 1)",
    "pathlib.Path('x')",
    "10 ** 30",
    "'x' * 100_000",
    "range(3)",
    "decimal.Decimal(1)",
    "numpy.float64(2)",
    "numpy.arange(3)",
)
"""What stands for a value in Python."""
EVIL = (
    '__asm__ volatile("");',
    'while (1) { __asm__ volatile(""); }',
    "*(volatile int *)0 = 1;",
    "__builtin_trap();",
    "return 77;",
    "return 1u / (u32)(now_ns & 0);",
    "extern void exit(int); exit(0);",
    "extern void abort(void); abort();",
    "static u32 seen; return seen++ % 3;",
    "((u32 *)params)[0] = 5;",
    "((u32 *)flow)[64] = 5;",
    "undeclared(3);",
    "}",
)
"""What stands at the beginning of a policy's packet function."""
BEFORE = (
    "", "", "", "#include \"/dev/zero\"\n", "#include __FILE__\n", "#error no\n", "#include <no/such.h>\n",
    "#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { exit(0); }\n", "\x00\n",
    "\u202e\n",
)  # fmt: skip


def try_frames(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields Python programs that pass data frames of every library with columns of every type.

    Never ends; advances `draws`.
    """
    while True:
        names = [
            "start",
            "client",
            "bytes",
            *draws.sample(["server", "duration", "end", "rtt", "uid", "proto"], 2),
        ]
        sound = [COLUMNS[0], COLUMNS[1], COLUMNS[2]]
        columns = {
            name: sound[place] if place < 3 else draws.choice(COLUMNS) for place, name in enumerate(names)
        }
        for _ in range(draws.randrange(3)):
            columns[draws.choice(names)] = draws.choice(COLUMNS)
        if draws.random() < 0.2:
            del columns[draws.choice(names)]
        made = "{" + ", ".join(f"{name!r}: {values}" for name, values in columns.items()) + "}"
        frame = draws.choice(FRAMES)
        call = draws.choice(("mousehole.inspect(frame)", f"mousehole.compare(frame, **{OPTIONS})"))
        # What the other library itself refuses is not ours.
        yield Try(
            kind,
            code=f"columns = {made}\ntry:\n    frame = {frame}\nexcept Exception:\n    quit_well()\n{call}",
        )


def try_python_scenarios(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields scenarios as dictionaries, and function arguments, with values of wrong types.

    Never ends; advances `draws`.
    """
    plain = tomllib.loads(SCENARIO)
    places = [
        "scheme",
        "duration",
        "warmup",
        "seed",
        "link",
        "traffic",
        "link.rate",
        "link.rtt",
        "link.buffer",
    ]
    places += [
        "traffic.model",
        "traffic.load",
        "traffic.files",
        "traffic.mix",
        "tcp",
        "faults",
        "topology",
        "no such",
    ]
    arguments = ["rate", "rtt", "schemes", "duration", "seeds", "load", "jobs", "buffer", "up", "traffic"]
    while True:
        value = draws.choice(PYTHON_VALUES)
        if draws.random() < 0.6:
            place = draws.choice(places)
            keys = "".join(f"[{key!r}]" for key in place.split("."))
            call = draws.choice(
                ("mousehole.run(plain)", "mousehole.compare(plain, schemes='droptail,sfd', seeds=1, jobs=1)")
            )
            yield Try(kind, code=f"plain = {plain!r}\nplain{keys} = {value}\n{call}")
        else:
            name = draws.choice(arguments)
            call = "mousehole.compare(given.pop('traffic', 'poisson'), **given)"
            yield Try(kind, code=f"given = {OPTIONS}\ngiven[{name!r}] = {value}\n{call}")


def try_graphs(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields topologies with cycles, loops, parallel links, unconnected hosts, no link at all, or very many.

    Never ends; advances `draws`.
    """
    nodes = ["a", "b", "c", "d", "", "web", "\u202e"]
    while True:
        lines = [
            SCENARIO.replace('buffer = "50p"\n', "").replace('[link]\nrate = "2mbit"\nrtt = "40ms"\n', "")
        ]
        lines.append("[topology]")
        if draws.random() < 0.2:
            lines.append("kind = " + draws.choice(('"two-tier"', '"y"', '"tree"', '"no"', "1")))
        chosen = {name: draws.sample(nodes, draws.randrange(3)) for name in ("servers", "clients")}
        lines += [f"{name} = {json.dumps(some)}" for name, some in chosen.items() if draws.random() < 0.6]
        for _ in range(draws.choice((0, 1, 2, 3, 4, 5, 2000))):
            lines += [
                "[[topology.links]]",
                f'from = "{draws.choice(nodes[:6])}"',
                f'to = "{draws.choice(nodes[:6])}"',
            ]
            lines += [f'rate = "{draws.choice(("2mbit", "0", "1gbit"))}"', 'delay = "5ms"']
            if draws.random() < 0.4:
                lines += ['buffer = "50p"', "scheme = true"]
        if draws.random() < 0.5:
            count = draws.choice((0, 1, 5, 10**6, -1))
            lines += [
                "[[topology.hosts]]",
                'name = "h"',
                f'at = "{draws.choice(nodes[:6])}"',
                f"count = {count}",
            ]
            lines += [
                f'role = "{draws.choice(("client", "server", "x"))}"',
                'rate = "10mbit"',
                'delay = "1ms"',
            ]
        yield Try(kind, ("run", "in.toml"), {"in.toml": "\n".join(lines).encode()})


def _make_sample(spec: dict[str, Any]) -> bytes:
    """Returns 40 rows of a log format, `spec`, that a description file defines."""
    values = {
        "start": "1800000000.{n:03}", "end": "1800000001.{n:03}", "duration": "0.5", "source": "10.0.0.{n}",
        "source_port": "4{n:04}", "destination": "192.0.2.1", "destination_port": "443", "protocol": "tcp",
        "service": "http", "flags": "27", "sent": "4{n:03}", "sent_packets": "9", "received": "9{n:03}",
        "received_packets": "9", "total": "13{n:03}", "rtt": "0.02",
    }  # fmt: skip
    rows = range(40)
    fields = {name: text.rstrip("?").split("|")[0] for name, text in spec.get("fields", {}).items()}
    more = dict.fromkeys([need.split("|")[0] for need in spec.get("needs", [])], "x")
    more |= {name: pattern.split("|")[0].strip("!*") for name, pattern in spec.get("only", {}).items()}
    if spec["lines"] == "json":
        objects = ({fields[name]: values[name].format(n=n) for name in fields} | more for n in rows)
        return "".join(json.dumps(one) + "\n" for one in objects).encode()
    space = "," if spec["lines"] == "delimited" else " "
    if spec.get("columns"):
        cells = [column for column in spec["columns"] if column != "..."]
        filled = {
            **values,
            **{name: pattern.split("|")[0] for name, pattern in spec.get("looks", {}).items()},
        }
        lines = []
        for n in rows:
            line = []
            for cell in cells:
                for name, value in filled.items():
                    cell = cell.replace(f"{{{name}}}", value.format(n=n) if name in values else value)
                line.append(cell.replace("{}", "-") or "-")
            lines.append(space.join(line))
        return ("\n".join(lines) + "\n").encode()
    names = [*[part for text in fields.values() for part in text.split("+")], *more]
    head = f"#Fields: {' '.join(names)}" if spec["lines"] == "w3c" else space.join(names)
    cells = [
        [values[name].format(n=n) for name in fields for _ in fields[name].split("+")] + list(more.values())
        for n in rows
    ]
    return "\n".join([head, *(space.join(row) for row in cells), ""]).encode()


HAR = json.dumps(
    {
        "log": {
            "version": "1.2",
            "creator": {"name": "Firefox", "version": "140"},
            "pages": [{"id": "p", "startedDateTime": "2026-05-01T10:00:00Z", "pageTimings": {"onLoad": 900}}],
            "entries": [
                {
                    "pageref": "p",
                    "startedDateTime": f"2026-05-01T10:00:{n:02}.250Z",
                    "time": 50,
                    "serverIPAddress": "192.0.2.1",
                    "request": {
                        "url": "https://a.example/",
                        "httpVersion": "HTTP/2",
                        "headersSize": 9,
                        "bodySize": 0,
                    },
                    "response": {
                        "status": 200,
                        "headersSize": 99,
                        "bodySize": 900,
                        "content": {"size": 3 * n},
                    },
                    "timings": {"blocked": 0, "send": 1, "wait": 5, "receive": 9},
                }
                for n in range(20)
            ],
        }
    },
    indent=0,
)


def try_logs(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields `inspect` on damaged logs of each described format, and on damaged HAR.

    Reads the descriptions of all formats. Never ends; advances `draws`.
    """
    specs = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FORMATS.glob("*.toml"))]
    while True:
        content = HAR.encode() if draws.random() < 0.15 else _make_sample(draws.choice(specs))
        for _ in range(draws.randrange(3)):
            content = mutate(content, draws) or b"x"
        words = draws.choice(
            (
                ("inspect", "in.log"),
                ("inspect", "in.log", "--strict"),
                ("inspect", "in.log", "--payload", "up"),
            )
        )
        yield Try(kind, words, {"in.log": content})


def try_own_formats(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields descriptions of a user's log format with fields of wrong types.

    Never ends; advances `draws`.
    """
    plain = {
        "name": '"shop"', "title": '"Our shop"', "lines": '"delimited"', "row": '"request"', "header": "0",
        "only": '{ state = "done" }',
        "fields": '{ end = "finished", source = "customer", received = "bytes" }',
    }  # fmt: skip
    rows = "customer,finished,state,bytes\n" + "".join(
        f"a{n},18000000{n:02},done,9{n:02}\n" for n in range(40)
    )
    more = (
        "columns",
        "looks",
        "needs",
        "cached",
        "time_unit",
        "duration_unit",
        "dates",
        "after",
        "note",
        "refuse",
        "no_such",
    )
    while True:
        fields = dict(plain)
        name = draws.choice((*plain, *more))
        fields[name] = draws.choice(
            (*TOML_VALUES, '["{start}", "{", "}"]', '{ received = "?" }', '{ a = "!" }')
        )
        if draws.random() < 0.3:
            del fields[draws.choice(sorted(fields))]
        text = "\n".join(f"{key} = {value}" for key, value in fields.items())
        words = ("inspect", "in.csv", "--format", "f.toml")
        yield Try(kind, words, {"in.csv": rows.encode(), "f.toml": text.encode()})


def try_environments(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields commands with odd environment variables and resource limits, without end; advances `draws`."""
    environment: dict[str, tuple[str | None, ...]] = {
        "HOME": (None, "", "/nonexistent", "/dev/null", "in.csv"),
        "TMPDIR": (None, "", "/nonexistent", "in.csv", "/proc"),
        "XDG_CACHE_HOME": (None, "", "/nonexistent", "relative", "/proc"),
        "LC_ALL": ("C", "POSIX", "xx_YY", "tr_TR.UTF-8", "", None),
        "LANG": ("C", "xx", None),
        "TZ": ("Foo/Bar", "", ":", "UTC+25", None),
        "COLUMNS": ("0", "-1", "1", "x", "100000", ""),
        "LINES": ("0", "x"),
        "TERM": ("dumb", "", "no-such", None),
        "NO_COLOR": ("1", ""),
        "FORCE_COLOR": ("1", "3", "x"),
        "PYTHONHASHSEED": ("123",),
        "PATH": ("", "/nonexistent", None),
        "POLARS_MAX_THREADS": ("1", "0", "x"),
        "MPLCONFIGDIR": ("/nonexistent", "/proc"),
    }
    limits = [(resource.RLIMIT_NOFILE, n) for n in (3, 8, 12, 16, 24)]
    limits += [(resource.RLIMIT_FSIZE, n) for n in (4096, 20_000)]
    limits += [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_NPROC, 1)]
    outputs = {"--json": "o.json", "--html": "o.html", "--plot": "o.png", "--save-scenario": "o.toml"}
    while True:
        names = draws.sample(sorted(environment), draws.randrange(1, 4))
        chosen = {name: draws.choice(environment[name]) for name in names}
        option = draws.choice(sorted(outputs))
        words = draws.choice(
            (
                ("inspect", "in.csv"),
                ("compare", "in.csv", *SHORT),
                ("compare", "in.csv", *SHORT, option, outputs[option]),
            )
        )
        few = (draws.choice(limits),) if draws.random() < 0.3 else ()
        yield Try(
            kind, words, {"in.csv": CSV.encode()}, outputs=(outputs[option],), environment=chosen, limits=few,
            statuses=(0, 1, 2),
        )  # fmt: skip


def try_kills(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields commands that are killed at a random moment and then run again.

    Never ends; advances `draws`.
    """
    while True:
        words = (
            "compare",
            "in.csv",
            *SHORT,
            "--json",
            "o.json",
            "--html",
            "o.html",
            "--save-scenario",
            "o.toml",
        )
        yield Try(
            kind, words, {"in.csv": CSV.encode()}, outputs=("o.json", "o.html", "o.toml"),
            kill_after_s=draws.uniform(0.0, 0.8),
        )  # fmt: skip


def try_headers(kind: str, draws: random.Random) -> Iterator[Try]:
    """Yields user-written policy headers that crash, loop, end the process, or do not compile.

    Reads the template of a marker. Never ends; advances `draws`.
    """
    template = TEMPLATE.read_text(encoding="utf-8")
    head, mark, tail = template.partition("_packet(")
    body, brace, rest = tail.partition("\n{\n")
    while True:
        text = draws.choice(BEFORE) + head + mark + body + brace + "\t" + draws.choice(EVIL) + "\n" + rest
        if draws.random() < 0.2:
            text = mutate(text.encode(), draws).decode("utf-8", "replace")
        words = ("compare", "in.csv", *SHORT, "--policy", "placeholder_policy.h")
        place = words.index("droptail,sfd")
        words = (*words[:place], "droptail,placeholder-policy|priority", *words[place + 1 :])
        yield Try(kind, words, {"in.csv": CSV.encode(), "placeholder_policy.h": text.encode()})
