"""Numbers as text for people: times, shares, rates, changes; `answer/src/texts.rs` makes most of them."""

from mousehole._engine import MOST_PERCENT as MOST_PERCENT
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


def whole_percent(share: float) -> str:
    """Returns a share in whole percent with its sign, `+12`, `−3` or `0`, and no sign for percent."""
    text = f"{100 * share:+.0f}".replace("-", "−")
    return "0" if text in ("+0", "−0") else text


def capitalise(text: str) -> str:
    """Returns the text with a capital first letter, the rest untouched."""
    return text[:1].upper() + text[1:]
