"""How a scheme is installed on a link: the engine's install plan, and files made of it.

The plan itself, with the commands of tc and of `mousehole-live`, is the engine's
(`compare/src/installing.rs`, `scheme/src/install`), and `mousehole-live` decides by the same code. DEV stands
for the device in front of the bottleneck. A line that begins with # is a remark.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mousehole import _engine
from mousehole._engine import AT_THE_LINE as AT_THE_LINE
from mousehole._engine import TO_CLIENTS as TO_CLIENTS
from mousehole._engine import TO_PROVIDER as TO_PROVIDER
from mousehole._engine import Link as Link
from mousehole.engine_types import InstallPlan, Scenario
from mousehole.runs import Cell, Results
from mousehole.runs import WredProfile as WredProfile
from mousehole.scenario import bottleneck

FIREWALL = (
    "sysctl -q -w net.netfilter.nf_conntrack_acct=1",
    "nft add table inet filter",
    "nft add chain inet filter forward '{ type filter hook forward priority 0; }'",
)
"""What a firewall's rule that counts bytes needs; nothing changes where it is there."""


@dataclass(frozen=True)
class Installation:
    """Where a scheme can be installed, and the lines to type or to configure there."""

    place: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Settings:
    """Everything that installs a scheme in one direction."""

    place: str
    lines: tuple[str, ...]
    """Commands and remarks, as `find_installation` returns them."""
    live: str | None
    """A file for `mousehole-live --config`, whose first line says how it is used; None if it has no part."""
    wred: tuple[WredProfile, ...]
    """The profiles of a router's WRED, best colour first; none for other queues."""
    needs: tuple[str, ...] = ()
    """Kernels and programs that must be there."""
    direction: str = "download"
    """Which direction of the link they are for: `download` or `upload`."""
    back: "Settings | None" = None
    """The same for the other direction, if the scheme is there too."""

    @property
    def directions(self) -> "tuple[Settings, ...]":
        """Returns the settings of each direction, the download first; one entry if `back` is None."""
        return tuple(sorted((self, self.back), key=lambda one: one.direction)) if self.back else (self,)


def find_link(scenario: Scenario, buffer: str, means: Mapping[str, int] | None = None) -> Link | None:
    """Returns the bottleneck of a scenario that is filled in; None if its rate is unknown or varies.

    A rate that varies is allowed behind a shaper at a constant one. `buffer` is that of the cell of the grid,
    such as `50p`, `64kB` or `1bdp`. `means` are the mean rates of a manifest, whose scenario names files
    without folders; without `means`, the files of a rate that varies are read.
    """
    if means is None:
        means = bottleneck.read_mean_rates(scenario) if "shape" in scenario["link"] else {}
    return _engine.find_link(strip_traffic(scenario), buffer, bottleneck.is_up(scenario), means)


def find_link_of_cell(results: Results, cell: Cell) -> Link | None:
    """Returns the bottleneck in a cell of a comparison; None in the cases of `find_link`."""
    return find_link(results.manifest["scenario"], cell.buffer, results.manifest.get("mean_rates", {}))


def strip_traffic(scenario: Scenario) -> Scenario:
    """Returns the scenario with an empty section `traffic`, for callers that ask only about its link.

    The engine does not accept the traffic of a manifest, whose connections are only counted.
    """
    return {**scenario, "traffic": {}}


def find_installation(scheme: str, link: Link | None) -> Installation | None:
    """Returns where and how Linux or a common router installs a scheme; None if neither can.

    The lines of each direction follow a remark on its device. If a shaper before a modem sets the rate, the
    remark also names what was simulated.
    """
    found = link and link.list_lines(scheme)
    return Installation(found[0], tuple(found[1])) if found else None


def find_settings(scheme: str, link: Link | None) -> Settings | None:
    """Returns everything that installs a scheme; None if nothing does.

    If the scheme is at both directions, `back` of the first has the settings of the second.
    """
    found = None
    for way in reversed(link.install(scheme)[0] if link else []):
        found = _make_settings(way, found)
    return found


def _make_settings(way: InstallPlan, back: Settings | None) -> Settings:
    """Returns the settings of one direction from the engine's plan.

    `back` has those of the other direction.
    """
    lists = {"lines": tuple(way["lines"]), "needs": tuple(way["needs"])}
    wred = tuple(WredProfile(**one) for one in way["wred"])
    return Settings(way["place"], live=way["live"], wred=wred, direction=way["direction"], back=back, **lists)


def explain_no_installation(scheme: str, link: Link | None) -> str:
    """Returns a clause on why nothing installs a scheme on the link; empty if something does."""
    return _engine.NO_LINK if link is None else link.install(scheme)[1] or ""


def install_script(found: Settings) -> str:
    """Returns the commands as a shell script that takes the device as its argument.

    Rows that are no command of tc, nft or `mousehole-live` become comments, and DEV becomes the argument. If
    there are commands of nft, those of `FIREWALL` come before all others.
    """
    head = ["#!/bin/sh", "# Usage: install.sh DEVICE, as root."]
    head += [f"# Needs {need}." for need in found.needs]
    head += ["set -eu", 'DEV="${1:?give the device}"']
    lines = [
        line if line.startswith(("tc ", "nft ", "mousehole-live ")) else f"# {line.removeprefix('# ')}"
        for line in found.lines
    ]
    if any(line.startswith("nft ") for line in lines):
        lines = [*FIREWALL, *lines]
    return "\n".join([*head, *(re.sub(r"\bDEV\b", '"$DEV"', line) for line in lines), ""])


def wred_table(profiles: Sequence[WredProfile]) -> str:
    """Returns the profiles as a table in Markdown, in their order, with an explanation of each column."""
    rows = [
        f"| {one.dscp} | {one.min_packets} | {one.max_packets} | {one.probability} "
        f"| 2^-{one.weight_exponent} |"
        for one in profiles
    ]
    return "\n".join(
        ["| DSCP | min | max | probability | weight |", "|---|---|---|---|---|", *rows, "", *WRED_WORDS, ""]
    )


WRED_WORDS = (
    "- DSCP: the packets that the line is for. All lines share one queue and its one average.",
    "- min, max: average length of the queue, in packets. Below min nothing is dropped, from max on all.",
    "- probability: of a drop just below max; it rises in a straight line from 0 at min. Some take its",
    "  reciprocal, the mark probability denominator.",
    "- weight: of the newest length in the average. Most routers take the exponent; some subtract one.",
)
"""What the columns of `wred_table` mean, whoever made the router."""
