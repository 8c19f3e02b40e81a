"""Under what load, and from how much traffic, the results of a comparison came about."""

from mousehole.answer import tables
from mousehole.base import counted, size_text
from mousehole.runs import Cell, LoadRow, Plan, Results


def list_conditions(results: Results) -> list[str]:
    """Returns the load and runs of each cell in a sentence, then the evidence of a capture in another.

    Rounds of real programs have no second sentence, nor has a model.
    """
    plan: Plan = results.plan
    found: list[str] = []
    for cell in plan.cells:
        load = _list_load_clauses(tables.load_row(results, cell))
        if plan.in_rounds:
            found.append(_describe_rounds(results, cell))
            continue
        window = f"{plan.base['duration']} after {plan.choose_warmup(cell)} of warm-up"
        found.append(
            "; ".join([cell.title, *load, f"{counted(plan.replications, 'replication')} of {window}"])
        )
        found += filter(None, [_describe_evidence(results, cell)])
    return found


def _list_load_clauses(load: LoadRow) -> list[str]:
    """Returns clauses on native and offered load, copies, time dilation and the windows' load, if known."""
    parts = []
    if load.load_native is not None:
        parts.append(f"native load {load.load_native:.3g}")
        parts.append(f"{load.load_copies:.3g} copies, time × {load.load_dilation or 1:.3g}")
    if load.load_achieved is not None:
        parts.append(f"offered {load.load_achieved:.3g}")
    if load.load_window is not None and load.load_window_deviation is not None:
        spread = f"standard deviation {load.load_window_deviation:.2g}"
        parts.append(f"{load.load_window:.3g} by transfers in the windows ({spread})")
    return parts


def _describe_rounds(results: Results, cell: Cell) -> str:
    """Returns a cell's buffer, measured load, and number and length of rounds as text."""
    plan, row = results.plan, tables.load_row(results, cell)
    rounds = (
        f"{counted(plan.replications, plan.run_word)}, whose runs took {plan.base['duration']} on average"
    )
    load = f"load {row.load_window or 0.0:.3g} (standard deviation {row.load_window_deviation or 0.0:.2g})"
    return f"buffer {cell.buffer}; {load}; {rounds}"


def _describe_evidence(results: Results, cell: Cell) -> str:
    """Returns the sentence on the distinct transfers of a capture behind a cell's verdicts.

    It is empty for a model.
    """
    row, plan = tables.evidence_row(results, cell), results.plan
    if row is None:
        return ""
    short, long = size_text(plan.short_bytes), size_text(plan.long_bytes)
    copies = "1 copy" if row.copies_most == 1 else f"{row.copies_most} copies"
    if row.copies_least != row.copies_most:
        copies = f"{row.copies_least} to {copies}"
    return (
        f"Behind this stand {counted(row.short_transfers, 'distinct transfer')} ≤ {short} of "
        f"{counted(row.short_clients, 'client')} and {row.long_transfers} > {long} of "
        f"{counted(row.long_clients, 'client')}, in {copies} at a time; each window plays the capture "
        f"{row.laps:.2g} times."
    )
