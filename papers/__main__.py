"""Prints the parts of a paper's items as JSON lines: `python -m papers sfd --table 4`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from papers import paper
from papers.command import list_papers_with_claims
from papers.definition import TAKEN
from papers.parts import to_json
from papers.runs import Options, default_cache


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the wanted items and prints one line of JSON for each part; returns 0, whatever came out.

    Figures are written into the folder `--pictures`. Raises `MouseholeError` for an unknown name,
    `SystemExit` for an unknown option. `arguments` are those of the process by default.
    """
    parser = argparse.ArgumentParser(prog="python -m papers", description=__doc__)
    parser.add_argument("paper", help="the paper's name, as rio-ps, or all")
    for name in ("table", "figure", "claim", "section"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--tried", action="store_true")
    parser.add_argument("--reading", default=TAKEN)
    parser.add_argument("--readings", action="store_true")
    for name in ("seed", "seeds", "settle"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--pictures", type=Path, default=Path())
    given = parser.parse_args(arguments)
    wanted = paper.Wanted(
        table=given.table, figure=given.figure, claim=given.claim, section=given.section, tried=given.tried,
        readings=given.readings, pictures=given.pictures,
    )  # fmt: skip
    options = Options(
        full=given.full, reading=given.reading, seed=given.seed, seeds=given.seeds, settle=given.settle,
        jobs=given.jobs, cache=default_cache(), fresh=given.fresh,
    )  # fmt: skip
    for one in list_papers_with_claims() if given.paper == "all" else [paper.find_paper(given.paper)]:
        for part in one.reproduce(wanted, options):
            print(to_json(part), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
