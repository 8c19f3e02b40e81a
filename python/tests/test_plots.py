"""Pictures: schemes are distinguished, sparse traffic gives a reason, text needs no fonts."""

import re
import shlex
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import mousehole
import pytest
from mousehole.answer import overview
from mousehole.base import MouseholeError
from mousehole.charts import Panel, arrange_picture, looks, make_scheme_series
from mousehole.charts.axes import core_range
from mousehole.charts.marks import empty_chart
from mousehole.charts.style import COLOURS, QUIET, wrap_name
from mousehole.charts.writing import compress_png, draw_chart
from mousehole.runs import default_schemes, list_all_schemes

FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts")


def compare_sparse() -> mousehole.Comparison:
    """Returns a comparison on three transfers in an hour: most windows have none, no bin has enough."""
    rows = [{"start_s": 1200.0 * n, "client": n, "server": 9, "bytes": 900} for n in range(3)]
    return mousehole.compare(
        rows, rate="1mbit", duration="5s", warmup="1s", seeds=2, schemes="droptail,sfd,fq-codel"
    )


@pytest.fixture(scope="module")
def three_schemes() -> mousehole.Comparison:
    """A comparison of three schemes on sparse traffic."""
    return compare_sparse()


def read_words(path: Path) -> str:
    """Returns the texts of an SVG file."""
    return " ".join(re.findall(r">([^<>]+)</t(?:ext|span)>", path.read_text()))


def test_plot__of_sparse_traffic_says_why_a_panel_is_empty(
    three_schemes: mousehole.Comparison, tmp_path: Path
) -> None:
    three_schemes.plot(tmp_path / "a.svg")
    words = read_words(tmp_path / "a.svg")
    assert "no size bin has 20 transfers," in words
    assert "too few transfers to compare" in words


def test_heatmap__of_sparse_traffic_says_why_it_is_empty(
    three_schemes: mousehole.Comparison, tmp_path: Path
) -> None:
    three_schemes.heatmap(tmp_path / "a.svg")
    assert "no size has 20 transfers under any scheme" in read_words(tmp_path / "a.svg")


def test_assign_looks__of_up_to_eight_schemes_share_no_colour_and_no_marker() -> None:
    for schemes in (
        default_schemes(None, None),
        ("sfd", "sfd(th=5kB)", "sfd(th=9kB)", "ared", "codel", "pie", "wrr", "lfp"),
    ):
        places = looks.assign_looks(schemes)
        assert len({place.colour for place in places}) == len(schemes) == 8
        assert len({place.line for place in places}) == 8, "to be distinct in print"


def test_assign_looks__a_scheme_has_its_own_colour_where_that_is_free() -> None:
    for scheme in ("droptail", "sfd", "cake"):
        assert looks.assign_looks((scheme,)) == looks.assign_looks(("ared", "s-sfd", scheme))[2:]
    assert (
        looks.assign_looks(("sfd", "sfd(th=5kB)"))[0].colour
        != looks.assign_looks(("sfd", "sfd(th=5kB)"))[1].colour
    )


def test_assign_looks__of_many_schemes_differ() -> None:
    places = looks.assign_looks(list_all_schemes())
    assert len({(place.colour, place.line) for place in places}) == len(list_all_schemes())


def test_assign_looks__own_policies_have_one_too() -> None:
    assert (
        looks.assign_looks(("my-marker|multi-red",))
        == looks.assign_looks(("droptail", "my-marker|multi-red"))[1:]
    )


def test_plot__returns_the_chart_and_writes_every_format(
    three_schemes: mousehole.Comparison, tmp_path: Path
) -> None:
    chart = three_schemes.plot()
    assert "vconcat" in chart.to_dict()
    assert chart.to_dict() == three_schemes.plot(tmp_path / "a.png").to_dict()
    for name, begin in (("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.svg", b"<svg")):
        three_schemes.plot(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begin)
    again = tmp_path / "again.svg"
    three_schemes.plot(again)
    assert again.read_bytes() == (tmp_path / "a.svg").read_bytes()
    with pytest.raises(MouseholeError, match=r"ends in \.png, \.svg or \.pdf"):
        three_schemes.plot(tmp_path / "a.gif")


def test_plot__of_many_schemes_names_the_references_only(three_schemes: mousehole.Comparison) -> None:
    plan = three_schemes.plan
    series = make_scheme_series(plan.schemes).quieten(["droptail"])
    assert series.colours == [COLOURS[0], QUIET, QUIET]
    assert series.order_quiet_first() == ["sfd", "fq-codel", "droptail"]


def test_break_name__long_names_are_broken_and_not_cut() -> None:
    long = "sfd(th=15kB,promotion=periodic,k=4)|cake(tins=colour)"
    assert all(len(line) <= 34 for line in wrap_name(long))
    assert "".join(wrap_name(long)) == long
    assert wrap_name("droptail") == ["droptail"]
    assert make_scheme_series([long]).colour().to_dict()["legend"]["labelLimit"] == 0


def test_compress_png__is_small_and_whole() -> None:
    import vl_convert

    chart = arrange_picture("heading", [[Panel("title", empty_chart("words"), 400, 300)]])
    given = bytes(vl_convert.vegalite_to_png(chart.to_dict(), scale=2))
    made = compress_png(given)
    assert len(made) < 0.7 * len(given)
    assert read_pixels(made) == read_pixels(given)
    assert compress_png(made) == made


def read_pixels(png: bytes) -> tuple[bytes, bytes]:
    """Returns the head and the uncompressed pixels of a PNG; fails for a wrong checksum."""
    place, head, content = 8, b"", b""
    while place < len(png):
        length = int.from_bytes(png[place : place + 4], "big")
        chunk = png[place + 4 : place + 8 + length]
        assert zlib.crc32(chunk) == int.from_bytes(png[place + 8 + length : place + 12 + length], "big")
        head = chunk if chunk[:4] == b"IHDR" else head
        content += chunk[4:] if chunk[:4] == b"IDAT" else b""
        place += 12 + length
    return head, zlib.decompress(content)


def test_core_range__leaves_out_what_would_squeeze_the_rest() -> None:
    assert core_range([-0.4, -0.15, 0.1, 0.15, 3.2]) == (-0.4, 0.15)
    assert core_range([-9.0, -0.2, 0.0, 0.1, 0.3, 4.0]) == (-0.2, 0.3)
    assert core_range([-1.6, -1.0, -0.9, -0.5, -0.2, 0.0, 0.4, 3.1, 3.3]) == (-1.6, 0.4)
    assert core_range([-0.4, 0.0, 0.3]) == (-0.4, 0.3)
    assert core_range([1.0]) == (1.0, 1.0)


NO_FONTS = """
import sys
from mousehole.charts import Panel, arrange_picture
from mousehole.charts.marks import empty_chart
from mousehole.charts.writing import draw_chart
panel = Panel("title", empty_chart("words"), 200, 80)
sys.stdout.buffer.write(draw_chart(arrange_picture("heading", [[panel]]), ".png"))
"""


def test_draw_chart__has_text_where_the_system_has_no_fonts() -> None:
    """The same picture, with fonts and in a mount namespace without any; text is drawn either way."""
    hidden = "".join(f"mount -t tmpfs none {place} && " for place in FONT_FOLDERS if Path(place).is_dir())
    script = f"{hidden}exec {sys.executable} -c {shlex.quote(NO_FONTS)}"
    without = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", script], capture_output=True
    )
    if without.returncode and b"unshare" in without.stderr:
        pytest.skip(f"no mount namespaces here: {without.stderr.decode().strip()}")
    assert without.returncode == 0, without.stderr
    blank = draw_chart(arrange_picture("", [[Panel("", empty_chart(""), 200, 80)]]), ".png")
    assert len(without.stdout) > 1.5 * len(blank), "letters take room"


def test_heat_map__is_grouped_and_sorted() -> None:
    schemes = ("sfd", "droptail", "srpt", "fq-codel", "excess-cake")
    found = mousehole.compare(
        "web:sfd", rate="5mbit", duration="4s", warmup="1s", seeds=2, load=0.9, schemes=",".join(schemes)
    )
    cell = found.plan.cells[0]
    groups = overview.group_schemes(found.results, cell)
    assert list(groups) == [overview.IN_LINUX, overview.WITH_LIVE, overview.IDEALS]
    assert set(groups[overview.IN_LINUX]) == {"droptail", "fq-codel"}
    assert set(groups[overview.WITH_LIVE]) == {"sfd", "excess-cake"}
    for own in groups.values():
        means = [found.results.bucket_values(cell, one, "short", "response_mean_s").mean() for one in own]
        assert means == sorted(means)
    drawn_map: Any = found.heatmap().to_dict()
    axis = drawn_map["vconcat"][0]["hconcat"][0]["layer"][0]["encoding"]["y"]["sort"]
    assert axis == [name for group, own in groups.items() for name in (group, *own)]
