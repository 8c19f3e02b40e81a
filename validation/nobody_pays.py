"""Writes docs/nobody-pays.md: the gain of a marker before CAKE for pages, and its price for calls and games.

Every case is a line with the traffic of a household or a small office on it: pages, long transfers,
logins, calls, games, a video call, a tunnel. Plain CAKE is the reference of all figures. The
settings of the marker are searched on one half of the cases (`--search`) and judged on the other
half. `make validation WHAT=nobody_pays` judges and renews the page.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mousehole.base import counted

from tools import document
from validation.negatives import format_percent

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "nobody-pays.md"
TARGET = "validation WHAT=nobody_pays"
CAKE = "cake"
TINS = "|cake(tins=bulk)"
SWARM_HOST = 5000
"""The number of a client host that shares files and does nothing else."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A line and its traffic. Rates are in bit/s; a flow of datagrams has a rate and a packet size."""

    name: str
    rate: float
    rtt: str
    web: str
    load: float
    logins: int = 0
    downloads: int = 0
    calls: int = 0
    games: tuple[int, float, int] | None = None
    """Number, rate, and IP length of a packet."""
    video: float | None = None
    tunnel: float | None = None
    swarm: tuple[int, float, int] | None = None
    """Slow flows of datagrams of one host, as of a file-sharing program: number, rate, IP length."""
    is_swarm_beside: bool = False
    """Whether that host is the one that calls and plays, too; else it does nothing else."""

    def text(self, duration: str, warmup: str) -> str:
        """Returns the scenario in TOML; its lengths are texts such as `60s`."""
        parts = [
            f'scheme = "droptail"\nwarmup = "{warmup}"\nduration = "{duration}"\n'
            '[tcp]\nprofile = "linux"\n[link]\n'
            f'rate = "{self.rate:.0f}bit"\nrtt = "{self.rtt}"\nbuffer = "200p"\n',
            f'[[traffic.mix]]\nname = "pages"\nmodel = "{self.web}"\nload = {self.load}\n',
        ]
        if self.logins:
            parts.append(f'[[traffic.mix]]\nname = "logins"\nmodel = "telnet"\ncount = {self.logins}\n')
        if self.calls:
            parts.append(f'[[traffic.mix]]\nname = "calls"\nmodel = "voip"\ncount = {self.calls}\n')
        if self.games:
            parts.append(_datagram_section("games", *self.games))
        if self.video:
            parts.append(_datagram_section("video", 1, self.video, 1100))
        if self.tunnel:
            parts.append(_datagram_section("tunnel", 1, self.tunnel, 1300))
        if self.swarm:
            host = 0 if self.is_swarm_beside else SWARM_HOST
            parts.append(_datagram_section("swarm", *self.swarm, f", hosts = 1, first_host = {host}"))
        if self.downloads:
            parts.append(f"[traffic.bulk]\nflows = {self.downloads}\n")
        return "\n".join(parts)


def _datagram_section(name: str, count: int, rate: float, packet: int, more: str = "") -> str:
    """Returns the TOML section of flows of datagrams at a rate in bit/s and a packet size in bytes.

    `more` are further parameters as TOML, beginning with a comma.
    """
    values = f"flows = {count}, rate_bps = {rate:.1f}, packet_bytes = {packet}{more}"
    return f'[[traffic.mix]]\nname = "{name}"\nmodel = "udp"\nparams = {{ {values} }}\n'


CHOOSING = (
    Line("uplink, 1.5 Mb/s", 1.5e6, "50ms", "web:sfd", 0.4, calls=1, games=(1, 60e3, 120), video=300e3,
         tunnel=60e3),
    Line("DSL, 4 Mb/s", 4e6, "45ms", "web:http2", 0.55, logins=4, calls=2, games=(1, 60e3, 150), video=500e3,
         tunnel=150e3),
    Line("home, 12 Mb/s", 12e6, "35ms", "web:packmime", 0.5, logins=4, downloads=2, calls=2,
         games=(2, 70e3, 140), video=1.2e6, tunnel=800e3),
    Line("home, 25 Mb/s", 25e6, "40ms", "web:sfd", 0.6, logins=4, downloads=1, calls=4,
         games=(2, 60e3, 130), video=2.5e6, tunnel=2e6),
    Line("office, 8 Mb/s", 8e6, "60ms", "web:rio-ps", 0.75, logins=6, calls=4),
    Line("uplink with file sharing, 3 Mb/s", 3e6, "50ms", "web:sfd", 0.4, logins=2, calls=1,
         games=(1, 60e3, 120), swarm=(40, 40e3, 400), is_swarm_beside=True),
    Line("home with much file sharing, 20 Mb/s", 20e6, "35ms", "web:http2", 0.5, logins=4, calls=2,
         games=(1, 70e3, 140), video=1.5e6, swarm=(200, 50e3, 500)),
)  # fmt: skip
"""The cases on which the settings were chosen."""
HELD_OUT = (
    Line("uplink, 1 Mb/s", 1e6, "40ms", "web:sfd", 0.35, calls=1, games=(1, 50e3, 125), video=200e3),
    Line("uplink, 5 Mb/s", 5e6, "30ms", "web:packmime", 0.4, logins=2, downloads=1, calls=2,
         games=(1, 64e3, 160), video=1.5e6, tunnel=400e3),
    Line("DSL, 3 Mb/s", 3e6, "60ms", "web:rio-ps", 0.6, logins=4, calls=2, games=(1, 80e3, 180),
         video=350e3, tunnel=120e3),
    Line("home, 8 Mb/s", 8e6, "50ms", "web:http2", 0.6, logins=4, downloads=2, calls=2,
         games=(2, 51e3, 110), video=800e3, tunnel=300e3),
    Line("home, 16 Mb/s", 16e6, "30ms", "web:sfd", 0.55, logins=6, downloads=3, calls=3,
         games=(2, 80e3, 160), video=2e6, tunnel=1e6),
    Line("home, 50 Mb/s", 50e6, "25ms", "web:http2", 0.6, logins=6, downloads=2, calls=6,
         games=(3, 80e3, 160), video=2.5e6, tunnel=3e6),
    Line("office, 15 Mb/s", 15e6, "50ms", "web:rio-ps", 0.8, logins=8, calls=8, tunnel=600e3),
    Line("home with file sharing, 10 Mb/s", 10e6, "40ms", "web:sfd", 0.5, logins=4, calls=2,
         games=(1, 60e3, 140), swarm=(60, 60e3, 600)),
    Line("home with much file sharing, 30 Mb/s", 30e6, "45ms", "web:packmime", 0.5, logins=4, downloads=1,
         calls=3, games=(1, 60e3, 150), video=2e6, swarm=(200, 50e3, 700)),
)  # fmt: skip
"""The cases on which they are judged."""


@dataclass(frozen=True)
class Figure:
    """A figure of a case: a role of transfers, or a quantity of an application; and its allowed harm."""

    name: str
    group: str
    what: str
    allowed: float
    is_relative: bool
    unit: str = "ms"

    def harm(self, change: Change) -> float:
        """Returns by how much the figure is worse, in the unit of `allowed`; negative if it is better.

        That is a relative change, or a difference of the values in their own unit.
        """
        return change.relative if self.is_relative else change.value - change.reference


@dataclass(frozen=True)
class Change:
    """A figure under a scheme and under CAKE, and the relative change with its 95 % interval."""

    value: float
    reference: float
    relative: float
    low: float | None
    high: float | None


FIGURES = (
    Figure("short transfers", "short", "", 0.10, True),
    Figure("pages", "pages", "page_mean_s", 0.10, True),
    Figure("long transfers", "long", "", 0.10, True),
    Figure("logins", "logins", "response_mean_s", 0.10, True),
    *(
        Figure(f"{name} p95", name, "delay_p95_s", late, False)
        for name, late in (("calls", 0.010), ("games", 0.005), ("video", 0.010), ("tunnel", 0.010))
    ),
    *(
        Figure(f"{name} lost", name, "loss_share", 0.005, False, "%")
        for name in ("calls", "games", "video", "tunnel", "swarm")
    ),
)
"""What is looked at in every case, and by how much it may be worse than under plain CAKE."""

Found = dict[str, dict[str, Change]]
"""Changes by scheme and name of the figure."""


@dataclass(frozen=True)
class Size:
    """The length and number of replications of each case."""

    seeds: int
    duration: str
    warmup: str

    @property
    def text(self) -> str:
        """Returns the size as a phrase."""
        return f"{self.seeds} replications of {self.duration} after {self.warmup} of warm-up"


SEARCH = Size(8, "60s", "15s")
QUICK = Size(6, "60s", "15s")
FULL = Size(20, "300s", "60s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Searches the settings and prints them, or judges the chosen ones and renews the page.

    Returns 0; ends the program if a comparison fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--search", action="store_true", help="search on the choosing cases; writes no page")
    parser.add_argument("--settings", nargs="*", help="settings to search instead of the grid")
    parser.add_argument("--full", action="store_true", help=f"{FULL.text}, not {QUICK.text}")
    options = parser.parse_args(arguments)
    if options.search:
        settings = options.settings or list(list_settings())
        for line in search(settings):
            print(line)
        return 0
    size = FULL if options.full else QUICK
    chosen, held_out = (compare_cases(lines, JUDGED, size) for lines in (CHOOSING, HELD_OUT))
    document.renew(DOCUMENT, TARGET, write_body(chosen, held_out, size))
    print(f"{TARGET}: wrote {DOCUMENT.name}")
    return 0


def list_settings() -> Iterable[str]:
    """Yields the settings of the search: those that differ from the defaults in one or two parameters."""
    for th, datagrams in itertools.product(("15kB", "20kB", "30kB"), ("1mbit", "2mbit", "4mbit", "10%")):
        yield f"excess(th={th},datagrams={datagrams})"
    for other in (
        "th=60kB", "th=300kB", "rate=80kbit", "rate=320kbit", "timeout=3s", "latch=false",
        "datagrams=800gbit",
    ):  # fmt: skip
        yield f"excess({other})"
    for burst, share in itertools.product(("60kB", "250kB"), ("20%", "30%", "40%", "50%")):
        yield f"excess|policer(packets=datagrams,high_rate={share},med_rate=100%,burst={burst})"
    for other in ("th=15kB", "th=30kB", "rate=80kbit", "datagrams=2mbit"):
        yield f"excess(levels=three,{other})|cake(tins=colour)"
    yield "excess-budget-cake"


def search(settings: Sequence[str]) -> list[str]:
    """Returns a line for each setting, best first: its broken limits and its mean changes.

    The best breaks the fewest limits; then the change of short transfers decides. Runs a comparison for each
    case; ends the program if one fails.
    """
    schemes = {setting: setting if "cake" in setting else f"{setting}{TINS}" for setting in settings}
    found = compare_cases(CHOOSING, list(schemes.values()), SEARCH)
    rows: list[tuple[int, float, float, float, str, list[str]]] = []
    for setting, scheme in schemes.items():
        changes = {line: found_here[scheme] for line, found_here in found.items()}
        broken = [f"{line}: {what}" for line, one in changes.items() for what in list_broken_limits(one)]
        short, pages, long = (mean_change(changes.values(), what) for what in MEANS)
        rows.append((len(broken), short, pages, long, setting, broken))
    return [
        f"{number} broken, short {format_percent(short)} %, pages {format_percent(pages)} %, "
        f"long {format_percent(long)} %: "
        f"{setting}  {'; '.join(broken)}"
        for number, short, pages, long, setting, broken in sorted(rows)
    ]


MEANS = ("short transfers", "pages", "long transfers")
"""The figures whose mean over the cases is shown."""


def mean_change(cases: Iterable[Mapping[str, Change]], what: str) -> float:
    """Returns the geometric mean of a figure's changes over the cases that have it.

    At least one case must have it; raises `ZeroDivisionError` otherwise.
    """
    return geometric_mean(case[what].relative for case in cases if what in case)


def geometric_mean(changes: Iterable[float]) -> float:
    """Returns the geometric mean of relative changes.

    There must be at least one, and none of −100 % or less.
    """
    logs = [math.log1p(change) for change in changes]
    return math.expm1(sum(logs) / len(logs))


def compare_cases(lines: Sequence[Line], schemes: Sequence[str], size: Size) -> dict[str, Found]:
    """Returns for each case, by the name of its line, the changes of each scheme against plain CAKE.

    Prints the name of each to standard error.
    """
    found = {}
    for line in lines:
        print(f"nobody_pays: {line.name}", file=sys.stderr, flush=True)
        found[line.name] = compare_case(line, schemes, size)
    return found


def compare_case(line: Line, schemes: Sequence[str], size: Size) -> Found:
    """Runs one case under plain CAKE and the schemes, and returns the changes of each scheme.

    Ends the program if the command fails.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(line.text(size.duration, size.warmup))
        file.flush()
        return compare_with_cake([file.name, "--seeds", str(size.seeds)], schemes, FIGURES)


def compare_with_cake(case: Sequence[str], schemes: Sequence[str], figures: Sequence[Figure]) -> Found:
    """Runs `compare` with the arguments `case`, under plain CAKE and the schemes.

    Returns the changes of each scheme but CAKE; ends the program if the command fails.
    """
    command = [
        str(Path(sys.executable).parent / "mousehole"), "compare", *case,
        "--baseline", CAKE, "--schemes", ",".join([CAKE, *schemes]), "--json", "-",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ)
    if done.returncode:
        raise SystemExit(f"{case[0]} ended with {done.returncode}: {done.stderr.strip()}")
    (cell,) = json.loads(done.stdout)["cells"]
    values = {row["scheme"]: row for row in cell["schemes"]}
    return {
        scheme: list_changes(values[scheme], values[CAKE], figures) for scheme in values if scheme != CAKE
    }


def list_changes(row: Json, reference: Json, figures: Sequence[Figure]) -> dict[str, Change]:
    """Returns by name the changes of a scheme against CAKE, for those figures that both have.

    A change that is unknown counts as 0.
    """
    found = {}
    for figure in figures:
        value, base = _find_figure(row, figure), _find_figure(reference, figure)
        if value is None or base is None or value["value"] is None or base["value"] is None:
            continue
        relative = value["change"] if value["change"] is not None else 0.0
        found[figure.name] = Change(value["value"], base["value"], relative, value["low"], value["high"])
    return found


def _find_figure(row: Json, figure: Figure) -> Json | None:
    """Returns value, change and interval of a figure in a scheme's part of the JSON, None without it."""
    if not figure.what:
        rows = [one for one in row["buckets"] if one["role"] == figure.group]
        value, change = "response_mean_s", "response_mean_change"
    else:
        rows = [one for one in row["groups"] if (one["group"], one["what"]) == (figure.group, figure.what)]
        value, change = "value", "change"
    if not rows:
        return None
    return {
        "value": rows[0][value], "change": rows[0][change],
        "low": rows[0][f"{change}_low"], "high": rows[0][f"{change}_high"],
    }  # fmt: skip


def breaks(figure: Figure, found: Mapping[str, Change]) -> bool:
    """Returns whether the mean of a figure is worse than allowed; `found` must have the figure."""
    return figure.harm(found[figure.name]) > figure.allowed


def list_broken_limits(found: Mapping[str, Change]) -> list[str]:
    """Returns the figures that are worse than allowed, each with its change, as text."""
    return [
        f"{figure.name} {format_change(figure, found[figure.name])}"
        for figure in FIGURES
        if figure.name in found and breaks(figure, found)
    ]


def format_change(figure: Figure, change: Change) -> str:
    """Returns a change as text: relative with its interval, or as the values before and after."""
    interval = ""
    if change.low is not None and change.high is not None:
        interval = f" ({format_percent(change.low)}…{format_percent(change.high)})"
    if figure.is_relative:
        return f"{format_percent(change.relative)} %{interval}"
    if figure.unit == "%":
        return f"{100 * change.reference:.2g} → {100 * change.value:.2g} %"
    return f"{1000 * change.reference:.3g} → {1000 * change.value:.3g} ms{interval}"


SFD = f"sfd(th=30kB){TINS}"
NAMES = {
    "excess-cake": "`excess-cake`", "excess-tins-cake": "`excess-tins-cake`",
    "excess-budget-cake": "`excess-budget-cake`", SFD: "`sfd(th=30kB)`", "ct-cake": "`ct-cake`",
}  # fmt: skip
"""The marker before CAKE in three forms, and what was recommended before; with the names on the page."""
JUDGED = tuple(NAMES)


def write_body(chosen: Mapping[str, Found], held_out: Mapping[str, Found], size: Size) -> str:
    """Returns the generated part of the page."""
    parts = ["\n", document.wrap(f"Each case: {size.text}. {NOTE}"), "\n"]
    for title, found in (("Cases not used for the choice", held_out), ("Cases used for the choice", chosen)):
        parts += [f"\n### {title}\n\n", document.table(SUMMARY, list_summary_rows(found))]
        for line, schemes in found.items():
            parts += [f"\n**{line}**: {describe_traffic(line)}\n\n", document.table(*list_case_rows(schemes))]
    return "".join(parts)


NOTE = (
    "Means are against plain CAKE on the same traffic; in brackets are 95 % intervals of the change. Bold is "
    "worse than the limits allow, by the mean."
)
SUMMARY = ("marker", "short transfers", "pages", "long transfers", "limits broken", "of them datagrams")


def list_summary_rows(found: Mapping[str, Found]) -> list[list[str]]:
    """Returns a row for each scheme: mean changes over the cases, and the numbers of broken limits."""
    rows = []
    for scheme in JUDGED:
        cases = [schemes[scheme] for schemes in found.values()]
        means = [f"{format_percent(mean_change(cases, what))} %" for what in MEANS]
        broken = [
            figure for case in cases for figure in FIGURES if figure.name in case and breaks(figure, case)
        ]
        late = sum(not figure.is_relative for figure in broken)
        rows.append([NAMES[scheme], *means, str(len(broken)), str(late)])
    return rows


def describe_traffic(name: str) -> str:
    """Returns the traffic of the line of this name as a phrase; raises `ValueError` for an unknown name."""
    (line,) = [line for line in (*CHOOSING, *HELD_OUT) if line.name == name]
    beside = ", which calls and plays as well" if line.is_swarm_beside else ""
    games = line.games and f"{counted(line.games[0], 'game')} of {line.games[1] / 1e3:.0f} kb/s"
    parts = [
        f"{line.web} at {100 * line.load:.0f} %, RTT {line.rtt}",
        line.downloads and counted(line.downloads, "endless download"),
        line.logins and counted(line.logins, "login"),
        line.calls and counted(line.calls, "call"),
        games,
        line.video and f"video of {line.video / 1e6:g} Mb/s",
        line.tunnel and f"a tunnel of {line.tunnel / 1e6:g} Mb/s",
        line.swarm and f"{line.swarm[0]} flows of {line.swarm[1] / 1e3:.0f} kb/s of one host{beside}",
    ]
    return ", ".join(part for part in parts if part)


def list_case_rows(schemes: Found) -> tuple[list[str], list[list[str]]]:
    """Returns header and rows of a case's table: a row for each figure, a column for each scheme."""
    rows = []
    for figure in FIGURES:
        row = [figure.name]
        for scheme in JUDGED:
            change = schemes[scheme].get(figure.name)
            words = "–" if change is None else format_change(figure, change)
            row.append(f"**{words}**" if change and breaks(figure, schemes[scheme]) else words)
        if any(cell != "–" for cell in row[1:]):
            rows.append(row)
    return ["", *(NAMES[scheme] for scheme in JUDGED)], rows


if __name__ == "__main__":
    sys.exit(main())
