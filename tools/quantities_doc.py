"""Writes the table of quantities into docs/json.md and the JSON Schema of comparisons, for `make docs`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mousehole import quantities
from mousehole.quantities import Quantity, Subject

from tools import document

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "json.md"
SCHEMA = ROOT / "docs" / "mousehole.compare-3.schema.json"
TARGET = "docs"
COMMENT = "written by make docs"
DEFINITIONS: dict[Subject, str] = {"bucket": "bucket", "scheme": "scheme"}
"""Subject → the definition of the schema whose rows have a column for each of its quantities."""
SUBJECTS: dict[Subject, str] = {
    "bucket": "the transfers of a size bucket",
    "scheme": "a scheme",
    "application": "an application (`what` of `groups []`)",
}
UNITS = {
    "seconds": "s", "bits_per_second": "b/s", "packets": "packets", "share": "share", "index": "0 to 1",
    "times": "×", "number": "number",
}  # fmt: skip


def main() -> None:
    """Renews the documents in place."""
    document.renew(DOCUMENT, TARGET, table())
    SCHEMA.write_text(text_of(renewed(json.loads(SCHEMA.read_text(encoding="utf-8")))), encoding="utf-8")


def table() -> str:
    """Returns the quantities that documents name, as a Markdown table."""
    rows = [
        [f"`{one.name}`", words, one.long, UNITS[one.unit], one.better, str(one.least), _kinds(one)]
        for subject, words in SUBJECTS.items()
        for one in quantities.about(subject)
    ]
    return f"\n{document.table(('name', 'of', 'what', 'in', 'better', 'from', 'first of'), rows)}\n"


def renewed(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema with a property for every column that comes of a quantity, and none for others.

    The figures of applications are values of `what`.
    """
    definitions = dict(schema["$defs"])
    for subject, name in DEFINITIONS.items():
        own = definitions[name]
        kept = {key: one for key, one in own["properties"].items() if one.get("$comment") != COMMENT}
        made = {key: one for quantity in quantities.about(subject) for key, one in columns(quantity).items()}
        properties = {**{key: one for key, one in kept.items() if key not in made}, **made}
        definitions[name] = {**own, "properties": properties, "required": sorted(properties)}
    group = definitions["group"]
    names = [one.name for one in quantities.about("application")]
    what = {**group["properties"]["what"], "enum": names}
    definitions["group"] = {**group, "properties": {**group["properties"], "what": what}}
    return {**schema, "$defs": definitions}


def columns(quantity: Quantity) -> dict[str, dict[str, Any]]:
    """Returns the schema of a quantity's column and of the ends of its interval."""
    words = f"{quantity.long} (mean over replications)"
    ends = [f"{end} end of its 95 % interval" for end in ("lower", "upper")]
    names = (quantity.name, *quantity.ends)
    return {name: _number(text) for name, text in zip(names, (words, *ends), strict=True)}


def text_of(schema: dict[str, Any]) -> str:
    """Returns the schema as its file holds it."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _kinds(quantity: Quantity) -> str:
    return ", ".join(f"`{kind}`" for kind in quantity.primary_of)


def _number(description: str) -> dict[str, Any]:
    return {"$comment": COMMENT, "minimum": 0, "type": ["number", "null"], "description": description}


if __name__ == "__main__":
    main()
