"""Records a page from a server on this machine, so that it can be served behind the link."""

import base64
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mousehole.base import MouseholeError
from mousehole.page._browser import Browser, Tab
from mousehole.page._content import Page
from mousehole.page._devtools import BrowserError
from mousehole.page._har import from_entries
from mousehole.page._trial import Fetch

LOCAL = ("localhost", "127.0.0.1", "::1")
FLAGS = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]",
    "--disable-quic",
)
"""No host but this one is asked for anything."""
TIMEOUT_S = 60.0


def is_url(source: str) -> bool:
    """Returns whether the source begins with `http:` or `https:`."""
    return source.startswith(("http:", "https:"))


def check(source: str) -> None:
    """Raises `MouseholeError` for an address that is malformed or not on this machine."""
    try:
        host, _ = urlsplit(source).hostname, urlsplit(source).port
    except ValueError as error:
        raise _url_error(source, f"is no address ({error})") from None
    if host not in LOCAL:
        raise _url_error(
            source, f"is not on this machine; it must be {', '.join(LOCAL[:-1])} or {LOCAL[-1]}, a folder or "
            "a HAR file, such as a browser's network panel saves of any page"
        )  # fmt: skip


def record(url: str, chromium: str, folder: Path, secure: bool) -> Page:
    """Loads a page of this machine once, and returns it with all that it fetched.

    Starts and ends a browser whose profile is `folder`. `secure` is as for a HAR file. Raises
    `MouseholeError` for an address elsewhere, and if the page cannot be loaded.
    """
    check(url)
    try:
        browser = Browser(chromium, folder, FLAGS)
    except BrowserError as error:
        raise MouseholeError(f"Chromium does not start: {error}") from None
    try:
        tab = browser.open()
        load = tab.load(url, TIMEOUT_S)
        if load.outcome != "loaded":
            raise _url_error(url, f"cannot be loaded: {load.reason}")
        entries = [_make_entry(tab, fetch) for fetch in load.fetches]
    except BrowserError as error:
        raise _url_error(url, f"cannot be loaded: {error}") from None
    finally:
        browser.close()
    return from_entries(urlsplit(url).netloc, entries, url, secure)


def _make_entry(tab: Tab, fetch: Fetch) -> dict[str, Any]:
    """Returns a fetch as an entry of a HAR file, with its body if the browser still has it."""
    body, headers = tab.read_body(fetch.url), tab.read_headers(fetch.url)
    content: dict[str, Any] = {"mimeType": headers.get("content-type", "")}
    if body:
        content |= {"text": base64.b64encode(body).decode(), "encoding": "base64"}
    return {
        "startedDateTime": f"{fetch.queued_s:020.9f}",
        "request": {"url": fetch.url, "httpVersion": ""},
        "response": {
            "status": fetch.status, "httpVersion": fetch.protocol, "content": content,
            "headers": [{"name": name, "value": value} for name, value in headers.items()],
        },
    }  # fmt: skip


def _url_error(url: str, sentence: str) -> MouseholeError:
    """Returns the error of an address, with the address before the sentence."""
    return MouseholeError(f"{url} {sentence}", kind="value", value=url)
