"""What `mousehole link` shows in addition to the documents of `run` and `compare`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mousehole.base import counted, rate_text, share_text, time_text
from mousehole.document import Cell, Column, Document, Items, Prose, Row, Section, Table
from mousehole.engine_types import LinkAccount, LinkStatus, LinkWayStatus, TransferColumns
from mousehole.link._link import Played, list_differences, read_default_congestion
from mousehole.records import Records
from mousehole.records import make_run_document as document_of_run


def write_status(status: LinkStatus) -> str:
    """Returns the line on one second of a run.

    Rates are in bit/s as text; queues are packets by colour, the best first, with slashes.
    """
    late = f"late up to {time_text(status['late_most_s'])}"
    down, up = _describe_direction(status["down"]), _describe_direction(status["up"])
    return f"{status['at_s']:4.0f} s  down {down}; up {up}; {late}"


def _describe_direction(way: LinkWayStatus) -> str:
    """Returns rate, queue length by colour, drops and marks of a direction within a second, as text."""
    waiting = "/".join(str(count) for count in way["waiting"])
    marks = f", {way['marked']} marked" if way["marked"] else ""
    return f"{rate_text(way['rate_bps'])}, queue {waiting}, {way['dropped']} dropped{marks}"


def describe_account(account: LinkAccount) -> Iterator[str]:
    """Yields the lines on how a run went: lateness, packets not carried, warnings, status, faults."""
    late = account["lateness"]
    priority = "real-time priority" if account["is_real_time"] else "ordinary priority"
    yield (
        f"{counted(account['flows'], 'flow')}; packets were late by "
        f"{time_text(late['p50_s'])} (p50), {time_text(late['p99_s'])} (p99), "
        f"{time_text(late['most_s'])} (most); "
        f"{share_text(account['cpu_use'])} of a processor, {priority}"
    )
    counts = {"are no IP packets": account["not_ip"], "are larger than the MTU": account["too_large"]}
    refused = [f"{count} {why}" for why, count in counts.items() if count]
    if refused:
        yield f"not carried: {', '.join(refused)}"
    if account["left_out_of_pcapng"]:
        yield f"{account['left_out_of_pcapng']} packets are not in the file of packets: the disk was too slow"
    for warning in list_warnings(account):
        yield f"warning: {warning}"
    if account["status"]:
        yield f"the command ended with status {account['status']}"
    for fault in account["faults"]:
        yield f"INVALID: {fault}"


def describe_congestion(congestion: str | None) -> str:
    """Returns the congestion control of programs that chose none; `congestion` is None if it is unknown."""
    return f"congestion control of programs that chose none: {congestion or 'unknown'}, the machine's"


def list_warnings(account: LinkAccount) -> Iterator[str]:
    """Yields a clause on each thing that went wrong with the programs of a run that is valid all the same."""
    if account["server_status"]:
        yield f"the server's command ended before, with status {account['server_status']}"
    if account["left_behind"]:
        left = counted(account["left_behind"], "program")
        yield f"the command left {left} running in the background, which ended with it"


def make_run_document(
    played: Played, simulated: Records | None = None, command: Sequence[str] | None = None
) -> Document:
    """Returns the document of a run on real packets.

    `simulated` has the same flows in the simulator and adds a section. `command` is the command line as
    typed, None where Python was the caller. Reads the machine's congestion control.
    """
    own = document_of_run(played.records, command, how="in real time")
    went = Items([*describe_account(played.account), describe_congestion(read_default_congestion())])
    *shown, made = own.sections
    sections = [*shown, Section("account", "How the run went", [went])]
    if simulated is not None:
        blocks = [_make_prediction_table(played, simulated), Prose(describe_prediction(played))]
        sections.append(Section("prediction", "The same flows simulated", blocks))
    return replace(own, sections=[*sections, made])


def _make_prediction_table(played: Played, simulated: Records) -> Table:
    """Returns a table of response times in real time and simulated with the same flows.

    It has no rows if no transfer ended in real time.
    """
    figures = [_summarise_times(one.columns.transfers) for one in (played.records, simulated)]
    rows: list[Row] = []
    for name, real in figures[0].items():
        other = figures[1].get(name)
        differs = None if not other or not real else other / real - 1
        text = "–" if differs is None else f"{100 * differs:+.1f} %"
        rows.append([name, Cell(time_text(real), real), Cell(time_text(other), other), Cell(text, differs)])
    columns = [
        Column("response time", is_number=False),
        *map(Column, ("real time", "simulated", "differs by")),
    ]
    return Table("The same flows in real time and simulated", columns, rows)


def describe_prediction(played: Played) -> str:
    """Returns the line on the flows that the prediction leaves out of a run or changes.

    Reads the machine's congestion control.
    """
    found = list_differences(played.records.columns, read_default_congestion())
    return f"simulated otherwise than in real time: {'; '.join(found) or 'nothing that is known'}"


def _summarise_times(transfers: TransferColumns) -> dict[str, float | None]:
    """Returns mean, p50, p90 and p99 of the response time in seconds; empty if no transfer ended."""
    response = transfers["end_s"] - transfers["start_s"]
    response = response[~np.isnan(response)]
    if not response.size:
        return {}
    quantiles = {f"p{percent}": float(np.percentile(response, percent)) for percent in (50, 90, 99)}
    return {"mean": float(response.mean()), **quantiles}
