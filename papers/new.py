"""Creates the folder of a new paper for `mousehole paper new NAME`; all of it runs at once."""

import re
from pathlib import Path

from mousehole.base import MouseholeError

FILES = {
    "paper.toml": """\
# {name}'s experiments as data. What may stand here: papers/README.md.

[paper]
name = "{name}"
title = "Title of the Paper"
authors = "Authors"
source = "where and when it was published"

[quick]
replications = 5
scenario = {{ warmup = "20s", duration = "60s" }}
says = "60 s after 20 s that are not counted"

[full]
replications = 10
says = "what the paper has"

[[open]]
name = "buffer"
taken = "50 packets"
why = "say why"
claims = ["X1"]
tried = [{{ name = "100 packets", change = {{ link = {{ buffer = "100p" }} }} }}]

[axis.scheme]
DT = {{ scheme = "droptail" }}
NEW = {{ scheme = {{ sfd = {{ th = "15kB" }}, priority = {{ colours = 2 }} }} }}

[grid.main]
scenario = "link"
axes = {{ scheme = "all" }}

[[claim]]
id = "X1"
place = "section 1"
says = "short transfers take half as long as under drop-tail"
kind = "value"
grid = "main"
value = "short_s"
of = {{ scheme = "NEW" }}
against = {{ scheme = "DT" }}
change = "ratio"
published = "section_1.ratio"
tolerance = 0.25
digits = 2

[[figure]]
number = 1
title = "mean time by size"
grid = "main"
curves = "scheme"
names = ["DT", "NEW"]
[[figure.panel]]
value = "by_size_s"
x = "size_kb"
xlabel = "size, kB"
ylabel = "mean time, s"
log = "xy"
""",
    "published.toml": """\
# Numbers printed in the paper. Facts only; where each stands is named.

[section_1]
ratio = 0.5
""",
    "scenarios/link.toml": """\
# The paper's network; `mousehole run` takes this file as it is.
schema = "mousehole.scenario/1"
seed = 1
warmup = "20s"
duration = "300s"
scheme = "droptail"

[link]
rate = "5mbit"
rtt = "80ms"
buffer = "50p"

[traffic]
model = "web:sfd"
load = 0.8
""",
    "measures.py": '''\
"""What is measured of a run: from its records to numbers and arrays by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from mousehole.runs import RunResult

SHORT_BYTES = 15_000
EDGES_KB = np.geomspace(1, 1000, 16)


def measure(result: RunResult) -> Mapping[str, Any]:
    """Measures the mean time of short transfers, and of all by size; what did not end is left out."""
    transfers = result.transfers()
    took, size = transfers["end_s"] - transfers["start_s"], transfers["bytes"]
    place = np.digitize(size / 1000, EDGES_KB)
    of_size = [took[(place == one) & np.isfinite(took)] for one in range(1, EDGES_KB.size)]
    return {
        "short_s": np.nanmean(took[size <= SHORT_BYTES]),
        "size_kb": EDGES_KB[:-1],
        "by_size_s": [one.mean() if one.size else np.nan for one in of_size],
    }
''',
    "quantities.py": '"""From what was measured to the numbers that claims speak of."""\n',
    "__init__.py": '"""A paper\'s experiments."""\n',
    "README.md": """\
# {name}

What the paper leaves open, what we assume, what comes out and what does not.
""",
}


def create_paper(name: str, folder: Path) -> str:
    """Writes the folder of a paper of this name into `folder`; returns a text on the next steps.

    Hyphens of the name become underscores. A failed write leaves the files that were written before. Raises
    `MouseholeError` for an invalid name, an existing folder, or a failed write.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise MouseholeError(
            f'new: "{name}": a name has small letters, figures and single hyphens, as rio-ps'
        )
    place = folder / name.replace("-", "_")
    if place.exists():
        raise MouseholeError(f"new: {place} is there already")
    try:
        for file, text in FILES.items():
            path = place / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.format(name=name) if file.endswith((".toml", ".md")) else text, "utf-8")
    except OSError as error:
        raise MouseholeError(f"new: {error.filename}: {error.strerror}") from None
    return (
        f"wrote {place}; it runs as it is: mousehole paper {name} --papers {folder}\n"
        "The paper's network belongs into scenarios/, its numbers into published.toml, its sentences into "
        "paper.toml."
    )
