"""Sections that several reports have: the traffic as understood, how it was made, the manifest."""

import html
import shlex
from collections.abc import Mapping, Sequence

from mousehole.base import jsontext, written_out
from mousehole.document.blocks import Block, Code, Details, Facts, Items, Prose, Section
from mousehole.engine_types import TrafficSummary
from mousehole.inputs import account, show


def escape(text: str) -> str:
    """Returns a text as HTML has it; what would turn or hide the text around it is written out."""
    return html.escape(written_out(text))


def traffic_section(summary: TrafficSummary | None, note: str | None = None) -> Section:
    """Returns what was understood of the traffic, with all that was left out; `note` is said besides."""
    blocks: list[Block] = []
    if summary is None:
        blocks.append(Prose("The scenario generates all traffic; the manifest has its parameters."))
    else:
        blocks.append(Facts(show.summary_facts(summary)))
        remarks = [str(remark) for remark in account.remarks(summary)]
        blocks += [Items(remarks)] if remarks else []
    blocks += [Prose(note)] if note else []
    return Section("traffic", "The traffic as it was understood", blocks, "Traffic")


def made_section(
    manifest: Mapping[str, object], command: Sequence[str] | None = None, seed_note: bool = True
) -> Section:
    """Returns how the result was made: the command that repeats it, and everything that determines it.

    `command` is what was typed, word by word; None where Python was the caller.
    """
    blocks: list[Block] = []
    if command is not None:
        blocks.append(Code(shlex.join(command), "The command"))
    if seed_note:
        blocks.append(Prose("The same inputs, settings and seed give the same numbers on any machine."))
    blocks.append(Details("The manifest: everything that determines the numbers",
                          [Code(jsontext.dumps(manifest), "The manifest")]))  # fmt: skip
    return Section("made", "How this was made", blocks, "Command and manifest", "page")
