"""Loads a page once in headless Chromium, with the times of its requests, responses and paints."""

import base64
import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

from mousehole.base import MouseholeError
from mousehole.page import _progress as progress
from mousehole.page._devtools import BrowserError, DevTools
from mousehole.page._trial import Fetch, Load, Outcome

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
VARIABLE = "MOUSEHOLE_CHROMIUM"
"""Environment variable that names another browser of the family."""
FLAGS = (
    "--headless=new", "--no-first-run", "--no-default-browser-check", "--no-proxy-server", "--mute-audio",
    "--hide-scrollbars", "--window-size=1280,800", "--disable-dev-shm-usage", "--disable-gpu",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-extensions", "--disable-sync", "--disable-domain-reliability", "--disable-breakpad",
    "--metrics-recording-only", "--disable-client-side-phishing-detection", "--password-store=basic",
    "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,"
    "CertificateTransparencyComponentUpdater,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
)  # fmt: skip
"""Nothing but the page uses the link, and nothing of it is asked of other hosts."""
LONGEST = 70
"""Bytes of the longest path of a folder in which the browser can have a socket."""
QUIET_S = 0.5
"""A page without a request on its way for so long has all that it wants."""
LAST_PARTS_S = 5.0
"""For how long after the load event it is waited for that."""
FILM: dict[str, Any] = {"format": "png", "maxWidth": 320, "maxHeight": 200}
"""How the tab is filmed: small, so that it takes little of the processor."""
PAINTS = """
new Promise(done => {
  const found = {load: null, first: null, largest: null};
  const [navigation] = performance.getEntriesByType('navigation');
  if (navigation && navigation.loadEventEnd > 0) found.load = navigation.loadEventEnd;
  new PerformanceObserver(list => {
    for (const paint of list.getEntries()) found.largest = paint.startTime;
  }).observe({type: 'largest-contentful-paint', buffered: true});
  const last = performance.now() + 2000;
  const look = () => {
    for (const paint of performance.getEntriesByName('first-contentful-paint')) found.first = paint.startTime;
    if (found.first === null && performance.now() < last) setTimeout(look, 100);
    else done(JSON.stringify(found));
  };
  setTimeout(look, 100);
})
"""
"""Asks the page for the times of its load event and paints, in milliseconds after the navigation began.

On a busy machine the first paint may come after the load event; it is waited for up to two seconds.
"""


def find_chromium() -> str:
    """Returns the path of Chromium: the program that `VARIABLE` names, else the first of `NAMES` in PATH.

    Raises `MouseholeError` if there is none.
    """
    named = os.environ.get(VARIABLE)
    for name in (named,) if named else NAMES:
        found = shutil.which(name)
        if found:
            return found
    if named:
        raise MouseholeError(
            f"{VARIABLE} is {named}, which is no program that can be started", kind="missing"
        )
    raise MouseholeError(
        f"no Chromium is installed ({', '.join(NAMES)}); install it, as by 'apt install chromium', or name "
        f"one in {VARIABLE}", kind="missing",
    )  # fmt: skip


def find_sandbox_obstacle() -> str:
    """Returns the reason why Chromium cannot use its sandbox, which is that it runs as root; else empty."""
    if os.geteuid() == 0:
        return "Chromium refuses to use its sandbox as root"
    return ""


def _choose_short_folder(profile: Path) -> str:
    """Returns the folder for the browser's socket: the profile, or `/tmp` if that path is too long.

    The path of a socket, with the names behind the folder, may have 107 bytes.
    """
    return str(profile) if len(str(profile)) < LONGEST else "/tmp"  # noqa: S108 (every system has it)


class Browser:
    """A browser with a profile of its own, and so an empty cache."""

    def __init__(self, chromium: str, profile: Path, flags: Iterable[str] = ()) -> None:
        """Starts the browser, and again without the sandbox if that is what failed.

        `sandbox` is empty, or says why it is off. Raises `BrowserError` if it does not answer.
        """
        self.sandbox = find_sandbox_obstacle()
        base = [chromium, *FLAGS, f"--user-data-dir={profile}", *flags]
        try:
            self._start([*base, *(["--no-sandbox"] if self.sandbox else [])], profile)
        except BrowserError as error:
            if self.sandbox or "sandbox" not in str(error).lower():
                raise
            self.sandbox = f"Chromium could not use its sandbox here ({error})"
            self._start([*base, "--no-sandbox"], profile)

    def _start(self, command: Sequence[str], profile: Path) -> None:
        """Starts the browser and stores its version; raises `BrowserError` if it does not answer.

        Makes the profile's folder. A file `.log` next to it has what the browser prints.
        """
        profile.mkdir(exist_ok=True)
        own = {"HOME": str(profile), "XDG_CONFIG_HOME": str(profile), "TMPDIR": _choose_short_folder(profile)}
        self.tools = DevTools(command, profile.with_suffix(".log"), {**os.environ, **own})
        try:
            self.name = str(self.tools.call("Browser.getVersion")["product"])
        except BrowserError:
            self.tools.close()
            raise

    def close(self) -> None:
        """Ends the browser and all its processes; no other method may be called after it."""
        self.tools.close()

    def open(self) -> "Tab":
        """Opens an empty tab in a context of its own, which shares no cache and no cookies, and returns it.

        The tab reports its requests and paints. Raises `BrowserError`.
        """
        tools = self.tools
        context = tools.call("Target.createBrowserContext")["browserContextId"]
        target = tools.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = tools.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Inspector", "Performance"):
            tools.call(f"{domain}.enable", session)
        tools.call("Network.enable", session)
        return Tab(self, session)

    def histograms(self, pictures: Sequence[str]) -> list[list[int]]:
        """Returns the pixel counts by colour of each base64 PNG, which a new tab decodes.

        Each has 256 counts of red, then green, then blue. The tab stays open. Raises `BrowserError`.
        """
        tab = self.open()
        expression = f"{progress.HISTOGRAMS}({json.dumps(list(pictures))})"
        found: list[list[int]] = json.loads(tab.evaluate(expression))
        return found


@dataclass
class _Request:
    """A request as far as events have described it; times are of Chromium's clock, in seconds."""

    url: str
    kind: str
    priority: str
    queued: float
    initiator: str = ""
    response: dict[str, Any] = field(default_factory=dict)
    size: int = 0
    end: float | None = None
    fault: str = ""
    is_cached: bool = False


class Tab:
    """A tab in which one page is loaded."""

    def __init__(self, browser: Browser, session: str) -> None:
        """Begins without requests; `session` is the name of the tab's session in the DevTools protocol."""
        self._browser, self._tools, self._session = browser, browser.tools, session
        self._requests: list[_Request] = []
        self._open: dict[str, _Request] = {}
        self._read = 0
        self._is_loaded = False
        self._crash = ""
        self._changed = time.monotonic()
        self._film: list[tuple[float, str]] = []
        self._clocks: tuple[float, float] | None = None

    def load(
        self,
        url: str,
        timeout_s: float,
        meanwhile: Callable[[], object] = lambda: None,
        is_filmed: bool = False,
    ) -> Load:
        """Loads a page and returns the load, also if it failed or did not end in time.

        A tab loads one page only. Faults of the browser do not raise: the load has then failed. `meanwhile`
        is called once, when the load event has come or the time is over. If it `is_filmed`, a load that ended
        has its visual progress.
        """
        deadline = time.monotonic() + timeout_s
        paints: dict[str, float | None] = {}
        begin: float | None = None
        steps: progress.Steps = ()
        try:
            if is_filmed:
                self._tools.call("Page.startScreencast", self._session, **FILM)
            outcome, reason = self._navigate(url, deadline, timeout_s)
            meanwhile()
            if outcome == "loaded":
                self._tools.wait(self._is_quiet, min(deadline, time.monotonic() + LAST_PARTS_S))
                paints = self._paints()
                if paints["load"] is None:
                    outcome, reason = "failed", "the page does not tell when its load event ended"
            begin = self._navigation_start()
            if is_filmed and outcome == "loaded" and begin is not None:
                steps = self._progress(begin)
        except BrowserError as error:
            outcome, reason = "failed", self._crash or str(error)
        self._consume()
        if begin is None:
            begin = min((one.queued for one in self._requests), default=0.0)
        return Load(
            outcome=outcome, reason=reason, first_paint_s=_to_seconds(paints.get("first")),
            largest_paint_s=_to_seconds(paints.get("largest")), load_s=_to_seconds(paints.get("load")),
            fetches=tuple(_make_fetch(one, begin) for one in self._requests if not one.is_cached),
            progress=steps, bulk_bps=None, browser=self._browser.name,
            sandbox=self._browser.sandbox,
        )  # fmt: skip

    def read_body(self, fetch_url: str) -> bytes | None:
        """Returns the decompressed body from an address; None if the browser does not have it.

        Of several requests for the address, the first counts whose body the browser still has.
        """
        for number, one in self._open.items():
            if one.url == fetch_url:
                with contextlib.suppress(BrowserError):
                    got = self._tools.call("Network.getResponseBody", self._session, requestId=number)
                    text: str = got["body"]
                    return base64.b64decode(text) if got["base64Encoded"] else text.encode()
        return None

    def read_headers(self, fetch_url: str) -> dict[str, str]:
        """Returns the headers of the first answer from an address, their names in lower case.

        Empty without an answer.
        """
        for one in self._requests:
            if one.url == fetch_url and one.response:
                return {name.lower(): value for name, value in one.response.get("headers", {}).items()}
        return {}

    def _navigate(self, url: str, deadline: float, timeout_s: float) -> tuple[Outcome, str]:
        """Begins the load and waits for its end; returns the outcome, and why it failed or did not end.

        `deadline` is of `time.monotonic`; `timeout_s` is for the text only. Raises `BrowserError` if the
        browser ends.
        """
        number = self._tools.send("Page.navigate", self._session, url=url)

        def is_over() -> bool:
            """Returns whether the page is loaded, or its load failed; takes new events first."""
            self._consume()
            answer = self._tools.answer(number)
            refused = answer is not None and bool(answer.get("errorText"))
            return self._is_loaded or bool(self._crash) or refused

        ended = self._tools.wait(is_over, deadline)
        refusal = (self._tools.answer(number) or {}).get("errorText")
        if self._crash or refusal:
            return "failed", self._crash or f"the document was not loaded: {refusal}"
        return ("loaded", "") if ended else ("timeout", f"the load event did not come within {timeout_s:g} s")

    def _is_quiet(self) -> bool:
        """Returns whether every request has ended and none has changed for `QUIET_S` seconds.

        Reads the events that have come.
        """
        self._consume()
        is_idle = all(one.end is not None or one.fault for one in self._requests)
        return is_idle and time.monotonic() - self._changed >= QUIET_S

    def _paints(self) -> dict[str, float | None]:
        """Returns the page's times of load event and paints in milliseconds, None for missing ones.

        Waits up to two seconds for the first paint. Raises `BrowserError`.
        """
        found: dict[str, float | None] = json.loads(self.evaluate(PAINTS))
        return found

    def evaluate(self, expression: str) -> str:
        """Returns the text to which the promise of a JavaScript expression resolves.

        Raises `BrowserError` if it fails.
        """
        answer = self._tools.call(
            "Runtime.evaluate", self._session, expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"the tab failed: {answer['exceptionDetails'].get('text')}")
        text: str = answer["result"]["value"]
        return text

    def _progress(self, begin: float) -> progress.Steps:
        """Returns the visual progress of the filmed load; `begin` is its start by the clock of the events.

        Ends the film. Empty if no request was seen. Raises `BrowserError`.
        """
        self._tools.call("Page.stopScreencast", self._session)
        self._consume()
        if self._clocks is None:
            return ()
        of_events, of_day = self._clocks
        times = [at - of_day + of_events - begin for at, _ in self._film]
        return progress.compute_progress(
            times, self._browser.histograms([picture for _, picture in self._film])
        )

    def _navigation_start(self) -> float | None:
        """Returns the time when the navigation began, in seconds of the events' clock; None if unknown.

        Raises `BrowserError`.
        """
        metrics = self._tools.call("Performance.getMetrics", self._session)["metrics"]
        values = {one["name"]: one["value"] for one in metrics}
        return values.get("NavigationStart") or None

    def _consume(self) -> None:
        """Updates the tab's state by the events that came since the last call."""
        events = self._tools.events[self._read :]
        self._read += len(events)
        for event in events:
            if event.get("sessionId") == self._session:
                self._take(event["method"], event["params"])

    def _take(self, method: str, params: dict[str, Any]) -> None:
        """Updates the tab's state by an event of DevTools.

        A picture of the film is acknowledged to the browser, which else sends no more.
        """
        if method == "Page.loadEventFired":
            self._is_loaded = True
        elif method == "Inspector.targetCrashed":
            self._crash = "the tab crashed"
        elif method == "Page.screencastFrame":
            self._tools.send("Page.screencastFrameAck", self._session, sessionId=params["sessionId"])
            self._film.append((params["metadata"]["timestamp"], params["data"]))
        elif method == "Network.requestWillBeSent":
            self._clocks = self._clocks or (params["timestamp"], params["wallTime"])
            self._on_request(params)
        elif method.startswith("Network.") and (request := self._open.get(params.get("requestId", ""))):
            self._changed = time.monotonic()
            _apply_event_to(request, method, params)

    def _on_request(self, params: dict[str, Any]) -> None:
        """Adds a new request over HTTP; if it follows a redirect, the request before it ends.

        Others, such as those of data addresses, are ignored.
        """
        url, number = urldefrag(params["request"]["url"]).url, params["requestId"]
        if not url.startswith(("http:", "https:")):
            return
        if params.get("redirectResponse") and number in self._open:
            before = self._open[number]
            before.response, before.end = params["redirectResponse"], params["timestamp"]
            before.size = int(before.response.get("encodedDataLength", 0))
        priority = params["request"].get("initialPriority", "")
        self._changed = time.monotonic()
        kind, asker = params.get("type", "Other"), _find_initiator(params)
        self._open[number] = _Request(url, kind, priority, params["timestamp"], asker)
        self._requests.append(self._open[number])


def _find_initiator(params: dict[str, Any]) -> str:
    """Returns the address of the document, style sheet or script that asked for an object.

    If DevTools names none, it is the address of the document; for a document it is then empty.
    """
    given = params.get("initiator", {})
    frames = given.get("stack", {}).get("callFrames", [])
    called = next((frame["url"] for frame in frames if frame.get("url")), "")
    url: str = (
        given.get("url") or called or (params["documentURL"] if params.get("type") != "Document" else "")
    )
    return urldefrag(url).url


def _apply_event_to(request: _Request, method: str, params: dict[str, Any]) -> None:
    """Updates a request by an event of DevTools about it."""
    match method.removeprefix("Network."):
        case "responseReceived":
            request.response, request.kind = params["response"], params.get("type", request.kind)
            request.size = max(request.size, int(request.response.get("encodedDataLength", 0)))
        case "dataReceived":
            request.size += int(params.get("encodedDataLength", 0))
        case "loadingFinished":
            request.end, request.size = params["timestamp"], int(params.get("encodedDataLength", 0))
        case "loadingFailed":
            request.fault = params.get("errorText") or "failed"
        case "requestServedFromCache":
            request.is_cached = True


def compute_request_times(timing: Mapping[str, float], begin: float) -> dict[str, float | None]:
    """Returns the times when a connection was begun, the request sent and the answer's first byte received.

    `timing` is a `ResourceTiming` of the DevTools protocol; the times are in seconds after `begin`, None for
    what did not happen. The network service sets `sendEnd` when it learns that a write has ended, and on a
    busy machine it may learn of the answer first; so the request counts as sent by the answer's first byte.
    """

    def read_timing(name: str) -> float | None:
        """Returns a time of the request in seconds since `begin`, None if it is unknown."""
        given = timing.get(name, -1)
        return None if given < 0 else timing["requestTime"] + given / 1000 - begin

    first_byte = read_timing("receiveHeadersStart") or read_timing("receiveHeadersEnd")
    sent = read_timing("sendEnd")
    if sent is not None and first_byte is not None:
        sent = min(sent, first_byte)
    return {"connecting_s": read_timing("connectStart"), "sent_s": sent, "first_byte_s": first_byte}


def _make_fetch(request: _Request, begin: float) -> Fetch:
    """Returns a request as a fetch; its times are in seconds after `begin`, which is of Chromium's clock."""
    response = request.response
    return Fetch(
        url=request.url, kind=request.kind, status=int(response.get("status", 0)),
        protocol=str(response.get("protocol", "")), priority=request.priority,
        connection=int(response.get("connectionId", 0)), size=request.size, queued_s=request.queued - begin,
        end_s=None if request.end is None else request.end - begin, initiator=request.initiator,
        fault=request.fault, **compute_request_times(response.get("timing") or {}, begin),
    )  # fmt: skip


def _to_seconds(milliseconds: float | None) -> float | None:
    """Returns milliseconds as seconds, None for None."""
    return None if milliseconds is None else milliseconds / 1000
