"""Reports progress: a bar with the remaining time on a terminal, elsewhere a line every minute."""

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

LINE_S = 60.0
"""Seconds between two lines of progress where there is no terminal."""


class Reporter(Protocol):
    """Receives reports on the progress of a comparison."""

    def say(self, text: str) -> None:
        """Receives a remark or warning of one line."""

    def start(self, total: int, what: str = "runs") -> None:
        """Receives the number of runs before they begin; of a single run, `what` is `percent`.

        Called with megabytes and `MB read` before large files are read.
        """

    def advance(self) -> None:
        """Receives the end of a run, or of a percent of one."""

    def finish(self) -> None:
        """Receives the end of all runs, complete or not."""


class Silent:
    """Ignores all reports."""

    def say(self, text: str) -> None:
        """Does nothing."""

    def start(self, total: int, what: str = "runs") -> None:
        """Does nothing."""

    def advance(self) -> None:
        """Does nothing."""

    def finish(self) -> None:
        """Does nothing."""


class ConsoleReporter:
    """Prints remarks on a console, and shows a bar there if it is a terminal, else a line every minute."""

    def __init__(self, console: "Console") -> None:
        """Shows nothing until the first report."""
        self._console = console
        self._bar: Progress | None = None
        self._what, self._total, self._count = "", 0, 0
        self._begin_s = self._said_s = 0.0

    def say(self, text: str) -> None:
        """Prints the remark on a line of its own, without markup."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def start(self, total: int, what: str = "runs") -> None:
        """Resets count and clock, and shows a bar named `what` if the console is a terminal."""
        self._what, self._total, self._count = what, total, 0
        self._begin_s = self._said_s = time.monotonic()
        if self._console.is_terminal:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.add_task(what, total=total)
            self._bar.start()

    def advance(self) -> None:
        """Advances the bar; without one, counts, and prints a line at most once a minute."""
        if self._bar is not None:
            self._bar.advance(self._bar.task_ids[0])
            return
        self._count += 1
        now = time.monotonic()
        if now - self._said_s >= LINE_S and self._count < self._total:
            self._said_s = now
            left_s = (now - self._begin_s) / self._count * (self._total - self._count)
            left = f"{left_s / 60:.0f} min" if left_s >= 30 else f"{left_s:.0f} s"
            self.say(f"{self._count:,} of {self._total:,} {self._what}, about {left} left")

    def finish(self) -> None:
        """Removes the bar; does nothing without one."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def console_reporter() -> ConsoleReporter:
    """Returns the reporter of the commands, which prints on standard error."""
    from mousehole.base._tabling import OutputConsole

    return ConsoleReporter(OutputConsole(stderr=True, highlight=False))
