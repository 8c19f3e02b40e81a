"""Runs the loads of a page through the emulated link, once per scheme and round, and gathers the results."""

import contextlib
import json
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mousehole import _engine, link
from mousehole.base import (
    MouseholeError,
    Options,
    Reporter,
    Stopped,
    counted,
    field_error,
    file_error,
    output,
    require_at_least,
    require_extra,
    span_text,
)
from mousehole.page import _browser as browser
from mousehole.page import _certificate as certificate
from mousehole.page import _content as content
from mousehole.page import _har as har
from mousehole.page import _recording as recording
from mousehole.page import example
from mousehole.page._content import Page
from mousehole.page._options import PageOptions
from mousehole.page._results import SETTLE_SPREAD_S, PageResults, Setting, Trial, make_draws
from mousehole.page._trial import CONGESTION, VERSIONS, Load, Task
from mousehole.runs import check_baseline, load_policies, parse_schemes, with_baseline
from mousehole.scenario import make_default

AROUND_S = 45.0
"""Seconds that a load may take in addition to settling and loading: namespaces, browser, server."""
REPEATS = 2
"""How often a load is repeated because the link was not what it should have been."""
TYPICAL_S = 5.0
"""Seconds that a load usually takes without settling."""


@dataclass(frozen=True)
class Behind:
    """How one load went on the link's side."""

    fault: str
    """Why there is no measurement, empty if there is."""
    link: Mapping[str, object] | None
    """The link's account of the run."""
    invalid: str = ""
    """Why the link was not what it should have been, empty if it was."""


@dataclass(frozen=True)
class Errand:
    """One load, for those who join server and browser by a link."""

    scheme: str
    seed: int
    server: Sequence[str]
    """The server's command."""
    visitor: Sequence[str]
    """The browser's command."""
    folder: Path
    """For files of this load."""
    patience_s: float
    """Seconds after which it must be ended."""


Joining = Callable[[Errand], Behind]


def measure_loads(
    source: str, options: PageOptions, reporter: Reporter, join: Joining | None = None
) -> PageResults:
    """Loads the page under each scheme and returns the results.

    Loads run one after another, in random order within a round; their files are deleted at the end. Registers
    the policies of `options.policy`. `join` starts server and browser with a link between them; by default it
    is `mousehole link`. Raises `MouseholeError` for a fault in the input or where there is no link, and
    `Stopped` on Ctrl-C.
    """
    plan = _make_plan(options)
    chromium = browser.find_chromium()
    with output.make_scratch_folder("page") as folder:
        page = find_page(source, options.http, chromium, folder)
        version = options.http or page.version or "1.1"
        require_extra("page", "the page's server", without=() if version == "3" else ("aioquic",))
        setting = _make_setting(page, version, options, plan)
        content.write_page(page, folder / "page")
        own = certificate.make_certificate(page.hosts, folder)
        task = Task(
            folder=str(folder / "page"), url=page.url, hosts=page.hosts, version=version,
            certificate=str(own.chain), key=str(own.key), fingerprint=own.fingerprint,
            bulk=setting.bulk, congestion=setting.congestion, settle_s=setting.settle_s,
            timeout_s=setting.timeout_s, chromium=chromium, profile="", result="",
        )  # fmt: skip
        trials = tuple(_run_trials(plan, task, folder, join or _join_by_link(options), reporter))
    return PageResults(setting, plan.schemes, plan.baseline, plan.rounds, trials)


@dataclass(frozen=True)
class _Plan:
    """The schemes, rounds and times of the loads of a page."""

    schemes: tuple[str, ...]
    baseline: str
    rounds: int
    seed: int
    settle_s: float
    timeout_s: float

    def errands(self) -> Iterator[tuple[int, str, float]]:
        """Yields round, scheme and the seconds to settle of every load; schemes are in random order.

        The time of a round holds for all its schemes; equal seeds give equal plans.
        """
        for number in range(self.rounds):
            draws = make_draws(self.seed, number)
            settle_s = self.settle_s + SETTLE_SPREAD_S * float(draws.random())
            for place in draws.permutation(len(self.schemes)):
                yield number, self.schemes[place], settle_s


def _make_plan(options: PageOptions) -> _Plan:
    """Returns the plan of the loads; raises `MouseholeError` for an option that is not allowed.

    Registers the policies of `options.policy` with the engine.
    """
    if options.http is not None and options.http not in VERSIONS:
        raise field_error("http", options.http, f"one of {', '.join(VERSIONS)}")
    if options.congestion not in CONGESTION:
        raise field_error("congestion", options.congestion, f"one of {', '.join(CONGESTION)}")
    load_policies(options.policy)
    baseline = check_baseline(options.baseline)
    schemes = with_baseline(parse_schemes(options.schemes, options.down, options.up), baseline)
    for scheme in schemes:
        _engine.scheme_parameters(scheme)
    for field, given in options.rates.items():
        if given is not None:
            _engine.parse_rate(field, given)
    timeout_s = _engine.parse_duration("timeout", options.timeout)
    if timeout_s <= 0:
        raise field_error("timeout", options.timeout, "a time above zero")
    _engine.parse_duration("rtt", options.rtt)
    return _Plan(
        schemes, baseline, require_at_least("loads", 20 if options.loads is None else options.loads, 1),
        require_at_least("seed", 1 if options.seed is None else options.seed, 0),
        _engine.parse_duration("settle", options.settle), timeout_s,
    )  # fmt: skip


def find_page(source: str, version: str | None, chromium: str, folder: Path) -> Page:
    """Returns the page of a source: the example, a folder, a HAR file, or an address of this machine.

    An address is loaded once in a browser to record it; `folder` is of that browser's files. Versions 2 and 3
    are served over TLS. Raises `MouseholeError` for any other source and for a faulty one.
    """
    secure = version in ("2", "3")
    if source == example.NAME:
        return example.make_page(secure)
    if recording.is_url(source):
        return recording.record(source, chromium, folder / "recording", secure)
    path = Path(source)
    if path.is_dir():
        return content.from_folder(path, secure)
    if path.is_file():
        return har.read(path, secure)
    allowed = f'a folder, a HAR file, an address such as http://localhost:8000/, or "{example.NAME}"'
    raise file_error(source, f"no such page; it must be {allowed}")


def _make_setting(page: Page, version: str, options: PageOptions, plan: _Plan) -> Setting:
    """Returns the conditions of all loads, for the report.

    Raises `MouseholeError` for a negative number of downloads.
    """
    bulk = require_at_least("bulk", 0 if options.bulk is None else options.bulk, 0)
    return Setting(
        page=page.name, size=page.size, notes=page.notes, version=version, bulk=bulk,
        congestion=options.congestion, rate=options.rate_down, rtt=options.rtt, buffer=options.buffer,
        settle_s=plan.settle_s, timeout_s=plan.timeout_s, seed=plan.seed, uplink=options.up,
        policy=options.policy,
    )  # fmt: skip


def _run_trials(plan: _Plan, task: Task, folder: Path, join: Joining, reporter: Reporter) -> Iterator[Trial]:
    """Yields every load once it is over; one with an invalid link is repeated up to `REPEATS` times.

    Reports the expected time and the progress. Raises `Stopped` on Ctrl-C.
    """
    errands = list(plan.errands())
    expected_s = len(errands) * (TYPICAL_S + (plan.settle_s + SETTLE_SPREAD_S / 2 if task.bulk else 0))
    reporter.say(f"{counted(len(errands), 'load')}, about {span_text(round(expected_s))}")
    reporter.start(len(errands), "loads")
    done = 0
    try:
        for number, scheme, settle_s in errands:
            own = replace(task, settle_s=settle_s)
            trial = _run_trial(plan, own, folder, join, number, scheme)
            for repeats in range(1, REPEATS + 1):
                if trial.invalid:
                    trial = replace(_run_trial(plan, own, folder, join, number, scheme), repeats=repeats)
            yield trial
            done += 1
            reporter.advance()
    except KeyboardInterrupt:
        raise Stopped(f"stopped after {done} of {len(errands)} loads; nothing was written") from None
    finally:
        reporter.finish()


def _run_trial(plan: _Plan, task: Task, folder: Path, join: Joining, number: int, scheme: str) -> Trial:
    """Runs one load of round `number` under `scheme` behind the link, and returns it, also if it failed.

    All its files are deleted then; errors of `join` pass.
    """
    with tempfile.TemporaryDirectory(prefix="load-", dir=folder, ignore_cleanup_errors=True) as name:
        own = Path(name)
        result = own / "load.json"
        replace(task, profile=str(own / "profile"), result=str(result)).write(own / "task.json")
        program = [sys.executable, "-m"]
        errand = Errand(
            scheme=scheme, seed=plan.seed + number,
            server=[*program, "mousehole.page.serve", str(own / "task.json")],
            visitor=[*program, "mousehole.page.visit", str(own / "task.json")],
            folder=own, patience_s=task.settle_s + task.timeout_s + AROUND_S,
        )  # fmt: skip
        behind = join(errand)
        load = Load.failed(behind.fault or "the browser's program left no result")
        with contextlib.suppress(OSError, ValueError):
            load = Load.from_record(json.loads(result.read_text()))
        if behind.fault and load.outcome != "loaded":
            load = replace(load, reason=behind.fault)
    return Trial(scheme, number, load, behind.link, behind.invalid)


def _join_by_link(options: PageOptions) -> Joining:
    """Returns a function that joins server and browser by the emulated link, for `measure_loads`.

    Raises `MouseholeError` for a fault in the link's options. The function raises it if the server ended.
    """
    own = Options(rate=options.rates["rate"], down=options.down, up=options.up, rtt=options.rtt,
                  buffer=options.buffer, schemes=options.schemes, baseline=options.baseline,
                  seed=options.seed)  # fmt: skip
    plan = link.plan_rounds(link.make_base_scenario(make_default(), own), own, None)
    (cell,) = plan.cells
    for scheme in plan.schemes:
        link.check(plan.scenario(cell, scheme), link.Programs(command=["true"]))

    def join(errand: Errand) -> Behind:
        """Runs server and browser of one load behind the link.

        The result has the reason if the visitor failed or was not over in time. Raises `MouseholeError` if
        the server ended by itself.
        """
        programs = link.Programs(
            command=_redirect_to_log(errand.visitor, errand.folder / "visitor.log"),
            server=_redirect_to_log(errand.server, errand.folder / "server.log"),
            duration_s=errand.patience_s,
        )
        account = link.play({**plan.scenario(cell, errand.scheme), "seed": errand.seed}, programs).account
        if account["server_status"] is not None:
            said = _read_last_line(errand.folder / "server.log")
            raise MouseholeError(said or f"the page's server ended with status {account['server_status']}")
        if account["status"] is None:
            return Behind(f"it was not over after {errand.patience_s:.0f} s", account)
        if account["status"]:
            said = _read_last_line(errand.folder / "visitor.log")
            return Behind(said or f"its program ended with status {account['status']}", account)
        return Behind("", account, "" if account["is_valid"] else "; ".join(account["faults"]))

    return join


def _redirect_to_log(command: Sequence[str], log: Path) -> list[str]:
    """Returns the command with both its outputs redirected to file `log`."""
    return ["/bin/sh", "-c", f"exec {shlex.join(command)} >{shlex.quote(str(log))} 2>&1"]


def _read_last_line(log: Path) -> str:
    """Returns the last line of a log; empty if there is none."""
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return lines[-1] if lines else ""
