"""How far the work is: a bar with the time left on a terminal, nothing elsewhere."""

from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Reporter(Protocol):
    """Who is told how the work goes."""

    def say(self, text: str) -> None:
        """A remark or warning, one line."""

    def start(self, total: int) -> None:
        """`total` runs begin."""

    def advance(self) -> None:
        """One run ended."""

    def finish(self) -> None:
        """The runs are over, done or not."""


class Silent:
    """Tells nobody."""

    def say(self, text: str) -> None:
        """Nothing."""

    def start(self, total: int) -> None:
        """Nothing."""

    def advance(self) -> None:
        """Nothing."""

    def finish(self) -> None:
        """Nothing."""


class ConsoleReporter:
    """Remarks on standard error, and a bar there if it is a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: Progress | None = None

    def say(self, text: str) -> None:
        """Prints the remark as it is."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def start(self, total: int) -> None:
        """Shows the bar."""
        if self._console.is_terminal:
            columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.add_task("runs", total=total)
            self._bar.start()

    def advance(self) -> None:
        """Moves the bar."""
        if self._bar is not None:
            self._bar.advance(self._bar.task_ids[0])

    def finish(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
