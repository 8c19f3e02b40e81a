"""The answer of a comparison: what to install, what every class gains or pays, how sure that is.

`answer/src/advice.rs` makes it from findings and vetoes, in the context that `_setting.py` returns.
"""

from typing import Final, Literal

from mousehole._engine import MOST_LINES as MOST_LINES
from mousehole.answer._install import Installation
from mousehole.answer._rows import AnswerRow
from mousehole.answer._setting import find_surroundings
from mousehole.answer.tables import allow_all_cells
from mousehole.answer.vetoes import Veto
from mousehole.runs import Cell, Results

Outcome = Literal["recommended", "nothing better", "not shown", "vetoed", "no verdict"]
"""How the answer for a cell came out."""
RECOMMENDED: Final = "recommended"
NOTHING_BETTER: Final = "nothing better"
NOT_SHOWN: Final = "not shown"
NO_VERDICT: Final = "no verdict"
VETOED: Final = "vetoed"


class Advice(AnswerRow):
    """What to do on the link of one cell."""

    outcome: Outcome
    """recommended; nothing better: no scheme beats the baseline; not shown: some may, the runs do not tell;
    vetoed: those that do make a class of traffic pay more than its margin; no verdict: too little is known
    for one."""

    @property
    def ruled_out(self) -> tuple[str, ...]:
        """Returns the schemes that a veto rules out, each once, the fastest first."""
        return tuple(dict.fromkeys(one.scheme for one in self.vetoes if one.binds))


@allow_all_cells
def advice(results: Results, cell: Cell) -> list[Advice]:
    """Returns the answer for a cell, as a list of one; for None, one answer per cell."""
    found = results.compared(cell).advise(find_surroundings(results, cell))
    way = found.pop("installation")
    vetoes = tuple(Veto(**one) for one in found.pop("vetoes"))
    found |= {name: tuple(found[name]) for name in ("classes", "peers", "ahead", "lines")}
    installed = None if way is None else Installation(way["place"], tuple(way["lines"]))
    return [Advice(cell.buffer, cell.load, vetoes=vetoes, installation=installed, **found)]


def stand_in(results: Results) -> list[str]:
    """Returns, as a list of one, the sentence on the model that is played for a capture that is too small.

    The list is empty if the capture itself is played.
    """
    line = results.compared(results.plan.cells[0]).stand_in(results.label, results.plan.instead_of)
    return [] if line is None else [line]
