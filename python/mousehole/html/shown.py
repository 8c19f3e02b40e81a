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

    Prints Markdown with `is_markdown`, on standard output whatever `to_stderr` says; `details` adds folded
    sections on a terminal.

    Files come first, since the reader of the report may close the pipe early. The report is printed even if a
    disk is full. Raises the errors of `output.write_all`.
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
        """Returns the result as a document; `command` is what was typed, None where Python was the caller."""
        raise NotImplementedError

    def html(self, path: str | Path, command: Sequence[str] | None = None) -> None:
        """Writes the result as one self-contained page with charts and tables (docs/report.md).

        `command` is shown as what was typed. Raises `MouseholeError` for a suffix other than `.html` and for
        a file that cannot be written.
        """
        write_page(self.document(command), path)

    def markdown(self, command: Sequence[str] | None = None) -> str:
        """Returns what `html` writes as Markdown, with the numbers of charts instead of the charts."""
        return as_markdown(self.document(command))

    def _repr_html_(self) -> str:
        """Returns what notebooks show: the report of the terminal as HTML."""
        return as_html(lambda console: print_document(console, self.document()))


class Kept(Shown):
    """A result that a file can hold."""

    def to_json(self) -> str:
        """Returns the result as a JSON document (docs/json.md); equal results give equal bytes."""
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Writes what `to_json` returns; `mousehole.load` and `mousehole show` give it again without a run.

        Raises `MouseholeError` for a file that cannot be written.
        """
        output.write_text(str(require_path("path", path)), self.to_json())
