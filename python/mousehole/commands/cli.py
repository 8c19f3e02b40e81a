"""The command line: errors, signals and statuses of all commands, which `_registry` lists."""

import errno
import os
import signal
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from mousehole import _engine
from mousehole.base import (
    BROKEN_PIPE_STATUS,
    FAULT_STATUS,
    INTERRUPTED_STATUS,
    REVISION,
    TERMINATED_STATUS,
    USAGE_STATUS,
    WRITE_STATUS,
    MouseholeError,
    OutputLostError,
    Terminated,
    escape_controls,
    fit_stdout_encoding,
    output,
    stop_at_once,
)
from mousehole.base.arguments import PLACES
from mousehole.base.cli_options import explain_usage_error
from mousehole.commands._registry import COMMANDS, VARIABLE, LoadedCommands


class CliGroup(TyperGroup):
    """The commands. A fault in the input ends with one line on standard error and status 2."""

    def __init__(self, *given: Any, **named: Any) -> None:
        """Makes the group with commands that are loaded when they are used."""
        super().__init__(*given, **named)
        self.commands = LoadedCommands()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 (the parser passes it)
        """Returns the names of the commands without loading them."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 (the parser passes it)
        """Writes the list of commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Returns the arguments left by the parser, which reads `help COMMAND …` as `COMMAND … --help`."""
        if args and args[0] == "help":
            args = [*args[1:], "--help"]
        return list(super().parse_args(ctx, args))

    def main(self, *given: Any, **named: Any) -> Any:
        """Runs the command line on `sys.argv` and exits with its status.

        A fault becomes one line on standard error and a status of `base/_exits.py`; help without a
        command ends with status 0.
        """
        try:
            _require_text(sys.argv[1:])
            status = super().main(*given, **{**named, "standalone_mode": False})
            sys.stdout.flush()
        except OutputLostError as error:
            _exit_on_lost_output(error)
        except Exception as error:
            fault = error if isinstance(error, MouseholeError) else explain_usage_error(error)
            if fault is None and hasattr(error, "ctx"):  # the help, where no command is named
                print(error.ctx.get_help())
                sys.exit(0)
            if fault is None:
                _exit_with_message(*_describe_unforeseen(error))
            _exit_with_message(f"mousehole: error: {MouseholeError(str(fault))}", USAGE_STATUS)
        sys.exit(status if isinstance(status, int) else 0)

    def get_help(self, ctx: Any) -> str:
        """Returns the help in characters that standard output has."""
        return fit_stdout_encoding(super().get_help(ctx))

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Runs the chosen command; for a fault or a signal it exits with a message and a status.

        The statuses are those of `base/_exits.py`. From here on Ctrl-C raises `KeyboardInterrupt`, unless it
        is ignored.
        """
        try:
            if signal.getsignal(signal.SIGINT) is stop_at_once:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            return super().invoke(ctx)
        except MouseholeError as error:
            _exit_with_message(f"mousehole: error: {error.renamed(OPTION_OF_FIELD)}", USAGE_STATUS)
        except Terminated as stop:
            _exit_with_message(_describe_stop(str(stop)), TERMINATED_STATUS)
        except KeyboardInterrupt as stop:
            _exit_with_message(_describe_stop(str(stop) or f"stopped; {NOTHING}"), INTERRUPTED_STATUS)
        except MemoryError:
            _exit_with_message(f"mousehole: error: {OUT_OF_MEMORY}", USAGE_STATUS)
        except RuntimeError as error:
            if str(error) != NO_THREAD:
                raise
            _exit_with_message(f"mousehole: error: {OUT_OF_MEMORY}", USAGE_STATUS)
        except OutputLostError as error:  # as in `main`, but before click takes it for its own
            _exit_on_lost_output(error)
        except OSError as error:
            _exit_with_message(*_describe_unforeseen(error))
        except BaseException as error:
            if type(error).__name__ != PANIC:
                raise
            _exit_with_message(*_describe_unforeseen(error))


app = typer.Typer(
    cls=CliGroup, add_completion=False, no_args_is_help=True, rich_markup_mode=None,
    pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"Ready-made TRAFFIC: {PLACES}. mousehole help COMMAND, or COMMAND -h, shows a command's options.",
)  # fmt: skip


OPTION_OF_FIELD = {
    "link.rate": "--rate", "link.rtt": "--rtt", "link.buffer": "--buffer", "link.down": "--down",
    "link.up": "--up", "link.overhead": "--overhead", "link.layer": "--link-layer", "link.burst": "--burst",
    "link.shape": "--shape", "link.up_shape": "--up-shape", "link.modem_buffer": "--modem-buffer",
    "link.shape_layer": "--shape-layer",
    "mtu": "--mtu", "down": "--down", "up": "--up", "at": "--at", "payload": "--payload",
    "topology.rate": "--rate", "topology.rtt": "--rtt", "topology.buffer": "--buffer",
    "topology.up": "--up", "traffic.load": "--load", "traffic.payload": "--payload",
    "traffic.replay": "--replay", "traffic.server_think": "--server-think", "tcp.profile": "--tcp",
    "duration": "--duration", "warmup": "--warmup", "seed": "--seed", "seeds": "--seeds", "jobs": "--jobs",
    "rounds": "--rounds",
    "scheme": "--schemes", "schemes": "--schemes", "short": "--short", "long": "--long", "buffer": "--buffer",
    "load": "--load", "rate": "--rate", "replication": "--replication",
    "overhead": "--overhead", "table": "--table", "figure": "--figure",
    "users": "--users", "apps": "--apps",
    "baseline": "--baseline", "veto": "--veto", "reference": "--reference",
    "dask": "--dask", "days": "--days", "series": "--series", "settle": "--settle", "kind": "--kind",
    "records": "--records", "trials": "--trials", "budget": "--budget",
    "traffic.params": "--param", "params": "--param", "traffic.classes": "--class",
    "traffic.format": "--format", "traffic.qoo": "--qoo", "traffic.nqb": "--nqb",
}  # fmt: skip
"""Fields of a scenario by the option that sets them, so that errors name what the user typed."""

NOTHING = "nothing was written"
PANIC = "PanicException"
"""The name of the exception, no `Exception`, of Rust code that has given up."""
NO_THREAD = "can't start new thread"
"""Python's message if there is no memory for a thread."""
OUT_OF_MEMORY = "out of memory; give fewer --jobs, a shorter --duration, a lower --rate or a lower --load"


def main() -> None:
    """Runs the command `mousehole`; does not return.

    SIGTERM ends it as Ctrl-C does: half-written files are deleted. So does SIGHUP, when a terminal or a
    session is closed, unless it is ignored (`nohup`).
    """
    signal.signal(signal.SIGTERM, _terminate)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _terminate)
    if VARIABLE in os.environ:  # a shell asks for words
        from typer._completion_classes import completion_init

        completion_init()
    app(prog_name="mousehole")


def _terminate(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 (what Python calls it with)
    """Raises `Terminated` on SIGTERM and SIGHUP."""
    raise Terminated(f"terminated; {NOTHING}")


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print version and revision.")] = False,
) -> None:
    """Shows what flows gain or lose if short flows go first, on your traffic and link."""
    if version:
        typer.echo(f"mousehole {_engine.__version__} ({REVISION})")
        raise typer.Exit


def _describe_stop(said: str) -> str:
    """Returns the message of a stopped command, with the files that were written before, if there are any."""
    files = escape_controls(", ".join(output.written), lines=True)
    return f"mousehole: {said.replace(NOTHING, f'written before: {files}') if files else said}"


def _exit_on_lost_output(error: OutputLostError) -> NoReturn:
    """Exits because standard output cannot be written; without a message if nobody reads it any more."""
    _discard_output()
    if error.errno == errno.EPIPE:
        _exit_with_status(BROKEN_PIPE_STATUS)
    _exit_with_message(f"mousehole: error: cannot write standard output; {error.strerror}", WRITE_STATUS)


def _require_text(words: list[str]) -> None:
    """Raises `MouseholeError` for an argument that is no text, such as a file's name from an old disk."""
    for word in words:
        if not word.isascii() and any("\ud800" <= letter <= "\udfff" for letter in word):
            allowed = "rename the file, or read it from standard input: - < FILE"
            raise MouseholeError(f'the argument "{word}" is not UTF-8 text; {allowed}')


def _describe_unforeseen(error: BaseException) -> tuple[str, int]:
    """Returns the message and the exit status for an exception that nothing has handled.

    An `OSError` is a fault of the system. Anything else is a fault of this program; its traceback is
    written into a temporary file, which the message names if the write succeeds.
    """
    if isinstance(error, OSError) and error.errno is not None:
        place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        advice = "; raise the limit (ulimit -n)" if error.errno in (errno.EMFILE, errno.ENFILE) else ""
        return f"mousehole: error: {MouseholeError(f'{place}{error.strerror}{advice}')}", USAGE_STATUS
    kept = ""
    with suppress(OSError):
        handle, name = tempfile.mkstemp(prefix="mousehole-fault-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as report:  # noqa: PTH123 (a handle)
            report.writelines(traceback.format_exception(error))
        kept = f"; please report it with the file {name}"
    said = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    return f"mousehole: error: {MouseholeError(f'a fault of mousehole itself ({said})')}{kept}", FAULT_STATUS


def _discard_output() -> None:
    """Connects standard output to the null device, so that the interpreter flushes nothing to a reader."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit_with_message(message: str, status: int) -> NoReturn:
    """Prints the message on standard error and exits, even if other threads are still computing.

    Flushes standard output before, and drops what it cannot take.
    """
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
    with suppress(OSError):
        print(message, file=sys.stderr, flush=True)
    _exit_with_status(status)


def _exit_with_status(status: int) -> NoReturn:
    """Exits with `status` as `sys.exit` does, but at once, without clean-up, if other threads are running."""
    if any(thread is not threading.main_thread() for thread in threading.enumerate()):
        os._exit(status)
    sys.exit(status)
