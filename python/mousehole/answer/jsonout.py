"""JSON documents for programs; docs/json.md describes them."""

from collections.abc import Mapping, Sequence

from mousehole import _engine
from mousehole.answer import findings, notes, overview, tables
from mousehole.answer._entries import AdviceEntry, VetoEntry
from mousehole.answer._kept import facts_entry
from mousehole.answer._kept import results_of as results_of
from mousehole.answer.advice import Advice, advice
from mousehole.answer.vetoes import Veto
from mousehole.base import Summary
from mousehole.base import clean as clean
from mousehole.base import dumps as dumps
from mousehole.runs import Cell, Record, Results, Row, as_record

COMPARE_SCHEMA = "mousehole.compare/3"
RUN_SCHEMA = "mousehole.run/2"
INSPECT_SCHEMA = "mousehole.inspect/1"

Document = Mapping[str, object]

_ROLES: tuple[Summary, ...] = ("short", "long")
_PLACE = ("buffer", "load", "scheme")


def comparison_document(results: Results) -> Document:
    """Returns the document of schema `mousehole.compare/3`."""
    return {
        "schema": COMPARE_SCHEMA,
        "manifest": results.manifest,
        "traffic": results.traffic or {},
        "cells": [_cell(results, cell) for cell in results.plan.cells],
        "notes": [
            findings.first_cell(results).exploratory_note(),
            findings.first_cell(results).coverage_note(),
        ],
        **facts_entry(results),
    }


def _cell(results: Results, cell: Cell) -> Document:
    plan, evidence = results.plan, tables.evidence_row(results, cell)
    return {
        "buffer": cell.buffer,
        "load": cell.load,
        **as_record(tables.load_row(results, cell)),
        "warmup_s": _engine.parse_duration("warmup", plan.warmup_of(cell)),
        "warmup_needed_s": plan.warmup.needed_s(cell.load) if plan.warmup else None,
        "evidence": as_record(evidence) if evidence else None,
        "schemes": [_scheme(results, cell, scheme) for scheme in results.plan.schemes],
        "findings": [_without(finding, ("buffer", "load")) for finding in findings.findings(results, cell)],
        "notes": notes.cell_notes(results, cell),
        "advice": _advice(advice(results, cell)[0]),
    }


def _advice(one: Advice) -> AdviceEntry:
    way = one.installation
    return {
        "outcome": one.outcome,
        "scheme": one.scheme,
        "is_best": one.is_best,
        "peers": list(one.peers),
        "ahead": list(one.ahead),
        "reference": one.reference,
        "vetoes": [_veto(each) for each in one.vetoes],
        "installation": None if way is None else {"place": way.place, "lines": list(way.lines)},
        "lines": list(one.lines),
    }


def _veto(one: Veto) -> VetoEntry:
    change = one.change
    return {
        "scheme": one.scheme,
        "class": one.margin.whose,
        "quantity": one.margin.name,
        "margin": one.margin.most,
        "is_relative": one.margin.is_relative,
        "change": change.mean,
        "low": change.low,
        "high": change.high,
        "binds": one.binds,
    }


def _scheme(results: Results, cell: Cell, scheme: str) -> Document:
    (row,) = _own(tables.scheme_rows(results, cell), scheme)
    per_replication = {
        f"{role}_response_mean_per_replication_s": list(
            results.bucket_values(cell, scheme, role, "response_mean_s")
        )
        for role in _ROLES
    }
    return {
        "scheme": scheme,
        **row,
        **per_replication,
        "buckets": _own(tables.bucket_rows(results, cell), scheme),
        "by_size": _own(overview.by_size_rows(results, cell), scheme),
        "colours": _own(tables.colour_rows(results, cell), scheme),
        "curve": _own(tables.curve_rows(results, cell), scheme),
        "groups": _own(tables.group_rows(results, cell), scheme),
    }


def _own(rows: Sequence[Row], scheme: str) -> list[Record]:
    return [_without(row, _PLACE) for row in rows if row.scheme == scheme]


def _without(row: Row, place: tuple[str, ...]) -> Record:
    return {key: value for key, value in as_record(row).items() if key not in place}
