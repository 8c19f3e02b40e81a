"""The document against its schema."""

import json
import re
from pathlib import Path
from typing import Any

import mousehole
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mousehole import _engine
from mousehole.answer import tables
from mousehole.answer._setting import find_surroundings
from mousehole.runs import to_record
from mousehole.statistics import Estimate
from support import SMALL, HandMadeRun, make_results

SCHEMA = Path(__file__).parents[2] / "docs" / "mousehole.compare-3.schema.json"


def list_faults(schema: dict[str, Any], value: Any) -> list[str]:
    """Returns what in `value` does not fit a valid schema, with its path."""
    found = Draft202012Validator(schema).iter_errors(value)
    return [f"{fault.json_path}: {fault.message}" for fault in found]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The JSON schema, which is valid itself."""
    loaded: dict[str, Any] = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(loaded)
    return loaded


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The document of a small comparison."""
    found = mousehole.compare("web:sfd", seeds=5, **SMALL)  # type: ignore[arg-type]
    loaded: dict[str, Any] = json.loads(found.to_json())
    return loaded


def test_schema__describes_the_document(schema: dict[str, Any], document: dict[str, Any]) -> None:
    assert list_faults(schema, document) == []


QUANTITY = re.compile(r"(?<!bytes_per)_(s|bps|packets|bytes)$")


def list_negatives(value: Any, name: str = "") -> list[str]:
    """Returns the names of times, rates, sizes and counts below zero; differences may be."""
    if isinstance(value, dict):
        return [fault for key, item in value.items() for fault in list_negatives(item, key)]
    if isinstance(value, list):
        return [fault for item in value for fault in list_negatives(item, name)]
    is_checked = bool(QUANTITY.search(name)) and not name.startswith("difference")
    return [name] if is_checked and isinstance(value, int | float) and value < 0 else []


def test_schema__forbids_quantities_below_zero(schema: dict[str, Any], document: dict[str, Any]) -> None:
    bucket = document["cells"][0]["schemes"][0]["buckets"][0]
    for name in ("response_mean_s", "response_mean_low_s", "response_mean_high_s"):
        kept, bucket[name] = bucket[name], -0.001
        assert len(list_faults(schema, document)) == 1
        assert list_negatives(document) == [name]
        bucket[name] = kept
    assert list_negatives(document) == []


TIMES_S = st.floats(1e-9, 1e-3) | st.floats(0.01, 90.0)
"""Times of which some are far from the others, so that symmetric intervals would reach below zero."""
RUNS = st.lists(
    st.builds(
        lambda ends, delay_s, used: HandMadeRun(
            [9000] * (len(ends) - 2) + [400_000] * 2, ends, delay_s=delay_s, utilisation=used
        ),
        st.lists(TIMES_S | st.just(float("nan")), min_size=4, max_size=8), st.just(0.0) | TIMES_S,
        st.floats(0, 1),
    ),
    min_size=6, max_size=6,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(scheme=RUNS, baseline=RUNS)
def test_document_and_frames__hold_no_time_below_zero(
    schema: dict[str, Any], scheme: list[HandMadeRun], baseline: list[HandMadeRun]
) -> None:
    found = make_results(scheme, baseline)
    rows = [
        *tables.bucket_rows(found), *tables.scheme_rows(found), *tables.curve_rows(found),
        *tables.cdf_rows(found), *tables.group_rows(found), *tables.colour_rows(found),
    ]  # fmt: skip
    assert list_negatives([to_record(row) for row in rows]) == []
    cell = found.plan.cells[0]
    written = json.loads(_engine.json_text(found.compared(cell).document(find_surroundings(found, cell))))[
        "schemes"
    ]
    assert list_negatives(written) == []
    described = {"$ref": "#/$defs/SchemeEntry", "$defs": schema["$defs"]}
    assert [fault for each in written for fault in list_faults(described, each)] == []


def test_run__document_holds_no_time_below_zero() -> None:
    scenario = Path(__file__).parents[2] / "examples" / "many-applications.toml"
    done = mousehole.run(scenario, duration="10s")
    assert list_negatives(json.loads(done.to_json())) == []
    for frame in (done.transfers, done.flows, done.datagrams, done.series):
        assert list_negatives(frame.fill_nan(None).to_dicts()) == []


def test_schema__notices_faults(schema: dict[str, Any], document: dict[str, Any]) -> None:
    changes: tuple[dict[str, Any], ...] = (
        {"schema": "mousehole.compare/1"}, {"extra": 1}, {"cells": [{}]}, {"notes": [1]}, {"notes": True}
    )  # fmt: skip
    for change in changes:
        assert list_faults(schema, {**document, **change})


def test_document__keeps_no_trace_of_the_machine(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    for word in (str(Path.cwd()), "jobs", "host", "NaN", "Infinity"):
        assert word not in text


def test_document__units_are_in_the_names(document: dict[str, Any]) -> None:
    scheme = document["cells"][0]["schemes"][0]
    assert {"goodput_bps", "queue_delay_p95_s", "utilisation"} <= set(scheme)
    assert {"response_mean_s", "response_p99_s", "low_bytes"} <= set(scheme["buckets"][0])


def test_json_text__is_what_json_dumps_writes(document: dict[str, Any]) -> None:
    assert (
        _engine.json_text(document)
        == json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    )


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"])),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1)
            | st.floats(allow_nan=False, allow_infinity=False),
            lambda inner: st.lists(inner) | st.tuples(inner),
        ),
    )
)  # fmt: skip
def test_json_text__of_numbers_is_what_json_dumps_writes(document: dict[str, Any]) -> None:
    """But for the last digit of a number that lies halfway between two shortest texts, which read alike."""
    text = _engine.json_text(document)
    expected = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert len(text) == len(expected)
    differing = [one for one in zip(text.split(), expected.split(), strict=True) if one[0] != one[1]]
    assert all(float(own.rstrip(",")) == float(other.rstrip(",")) for own, other in differing)


def test_json_text__whole_numbers_keep_every_digit_up_to_64_bits() -> None:
    whole = {"seed": 2**64 - 1, "least": -(2**63), "numpy": np.uint64(2**64 - 1)}
    assert json.loads(_engine.json_text(whole)) == whole
    with pytest.raises(OverflowError, match="18446744073709551616 is beyond the whole numbers of 64 bits"):
        _engine.json_text({"seed": 2**64})


def test_json_text__of_what_json_has_not() -> None:
    document = {
        "nan": float("nan"), "numpy": [np.float64("inf"), np.float32(0.5), np.bool_(True)],
        "estimate": Estimate(1.0, float("nan"), 2.0, 5), 3: "key",
    }  # fmt: skip
    assert json.loads(_engine.json_text(document)) == {  # type: ignore[arg-type]
        "nan": None, "numpy": [None, 0.5, True],
        "estimate": {"mean": 1.0, "low": None, "high": 2.0, "count": 5}, "3": "key",
    }  # fmt: skip
    with pytest.raises(TypeError, match="set has no form in JSON"):
        _engine.json_text({"set": set()})
    with pytest.raises(TypeError, match="ndarray has no form in JSON"):
        _engine.json_text({"array": np.zeros(1)})


def test_json_text__surrogates_that_stand_alone_are_replaced() -> None:
    """Other programs refuse them. Names of files that are not UTF-8 are refused before."""
    text = _engine.json_text({"name \udcff": "a\udcffb\ud83d", "pair": "\U0001f600"})
    assert text == '{\n "name \ufffd": "a\ufffdb\ufffd",\n "pair": "\U0001f600"\n}\n'
    assert text.encode()


def test_json_text__what_steers_a_terminal_is_escaped() -> None:
    assert _engine.json_text({"a": "\x1b[31m\u202e\u2028\x9b\x7f"}) == (
        '{\n "a": "\\u001b[31m\\u202e\\u2028\\u009b\\u007f"\n}\n'
    )


PAGE: dict[str, Any] = {
    "place": "home", "down": "8mbit", "up": "1mbit", "schemes": ["droptail", "sfd"], "seeds": 2,
    "duration": "3s", "warmup": "1s",
}  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"seed": 18_446_744_073_709_551_615}, {"shape": "95%", "modem_buffer": "200ms", "rtt": "20ms"},
        {"load": 0.5}, {"place": None, "model": "web:sfd", "load": 0.9}, {"place": None, "model": "voip"},
        {"place": None, "model": "web:sfd", "load": 0.9, "warmup": None},
        {"place": None, "model": "poisson", "load": 0.7, "rtt": "20ms", "warmup": None},
    ],
)  # fmt: skip
def test_page__document_is_that_of_compare(changes: dict[str, Any]) -> None:
    """The page puts manifest and plan around cells and runs by itself (`compare/src/manifest.rs`)."""
    asked = {**PAGE, **changes}
    place, model = asked.pop("place"), asked.pop("model", None)
    expected = mousehole.compare(place or model, **asked).to_json()
    assert _engine.page_document(json.dumps({**PAGE, **changes})) == expected


@pytest.mark.parametrize("transfers", [5, 60, 200])
@pytest.mark.parametrize("load", [None, 0.8])
def test_page__document_of_a_file_is_that_of_compare(
    transfers: int, load: float | None, tmp_path: Path
) -> None:
    """The page plans captures as the command does: as they are, by a model, or by ready-made users."""
    rows = (f"{number / 4},{number % 7},{500 + 397 * number % 20_000}" for number in range(transfers))
    file = tmp_path / "small table.csv"
    file.write_text(
        "\n".join(("start_s,client,bytes", *rows, *["late,0,1"][: transfers // 20])), encoding="utf-8"
    )
    asked = {name: PAGE[name] for name in ("down", "up", "schemes", "seeds", "duration")}
    expected = mousehole.compare(file, **asked, load=load).to_json()
    read = _engine.read_traffic([str(file)])
    options = {**asked, "place": None, "files": [file.name], "load": load}
    assert _engine.page_document(json.dumps(options), read) == expected


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"load": 3}, "load: 3"),
        ({"model": "web:none", "place": None}, "traffic.model: "),
        ({"model": "web:sfd"}, "model: "),
        ({"files": ["a.pcap"]}, "files: "),
    ],
)
def test_page__refuses_in_one_sentence(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(mousehole.MouseholeError) as fault:
        _engine.page_document(json.dumps({**PAGE, **changes}))
    assert str(fault.value).startswith(problem)
    assert "\n" not in str(fault.value)
