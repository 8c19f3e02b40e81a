"""A page of the project's own, drawn from a seed: a document, style sheets, scripts, pictures and a text.

Sizes are drawn from lognormal distributions per kind and scaled to the totals below, so that no third
party's page is needed and every installation has the same one.
"""

from collections.abc import Sequence

import numpy as np

from mousehole.page import _filling as filling
from mousehole.page._content import HOST, Answer, Page

NAME = "example"
SEED = 1
DOCUMENT_BYTES = 14_000
"""About an initial window of ten segments, as many documents have compressed."""
KINDS: Sequence[tuple[str, str, int, int, float]] = (
    ("css", "text/css; charset=utf-8", 3, 75_000, 0.5),
    ("js", "text/javascript; charset=utf-8", 6, 290_000, 0.8),
    ("png", "image/png", 30, 690_000, 1.0),
)
"""Of each kind: ending, type, number, bytes in all, and the standard deviation of the logarithm of sizes."""
LARGE = (1280, 800)
"""Width and height of the first picture, which is the largest paint."""
LEAST_BYTES = 900
"""Of a part."""
TEXT = (
    "Short flows slip through the hole; long flows fill the gaps. This page was drawn from a seed, so that "
    "everyone loads the same one: its style sheets block what is shown first, its scripts run after the "
    "document, and its pictures follow in the order in which they stand here."
)


def make_page(secure: bool = False, seed: int = SEED) -> Page:
    """Returns the example page: 40 objects of about 1.07 MB in all, whose sizes are drawn with `seed`.

    The same seed gives the same page.

    With `secure` it is served over TLS.
    """
    draws = np.random.default_rng(seed)
    origin = f"{'https' if secure else 'http'}://{HOST}"
    answers: list[Answer] = []
    for ending, mime, count, total, deviation in KINDS:
        for number, size in enumerate(_draw_sizes(draws, count, total, deviation), 1):
            url = f"{origin}/{ending}/{number}.{ending}"
            answers.append(Answer(url, 200, mime, _make_part(ending, size, number)))
    text = _document([(one.url.removeprefix(origin), one.mime) for one in answers])
    first = Answer(f"{origin}/", 200, "text/html; charset=utf-8", text)
    return Page(NAME, first.url, (first, *answers))


def _draw_sizes(draws: np.random.Generator, count: int, total: int, deviation: float) -> list[int]:
    """Returns this many sizes in bytes, each at least `LEAST_BYTES`, that add up to about `total`.

    Advances `draws` by `count` lognormal numbers, whose logarithms have this standard deviation.
    """
    weights = draws.lognormal(0.0, deviation, count)
    spare = total - count * LEAST_BYTES
    return [LEAST_BYTES + int(spare * weight / weights.sum()) for weight in weights]


def _make_part(ending: str, size: int, number: int) -> bytes:
    """Returns the body of object `number` with this ending, `size` bytes long."""
    if ending == "css":
        rules = (
            "body { margin: 2em auto; max-width: 68em; font: 16px/1.5 sans-serif; color: #222; }\n"
            "main { display: grid; grid-template-columns: repeat(5, 1fr); gap: 1em; }\n"
            "img { width: 100%; height: auto; }\n"
            "img:first-of-type { grid-column: span 3; grid-row: span 3; }\n"
        )
        return filling.pad(rules.encode(), "css", size)
    if ending == "js":
        return filling.pad(f"document.documentElement.dataset.part{number} = '1';\n".encode(), "script", size)
    return filling.fill_body("image/png", size, number, LARGE if number == 1 else filling.PICTURE)


def _document(parts: list[tuple[str, str]]) -> bytes:
    """Returns the HTML document that refers to the parts, each an address and its type.

    It is padded to `DOCUMENT_BYTES`.
    """
    sheets = [f'<link rel="stylesheet" href="{url}">' for url, mime in parts if mime.startswith("text/css")]
    scripts = [f'<script src="{url}" defer></script>' for url, mime in parts if "javascript" in mime]
    images = [url for url, mime in parts if mime.startswith("image/")]
    sizes = [LARGE, *(filling.PICTURE for _ in images[1:])]
    pictures = [
        f'<img src="{url}" alt="Picture {number}" width="{width}" height="{height}">'
        for number, (url, (width, height)) in enumerate(zip(images, sizes, strict=True), 1)
    ]
    lines = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Example page</title>',
        '<link rel="icon" href="data:,">',
        *sheets, *scripts, "</head>\n<body>\n<h1>Example page</h1>", f"<p>{TEXT}</p>", "<main>", *pictures,
        "</main>\n</body>\n</html>\n",
    ]  # fmt: skip
    return filling.pad("\n".join(lines).encode(), "html", DOCUMENT_BYTES)
