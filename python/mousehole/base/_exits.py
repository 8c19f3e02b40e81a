"""How the command ends: its statuses, and the answer to Ctrl-C before it has begun. It imports little."""

import os

TYPE_CHECKING = False  # the name that type checkers know; importing `typing` takes longer than the rest
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

WRITE_STATUS = 1
"""Standard output cannot be written."""
USAGE_STATUS = 2
"""A fault in the input, or too little memory."""
FAULT_STATUS = 70
"""A fault of Mousehole itself."""
INTERRUPTED_STATUS = 130
BROKEN_PIPE_STATUS = 141
"""Nobody reads standard output any more."""
TERMINATED_STATUS = 143


def stop_at_once(number: int, frame: "FrameType | None") -> "NoReturn":  # noqa: ARG001 (what Python calls it with)
    """Ends the process with status 130 and without any clean-up; it is a handler for `signal.signal`.

    It answers Ctrl-C before the command has begun.
    """
    os.write(2, b"mousehole: stopped; nothing was written\n")
    os._exit(INTERRUPTED_STATUS)
