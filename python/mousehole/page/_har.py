"""Reads a page from a browser's recording (HAR 1.2), with bodies made of the recorded size where it has none.

sim/src/traffic/read/har.rs reads the same format for sizes and times; this one is after what can be served.
"""

import base64
import binascii
import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

from mousehole.base import MouseholeError, file_error
from mousehole.page import _filling as filling
from mousehole.page._content import BINARY, HOST, MOST_BYTES, Answer, Page

REDIRECTS = range(300, 400)
WITHOUT_BODY = (204, 304)
DEFAULT_PORTS = {"http": 80, "https": 443}
TEXTS = ("css", "html", "script", "data")
"""Kinds of bodies in which addresses of the page's own servers are replaced by those served here."""


@dataclass(frozen=True)
class _Recorded:
    """An entry that can be served."""

    answer: Answer
    is_made: bool
    """Whether the recording lacks the body."""
    version: str | None


def read(path: Path, secure: bool = False) -> Page:
    """Returns the first page of a HAR file: its document, and all that was fetched for it.

    `secure` has servers without TLS answer over TLS. Raises `MouseholeError` for a file that is no HAR or has
    no document.
    """
    try:
        recorded = json.loads(path.read_text("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise MouseholeError(f"is no HAR file; its JSON is broken: {error.msg}", kind="file", file=str(path),
                             line=error.lineno) from None  # fmt: skip
    except (UnicodeDecodeError, RecursionError):
        raise file_error(path, "is no HAR file; it must be JSON in UTF-8") from None
    except OSError as error:
        raise file_error(path, f"cannot be read; {error.strerror}") from None
    log = recorded.get("log") if isinstance(recorded, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise file_error(
            path, 'is no HAR file; it must be an object with "log", and in it the list "entries"'
        )
    return from_entries(path.name, entries, str(path), secure)


def from_entries(name: str, entries: Sequence[Any], file: str, secure: bool = False) -> Page:
    """Returns the first page of a recording's entries; `name` is for titles and `file` for errors.

    Entries without an answer from the network are left out, with a note. `secure` is as for `read`. Raises
    `MouseholeError` for an entry of another form, without a document, and above `MOST_BYTES`.
    """
    own, pages = _select_first_page(entries)
    origins = _map_origins(map(_find_url, own), secure)
    recorded: list[_Recorded] = []
    for number, entry in enumerate(own, 1):
        try:
            one = _convert_entry(entry, number % 256, origins)
        except (KeyError, TypeError, ValueError, AttributeError, binascii.Error) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise file_error(file, f"entry {number} of the page cannot be served: {reason}") from None
        recorded += [one] if one else []
    place = next((number for number, one in enumerate(recorded) if _is_document(one.answer)), None)
    if place is None:
        raise file_error(file, "has no document: no entry of its page answers with status 200 and text/html")
    document = recorded[place]
    if document.is_made:
        recorded[place] = replace(document, answer=_make_document(name, recorded[place:]))
    answers = tuple(one.answer for one in recorded)
    if sum(len(answer.body) for answer in answers) > MOST_BYTES:
        raise file_error(file, f"has more than the {MOST_BYTES:,} bytes that a page may have")
    first = place
    while first > 0 and answers[first - 1].status in REDIRECTS:
        first -= 1
    notes = _note_omissions(name, pages, len(own) - len(recorded), document, recorded)
    return Page(name, answers[first].url, answers, document.version, tuple(notes))


def _note_omissions(
    name: str, pages: int, unheard: int, document: _Recorded, recorded: Iterable[_Recorded]
) -> Iterable[str]:
    """Yields a sentence for each thing of the recording that the page lacks or has in another form."""
    made = sum(one.is_made for one in recorded)
    if pages > 1:
        yield f"Of the {pages} pages in {name} the first is loaded."
    if unheard:
        yield f"{name} has no answer from the network for {unheard} of its entries; they are not served."
    if document.is_made:
        yield f"{name} lacks the text of the document, so one was made that refers to all other answers."
    if made:
        yield f"{name} lacks the bodies of {made} of its answers; they were made of the recorded size."


def _select_first_page(entries: Sequence[Any]) -> tuple[list[Mapping[str, Any]], int]:
    """Returns the entries of the first page in order of their start, and the number of pages.

    Entries that are no objects are left out; without page names all entries are of one page, and the number
    is 0.
    """
    kept = [entry for entry in entries if isinstance(entry, dict)]
    pages = list(dict.fromkeys(entry["pageref"] for entry in kept if isinstance(entry.get("pageref"), str)))
    if len(pages) > 1:
        kept = [entry for entry in kept if entry.get("pageref") == pages[0]]
    return sorted(kept, key=lambda entry: str(entry.get("startedDateTime", ""))), len(pages)


def _find_url(entry: Mapping[str, Any]) -> str:
    """Returns the address of an entry; empty if it has none."""
    request = entry.get("request")
    return str(request.get("url", "")) if isinstance(request, dict) else ""


def _map_origins(urls: Iterable[str], secure: bool) -> dict[str, str]:
    """Returns the served origin by the recorded one, for those origins whose name or scheme must change.

    These have an unusual port, or name the local host or an address, or lack TLS if `secure`: servers here
    have the usual ports only, and browsers treat the local host and addresses in their own ways. Malformed
    addresses are left out.
    """
    found: dict[str, str] = {}
    for url in urls:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:  # the entry is refused when it is read
            continue
        if parts.scheme not in DEFAULT_PORTS or not host:
            continue
        has_port = port not in (None, DEFAULT_PORTS[parts.scheme])
        is_named = not (_is_address(host) or host == "localhost" or host.endswith(".localhost"))
        scheme = "https" if secure else parts.scheme
        name = host if is_named and not has_port else _choose_host_name(found)
        origin = f"{parts.scheme}://{parts.netloc}"
        if f"{scheme}://{name}" != origin:
            found.setdefault(origin, f"{scheme}://{name}")
    return found


def _choose_host_name(found: Mapping[str, str]) -> str:
    """Returns an unused name for a host that must be renamed.

    It is `page.test`, then `2.page.test` and so on.
    """
    taken = sum(origin.endswith(HOST) for origin in found.values())
    return HOST if not taken else f"{taken + 1}.{HOST}"


def _is_address(host: str) -> bool:
    """Returns whether a host is an IP address."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _convert_entry(entry: Mapping[str, Any], colour: int, origins: Mapping[str, str]) -> _Recorded | None:
    """Returns the answer of an entry; None if no answer came from the network over HTTP.

    A body that was not recorded is made, with `colour` if it is a picture. Raises `KeyError`, `TypeError`,
    `ValueError` or `AttributeError` for an entry of another form.
    """
    asked, response = entry["request"], entry["response"]
    url = urldefrag(str(asked["url"])).url
    urlsplit(url).port  # noqa: B018 (it raises for a port that is no number)
    status = int(response["status"])
    if urlsplit(url).scheme not in DEFAULT_PORTS or not urlsplit(url).hostname or not 200 <= status < 600:
        return None
    headers = {str(one["name"]).lower(): str(one["value"]) for one in response.get("headers") or ()}
    content = response.get("content") or {}
    mime = str(content.get("mimeType") or headers.get("content-type") or BINARY)
    mime = mime if mime.isprintable() and mime.isascii() else BINARY
    kept = {"location": _replace_origins(headers["location"], origins)} if "location" in headers else {}
    is_empty = status in WITHOUT_BODY or status in REDIRECTS
    is_made = not is_empty and not content.get("text")
    if is_empty:
        body = b""
    elif is_made:
        body = filling.fill_body(mime, _find_wire_size(response), colour)
    else:
        body = _decode_body(content, mime, origins)
        if headers.get("content-encoding", "identity").strip() not in ("", "identity"):
            # Whatever compressed it: every browser knows gzip, and sizes differ little.
            body, kept = gzip.compress(body, 9, mtime=0), {**kept, "content-encoding": "gzip"}
    version = _find_version(f"{response.get('httpVersion', '')} {asked.get('httpVersion', '')}")
    return _Recorded(Answer(_replace_origins(url, origins), status, mime, body, kept), is_made, version)


def _decode_body(content: Mapping[str, Any], mime: str, origins: Mapping[str, str]) -> bytes:
    """Returns the recorded body of an answer; a text has the served origins in place of the recorded ones.

    Raises `binascii.Error` or `ValueError` for broken base64.
    """
    text = str(content["text"])
    body = base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()
    if filling.classify(mime) not in TEXTS or not origins:
        return body
    return _replace_origins(body.decode("latin-1"), origins).encode("latin-1")


def _replace_origins(text: str, origins: Mapping[str, str]) -> str:
    """Returns a text with origins replaced by those under which they are served."""
    for origin, served in origins.items():
        text = re.sub(rf"{re.escape(origin)}(?![\w.:-])", served, text)
    return text


def _is_document(answer: Answer) -> bool:
    """Returns whether the answer is an HTML document with status 200."""
    return answer.status == 200 and filling.classify(answer.mime) == "html"


def _make_document(name: str, recorded: Sequence[_Recorded]) -> Answer:
    """Returns the first answer with a new body: a document that refers to the others with status 200.

    It is as long as the old body, or longer if it must be.
    """
    document, *others = (one.answer for one in recorded)
    parts = [(one.url, one.mime) for one in others if one.status == 200]
    return replace(document, body=filling.fill_document(name, parts, len(document.body)))


def _find_wire_size(response: Mapping[str, Any]) -> int:
    """Returns the bytes of a body as it crossed the network, as far as the recording has them.

    The first known one counts of: the body's size, the transfer's less the headers', the content's less the
    saving of compression; never negative.
    """
    content = response.get("content") or {}
    sizes = {name: int(response.get(name) or -1) for name in ("bodySize", "_transferSize", "headersSize")}
    if sizes["bodySize"] > 0:
        return sizes["bodySize"]
    if sizes["_transferSize"] > 0:
        return sizes["_transferSize"] - max(min(sizes["headersSize"], sizes["_transferSize"]), 0)
    return max(int(content.get("size") or 0) - int(content.get("compression") or 0), 0)


def _find_version(named: str) -> str | None:
    """Returns the version of HTTP that a text names, such as `h2`; None if it names none."""
    for version, words in (("3", ("h3", "http/3")), ("2", ("h2", "http/2")), ("1.1", ("http/1",))):
        if any(word in named.lower() for word in words):
            return version
    return None
