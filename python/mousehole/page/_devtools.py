"""Chromium's DevTools over a pipe: commands go to its descriptor 3, answers and events come from its 4.

A pipe needs no port, nobody else can reach it, and the browser ends when it is closed.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

END = b"\0"
"""Ends a message in either direction."""
FIRST, LAST = 3, 4
"""The descriptors that Chromium reads and writes."""
PR_SET_PDEATHSIG = 1
CHUNK = 1 << 16
CLOSING_S = 5.0
POLL_S = 0.05

Event = dict[str, Any]


class BrowserError(Exception):
    """The browser ended, refused a command or did not answer."""


class DevTools:
    """A browser of one's own and the pipes to it."""

    def __init__(self, command: Sequence[str], messages: Path, environment: Mapping[str, str]) -> None:
        """Starts the browser in a session of its own; the kernel kills it when this process ends.

        Its output goes into the file `messages`. `environment` is all that it gets of variables. Raises
        `OSError` if it cannot be started.
        """
        self._messages = messages
        reserved = _reserve_descriptors()
        reading, self._to = os.pipe()
        self._from, writing = os.pipe()
        library = ctypes.CDLL(None)

        def join() -> None:
            """Puts the pipes where Chromium expects them, and has it killed when this process ends.

            It runs in the child.
            """
            library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            os.dup2(reading, FIRST)
            os.dup2(writing, LAST)

        with messages.open("wb") as said:
            self._process = subprocess.Popen(
                [*command, "--remote-debugging-pipe"], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                preexec_fn=join, pass_fds=(FIRST, LAST), start_new_session=True, env=environment,
            )  # fmt: skip
        for descriptor in (reading, writing, *reserved):
            os.close(descriptor)
        self._buffer = b""
        self._last = 0
        self._answers: dict[int, Event] = {}
        self.events: list[Event] = []
        """Events that came so far, oldest first, each with the time of its arrival by `time.monotonic`."""

    def call(self, method: str, session: str = "", wait_s: float = 30.0, **params: Any) -> Any:
        """Sends a command and returns its result; meanwhile events gather in `events`.

        Without a `session` the command is to the browser itself. Raises `BrowserError` if it is refused or
        not answered within `wait_s` seconds, and if the browser ends.
        """
        number = self.send(method, session, **params)
        if not self.wait(lambda: number in self._answers, time.monotonic() + wait_s):
            raise BrowserError(f"the browser did not answer {method} within {wait_s:g} s")
        answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"the browser refused {method}: {answer['error'].get('message')}")
        return answer["result"]

    def send(self, method: str, session: str = "", **params: Any) -> int:
        """Sends a command and returns its number, without waiting for the answer.

        Raises `BrowserError` if the browser has ended.
        """
        self._last += 1
        message: Event = {"id": self._last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        try:
            _write_all(self._to, json.dumps(message).encode() + END)
        except OSError:
            raise BrowserError(self._ending()) from None
        return self._last

    def answer(self, number: int) -> Event | None:
        """Returns the result of a command that was sent; None if it has not come or was an error."""
        return self._answers.get(number, {}).get("result")

    def wait(self, is_over: Callable[[], bool], deadline: float) -> bool:
        """Receives messages until `is_over()`; returns False if it is not by the deadline (`time.monotonic`).

        Raises `BrowserError` if the browser ends.
        """
        while not is_over():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            ready, _, _ = select.select([self._from], [], [], min(left, POLL_S))
            if ready:
                self._receive()
        return True

    def close(self) -> None:
        """Asks the browser to end, waits for up to twice `CLOSING_S`, and kills the rest of its session.

        Nothing can be called after it.
        """
        with contextlib.suppress(BrowserError):
            self.call("Browser.close", wait_s=CLOSING_S)
        for descriptor in (self._to, self._from):
            os.close(descriptor)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSING_S)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)  # the browser's session is its own
        self._process.wait()

    def _receive(self) -> None:
        """Waits for the next messages and sorts them into answers and events.

        Raises `BrowserError` if the browser has ended.
        """
        got = os.read(self._from, CHUNK)
        if not got:
            raise BrowserError(self._ending())
        *whole, self._buffer = (self._buffer + got).split(END)
        for text in whole:
            message = json.loads(text)
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self.events.append({**message, "arrived": time.monotonic()})

    def _ending(self) -> str:
        """Returns the sentence on how the browser ended, from its last messages.

        Waits up to a second for the status.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        said = self._messages.read_text(errors="replace").strip().splitlines()
        telling = [line for line in said if "fatal" in line.lower() or "error" in line.lower()] or said
        words = f": {telling[-1].strip()}" if telling else ""
        return f"the browser ended with status {self._process.returncode}{words}"


def _reserve_descriptors() -> list[int]:
    """Opens the descriptors that the child needs, so that this process uses them for nothing else.

    Returns all that it opened; the caller closes them.
    """
    taken = [os.open(os.devnull, os.O_RDWR)]
    while taken[-1] < LAST:
        taken.append(fcntl.fcntl(taken[0], fcntl.F_DUPFD_CLOEXEC, FIRST))
    return taken


def _write_all(descriptor: int, data: bytes) -> None:
    """Writes all bytes to a descriptor, which may block; raises `OSError`."""
    while data:
        data = data[os.write(descriptor, data) :]
