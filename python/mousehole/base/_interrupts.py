"""Calls of the engine that Ctrl-C interrupts at once."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

POLL_S = 0.1
"""Seconds between two checks for Ctrl-C by the main thread."""


def run_interruptibly(work: Callable[[], T], while_waiting: Callable[[], None] | None = None) -> T:
    """Calls `work` in another thread and returns its result, or raises its exception.

    Ctrl-C ends the wait at once; the other thread then continues alone. `while_waiting` is called in this
    thread several times a second until the work is done.
    """
    future: Future[T] = Future()

    def fulfil() -> None:
        """Calls `work` and stores its result or exception."""
        try:
            future.set_result(work())
        except BaseException as error:  # handed over to the waiting thread
            future.set_exception(error)

    Thread(target=fulfil, daemon=True).start()
    while not wait([future], timeout=POLL_S).done:
        if while_waiting is not None:
            while_waiting()
    return future.result()
