"""The tables of `mousehole run`."""

from pathlib import Path
from typing import Any

import mousehole
import pytest
from mousehole._engine import DROP_REASONS
from mousehole.document import Cell, Table

FAULTY = Path(__file__).resolve().parents[2] / "examples" / "single-transfer.toml"
POLICED = {
    "scheme": "tcp-ds(police=drop)",
    "warmup": "0s",
    "duration": "100s",
    "traffic": {
        "connections": [
            {"start_s": n / 10, "client": n % 2, "class": "bulk", "writes": [{"bytes": 200_000}]}
            for n in range(6)
        ]
    },
}


@pytest.mark.parametrize(("scenario", "reason"), [(FAULTY, "fault"), (POLICED, "policed")])
def test_queue_table__rows_add_up(scenario: Any, reason: str) -> None:
    (table,) = [
        block for block in mousehole.run(scenario).document().sections[0].blocks if isinstance(block, Table)
    ]
    rows = [[cell.text if isinstance(cell, Cell) else cell for cell in row] for row in table.rows]
    columns = {column.heading: [row[place] for row in rows] for place, column in enumerate(table.columns)}
    counted = [name for name in ("arrived", *DROP_REASONS, "sent") if name in columns]
    assert reason in counted
    for arrived, *parts in zip(*(map(int, columns[name]) for name in counted), strict=True):
        assert arrived == sum(parts)
