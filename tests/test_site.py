"""The site's hooks: which files of the repository are pages, and where their links lead."""

from __future__ import annotations

from pathlib import Path

import mousehole
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mousehole import policy

from tools import site_hooks

ROOT = Path(__file__).resolve().parent.parent


def configuration() -> MkDocsConfig:
    """Returns the configuration of the site."""
    return load_config(str(ROOT / "mkdocs.yml"))


def test_navigation__has_every_document() -> None:
    config = configuration()
    site_hooks.on_config(config)
    named = site_hooks.list_all_named(config.nav or [])
    documents = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert documents <= named
    rest = {name for name in named - documents if name != "index.md"}
    assert [name for name in rest if not (ROOT / name).is_file()] == []
    assert {"papers/sfd/README.md", "CHANGELOG.md", "SECURITY.md"} <= rest


def test_api__shows_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    public = [name for name in mousehole.__all__ if name != "__version__"]
    assert [name for name in public if f"::: mousehole.{name}\n" not in page] == []
    functions = [name for name in dir(policy) if callable(getattr(policy, name))]
    (members,) = (line for line in page.splitlines() if "members: [" in line)
    assert sorted(members.partition("[")[2].rstrip("]").split(", ")) == sorted(functions)


def test_place__of_files() -> None:
    places = {
        "README.md": "index.md",
        "docs/compare.md": "compare.md",
        "docs/schemes/sfd.md": "schemes/sfd.md",
        "papers/README.md": "papers/README.md",
        "examples/tree.toml": "examples/tree.toml.md",
        "docs/images/heatmap.png": "images/heatmap.png",
    }
    assert {name: site_hooks.site_name(ROOT / name) for name in places} == places


def test_for_site__relinks_prose_and_leaves_code_alone() -> None:
    source = ROOT / "docs" / "schemes" / "index.md"
    text = (
        "[a](../../policy/README.md#x) [b](sfd.md) [c](https://x.org) [d](nowhere.md)\n"
        "[e](../../papers/)\n"
        "| `a\\|b` | a\\|b |\n"
        "```\n[a](../../policy/README.md)\n| `a\\|b` |\n```\n"
    )
    assert site_hooks.convert_links(text, source, "schemes/index.md") == (
        "[a](../policy/README.md#x) [b](sfd.md) [c](https://x.org) [d](nowhere.md)\n"
        "[e](../papers/README.md)\n"
        "| `a|b` | a\\|b |\n"
        "```\n[a](../../policy/README.md)\n| `a\\|b` |\n```\n"
    )


def test_reached__follows_links_once() -> None:
    found = list(site_hooks.follow_links([ROOT / "README.md"]))
    assert len(found) == len(set(found))
    assert {ROOT / "examples" / "README.md", ROOT / "docs" / "images" / "heatmap.png"} <= set(found)
    assert all(path.is_file() for path in found)


def test_with_patterns__lists_what_is_not_named(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).touch()
    nav = ["x.md", {"Below": [{"Second": "b.md"}, "*.md"]}]
    assert site_hooks.expand_patterns(nav, tmp_path) == [
        "x.md",
        {"Below": [{"Second": "b.md"}, "a.md", "c.md"]},
    ]
    assert site_hooks.list_all_named(nav) == {"x.md", "b.md", "*.md"}
