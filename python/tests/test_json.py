"""The document against its schema, by a checker for the few keywords that the schema uses."""

import json
from pathlib import Path
from typing import Any

import mousehole
import pytest
from support import SMALL

SCHEMA = Path(__file__).parents[2] / "docs" / "mousehole.compare-2.schema.json"

TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
    "integer": int, "number": (int, float),
}  # fmt: skip
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "required",
         "additionalProperties", "items", "enum", "const"}  # fmt: skip


def faults(schema: dict[str, Any], value: Any, root: dict[str, Any], place: str = "") -> list[str]:
    """What in `value` does not fit `schema`, with its place."""
    assert set(schema) <= KNOWN, f"the checker does not know {set(schema) - KNOWN}"
    if "$ref" in schema:
        return faults(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], value, root, place)
    found = [] if _type_fits(schema, value) else [f"{place}: {value!r} has the wrong type"]
    if value not in schema.get("enum", [schema.get("const", value)]):
        found.append(f"{place}: {value!r} is not one of the values")
    if isinstance(value, dict) and "properties" in schema:
        found += [f"{place}: {name} is missing" for name in schema["required"] if name not in value]
        found += [f"{place}: {name} is not described" for name in value if name not in schema["properties"]]
        for name, inner in schema["properties"].items():
            found += faults(inner, value[name], root, f"{place}.{name}") if name in value else []
    if isinstance(value, list):
        for number, item in enumerate(value):
            found += faults(schema["items"], item, root, f"{place}[{number}]")
    return found


def _type_fits(schema: dict[str, Any], value: Any) -> bool:
    named = schema.get("type", [])
    names = [named] if isinstance(named, str) else named
    if isinstance(value, bool) and names:
        return "boolean" in names
    return not names or any(isinstance(value, TYPES[name]) for name in names)


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(SCHEMA.read_text())
    return loaded


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found = mousehole.compare("web:sfd", seeds=5, **SMALL)  # type: ignore[arg-type]
    loaded: dict[str, Any] = json.loads(found.to_json())
    return loaded


def test_schema__describes_the_document(schema: dict[str, Any], document: dict[str, Any]) -> None:
    assert faults(schema, document, schema) == []


def test_schema__notices_faults(schema: dict[str, Any], document: dict[str, Any]) -> None:
    changes: tuple[dict[str, Any], ...] = (
        {"schema": "mousehole.compare/1"}, {"extra": 1}, {"cells": [{}]}, {"notes": [1]}, {"notes": True}
    )  # fmt: skip
    for change in changes:
        assert faults(schema, {**document, **change}, schema)


def test_document__keeps_no_trace_of_the_machine(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    for word in (str(Path.cwd()), "jobs", "host", "NaN", "Infinity"):
        assert word not in text


def test_document__units_are_in_the_names(document: dict[str, Any]) -> None:
    scheme = document["cells"][0]["schemes"][0]
    assert {"goodput_bps", "queue_delay_p95_s", "utilisation"} <= set(scheme)
    assert {"response_mean_s", "response_p99_s", "low_bytes"} <= set(scheme["buckets"][0])
