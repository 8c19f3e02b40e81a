"""The command `mousehole live`: runs `mousehole-live`, which a wheel for Linux brings."""

import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from mousehole.base import MouseholeError
from mousehole.base.cli_options import CliCommand, make_command_app

PROGRAM = "mousehole-live"

app = make_command_app()


@app.command(
    "live",
    cls=CliCommand,
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)
def live_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ARGS...]", help="What mousehole-live is given; help lists its commands."),
    ] = None,
) -> None:
    """Answers `mousehole live`.

    For example: sudo mousehole live setup wan0 --down 20mbit --up 1mbit
    """
    exec_program(find_program(), words or [])


def find_program() -> Path:
    """Returns the program of this installation, else the one that the shell finds.

    Raises `MouseholeError` if there is none.
    """
    try:
        installed = distribution("mousehole")
        files = [file for file in installed.files or () if file.name == PROGRAM]
    except PackageNotFoundError:
        files = []
    for file in files:
        path = Path(str(installed.locate_file(file))).resolve()
        if path.exists():
            return path
    elsewhere = shutil.which(PROGRAM)
    if elsewhere is None:
        raise MouseholeError(
            f"{PROGRAM} is not installed; the wheels of a release for Linux on x86-64 and aarch64 bring it, "
            "and `make live` builds it from the sources"
        )
    return Path(elsewhere)


def exec_program(program: Path, words: list[str]) -> NoReturn:
    """Replaces this process by the program, whose exit status is then that of the command.

    `words` are its arguments. Flushes standard output before. Raises `MouseholeError` if the program cannot
    be run.
    """
    sys.stdout.flush()
    try:
        os.execv(program, [PROGRAM, *words])  # noqa: S606 (no shell is wanted)
    except OSError as error:
        raise MouseholeError(f"{program} cannot be run; {error.strerror}") from None
