"""Writes a part of docs/nobody-pays.md: markers before CAKE in the ready-made places.

Every case is a ready-made place on a line with a rate for each direction. Plain CAKE is the
reference. `make validation WHAT=places` runs the cases and renews the part.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from tools import document
from validation.nobody_pays import DOCUMENT, Change, Figure, Found, breaks, compare_with_cake, format_change

TARGET = "validation WHAT=places"


@dataclass(frozen=True)
class Case:
    """A ready-made place on a line."""

    place: str
    down: str
    up: str

    @property
    def name(self) -> str:
        """Returns the name of the case in the table."""
        return f"{self.place}, {self.down}/{self.up}"

    def arguments(self) -> list[str]:
        """Returns the case as arguments of `compare`."""
        return [self.place, "--down", self.down, "--up", self.up]


CHOOSING = Case("home", "20mbit", "1mbit")
"""The case that was looked at when the third tin and the ACK filter were chosen."""
CASES = (
    CHOOSING,
    Case("home", "10mbit", "2mbit"),
    Case("home", "50mbit", "5mbit"),
    Case("home", "8mbit", "500kbit"),
    Case("cafe", "30mbit", "5mbit"),
    Case("office", "50mbit", "10mbit"),
    Case("office", "20mbit", "20mbit"),
    Case("school", "100mbit", "20mbit"),
)
SCHEMES = ("fq-codel", "excess-cake", "excess-cake(ack_filter=ack-filter)", "excess-tins-cake")
SEEDS = 8
LENGTH = ("--duration", "120s", "--warmup", "30s")
FIGURES = (
    Figure("short mean", "short", "", 0.10, True),
    Figure("pages", "pages", "page_mean_s", 0.10, True),
    Figure("long mean", "long", "", 0.10, True),
    Figure("video late or lost", "video", "frames_missed_share", 0.005, False, "%"),
    Figure("call p95", "calls", "delay_p95_s", 0.010, False),
    Figure("game p95", "games", "delay_p95_s", 0.005, False),
)
"""What is shown of each case, and by how much it may be worse than under plain CAKE."""


def main() -> int:
    """Runs the cases and renews their part of the page.

    Returns 0; ends the program if a comparison fails.
    """
    found = {}
    for case in CASES:
        print(f"places: {case.name}", file=sys.stderr, flush=True)
        found[case.name] = compare_with_cake(
            [*case.arguments(), "--seeds", str(SEEDS), *LENGTH], SCHEMES, FIGURES
        )
    document.renew(DOCUMENT, TARGET, write_body(found))
    print(f"{TARGET}: wrote {DOCUMENT.name}")
    return 0


def write_body(found: Mapping[str, Found]) -> str:
    """Returns the generated part of the page."""
    command = f"mousehole compare PLACE --down RATE --up RATE --seeds {SEEDS} {' '.join(LENGTH)}"
    note = (
        f"Each case is `{command} --baseline cake` with these schemes. Changes are against plain CAKE, with "
        "95 % intervals; from → to is CAKE's figure and the scheme's. Bold is worse than the limits above "
        "allow, by the mean."
    )
    rows = [row for name, schemes in found.items() for row in list_case_rows(name, schemes)]
    header = ["line, down/up", "scheme", *(figure.name for figure in FIGURES)]
    return f"\n{document.wrap(note)}\n\n{document.table(header, rows)}\n"


def list_case_rows(name: str, schemes: Found) -> list[list[str]]:
    """Returns a row for each scheme of a case."""
    return [
        [name, f"`{scheme}`", *(format_cell(figure, changes) for figure in FIGURES)]
        for scheme, changes in schemes.items()
    ]


def format_cell(figure: Figure, changes: Mapping[str, Change]) -> str:
    """Returns a figure's change, bold where it is worse than allowed, a dash where the case lacks it."""
    if figure.name not in changes:
        return "–"
    words = format_change(figure, changes[figure.name])
    return f"**{words}**" if breaks(figure, changes) else words


if __name__ == "__main__":
    sys.exit(main())
