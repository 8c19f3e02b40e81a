"""Numbers as text for people: times, shares, rates, changes; `answer/src/texts.rs` makes most of them."""

from mousehole._engine import MOST_PERCENT as MOST_PERCENT
from mousehole._engine import capped as capped
from mousehole._engine import change_text as change_text
from mousehole._engine import counted as counted
from mousehole._engine import percent as percent
from mousehole._engine import rate_text as rate_text
from mousehole._engine import share_text as share_text
from mousehole._engine import signed as signed
from mousehole._engine import time_text as time_text
from mousehole._engine import unit_text as unit_text


def span_text(seconds: float) -> str:
    """Returns a long time as text: `42 s`, `3.5 min (210 s)`, `8 h (28,800 s)`, `2.3 days (198,720 s)`."""
    units = ((86400, "days"), (3600, "h"), (60, "min"))
    whole = f"{seconds:,.0f} s" if seconds >= 1000 else f"{seconds:.6g} s"
    for length, unit in units:
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit} ({whole})"
    return whole


def whole_percent(share: float) -> str:
    """Returns a share in whole percent with its sign, `+12`, `−3` or `0`, and no sign for percent."""
    text = f"{100 * share:+.0f}".replace("-", "−")
    return "0" if text in ("+0", "−0") else text


def capital(text: str) -> str:
    """Returns the text with a capital first letter, the rest untouched."""
    return text[:1].upper() + text[1:]
