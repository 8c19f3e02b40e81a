"""Makes files of charts: PNG, SVG and PDF by vl-convert, which runs Vega without a browser or a network."""

import json
import re
import struct
import zlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import altair as alt

from mousehole.base import MouseholeError, address_space_bytes, output, require_extra
from mousehole.charts.style import BACK, CONFIG

Picture = TypeVar("Picture")

PNG_HEAD = b"\x89PNG\r\n\x1a\n"
ADDRESS_SPACE = 72_000_000_000
"""Bytes of address space that V8 reserves when it starts, and a little more."""
SHARPNESS = 2.0
"""Points of a PNG for each pixel of a chart."""


def write_chart(chart: Picture, path: str | Path | None, option: str = "plot") -> Picture:
    """Returns the chart, after writing it in the format of the path's suffix, the whole file or none.

    Without a path nothing is written. Equal charts give equal PNG and SVG files; a PDF has its fonts in any
    order. Raises `MouseholeError` for a suffix other than .png, .svg and .pdf, and for a file that cannot be
    written; `option` is what the caller calls the path.
    """
    if path is not None:
        output.check_suffix(option, str(path), output.PLOT_SUFFIXES)
        content = draw_chart(chart, Path(path).suffix.lower())
        output.write_with(path, lambda part: part.write_bytes(content))
    return chart


def draw_chart(chart: Any, suffix: str) -> bytes:
    """Returns a chart as the content of a file whose name ends in `suffix`: .png, .svg or .pdf.

    Any suffix but .png and .svg gives PDF. Raises `MouseholeError` as `_load_converter` does.
    """
    look: Any = {"config": {**CONFIG, "background": BACK}, "vl_version": _vega_lite_version()}
    spec = to_specification(chart)
    if suffix != ".png":
        svg = _renumber_ids(_load_converter().vegalite_to_svg(spec, **look))
        return svg.encode() if suffix == ".svg" else bytes(_load_converter().svg_to_pdf(svg))
    return compress_png(_load_converter().vegalite_to_png(spec, scale=SHARPNESS, **look))


def compress_png(png: bytes) -> bytes:
    """Returns the same PNG, compressed to about a third of the size that vl-convert writes."""
    chunks, place = [], len(PNG_HEAD)
    while place < len(png):
        (length,) = struct.unpack_from(">I", png, place)
        chunks.append((png[place + 4 : place + 8], png[place + 8 : place + 8 + length]))
        place += 12 + length
    pixels = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    head, *others, end = [chunk for chunk in chunks if chunk[0] != b"IDAT"]
    made = [head, *others, (b"IDAT", zlib.compress(pixels, 9)), end]
    return PNG_HEAD + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in made
    )


def as_svg(spec: dict[str, Any]) -> str:
    """Returns the SVG element of a description, without a background.

    Raises `MouseholeError` as `_load_converter` does.
    """
    return _renumber_ids(_load_converter().vegalite_to_svg(spec, config=CONFIG))


def to_specification(chart: Any) -> dict[str, Any]:
    """Returns a chart's description in Vega-Lite, without its look."""
    spec: dict[str, Any] = chart if isinstance(chart, dict) else json.loads(chart.to_json(indent=None))
    return {name: value for name, value in spec.items() if name not in ("config", "$schema", "usermeta")}


@cache
def load_vega_script() -> str:
    """Returns Vega, Vega-Lite and Vega-Embed, which vl-convert contains, as one script.

    It is made once per process. Raises `MouseholeError` as `_load_converter` does.
    """
    text: str = _load_converter().javascript_bundle(
        "window.vegaEmbed = vegaEmbed;", vl_version=_vega_lite_version()
    )
    return text


def _load_converter() -> ModuleType:
    """Returns the library that draws, which runs JavaScript in V8.

    Raises `MouseholeError` where the library is not installed, and where the limit on address space is below
    what V8 reserves: V8 would abort the process.
    """
    left = address_space_bytes()
    if left is not None and left < ADDRESS_SPACE:
        raise MouseholeError(
            f"cannot draw charts; they need {ADDRESS_SPACE / 1e9:.0f} GB of address space, and "
            f"the limit (ulimit -v) leaves {left / 1e9:.1f} GB"
        )
    require_extra("report", "a picture")
    import vl_convert

    return vl_convert


def _renumber_ids(svg: str) -> str:
    """Returns an SVG whose ids count from 0, since Vega goes on counting from picture to picture."""
    ids = dict.fromkeys(re.findall(r'\bid="([a-z_]+\d+)"', svg))
    own = {name: f"part{number}" for number, name in enumerate(ids)}
    svg = re.sub(r'\bid="([a-z_]+\d+)"', lambda found: f'id="{own[found[1]]}"', svg)
    return re.sub(r"url\(#([a-z_]+\d+)\)", lambda found: f"url(#{own[found[1]]})", svg)


def _vega_lite_version() -> str:
    """Returns the version of Vega-Lite that Altair writes for, as vl-convert names it."""
    major, minor, *_ = alt.SCHEMA_VERSION.removeprefix("v").split(".")
    return f"{major}.{minor}"
