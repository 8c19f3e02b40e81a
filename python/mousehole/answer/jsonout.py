"""JSON documents for programs, which docs/json.md describes; `_engine.json_text` writes all of them."""

from collections.abc import Mapping

from mousehole import _engine
from mousehole.answer import findings
from mousehole.answer._facts import facts_entry
from mousehole.answer._facts import restore_results as restore_results
from mousehole.answer._setting import find_surroundings
from mousehole.runs import Results

COMPARE_SCHEMA = _engine.COMPARE_SCHEMA
RUN_SCHEMA = "mousehole.run/2"
INSPECT_SCHEMA = "mousehole.inspect/1"

Document = Mapping[str, object]


def comparison_document(results: Results) -> Document:
    """Returns a comparison as a document of schema `mousehole.compare/3`, from which `load` restores it.

    `traffic` is empty if the traffic was not summarised.
    """
    return {
        "schema": COMPARE_SCHEMA,
        "manifest": results.manifest,
        "traffic": results.traffic or {},
        "cells": [
            results.compared(cell).document(find_surroundings(results, cell)) for cell in results.plan.cells
        ],
        "notes": [
            findings.first_cell(results).exploratory_note(),
            findings.first_cell(results).coverage_note(),
        ],
        **facts_entry(results),
    }
