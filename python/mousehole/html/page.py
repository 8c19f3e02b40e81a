"""Makes one self-contained HTML file of a page: nothing in it asks for anything from a network."""

from importlib.resources import files
from pathlib import Path

from mousehole.base import output
from mousehole.document.blocks import Block, Chart, Choice, Details, Document, Grid
from mousehole.html import render as rendering
from mousehole.html.common import escape

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
"""What browsers let the page do: run its own script, and fetch nothing. Vega compiles expressions."""


def write_page(page: Document, path: str | Path) -> None:
    """Writes the page: the whole file or none.

    Raises `MouseholeError` if the file cannot be written, or if its name does not end in `.html`.
    """
    output.check_suffix("html", str(path), output.PAGE_SUFFIXES)
    text = render_page(page)
    output.write_with(path, lambda part: part.write_text(text, encoding="utf-8"))


def render_page(page: Document) -> str:
    """Returns the page as the text of one HTML file.

    The same page gives the same text. Raises `MouseholeError` where charts cannot be drawn.
    """
    has_charts = any(_has_chart(section.blocks) for section in page.sections)
    subtitle = f'<p class="dim">{escape(page.subtitle)}</p>' if page.subtitle else ""
    footer = f"<footer>{escape(page.footer)}</footer>" if page.footer else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<link rel="icon" href="data:,"><title>{escape(page.title)}</title>\n'
        f"<style>\n{_read_resource('style.css')}</style>{_render_colours()}</head>\n<body>"
        '<a class="skip" href="#main">Skip to the content</a>\n'
        f"<header><h1>{escape(page.title)}</h1>{subtitle}{_render_contents(page)}</header>\n"
        f'<main id="main" tabindex="-1">'
        f"{rendering.render_verdict(page.verdict) if page.verdict else ''}{_render_choices(page)}"
        f"{''.join(rendering.render_section(section) for section in page.sections)}</main>\n{footer}"
        f'<p id="status" class="hidden" role="status"></p>\n'
        f"{_render_chart_scripts() if has_charts else ''}"
        f"<script>\n{rendering.escape_code_for_script(_read_resource('page.js'))}</script>\n</body></html>\n"
    )


def _render_contents(page: Document) -> str:
    """Returns the navigation in HTML, a link to each section with a label; empty for fewer than two."""
    named = [section for section in page.sections if section.label]
    if len(named) < 2:
        return ""
    links = "".join(
        f'<li><a href="#{escape(section.name)}">{escape(section.label)}</a></li>' for section in named
    )
    return f'<nav aria-label="Sections"><ul>{links}</ul></nav>'


def _render_choices(page: Document) -> str:
    """Returns the checkboxes that show and hide series, in HTML; empty for fewer than two series.

    They are hidden until the page's script shows them.
    """
    if len(page.choices) < 2:
        return ""
    boxes = "".join(
        f'<label><input type="checkbox" value="{escape(choice.name)}" checked autocomplete="off">'
        f"{_render_symbol(choice)}{escape(choice.name)}</label>"
        for choice in page.choices
    )
    return (
        f'<fieldset class="choices" hidden><legend>{escape(page.choices_label)}</legend>'
        f"<div>{boxes}</div></fieldset>\n"
    )


def _render_symbol(choice: Choice) -> str:
    """Returns the symbol of a series as an SVG element in its colour."""
    from mousehole.html import pictures

    return (
        f'<svg viewBox="-1.4 -1.4 2.8 2.8" aria-hidden="true"><path d="{escape(choice.symbol)}" '
        f'fill="{pictures.to_variable(choice.colour)}"/></svg>'
    )


def _has_chart(blocks: object) -> bool:
    """Returns whether blocks contain a chart, at any depth; False for anything but a list or tuple."""
    parts: list[Block] = list(blocks) if isinstance(blocks, list | tuple) else []
    return any(
        isinstance(part, Chart) or (isinstance(part, Grid | Details) and _has_chart(part.blocks))
        for part in parts
    )


def _render_chart_scripts() -> str:
    """Returns the scripts that draw charts: their look as JSON, and Vega."""
    from mousehole.charts import style, writing

    looks = rendering.escape_json_for_script({"config": style.CONFIG, "dark": style.DARK})
    return (
        f'<script type="application/json" id="looks">{looks}</script>\n'
        f"<script>{rendering.escape_code_for_script(writing.load_vega_script())}</script>\n"
    )


def _render_colours() -> str:
    """Returns a style element with the colours of charts for light and for dark pages."""
    from mousehole.html import pictures

    return f"<style>{pictures.render_colour_variables()}</style>\n"


def _read_resource(name: str) -> str:
    """Returns the text of a file of this package."""
    return files("mousehole.html").joinpath(name).read_text(encoding="utf-8")
