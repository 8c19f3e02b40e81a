"""The types of the border to the engine, compared with what the engine really takes and returns."""

import ast
import sys
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from mousehole import _engine, engine_types
from mousehole.base import MouseholeError

from tools import engine_structs, engine_stub

SCENARIO: dict[str, Any] = engine_structs.SAMPLE


@pytest.fixture(scope="module")
def result() -> _engine.RunResult:
    """The result of the sample scenario."""
    return _engine.run(SCENARIO, None, _engine.Cancel())


def check_types(declared: type, found: Mapping[str, Any]) -> None:
    """Asserts that the keys are those of the TypedDict, and values and columns of the types it declares."""
    hints = get_type_hints(declared)
    assert set(found) == set(hints)
    for name, hint in hints.items():
        value = found[name]
        if isinstance(value, np.ndarray):
            assert value.dtype == get_args(get_args(hint)[1])[0], name
        elif hint in (str, int, float, bool):
            assert isinstance(value, hint), name


def test_written_modules__are_as_make_docs_writes_them() -> None:
    for path, text in {engine_stub.STUB: engine_stub.write_stub(), **engine_structs.list_files()}.items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path} is older than the Rust sources; run make docs"
        )


def test_stub__names_what_the_engine_has() -> None:
    tree = ast.parse(engine_stub.STUB.read_text(encoding="utf-8"))
    classes = [item for item in tree.body if isinstance(item, ast.ClassDef)]
    functions = [item.name for item in tree.body if isinstance(item, ast.FunctionDef)]
    constants = [item.target.id for item in tree.body if isinstance(item, ast.AnnAssign)
                 and isinstance(item.target, ast.Name)]  # fmt: skip
    names = {*functions, *constants, *(item.name for item in classes)}
    found = {name for name in vars(_engine) if not name.startswith("__")}
    missing = names - found - {"__version__"}
    assert found <= names
    assert not missing or sys.platform != "linux"  # elsewhere there are no links with real packets
    for item in [one for one in classes if one.name not in missing]:
        own = {one.name for one in item.body if isinstance(one, ast.FunctionDef)} - {"__new__"}
        assert own == {name for name in vars(getattr(_engine, item.name)) if not name.startswith("__")}


@pytest.mark.parametrize(
    ("table", "declared"),
    [
        ("transfers", engine_types.TransferColumns),
        ("flows", engine_types.FlowColumns),
        ("datagrams", engine_types.DatagramColumns),
        ("series", engine_types.SeriesColumns),
        ("trace", engine_types.TraceColumns),
    ],
)
def test_run_result__columns(result: _engine.RunResult, table: str, declared: type) -> None:
    check_types(declared, getattr(result, table)())


def test_run_result__counters_and_summary(result: _engine.RunResult) -> None:
    check_types(engine_types.RunSummary, result.summary())
    check_types(engine_types.LoadSummary, result.summary()["load"])
    for queue in result.queues():
        check_types(engine_types.QueueCounters, queue)
        for colour in queue["colours"]:
            check_types(engine_types.ColourCounters, colour)
            assert set(get_args(engine_types.Counter)) <= set(colour)


def test_traffic__summary_and_frame() -> None:
    traffic = _engine.model_traffic("web:sfd")
    check_types(engine_types.TrafficSummary, traffic.summary("3mbit"))
    check_types(engine_types.ConnectionColumns, traffic.frame())


def test_schemes__entries() -> None:
    for scheme in _engine.schemes():
        check_types(engine_types.SchemeEntry, scheme)
        for parameter in scheme["params"]:
            check_types(engine_types.ParameterEntry, parameter)


def test_scenario__has_a_type_for_every_field_that_is_filled_in() -> None:
    filled = _engine.validate({**SCENARIO, "link": {}, "topology": {"kind": "y"}})
    traffic, link = filled["traffic"], _engine.validate(SCENARIO)["link"]
    assert set(filled) <= set(get_type_hints(engine_types.Scenario))
    assert set(filled["topology"]) <= set(get_type_hints(engine_types.TopologySection))
    assert set(traffic) <= set(get_type_hints(engine_types.TrafficSection))
    assert set(traffic["mix"][0]) <= set(get_type_hints(engine_types.MixEntry))
    assert set(link) <= set(get_type_hints(engine_types.LinkSection))
    assert _engine.validate(filled) == filled


NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize(
    ("traffic", "words"),
    [
        ({"model": "web:sfd", "params": {"cap_bytes": NOT_A_NUMBER}}, "traffic.params.cap_bytes: nan"),
        ({"model": "web:sfd", "load": float("inf")}, "traffic.load: inf"),
        ({"connections": [{"start_s": NOT_A_NUMBER}]}, r"traffic.connections\[0\].start_s: nan"),
        ({"connections": ({"start_s": NOT_A_NUMBER},)}, r"traffic.connections\[0\].start_s: nan"),
        ({"files": "a.pcap"}, "it must be a list"),
        ({"model": b"web:sfd"}, "scenario: "),
        ({"model": "web:sfd", "load": object()}, "unsupported type"),
    ],
)
def test_scenario__refuses_what_json_cannot_hold(traffic: dict[str, Any], words: str) -> None:
    with pytest.raises(MouseholeError, match=words):
        _engine.validate({"traffic": traffic})


def test_model_traffic__refuses_parameters_that_json_cannot_hold() -> None:
    with pytest.raises(MouseholeError, match=r"traffic.params.cap_bytes: nan"):
        _engine.model_traffic("web:sfd", {"cap_bytes": NOT_A_NUMBER})
    with pytest.raises(MouseholeError, match=r"traffic\.params"):
        _engine.model_traffic("web:sfd", {"cap_bytes": object()})  # type: ignore[dict-item]


def test_connections_traffic__refuses_what_is_not_finite() -> None:
    connection = {"start_s": NOT_A_NUMBER, "writes": [{"bytes": 1000}]}
    with pytest.raises(MouseholeError, match=r"traffic\.connections\[0\]\.start_s: nan"):
        _engine.connections_traffic([connection])
