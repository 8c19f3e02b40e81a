"""Options of the command line made from dataclasses, help with headings, and usage errors in one line."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from mousehole.base._completion import complete_schemes
from mousehole.base._options import parse_parameters, parse_whole
from mousehole.base._plain_text import fit_stdout_encoding
from mousehole.base._settings import REPLACED, OptionHelp, command_line_options, option, switch

READERS: dict[type, Callable[[str, Any], Any]] = {
    int: parse_whole,
    dict: lambda name, given: parse_parameters(f"--{name.removesuffix('s')}", given) if given else None,
}
"""Functions that read what was typed for an option that is no text."""
OF_SCHEMES = {"scheme", "schemes", "baseline", "beside", "reference"}
"""Fields whose value names schemes, which a shell can complete."""
OPTIONS, OUTPUT = "Options", "Output"
WHERE = "FILE|-"
PICTURE = "FILE.png|.svg|.pdf"
TABLE = "FILE.parquet|.csv"


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Where the results of a comparison are written, in addition to the report."""

    json: str | None = option(None, "All results as JSON; - is standard output.", WHERE, OUTPUT)
    plot: str | None = option(None, "Plot of response times and of their changes.", PICTURE, OUTPUT)
    heatmap: str | None = option(None, "Plot of the change by transfer size and scheme.", PICTURE, OUTPUT)
    html: str | None = option(None, "Report with charts and tables, one file.", "FILE.html", OUTPUT)
    save_scenario: str | None = option(
        None, "The baseline's first run, as input for mousehole run.", "FILE.toml|-", OUTPUT
    )
    details: bool = switch("Print all tables, sentences and size buckets.", OUTPUT)


class CliCommand(TyperCommand):
    """A command whose help lists the options under headings."""

    def get_help(self, ctx: Any) -> str:
        """Returns the help in characters that standard output has."""
        return fit_stdout_encoding(super().get_help(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the arguments, then the options under their headings, in the order of declaration."""
        for heading, records in list_help_sections(self, ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)


def make_command_app(**settings: Any) -> typer.Typer:
    """Returns an empty Typer application, to which a module adds a command for `commands.cli` to load.

    `settings` are passed to `typer.Typer`.
    """
    return typer.Typer(
        add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, **settings
    )


def list_help_sections(command: Any, context: Any) -> dict[str, list[tuple[str, str]]]:
    """Returns pairs of an option, with its metavar, and its help, by heading in the order of declaration.

    Hidden parameters are left out.
    """
    sections: dict[str, list[tuple[str, str]]] = {}
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None:
            is_argument = param.param_type_name == "argument"
            heading = "Arguments" if is_argument else getattr(param, "rich_help_panel", None) or "Options"
            sections.setdefault(heading, []).append((record[0].partition(" <")[0], record[1]))
    return sections


def with_options(**kinds: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Returns a decorator that gives a command the options of dataclasses.

    `kinds` are the function's parameters and their classes. The command is called with keywords only; it
    raises `MouseholeError` for a faulty value of an option.
    """

    def wrap(function: Callable[..., None]) -> Callable[..., None]:
        """Returns the command with the fields of the dataclasses as its parameters."""

        def command(**given: Any) -> None:
            """Runs the function with a dataclass made of the parameters that belong to it."""
            made = {name: _construct_options(kind, given) for name, kind in kinds.items()}
            function(**{name: value for name, value in given.items() if name in own}, **made)

        own = {
            name: item for name, item in inspect.signature(function).parameters.items() if name not in kinds
        }
        added = [
            _make_parameter(name, *entry)
            for kind in kinds.values()
            for name, entry in command_line_options(kind).items()
        ]
        parameters = [item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in [*own.values(), *added]]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {item.name: item.annotation for item in parameters}
        command.__doc__ = function.__doc__
        return command

    return wrap


def typed_command() -> list[str]:
    """Returns the command line as it was typed, for reports."""
    return ["mousehole", *sys.argv[1:]]


def explain_usage_error(error: Exception) -> str | None:
    """Returns the message for an error of the command-line parser, with a hint at the command's help.

    None for a request for help and for any other exception.
    """
    context = getattr(error, "ctx", None)
    if not hasattr(error, "format_message") or "Help" in type(error).__name__:
        return None
    unknown = str(getattr(error, "option_name", ""))
    if now := REPLACED.get(unknown.removeprefix("--").replace("-", "_")):
        return f"{unknown} was replaced; {now}"
    names: list[str] = getattr(getattr(error, "param", None), "opts", [])
    message = getattr(error, "message", "")
    is_option = bool(names) and names[0].startswith("-") and bool(message)
    fault = f"{names[0]}: {message}" if is_option else str(error.format_message())
    command = context.command_path if context else "mousehole COMMAND"
    fault = fault.rstrip(".")
    return f"{fault}{' ' if fault.endswith('?') else '; '}{command} --help lists the options"


def _construct_options(kind: type, given: dict[str, Any]) -> Any:
    """Returns options of class `kind` from typed values by name; raises `MouseholeError` for a faulty one."""
    options = command_line_options(kind).items()
    return kind(
        **{
            name: READERS[words.kind](name, given[name]) if words.kind in READERS else given[name]
            for name, (_, words) in options
        }
    )


def make_flag(name: str, words: OptionHelp) -> str:
    """Returns the flag of a field, such as `--param`, without the plural s of an option that is repeated."""
    if words.kind in (dict, list):
        name = name.removesuffix("s")
    return f"--{name.rstrip('_').replace('_', '-')}"


def _make_parameter(name: str, default: Any, words: OptionHelp) -> inspect.Parameter:
    """Returns the parameter of a command for an option, as typer reads it.

    Numbers are declared as text and read by `READERS`, so that faults name the value.
    """
    kind = {bool: bool, dict: list[str], list: list[str]}.get(
        words.kind, str
    )  # read here, so that faults name the value
    optional: Any = kind if isinstance(default, str | bool) else kind | None
    flag = make_flag(name, words) + (f"/--{words.off}" if words.off else "")
    declared: Any = typer.Option(
        flag,
        show_default=isinstance(default, str) or bool(words.off),
        autocompletion=complete_schemes if name in OF_SCHEMES else None,
        help=words.help,
        rich_help_panel=words.group,
        metavar=words.metavar or None,
    )
    annotation = Annotated[optional, declared]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
