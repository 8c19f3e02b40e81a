"""Arguments and options that several commands share."""

from typing import Annotated

import typer

from mousehole.base import Apps, MouseholeError, complete_traffic, places

PLACES = ", ".join(places())
"""The names of ready-made traffic, for help."""

Traffic = Annotated[
    list[str],
    typer.Argument(
        metavar="TRAFFIC",
        help="Files, one model (web:sfd) or one scenario (.toml).",
        autocompletion=complete_traffic,
    ),
]
TrafficOrUsers = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TRAFFIC",
        help=f"Files, one model (web:sfd), one place ({PLACES}) or one scenario (.toml); "
        "none with --users and --apps.",
        show_default=False,
        autocompletion=complete_traffic,
    ),
]
Payload = Annotated[
    str, typer.Option(metavar="down|up", help="Whose payload: down (server to client) or up.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Treat a faulty row of a file as an error.")]
JsonFile = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Results as JSON; - is standard output.")
]
Jobs = Annotated[str | None, typer.Option(metavar="N", help="Parallel runs (default: one per core).")]
DaskAddress = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="Run on the workers of this Dask scheduler.")
]
ModelParams = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="Parameter of the model; repeat it for several."),
]
FlowClasses = Annotated[
    list[str] | None,
    typer.Option(
        "--class", metavar="'port 5060=call'",
        help="Class of the flows that meet a condition, against the rule; repeat it for several.",
    ),
]  # fmt: skip
LogFormat = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FILE.toml",
        help="File that describes the format of the logs (default: recognised by content).",
    ),
]  # fmt: skip
Days = Annotated[
    bool,
    typer.Option("--days", help="The files are days: intervals are over days.", rich_help_panel="Runs"),
]
OwnPolicy = Annotated[
    str | None,
    typer.Option(metavar="FILE.h[,…]", help="Header of your own policy, which schemes may then name."),
]


def require_traffic(traffic: list[str] | None, users: int | None, apps: Apps | None) -> list[str]:
    """Returns the names typed as TRAFFIC; empty if only users or applications were typed.

    Raises `MouseholeError` if none of the three was.
    """
    if not traffic and users is None and apps is None:
        raise MouseholeError("Missing argument 'TRAFFIC'; give one, such as home, or --users and --apps")
    return traffic or []
