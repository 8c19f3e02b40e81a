"""SFD's folder: its measures and quantities on records with known answers."""

import gzip
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from mousehole.base import MouseholeError
from mousehole.runs import RunResult

from papers import evaluate, paper
from papers.definition import NotAvailableError, read_toml
from papers.runs import Options
from papers.sfd import measures, pages, quantities

SIZES = measures.EDGES[:-1]


class Recorded:
    """A run of known records: objects of 1 and 30 packets, one of which did not end."""

    def transfers(self) -> dict[str, Any]:
        """Returns four transfers."""
        return {
            "start_s": np.array([0.0, 1.0, 2.0, 3.0]),
            "end_s": np.array([0.5, 2.5, np.nan, 5.0]),
            "object_bytes": np.array([1000, 1, 500, 30_000], np.uint64),
            "rtt_s": np.array([0.08, 0.12, 0.12, 0.08]),
        }

    def flows(self) -> dict[str, Any]:
        """Returns two flows without end."""
        return {"goodput_bps": np.array([1e5, 2e5])}

    def queues(self) -> list[dict[str, Any]]:
        """Returns the bottleneck and another link."""
        colour = {"arrived": 100, "dropped": 1}
        return [{"utilisation": 0.4, "colours": [colour, {"arrived": 100, "dropped": 3}]}, {}]


def make_measured(scale: float | np.ndarray = 1.0, std: float = 0.5) -> dict[str, Any]:
    """Returns measures in which times grow as the root of the size; `std` is the deviation over the mean."""
    mean = scale * np.sqrt(SIZES.astype(float))
    return {
        "packets": SIZES.astype(float),
        "mean_s": mean,
        "std_s": std * mean,
        "count": np.full(SIZES.size, 10.0),
        "rtt_s": np.array([0.08, 0.1, 0.2]),
        "by_rtt_s": np.array([1.0, 1.0, 1.0]) * (scale if np.isscalar(scale) else 1.0),
    }


def test_measure__averages_by_whole_packets_and_leaves_out_the_unfinished() -> None:
    found = measures.measure(cast(RunResult, Recorded()))
    assert found["mean_s"][0] == pytest.approx((0.5 + 1.5) / 2)
    assert (found["count"][0], np.sum(found["count"])) == (2, 3)
    place = int(np.digitize(30, measures.EDGES)) - 1
    assert found["mean_s"][place] == pytest.approx(2.0)
    assert np.isnan(found["mean_s"][1])
    assert (found["loss"], found["utilisation"], found["unfinished"]) == (0.02, 0.4, 0.25)
    assert found["goodput_bps"] == 3e5
    assert list(found["rtt_s"]) == [0.08, 0.12]
    assert list(found["by_rtt_s"]) == [0.5, 1.5], "short flows only"


def test_short_share__is_that_of_pareto_ii() -> None:
    assert quantities.short_share(15.0) == pytest.approx(1 - (1 + 15 / 2.4) ** -1.2)
    assert quantities.short_share(0.0) == 0.0
    rng = np.random.default_rng(1)
    sizes = 2.4 * (rng.random(400_000) ** (-1 / 1.2) - 1)
    drawn = sizes[sizes <= 1000.0]
    assert quantities.short_bytes(15.0, 1000.0) == pytest.approx(
        drawn[drawn <= 15].sum() / drawn.sum(), rel=0.02
    )


def test_reductions__are_averaged_over_the_short_sizes() -> None:
    base = make_measured()
    assert quantities.mean_reduction(make_measured(0.7), base) == pytest.approx(0.3)
    uneven = np.ones(SIZES.size)
    uneven[4], uneven[20:] = 0.5, 100.0
    run = make_measured(uneven)
    assert quantities.mean_reduction(run, base) == pytest.approx(0.5 / 15)
    assert quantities.most_reduction(run, base) == pytest.approx(0.5)
    assert quantities.least_reduction(run, base) == pytest.approx(0.0)
    assert quantities.short_change(make_measured(1.1), base) == pytest.approx(0.1)
    assert quantities.short_speedup(make_measured(0.1), base) == pytest.approx(10.0)
    assert quantities.std_ratio(make_measured(1.0, 0.25), base) == pytest.approx(0.5)
    assert quantities.share_of_bound(make_measured(0.7), base, make_measured(0.5)) == pytest.approx(0.6)


def test_latency__is_of_objects_near_a_size_by_their_number() -> None:
    run = make_measured()
    assert quantities.latency_s(run, 4) == pytest.approx(2.0)
    near = np.abs(SIZES - 1000) <= 400
    run["count"][near] = 0
    run["count"][np.flatnonzero(near)[0]] = 5
    assert quantities.latency_s(run, 1000, 0.4) == pytest.approx(np.sqrt(SIZES[near][0]))
    assert quantities.latency_ratio(make_measured(2.0), make_measured(), 12) == pytest.approx(2.0)


def test_penalty_removed__is_the_share_that_is_gone() -> None:
    base, scheme, run = make_measured(1.0), make_measured(2.0), make_measured(1.2)
    assert quantities.penalty_removed(run, base, scheme, 1000) == pytest.approx(0.8)


def test_crossover__is_where_gains_end_and_not_a_single_size() -> None:
    scale = np.where(SIZES < 40, 0.7, 1.5)
    scale[3] = 1.05
    found = quantities.crossover_kb(make_measured(scale), make_measured())
    assert found == SIZES[SIZES >= 40][0]


def test_rtt_correlation__has_the_sign_of_the_gain() -> None:
    base, run = make_measured(), make_measured()
    run["by_rtt_s"] = np.array([0.9, 0.8, 0.7])
    assert quantities.rtt_correlation(run, base) > 0.8
    run["by_rtt_s"] = run["by_rtt_s"][::-1]
    assert quantities.rtt_correlation(run, base) < -0.8


def test_pages__are_the_greatest_object_or_the_sum() -> None:
    run = make_measured()
    assert quantities.parallel_s(run, "Graphics") == pytest.approx(np.sqrt([11, 12, 13]).mean())
    text = [29.0, 7.0, 10.0, 13.0]
    assert quantities.sequential_s(run, "Text") == pytest.approx(sum(np.sqrt(text)), rel=0.01)
    for sequential in (False, True):
        assert quantities.page_share(make_measured(0.6), run, 0.39, sequential) == 1.0
        assert quantities.page_share(make_measured(0.6), run, 0.41, sequential) == 0.0
    found = quantities.page_quantiles(make_measured(0.6), run)
    assert found == pytest.approx(np.full(100, 0.4))


def test_page_sizes__are_those_of_table_5_and_medians_of_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = {"Text": 4, "Map": 5, "Graphics": 14, "Frames": 27, "Java": 36}
    published = read_toml(Path(quantities.__file__).parent / "published.toml")["table_5"]
    for page, number in printed.items():
        assert quantities.page_objects(page) == number == published[page]["objects"]
        for name, sums in (("size", sum), ("largest", max)):
            weights = [
                [size * (count if name == "size" else 1) for size in (low, high)]
                for low, high, count in quantities.CONTENTS[page]
            ]
            assert evaluate.list_ends(published[page][name]) == tuple(map(sums, zip(*weights, strict=True)))
    assert quantities.page_kb("Text") == pytest.approx(29 + 3 * 10)
    assert quantities.page_largest_kb("Graphics") == 12
    assert quantities.page_short_objects("Text", 13.0) == 3
    (tmp_path / "a.log").write_text(ACCESS.replace(" 1000\n", " 20000\n"))
    monkeypatch.setenv("MOUSEHOLE_DATA", str(tmp_path))
    monkeypatch.setitem(quantities.LOGS, "mine", "a.log")
    assert group_pages(tmp_path / "a.log") == [[20000, 500], [300], [200], [100]]
    assert quantities.page_objects("mine") == 1
    assert quantities.page_kb("mine") == pytest.approx(0.25)
    assert quantities.page_largest_kb("mine") == pytest.approx(0.25)
    assert quantities.page_short_objects("mine", 15.0) == 1


def test_table_5__needs_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOUSEHOLE_DATA", "/nowhere")
    own = paper.find_paper("sfd")
    made = own.evaluator(Options())
    (item,) = (one for one in own.definition.tables if one.number == "5")
    assert made.list_table_requests(item) == []
    found = paper.make_table(made, item)
    assert list(found.rows[0]) == [
        "Text", "4", "4", "50.0 to 68.0 KB", "59.0 KB", "29.0 KB", "29.0 KB", "3",
    ]  # fmt: skip
    assert list(found.rows[-1]) == ["2025", "", "not run", "", "not run", "", "not run", "not run"]
    assert "MOUSEHOLE_DATA" in found.note


def test_curves__leave_out_sizes_with_few_objects() -> None:
    run = make_measured()
    run["count"][30] = 4
    curve = quantities.mean_up_to_1mb(run)
    assert np.isnan(curve[30])
    assert np.isfinite(curve[29])
    assert curve.size == np.sum(SIZES <= 1000)
    assert quantities.std_up_to_1mb(run)[29] == pytest.approx(0.5 * curve[29])
    assert quantities.short_mean_by_size(run).size == quantities.short_std_by_size(run).size == 15


ACCESS = """\
h1 - - [01/Jan/2001:00:00:00 +0000] "GET /a.html HTTP/1.0" 200 1000
h1 - - [01/Jan/2001:00:00:01 +0000] "GET /a.gif HTTP/1.0" 200 500
h2 - - [01/Jan/2001:00:00:02 +0000] "GET /b.gif HTTP/1.0" 304 -
h2 - - [01/Jan/2001:00:00:02 +0000] "GET /c.gif?x=1.html HTTP/1.0" 200 300
h1 - - [01/Jan/2001:00:00:03 +0000] "GET /dir/ HTTP/1.0" 200 200
no request at all
h1 - - [01/Jan/2001:00:00:04 +0000] "GET /d.HTM?y HTTP/1.0" 200 100
"""


def group_pages(path: Path) -> list[list[float]]:
    """Returns the bytes of the objects of each page in a log."""
    found = pages.read_pages(path)
    return [list(found.bytes[found.page == number]) for number in range(found.number)]


def test_pages__begin_with_html_and_belong_to_one_client(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(ACCESS)
    assert group_pages(log) == [[1000, 500], [300], [200], [100]]
    packed = tmp_path / "access.log.gz"
    packed.write_bytes(gzip.compress(ACCESS.encode()))
    assert group_pages(packed) == group_pages(log)


def test_pages__of_tables_and_zeek(tmp_path: Path) -> None:
    table = tmp_path / "t.tsv"
    table.write_text("host\turl\tbytes\nh1\t/a.html\t10\nh1\t/b.gif\t20\nh1\t/c.html\t\nh1\t/d.gif\t5\n")
    assert group_pages(table) == [[10, 20], [5]]
    listed = tmp_path / "p.csv"
    listed.write_text("page,type,resp_bytes,size_src\np1,html,10,T\np1,js,7,T\np2,html,3,T\np2,js,9,X\n")
    assert group_pages(listed) == [[10, 7], [3]]
    zeek = tmp_path / "http.log"
    fields = "#fields\tts\tid.orig_h\tid.resp_h\turi\tresponse_body_len\n"
    zeek.write_text(fields + "1\tc\ts1\t/x.html\t10\n2\tc\ts2\t/y.gif\t20\n3\tc\ts1\t/z.gif\t30\nshort\n")
    assert group_pages(zeek) == [[10, 30], [20]]


def test_pages__without_any_are_refused(tmp_path: Path) -> None:
    nothing = tmp_path / "x.txt"
    nothing.write_text("a,b\n1,2\n")
    with pytest.raises(MouseholeError, match=r"x.txt: no answered request with a size; give an access log"):
        pages.read_pages(nothing)
    with pytest.raises(NotAvailableError, match=r"gone.log: No such file"):
        pages.read_pages(tmp_path / "gone.log")


def test_logged_pages__say_where_real_traces_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOUSEHOLE_DATA", "/nowhere")
    with pytest.raises(
        NotAvailableError, match=r"/nowhere/a.log: No such file.*; MOUSEHOLE_DATA names the folder"
    ):
        quantities.page_share(make_measured(), make_measured(), 0.3, log="a.log")
    own = tmp_path / "own.log.gz"
    own.write_text("not packed")
    with pytest.raises(MouseholeError, match=r"own.log.gz: Not a gzipped file") as caught:
        quantities.page_share(make_measured(), make_measured(), 0.3, log=str(own))
    assert not isinstance(caught.value, NotAvailableError), (
        "the user's own log is an error, not a cell not run"
    )


def test_page_share__of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(ACCESS)
    for sequential in (False, True):
        assert quantities.page_median(
            make_measured(0.6), make_measured(), sequential, str(log)
        ) == pytest.approx(0.4)
        assert quantities.page_share(make_measured(0.6), make_measured(), 0.39, sequential, str(log)) == 1.0
