"""Version and date are the same wherever they stand, and the source archive can be built."""

import json
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]
SECTION = re.compile(r"^## \[([0-9][^\]]*)\] — (\S+)$", re.MULTILINE)


def newest_section() -> tuple[str, str]:
    """Returns version and date of the changelog's first section that is released."""
    found = SECTION.search((ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert found is not None
    return found[1], found[2]


def test_citation__has_version_and_date_of_the_changelog() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    found = re.findall(r"^(version|date-released): (\S+)$", citation, re.MULTILINE)
    assert found == list(zip(("version", "date-released"), newest_section(), strict=True))


def test_version__is_the_same_everywhere() -> None:
    page = [
        json.loads((ROOT / "web" / name).read_text("utf-8")) for name in ("package.json", "package-lock.json")
    ]
    assert {newest_section()[0], *(entry["version"] for entry in page)} == {VERSION}


def test_changelog__begins_with_what_is_not_released() -> None:
    headings = re.findall(r"^## .*$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == "## [Unreleased]"


def test_source_archive__is_prepared_for_a_build_where_it_is_unpacked(tmp_path: Path) -> None:
    maturin = [sys.executable, "-m", "maturin"]
    archive = ["sdist", "--manifest-path", str(ROOT / "python" / "Cargo.toml"), "--out", str(tmp_path)]
    subprocess.run([*maturin, *archive], check=True, capture_output=True)
    (file,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(file) as packed:
        packed.extractall(tmp_path, filter="data")
    described = ["pep517", "write-dist-info", "--metadata-directory", str(tmp_path / "found")]
    folder = tmp_path / f"mousehole-{VERSION}"
    done = subprocess.run([*maturin, *described], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (folder / "mousehole.data" / "data" / "share" / "man" / "man1" / "mousehole-compare.1").is_file()
