"""Prints the parts of a paper's items as JSON lines: `python -m papers sfd --table 4`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from papers import paper
from papers.parts import as_json
from papers.runs import Options, default_cache


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints one line of JSON for each part; returns 0 if the items were run, whatever came out."""
    parser = argparse.ArgumentParser(prog="python -m papers", description=__doc__)
    parser.add_argument("paper", help="the paper's name, as rio-ps, or all")
    for name in ("table", "figure", "claim"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--tried", action="store_true")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--pictures", type=Path, default=Path())
    given = parser.parse_args(arguments)
    wanted = paper.Wanted(
        table=given.table, figure=given.figure, claim=given.claim, tried=given.tried, pictures=given.pictures
    )
    options = Options(
        full=given.full, seeds=given.seeds, jobs=given.jobs, cache=default_cache(), fresh=given.fresh
    )
    for name in paper.names() if given.paper == "all" else [given.paper]:
        for part in paper.find(name).reproduce(wanted, options):
            print(as_json(part), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
