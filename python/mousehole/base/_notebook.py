"""What notebooks show of results: the text of the terminal as HTML."""

from collections.abc import Callable
from io import StringIO

from rich.console import Console

WIDTH = 110
"""Columns of text."""
FORM = '<pre style="line-height: 1.2; overflow-x: auto">{code}</pre>'


def as_html(draw: Callable[[Console], None]) -> str:
    """Returns as HTML what `draw` prints on the console that it gets, which is `WIDTH` columns wide."""
    console = Console(file=StringIO(), record=True, width=WIDTH, highlight=False, force_jupyter=False)
    draw(console)
    return console.export_html(code_format=FORM, inline_styles=True)
