"""Writes the table of quantities into docs/json.md, for `make docs`."""

from __future__ import annotations

from pathlib import Path

from mousehole import quantities
from mousehole.quantities import Quantity, Subject

from tools import document

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "json.md"
TARGET = "docs"
SUBJECTS: dict[Subject, str] = {
    "bucket": "the transfers of a size bucket",
    "scheme": "a scheme",
    "application": "an application (`what` of `groups []`)",
}
UNITS = {
    "seconds": "s", "bits_per_second": "b/s", "packets": "packets", "share": "share", "index": "0 to 1",
    "times": "×", "number": "number",
}  # fmt: skip


def main() -> None:
    """Renews the table in docs/json.md; raises `ValueError` if the document has no marker."""
    document.renew(DOCUMENT, TARGET, write_table())


def write_table() -> str:
    """Returns the quantities that documents name, as a Markdown table."""
    rows = [
        [f"`{one.name}`", words, one.long, UNITS[one.unit], one.better, str(one.least), _format_kinds(one)]
        for subject, words in SUBJECTS.items()
        for one in quantities.list_of_subject(subject)
    ]
    return f"\n{document.table(('name', 'of', 'what', 'in', 'better', 'from', 'first of'), rows)}\n"


def _format_kinds(quantity: Quantity) -> str:
    """Returns the kinds of applications whose primary figure the quantity is; empty if there are none."""
    return ", ".join(f"`{kind}`" for kind in quantity.primary_of)


if __name__ == "__main__":
    main()
