"""The tables of one run, as columns by name."""

from dataclasses import dataclass

from mousehole import _engine, quantities
from mousehole.engine_types import (
    ApplicationColumns,
    DatagramColumns,
    FlowColumns,
    SeriesColumns,
    TraceColumns,
    TransferColumns,
)


@dataclass(frozen=True)
class RecordColumns:
    """The tables of a run, each as columns by name; `Records` has them as frames."""

    transfers: TransferColumns
    flows: FlowColumns
    datagrams: DatagramColumns
    series: SeriesColumns
    trace: TraceColumns | None
    applications: ApplicationColumns


def take_columns(result: _engine.RunResult) -> RecordColumns:
    """Returns the tables of a run's result, each as columns by name; without a trace, that is None."""
    return RecordColumns(
        result.transfers(), result.flows(), result.datagrams(), result.series(), result.trace(),
        _list_application_columns(result),
    )  # fmt: skip


def _list_application_columns(result: _engine.RunResult) -> ApplicationColumns:
    """Returns the figures of applications in one run, a row each, from the same reduction as in `compare`."""
    numbers = result.reduce((), quantities.table())["numbers"]
    figures, kinds = numbers["groups"], numbers["kinds"]
    order = list(quantities.figures_in_order(figures, kinds))
    return {
        "group": [group for group, _ in order],
        "kind": [kinds.get(group) for group, _ in order],
        "what": [what for _, what in order],
        "value": [figures[one] for one in order],
        "is_primary": [
            quantities.is_primary(kinds.get(group), what, [name for own, name in order if own == group])
            for group, what in order
        ],
    }
