"""The commands `mousehole policy ...`."""

from typing import Annotated, Literal, cast

import typer

from mousehole import _engine
from mousehole.base import conflict_error, output, parse_whole
from mousehole.base.arguments import JsonFile
from mousehole.base.cli_options import CliCommand, make_command_app
from mousehole.engine_types import PolicyReport
from mousehole.policy import _policy as policy

CHECK_SCHEMA = "mousehole.policy-check/1"
VERDICTS = {"passed": "passed", "warning": "warning", "failed": "FAILED", "not_run": "NOT RUN"}

app = make_command_app(no_args_is_help=True)


@app.command("new", cls=CliCommand)
def new_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the policy, such as my-marker.")],
    kind: Annotated[str, typer.Option(metavar="marker|dropper|queue", help="What it decides.")] = "marker",
) -> None:
    """Writes NAME.h into this folder: a commented, working policy to start from."""
    print(policy.new(name, cast("Literal['marker', 'dropper', 'queue']", kind)))  # the engine checks it


@app.command("check", cls=CliCommand)
def check_command(
    targets: Annotated[
        list[str], typer.Argument(metavar="HEADER|NAME...", help="Headers, or policies by name.")
    ],
    records: Annotated[
        str | None, typer.Option(metavar="N", help=f"Records in the kernel (default: {policy.RECORDS}).")
    ] = None,
    no_kernel: Annotated[bool, typer.Option("--no-kernel", help="Leave the kernel out.")] = False,
    require_kernel: Annotated[
        bool, typer.Option("--require-kernel", help="Fail where the kernel cannot be checked.")
    ] = False,
    seed: Annotated[str | None, typer.Option(metavar="N", help="Of the records (default: 1).")] = None,
    json: JsonFile = None,
) -> None:
    """Checks policies by rules, by random records under sanitizers, and in the kernel.

    The status is 0 if nothing was found, 1 if a policy is at fault.
    """
    if no_kernel and require_kernel:
        raise conflict_error("--require-kernel", "true", "--no-kernel", "give one of them")
    output.check_outputs({"--json": json}, targets)
    count = parse_whole("--records", records, 1) or policy.RECORDS
    number = parse_whole("--seed", seed, 0)
    reports = []
    for target in targets:
        report = policy.check(target, count, not no_kernel, 1 if number is None else number)
        reports.append(report)
        if json != "-":
            print(report_text(report), flush=True)
    if json is not None:
        output.write_text(json, _engine.json_text({"schema": CHECK_SCHEMA, "policies": reports}))
    if not all(policy.is_good(report, require_kernel) for report in reports):
        raise typer.Exit(1)


@app.command("headers", cls=CliCommand)
def headers_command() -> None:
    """Prints the folder of the headers, for a C compiler's -I."""
    print(policy.headers_folder())


def report_text(report: PolicyReport) -> str:
    """Returns the report of a policy as text: its name, then each check with its verdict and sentences."""
    lines = [report["policy"]]
    for entry in report["checks"]:
        lines.append(f"  {entry['name']:15} {VERDICTS[entry['verdict']]}")
        lines += [f"    {line}" for sentence in entry["sentences"] for line in sentence.splitlines()]
    return "\n".join(lines)
