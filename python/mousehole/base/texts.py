"""Numbers as text for people: times, shares, rates, changes; `answer/src/texts.rs` makes most of them."""

from mousehole._engine import capped as capped
from mousehole._engine import change_text as change_text
from mousehole._engine import counted as counted
from mousehole._engine import percent as percent
from mousehole._engine import rate_text as rate_text
from mousehole._engine import share_text as share_text
from mousehole._engine import signed as signed
from mousehole._engine import span_text as span_text
from mousehole._engine import time_text as time_text
from mousehole._engine import unit_text as unit_text
from mousehole._engine import whole_percent as whole_percent


def capitalise(text: str) -> str:
    """Returns the text with a capital first letter, the rest untouched."""
    return text[:1].upper() + text[1:]
