"""Prints the parts of one table or figure as JSON lines: `python -m papers sfd --table 4`."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from papers.paper import Paper, as_json


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints one line of JSON for each part; returns 0 if the item was run, whatever came out."""
    parser = argparse.ArgumentParser(prog="python -m papers", description=__doc__)
    parser.add_argument("paper", help="the paper's name, as rio-ps")
    parser.add_argument("--table", type=int)
    parser.add_argument("--figure", type=int)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--full", action="store_true")
    options = vars(parser.parse_args(arguments))
    name = options.pop("paper").replace("-", "_")
    paper: Paper = import_module(f"papers.{name}.reproduce").PAPER
    for part in paper.reproduce(**options):
        print(as_json(part), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
