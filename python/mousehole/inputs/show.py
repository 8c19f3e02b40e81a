"""What `inspect` and `schemes` print."""

from collections.abc import Mapping, Sequence
from typing import cast

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mousehole import _engine
from mousehole.base import (
    engine_text,
    scheme_name,
)
from mousehole.document import Block, Document, Facts, Items, Prose, Section, Shown, Tone
from mousehole.engine_types import (
    CatalogueEntry,
    ParameterEntry,
    PartEntry,
    SchemeEntry,
    TrafficSummary,
)
from mousehole.inputs import account

_REMARK_TONES: dict[str, Tone] = {"skipped": "", "faulty": "bad", "note": "open"}


def print_schemes(console: Console, schemes: list[SchemeEntry], parts: list[PartEntry]) -> None:
    """Prints the schemes, one line each, and the parts that other schemes can be made of."""
    names = {scheme["name"] for scheme in schemes}
    sections: dict[str, Sequence[CatalogueEntry]] = {
        "Schemes": schemes,
        "Markers, for MARKER|QUEUE": [part for part in parts if part["role"] == "marker"],
        "Other queues": [part for part in parts if part["role"] == "queue" and part["name"] not in names],
    }
    for heading, entries in sections.items():
        console.print(Text(heading, style="bold underline"))
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True, style="bold", min_width=16)
        table.add_column(overflow="fold")
        for entry in entries:
            table.add_row(Text(entry["name"]), Text(entry["summary"]))
        console.print(table)
        console.print()
    hint = (
        "mousehole schemes NAME prints a page. Parameters go in parentheses: sfd(th=15kB). "
        "Any marker goes with any queue: sfd(th=15kB)|cake(tins=colour)."
    )
    console.print(Text(hint, style="dim"))


def find_scheme_entry(text: str) -> CatalogueEntry:
    """Returns the catalogue entry of a scheme or part, with the values given in parentheses as defaults.

    The parameters of `marker|queue` are those of all its parts, each named after its part. Raises
    `MouseholeError` for an unknown scheme, part or parameter.
    """
    name = scheme_name(text)
    parts = {part["name"]: part for part in _engine.parts()}
    named = {scheme["name"]: scheme for scheme in _engine.schemes()}
    if "|" in text:
        return _combine_entries(text, {**parts, **named})
    if name not in named and name in parts and parts[name]["role"] == "marker":
        shown = text + "|droptail"  # a marker alone is no scheme, but its values are checked as one's
        values = {
            key.removeprefix(f"{name}."): value for key, value in _engine.scheme_parameters(shown).items()
        }
        entry: CatalogueEntry = parts[name]
    else:
        values = _engine.scheme_parameters(text)
        entry = named[name] if name in named else parts[name]
    params = [param | {"default": values[param["name"]]} for param in entry["params"]]
    return {**entry, "params": params}


def _combine_entries(text: str, entries: Mapping[str, CatalogueEntry]) -> CatalogueEntry:
    """Returns the catalogue entry of parts joined by bars, with the values in `text` as defaults.

    Parameters are named after their part, such as `red.min`. Raises `MouseholeError` for an unknown part or
    parameter.
    """
    values = _engine.scheme_parameters(text)
    used = [entries[scheme_name(item)] for item in text.split("|")]
    params = [
        {
            **param,
            "name": f"{entry['name']}.{param['name']}",
            "default": values[f"{entry['name']}.{param['name']}"],
        }
        for entry in used
        for param in entry["params"]
        if f"{entry['name']}.{param['name']}" in values
    ]
    remarks = " ".join(f"{remark[0].upper()}{remark[1:]}." for remark in _engine.scheme_remarks(text))
    return {
        "name": text,
        "summary": " | ".join(entry["summary"] for entry in used),
        "source": "; ".join(dict.fromkeys(entry["source"] for entry in used)),
        "detail": " ".join([*(entry["detail"] for entry in used), remarks]).strip(),
        "params": cast("list[ParameterEntry]", params),
    }


_OWN_READERS = [
    ("pcap, pcapng", "captures"),
    ("zeek", "Zeek's conn.log, http.log, ssl.log and quic.log, TSV or JSON lines"),
    ("har", "pages as browsers save them (HTTP Archive)"),
    ("access-log", "Common and Combined Log Format: Apache, nginx, Squid"),
    ("table", "named columns: comma, semicolon or tab below a header, objects of JSON, Parquet"),
]


def print_scheme(console: Console, scheme: CatalogueEntry) -> None:
    """Prints the page of a scheme: its summary, its description, its source, its parameters."""
    console.print(Text(scheme["name"], style="bold") + Text(f"  {scheme['summary']}", style="not bold"))
    console.print(Text(f"\n{scheme['detail']}\n"))
    console.print(Text(f"Source: {scheme['source']}.", style="dim"))
    if scheme["params"]:
        console.print()
        console.print(_make_parameter_table(scheme["params"]))


def _make_parameter_table(params: list[ParameterEntry]) -> Table:
    """Returns a table of parameters with value, meaning and the source of the default."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for heading in ("parameter", "value", "meaning", "source of the default"):
        table.add_column(heading, overflow="fold")
    for param in params:
        cells = (f"{param['name']}={param['default']}", param["unit"], param["doc"], param["source"])
        table.add_row(*map(Text, cells))
    return table


def make_traffic_section(
    summary: TrafficSummary | None, note: str | None = None, shown: Shown = "always"
) -> Section:
    """Returns the section on the traffic that was read, and on the parts that were left out.

    `summary` is None where the scenario generates all traffic. `note` is a paragraph at the end.
    """
    blocks: list[Block] = []
    if summary is None:
        blocks.append(Prose("The scenario generates all traffic; the manifest has its parameters."))
    else:
        blocks += [Facts(_engine.traffic_account(summary)[1]), *_list_remark_blocks(summary)]
    blocks += [Prose(note)] if note else []
    return Section("traffic", "The traffic as it was understood", blocks, "Traffic", shown)


def make_formats_document() -> Document:
    """Returns the document on formats of files: own readers, described formats, and refused ones."""
    described = [(name, title, refused) for name, title, _, refused in _engine.log_formats()]
    read = [(name, title) for name, title, refused in described if not refused]
    refusals = [(name, f"{title}: {refused}") for name, title, refused in described if refused]
    hint = "docs/traffic.md shows how to describe a format of your own: mousehole inspect --format my.toml"
    sections = [
        Section("own", "Own readers", [Prose("With readers of their own:"), Facts(list(_OWN_READERS))]),
        Section("described", "Described", [Prose("Logs that a file of a few lines describes:"), Facts(read)]),
        Section("refused", "Refused", [Prose("Recognised and refused:"), Facts(refusals), Prose(hint)]),
    ]
    return Document("Formats of files", "", sections, footer=f"Mousehole {engine_text()}")


def make_summary_document(summary: TrafficSummary) -> Document:
    """Returns the document on traffic: its figures as they were read, and the rows that were left out."""
    title, _, _ = _engine.traffic_account(summary)
    return Document(title, "", [make_traffic_section(summary)], footer=f"Mousehole {engine_text()}")


def _list_remark_blocks(summary: TrafficSummary) -> list[Block]:
    """Returns the account in sentences, a list for each kind, in the tone of the kind."""
    kinds: dict[str, list[str]] = {}
    for remark in account.list_remarks(summary):
        kinds.setdefault(remark.kind, []).append(str(remark))
    return [Items(texts, _REMARK_TONES[kind]) for kind, texts in kinds.items()]
