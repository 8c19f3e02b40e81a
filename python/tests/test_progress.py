"""Progress where there is no terminal."""

import io

import pytest
from mousehole.base import ConsoleReporter
from mousehole.base import _progress as progress
from rich.console import Console


def test_console_reporter__says_every_minute_how_much_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now, out = 0.0, io.StringIO()
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    reporter = ConsoleReporter(Console(file=out))
    reporter.start(910, "rows")
    for second in range(1, 181):
        now = float(second)
        for _ in range(5):
            reporter.advance()
    reporter.finish()
    assert out.getvalue().splitlines() == [
        "296 of 910 rows, about 2 min left", "596 of 910 rows, about 1 min left",
        "896 of 910 rows, about 3 s left",
    ]  # fmt: skip
