"""Writes what the engine lists into documents, for `make docs`.

These are docs/schemes/ from the catalogue, the formats of captures in docs/traffic.md, and the layers in
sim/README.md.

There is a page for each scheme and one for the parts that are no scheme by themselves; people write the head
of `index.md`. tests/test_docs.py fails when the documents and the engine differ.
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
    """Renews the documents in place and removes pages of schemes that are no more."""
    schemes, parts = _engine.schemes(), _engine.parts()
    made = pages(schemes, parts)
    for old in FOLDER.glob("*.md"):
        if old != INDEX and old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    document.renew(INDEX, TARGET, listing(schemes, parts))
    document.renew(README, TARGET, f"\n{arrows.table()}\n")
    document.renew(TRAFFIC, TARGET, formats(_engine.formats()))
    print(f"docs: {FOLDER.relative_to(ROOT)} has {len(schemes)} schemes and {len(parts)} parts")


def pages(schemes: list[SchemeEntry], parts: list[PartEntry]) -> dict[str, str]:
    """Returns the text of every page that no person writes, by file name."""
    made = {page_name(scheme["name"]): scheme_page(scheme, schemes) for scheme in schemes}
    made[PARTS] = parts_page(schemes, parts)
    return {name: _marked(text) for name, text in made.items()}


def _marked(page: str) -> str:
    """Returns a page with the marker below its title: the site takes titles from first lines only."""
    title, _, rest = page.partition("\n\n")
    return f"{title}\n\n{document.marker(TARGET)}\n{rest}"


def page_name(scheme: str) -> str:
    """Returns the file name of a scheme's page."""
    return f"{scheme}.md"


def listing(schemes: list[SchemeEntry], parts: list[PartEntry]) -> str:
    """Returns the tables of `index.md`: all schemes, then all parts."""
    scheme_rows = [[link(scheme, page_name(scheme["name"])), scheme["summary"]] for scheme in schemes]
    part_rows = [
        [link(part, part_place(part["name"], schemes)), part["role"], part["summary"]] for part in parts
    ]
    return (
        f"\n## The schemes\n\n{document.table(('scheme', 'what it is'), scheme_rows)}"
        f"\n## The parts\n\n{document.table(('part', 'role', 'what it does'), part_rows)}"
    )


def formats(entries: list[FormatEntry]) -> str:
    """Returns the tables of what the reader of traffic understands, one for each group."""
    groups = dict.fromkeys(entry["group"] for entry in entries)
    tables = [
        document.table(
            (group, "recognised by", "read as"),
            [[entry["name"], entry["key"], entry["reading"]] for entry in entries if entry["group"] == group],
        )
        for group in groups
    ]
    return "\n" + "\n".join(tables) + "\n"


def link(entry: CatalogueEntry, target: str) -> str:
    """Returns a link with an entry's name as its text."""
    return f"[`{entry['name']}`]({target})"


def part_place(name: str, schemes: list[SchemeEntry]) -> str:
    """Returns where a part's parameters are listed; a part that is a scheme has that scheme's page."""
    alone = any(scheme["stages"] == [name] and scheme["name"] == name for scheme in schemes)
    return page_name(name) if alone else f"{PARTS}#{name}"


def scheme_page(scheme: SchemeEntry, schemes: list[SchemeEntry]) -> str:
    """Returns a scheme's page: what it is, what it is made of, where it comes from, its parameters."""
    name = scheme["name"]
    compared = ",".join(dict.fromkeys([name, "fq-codel"]))
    command = f"mousehole compare web:sfd --rate 3mbit --load 0.9 --schemes {compared} --quick"
    stages = [] if scheme["stages"] == [name] else scheme["stages"]
    made_of = "|".join(stages)
    links = ", ".join(f"[`{stage}`]({part_place(stage, schemes)})" for stage in stages)
    composed = document.wrapped(f"It is `{made_of}`, made of the parts {links}.") if stages else ""
    paragraphs = [
        f"# `{name}`",
        description(scheme),
        composed,
        source(scheme),
        f"```sh\n{command}\n```",
        f"## Install\n\n{installed(name)}",
        f"## Parameters\n\n{parameters(scheme)}",
    ]
    return "\n\n".join(filter(None, paragraphs))


def parts_page(schemes: list[SchemeEntry], parts: list[PartEntry]) -> str:
    """Returns the page of the markers and queues that have no page as a scheme."""
    head = document.wrapped(
        "Schemes are made of markers and queues. Any marker goes with any queue: `sfd(th=15kB)|priority`. "
        "These are the parts that are no scheme by themselves; the others have the page of their scheme in "
        "[the list of parts](index.md#the-parts)."
    )
    own = [part for part in parts if part_place(part["name"], schemes).startswith(PARTS)]
    return f"# Markers and queues\n\n{head}\n" + "".join(map(part_section, own))


def part_section(part: PartEntry) -> str:
    """Returns the section of one marker or queue."""
    kind = f"{part['role']}, a policy" if part["is_policy"] else part["role"]
    ways = document.wrapped(f"Installed by {part['installed_by']}.")
    if part["installed_by"].startswith("nothing: "):
        ways = document.wrapped(f"Installed by {part['installed_by'].replace(': it ', ', since it ')}.")
    head = [f"## `{part['name']}`", f"A {kind}.", description(part), source(part)]
    paragraphs = [*head, ways, parameters(part)]
    return "\n" + "\n\n".join(paragraphs)


def installed(scheme: str) -> str:
    """Returns what installs a scheme with its defaults on a link of 10 Mb/s with a buffer of 100 packets."""
    link = Link(rate_bps=10_000_000, buffer_packets=100, overhead=0)
    way = find_settings(scheme, link)
    if way is None:
        return document.wrapped(f"Nothing does: {explain_no_installation(scheme, link)}.")
    needs = document.wrapped(f"At 10 Mb/s with 100 packets of buffer; it needs {' and '.join(way.needs)}.")
    return "\n\n".join([needs, "```sh\n" + "\n".join(map(folded, way.lines)) + "\n```"])


def folded(line: str) -> str:
    """Returns a line of a shell within the documents' width."""
    if line.startswith("#"):
        return textwrap.fill(line, document.COLUMNS, subsequent_indent="# ", break_long_words=False)
    line, has_remark, remark = line.partition("  # ")
    if has_remark:
        return f"# {remark}\n{folded(line)}"
    return textwrap.fill(
        line, document.COLUMNS - 2, subsequent_indent="    ", break_long_words=False
    ).replace("\n", " \\\n")


def description(entry: CatalogueEntry) -> str:
    """Returns what an entry is, as one wrapped paragraph."""
    return document.wrapped(f"{capitalise(entry['summary'])}. {entry['detail']}")


def source(entry: CatalogueEntry) -> str:
    """Returns where an entry comes from."""
    return document.wrapped(f"Source: {entry['source']}.")


def parameters(entry: CatalogueEntry) -> str:
    """Returns the table of an entry's parameters."""
    header = ("parameter", "default", "value", "meaning", "source of the default")
    return document.table(header, map(row, entry["params"])) if entry["params"] else "There are none.\n"


def row(parameter: ParameterEntry) -> list[str]:
    """Returns one line of a table of parameters."""
    cells = [f"`{parameter['name']}`", f"`{parameter['default']}`"]
    return [*cells, parameter["unit"], parameter["doc"], parameter["source"]]


if __name__ == "__main__":
    main()
