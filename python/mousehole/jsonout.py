"""The documents for programs; docs/json.md describes them. Keys are sorted, NaN never appears."""

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

from mousehole import findings, overview, tables
from mousehole.plan import Cell

if TYPE_CHECKING:
    from mousehole.comparison import Comparison

COMPARE_SCHEMA = "mousehole.compare/1"
RUN_SCHEMA = "mousehole.run/1"
INSPECT_SCHEMA = "mousehole.inspect/1"

Rows = list[dict[str, Any]]

_PLACE = ("buffer", "load", "scheme")


def dumps(document: dict[str, Any]) -> str:
    """The document as text ending in a newline."""
    return json.dumps(clean(document), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def comparison_document(comparison: "Comparison") -> dict[str, Any]:
    """Schema `mousehole.compare/1`."""
    return {
        "schema": COMPARE_SCHEMA,
        "manifest": comparison.manifest,
        "traffic": comparison.traffic_summary,
        "cells": [_cell(comparison, cell) for cell in comparison.plan.cells],
        "notes": [findings.EXPLORATORY_NOTE, findings.OVERLAY_NOTE],
    }


def clean(value: Any) -> Any:
    """The value with numpy numbers made plain and NaN or infinity made null."""
    if isinstance(value, dict):
        return {str(key): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value


def _cell(comparison: "Comparison", cell: Cell) -> dict[str, Any]:
    results = comparison.results
    rows = {
        "buckets": tables.bucket_rows(results, cell),
        "by_size": overview.by_size_rows(results, cell),
        "colours": tables.colour_rows(results, cell),
        "curve": tables.curve_rows(results, cell),
        "groups": tables.group_rows(results, cell),
        "scheme": tables.scheme_rows(results, cell),
    }
    here = [
        finding
        for finding in comparison.finding_list
        if (finding.buffer, finding.load) == (cell.buffer, cell.load)
    ]
    return {
        "buffer": cell.buffer,
        "load": cell.load,
        **tables.load_row(results, cell),
        "schemes": [_scheme(results, rows, cell, scheme) for scheme in comparison.plan.schemes],
        "findings": [_without_place(finding.as_row(), ("buffer", "load")) for finding in here],
        "notes": comparison.notes(cell),
    }


def _scheme(results: tables.Results, rows: dict[str, Rows], cell: Cell, scheme: str) -> dict[str, Any]:
    (row,) = _rows(rows["scheme"], scheme)
    per_replication = {
        f"{role}_response_mean_per_replication_s": list(
            results.bucket_values(cell, scheme, role, "response_mean_s")
        )
        for role in ("short", "long")
    }
    names = ("buckets", "by_size", "colours", "curve", "groups")
    nested = {name: _rows(rows[name], scheme) for name in names}
    return {"scheme": scheme, **row, **per_replication, **nested}


def _rows(rows: Rows, scheme: str) -> Rows:
    return [_without_place(row, _PLACE) for row in rows if row["scheme"] == scheme]


def _without_place(row: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in place}
