"""The options of a comparison, declared once for `mousehole.compare` and for the command line."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, get_args, get_origin

from mousehole.base import defaults
from mousehole.base._errors import field_error
from mousehole.base._options import require_mapping, require_switch, require_texts
from mousehole.base._places import Apps
from mousehole.base._progress import Reporter

if TYPE_CHECKING:
    from concurrent.futures import Executor

P = ParamSpec("P")
S = TypeVar("S")
R = TypeVar("R")
T = TypeVar("T")

Direction = Literal["down", "up"]
Way = Literal["down", "up", "both"]
"""Server to client, or client to server."""
Replay = Literal["open", "closed"]
"""Whether connections of files wait for each other: not, or as recorded."""

LINK, TRAFFIC, COMPARED, RUN, HOSTS = "Link", "Traffic", "Comparison", "Runs", "Hosts"


@dataclass(frozen=True)
class OptionHelp:
    """The help of an option: one line of text, the name of its value, its heading and its type."""

    help: str
    metavar: str
    group: str
    kind: type = str
    off: str = ""
    """The opposite of a switch, if that is an option, too."""


def option(default: T, text: str, metavar: str, group: str, kind: type = str, off: str = "") -> T:
    """Declares a field of a dataclass that is also an option of the command line; returns the field.

    `text` is its help, `metavar` the name of its value there, `group` its heading and `kind` the type that
    the command line reads.
    """
    made: T = field(default=default, metadata={"help": OptionHelp(text, metavar, group, kind, off)})
    return made


def switch(text: str, group: str, off: str = "") -> bool:
    """Declares a field that is also a switch of the command line, off by default; returns the field."""
    return option(False, text, "", group, bool, off)


def command_line_options(kind: type) -> dict[str, tuple[Any, OptionHelp]]:
    """Returns default and help of every field that is an option of the command line, by name.

    The order is that of the declaration; other fields are left out.
    """
    return {
        item.name: (item.default, item.metadata["help"]) for item in fields(kind) if "help" in item.metadata
    }


def repeat_option(kind: type, name: str, group: str | None = None) -> Any:
    """Declares a field that is the same option as field `name` of class `kind`; returns the field.

    `group` replaces its heading. Raises `KeyError` if the class has no such option.
    """
    default, words = command_line_options(kind)[name]
    return field(default=default, metadata={"help": replace(words, group=group or words.group)})


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of link, traffic, hosts and runs; None means the scenario's value, or the default."""

    down: str | float | None = option(
        None, "Rate of the download direction, such as 20mbit, or a file of a rate that varies.",
        "RATE|FILE", LINK,
    )  # fmt: skip
    up: str | float | None = option(None, "The same of the upload direction.", "RATE|FILE", LINK)
    rate: str | float | None = option(
        None, "Rate of both directions; the scheme is then at the download direction.", "RATE", LINK
    )
    at: Way | None = option(  # noqa: RUF009 (the call only declares)
        None, "Where the scheme is (default: both with --down and --up, else down).", "down|up|both", LINK
    )
    rtt: str | float | timedelta | None = option(  # noqa: RUF009 (the call only declares)
        None, f"Round-trip time if the traffic gives none (default: {defaults.RTT}).", "TIME", LINK
    )
    buffer: str | float | Sequence[str | float] | None = option(
        None,
        f"Buffer in packets, bytes, time or bandwidth-delay products (default: {defaults.LINE_BUFFER} with "
        f"--down, else {defaults.BUFFER}); several: a grid.",
        "50p|64kB|200ms|1bdp[,…]", LINK,
    )  # fmt: skip
    overhead: int | None = option(None, "Link-layer bytes per packet (default: 0).", "BYTES", LINK, int)
    link_layer: str | None = option(
        None, "Link layer by name, such as docsis, adsl or vdsl, in place of --overhead.", "NAME", LINK
    )
    burst: str | float | None = option(
        None, "Depth of a token bucket that shapes the link, as tc's tbf (default: none).", "8kB", LINK
    )
    shape: str | float | None = option(
        None, "Schemes send at this share of the line's rate, or rate, into a modem's FIFO (default: none).",
        "90%|RATE", LINK,
    )  # fmt: skip
    up_shape: str | float | None = option(
        None, "The same of the upload direction (default: as --shape).", "90%|RATE", LINK
    )
    modem_buffer: str | float | None = option(
        None,
        "Buffer of that FIFO, all that droptail has (default: as --buffer).",
        "200ms|50p|64kB",
        LINK,
    )
    shape_layer: str | None = option(
        None,
        "What shapers count of packets: a link layer, or none (default: as the line).",
        "NAME|none",
        LINK,
    )
    users: int | None = option(None, "Number of users (default: the place's).", "N", TRAFFIC, int)
    apps: Apps | None = option(  # noqa: RUF009 (the call only declares)
        None, "What they run, with the share of users who do (default: the place's): web:1,calls:0.3.",
        "APP[:SHARE][,…]", TRAFFIC,
    )  # fmt: skip
    load: str | float | Sequence[float] | None = option(
        None, "Bytes of IP packets / capacity, at most 2 (default: the traffic's own); several give a grid.",
        "0.9[,…]", TRAFFIC,
    )  # fmt: skip
    payload: Way | None = option(  # noqa: RUF009 (the call only declares)
        None,
        "Which way the payload goes (default: the scenario's, else down; of calls both).",
        "down|up|both",
        TRAFFIC,
    )
    replay: Replay | None = option(  # noqa: RUF009 (the call only declares)
        None,
        "Whether connections wait for each other as recorded (default: closed if files tell their ends).",
        "open|closed",
        TRAFFIC,
    )
    ignore_trace_rtt: bool = switch("Use --rtt for every connection.", TRAFFIC)
    strict: bool = switch("Treat a faulty row of a file as an error.", TRAFFIC)
    params: Mapping[str, object] | None = option(
        None, "Parameter of the model; repeat it for several.", "NAME=VALUE", TRAFFIC, dict
    )
    class_: str | Sequence[str] | None = option(
        None, "Class of the flows that meet a condition, against the rule; repeat it for several.",
        "'port 5060=call'", TRAFFIC, list,
    )  # fmt: skip
    format_: str | Path | None = option(  # noqa: RUF009
        None, "File that describes the format of the logs (default: recognised by content).", "FILE.toml",
        TRAFFIC,
    )  # fmt: skip
    qoo: str | Sequence[str] | None = option(
        None, "Quality of Outcome of a class by a profile of your own; repeat it for several.",
        "'games=p99 40ms..150ms, loss 0.1%..2%'", TRAFFIC, list,
    )  # fmt: skip
    tcp: str | None = option(
        None, "linux (default), bbr, rfc, ns2-2.35, ns2-2001, or shares: linux:0.6,bbr:0.4.", "PROFILE", HOSTS
    )
    ecn: bool = switch("Hosts use ECN (RFC 3168).", HOSTS)
    nqb: bool = switch("Calls, games and video calls mark their packets NQB (RFC 9956).", HOSTS)
    server_think: str | float | timedelta | None = option(  # noqa: RUF009
        None, "Time from a request to its answer where captures do not tell it (default: 6ms).", "TIME", HOSTS
    )
    policy: str | Sequence[str] | None = option(
        None, "Header of your own policy, which schemes may then name; several with commas.",
        "FILE.h[,…]", COMPARED,
    )  # fmt: skip
    short: str | float = option(defaults.SHORT, "Transfers up to this size are short.", "SIZE", COMPARED)
    long: str | float = option(defaults.LONG, "Transfers above this size are long.", "SIZE", COMPARED)
    duration: str | float | timedelta | None = option(  # noqa: RUF009
        None, f"Length of the measured window (default: {defaults.DURATION}).", "TIME", RUN
    )
    warmup: str | float | timedelta | None = option(  # noqa: RUF009
        None,
        f"Time before the measured window (default: from sizes and load; {defaults.WARMUP} with --quick).",
        "TIME",
        RUN,
    )
    seeds: int | None = option(
        None,
        f"Replications (default: {defaults.REPLICATIONS}; {defaults.QUICK_REPLICATIONS} with --quick); "
        f"intervals need {defaults.LEAST_REPLICATIONS}.",
        "N",
        RUN,
        int,
    )
    seed: int | None = option(None, f"Seed of all random draws (default: {defaults.SEED}).", "N", RUN, int)
    jobs: int | None = option(None, "Parallel runs (default: one per core, if memory allows).", "N", RUN, int)
    dask: str | None = option(
        None, "Runs on the workers of this Dask scheduler (tcp://HOST:8786), not here.", "ADDRESS", RUN
    )
    executor: "Executor | None" = None
    reporter: Reporter | None = None

    def __post_init__(self) -> None:
        """Raises `MouseholeError` for a value of another type than the option has.

        Numbers, quantities and lists with commas are checked where they are read.
        """
        types = {item.name: item.type for item in fields(self)}
        for name, (default, words) in command_line_options(type(self)).items():
            given, field_name = getattr(self, name), name.rstrip("_")
            if words.kind is bool:
                object.__setattr__(self, name, require_switch(field_name, given))
            elif given is default or given is None:
                continue
            elif words.kind is dict:
                require_mapping(field_name, given)
            elif words.kind is list and not isinstance(given, str):
                object.__setattr__(self, name, require_texts(field_name, given))
            elif not isinstance(given, str) and _is_text_alone(types[name]):
                raise field_error(field_name, str(given), "a text")
        if self.reporter is not None and not callable(getattr(self.reporter, "say", None)):
            raise field_error("reporter", str(self.reporter), "an object with the methods of Reporter")


def _is_text_alone(kind: Any) -> bool:
    """Returns whether a field of this type takes texts only: `str`, or words, perhaps None as well."""
    kinds = {str if get_origin(one) is Literal else one for one in get_args(kind) or (kind,)}
    return kinds - {type(None)} == {str} or get_origin(kind) is Literal


@dataclass(frozen=True, kw_only=True)
class Options(RunOptions):
    """The options of a comparison; None means the value of the user's scenario, or else the default."""

    schemes: str | Sequence[str] | None = option(
        None, "Schemes to compare, or all; mousehole schemes lists them.", "NAME[(…)][,…]", COMPARED
    )
    baseline: str = option(
        defaults.BASELINE, "Scheme that the others are compared with.", "NAME[(…)]", COMPARED
    )
    veto: str | Sequence[str] | None = option(
        None, "Harm to a class that rules a scheme out, beside the defaults, or none; repeat it for several.",
        "'calls p95 +10ms'", COMPARED, list,
    )  # fmt: skip
    reference: str | None = option(
        None, "Scheme that harm is measured against (default: cake, fq-codel or the baseline).",
        "NAME[(…)]", COMPARED,
    )  # fmt: skip
    quick: bool = switch(
        f"A quick look: {defaults.QUICK_REPLICATIONS} replications, ranges and no verdicts.", RUN
    )
    sequential: bool = switch("Wider intervals that hold at every look, if --seeds is doubled for each.", RUN)


def accepts_options(
    options: Callable[P, S],
) -> Callable[[Callable[[T, S], R]], Callable[Concatenate[T, P], R]]:
    """Returns a decorator that lets a function take the fields of class `options` as keywords.

    The function has one parameter before that of the options. It then raises `TypeError` for any other
    keyword and suggests one. Type checkers, `help` and `inspect.signature` see every keyword with its type
    and default; `Unpack` (PEP 692) would give them to type checkers only.
    """

    def wrap(function: Callable[[T, S], R]) -> Callable[Concatenate[T, P], R]:
        """Returns the function with the options as keywords, which its signature shows."""

        @wraps(function)
        def called(first: T, /, *given: P.args, **named: P.kwargs) -> R:
            """Calls the function with an object of options; raises `TypeError` for an unknown keyword."""
            refuse_unknown(function.__name__, named, names)
            return function(first, options(*given, **named))

        names = list(signature(options).parameters)

        called.__signature__ = _make_signature(function, options)  # type: ignore[attr-defined]
        return called

    return wrap


RATES_OF_BOTH = "give the rates of both directions, such as --down 20mbit --up 1mbit"
REPLACED = {
    "uplink": RATES_OF_BOTH,
    "uplink_buffer": f"{RATES_OF_BOTH}; --buffer is then of both, and a scenario's link.up_buffer of one",
    "direction": "give --payload up for uploads; --down and --up are the same whatever the link carries",
    "both_directions": "give --at both, or the rates of both directions as --down and --up",
    "rate_trace": "give the file in place of the rate, such as --down lte.trace",
    "uplink_trace": "give the file in place of the rate, such as --up lte.trace",
}
"""Options that were replaced, by their fields, and what to give now."""


def refuse_unknown(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raises `TypeError` for the first keyword that a function does not have, and suggests one that it has.

    For an option that was replaced it says by what. Nothing happens if all are known.
    """
    names = list(known)
    for name in given:
        if name not in names and name in REPLACED:
            raise TypeError(
                f"{function}() has no keyword {name} any more; {REPLACED[name].replace('--', '')}"
            )
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]}?" if near else f"help(mousehole.{function}) lists them"
            raise TypeError(f"{function}() has no keyword {name}; {hint}")


def suggest_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Returns the function wrapped so that an unknown keyword raises `TypeError` with a suggestion."""
    names = list(signature(function).parameters)

    @wraps(function)
    def called(*given: P.args, **named: P.kwargs) -> R:
        """Calls the function; raises `TypeError` for an unknown keyword."""
        refuse_unknown(function.__name__, named, names)
        return function(*given, **named)

    return called


def _make_signature(function: Callable[..., Any], options: Callable[..., Any]) -> Any:
    """Returns the signature of `function` with the parameters of `options` in place of its second one."""
    own = signature(function)
    first = next(iter(own.parameters.values())).replace(kind=Parameter.POSITIONAL_ONLY)
    return own.replace(parameters=[first, *signature(options).parameters.values()])
