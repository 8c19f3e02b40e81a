"""The JSON document of days compared; docs/json.md describes it."""

from collections.abc import Sequence

from mousehole.answer import Document, comparison_document
from mousehole.days import _days as days
from mousehole.days._days import Day
from mousehole.runs import Cell

DAYS_SCHEMA = "mousehole.days/2"


def make_days_document(own: Sequence[Day]) -> Document:
    """Returns the document of schema `mousehole.days/2`: findings over days, and each day's own document."""
    plan = own[0].results.plan
    return {
        "schema": DAYS_SCHEMA,
        "cells": [_make_cell_entry(own, cell) for cell in plan.cells],
        "days": [{"day": day.name, "comparison": comparison_document(day.results)} for day in own],
        "notes": [days.DAYS_NOTE],
    }


def _make_cell_entry(own: Sequence[Day], cell: Cell) -> Document:
    """Returns the entry of a cell: answer, installation (None without one), findings by day, notes."""
    lines, way = days.answer_over_days(own, cell)
    return {
        "buffer": cell.buffer,
        "load": cell.load,
        "answer": lines,
        "installation": None if way is None else {"place": way.place, "lines": way.lines},
        "findings": [
            {
                **{key: value for key, value in finding.as_row().items() if key not in ("buffer", "load")},
                "effects": [effect.as_row() for effect in finding.effects],
            }
            for finding in days.find_over_days(own, cell)
        ],
        "notes": days.list_day_notes(own, cell),
    }
