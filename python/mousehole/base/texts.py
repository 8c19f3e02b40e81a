"""Numbers as text for people: times, shares, rates, changes."""

from collections.abc import Callable
from math import isfinite


def time_text(seconds: float | None, bound: bool = False) -> str:
    """Returns a time as text: `84 ms`, `1.27 s`, `≥ 1.27 s` for a lower bound, `–` for None and NaN."""
    if seconds is None or not isfinite(seconds):
        return "–"
    text = (
        f"{1000 * seconds:.3g} ms"
        if seconds < 0.9995
        else f"{seconds:.3g} s"
        if seconds < 999.5
        else f"{seconds:.0f} s"
    )
    return f"≥ {text}" if bound else text


def span_text(seconds: float) -> str:
    """Returns a long time as text: `42 s`, `3.5 min (210 s)`, `8 h (28,800 s)`, `2.3 days (198,720 s)`."""
    units = ((86400, "days"), (3600, "h"), (60, "min"))
    whole = f"{seconds:,.0f} s" if seconds >= 1000 else f"{seconds:.6g} s"
    for length, unit in units:
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit} ({whole})"
    return whole


def counted(number: int, noun: str) -> str:
    """Returns `1 client`, `2 clients`: the number with the noun, which takes an s in the plural."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def share_text(share: float | None) -> str:
    """Returns a share as text: `0.42 %`, `< 0.001 %` for less than half of that, `–` for None."""
    if share is None or not isfinite(share):
        return "–"
    if 0 < share < 0.000005:
        return "< 0.001 %"
    return f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def rate_text(bps: float | None) -> str:
    """Returns a rate as text: `3.2 Mb/s`, `–` for None and NaN."""
    if bps is None or not isfinite(bps):
        return "–"
    units = ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"))
    scale, unit = next(((scale, unit) for scale, unit in units if bps >= 0.9995 * scale), (1.0, "b/s"))
    return f"{bps / scale:.3g} {unit}"


def unit_text(unit: str, number: float | None, is_bound: bool = False) -> str:
    """Returns a number of a quantity's unit as text, with `≥` for a lower bound; `–` for None and NaN."""
    if number is None or not isfinite(number):
        return "–"
    makers: dict[str, Callable[[float], str]] = {
        "seconds": time_text,
        "bits_per_second": rate_text,
        "share": share_text,
    }
    forms = {"times": "{:.3g} ×", "index": "{:.2f}", "change": "{:+.3g}"}
    text = makers[unit](number) if unit in makers else forms.get(unit, "{:.4g}").format(number)
    return f"≥ {text}" if is_bound else text


def percent(share: float) -> str:
    """Returns a share in percent with two or three digits, a true minus sign, and no sign for percent."""
    value = 100 * share
    text = f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.1f}"
    return text.replace("-0.0", "0.0").replace("-", "−")


def signed(share: float) -> str:
    """Returns a share in percent with its sign, plus as well as minus, and no sign for percent."""
    text = percent(share)
    return text if share <= 0 or text.strip("0.") == "" else f"+{text}"


def whole_percent(share: float) -> str:
    """Returns a share in whole percent with its sign, `+12`, `−3` or `0`, and no sign for percent."""
    text = f"{100 * share:+.0f}".replace("-", "−")
    return "0" if text in ("+0", "−0") else text


MOST_PERCENT = 999
"""A larger change is printed as `>+999`: its digits would say nothing."""


def capped(share: float) -> str:
    """Returns a share as `signed` does, `>+999` for more than that."""
    return f">+{MOST_PERCENT}" if 100 * share > MOST_PERCENT else signed(share)


def change_text(mean: float, low: float, high: float) -> str:
    """Returns a change with its ends, `−32 % (−36…−28)`; without ends that are not finite, `–` for NaN."""
    if not isfinite(mean):
        return "–"
    ends = f" ({capped(low)}…{capped(high)})" if isfinite(low) and isfinite(high) else ""
    return f"{capped(mean)} %{ends}"
