"""The table of quantities: a new one shows everywhere without another edit."""

import io
import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import mousehole
import pytest
from mousehole import quantities
from mousehole.base import time_text
from mousehole.document import print_document
from mousehole.quantities import Quantity
from mousehole.tuning import objectives
from rich.console import Console
from support import SMALL


@pytest.fixture
def lower_tenth() -> Iterator[Quantity]:
    """The 10th percentile of the response time, which no table has; removed after the test."""
    p95 = quantities.find("bucket", "response_p95_s")
    words = {"short": "p10", "long": "10th percentile of the response time", "axis": "response time, p10"}
    source = {"transfers": [None, "response_s", {"percentile": 10.0}]}
    added = p95.changed(stem="response_p10", words=words, source=source, least=2, measure="p10")
    quantities.add(added)
    yield added
    quantities.remove(added)


@pytest.mark.usefixtures("lower_tenth")
def test_add__a_quantity_shows_in_terminal_page_and_json(tmp_path: Path) -> None:
    found = mousehole.compare("web:sfd", seeds=5, **SMALL)  # type: ignore[arg-type]
    scheme = json.loads(found.to_json())["cells"][0]["schemes"][1]
    short = next(row for row in scheme["buckets"] if row["role"] == "short")
    assert 0 < short["response_p10_low_s"] < short["response_p10_s"] < short["response_p10_high_s"]
    assert short["response_p10_s"] < short["response_p50_s"]
    written = io.StringIO()
    print_document(Console(file=written, width=200), found.document(), details=True)
    value = time_text(short["response_p10_s"])
    assert (written.getvalue().count("p10"), value in written.getvalue()) == (11, True)
    found.html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert ">p10<" in page
    assert value in page


@pytest.mark.usefixtures("lower_tenth")
def test_add__a_quantity_is_a_column_of_sweeps_and_a_measure_of_tune(tmp_path: Path) -> None:
    sweep = mousehole.sweep(
        {"traffic": "poisson", "schemes": ["droptail", "sfd"], "seeds": 1,
         "options": {"rate": "2mbit", "duration": "3s", "warmup": "1s"}, "axes": {"load": [0.5]}},
        tmp_path / "sweep",
    )  # fmt: skip
    row = sweep.rows.collect().row(0, named=True)
    assert 0 < row["short_response_p10_s"] <= row["short_response_p50_s"]
    assert sweep.cells("short_response_p10_s")["mean"][0] == pytest.approx(row["short_response_p10_s"])
    assert objectives.parse_quantity("objective", "short p10").description == (
        "10th percentile of the response time of short transfers"
    )


def test_add__a_known_name_is_refused() -> None:
    with pytest.raises(ValueError, match="utilisation is known already"):
        quantities.add(quantities.find("scheme", "utilisation"))


def test_find__unknown_names_are_errors() -> None:
    for subject, name in (("bucket", "utilisation"), ("scheme", "response_mean_s")):
        with pytest.raises(KeyError):
            quantities.find(subject, name)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="no measure is called short_speed"):
        quantities.find_measure("short_speed")
    with pytest.raises(KeyError):
        quantities.name_ends("short_speed")


def test_measures__have_words_units_and_names() -> None:
    p95 = quantities.find_measure("long_response_p95_s")
    assert (p95.description, p95.asked_as) == (
        "95th percentile of the response time of long transfers",
        "long p95",
    )
    assert quantities.find_measure("queue_delay_p99_s").asked_as == "queue p99"
    assert quantities.find_measure("short_count").description == "number of short transfers"
    assert quantities.find_measure("load_achieved").asked_as is None


def test_quantities__travel_between_processes() -> None:
    for one in quantities.table():
        assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301
        json.dumps(one.fields())
