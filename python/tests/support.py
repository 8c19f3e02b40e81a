"""What several test files share: a run's records made by hand, and a small comparison."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mousehole import _engine
from mousehole._engine import Bucket, Quantity
from mousehole.runs import Plan, Results, RunFacts, Task, reduce_run, with_shares

MODULE = [sys.executable, "-m", "mousehole"]

SMALL = {"rate": "10mbit", "load": 0.8, "duration": "4s", "warmup": "2s", "schemes": "droptail,sfd,fq-codel"}
"""A comparison that takes a moment."""
SMALL_ARGUMENTS = [part for name, value in SMALL.items() for part in (f"--{name}", str(value))]


@dataclass
class HandMadeRun:
    """Stands for the engine's result of a run; end_s is NaN for an unfinished transfer."""

    size: list[int]
    end_s: list[float]
    first_data_s: list[float] | None = None
    ideal_s: list[float] | None = None
    stop_s: float = 100.0
    achieved: float = 0.9
    delay_s: float = 0.02
    utilisation: float = 0.8
    conserved: bool = True
    colours: list[dict[str, Any]] = field(
        default_factory=lambda: [make_colour("green", 100, early=1, forced=2), make_colour("yellow", 50)]
    )

    def transfers(self) -> dict[str, Any]:
        """Returns one row per transfer; those that a test does not set are zero."""
        count = len(self.size)
        return {
            "key": np.arange(count, dtype=np.uint64),
            "object_key": np.arange(count),
            "write": np.zeros(count, np.uint32),
            "source": ["main"] * count,
            "misbehaves": np.zeros(count, bool),
            "page": np.zeros(count, np.uint64),
            "page_transfers": np.zeros(count, np.uint32),
            "bytes": np.array(self.size, np.uint64),
            "upload": np.zeros(count, bool),
            "object_bytes": np.array(self.size, np.uint64),
            "start_s": np.zeros(count),
            "first_data_s": np.array(self.first_data_s or np.zeros(count)),
            "end_s": np.array(self.end_s, float),
            "ideal_s": np.array(self.ideal_s or np.ones(count)),
            "retransmits": np.zeros(count, np.uint32),
            "timeouts": np.zeros(count, np.uint32),
            "dropped": np.zeros(count, np.uint32),
        }

    def queues(self) -> list[dict[str, Any]]:
        """Returns the counters of two equal queues."""
        delays = {f"delay_{name}_s": self.delay_s for name in ("mean", "p50", "p95", "p99")}
        link = {"capacity_bps": 1_000_000, "window_s": self.stop_s}
        both = {
            **link,
            "utilisation": self.utilisation,
            "colours": self.colours,
            "mean_queue_packets": 3.0,
            **delays,
        }
        return [{"name": "down", **both}, {"name": "up", **both}]

    def summary(self) -> dict[str, Any]:
        """Returns load, goodput and window of the run."""
        load = {"target": None, "native": 0.1, "copies": 9, "dilation": 1.0, "achieved": self.achieved,
                "replay": None}  # fmt: skip
        return {
            "conservation_ok": self.conserved, "end_s": self.stop_s, "simulated_s": self.stop_s, "load": load,
            "window_begin_s": 0.0, "window_end_s": self.stop_s,
            "goodput_bps": 1e6, "reordered": 0, "packets": 100,
        }  # fmt: skip

    def datagrams(self) -> dict[str, list[Any]]:
        """Returns no flows of datagrams."""
        return {"source": []}

    def flows(self) -> dict[str, list[Any]]:
        """Returns no long-lived flows."""
        return {"source": [], "goodput_bps": []}

    def trace(self) -> None:
        """Returns None, as a run without a trace."""

    def reduce(self, buckets: Sequence[Bucket], table: Sequence[Quantity]) -> dict[str, Any]:
        """Reduces the results of the other methods, as the engine does with its records."""
        return _engine.reduce_records(self.records(), buckets, table)

    def records(self) -> dict[str, Any]:
        """Returns the records in the form that the engine reduces."""
        rows, summary = self.transfers(), self.summary()
        names = ("key", "write", "bytes", "object_bytes", "object_key", "upload", "start_s", "retransmits",
                 "timeouts", "page", "page_transfers")  # fmt: skip
        sources = list(dict.fromkeys([*rows["source"], *self.datagrams()["source"], *self.flows()["source"]]))
        return {
            "transfers": [
                {
                    **{name: _to_plain(rows[name][place]) for name in names},
                    **{name: _none_if_nan(rows[name][place]) for name in ("first_data_s", "end_s")},
                    "source": sources.index(rows["source"][place]),
                    "misbehaves": bool(rows["misbehaves"][place]),
                    "ideal_s": float(rows["ideal_s"][place]),
                }
                for place in range(len(rows["key"]))
            ],
            "datagrams": [
                {**row, "source": sources.index(row["source"])} for row in _transpose(self.datagrams())
            ],
            "flows": [
                {"source": sources.index(row["source"]), "goodput_bps": float(row["goodput_bps"])}
                for row in _transpose(self.flows())
            ],
            "links": [_make_link(queue) for queue in self.queues()[:2]],
            "views": [],
            "probes": [],
            "sources": sources,
            "kinds": [None] * len(sources),
            "load": {"session_rate_per_s": None, **summary["load"]},
            **{name: summary[name] for name in ("goodput_bps", "packets", "reordered", "window_begin_s",
                                                "window_end_s", "end_s")},
        }  # fmt: skip


def _to_plain(value: Any) -> Any:
    """Returns a number of numpy as a plain one, any other value unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def _none_if_nan(value: Any) -> float | None:
    """Returns the number, None for NaN."""
    return None if np.isnan(value) else float(value)


def _transpose(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Returns columns of equal length as rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _make_link(queue: dict[str, Any]) -> dict[str, Any]:
    """Returns the counters of a queue as a link in the form that the engine reduces."""
    colours = [
        {
            **{name: one[name] for name in ("name", "arrived", "dropped", "marked", "sent")},
            "drops": [(reason, one.get(reason, 0)) for reason in _engine.DROP_REASONS],
        }
        for one in queue["colours"]
    ]
    names = ("utilisation", "delay_mean_s", "delay_p50_s", "delay_p95_s", "delay_p99_s")
    numbers = {name: float(queue[name]) for name in names}
    return {
        **numbers,
        "capacity_bps": float(queue["capacity_bps"]),
        "window_s": float(queue["window_s"]),
        "mean_packets": float(queue["mean_queue_packets"]),
        "colours": colours,
    }


def make_colour(
    name: str,
    arrived: int,
    early: int = 0,
    forced: int = 0,
    marked: int = 0,
    policed: int = 0,
    fault: int = 0,
) -> dict[str, Any]:
    """Returns the counters of a colour of packets; what is neither dropped nor policed is sent."""
    lost = {"early": early, "forced": forced, "policed": policed, "fault": fault}
    counts = {"arrived": arrived, **lost, "dropped": sum(lost.values()), "marked": marked}
    return {"name": name, **counts, "sent": arrived - counts["dropped"]}


def make_results(scheme_runs: list[HandMadeRun], baseline_runs: list[HandMadeRun]) -> Results:
    """Returns the results of two schemes in one cell, from runs made by hand."""
    return make_results_of_schemes({"droptail": baseline_runs, "sfd": scheme_runs})


def make_results_of_schemes(by_scheme: dict[str, list[HandMadeRun]], **link: str) -> Results:
    """Returns the results of schemes in one cell, from runs made by hand; the first one is the baseline."""
    schemes = tuple(by_scheme)
    count = len(by_scheme[schemes[0]])
    base = {"duration": "100s", "warmup": "30s", "traffic": {}, "link": link}
    plan = Plan(base, ("50p",), (0.9,), schemes, schemes[0], count, 15_000, 150_000)  # type: ignore[arg-type]
    facts: dict[Task, RunFacts] = {}
    for replication in range(count):
        reduced = {
            name: reduce_run(own[replication], plan.buckets)  # type: ignore[arg-type]
            for name, own in by_scheme.items()
        }
        compared = with_shares(reduced, plan.references)
        facts |= {Task(0, number, replication): compared[name] for number, name in enumerate(schemes)}
    return Results(plan, facts, "by hand", {"scenario": base}, None)  # type: ignore[typeddict-item]
