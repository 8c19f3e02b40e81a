"""The section that all reports have: how the result was made."""

import html
import shlex
from collections.abc import Mapping, Sequence

from mousehole import _engine
from mousehole.base import escape_controls
from mousehole.document.blocks import Block, Code, Details, Prose, Section


def escape(text: str) -> str:
    """Returns a text as HTML has it; what would turn or hide the text around it is written out."""
    return html.escape(escape_controls(text))


def make_provenance_section(
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
                          [Code(_engine.json_text(manifest), "The manifest")]))  # fmt: skip
    return Section("made", "How this was made", blocks, "Command and manifest", "page")
