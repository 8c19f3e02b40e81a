"""The task that the conductor gives the two processes behind the link, and the load that is returned."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

CLEAR_PORT, SECURE_PORT, BULK_PORT = 80, 443, 5001
"""Ports of the server: HTTP, HTTPS, and downloads without end."""
VERSIONS = ("1.1", "2", "3")
CONGESTION = ("cubic", "reno", "bbr")
"""Congestion control that both the kernel and the simulator have."""
SERVER_VARIABLE = "MOUSEHOLE_SERVER"
"""The environment variable in which the link gives both sides the server's address."""

Outcome = Literal["loaded", "timeout", "failed"]


@dataclass(frozen=True)
class Task:
    """One load of a page, for the server and for the browser's process."""

    folder: str
    """Where the page's answers are, written by `content.write_page`."""
    url: str
    hosts: tuple[str, ...]
    version: str
    """Of HTTP over TLS; addresses without TLS are answered with HTTP/1.1."""
    certificate: str
    """PEM files of the server's certificate and of its key."""
    key: str
    fingerprint: str
    """SHA-256 of the certificate's public key in base64, which the browser accepts by a flag."""
    bulk: int
    """Number of downloads during the load."""
    congestion: str
    """Congestion control of the server, by the kernel's name."""
    settle_s: float
    """Seconds between their start and the load."""
    timeout_s: float
    """Seconds after which a load that has not ended is given up."""
    chromium: str
    profile: str
    """Folder of the browser's own files, made and removed by the conductor."""
    result: str
    """File for what was measured."""

    def write(self, path: Path) -> None:
        """Writes the task as JSON, over a file of that name."""
        path.write_text(json.dumps(asdict(self)))

    @staticmethod
    def read(path: str | Path) -> "Task":
        """Returns the task from a file that `write` wrote.

        Raises `OSError`, `ValueError`, `KeyError` or `TypeError` for another file.
        """
        given = json.loads(Path(path).read_text())
        return Task(**{**given, "hosts": tuple(given["hosts"])})


def parse_arguments(given: Sequence[str]) -> tuple[Task, str]:
    """Returns the task in the file that the first argument names, and the server's address.

    The address is in the environment, as `SERVER_VARIABLE`; raises `KeyError` without it. Both sides'
    programs call this.
    """
    return Task.read(given[0]), os.environ[SERVER_VARIABLE]


@dataclass(frozen=True)
class Fetch:
    """One object of a load; times in seconds after the navigation began, None if it did not come so far."""

    url: str
    kind: str
    """As Chromium names it: Document, Stylesheet, Script, Image, Font, …"""
    status: int
    """0 without an answer."""
    protocol: str
    priority: str
    connection: int
    """Number that Chromium gives it, 0 if unknown."""
    size: int
    """Bytes received, headers included."""
    queued_s: float
    """When the page asked for it."""
    sent_s: float | None
    """When the request was sent; before it lie waiting for a connection and opening one."""
    first_byte_s: float | None
    end_s: float | None
    connecting_s: float | None
    """When a connection for it began to be opened; None if it took one that was open."""
    initiator: str
    """Address of the object that asked for it, empty for the document."""
    fault: str
    """Chromium's word for what went wrong, empty if nothing did."""

    @property
    def is_complete(self) -> bool:
        """Returns whether the whole answer arrived, with a status below 400."""
        return self.end_s is not None and not self.fault and self.status < 400


@dataclass(frozen=True)
class Load:
    """One load of a page as the browser measured it; times in seconds after the navigation began."""

    outcome: Outcome
    reason: str
    """Why it did not end, empty if it did."""
    first_paint_s: float | None
    """First contentful paint."""
    largest_paint_s: float | None
    """Largest contentful paint."""
    load_s: float | None
    """End of the load event."""
    fetches: tuple[Fetch, ...]
    progress: tuple[tuple[float, float], ...]
    """Visual progress: times, each with the progress from then on, 0 to 1; empty if it is not known."""
    bulk_bps: float | None
    """What all downloads together received during the load; None without any."""
    browser: str
    """Name and version."""
    sandbox: str
    """Empty if Chromium's sandbox was on, else why it was not."""

    @staticmethod
    def failed(reason: str) -> "Load":
        """Returns a failed load with this reason and no figures."""
        return Load("failed", reason, None, None, None, (), (), None, "", "")

    def record(self) -> dict[str, Any]:
        """Returns the load as plain data for JSON."""
        return asdict(self)

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> "Load":
        """Returns the load from the plain data of `record`.

        Raises `KeyError` or `TypeError` for data of another form.
        """
        own = {item.name: record[item.name] for item in fields(Load) if item.name != "progress"}
        fetches = tuple(Fetch(**one) for one in record["fetches"])
        # Documents of earlier versions have no progress.
        progress = tuple((time, share) for time, share in record.get("progress", ()))
        return Load(**{**own, "fetches": fetches, "progress": progress})
