"""What all results have in common: each is one document, for terminal, page, Markdown and notebook."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from mousehole.base import as_html, output, require_path
from mousehole.document import Document, as_markdown, make_report_console, print_document
from mousehole.html.page import write_page

Writers = Iterable[tuple[str | None, Callable[[str], object]]]
"""Files that were asked for, None for one that was not, and what writes each."""


def present(
    found: "Shown",
    files: Writers,
    *,
    details: bool = False,
    is_markdown: bool = False,
    to_stderr: bool = False,
) -> None:
    """Writes the files, then prints the report, with `to_stderr` on standard error.

    Files come first, since the reader of the report may close the pipe early; the report is printed even if a
    disk is full. With `is_markdown` it is Markdown, on standard output whatever `to_stderr` says; `details`
    adds folded sections on a terminal. Raises the errors of `output.write_all`.
    """
    try:
        output.write_all(files)
    finally:
        if is_markdown:
            output.write_text("-", found.markdown())
        else:
            print_document(make_report_console(stderr=to_stderr), found.document(), details)


class Shown:
    """A result that is shown as a document."""

    def document(self, command: Sequence[str] | None = None) -> Document:
        """Returns the result as a document; each kind of result defines it.

        `command` is the command line as typed, None where Python was the caller. Raises `NotImplementedError`
        here.
        """
        raise NotImplementedError

    def html(self, path: str | Path, command: Sequence[str] | None = None) -> None:
        """Writes the result as one self-contained page with charts and tables (docs/report.md).

        `command` is shown as the command line. Raises `MouseholeError` for a suffix other than `.html`, for a
        file that cannot be written, and where charts cannot be drawn.
        """
        write_page(self.document(command), path)

    def markdown(self, command: Sequence[str] | None = None) -> str:
        """Returns the document as Markdown, with the numbers of charts instead of the charts."""
        return as_markdown(self.document(command))

    def _repr_html_(self) -> str:
        """Returns the report of the terminal as HTML, for notebooks."""
        return as_html(lambda console: print_document(console, self.document()))


class Kept(Shown):
    """A result that a file can hold."""

    def to_json(self) -> str:
        """Returns the result as a JSON document (docs/json.md); equal results give equal bytes.

        Raises `NotImplementedError` here; each kind of result defines it.
        """
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Writes the document of `to_json`; `mousehole.load` and `mousehole show` restore it without a run.

        `-` is standard output. Raises `MouseholeError` for a file that cannot be written.
        """
        output.write_text(str(require_path("path", path)), self.to_json())
