"""Arguments and options that several commands share."""

from typing import Annotated

import typer

from mousehole.base import complete_traffic

Traffic = Annotated[
    list[str],
    typer.Argument(
        metavar="TRAFFIC",
        help="Files, one model (web:sfd) or one scenario (.toml).",
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
Own = Annotated[str | None, typer.Option(metavar="N", help="Number to use instead of the scenario's.")]
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
Days = Annotated[
    bool,
    typer.Option("--days", help="The files are days: intervals are over days.", rich_help_panel="Runs"),
]
OwnPolicy = Annotated[
    str | None,
    typer.Option(metavar="FILE.h[,…]", help="Header of your own policy, which schemes may then name."),
]
