"""The commands of the program. Each is loaded when it is named, so that help and faults take no second."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Command = Any  # of the parser that typer brings


@dataclass(frozen=True)
class Entry:
    """Where a command is defined, as the Typer application `app`, and what it does in one sentence."""

    module: str
    summary: str


VARIABLE = "_MOUSEHOLE_COMPLETE"
"""The environment variable by which a shell's script asks for words; its name is the parser's rule."""

COMMANDS: Mapping[str, Entry] = {
    "compare": Entry(
        "mousehole.commands.compare", "Compares schemes: what short and long transfers gain or lose."
    ),
    "show": Entry(
        "mousehole.commands.show", "Shows what --json or a sweep kept of a result again, without a run."
    ),
    "inspect": Entry("mousehole.commands.inspect", "Prints what Mousehole understands of TRAFFIC."),
    "run": Entry("mousehole.commands.run", "Runs one scenario and writes its records."),
    "tune": Entry(
        "mousehole.tuning.command",
        "Searches settings of schemes and judges the best on replications that it has not seen.",
    ),
    "sweep": Entry(
        "mousehole.sweeps.command",
        "Runs many cells of settings into a data set, and shows what was found: sweep FILE, sweep show DIR.",
    ),
    "link": Entry("mousehole.link.command", "Runs COMMAND behind a link with a scheme, in real time."),
    "live": Entry(
        "mousehole.commands.live", "Runs mousehole-live, which puts policies into the Linux kernel."
    ),
    "page": Entry(
        "mousehole.page.command",
        "Loads a page in a real browser beside downloads, through the emulated link, under several schemes.",
    ),
    "paper": Entry(
        "mousehole.commands.paper",
        "Repeats a paper's experiments next to its published numbers, claim by claim.",
    ),
    "schemes": Entry(
        "mousehole.commands.schemes", "Lists schemes, markers and queues, or prints the page of one."
    ),
    "policy": Entry("mousehole.policy.command", "Creates and checks policies of your own."),
    "completion": Entry(
        "mousehole.commands.completion",
        "Prints the script by which a shell completes words: bash, zsh, fish.",
    ),
}


class LoadedCommands(Mapping[str, "Command"]):
    """The commands by name; to look one up imports its module."""

    def __getitem__(self, name: str) -> "Command":
        """Imports the module of a command.

        Returns the command under this name, with its summary as the first line of its help. Raises
        `KeyError` for an unknown name.
        """
        entry = COMMANDS[name]
        from typer.main import get_command

        command = get_command(import_module(entry.module).app)
        command.name = name
        details = (command.help or "").partition("\n\n")[2]  # the first paragraph is for readers of the code
        command.help = f"{entry.summary}\n\n{details}" if details else entry.summary
        return command

    def __iter__(self) -> Iterator[str]:
        """Yields the names of all commands; loads none."""
        return iter(COMMANDS)

    def __len__(self) -> int:
        """Returns the number of commands; loads none."""
        return len(COMMANDS)
