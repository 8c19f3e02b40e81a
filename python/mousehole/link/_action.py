"""Runs `mousehole link`: checks its options, runs the programs, writes the files and the report."""

import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from mousehole import _engine, html, records
from mousehole import scenario as scenarios
from mousehole.base import (
    MouseholeError,
    Options,
    OutputConsole,
    conflict_error,
    defaults,
    field_error,
    output,
)
from mousehole.base.cli_options import typed_command
from mousehole.document import make_report_console, print_document
from mousehole.engine_types import LinkStatus, Scenario
from mousehole.link import _link as link
from mousehole.link import _rounds as rounds
from mousehole.link._link import Observer, Played, Programs
from mousehole.link._options import MTU, ROUNDS, LinkOptions
from mousehole.link._report import list_warnings, make_run_document, write_status
from mousehole.link._rounds import Run
from mousehole.runs import Task, load_policies

INVALID_STATUS = 1
"""The command succeeded, but the figures of a run cannot be relied on."""
NOT_STARTED = (126, 127)
"""Statuses of a command that cannot be run or found, as shells have them."""
HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")


def run(options: LinkOptions, command: list[str] | None) -> int:
    """Runs the command behind the link; returns its exit status, or `INVALID_STATUS` for an invalid run.

    Registers the policies of `options.policy`, makes namespaces and runs programs in them, writes the files
    that were asked for, and prints the report. Raises `MouseholeError` for a fault in the options, and where
    the system has no namespaces.
    """
    if not hasattr(_engine, "link_run"):
        raise field_error("link", sys.platform, "run on Linux, which has the namespaces it needs")
    _check_options(options)
    load_policies(options.policy)
    start = scenarios.make_default() if options.scenario is None else scenarios.load(options.scenario)
    shared = link.make_base_scenario(
        start,
        _pick_comparison_options(options),
        loss=_parse_loss(options.loss),
    )
    programs = _parse_programs(options, command)
    if options.schemes is None:
        only: Scenario = {**shared.base, "scheme": options.scheme or start.get("scheme") or defaults.BASELINE}
        only["link"] = {**only["link"], "buffer": shared.buffers[0]}
        status = _run_single(only, programs, options, is_shell=not command)
    else:
        status = _run_schemes(shared, start, programs, options, command)
    return status


def _check_options(options: LinkOptions) -> None:
    """Raises `MouseholeError` for options that do not go together and for faulty names of files."""
    output.check_result(options, [options.scenario] if options.scenario else [])
    if options.schemes is None:
        several = {"--rounds": options.rounds, "--seeds": options.seeds, "--baseline": options.baseline,
                   "--short": options.short, "--long": options.long,
                   "--details": "true" if options.details else None}  # fmt: skip
        for name, given in several.items():
            if given is not None:
                raise conflict_error(name, given, "one scheme", "give --schemes for several")
        return
    if options.rounds is not None and options.seeds is not None:
        raise conflict_error("--seeds", options.seeds, "--rounds", "give one of them")
    single = {"--scheme": options.scheme, "--records": options.records, "--pcapng": options.pcapng,
              "--save-scenario": options.save_scenario}  # fmt: skip
    for name, text in single.items():
        if text is not None:
            raise conflict_error(name, text, "--schemes", "give --scheme instead, for one run")
    if options.predict:
        raise conflict_error("--predict", "true", "--schemes", "give --scheme instead, for one run")


def _pick_comparison_options(options: LinkOptions) -> Options:
    """Returns those options that `compare` has as well; rounds become replications.

    Options that were not given have the defaults of `compare`, but the number of rounds is `ROUNDS`.
    """
    rounds = options.rounds if options.seeds is None else options.seeds
    return Options(
        rate=options.rate, down=options.down, up=options.up, at=options.at, rtt=options.rtt,
        buffer=options.buffer, overhead=options.overhead, link_layer=options.link_layer, burst=options.burst,
        schemes=options.schemes,
        baseline=Options.baseline if options.baseline is None else options.baseline,
        short=Options.short if options.short is None else options.short,
        long=Options.long if options.long is None else options.long,
        seeds=ROUNDS if rounds is None else rounds, seed=options.seed,
    )  # fmt: skip


def _parse_loss(given: str | None) -> float | None:
    """Returns the share that was typed, as a number or a percentage; None for None.

    Raises `MouseholeError` for anything else, and outside 0 to 1.
    """
    if given is None:
        return None
    allowed = "a share of 0 to 1, or a percentage such as 1%"
    try:
        share = float(given[:-1]) / 100 if given.endswith("%") else float(given)
    except ValueError:
        raise field_error("--loss", given, allowed) from None
    if not 0 <= share <= 1:
        raise field_error("--loss", given, allowed)
    return share


def _parse_programs(options: LinkOptions, command: list[str] | None) -> Programs:
    """Returns the programs of both sides with time limit, MTU and names.

    Without a command it is the user's shell: that of the variable SHELL, else /bin/sh. Raises
    `MouseholeError` for a value that is not allowed.
    """
    duration = None if options.duration is None else _engine.parse_duration("--duration", options.duration)
    if duration is not None and duration <= 0:
        raise field_error("--duration", options.duration or "", "longer than zero")
    mtu = MTU if options.mtu is None else options.mtu
    if not 1280 <= mtu <= 65535:
        raise field_error("--mtu", mtu, "from 1280, the least of IPv6, to 65535 bytes")
    return Programs(
        command=command or [os.environ.get("SHELL") or "/bin/sh"],
        server=None if options.server is None else ["/bin/sh", "-c", options.server],
        mtu=mtu,
        duration_s=duration,
        names=_parse_names(options.name),
        user_namespace=options.user_namespace,
        pcapng=None if options.pcapng is None else Path(options.pcapng),
    )


def _parse_names(given: str | None) -> list[str]:
    """Returns the server's further names from a comma-separated text; none for None.

    Raises `MouseholeError` for one that `HOST_NAME` refuses, as each becomes a word of a file of hosts.
    """
    names = [] if given is None else [name.strip() for name in given.split(",")]
    for name in names:
        if not HOST_NAME.fullmatch(name):
            raise field_error("--name", name, "a name of letters, digits, dots, hyphens and underscores")
    return names


def _run_single(scenario: Scenario, programs: Programs, options: LinkOptions, *, is_shell: bool) -> int:
    """Runs one scheme, writes the files asked for and prints the report.

    Returns the command's exit status, or if that is 0 and the run is invalid, `INVALID_STATUS`. Raises
    `MouseholeError` before the run for what cannot be run, and after it for a file that cannot be written.
    """
    try:
        link.check(scenario, programs)
    except MouseholeError as error:
        raise error.renamed({"scheme": "--scheme"}) from None
    errors = OutputConsole(stderr=True, highlight=False, soft_wrap=True)
    observer = _make_observer(
        errors, is_quiet=options.quiet or is_shell, is_shell=is_shell,
        in_user_namespace=options.user_namespace,
    )  # fmt: skip
    with _lend_terminal(is_shell):
        played = link.play(scenario, programs, observer)
    output.write_all(
        [
            (options.records, lambda place: records.write_frame(played.records.transfers, place)),
            (options.save_scenario, lambda place: scenarios.write_toml(played.scenario, place)),
        ]
    )
    console = make_report_console(stderr="-" in (options.json, options.save_scenario))
    document = make_run_document(played, link.predict(played) if options.predict else None, typed_command())
    print_document(console, document)
    if options.html is not None:
        html.write_page(document, options.html)
    if options.json is not None:
        output.write_text(options.json, write_link_json(played))
    status = played.account["status"] or 0
    return status or (0 if played.account["is_valid"] else INVALID_STATUS)


def write_link_json(played: Played) -> str:
    """Returns the JSON document of a run, with its account as `link`."""
    return played.records.to_json(link=played.account)


def _run_schemes(
    shared: scenarios.SharedScenario, start: Scenario, programs: Programs, options: LinkOptions,
    command: list[str] | None,
) -> int:  # fmt: skip
    """Runs every scheme in rounds, writes the files asked for and prints the report.

    Returns the first exit status of the command that is not 0. If all are 0, it returns 0, or
    `INVALID_STATUS` if no round is left to compare; files are then not written. Raises `MouseholeError`
    without a command and for a faulty plan, and `typer.Exit` if the first run could not start its command.
    """
    if not command:
        raise field_error(
            "--schemes", options.schemes or "", "given with a command, which is run for each scheme"
        )
    try:
        plan = rounds.plan_rounds(shared, _pick_comparison_options(options), start.get("scheme"))
    except MouseholeError as error:
        raise error.renamed({"seeds": "--rounds" if options.seeds is None else "--seeds"}) from None
    errors = OutputConsole(stderr=True, highlight=False, soft_wrap=True)

    def observer(task: Task) -> Observer:
        """Announces a run on standard error and returns its observer."""
        errors.print(
            f"round {task.replication + 1} of {plan.replications}: {plan.schemes[task.scheme]}", markup=False
        )
        return _make_observer(errors, is_quiet=options.quiet, is_shell=False)

    statuses: list[int] = []

    def played(run: Run) -> None:
        """Prints the warnings of a run and stores its status.

        Raises `typer.Exit` if the first run could not start its command.
        """
        name = f"{plan.schemes[run.task.scheme]}, round {run.task.replication + 1}"
        status = run.account["status"] or 0
        ended = [f"the command ended with status {status}"] if status else []
        for warning in (*list_warnings(run.account), *ended, *_explain_invalid(run)):
            errors.print(f"warning: {name}: {warning}", markup=False)
        if not statuses and status in NOT_STARTED:
            errors.print("stopped after the first run, whose program could not be started", markup=False)
            raise typer.Exit(status)
        statuses.append(status)

    trial = rounds.compare(plan, programs, shlex.join(command), observer, played)
    console = make_report_console(stderr=options.json == "-")
    if trial.comparison is None:
        errors.print("INVALID: no round is left to compare; nothing was written", markup=False)
        return next(filter(None, statuses), INVALID_STATUS)
    if options.json is not None:
        trial.comparison.save(options.json)
    if options.html is not None:
        trial.comparison.html(options.html, typed_command())
    print_document(console, trial.comparison.document(), options.details)
    return next(filter(None, statuses), 0)


def _explain_invalid(run: Run) -> list[str]:
    """Returns a list with the sentence on why a run is invalid and what follows; empty for a valid run."""
    if run.account["is_valid"]:
        return []
    then = "its round is left out" if run.is_last else "it is repeated"
    return [f"INVALID: {'; '.join(run.account['faults'])}; {then}"]


def _make_observer(
    errors: Console, *, is_quiet: bool, is_shell: bool, in_user_namespace: bool = False
) -> Observer:
    """Returns an observer that prints the status of a run on console `errors`, unless `is_quiet`.

    With `is_shell` it prints at the beginning how to start programs on the other side.
    """

    def begun(holders: tuple[int, int]) -> None:
        """Prints how to start programs on the server's side, for a shell."""
        if is_shell:
            user = "" if os.geteuid() == 0 and not in_user_namespace else " --preserve-credentials -U"
            enter = f"nsenter{user} -n -m -t {holders[1]} COMMAND"
            errors.print(
                "this shell is behind the link, whose other side is 'server' (10.0.0.1, fd00::1); "
                f"start programs there from another terminal by: {enter}",
                markup=False,
            )

    def report(status: LinkStatus) -> None:
        """Prints the status of a second unless `is_quiet`."""
        if not is_quiet:
            errors.print(write_status(status), markup=False)

    return Observer(begun, report)


@contextmanager
def _lend_terminal(is_shell: bool) -> Iterator[None]:
    """Leaves Ctrl-C to an interactive shell during the block, then makes this process the foreground again.

    Meanwhile SIGINT and SIGTTOU are ignored in this process. Without `is_shell` it does nothing.
    """
    if not is_shell:
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    writes = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        yield
    finally:
        if sys.stdin is not None and sys.stdin.isatty():
            os.tcsetpgrp(sys.stdin.fileno(), os.getpgrp())
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTTOU, writes)
