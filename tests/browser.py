"""Headless Chromium for tests of pages: what it shows at a width, and whether anything went wrong."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

WIDTHS = (390, 820, 1400)
"""A phone, a tablet, a desktop."""
TALLEST = 16000
"""Height to which screenshots are cut, in pixels."""
CHARTS_S = 60
"""Longest time that the charts of a page may take, in seconds."""


@dataclass(frozen=True)
class Shown:
    """A page as the browser shows it."""

    scroll_width: int
    """Width of all that there is, in CSS pixels; more than the window's means that something overflows."""
    height: int
    console: list[str]
    requests: list[str]
    """Addresses that were asked for, other than the page's own."""


@contextmanager
def open_browser() -> Iterator["Browser"]:
    """Opens headless Chromium while the context lasts; skips the test if it is not installed."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("NOT RUN: chromium and chromedriver are not installed; make deps installs them")
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.binary_location = chromium
    window = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield Browser(window)
    finally:
        window.quit()


class Browser:
    """A window of Chromium."""

    def __init__(self, window: "webdriver.Chrome") -> None:  # type: ignore[name-defined]  # noqa: F821
        self._window = window

    def show(self, page: Path | str, width: int, dark: bool = False, picture: Path | None = None) -> Shown:
        """Shows a file, or the page of an address, in a window of this width.

        Where the page has `data-ready`, its charts are waited for. `console` has all messages since they
        were last read.

        `picture` is where a screenshot goes.
        """
        window = self._window
        self._resize(width, 900)
        self.set_dark(dark)
        window.get_log("performance")  # what earlier pages asked for
        address = page if isinstance(page, str) else page.resolve().as_uri()
        window.get(address)
        if self.run("return document.documentElement.dataset.ready === 'yes'"):
            self._wait_for_charts(width)
        size = "return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        scroll_width, height = window.execute_script(size)
        messages = [json.loads(entry["message"])["message"] for entry in window.get_log("performance")]
        sent = [
            one["params"]["request"]["url"]
            for one in messages
            if one["method"] == "Network.requestWillBeSent"
        ]
        if picture is not None:
            self._resize(width, min(height, TALLEST))
            window.save_screenshot(str(picture))
        console = [entry["message"] for entry in window.get_log("browser")]
        wanted = [url for url in sent if url != address and not url.startswith("data:")]
        return Shown(scroll_width, height, console, wanted)

    def take_screenshot(self, picture: Path) -> list[str]:
        """Takes a screenshot of the whole page in its present state.

        Returns the console's messages. The window stays as high as the page, at most `TALLEST`.
        """
        width, height = (
            self.run(f"return document.documentElement.{side}") for side in ("clientWidth", "scrollHeight")
        )
        assert isinstance(width, int)
        assert isinstance(height, int)
        self._resize(width, min(height, TALLEST))
        self._window.save_screenshot(str(picture))
        return self.messages()

    def messages(self) -> list[str]:
        """Returns the console's messages since the last call."""
        return [entry["message"] for entry in self._window.get_log("browser")]

    @contextmanager
    def run_before_pages(self, script: str) -> Iterator[None]:
        """Runs a script before the scripts of every page that is opened in the block."""
        command = "Page.addScriptToEvaluateOnNewDocument"
        added = self._window.execute_cdp_cmd(command, {"source": script})
        try:
            yield
        finally:
            self._window.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)

    def set_dark(self, dark: bool) -> None:
        """Emulates a system that prefers dark or light pages."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})

    def set_paper(self, paper: bool) -> None:
        """Emulates print media, or the screen."""
        self._window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print" if paper else ""})

    @contextmanager
    def without_script(self) -> Iterator[None]:
        """Disables the scripts of pages while the block lasts."""
        self._window.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            yield
        finally:
            self._window.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    def choose(self, selector: str, files: list[Path]) -> None:
        """Chooses files in the file input that a CSS selector finds."""
        field = self._window.find_element("css selector", selector)
        field.send_keys("\n".join(str(file) for file in files))

    def press(self, *keys: str) -> None:
        """Presses keys one after another, such as `selenium.webdriver.Keys.TAB`."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self._window).send_keys(*keys).perform()

    def _wait_for_charts(self, width: int) -> None:
        """Makes the window as high as the page, since charts are drawn when visible, and waits for them.

        Without a chart nothing happens. Raises `TimeoutException` after `CHARTS_S`.
        """
        from selenium.webdriver.support.wait import WebDriverWait

        if not self.run("return document.querySelector('figure.chart') !== null"):
            return
        height = self.run("return document.documentElement.scrollHeight")
        self._resize(width, height if isinstance(height, int) else 900)
        drawn = "return document.querySelectorAll('figure.chart:not([data-drawn=yes])').length === 0"
        WebDriverWait(self._window, CHARTS_S).until(lambda _: self.run(drawn), "charts are not drawn")

    def run(self, script: str) -> object:
        """Runs a script in the page and returns its result. Raises `JavascriptException` if it fails."""
        found: object = self._window.execute_script(script)
        return found

    def _resize(self, width: int, height: int) -> None:
        """Sets width and height of the window, in CSS pixels.

        One that is narrower than 500 is a phone's.
        """
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self._window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
