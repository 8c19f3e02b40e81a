"""What a call of `mousehole.sweep` returns: the rows and frames of a sweep, and its pictures."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mousehole.html.common import escape
from mousehole.sweeps._found import VALUE, Found

if TYPE_CHECKING:
    import altair as alt


class Sweep(Found):
    """The rows of a sweep's folder, also while it grows, with frames and pictures of them."""

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.effects()._repr_html_()}"

    def plot(self, path: str | Path | None = None, **options: Any) -> "alt.VConcatChart":
        """Returns small multiples, and writes them into a file if `path` is given.

        The options are those of `sweeps.drawing.small_multiples`. Raises `MouseholeError` for a suffix other
        than .png, .svg and .pdf, and for a measure, scheme or axis that the rows do not have.
        """
        from mousehole import charts
        from mousehole.sweeps import _drawing as drawing  # loads Altair

        return charts.written(drawing.small_multiples(self, **options), path)

    def plot_surface(self, path: str | Path | None = None, **options: Any) -> "alt.VConcatChart":
        """Returns a response surface for each scheme; the options are those of `sweeps.drawing.surfaces`.

        Raises `MouseholeError` as `plot` does, and where there are no two axes of numbers.
        """
        from mousehole import charts
        from mousehole.sweeps import _drawing as drawing

        return charts.written(drawing.surfaces(self, **options), path)

    def html(
        self, path: str | Path, value: str = VALUE, against: str | None = None,
        command: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        """Writes the sweep as one self-contained page with charts and tables (docs/report.md).

        `command` is shown as what was typed. Raises `MouseholeError` for a suffix other than `.html`, for a
        measure or scheme that the rows do not have, and for a file that cannot be written.
        """
        from mousehole import html
        from mousehole.sweeps import _report as report  # loads Altair

        html.write(report.page(self, value, against, command), path)
