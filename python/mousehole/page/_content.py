"""Pages: what a server answers, by address; read from a folder, and written for the server's process."""

import json
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

from mousehole.base import file_error

HOST = "page.test"
"""Name of the server of a folder's page; no public name ends in .test (RFC 6761)."""
INDEX = "index.html"
MOST_BYTES = 500_000_000
"""Bytes of a page beyond which it is taken for a mistake."""
BINARY = "application/octet-stream"


@dataclass(frozen=True)
class Answer:
    """What the server sends when one address is asked for."""

    url: str
    """With scheme and host, without a fragment."""
    status: int
    mime: str
    body: bytes
    """As it crosses the link, compressed if `headers` say so."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """In addition to type and length."""


@dataclass(frozen=True)
class Page:
    """A page with all that belongs to it."""

    name: str
    """For titles."""
    url: str
    """Address of the document."""
    answers: tuple[Answer, ...]
    version: str | None = None
    """Version of HTTP that a recording names for the document: 1.1, 2 or 3."""
    notes: tuple[str, ...] = ()
    """What the reader of results must know of how the page came about, in sentences."""

    @property
    def size(self) -> int:
        """Returns the bytes of all bodies."""
        return sum(len(answer.body) for answer in self.answers)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Returns the names of the hosts that answer, each once, that of the document first."""
        names = (urlsplit(url).hostname or "" for url in (self.url, *(one.url for one in self.answers)))
        return tuple(dict.fromkeys(names))

    @property
    def is_secure(self) -> bool:
        """Returns whether the document is fetched over TLS."""
        return urlsplit(self.url).scheme == "https"


def from_folder(folder: Path, secure: bool) -> Page:
    """Returns the page of a folder whose document is index.html; all files are read into memory.

    The document's address is `HOST`, over TLS if `secure`. Raises `MouseholeError` if there is no such file,
    if a file cannot be read, or if they have more than `MOST_BYTES`.
    """
    if not (folder / INDEX).is_file():
        raise file_error(folder, f"the folder has no {INDEX}, the document to be loaded")
    origin = f"{'https' if secure else 'http'}://{HOST}"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    total = sum(path.stat().st_size for path in files)
    if total > MOST_BYTES:
        raise file_error(folder, f"the folder has {total:,} bytes; a page may have {MOST_BYTES:,}")
    answers = []
    for path in files:
        place = path.relative_to(folder).as_posix()
        mime = mimetypes.guess_type(path.name)[0] or BINARY
        if mime.startswith("text/") or mime.endswith(("javascript", "json", "xml")):
            mime += "; charset=utf-8"
        answers.append(Answer(f"{origin}/{quote(place)}", 200, mime, _read_file(path)))
        if path.name == INDEX:  # a folder's address without the file's name
            answers.append(
                Answer(f"{origin}/{quote(place.removesuffix(INDEX))}", 200, mime, _read_file(path))
            )
    return Page(folder.resolve().name, f"{origin}/", tuple(answers))


def _read_file(path: Path) -> bytes:
    """Returns the content of a file; raises `MouseholeError` that names it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise file_error(path, f"cannot be read; {error.strerror}") from error


def write_page(page: Page, folder: Path) -> None:
    """Writes the page into a folder of its own, from which `Store` answers.

    Raises `FileExistsError` if the folder exists.
    """
    folder.mkdir()
    listed = []
    for number, answer in enumerate(page.answers):
        (folder / f"{number}.body").write_bytes(answer.body)
        listed.append({"url": answer.url, "status": answer.status, "mime": answer.mime,
                       "headers": dict(answer.headers)})  # fmt: skip
    (folder / "answers.json").write_text(json.dumps(listed))


class Store:
    """The answers of a page that `write_page` wrote, by address."""

    def __init__(self, folder: Path) -> None:
        """Reads all answers of a folder into memory; of those to equal addresses the first one counts.

        Raises `OSError` if a file cannot be read.
        """
        self._exact: dict[str, Answer] = {}
        self._without_query: dict[str, Answer] = {}
        for number, one in enumerate(json.loads((folder / "answers.json").read_text())):
            body = (folder / f"{number}.body").read_bytes()
            answer = Answer(one["url"], one["status"], one["mime"], body, one["headers"])
            self._exact.setdefault(answer.url, answer)
            self._without_query.setdefault(answer.url.partition("?")[0], answer)

    def find(self, url: str) -> Answer | None:
        """Returns the answer for an address, else one whose address differs in its query only, else None.

        Pages put times and random numbers into queries, so that no recording has the same ones.
        """
        return self._exact.get(url) or self._without_query.get(url.partition("?")[0])
