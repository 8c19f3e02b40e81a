"""The section that all reports have: how the result was made."""

import html
import shlex
from collections.abc import Mapping, Sequence

from mousehole import _engine
from mousehole.base import escape_controls
from mousehole.document.blocks import Block, Code, Details, Prose, Section


def escape(text: str) -> str:
    """Returns a text for HTML, also without characters that steer or reorder the text around them."""
    return html.escape(escape_controls(text))


def make_provenance_section(
    manifest: Mapping[str, object], command: Sequence[str] | None = None, seed_note: bool = True
) -> Section:
    """Returns the section on how a result was made: the command that repeats it, and its manifest.

    `command` is the command line, one argument each; None where Python was the caller. `seed_note` adds that
    the same seed gives the same numbers.
    """
    blocks: list[Block] = []
    if command is not None:
        blocks.append(Code(shlex.join(command), "The command"))
    if seed_note:
        blocks.append(Prose("The same inputs, settings and seed give the same numbers on any machine."))
    blocks.append(Details("The manifest: everything that determines the numbers",
                          [Code(_engine.json_text(manifest), "The manifest")]))  # fmt: skip
    return Section("made", "How this was made", blocks, "Command and manifest", "page")
