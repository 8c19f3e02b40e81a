"""Groups the requests of real logs into pages by the paper's rule (section 4.4, for Figure 9).

The rule: requests of one client to one server, in the order of the log, belong to one page until
the next request for an html or htm object, which begins another. A path that ends in `/` stands for
such an object.
"""

import gzip
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mousehole.base import MouseholeError
from numpy.typing import NDArray

from papers.definition import NotAvailableError

Floats = NDArray[np.float64]

ACCESS_LOG = re.compile(r'^(\S+) \S+ \S+ \[[^\]]*\] "(?:[A-Z]+ )?(\S+)[^"]*" (\d{3}) (\d+|-)')
"""The common log format of web servers; the combined one begins alike."""
COLUMNS = (
    ("host", "", "url", "bytes"),
    ("id.orig_h", "id.resp_h", "uri", "response_body_len"),
    ("page", "", "", "resp_bytes"),
)
"""Tables with a header that are known: the columns of client, server, path and bytes; "" where there is none.

The first are tables made of access logs, the second Zeek's http.log, the third objects listed by page.
"""
FORMATS = (
    "an access log in the common log format, Zeek's http.log, or a table with the columns host, url and "
    "bytes, or page and resp_bytes"
)


ANNOUNCED = "X"
"""In a column size_src: the size was announced, but the object was not received."""


class Request(NamedTuple):
    """One answered request; `path` is None if the log has no paths."""

    client: str
    server: str
    path: str | None
    bytes: int


class Pages(NamedTuple):
    """The sizes of all objects, bytes, and the number of the page of each."""

    bytes: Floats
    page: NDArray[np.int64]

    @property
    def number(self) -> int:
        """Returns the number of pages."""
        return int(self.page.max()) + 1 if self.page.size else 0


@cache
def read_pages(path: Path) -> Pages:
    """Returns the pages of a log, which is read once per process.

    Requests without a size begin pages but are no objects. Raises `MouseholeError` if the log cannot be read
    or has no page.
    """
    sizes: list[int] = []
    page: list[int] = []
    number = 0
    current: dict[tuple[str, str], int] = {}
    for request in _read_requests(path):
        pair = (request.client, request.server)
        if pair not in current or (request.path is not None and begins_page(request.path)):
            current[pair] = number
            number += 1
        if request.bytes > 0:
            sizes.append(request.bytes)
            page.append(current[pair])
    if not sizes:
        raise MouseholeError(f"{path}: no answered request with a size; give {FORMATS}")
    _, numbers = np.unique(np.array(page), return_inverse=True)
    return Pages(np.array(sizes, np.float64), numbers.astype(np.int64))


def begins_page(path: str) -> bool:
    """Returns whether a request's path begins a page: for html, htm or a folder; its query does not count."""
    bare = path.partition("?")[0].partition("#")[0].lower()
    return bare.endswith((".html", ".htm", "/"))


def _read_requests(path: Path) -> Iterator[Request]:
    """Yields the requests of a log in any of the known formats.

    Lines that do not fit are left out. Raises `NotAvailableError` for a file that cannot be read.
    """
    lines = _read_lines(path)
    columns: dict[str, int] = {}
    separator = "\t"
    for number, line in enumerate(lines):
        if line.startswith("#"):
            if line.startswith("#fields"):
                columns = _find_columns(line.split("\t")[1:])
            continue
        if number == 0 and not columns:
            separator = "\t" if "\t" in line else ","
            columns = _find_columns(line.split(separator))
            if columns:
                continue
        found = _parse_row(line.split(separator), columns) if columns else _parse_access(line)
        if found is not None:
            yield found


def _read_lines(path: Path) -> Iterator[str]:
    """Yields the lines of a file, decompressed if its name ends in .gz.

    Raises `NotAvailableError` for a file that cannot be read.
    """
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rt", encoding="utf-8", errors="replace") as packed:
                yield from (line.rstrip("\n") for line in packed)
        else:
            with path.open(encoding="utf-8", errors="replace") as plain:
                yield from (line.rstrip("\n") for line in plain)
    except OSError as error:
        raise NotAvailableError(f"{path}: {error.strerror or error}") from None


def _find_columns(header: list[str]) -> dict[str, int]:
    """Returns the indices of client, server, path and bytes; empty if the header has no known format."""
    for names in COLUMNS:
        if all(name in header for name in names if name):
            places = zip(("client", "server", "path", "bytes"), names, strict=True)
            known = {what: header.index(name) for what, name in places if name}
            return known | ({"source": header.index("size_src")} if "size_src" in header else {})
    return {}


def _parse_row(cells: list[str], columns: dict[str, int]) -> Request | None:
    """Returns the request in a row of a table; None if it is too short or its size was only announced.

    A size that is no number is 0.
    """
    if len(cells) <= max(columns.values()):
        return None
    text = {what: cells[place] for what, place in columns.items()}
    if text.get("source") == ANNOUNCED:
        return None
    size = int(text["bytes"]) if text["bytes"].isdigit() else 0
    return Request(text["client"], text.get("server", ""), text.get("path"), size)


def _parse_access(line: str) -> Request | None:
    """Returns the request in a line of an access log; None if it does not fit.

    A size that is no number is 0.
    """
    found = ACCESS_LOG.match(line)
    if found is None:
        return None
    client, path, _, size = found.groups()
    return Request(client, "", path, int(size) if size.isdigit() else 0)
