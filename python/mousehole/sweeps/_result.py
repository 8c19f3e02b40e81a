"""What a call of `mousehole.sweep` returns: the rows and frames of a sweep, and its pictures."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mousehole import html
from mousehole.document import Document, as_markdown
from mousehole.sweeps._found import VALUE, Found

if TYPE_CHECKING:
    import altair as alt


class Sweep(Found, html.Shown):
    """The rows of a sweep's folder, also while it grows, with frames and pictures of them."""

    def plot(self, path: str | Path | None = None, **options: Any) -> "alt.VConcatChart":
        """Returns small multiples, and writes them into a file if `path` is given.

        The options are those of `_drawing.draw_small_multiples`. Raises `MouseholeError` for a suffix other
        than .png, .svg and .pdf, for a file that cannot be written, and for a measure, scheme or axis that
        the rows do not have.
        """
        from mousehole import charts
        from mousehole.sweeps import _drawing as drawing  # loads Altair

        return charts.write_chart(drawing.draw_small_multiples(self, **options), path)

    def plot_surface(self, path: str | Path | None = None, **options: Any) -> "alt.VConcatChart":
        """Returns a response surface for each scheme, and writes them into a file if `path` is given.

        The options are those of `_drawing.draw_surfaces`. Raises `MouseholeError` as `plot` does, and where
        there are no two axes of numbers.
        """
        from mousehole import charts
        from mousehole.sweeps import _drawing as drawing

        return charts.write_chart(drawing.draw_surfaces(self, **options), path)

    def document(
        self, command: Sequence[str] | None = None, value: str = VALUE, against: str | None = None
    ) -> Document:
        """Returns the sweep as a document: a measure, and its change against a scheme (the first one).

        `command` is the command line as typed, None where Python was the caller. Raises `MouseholeError` for
        a measure or scheme that the rows do not have.
        """
        from mousehole.sweeps import _report  # loads Altair

        return _report.make_document(self, value, against, command)

    def html(
        self, path: str | Path, command: Sequence[str] | None = None, value: str = VALUE,
        against: str | None = None,
    ) -> None:  # fmt: skip
        """Writes the sweep as one self-contained page; the arguments after `path` are those of `document`.

        Raises `MouseholeError` as `document` does, for a suffix other than `.html` and for a file that cannot
        be written.
        """
        html.write_page(self.document(command, value, against), path)

    def markdown(
        self, command: Sequence[str] | None = None, value: str = VALUE, against: str | None = None
    ) -> str:
        """Returns the document as Markdown, with the numbers of charts instead of the charts.

        Arguments and errors are those of `document`.
        """
        return as_markdown(self.document(command, value, against))
