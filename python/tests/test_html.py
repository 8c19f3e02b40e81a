import json
import re
import subprocess
from html import escape as html_escape
from html.parser import HTMLParser
from math import nan
from pathlib import Path
from typing import Any

import altair as alt
import mousehole
import pytest
from mousehole import MouseholeError, html
from mousehole.base import time_text
from mousehole.charts import make_scheme_series, make_series, style, writing
from mousehole.charts.axes import change_axis, log_axis
from mousehole.charts.marks import change_datum, interval_text
from mousehole.document import (
    Block,
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
)
from mousehole.html import pictures
from mousehole.html.figures import describe_changes, make_change_cell, make_interval_chart
from mousehole.html.render import escape_code_for_script, escape_prose
from mousehole.statistics import Estimate
from support import MODULE, SMALL, SMALL_ARGUMENTS

NASTY = "<b>\"&'</b></script><!-- {0}"
VOID = {"wbr", "meta", "link", "input", "br", "path", "rect", "circle"}


class Outline(HTMLParser):
    """Collects the tags of a page, and fails for one that is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes a tag, and opens its element unless it is void."""
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes a tag without content."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Asserts that the innermost element ends."""
        if tag in VOID:
            return
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Notes a text outside of scripts and styles."""
        if not self.open or self.open[-1] not in ("script", "style"):
            self.texts.append(data)


def parse_outline(text: str) -> Outline:
    """Returns the outline of HTML; asserts that all elements are closed."""
    found = Outline()
    found.feed(text)
    found.close()
    assert found.open == []
    return found


def make_table(*rows: list[Cell | str], keys: tuple[str, ...] = ()) -> Table:
    """Returns a table with these rows, whose texts must be escaped."""
    return Table(NASTY, [Column(NASTY, is_number=False), Column("n")], rows, keys)


def make_chart(name: str = "c") -> Chart:
    """Returns a chart whose texts must be escaped."""
    data = alt.InlineData(values=[{"scheme": NASTY, "x": 1, "y": 2}])
    series = make_series([NASTY], "scheme")
    picture = (
        series.filter_chosen(alt.Chart(data)).mark_point().encode(x="x:Q", y="y:Q", color=series.colour())
    )
    return Chart(name, NASTY, NASTY, picture, make_table([NASTY, Cell("1", 1.0)], keys=(NASTY,)))


def make_page(*blocks: Block, **changes: Any) -> Document:
    """Returns a page with these blocks, whose texts must be escaped."""
    given = {"title": NASTY, "subtitle": NASTY, "sections": [Section("s", NASTY, blocks, NASTY)], **changes}
    return Document(**given)


def test_page__escapes_every_text() -> None:
    whole = make_page(
        Prose(NASTY), Items([NASTY]), Facts([(NASTY, NASTY)]), Code(NASTY, NASTY), make_chart(),
        Details(NASTY, [Grid([Prose(NASTY)])]), make_table([NASTY, Cell(NASTY, NASTY)], keys=(NASTY,)),
        verdict=Verdict([NASTY, Code(NASTY)], "good", NASTY), footer=NASTY,
        choices=pictures.list_choices(make_series([NASTY, "b"], "scheme")), choices_label=NASTY,
    )  # fmt: skip
    found = parse_outline(html.render_page(whole))
    assert not [tag for tag, _ in found.tags if tag == "b"]
    assert sum(text == NASTY for text in found.texts) > 12
    specs = [attributes for tag, attributes in found.tags if attributes.get("class") == "spec"]
    assert len(specs) == 1


def test_page__asks_for_nothing_and_has_one_bundle() -> None:
    text = html.render_page(make_page(make_chart("a"), make_chart("b")))
    found = parse_outline(text)
    assert not [tag for tag, _ in found.tags if tag in ("img", "iframe", "object")]
    assert not [attributes for _, attributes in found.tags if "src" in attributes]
    assert [attributes["href"] for tag, attributes in found.tags if tag == "link"] == ["data:,"]
    assert not [part for part in ("@import", "url(http") if part in text]
    assert "default-src 'none'" in text
    assert text.count(escape_code_for_script(writing.load_vega_script())) == 1
    assert len(text.encode()) < 2_000_000


def test_page__without_charts_is_small_and_needs_no_altair() -> None:
    text = html.render_page(make_page(Prose("x"), make_table(["a", "1"])))
    assert len(text.encode()) < 40_000


def test_page__has_landmarks_headings_and_a_skip_link() -> None:
    found = parse_outline(html.render_page(make_page(make_chart(), verdict=Verdict(["yes"]))))
    tags = [tag for tag, _ in found.tags]
    assert [tags.count(tag) for tag in ("header", "main", "h1")] == [1, 1, 1]
    ids = [attributes["id"] for _, attributes in found.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    named = [attributes.get("aria-labelledby") for tag, attributes in found.tags if tag == "section"]
    assert set(named) <= set(ids)
    assert ("a", {"class": "skip", "href": "#main"}) in found.tags
    pictures = [attributes for _, attributes in found.tags if attributes.get("role") == "img"]
    assert all(one["aria-label"] and one["aria-describedby"] in ids for one in pictures)


def test_page__names_sections_in_its_contents_that_have_labels() -> None:
    sections = [Section("a", "A", []), Section("b", "B", [], "b"), Section("c", "C", [], "c")]
    text = html.render_page(Document("t", "", sections))
    assert re.findall(r'<li><a href="#(\w)"', text) == ["b", "c"]
    assert "<nav" not in html.render_page(Document("t", "", sections[:2]))


def test_table__sorts_by_values_and_keeps_texts() -> None:
    rows = [["a", Cell("2 ms", 0.002)], ["b", Cell("–", None)], ["c", Cell("x", float("nan"))], ["d", "7"]]
    text = html.render_page(make_page(make_table(*rows, keys=("a", "b", "c", "d"))))
    values = re.findall(r'<td class="number"( data-value="([^"]*)")?>([^<]*)', text)
    assert [(value, shown) for _, value, shown in values] == [
        ("0.002", "2 ms"),
        ("", "–"),
        ("", "x"),
        ("", "7"),
    ]
    assert [bool(attribute) for attribute, _, _ in values] == [True, True, True, False]
    assert re.findall(r'<tr data-key="(\w)"', text) == ["a", "b", "c", "d"]


def test_table__breaks_long_schemes_after_commas_and_bars() -> None:
    long = "sfd(th=8400B,timeout=1.1s)|multi-red(mode=decoupled,green_min=26.5%)"
    text = html.render_page(make_page(Table("c", [Column("a", False), Column("b", False)], [["x", long]])))
    assert '<td class="long">sfd(th=8400B,<wbr>timeout=1.1s)|<wbr>multi-red(mode=decoupled,<wbr>green' in text


def test_write__whole_or_nothing(tmp_path: Path) -> None:
    with pytest.raises(MouseholeError, match=r"ends in \.html or \.htm"):
        html.write_page(make_page(), tmp_path / "x.txt")
    with pytest.raises(MouseholeError, match="cannot write"):
        html.write_page(make_page(), tmp_path / "none" / "x.html")
    with pytest.raises(TypeError, match="int is no part of a page"):
        html.write_page(make_page(3), tmp_path / "x.html")
    assert list(tmp_path.iterdir()) == []
    html.write_page(make_page(), tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text().startswith("<!doctype html>")


def compute_luminance(colour: str) -> float:
    """Returns the relative luminance of a colour (WCAG 2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def compute_contrast(one: str, other: str) -> float:
    """Returns the contrast ratio of two colours (WCAG 2), from 1 to 21."""
    light, dark = sorted((compute_luminance(one), compute_luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colours__have_the_contrast_that_wcag_asks_for(mode: str) -> None:
    def colour_at(colour: str) -> str:
        return style.DARK[colour] if mode == "dark" else colour

    back = colour_at(style.BACK)
    marks = (*style.COLOURS, style.BETTER, style.UNCLEAR, style.WORSE)
    assert {
        colour: compute_contrast(colour_at(colour), back)
        for colour in marks
        if compute_contrast(colour_at(colour), back) < 3
    } == {}
    assert compute_contrast(colour_at(style.FORE), back) > 7
    assert compute_contrast(colour_at(style.DIM), back) > 4.5
    assert min(compute_contrast(colour_at(style.FORE), colour_at(colour)) for colour in style.DIVERGING) > 4.5


def test_colours__on_dark_pages_differ_and_are_never_replaced_twice() -> None:
    dark = list(style.DARK.values())
    assert len(set(dark)) == len(dark)
    assert not set(dark) & set(style.DARK)


def test_style__of_text_has_the_contrast_that_wcag_asks_for() -> None:
    style = Path(html.__file__).with_name("style.css").read_text()
    light, dark = re.findall(r":root \{([^}]*--back[^}]*)\}", style)[:2]
    for declared in (light, dark):
        colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", declared))
        for name in ("fore", "dim", "good", "open", "bad", "none", "link"):
            for ground in ("back", "soft", "good-soft", "open-soft", "bad-soft"):
                assert compute_contrast(colours[name], colours[ground]) > 4.5, (name, ground)


def test_chart__still_picture_has_the_pages_colours_and_its_own_ids() -> None:
    still = pictures.render_svg(make_chart("c"))
    assert still.startswith("<svg")
    assert style.FORE not in still
    assert f"var(--chart-{style.FORE[1:]})" in still
    assert all(name.startswith("c-") for name in re.findall(r'\bid="([^"]*)"', still))
    assert all(f"var(--chart-{colour[1:]})" not in still or colour in style.DARK for colour in style.DARK)


def test_chart__spec_has_no_look_of_its_own() -> None:
    spec = pictures.make_fluid(make_chart())
    assert spec["width"] == "container"
    assert "config" not in spec
    assert [param["value"] for param in spec["params"] if param["name"] == "shown"] == [[NASTY]]
    json.dumps(spec, allow_nan=False)


def test_series__of_schemes_look_as_in_plots() -> None:
    schemes = ["droptail", "sfd", "sfd(th=5kB)"]
    series = make_scheme_series(schemes)
    assert series.colours[0] == style.COLOURS[0]
    assert series.colours[1] == style.COLOURS[2]
    assert series.colours[2] != series.colours[1]
    assert series.symbols[1] != series.symbols[2]
    assert [choice.name for choice in pictures.list_choices(series)] == schemes
    assert all(choice.symbol.startswith("M") for choice in pictures.list_choices(series))


def test_axes__fit_all_places() -> None:
    x = change_axis([-2.0, 0.5], "t")("x").to_dict()
    assert x["scale"]["domain"][0] < -2
    assert x["scale"]["domain"][1] > 0.5
    assert 0 in x["axis"]["values"]
    y = log_axis([0.2, 30.0, 0.0], "t", "datum.value")("y", alt.Y).to_dict()
    assert y["axis"]["values"] == [0.2, 0.5, 1, 2, 5, 10, 20]


def test_changes__in_words_cells_and_data() -> None:
    less, open_, none = (
        Estimate(-0.5, -0.6, -0.4, 9),
        Estimate(0.1, -0.1, 0.3, 9),
        Estimate(1.0, *[float("nan")] * 2, 2),
    )
    assert make_change_cell(less) == Cell("−50 % (−60…−40)", -0.5, "good")
    assert make_change_cell(open_).tone == ""
    assert make_change_cell(none) == Cell("+100 %", 1.0)
    assert make_change_cell(Estimate(nan, nan, nan, 0)) == make_change_cell(None) == Cell("–", None)
    assert change_datum("scheme", "a", less)["mean"] == -1
    assert change_datum("scheme", "a", none) | {"text": ""} == {
        "scheme": "a", "mean": 1.0, "low": 1.0, "high": 1.0, "verdict": "undecided", "text": ""
    }  # fmt: skip
    assert interval_text(Estimate(0.08, 0.07, 0.09, 9), time_text) == "80 ms (70 ms…90 ms)"
    assert "faster under a." in describe_changes({"a": less, "b": open_}, "pages", "c")
    assert "too few replications" in describe_changes({"a": none}, "pages", "c")
    made = make_interval_chart("n", "t", "w", {"a": less, "b": none}, "seen")
    assert [row[0] for row in made.numbers.rows] == ["a", "b"]
    assert made.height == 68


# --- of a comparison -------------------------------------------------------------------------------


def run_compare(folder: Path, name: str) -> "subprocess.CompletedProcess[str]":
    """Runs a small `compare` that writes a page."""
    command = [*MODULE, "compare", "web:sfd", *SMALL_ARGUMENTS, "--seeds", "5", "--html", name]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_compare__writes_the_page_with_the_command_that_was_typed(tmp_path: Path) -> None:
    done = run_compare(tmp_path, "a.html")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "a.html").read_text()
    parse_outline(text)
    assert "mousehole compare web:sfd --rate 10mbit" in text
    assert (
        text.index("The answer")
        < text.index("<figure")
        < text.index('id="traffic"')
        < text.index('id="made"')
    )
    found = mousehole.compare("web:sfd", seeds=5, **SMALL)  # type: ignore[arg-type]
    assert escape_prose(found.advice().lines[0]) in text
    for row in found.findings.filter(~found.findings["exploratory"]).iter_rows(named=True):
        assert html_escape(row["verdict"]) in text
    found.html(tmp_path / "b.html")
    found.html(tmp_path / "c.html")
    assert (tmp_path / "b.html").read_bytes() == (tmp_path / "c.html").read_bytes()


@pytest.mark.parametrize(
    ("name", "told"),
    [("none/a.html", "cannot write none/a.html"), ("a.txt", "ends in .html or .htm"), ("", "name")],
)
def test_compare__refuses_a_page_that_cannot_be_written(tmp_path: Path, name: str, told: str) -> None:
    done = run_compare(tmp_path, name)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
