"""The same traffic through several exporters of flows gives equal counts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from validation import exporters

pytestmark = pytest.mark.alone  # programs wait for each other


def test_capture__is_what_the_exports_must_be(tmp_path: Path) -> None:
    exporters.write_capture(tmp_path / "a.pcap")
    assert exporters.read_counts(tmp_path / "a.pcap") == exporters.EXPECTED


@pytest.mark.parametrize("way", exporters.WAYS)
def test_export__has_the_counts_of_the_capture(way: str, tmp_path: Path) -> None:
    if (lacking := exporters.list_missing(way)) and not os.environ.get("CI"):
        pytest.skip(f"NOT RUN: {', '.join(lacking)} is not installed (make deps)")
    assert not lacking
    exporters.write_capture(tmp_path / "a.pcap")
    found = exporters.export(way, tmp_path / "a.pcap", tmp_path / "way")
    assert exporters.read_counts(found) == exporters.EXPECTED, found.read_bytes()[:1000]
