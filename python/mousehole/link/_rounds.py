"""Real programs under several schemes: the same command in rounds, and the comparison of its transfers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mousehole import _engine
from mousehole.answer import findings, jsonout, make_manifest
from mousehole.base import Options
from mousehole.comparison import Comparison
from mousehole.document import Document, Items, Section
from mousehole.engine_types import LinkAccount, LinkRunEntry, Scenario
from mousehole.inputs import from_section
from mousehole.link._link import Observer, Played, Programs, check, play, read_default_congestion
from mousehole.link._report import describe_congestion
from mousehole.runs import Facts, Plan, Results, Task, check_plan, make_plan, reduce_run
from mousehole.scenario import SharedScenario

REPEATS = 2
"""How often a run of a comparison is repeated because it was invalid."""


class ProgramsComparison(Comparison):
    """A comparison on real packets, with the account of every run."""

    def __init__(self, results: Results, link_runs: Sequence[LinkRunEntry]) -> None:
        """Makes a comparison of runs through a link that have ended."""
        super().__init__(results, None)
        self.link_runs = list(link_runs)

    def document(self, command: Sequence[str] | None = None) -> Document:
        """Returns the comparison as a document, with a section on the programs at the end."""
        own, faults = super().document(command), list_faults(self.link_runs)
        warned = [Items([f"warning: {fault}" for fault in faults], "open")] if faults else []
        controls = dict.fromkeys(entry["congestion"] for entry in self.link_runs)
        blocks = [Items([describe_congestion(one) for one in controls]), *warned]
        return replace(own, sections=[*own.sections, Section("programs", "The programs", blocks)])

    def to_json(self) -> str:
        """Returns the document of the comparison, with every run as `link`."""
        return _engine.json_text({**jsonout.comparison_document(self.results), "link": self.link_runs})


@dataclass(frozen=True)
class Run:
    """One run of a comparison."""

    task: Task
    account: LinkAccount
    repeats: int
    """How many runs of the same task were invalid before."""
    is_last: bool
    """Whether the task is run no more: the run is valid, or was repeated often enough."""


@dataclass(frozen=True)
class Trial:
    """A comparison on real packets, and every run of it in order."""

    comparison: ProgramsComparison | None
    """Of the rounds in which a run under every scheme was valid; None if there is no such round."""
    runs: tuple[Run, ...]
    plan: Plan

    @property
    def left_out(self) -> tuple[int, ...]:
        """Returns the rounds that are not in the comparison, counted from 0."""
        return tuple(run.task.replication for run in self.runs if run.is_last and not run.account["is_valid"])

    @property
    def faults(self) -> list[str]:
        """Returns one line for each round that is left out."""
        return list_faults(self.entries())

    def entries(self) -> list[LinkRunEntry]:
        """Returns every run in the form of the JSON document, rounds from 1 on.

        Reads the machine's congestion control.
        """
        left_out, congestion = self.left_out, read_default_congestion()
        return [
            {
                "scheme": self.plan.schemes[run.task.scheme],
                "buffer": self.plan.cells[run.task.cell].buffer,
                "round": run.task.replication + 1,
                "is_valid": run.account["is_valid"],
                "counts": run.account["is_valid"] and run.task.replication not in left_out,
                "congestion": congestion,
                "account": run.account,
            }
            for run in self.runs
        ]


def list_faults(entries: Iterable[LinkRunEntry]) -> list[str]:
    """Returns a line for each round that is left out because all its runs under some scheme were invalid.

    Empty if none is left out.
    """
    own: dict[tuple[int, str], list[LinkRunEntry]] = {}
    for entry in entries:
        own.setdefault((entry["round"], entry["scheme"]), []).append(entry)
    return [
        f"round {number} is left out: under {scheme} {len(runs)} runs were invalid, the last because "
        f"{'; '.join(runs[-1]['account']['faults'])}"
        for (number, scheme), runs in own.items()
        if not runs[-1]["is_valid"]
    ]


def plan_rounds(shared: SharedScenario, options: Options, own_scheme: str | None) -> Plan:
    """Returns the plan of a comparison in rounds, each of which runs every scheme once.

    `own_scheme` is that of the user's scenario, or None. Raises `MouseholeError` for a fault in the input.
    """
    return replace(check_plan(make_plan(shared, options, own_scheme)), in_rounds=True)


def compare(
    plan: Plan, programs: Programs, label: str, observer: Callable[[Task], Observer] | None = None,
    played: Callable[[Run], None] | None = None,
) -> Trial:  # fmt: skip
    """Runs the same programs once per scheme in each round, and compares the schemes.

    The runs last as long as their programs, one after another. A run that is invalid is repeated, `REPEATS`
    times at most; then its round is left out, and the rest of that round is not run. `comparison` is None if
    every round is left out. `observer` returns the observer of a run, and `played` is called after each.
    Raises as `play` does, and `MouseholeError` if some scheme cannot be run on real packets, before anything
    is run.
    """
    for cell in plan.cells:
        for scheme in plan.schemes:
            check(plan.scenario(cell, scheme), programs)
    found: dict[Task, Played] = {}
    runs: list[Run] = []
    left_out: set[int] = set()
    for task in plan.tasks:
        for repeats in range(1 + REPEATS):
            if task.replication in left_out:
                break
            one = play(plan.task_scenario(task), programs, observer(task) if observer else None)
            is_valid = one.account["is_valid"]
            runs.append(Run(task, one.account, repeats, is_valid or repeats == REPEATS))
            if played is not None:
                played(runs[-1])
            if is_valid:
                found[task] = one
                break
            if repeats == REPEATS:
                left_out.add(task.replication)
    rounds = [number for number in range(plan.replications) if number not in left_out]
    trial = Trial(None, tuple(runs), plan)
    if not rounds:
        return trial
    return replace(
        trial, comparison=ProgramsComparison(_compare_rounds(plan, found, rounds, label), trial.entries())
    )


def _compare_rounds(plan: Plan, found: Mapping[Task, Played], rounds: Sequence[int], label: str) -> Results:
    """Returns the results of `rounds` alone, which become replications 0, 1, … in their order.

    There is at least one round. The duration is the mean of the runs', and there is no warm-up; single times
    of short transfers are dropped.
    """
    own = {
        replace(task, replication=rounds.index(task.replication)): one
        for task, one in found.items()
        if task.replication in rounds
    }
    facts: Facts = {
        task: replace(reduce_run(one.result, plan.buckets), short_times=None) for task, one in own.items()
    }
    # What the first run recorded stands for the traffic, which differs a little from run to run.
    first = next(iter(own.values()))
    seconds = sum(one.account["seconds"] for one in own.values()) / len(own)
    base: Scenario = {**plan.base, "traffic": first.scenario["traffic"]}
    base = {**base, "warmup": "0s", "duration": f"{seconds:.3g}s"}
    whole = replace(plan, base=base, replications=len(rounds))
    given = replace(from_section(whole.base["traffic"], label), label=label)
    return findings.with_endpoint(Results(whole, facts, label, make_manifest(whole, given, None), None))
