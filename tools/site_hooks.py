"""Hooks of mkdocs.yml: pages from outside docs/, links to them, and the pages of schemes in the navigation.

The documents are written for reading in the repository, so their links lead to files of the
repository. In the site README.md is the front page, docs/X.md is the page X, and any other file
that a page links to is a page under its own path: Markdown as it is, anything else as highlighted
text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FRONT = ROOT / "README.md"
PICTURES = {".png", ".svg"}
LANGUAGES = {".h": "c", ".py": "python", ".rs": "rust", ".toml": "toml", ".json": "json", ".sh": "sh"}

LINK = re.compile(r"\]\((?!\w+:|#|/)([^)\s#]+)")
CODE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"`[^`]+`")


def on_config(config: MkDocsConfig) -> None:
    """Replaces patterns such as `schemes/*.md` in the navigation by files; MkDocs calls it.

    Changes `config`.
    """
    config.nav = expand_patterns(config.nav or [], DOCS)


def on_files(files: Files, *, config: MkDocsConfig) -> None:
    """Adds all files outside docs/ that the navigation names or a page links to; MkDocs calls it.

    Changes `files`.
    """
    in_navigation = (ROOT / name for name in list_all_named(config.nav or []))
    outside = [path for path in in_navigation if path != ROOT / "index.md" and path.is_file()]
    for path in follow_links([FRONT, *outside, *sorted(DOCS.rglob("*.md"))]):
        if DOCS not in path.parents:
            files.append(make_file(path, config))


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Returns the Markdown of a page with links to pages of the site; MkDocs calls it.

    A page without a file stays as it is.
    """
    source = page.file.abs_src_path
    if source is None:
        return markdown
    return convert_links(markdown, Path(source), page.file.src_uri)


def expand_patterns(nav: list[Any], folder: Path) -> list[Any]:
    """Returns the navigation with each pattern replaced by the matching files that its level does not name.

    The navigation given stays as it is. Files are sorted and relative to `folder`.
    """
    expanded: list[Any] = []
    for entry in nav:
        if isinstance(entry, dict):
            expanded.append(
                {
                    title: expand_patterns(below, folder) if isinstance(below, list) else below
                    for title, below in entry.items()
                }
            )
        elif "*" in entry:
            fitting = {path.relative_to(folder).as_posix() for path in folder.glob(entry)}
            expanded += sorted(fitting - list_named(nav))
        else:
            expanded.append(entry)
    return expanded


def list_named(nav: list[Any]) -> set[str]:
    """Returns the pages that entries of one level name."""
    return {page for entry in nav for page in (entry.values() if isinstance(entry, dict) else [entry])
            if isinstance(page, str)}  # fmt: skip


def list_all_named(nav: list[Any]) -> set[str]:
    """Returns the pages that entries of all levels name."""
    below = [
        part for entry in nav if isinstance(entry, dict) for part in entry.values() if isinstance(part, list)
    ]
    return list_named(nav).union(*map(list_all_named, below))


def follow_links(start: Iterable[Path]) -> Iterator[Path]:
    """Yields files of the repository and everything that they link to, each once."""
    waiting, seen = list(start), set[Path]()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        yield path
        if path.suffix == ".md":
            text = CODE.sub("", path.read_text(encoding="utf-8"))
            waiting += filter(None, (resolve_link(path, target) for target in LINK.findall(text)))


def resolve_link(path: Path, target: str) -> Path | None:
    """Returns the file of the repository that a link leads to, or None.

    A link to a folder leads to its README.md.
    """
    found = Path(os.path.normpath(path.parent / target))
    if found.is_dir():
        found /= "README.md"
    return found if found.is_file() and ROOT in found.parents else None


def site_name(path: Path) -> str:
    """Returns the path of a repository file within the site."""
    if path == FRONT:
        return "index.md"
    if DOCS in path.parents:
        return path.relative_to(DOCS).as_posix()
    name = path.relative_to(ROOT).as_posix()
    return name if path.suffix in {".md", *PICTURES} else f"{name}.md"


def make_file(path: Path, config: MkDocsConfig) -> File:
    """Returns a file from outside docs/ as a file of the site."""
    if path.suffix in {".md", *PICTURES}:
        file = File.generated(config, site_name(path), abs_src_path=str(path))
    else:
        file = File.generated(config, site_name(path), content=render_text(path))
    file.inclusion = InclusionLevel.NOT_IN_NAV
    return file


def render_text(path: Path) -> str:
    """Returns a page that shows a text file."""
    name, language = path.relative_to(ROOT).as_posix(), LANGUAGES.get(path.suffix, "text")
    return f"# `{name}`\n\n`````{language}\n{path.read_text(encoding='utf-8')}\n`````\n"


def convert_links(markdown: str, source: Path, page: str) -> str:
    """Returns the Markdown of a page with links within the site.

    GitHub needs a backslash before a bar in a table's code span; Python-Markdown would show it, so it is
    removed.
    """

    def relinked(match: re.Match[str]) -> str:
        """Returns a link with its target in the site; one that leads to no file stays as it is."""
        found = resolve_link(source, match[1])
        if found is None:
            return match[0]  # mkdocs warns of it, which --strict makes an error
        return f"]({os.path.relpath(site_name(found), Path(page).parent)}"

    def prose(text: str) -> str:
        """Returns a text outside code blocks with its links and bars changed."""
        return "\n".join(map(strip_backslashes, LINK.sub(relinked, text).split("\n")))

    return _change_outside_code(markdown, prose)


def strip_backslashes(line: str) -> str:
    """Returns a table's line without the backslashes before bars in code spans."""
    if not line.lstrip().startswith("|"):
        return line
    return CODE_SPAN.sub(lambda span: span[0].replace(r"\|", "|"), line)


def _change_outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Returns the text with `change` applied to all parts outside code blocks."""
    result, end = [], 0
    for block in CODE.finditer(markdown):
        result += [change(markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*result, change(markdown[end:])])
