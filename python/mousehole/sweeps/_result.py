"""What a call of `mousehole.sweep` returns: the rows and frames of a sweep, and its pictures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mousehole.sweeps._found import VALUE, Found


class Sweep(Found):
    """The rows of a sweep's folder, also while it grows, with frames and pictures of them."""

    def plot(self, path: str | Path, **options: Any) -> None:
        """Draws small multiples into a file; the options are those of `sweeps.drawing.small_multiples`.

        Raises `MouseholeError` for a suffix other than .png, .svg and .pdf, and for a measure, scheme or axis
        that the rows do not have.
        """
        from mousehole.sweeps import _drawing as drawing  # takes a second to load

        drawing.write(path, lambda part: drawing.small_multiples(self, part, **options))

    def plot_surface(self, path: str | Path, **options: Any) -> None:
        """Draws a response surface for each scheme; the options are those of `sweeps.drawing.surfaces`.

        Raises `MouseholeError` as `plot` does, and where there are no two axes of numbers.
        """
        from mousehole.sweeps import _drawing as drawing

        drawing.write(path, lambda part: drawing.surfaces(self, part, **options))

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
