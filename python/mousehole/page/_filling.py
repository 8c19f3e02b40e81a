"""Bodies of a given size, for recordings without them: a browser shows or runs them as what they are."""

import struct
import zlib
from collections.abc import Iterable
from html import escape

GIF = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x77\x99\xbb\x00\x00\x00"
    b"{}!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
)
"""A picture of one pixel; `{}` is where a comment goes."""
PICTURE = (320, 200)
"""Width and height of made pictures, where the page does not say otherwise."""
COMMENTS = {"css": (b"/*", b"*/"), "script": (b"/*", b"*/"), "html": (b"<!--", b"-->")}
BLOCK = 255
"""Most bytes of a block of a GIF's comment."""
KINDS = {
    "text/css": "css", "text/html": "html", "application/xhtml+xml": "html",
    "text/javascript": "script", "application/javascript": "script", "application/x-javascript": "script",
}  # fmt: skip


def classify(mime: str) -> str:
    """Returns the kind of a body by its MIME type: css, html, script, image, font or data."""
    plain = mime.partition(";")[0].strip().lower()
    if plain in KINDS:
        return KINDS[plain]
    if plain.startswith("image/"):
        return "image"
    return "font" if plain.startswith("font/") or "font" in plain else "data"


def fill_body(mime: str, size: int, colour: int = 0, picture: tuple[int, int] = PICTURE) -> bytes:
    """Returns a body of exactly `size` bytes that a browser takes for one of type `mime`.

    Unknown types get spaces, fonts and SVG get zero bytes. `colour` (0 to 255) and `picture`, width and
    height in pixels, are those of a picture.
    """
    kind = classify(mime)
    if kind == "image" and "svg" not in mime:
        return _fill_picture(size, colour, picture)
    if kind in COMMENTS:
        return pad(b"", kind, size)
    return bytes(size) if kind in {"font", "image"} else b" " * size


def pad(text: bytes, kind: str, size: int) -> bytes:
    """Returns a text of a kind of `COMMENTS`, made `size` bytes long by a comment at its end.

    Where no comment has room, spaces pad it. A text that is longer already is returned as it is.
    """
    opening, closing = COMMENTS[kind]
    room = size - len(text) - len(opening) - len(closing)
    if room < 0:
        return text + b" " * max(size - len(text), 0)
    line = b"mousehole fills this up to the recorded size. "
    return text + opening + (line * (room // len(line) + 1))[:room] + closing


def fill_document(title: str, parts: Iterable[tuple[str, str]], size: int) -> bytes:
    """Returns an HTML document of `size` bytes that has a browser fetch the parts.

    Each part is an address and its type. The document is longer than `size` if it must be to name them.
    """
    head, shown = [], []
    for url, mime in parts:
        place = escape(url, quote=True)
        match classify(mime):
            case "css":
                head.append(f'<link rel="stylesheet" href="{place}">')
            case "script":
                head.append(f'<script src="{place}" defer></script>')
            case "image":
                shown.append(f'<img src="{place}" alt="" width="{PICTURE[0]}" height="{PICTURE[1]}">')
            case "html":
                shown.append(f'<iframe src="{place}"></iframe>')
            case "font":
                head.append(f'<link rel="preload" as="font" href="{place}" crossorigin>')
            case _:
                head.append(f'<link rel="preload" as="fetch" href="{place}" crossorigin>')
    words = (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
    )
    lines = [
        words + "\n".join(head),
        "</head>",
        "<body>",
        f"<h1>{escape(title)}</h1>",
        *shown,
        "</body>\n</html>\n",
    ]
    return pad("\n".join(lines).encode(), "html", size)


def _fill_picture(size: int, colour: int, picture: tuple[int, int]) -> bytes:
    """Returns a picture of exactly `size` bytes: a PNG, or a GIF of one pixel where a PNG has no room.

    It is cut off where even the GIF has none.
    """
    png = _encode_png(*picture, colour)
    spare = size - len(png) - 12
    if spare >= 0:
        # Before the last chunk, of 12 bytes, stands one that readers skip.
        return png[:-12] + _encode_chunk(b"fiLl", bytes(spare)) + png[-12:]
    spare = size - len(GIF) + 2
    comment = b""
    if spare >= 4:
        blocks, rest = divmod(spare - 3, BLOCK + 1)
        comment = b"!\xfe" + (bytes([BLOCK]) + b" " * BLOCK) * blocks
        comment += (bytes([rest - 1]) + b" " * (rest - 1) if rest > 1 else b"") + b"\x00"
    dot = GIF.replace(b"{}", comment)
    return (dot + bytes(max(size - len(dot), 0)))[:size]


def _encode_png(width: int, height: int, colour: int) -> bytes:
    """Returns a picture of one colour as PNG; width and height are in pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    palette = bytes([90 + colour * 53 % 140, 90 + colour * 97 % 140, 90 + colour * 29 % 140])
    rows = zlib.compress(bytes((width + 1) * height), 9)
    chunks = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_encode_chunk(*one) for one in chunks)


def _encode_chunk(name: bytes, data: bytes) -> bytes:
    """Returns a chunk of a PNG with its length and check sum."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
