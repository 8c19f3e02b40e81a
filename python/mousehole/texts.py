"""Numbers as people read them: times, shares, rates, changes."""

from math import isfinite

from mousehole.findings import percent


def time_text(seconds: float | None, bound: bool = False) -> str:
    """`84 ms`, `1.27 s`; `≥ 1.27 s` for a lower bound, `–` for none."""
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


def share_text(share: float | None) -> str:
    """`0.42 %`."""
    return "–" if share is None else f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def rate_text(bps: float | None) -> str:
    """`3.2 Mb/s`."""
    if bps is None:
        return "–"
    units = ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"))
    scale, unit = next(((scale, unit) for scale, unit in units if bps >= 0.9995 * scale), (1.0, "b/s"))
    return f"{bps / scale:.3g} {unit}"


def signed(share: float) -> str:
    """A share in percent with its sign, plus as well as minus, without the sign for percent."""
    text = percent(share)
    return text if share <= 0 or text.strip("0.") == "" else f"+{text}"
