"""Writes the JSON Schema of comparisons from the types of the document, for `make docs`.

Names, types and texts are those of `answer._entries` and of the rows in `runs._results`; a quantity's
columns come from the table of quantities.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import types
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from mousehole import quantities
from mousehole.answer import _entries, findings
from mousehole.base import Bucket
from mousehole.quantities import Subject
from mousehole.runs import _results as rows
from mousehole.statistics import Estimate

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "docs" / "mousehole.compare-3.schema.json"
HEAD = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "mousehole.compare/3"}

Schema = dict[str, Any]

NUMBERS: Mapping[type, str] = {int: "integer", float: "number", bool: "boolean", str: "string"}
DROPPED: Mapping[str, str] = {
    "early": "Dropped by the policy before the buffer was full.",
    "forced": "Dropped because a limit of the queue was reached.",
    "policed": "Dropped by a policer before the queue, for exceeding the user's traffic profile.",
}
"""Count of packets of a colour → what is counted."""
UNIONS = (Union, types.UnionType)
OPEN = ("Scenario",)
"""Typed dictionaries whose fields another document describes."""
MEASURED = ("_s", "_bps", "_bytes", "_packets", "_share", "seconds", "margin")
"""What the names of times, rates, sizes and shares end with."""
PLACE = ("buffer", "load", "scheme")
"""What rows of tables have, and entries below a scheme of a cell have not."""
SUBJECTS: Mapping[str, Subject] = {"bucket": "bucket", "scheme": "scheme"}
"""Definition → whose quantities its `estimates` are."""
CHOICES: Mapping[str, tuple[str | None, ...]] = {
    "finding.outcome": (
        findings.BETTER, findings.WORSE, findings.NO_BENEFIT, findings.UNDECIDED, findings.UNCLEAR
    ),
    "cell.replay": ("closed", "open", None),
    "group.kind": (*quantities.KINDS, None),
}  # fmt: skip
"""The values that a column of text may have."""
BUCKET: Mapping[str, Schema] = {
    "bucket": {"type": "string", "description": "Name of the size range."},
    "role": {
        "enum": ["size", *quantities.CLASSES],
        "description": "size: one of the ranges that divide all transfers; the others are summaries.",
    },
    "low_bytes": {
        "minimum": 0,
        "type": "integer",
        "description": "The transfers have more than this.",
    },
    "high_bytes": {
        "minimum": 0,
        "type": ["integer", "null"],
        "description": "At most this; null: any.",
    },
}
"""The columns of a size bucket, which is a type of the engine's."""
PARTS: Mapping[str, tuple[type, ...]] = {
    "cell": (_entries.CellEntry, rows.LoadRow),
    "scheme": (_entries.SchemeEntry, rows.SchemeRow),
    "bucket": (rows.BucketRow,),
    "colour": (rows.ColourRow,),
    "curve": (rows.CurveRow,),
    "finding": (rows.Finding,),
    "by_size": (rows.SizeRow,),
    "group": (rows.GroupRow,),
    "evidence": (rows.EvidenceRow,),
}
"""Definitions that hold rows of tables, and what each is made of."""
REFERENCES: Mapping[str, str] = {
    "cells": "cell", "evidence": "evidence", "schemes": "scheme", "findings": "finding", "buckets": "bucket",
    "by_size": "by_size", "colours": "colour", "curve": "curve", "groups": "group",
}  # fmt: skip
"""Field of a cell or scheme → the definition of its rows."""


def main() -> None:
    """Renews the schema in place."""
    SCHEMA.write_text(written(), encoding="utf-8")


def written() -> str:
    """Returns the schema as its file holds it."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def schema() -> Schema:
    """Returns the schema of the document."""
    definitions: dict[str, Schema] = {}
    whole = _entry(_entries.CompareDocument, definitions)
    for name, parts in PARTS.items():
        definitions[name] = _merged(name, parts, definitions)
    whole["properties"]["cells"]["items"] = _reference("cell")
    del definitions[_entries.CellEntry.__name__]
    return {**HEAD, **whole, "$defs": dict(sorted(definitions.items()))}


def _merged(name: str, parts: tuple[type, ...], definitions: dict[str, Schema]) -> Schema:
    """Returns the definition of entries made of a typed dictionary, a row, or both."""
    properties: dict[str, Schema] = {}
    for part in parts:
        if is_typeddict(part):
            own = _entry(part, definitions)["properties"]
            properties |= {key: _rows(key, each) for key, each in own.items()}
        else:
            properties |= dict(_columns(name, part))
    for column, values in CHOICES.items():
        definition, _, key = column.partition(".")
        if definition == name:
            kept = {keyword: each for keyword, each in properties[key].items() if keyword != "type"}
            properties[key] = {**kept, "enum": list(values)}
    return _object(properties, sorted(properties), inspect.getdoc(parts[0]))


def _rows(key: str, given: Schema) -> Schema:
    """Returns a property of a cell or scheme, with its rows by reference."""
    if key not in REFERENCES:
        return given
    row = _reference(REFERENCES[key])
    kept = {"description": given["description"]} if "description" in given else {}
    return (
        {"type": "array", "items": row, **kept}
        if given.get("type") == "array"
        else {**_nullable(row), **kept}
    )


def _columns(name: str, row: type) -> Iterator[tuple[str, Schema]]:
    """Returns the columns that `runs.as_record` makes of a row, without those of the place that it is in."""
    texts, hints = _texts(row), get_type_hints(row)
    dropped = PLACE[:2] if row is rows.Finding else PLACE
    for field in dataclasses.fields(row):
        if field.name in dropped:
            continue
        hint, text = hints[field.name], texts.get(field.name)
        if hint in (Estimate, rows.Change):
            yield from _interval(field.name, text, is_change=hint is rows.Change)
        elif hint is Bucket:
            yield from BUCKET.items()
        elif field.name == "estimates":
            yield from _quantities(SUBJECTS[name])
        elif field.name == "counts":
            counts = ("arrived", *DROPPED, "marked", "sent")
            yield from ((count, _number(count, int, DROPPED.get(count))) for count in counts)
        elif field.name == "what":
            yield "what", {"enum": [one.name for one in quantities.about("application")], **_described(text)}
        else:
            yield field.name, _value(field.name, hint, text, {})


def _interval(name: str, text: str | None, is_change: bool) -> Iterator[tuple[str, Schema]]:
    """Returns the columns of an estimate, or of a change that may be without an interval."""
    low, high = (f"{name}_low", f"{name}_high") if is_change else quantities.ends(name)
    least, most = (", or the smallest replication", ", or the largest one") if is_change else ("", "")
    yield name, _number(name, float | None, text)
    yield low, _number(low, float | None, f"Lower end of its 95 % interval{least}.")
    yield (
        high,
        _number(high, float | None, f"Upper end of its 95 % interval{most}."),
    )
    if is_change:
        yield f"{name}_is_interval", _number("", bool, "False: too few replications for an interval.")


def _quantities(subject: Subject) -> Iterator[tuple[str, Schema]]:
    for one in quantities.about(subject):
        ends = (f"{end} end of its 95 % interval" for end in ("lower", "upper"))
        texts = (f"{one.long} (mean over replications)", *ends)
        for name, text in zip((one.name, *one.ends), texts, strict=True):
            yield name, {"minimum": 0, "type": ["number", "null"], "description": text}


def _entry(entry: type, definitions: dict[str, Schema]) -> Schema:
    """Returns the schema of a typed dictionary; the dictionaries in it become definitions."""
    hints, texts = get_type_hints(entry, include_extras=True), _texts(entry)
    optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
    properties = {
        name: _value(name, get_args(hint)[0] if name in optional else hint, texts.get(name), definitions)
        for name, hint in hints.items()
    }
    return _object(properties, sorted(hints.keys() - optional), inspect.getdoc(entry))


def _value(name: str, hint: Any, text: str | None, definitions: dict[str, Schema]) -> Schema:
    """Returns the schema of a field of this type."""
    if get_origin(hint) is Annotated:
        hint, text = get_args(hint)
    kind, inner = get_origin(hint), [one for one in get_args(hint) if one is not type(None)]
    if kind is Literal:
        values: Schema = {"enum": inner} if len(inner) > 1 else {"const": inner[0]}
        return {**values, **_described(text)}
    if hint in NUMBERS or (kind in UNIONS and inner[0] in NUMBERS):
        return _number(name, hint, text)
    if kind in UNIONS:
        return {**_nullable(_value(name, inner[0], None, definitions)), **_described(text)}
    if kind is list:
        items = _value(name, inner[0], None, definitions)
        return {"type": "array", "items": items, **_described(text)}
    if is_typeddict(hint) and hint.__name__ not in OPEN:
        definitions[hint.__name__] = _entry(hint, definitions)
        return {**_reference(hint.__name__), **_described(text)}
    return {"type": "object", **_described(text)}


def _number(name: str, hint: Any, text: str | None) -> Schema:
    """Returns the schema of a plain value; counts, times, rates, sizes and shares are not below zero."""
    kinds = [NUMBERS[one] for one in get_args(hint) or (hint,) if one is not type(None)]
    kinds += ["null"] if type(None) in get_args(hint) else []
    is_signed = name.startswith(("difference", "value")) or "change" in name or name.endswith("status")
    is_measured = "integer" in kinds or ("number" in kinds and name.endswith(MEASURED))
    return {
        **({"minimum": 0} if is_measured and not is_signed else {}),
        "type": kinds[0] if len(kinds) == 1 else kinds,
        **_described(text),
    }


def _nullable(one: Schema) -> Schema:
    return {"anyOf": [one, {"type": "null"}]}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _described(text: str | None) -> Schema:
    return {} if text is None else {"description": " ".join(text.split())}


def _object(properties: Mapping[str, Schema], required: list[str], text: str | None) -> Schema:
    return {
        **_described(text), "type": "object", "additionalProperties": False, "required": required,
        "properties": dict(properties),
    }  # fmt: skip


def _texts(owner: type) -> dict[str, str]:
    """Returns the texts below the fields of a class written as one; none for any other."""
    try:
        (body,) = ast.parse(inspect.getsource(owner)).body
    except (OSError, TypeError):
        return {}
    texts = {}
    for field, text in pairwise(getattr(body, "body", [])):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                texts[name] = words
    return texts


if __name__ == "__main__":
    main()
