"""What the documents name exists: schemes, fields, columns, parameters, files and links."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mousehole import _engine
from mousehole.engine_types import PartEntry, SchemeEntry

from papers import page_figures
from tools import document, hygiene, man_pages, quantities_doc, schema_doc, schemes_doc

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(name for name in hygiene.tracked_files(ROOT) if name.suffix == ".md")

MARKER = re.compile(re.escape(document.make_marker("*")).replace(re.escape("*"), "(.*)"))
RENEWING = {f"{module}.{name}" for module in ("document", "documents") for name in ("renew", "replace_part")}

# struct of SPECS → what its fields begin with in docs/scenario.md
TABLES = {
    "Scenario": "",
    "LinkSpec": "link.",
    "AccessSpec": "access.",
    "ServerSpec": "server.",
    "TcpSpec": "tcp.",
    "TrafficSpec": "traffic.",
    "ConnectionSpec": "traffic.connections[].",
    "WriteSpec": "traffic.connections[].writes[].",
    "DatagramsSpec": "traffic.connections[].datagrams.",
    "BulkSpec": "traffic.bulk.",
    "MixSpec": "traffic.mix[].",
    "MisbehavingSpec": "traffic.gaming.",
    "FaultSpec": "faults[].",
    "TopologySpec": "topology.",
    "TopologyLink": "topology.links[].",
    "HostGroup": "topology.hosts[].",
    "HostStageSpec": "host_stage.",
}
SPECS = (
    "sim/src/scenario/spec.rs",
    "sim/src/scenario/mix_spec.rs",
    "sim/src/scenario/topology/spec.rs",
)
NESTED = {"link", "access", "server", "tcp", "traffic", "faults", "topology", "host_stage"}
KINDS = ("two_tier", "y", "tree")
# constant of columns.rs → first cell of its row in docs/traffic.md
COLUMNS = {
    "START": "start (needed)",
    "DOWN": "bytes from server to client (needed for `down`)",
    "UP": "bytes from client to server (needed for `up`)",
    "CLIENT": "client",
    "SERVER": "server",
    "RTT": "round-trip time",
    "ID": "connection id",
    "DURATION": "duration",
    "PROTOCOL": "protocol",
    "CLIENT_PORT": "client port",
    "SERVER_PORT": "server port",
    "SERVICE": "service",
    "SIZE_SOURCE": "size announced or received",
}
REFERENCE = re.compile(r"`((?:[\w.-]+/)+[\w.-]*\.(?:rs|py|h|c|md|toml|sh|json))`")


def read_document(name: str) -> str:
    """Returns the text of a file, given its path in the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def list_table_rows(document: str) -> Iterator[list[str]]:
    """Yields the cells of every line of every table."""
    for line in document.splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def find_section(document: str, heading: str) -> str:
    """Returns the text between a heading and the next one."""
    return re.split(r"^#+ ", document.split(f"{heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def test_formats__are_the_engines() -> None:
    text = schemes_doc.TRAFFIC.read_text("utf-8")
    made = schemes_doc.write_formats(_engine.formats())
    assert document.read_part(text, schemes_doc.TARGET) == made, "run make docs"


def catalogue() -> tuple[list[SchemeEntry], list[PartEntry]]:
    """Returns schemes and parts of a new process: other tests load policies of their own into this one."""
    program = "import json; from mousehole import _engine as e; print(json.dumps([e.schemes(), e.parts()]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    schemes, parts = json.loads(done.stdout)
    return schemes, parts


def test_schemes__are_the_engines() -> None:
    schemes, parts = catalogue()
    made = schemes_doc.write_pages(schemes, parts)
    found = {path.name: path.read_text("utf-8") for path in schemes_doc.FOLDER.glob("*.md")}
    index = found.pop(schemes_doc.INDEX.name)
    assert sorted(found) == sorted(made), "run make docs"
    assert found == made, "run make docs"
    assert {f"{scheme['name']}.md" for scheme in schemes} | {"parts.md"} == made.keys()
    assert document.read_part(index, schemes_doc.TARGET) == schemes_doc.write_lists(schemes, parts), (
        "run make docs"
    )


def test_manual__is_the_commands() -> None:
    made = man_pages.write_pages()
    found = {path.name: path.read_text("utf-8") for path in man_pages.FOLDER.glob("*.1")}
    assert sorted(found) == sorted(made), "run make docs"
    assert found == made, "run make docs"
    assert {"mousehole.1", "mousehole-compare.1", "mousehole-sweep-run.1"} <= made.keys()
    assert ".B \\-\\-save\\-scenario FILE.toml|\\-\n" in made["mousehole-compare.1"]
    requests = {line.split()[0] for text in made.values() for line in text.splitlines() if line[0] in ".'"}
    assert requests == {".TH", ".SH", ".TP", ".PP", ".B", ".BR"}


def test_schemes__every_parameter_is_on_one_page_at_least() -> None:
    schemes, parts = _engine.schemes(), _engine.parts()
    made = schemes_doc.write_pages(schemes, parts)
    for part in parts:
        page = schemes_doc.find_part_page(part["name"], schemes).partition("#")[0]
        assert all(f"| `{parameter['name']}` | " in made[page] for parameter in part["params"]), part["name"]


@pytest.mark.parametrize("name", DOCUMENTS, ids=str)
def test_documents__have_lines_of_100_columns(name: Path) -> None:
    assert document.find_long_lines(read_document(str(name))) == []


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name.parent == Path("docs")], ids=str)
def test_documents__begin_with_the_question_that_they_answer(name: Path) -> None:
    first = read_document(str(name)).split("\n\n")[1]
    assert re.match(r"[^.!?]+(?:\.\w[^.!?]*)*\?", first), first


def test_long_lines__found() -> None:
    words = "word " * 25
    made = f"{document.make_marker('docs')}{words}\n{document.END}"
    assert document.find_long_lines(f"short\n{words}\n| {words} |\nhttps://{'a' * 120}\n{made}{words}\n") == [
        2,
        8,
    ]
    assert document.find_long_lines(document.wrap(words)) == []


def test_wrapped__keeps_code_and_links_in_one_line() -> None:
    code, link = f"`{'a b ' * 10}c`", "[text](target with spaces)"
    lines = document.wrap(f"{'word ' * 15}{code} {'word ' * 17}{link}").splitlines()
    assert len(lines) > 2
    assert any(code in line for line in lines)
    assert any(link in line for line in lines)


def test_renewed__replaces_what_follows_the_marker_and_needs_one() -> None:
    old = f"head\n{document.make_marker('docs')}old\n"
    assert document.replace_part(old, "docs", "new\n") == f"head\n{document.make_marker('docs')}new\n"
    with pytest.raises(ValueError, match="no line"):
        document.replace_part(old, "bench", "new\n")


def test_table__escapes_bars() -> None:
    assert document.table(["a", "b"], [["1|2", "3"]]) == "| a | b |\n|---|---|\n| 1\\|2 | 3 |\n"


def test_scenario__documents_every_field() -> None:
    source = "".join(map(read_document, SPECS))
    fields = {
        prefix + field
        for struct, prefix in TABLES.items()
        for field in re.findall(r"pub (\w+):", source.split(f"pub struct {struct} {{")[1].split("\n}")[0])
    }
    named = (re.match(r"`(.+)`", cells[0]) for cells in list_table_rows(read_document("docs/scenario.md")))
    documented = {match[1] for match in named if match} - kind_parameters().keys()
    kinds = {kind.replace("_", "-") for kind in KINDS}
    assert kinds < documented
    trace = {"time_s", "event", "flow", "seq", "bytes", "colour", "cwnd"}
    sampled = set(
        re.findall(r'^const \w+: &str = "(\w+)";', read_document("sim/src/engine/sampling.rs"), re.MULTILINE)
    )
    assert len(sampled) > 5
    assert documented - trace - kinds == (fields - NESTED) | sampled


def kind_parameters() -> dict[str, str]:
    """Returns the table of topology kinds' parameters: first cell → default."""
    document = read_document("docs/scenario.md").split("| parameter | kind |")[1].split("\n\n")[0]
    return {cells[0].strip("`"): cells[2] for cells in list_table_rows(document) if cells[0].startswith("`")}


def test_topology__documents_every_parameter_and_its_default() -> None:
    documented = {name for cell in kind_parameters() for name in cell.split("`, `")}
    sources = [read_document(f"sim/src/scenario/topology/kinds/{kind}.rs") for kind in KINDS]
    structs = [source.split("#[derive(Debug, Clone, Serialize, Deserialize)]")[1] for source in sources]
    fields = [re.findall(r"^    (\w+):", struct.split("\n}")[0], re.MULTILINE) for struct in structs]
    assert documented == {name for names in fields for name in names}
    stated = set(re.findall(r"[\d.]+(?:[a-z]+)?", " ".join(kind_parameters().values())))
    defaults = "".join(source.split("fn default()")[1].split("\n}")[0] for source in sources)
    assert stated == set(re.findall(r"(?<=[\" ])[\d.]+[a-z]*(?=[\",])", defaults))


def test_scenario__topology_example_is_valid() -> None:
    example = read_document("docs/scenario.md").split("```toml\n")[2].split("```")[0]
    scenario = {"traffic": {"model": "web:sfd"}, **tomllib.loads(example)}
    assert _engine.validate(scenario)["topology"]["servers"] == ["web"]


def test_scenario__defaults_are_the_engines() -> None:
    engine = _engine.validate({"traffic": {"model": "web:sfd"}})
    wrong = [
        f"{cells[0]}: {cells[1]}, not {value!r}"
        for cells in list_table_rows(read_document("docs/scenario.md"))
        if (value := find_value(engine, cells[0].strip("`"))) is not None
        and not cells[0].startswith("`traffic.")
        and cells[1].strip("`") not in ("as link.rate", "as `link.rate", json.dumps(value))
    ]
    assert wrong == []


def find_value(scenario: Any, dotted: str) -> Any:
    """Returns the scenario's value at `a.b`, or None if it has none."""
    for name in dotted.split("."):
        scenario = scenario.get(name) if isinstance(scenario, dict) else None
    return scenario


def test_scenario__example_is_valid() -> None:
    example = read_document("docs/scenario.md").split("```toml\n")[1].split("```")[0]
    assert _engine.scenario_from_toml(example, "docs/scenario.md")["scheme"] == "sfd(th=15kB)"


@pytest.mark.parametrize("constant", COLUMNS)
def test_traffic__columns_are_the_readers(constant: str) -> None:
    source = read_document("sim/src/traffic/read/columns.rs")
    known: list[str] = []
    for one in ("CLIENT", "SENDERS", "HOST") if constant == "CLIENT" else (constant,):
        _, names = re.split(rf"const {one}: &\[&str\] =\s*&\[", source)
        known += re.findall(r'"([\w.-]+)"', names.split("];")[0])
    (listed,) = [
        cells[1]
        for cells in list_table_rows(read_document("docs/traffic.md"))
        if cells[0] == COLUMNS[constant]
    ]
    assert listed == ", ".join(f"`{name}`" for name in known)


# first cells of rows of "Logs" in docs/traffic.md → readers whose sources name the fields
LOGS = {
    "zeek.rs": ["Zeek `conn.log`", "Zeek `http.log`", "Zeek `ssl.log`", "Zeek `quic.log`"],
    "har_json.rs": ["HAR 1.2"],
}


@pytest.mark.parametrize("reader", LOGS)
def test_traffic__fields_of_logs_are_the_readers(reader: str) -> None:
    cells = {
        row[0]: row[2]
        for row in list_table_rows(find_section(read_document("docs/traffic.md"), "## Logs"))
        if len(row) > 2
    }
    listed = {name for log in LOGS[reader] for name in re.findall(r"`([\w.]+)`", cells[log])}
    assert {name.lower() for name in listed} == list_log_fields(reader)


def list_log_fields(reader: str) -> set[str]:
    """Returns the names of fields in a reader's source, in lower case."""
    source = read_document(f"sim/src/traffic/read/{reader}").split("#[cfg(test)]")[0]
    if reader == "har_json.rs":
        structs = "".join(re.findall(r"struct Raw\w+ \{(.*?)\n\}", source, re.DOTALL))
        field = r'(?:rename = "(\w+)"\)\]\s*)?\b(\w+): (?:Value|Option<RawContent>)'
        return {(new or name.replace("_", "")).lower() for new, name in re.findall(field, structs)}
    columns = source.split("fn select_columns(")[1].split("/// Decodes")[0]
    return set(re.findall(r'"([a-z_.]+)"', columns))


def test_traffic__formats_are_those_of_their_files() -> None:
    files = (ROOT / "sim/src/traffic/read/formats").glob("*.toml")
    specs = [tomllib.loads(path.read_text(encoding="utf-8")) for path in files]
    listed = list_table_rows(find_section(read_document("docs/traffic.md"), "### Logs that files describe"))
    assert {cells[0].strip("`") for cells in listed} >= {spec["name"] for spec in specs}


MODELS = ["web:sfd", "web:rio-ps", "web:http10", "web:http2", "web:shred", "web:packmime", "poisson"]


@pytest.mark.parametrize(
    "model", [*MODELS, "telnet", "ftp", "udp", "voip", "game", "videocall", "stream", "responsiveness"]
)
def test_traffic__parameters_are_the_models(model: str) -> None:
    filled = _engine.validate({"traffic": {"model": model}})["traffic"]["params"]
    table = {
        cells[0].strip("`"): json.loads(cells[1].strip("`"))
        for cells in list_table_rows(find_section(read_document("docs/traffic.md"), f"### `{model}`"))
        if cells[0].startswith("`")
    }
    assert table == filled


@pytest.mark.parametrize("name", DOCUMENTS, ids=str)
def test_links__lead_somewhere(name: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", read_document(str(name)))
    assert [target for target in targets if not (ROOT / name.parent / target).exists()] == []


def test_architecture__names_files_that_exist() -> None:
    places = [
        ROOT,
        ROOT / "python/mousehole",
        ROOT / "scheme/src",
        *(ROOT / "sim/src" / folder for folder in ("", "scenario", "tcp", "traffic")),
    ]
    named = set(REFERENCE.findall(read_document("ARCHITECTURE.md"))) | set(
        REFERENCE.findall(read_document("docs/engine.md"))
    )
    named = {name for name in named if "NAME" not in name}
    assert len(named) > 20
    assert sorted(name for name in named if not any((place / name).exists() for place in places)) == []


def test_linux_router__each_row_of_packets_names_tests() -> None:
    sources = read_document("live/tests/packets.rs")
    table = list(
        list_table_rows(find_section(read_document("docs/linux-router.md"), "## What is read, and how"))
    )[2:]
    assert table
    for cells in table:
        names = re.findall(r"`(\w+)`", cells[2])
        assert names, cells
        assert [name for name in names if f"fn {name}()" not in sources] == [], cells


def test_quantities__stand_in_the_documents_as_make_docs_writes_them() -> None:
    written = document.read_part(read_document("docs/json.md"), quantities_doc.TARGET)
    assert written == quantities_doc.write_table()


def test_papers_of_the_page__are_as_make_docs_writes_them() -> None:
    assert page_figures.DOCUMENT.read_text(encoding="utf-8") == page_figures.write_text()


def test_outline__stands_as_make_docs_writes_it() -> None:
    written = document.read_part(read_document("docs/json.md"), schema_doc.TARGET)
    assert written == schema_doc.write_outline(schema_doc.load_schema()), "run make docs"


def test_outline__has_every_field_of_the_schema_once() -> None:
    schema = schema_doc.load_schema()
    made = schema_doc.write_outline(schema)
    for definition in ("Manifest", "Finding", "Veto", "Advice", "PlanEntry", "LinkAccount"):
        names = schema["$defs"][definition]["properties"]
        assert [name for name in names if not re.search(rf"\b{name}\b", made)] == [], definition
    assert "response_p95_s" not in made, "a quantity stands in the table"


def test_texts_of_rows__are_those_of_the_schema() -> None:
    schema = schema_doc.load_schema()
    for path in schema_doc.SOURCES:
        source = path.read_text(encoding="utf-8")
        assert schema_doc.insert_texts(source, schema) == source, f"{path.name}: run make docs"


def test_texts_of_rows__follow_a_change_and_keep_what_the_schema_has_not() -> None:
    fields = {name: {"description": "Say it, or null."} for name in ("scheme", "change", "bucket")}
    row = (
        'class Veto:\n    scheme: str | None\n    change: Estimate\n    """Old\n    text."""\n'
        "    bucket: Bucket\n"
    )
    rest = '    text: str\n    """Kept."""\n'
    made = schema_doc.insert_texts(row + rest, {"$defs": {"Veto": {"properties": fields}}})
    assert made == (
        'class Veto:\n    scheme: str | None\n    """Say it, or None."""\n'
        '    change: Estimate\n    """Say it, or NaN."""\n    bucket: Bucket\n' + rest
    )


def list_targets() -> set[str]:
    """Returns the targets of all calls of `document.renew` and `replace_part` in the repository."""
    found = set()
    for folder in ("validation", "bench", "papers", "tools"):
        for file in sorted((ROOT / folder).glob("*.py")):
            calls = [
                node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)
            ]
            named = [one for one in calls if ast.unparse(one.func) in RENEWING]
            if named:
                known = vars(importlib.import_module(f"{folder}.{file.stem}"))
                for target in (one.args[1] for one in named):
                    value = target.value if isinstance(target, ast.Constant) else known[ast.unparse(target)]
                    found.add(str(value))
    return found


def test_markers__are_those_that_programs_write_after() -> None:
    """A program that has measured for half an hour finds the place for its table."""
    texts = [name.read_text("utf-8") for name in DOCUMENTS]
    markers = {target for text in texts for target in MARKER.findall(text)}
    targets = list_targets()
    assert len(targets) > 20
    assert targets == markers
