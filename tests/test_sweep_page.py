"""The page of `sweep show --html` in a browser: it fits every width, and asks for nothing."""

from __future__ import annotations

from pathlib import Path

import mousehole

from tests.browser import browser
from tests.test_report_page import check_shown


def test_sweep_page__fits_every_width_and_asks_for_nothing(tmp_path: Path) -> None:
    """With an axis of numbers, one of names, and one of a part that only one scheme has."""
    found = mousehole.sweep(
        {
            "traffic": "web:sfd", "schemes": ["droptail", "sfd", "fq-codel"], "seeds": 5,
            "options": {"rate": "2mbit", "duration": "3s", "warmup": "1s"},
            "axes": {"load": [0.5, 0.9], "tcp": ["linux", "rfc"], "sfd.th": ["5kB", "50kB"]},
        },
        tmp_path / "found",
    )  # fmt: skip
    page = tmp_path / "sweep.html"
    found.html(page, ["mousehole", "sweep", "show", "found", "--html", page.name])
    text = page.read_text(encoding="utf-8")
    assert "against droptail" in text
    assert "mousehole sweep show found --html sweep.html" in text
    with browser() as window:
        check_shown(window, page)
