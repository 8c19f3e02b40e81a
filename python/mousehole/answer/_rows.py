# Written by `make docs` (tools/engine_structs.py).
"""What the answer of a comparison says of a cell, as frozen data."""

from dataclasses import dataclass

from mousehole.answer._install import Installation
from mousehole.answer.vetoes import Veto
from mousehole.runs import Place


@dataclass(frozen=True)
class AnswerRow(Place):
    """The answer for a cell: what to do on its link."""

    outcome: str
    """recommended; nothing better: no scheme beats the baseline; not shown: some may, the runs do not
    tell; vetoed: those that do make a class of traffic pay more than its margin; no verdict: too
    little is known for one.
    """
    scheme: str | None
    """The scheme recommended, one that can be installed if any of the better ones can."""
    classes: tuple[str, ...]
    """The classes for whose sake it is recommended where short transfers are not shown to gain; else
    empty.
    """
    is_best: bool
    """Whether the intervals show that no other scheme that can be installed, and that no veto rules
    out, is faster by more than 5 %. A model fitted to a small capture does not show it.
    """
    peers: tuple[str, ...]
    """Schemes that can be installed and are not shown to be slower for short transfers than the
    scheme recommended, the fastest first; where it is recommended for the sake of classes, those
    that serve them as well.
    """
    ahead: tuple[str, ...]
    """Schemes that serve short transfers better still, but that nothing installs."""
    reference: str
    """The scheme that harm is measured against."""
    vetoes: tuple[Veto, ...]
    """Who pays, or may, under the schemes that are better than the baseline, and under the one
    recommended; without intervals, under all.
    """
    installation: Installation | None
    """How the scheme is installed; None without one."""
    lines: tuple[str, ...]
    """The answer as `mousehole compare` prints it: a line for each class that gains or pays where
    there is room, and the commands that install the scheme.
    """
