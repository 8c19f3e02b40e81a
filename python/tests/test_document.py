"""Documents on a terminal and as Markdown; test_html.py has their pages."""

from io import StringIO

from mousehole.base import OutputConsole
from mousehole.document import (
    Cell,
    Chart,
    Code,
    Column,
    Details,
    Document,
    Facts,
    Grid,
    Items,
    Prose,
    Section,
    Table,
    Verdict,
    as_markdown,
    print_document,
)

COLUMNS = [Column("scheme", is_number=False), Column("change"), Column("verdict", is_number=False)]
TABLE = Table(
    "By scheme", COLUMNS, [["a|b", Cell("−30 % (−40…−20)", -0.3, "good"), "better, " * 6]], note="A note.",
    gives_way=("verdict",),
)  # fmt: skip
CHART = Chart("c", "A chart", "What it shows.", {}, Table("Numbers", COLUMNS[:2], [["a", "1"]]))


def make_document() -> Document:
    """Returns a document with a block of each kind."""
    return Document(
        "Title",
        "Subtitle",
        [
            Section("one", "First", [
                Prose("Para one.\n\nPara two."), Items(["item <1>"], "open"), Facts([("name", "value")]),
                Grid([TABLE, CHART]), Code("run --now\nrun again"), Details("More", [Prose("Folded.")]),
            ]),
            Section("two", "Second", [Prose("In the details.")], shown="details"),
            Section("three", "Third", [Prose("On pages.")], shown="page"),
            Section("four", "Fourth", [Prose("Ruled.")], is_ruled=True),
        ],
        Verdict(["Best is a.", "Install it:", Code("tc qdisc")], "good"),
        footer="Footer",
    )  # fmt: skip


def print_to_text(details: bool = False, width: int = 120) -> str:
    """Returns the document as a terminal of this width shows it."""
    console = OutputConsole(file=StringIO(), width=width, highlight=False)
    with console.capture() as captured:
        print_document(console, make_document(), details)
    return captured.get()


def test_terminal__shows_what_is_not_folded() -> None:
    text = print_to_text()
    for shown in ("Title", "Best is a.", "tc qdisc", "Para two.", "item <1>", "name  value", "run again",
                  "−30 % (−40…−20)", "better, better", "A note.", "Fourth", "--details prints"):  # fmt: skip
        assert shown in text, shown
    for hidden in ("Folded.", "In the details.", "On pages.", "A chart", "First"):
        assert hidden not in text, hidden
    assert text.index("Title") < text.index("Best is a.") < text.index("Para one.") < text.index("Fourth")


def test_terminal__details_add_folded_parts_and_sections() -> None:
    text = print_to_text(details=True)
    assert "Folded." in text
    assert "In the details." in text
    assert "On pages." not in text
    assert "--details" not in text


def test_terminal__narrow_tables_give_way_column_by_column_then_the_intervals() -> None:
    assert "better," not in print_to_text(width=40)
    assert "(too narrow for: verdict)" in print_to_text(width=40)
    assert "−30 % (−40…−20)" in print_to_text(width=40)
    assert "(too narrow for: verdict, the intervals)" in " ".join(print_to_text(width=16).split())
    assert "(−40" not in print_to_text(width=16)


def test_markdown__has_everything_and_escapes_it() -> None:
    text = as_markdown(make_document())
    assert text.startswith(
        "# Title\n\nSubtitle\n\n## The answer\n\nBest is a.\n\nInstall it:\n\n```\ntc qdisc\n```"
    )
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## The answer", "## First", "## Second", "## Third", "## Fourth"
    ]  # fmt: skip
    assert "- item \\<1\\>" in text
    assert "| scheme | change | verdict |\n|---|---:|---|\n| a\\|b | −30 % (−40…−20) |" in text
    assert "### A chart\n\nWhat it shows.\n\n**Numbers**" in text
    assert "### More\n\nFolded." in text
    assert text.endswith("\n\nFooter\n")


def test_markdown__code_that_holds_a_fence_gets_a_longer_one() -> None:
    text = as_markdown(Document("t", "", [Section("s", "S", [Code("```\nx\n```")])]))
    assert "````\n```\nx\n```\n````" in text
