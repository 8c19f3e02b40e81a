"""Generates Python classes for the engine's structs from their Rust sources, for `make docs`.

Their fields, types and docs are those of Rust: `engine_structs.py` has dictionaries, each
`_rows.py` the rows of tables and answers.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mousehole import _engine

from tools.engine_stub import ROOT, Item, format_module, list_items, python_type, write_doc

PACKAGE = ROOT / "python" / "mousehole"
STRUCTS, RUN_ROWS, ANSWER_ROWS = (
    PACKAGE / name for name in ("engine_structs.py", "runs/_rows.py", "answer/_rows.py")
)
HEAD = '''# Written by `make docs` (tools/engine_structs.py).
"""{}"""

'''
JSON = "dict[str, JsonValue]"


@dataclass(frozen=True)
class Source:
    """A Rust file, and the Python names of structs in it."""

    file: str
    names: Mapping[str, str]
    is_partial: bool = False
    """Whether fields may be left out, as of a scenario."""


SCENARIO = "sim/src/scenario"
DICTIONARIES = (
    Source("answer/src/manifest.rs", {name: name for name in ("InputEntry", "SchemeParameters", "Manifest")}),
    Source(f"{SCENARIO}/mix_spec.rs", {"MixSpec": "MixEntry"}, True),
    Source(f"{SCENARIO}/topology/spec.rs", {"TopologySpec": "TopologySection"}, True),
    Source(
        f"{SCENARIO}/spec.rs",
        {"WriteSpec": "WriteSpec", "DatagramsSpec": "DatagramsSpec", "ConnectionSpec": "ConnectionSpec",
         "LinkSpec": "LinkSection", "TrafficSpec": "TrafficSection", "Scenario": "Scenario"},
        True,
    ),
    Source(
        "sim/src/traffic/mod.rs",
        {"CaptureCounts": "CaptureCounts", "Source": "TrafficSource", "Skipped": "SkippedRows",
         "Faults": "FaultyRows"},
    ),
    Source("sim/src/traffic/note.rs", {"Note": "TrafficNote"}),
    Source("sim/src/traffic/summary.rs", {"FlowClassCount": "FlowClassCount", "Summary": "TrafficSummary"}),
    Source("sim/src/traffic/read/formats.rs", {"Understood": "FormatEntry"}),
    Source("answer/src/reduction/records.rs", {"Load": "LoadSummary"}),
    Source(
        "policy/check/src/report.rs",
        {"KernelFigures": "PolicyKernelFigures", "SensitivityFigures": "PolicySensitivityFigures",
         "Check": "PolicyCheckEntry", "Report": "PolicyReport"},
    ),
    Source("python/src/link.rs", {"Given": "LinkSettings"}),
    Source("scheme/src/install/wred.rs", {"WredProfile": "WredEntry"}),
    Source(
        "answer/src/schema_tests.rs",
        {name: name for name in ("Lateness", "LinkWay", "LinkAccount", "LinkRunEntry")},
    ),
)  # fmt: skip
ROWS = (
    Source(
        "answer/src/tables.rs",
        {name: name for name in ("BucketRow", "SchemeRow", "ColourRow", "CurveRow", "CdfRow", "GroupRow")},
    ),
    Source("answer/src/tables.rs", {name: name for name in ("LoadRow", "EvidenceRow")}),
    Source("answer/src/overview.rs", {"SizeRow": "SizeRow"}),
    Source("answer/src/findings.rs", {"Finding": "FindingRow"}),
    Source("scheme/src/install/wred.rs", {"WredProfile": "WredProfile"}),
)
ANSWERS = (Source("answer/src/advice.rs", {"Advice": "AnswerRow"}),)
OTHERS = {
    **dict.fromkeys(("Percentiles", "Kinds", "Classes", "PacketCounts"), "dict[str, int]"),
    **dict.fromkeys(
        ("Class", "Ends", "FlowClass", "NoteKind", "Verdict", "Outcome", "Kind", "Quantity"), "str"
    ),
    **dict.fromkeys(
        ("AccessSpec", "HostStageSpec", "TcpSpec", "ServerSpec", "BulkSpec", "MisbehavingSpec", "FaultSpec",
         "TopologyLink", "HostGroup", "Value"),
        JSON,
    ),
    "TimePercentiles": "dict[str, float]", "Estimates": "dict[str, Estimate]",
}  # fmt: skip
"""Python's types of what has no class there."""
SAMPLE: dict[str, object] = {
    "warmup": "0s", "duration": "5s", "trace": True, "series": "1s", "scheme": "rio-ps",
    "link": {"rate": "4mbit"},
    "traffic": {
        "mix": [
            {"model": "poisson", "load": 0.5},
            {"model": "ftp", "params": {"endless": True}, "count": 1},
            {"model": "voip", "count": 2},
        ]
    },
}  # fmt: skip
"""A run with records of every kind, off which the types of columns are read."""
ARRAYS = {
    "Bools": "bool", "UInts16": "uint16", "UInts32": "uint32", "UInts64": "uint64", "Ints": "int64",
    "Floats": "float64",
}  # fmt: skip
"""Names of the types of columns."""
NESTED = {
    "load": "LoadSummary", "colours": "list[ColourCounters]", "flow_class": "list[str | None]",
    "flow": "list[int | None]",
}  # fmt: skip
"""Types of what is nested, or may be None, by their fields; those of arrays are read off."""
DOCS = {
    "ConnectionColumns":
        "The connections of a traffic: one row each; `rtt_s` and `duration_s` are NaN where unknown.",
    "TransferColumns":
        "One row per measured transfer.\n\n`end_s` is NaN for an unfinished transfer. `page` is the number "
        "of its page (0: none), which has `page_transfers` transfers in all.",
    "FlowColumns": "One row per long-lived flow: what it delivered within the measured window.",
    "DatagramColumns":
        "One row per datagram flow: packets sent within the measured window, and their one-way delays.",
    "SeriesColumns":
        "Values over time: adaptive ones, one row per change, valid from `time_s` on; then samples.\n\n"
        "`link` is empty for samples of senders, `colour` None for values of all packets, and `flow` the "
        "key of a long-lived flow or None.",
    "TraceColumns": "One row per packet event of the data path.",
    "ColourCounters":
        "Packets (and, with `_bytes`, bytes) of one colour at one queue within the measured window.",
    "QueueCounters": "One link and its queue within the measured window.",
    "RunSummary": "Load, goodput, and how much was simulated.",
    "ParameterEntry": "One parameter of a scheme.",
}  # fmt: skip
FIELD = re.compile(r"    (?:pub )?(\w+): (.*),$")


def write_dictionaries() -> str:
    """Returns the text of the module of the dictionaries.

    Reads the Rust sources and runs a sample scenario in the engine.
    """
    head = HEAD.format("Dictionaries that the engine takes and returns; `engine_types` has all types.")
    imports = (
        "from __future__ import annotations\n\nfrom typing import NotRequired, TypedDict\n\n"
        "import numpy as np\nfrom numpy.typing import NDArray\n"
    )
    value = 'JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]'
    arrays = [f"{name} = NDArray[np.{kind}{'_' * (kind == 'bool')}]" for name, kind in ARRAYS.items()]
    parts = [head, imports, value, '"""A value of a JSON document."""', *arrays]
    return format_module("\n".join([*parts, *_list_classes(DICTIONARIES, False), *_list_records()]), STRUCTS)


def _list_records() -> Iterator[str]:
    """Yields the classes of records without a struct, from the values of a sample run."""
    run = _engine.run(SAMPLE, None, _engine.Cancel())
    queue, scheme = run.queues()[0], _engine.schemes()[1]
    found: dict[str, Mapping[str, Any]] = {
        "ConnectionColumns": _engine.model_traffic("web:sfd").frame(), "TransferColumns": run.transfers(),
        "FlowColumns": run.flows(), "DatagramColumns": run.datagrams(), "SeriesColumns": run.series(),
        "TraceColumns": run.trace() or {}, "ColourCounters": queue["colours"][0], "QueueCounters": queue,
        "RunSummary": run.summary(), "ParameterEntry": scheme["params"][0],
    }  # fmt: skip
    for name, values in found.items():
        fields = [(field, _find_type(field, value), Item()) for field, value in values.items()]
        yield _write_class(f"{name}(TypedDict)", Item(DOCS[name].split("\n")), fields)


def _find_type(field: str, value: Any) -> str:
    """Returns the Python type of a field with this value, as text.

    Raises `StopIteration` for an array whose elements have no type in `ARRAYS`.
    """
    if isinstance(value, np.ndarray):
        return next(name for name, kind in ARRAYS.items() if kind == value.dtype.name)
    if field in NESTED:
        return NESTED[field]
    if isinstance(value, list):
        kinds = {"None" if one is None else type(one).__name__ for one in value}
        return f"list[{' | '.join(sorted(kinds, key=lambda kind: kind == 'None'))}]"
    return type(value).__name__


def write_rows() -> str:
    """Returns the text of the module of the rows of tables, from the Rust sources."""
    imports = (
        "from mousehole.base import Bucket\n"
        "from mousehole.runs._row import Change, Row\nfrom mousehole.statistics import Estimate\n"
    )
    return _write_rows("The rows of a comparison's tables", imports, ROWS, RUN_ROWS)


def write_answers() -> str:
    """Returns the text of the module of the answer of a comparison, from the Rust sources."""
    imports = (
        "from mousehole.answer._install import Installation\n"
        "from mousehole.answer.vetoes import Veto\nfrom mousehole.runs import Place\n"
    )
    return _write_rows("What the answer of a comparison says of a cell", imports, ANSWERS, ANSWER_ROWS)


def _write_rows(title: str, imports: str, sources: tuple[Source, ...], path: Path) -> str:
    """Returns the text of a module with a frozen dataclass for each struct of the sources."""
    head = HEAD.format(f"{title}, as frozen data.")
    standard = "from dataclasses import dataclass\n"
    return format_module("\n".join([head, standard, imports, *_list_classes(sources, True)]), path)


def _list_classes(sources: tuple[Source, ...], is_row: bool) -> Iterator[str]:
    """Yields the classes of the sources' structs, as rows or as dictionaries.

    Raises `KeyError` for a struct that the file lacks.
    """
    names = OTHERS | {rust: name for source in sources for rust, name in source.names.items()}
    for source in sources:
        text = (ROOT / source.file).read_text(encoding="utf-8")
        found = {line.split()[-2]: (item, rest) for item, line, rest in list_items(text) if "struct" in line}
        for rust, name in source.names.items():
            item, rest = found[rust]
            fields = list(_list_fields(rest.partition("\n}")[0], names, source))
            yield (
                _write_row(name, item, fields)
                if is_row
                else _write_dictionary(name, item, fields, source.is_partial)
            )


def _list_fields(body: str, names: Mapping[str, str], source: Source) -> Iterator[tuple[str, str, Item]]:
    """Yields name, type and documentation of each field in the body of a struct.

    `names` has Python's types by Rust's; a field of another form is skipped.
    """
    item = Item()
    for line in body.splitlines():
        bare = line.strip()
        if bare.startswith("///"):
            item.doc.append(bare[3:].removeprefix(" "))
        elif bare.startswith("#["):
            item.attributes += bare
        elif found := FIELD.match(line):
            kind = python_type(found[2].replace("serde_json::", ""), False)
            kind = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), kind)
            kind = kind.replace("Object", "Scenario" if found[1] == "scenario" else JSON)
            if "finite_or_null" in item.attributes:
                kind += " | None"
            is_absent = "Option::is_none" in item.attributes
            if source.is_partial:
                kind = kind.removesuffix(" | None") if is_absent else kind
            elif is_absent:
                kind = f"NotRequired[{kind.removesuffix(' | None')}]"
            yield found[1], kind, item
            item = Item()


def _write_dictionary(name: str, item: Item, fields: list[tuple[str, str, Item]], is_partial: bool) -> str:
    """Returns a struct as a `TypedDict`; one with a keyword as a field needs the call syntax."""
    ending = ", total=False" * is_partial
    if any(keyword.iskeyword(field) for field, _, _ in fields):
        each = ", ".join(f'"{field}": {kind}' for field, kind, _ in fields)
        return "\n".join([f'{name} = TypedDict("{name}", {{{each}}}{ending})', *write_doc(item, "")])
    return _write_class(f"{name}(TypedDict{ending})", item, fields)


def _write_row(name: str, item: Item, fields: list[tuple[str, str, Item]]) -> str:
    """Returns a struct as a frozen dataclass, derived from the base class of its first fields."""
    kinds = {field: kind for field, kind, _ in fields}
    base = "(Row)" if kinds.get("scheme") == "str" else "(Place)" if "scheme" in kinds else ""
    own = [
        (field, _freeze(kind), item) for field, kind, item in fields if base != "(Row)" or field != "scheme"
    ]
    return "@dataclass(frozen=True)\n" + _write_class(f"{name}{base}", item, own)


def _freeze(kind: str) -> str:
    """Returns the immutable form of a field's type, as text.

    Lists of pairs become dictionaries, other lists tuples.
    """
    kind = re.sub(r"list\[tuple\[(.*)\]\]", r"dict[\1]", kind)
    return re.sub(r"list\[(.*)\]", r"tuple[\1, ...]", kind)


def _write_class(head: str, item: Item, fields: list[tuple[str, str, Item]]) -> str:
    """Returns a class as text with a documented field per line; `head` is its name with its bases.

    Rust's `null` in documents becomes `None`.
    """
    lines = [f"class {head}:", *write_doc(item, "    "), ""]
    for field, kind, own in fields:
        lines += [f"    {field}: {kind}", *write_doc(own, "    ")]
    return "\n".join(lines).replace("null", "None")


def list_files() -> dict[Path, str]:
    """Returns the text of each generated file, by path."""
    return {STRUCTS: write_dictionaries(), RUN_ROWS: write_rows(), ANSWER_ROWS: write_answers()}


def main() -> None:
    """Writes the modules, over the older ones."""
    for path, text in list_files().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
