"""Writes the engine's lists into documents, for `make docs`.

These are docs/schemes/ from the catalogue, the formats of captures in docs/traffic.md, and the
layers in sim/README.md. There is a page for each scheme and one for the parts that are no scheme by
themselves; people write the head of `index.md`. tests/test_docs.py fails if the documents and the
engine differ.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from mousehole import _engine
from mousehole.answer import Link, explain_no_installation, find_settings
from mousehole.base import capitalise
from mousehole.engine_types import CatalogueEntry, FormatEntry, ParameterEntry, PartEntry, SchemeEntry

from tools import arrows, document

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "schemes"
INDEX = FOLDER / "index.md"
PARTS = "parts.md"
README = ROOT / "sim" / "README.md"
TRAFFIC = ROOT / "docs" / "traffic.md"
TARGET = "docs"


def main() -> None:
    """Renews the documents and removes pages of schemes that no longer exist.

    Raises `ValueError` for a document without its marker.
    """
    schemes, parts = _engine.schemes(), _engine.parts()
    made = write_pages(schemes, parts)
    for old in FOLDER.glob("*.md"):
        if old != INDEX and old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    document.renew(INDEX, TARGET, write_lists(schemes, parts))
    document.renew(README, TARGET, f"\n{arrows.write_table()}\n")
    document.renew(TRAFFIC, TARGET, write_formats(_engine.formats()))
    print(f"docs: {FOLDER.relative_to(ROOT)} has {len(schemes)} schemes and {len(parts)} parts")


def write_pages(schemes: list[SchemeEntry], parts: list[PartEntry]) -> dict[str, str]:
    """Returns the text of every generated page, by file name."""
    made = {page_name(scheme["name"]): write_scheme_page(scheme, schemes) for scheme in schemes}
    made[PARTS] = write_parts_page(schemes, parts)
    return {name: _insert_marker(text) for name, text in made.items()}


def _insert_marker(page: str) -> str:
    """Returns a page with the marker below its title: the site takes titles from first lines only."""
    title, _, rest = page.partition("\n\n")
    return f"{title}\n\n{document.make_marker(TARGET)}\n{rest}"


def page_name(scheme: str) -> str:
    """Returns the file name of a scheme's page."""
    return f"{scheme}.md"


def write_lists(schemes: list[SchemeEntry], parts: list[PartEntry]) -> str:
    """Returns the tables of `index.md`: all schemes, then all parts."""
    scheme_rows = [[make_link(scheme, page_name(scheme["name"])), scheme["summary"]] for scheme in schemes]
    part_rows = [
        [make_link(part, find_part_page(part["name"], schemes)), part["role"], part["summary"]]
        for part in parts
    ]
    return (
        f"\n## The schemes\n\n{document.table(('scheme', 'what it is'), scheme_rows)}"
        f"\n## The parts\n\n{document.table(('part', 'role', 'what it does'), part_rows)}"
    )


PLAIN = "by the inner header"
"""How most formats are read; a paragraph names those, and a table has the others."""


def write_formats(entries: list[FormatEntry]) -> str:
    """Returns the traffic reader's formats by group: those read by the inner header, and the others."""
    groups = dict.fromkeys(entry["group"] for entry in entries)
    return "\n" + "".join(
        _write_group(group, [entry for entry in entries if entry["group"] == group]) for group in groups
    )


def _write_group(group: str, entries: list[FormatEntry]) -> str:
    """Returns a group's paragraph and table, each with an empty line behind it."""
    plain = [f"{entry['name']}: {entry['key']}" for entry in entries if entry["reading"] == PLAIN]
    rest = [[entry["name"], entry["key"], entry["reading"]] for entry in entries if entry["reading"] != PLAIN]
    text = f"**{capitalise(group)}** read {PLAIN}: {'; '.join(plain)}." if plain else ""
    table = document.table((group, "recognised by", "read as"), rest) if rest else ""
    return "".join(f"{part.rstrip()}\n\n" for part in (document.wrap(text), table) if part)


def make_link(entry: CatalogueEntry, target: str) -> str:
    """Returns a Markdown link with an entry's name as its text."""
    return f"[`{entry['name']}`]({target})"


def find_part_page(name: str, schemes: list[SchemeEntry]) -> str:
    """Returns the link target of a part's parameters.

    That is its scheme's page, or its section of the parts' page.
    """
    alone = any(scheme["stages"] == [name] and scheme["name"] == name for scheme in schemes)
    return page_name(name) if alone else f"{PARTS}#{name}"


def write_scheme_page(scheme: SchemeEntry, schemes: list[SchemeEntry]) -> str:
    """Returns a scheme's page: description, parts, source, installation and parameters."""
    name = scheme["name"]
    compared = ",".join(dict.fromkeys([name, "fq-codel"]))
    command = f"mousehole compare web:sfd --rate 3mbit --load 0.9 --schemes {compared} --quick"
    stages = [] if scheme["stages"] == [name] else scheme["stages"]
    made_of = "|".join(stages)
    links = ", ".join(f"[`{stage}`]({find_part_page(stage, schemes)})" for stage in stages)
    composed = document.wrap(f"It is `{made_of}`, made of the parts {links}.") if stages else ""
    paragraphs = [
        f"# `{name}`",
        write_description(scheme),
        composed,
        write_source(scheme),
        f"```sh\n{command}\n```",
        f"## Install\n\n{write_installation(name)}",
        f"## Parameters\n\n{write_parameters(scheme)}",
    ]
    return "\n\n".join(filter(None, paragraphs))


def write_parts_page(schemes: list[SchemeEntry], parts: list[PartEntry]) -> str:
    """Returns the page of the markers and queues that have no page as a scheme."""
    head = document.wrap(
        "Schemes are made of markers and queues. Any marker goes with any queue: `sfd(th=15kB)|priority`. "
        "These are the parts that are no scheme by themselves; the others have the page of their scheme in "
        "[the list of parts](index.md#the-parts)."
    )
    own = [part for part in parts if find_part_page(part["name"], schemes).startswith(PARTS)]
    return f"# Markers and queues\n\n{head}\n" + "".join(map(write_part_section, own))


def write_part_section(part: PartEntry) -> str:
    """Returns the section of one marker or queue."""
    kind = f"{part['role']}, a policy" if part["is_policy"] else part["role"]
    ways = document.wrap(f"Installed by {part['installed_by']}.")
    if part["installed_by"].startswith("nothing: "):
        ways = document.wrap(f"Installed by {part['installed_by'].replace(': it ', ', since it ')}.")
    head = [f"## `{part['name']}`", f"A {kind}.", write_description(part), write_source(part)]
    paragraphs = [*head, ways, write_parameters(part)]
    return "\n" + "\n\n".join(paragraphs)


def write_installation(scheme: str) -> str:
    """Returns the commands that install a scheme, or the reason why none does.

    The link has 10 Mb/s and a buffer of 100 packets.
    """
    link = Link(rate_bps=10_000_000, buffer_packets=100, overhead=0)
    way = find_settings(scheme, link)
    if way is None:
        return document.wrap(f"Nothing does: {explain_no_installation(scheme, link)}.")
    needs = document.wrap(f"At 10 Mb/s with 100 packets of buffer; it needs {' and '.join(way.needs)}.")
    return "\n\n".join([needs, "```sh\n" + "\n".join(map(fold, way.lines)) + "\n```"])


def fold(line: str) -> str:
    """Returns a shell line folded to the documents' width; a remark at its end becomes a line before it."""
    if line.startswith("#"):
        return textwrap.fill(line, document.COLUMNS, subsequent_indent="# ", break_long_words=False)
    line, has_remark, remark = line.partition("  # ")
    if has_remark:
        return f"# {remark}\n{fold(line)}"
    return textwrap.fill(
        line, document.COLUMNS - 2, subsequent_indent="    ", break_long_words=False
    ).replace("\n", " \\\n")


def write_description(entry: CatalogueEntry) -> str:
    """Returns an entry's summary and detail as one wrapped paragraph."""
    return document.wrap(f"{capitalise(entry['summary'])}. {entry['detail']}")


def write_source(entry: CatalogueEntry) -> str:
    """Returns an entry's source as a wrapped sentence."""
    return document.wrap(f"Source: {entry['source']}.")


def write_parameters(entry: CatalogueEntry) -> str:
    """Returns the table of an entry's parameters."""
    header = ("parameter", "default", "value", "meaning", "source of the default")
    return (
        document.table(header, map(list_cells, entry["params"])) if entry["params"] else "There are none.\n"
    )


def list_cells(parameter: ParameterEntry) -> list[str]:
    """Returns the cells of a row of a table of parameters."""
    cells = [f"`{parameter['name']}`", f"`{parameter['default']}`"]
    return [*cells, parameter["unit"], parameter["doc"], parameter["source"]]


if __name__ == "__main__":
    main()
