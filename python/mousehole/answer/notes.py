"""Remarks on a cell: where no difference can be expected, and where parameters do not fit the link."""

from math import ceil

import numpy as np

from mousehole import _engine
from mousehole.answer._install import Link, in_packets, link_of_cell
from mousehole.answer._ways import WAY_BACK, WAYS, busier_way, directions, used_by_direction
from mousehole.base import counted, scheme_name, share_text, size_text
from mousehole.runs import Cell, Results
from mousehole.scenario import bottleneck
from mousehole.statistics import LEAST_REPLICATIONS, mser

UNLOADED = 0.3
"""Below this load, schemes differ little or not at all."""

NOTICED_TRANSIENT = 0.05
"""A transient is mentioned if the mean without it differs by more than this share."""
LEAST_PARTS = 10
"""With short transfers in fewer parts of the windows, no transient is searched for: MSER needs ten."""
ONE_COLOUR = 0.99
"""From this share of packets of the same colour on, a marker is said to have no effect."""
LARGE_PROFILE = 0.2
"""From this share of the link on, a user's traffic profile is too large: five users may claim all of it."""
EXCEEDED_PROFILE = 0.5
"""If more than this share of the packets exceeds the traffic profiles, they protect little."""
USED_LESS, SHORT_QUEUE = 0.95, 0.25
"""Where the buffer is not known in packets: thresholds below these shares of the baseline's utilisation and
mean queue are said to be too low."""
LOW_THRESHOLD = 0.25
"""Below this share of the buffer, the highest threshold in packets is said to be too low."""
NS2_BUFFER = 50
"""Packets of ns-2's default buffer, in which the papers without an entry below set their thresholds."""
PAPER_BUFFER = {"shred": 225}
"""Packets of the buffer in which a paper has its thresholds: SHRED section 5.1."""
FEW_LARGE = 30
"""With fewer connections in a capture that are larger than the bandwidth-delay product, a remark says so."""
PROFILE_NOTE = (
    "The default profiles are the paper's, for 400 users on links of 45 to 175 Mbit/s. Give shares of the "
    "link that suit the number of its users, such as high_rate=2%,med_rate=4%."
)
CODEL_INTERVALS = {"interval", "rtt"}
"""How schemes call CoDel's interval."""
LONG_RTT = 2
"""From so many intervals on, a round trip is said to be too long for CoDel."""
MARKED = {"th", "tau", "l_t", "first", "high", "high_rate"}
"""Every scheme with a marker has one of these parameters."""


def cell_notes(results: Results, cell: Cell) -> list[str]:
    """Returns the remarks on a cell, one or two sentences each."""
    runs, notes = results.runs(cell, results.plan.baseline), []
    used = used_by_direction(results, cell)
    load = max(*used.values(), *(run.load["achieved"] or 0.0 for run in runs))
    if load < UNLOADED:
        more = (
            "Let the programs do more, or give"
            if results.plan.in_rounds
            else "Give a load, such as --load 0.9, or"
        )
        wait_ms = 1000 * max(run.scheme[f"{way}queue_delay_mean_s"] for run in runs for way in WAYS)
        loads = ", ".join(f"{share:.2g} {way}" for way, share in used.items())
        notes.append(
            f"The link is hardly loaded (used to {loads}; packets wait {wait_ms:.2g} ms on average), so no "
            f"scheme can make much of a difference. {more} a lower rate."
        )
    elif busier_way(results, cell) == WAY_BACK:
        loads = ", ".join(f"{share:.2g} {way}" for way, share in used.items())
        notes.append(
            f"The {directions(results)[1]} direction is the busier one (used to {loads}); the delay of the "
            "queue in the first table is its own."
        )
    notes += unsteady(results, cell)
    notes += _without_short(results, cell)
    notes += _few_large(results, cell)
    notes += [
        f"{scheme}: {remark}." for scheme in results.plan.schemes for remark in _engine.scheme_remarks(scheme)
    ]
    notes += _without_effect(results, cell) + _far_below(results, cell)
    notes += _one_colour(results, cell) + _ill_fitting(results, cell) + _short_intervals(results)
    notes += _same_as_baseline(results, cell) if load >= UNLOADED else []  # with an idle link this is no news
    unfinished = [scheme for scheme in results.plan.schemes if results.has_bounds(cell, scheme)]
    if unfinished:
        notes.append(
            f"Under {', '.join(unfinished)} more than 1 % of the transfers of some size were unfinished when "
            "the run ended. They count with their age at that time, so these means are lower bounds (≥)."
        )
    return notes


def unsteady(results: Results, cell: Cell) -> list[str]:
    """Returns a remark where there is no steady state, or where the windows begin before it."""
    plan, runs = results.plan, results.runs(cell, results.plan.baseline)
    offered = runs[0].load["achieved"]
    load = cell.load if cell.load is not None else offered
    if load is not None and load >= 1:
        lengths = "the run" if plan.in_rounds else "warm-up and window"
        return [
            f"At a load of {load:.3g} there is no steady state: queues and times grow as long as the run "
            f"lasts, so every number depends on the length of {lengths}."
        ]
    window_s, warmup_s = (
        _engine.parse_duration(name, text)
        for name, text in (("duration", plan.base["duration"]), ("warmup", plan.warmup_of(cell)))
    )
    needed_s = plan.warmup.needed_s(cell.load) if plan.warmup else None
    if needed_s is not None and needed_s > 1.05 * warmup_s:
        return [
            f"At this load, large transfers let the link near its steady state only after about "
            f"{needed_s:.0f} s. The windows begin after {warmup_s:.0f} s; --warmup makes it longer."
        ]
    found = {scheme: transient_share(results, cell, scheme) for scheme in plan.schemes}
    late = {scheme: share for scheme, share in found.items() if share > 0}
    if not late:
        return []
    if unsettled := [scheme for scheme, share in late.items() if share >= 0.5]:
        return [
            f"Under {', '.join(unsettled)} the search for a transient (MSER) ends in the second half of "
            f"the windows: at {plan.base['duration']} they are too short to tell whether there is a steady "
            "state. Give a longer --duration."
        ]
    worst = max(late.values()) * window_s
    if plan.in_rounds:
        return [
            f"Under {', '.join(late)} the first {worst:.0f} s of the runs still belong to the transient "
            "(MSER), and count; programs that run for longer make less of it."
        ]
    return [
        f"Under {', '.join(late)} the first {worst:.0f} s of the windows still belong to the transient "
        f"(MSER). Give --warmup {warmup_s + worst:.0f}s or more."
    ]


def _without_short(results: Results, cell: Cell) -> list[str]:
    """Says over how many replications means and changes are, if some have no short transfer."""
    plan = results.plan
    having = int(np.sum(np.isfinite(results.bucket_values(cell, plan.baseline, "short", "response_mean_s"))))
    if having in (0, plan.replications):
        return []
    return [
        f"Only {having} of {plan.replications} replications had a transfer ≤ {size_text(plan.short_bytes)}; "
        "means and changes of these transfers are over those."
    ]


def _few_large(results: Results, cell: Cell) -> list[str]:
    """Says which way means lean if a capture that is laid over itself has few large connections.

    To meet the load, the copies of such a capture bring more short transfers in the place of large ones.
    Nothing is said of a capture of datagrams alone.
    """
    capture = results.capture
    if results.traffic is not None and not results.traffic["transfers"]:
        return []
    if capture is None or capture.is_fitted or results.capture_share(cell) == 0 or capture.large >= FEW_LARGE:
        return []
    larger = f"{counted(capture.large, 'connection')} larger than the bandwidth-delay product"
    return [
        f"The capture has only {larger} ({size_text(capture.pipe_bytes)}). Such connections are rare, but "
        "carry much of a link's load. A capture that lacks them makes schemes that hold long transfers back "
        "look worse for short ones. The intervals allow for that, the means do not; give a longer capture."
    ]


def transient_share(results: Results, cell: Cell, scheme: str) -> float:
    """Returns the share of the windows that belongs to the transient, 0 if its removal changes little.

    It is 0.5 or more where no steady state was reached. A part of a window in which a replication has no
    short transfers counts by the others; one that no replication has is left out.
    """
    parts = np.array([run.short_by_time for run in results.runs(cell, scheme)])
    if len(parts) < LEAST_REPLICATIONS:
        return 0.0
    is_known = np.isfinite(parts)
    count = np.sum(is_known, axis=0)
    places = np.flatnonzero(count)
    if places.size < LEAST_PARTS:
        return 0.0
    series = np.sum(np.where(is_known, parts, 0.0), axis=0)[places] / count[places]
    first = mser(series)
    is_noticed = first > 0 and abs(np.mean(series[first:]) / np.mean(series) - 1) > NOTICED_TRANSIENT
    return float(places[first] / len(count)) if is_noticed else 0.0


def _without_effect(results: Results, cell: Cell) -> list[str]:
    """Names the schemes whose thresholds caused less than 1 % as many drops and marks as the full buffer."""
    idle = [
        scheme
        for scheme in results.plan.schemes
        if any(name.endswith("min") for name in _engine.scheme_parameters(scheme))
        and _hardly_early([run.colours for run in results.runs(cell, scheme)])
    ]
    if not idle:
        return []
    return [
        f"Under {', '.join(idle)} almost no packet was dropped early or marked: with a buffer of "
        f"{cell.buffer}, the average queue stays below the thresholds, so nearly all drops are those of a "
        "full buffer. Give a larger buffer or lower thresholds; thresholds in % of the buffer scale with it."
    ]


def _far_below(results: Results, cell: Cell) -> list[str]:
    """Names the schemes whose thresholds are far below the buffer, and offers shares of the buffer."""
    link = link_of_cell(results, cell)
    low = [
        scheme
        for scheme in results.plan.schemes
        if _thresholds_in_packets(scheme) and _is_far_below(results, cell, scheme, link)
    ]
    if not low:
        return []
    baseline = results.plan.baseline
    used = ", ".join(f"{scheme} {share_text(_used(results, cell, scheme))}" for scheme in (*low, baseline))
    packets = "" if link is None else f" ({link.buffer_packets} packets)"
    note = (
        f"The thresholds of {', '.join(low)} are numbers of packets, as in the papers, and far below the "
        f"buffer of {cell.buffer}{packets}, so long transfers are held back early. The link was used: {used}."
    )
    forms = [form for form in map(scaled_form, low) if form]
    return [f"{note} As the same shares of the buffer: --schemes '{','.join(forms)}'." if forms else note]


def _is_far_below(results: Results, cell: Cell, scheme: str, link: Link | None) -> bool:
    """Returns whether the highest threshold, or the queue that it leaves, is a small part of the buffer."""
    if link is not None:
        highest = max(in_packets(value, link.buffer_packets) for value in _upper_thresholds(scheme))
        return highest < LOW_THRESHOLD * link.buffer_packets
    own, other = (
        float(np.mean(results.scheme_values(cell, name, "queue_mean_packets")))
        for name in (scheme, results.plan.baseline)
    )
    is_idle = _used(results, cell, scheme) < USED_LESS * _used(results, cell, results.plan.baseline)
    return is_idle and own < SHORT_QUEUE * other


def _used(results: Results, cell: Cell, scheme: str) -> float:
    return float(np.mean(results.scheme_values(cell, scheme, "utilisation")))


def scaled_form(scheme: str) -> str | None:
    """Returns the scheme with its thresholds as shares of the buffer, None for one of several parts.

    The shares are those that the thresholds have of the buffer in the paper's experiments.
    """
    if "|" in scheme:
        return None
    name, _, given = scheme.partition("(")
    whole = PAPER_BUFFER.get(scheme_name(scheme), NS2_BUFFER)
    kept = [
        item for item in given.removesuffix(")").split(",") if item and not _is_threshold(item.split("=")[0])
    ]
    parameters = _engine.scheme_parameters(scheme)
    shares = [
        f"{key}={value}"
        if value.endswith("%")
        else f"{key}={100 * float(value.removesuffix('p')) / whole:.3g}%"
        for key, value in parameters.items()
        if _is_threshold(key)
    ]
    return f"{name}({','.join([*kept, *shares])})"


def _is_threshold(parameter: str) -> bool:
    return parameter.strip() in ("min", "max") or parameter.strip().endswith(("_min", "_max"))


def _upper_thresholds(scheme: str) -> list[str]:
    """Returns the upper thresholds of a scheme, each in packets or in percent of the buffer."""
    parameters = _engine.scheme_parameters(scheme)
    return [value for name, value in parameters.items() if name == "max" or name.endswith("_max")]


def _thresholds_in_packets(scheme: str) -> bool:
    upper = _upper_thresholds(scheme)
    is_automatic = _engine.scheme_parameters(scheme).get("auto") == "true"
    return bool(upper) and not any(value.endswith("%") for value in upper) and not is_automatic


def _one_colour(results: Results, cell: Cell) -> list[str]:
    """Names the schemes whose marker gave nearly all packets the same colour."""
    notes = []
    for scheme in results.plan.schemes:
        if not MARKED & _engine.scheme_parameters(scheme).keys():
            continue
        shares = _colour_shares([run.colours for run in results.runs(cell, scheme)])
        colour = max(shares, key=lambda name: shares[name], default="")
        if shares and shares[colour] >= ONE_COLOUR:
            notes.append(
                f"Under {scheme} the marker gave {100 * shares[colour]:.3g} % of the packets the same colour "
                f"({colour}), so it could not favour any of them."
            )
    return notes


def _ill_fitting(results: Results, cell: Cell) -> list[str]:
    """Names the schemes whose traffic profiles fit neither the link nor the traffic."""
    rate_bps = _rate_bps(results)
    if rate_bps is None:
        return []
    misfits = []
    for scheme in results.plan.schemes:
        parameters = _engine.scheme_parameters(scheme)
        if "high_rate" not in parameters:
            continue
        high, med = parameters["high_rate"], parameters["med_rate"]
        share = _share_of(high, rate_bps) + _share_of(med, rate_bps)
        red = _colour_shares([run.colours for run in results.runs(cell, scheme)]).get("red", 0.0)
        if why := _misfit(scheme, share, red):
            misfits.append(
                f"{scheme} ({high} green and {med} yellow per user, {100 * share:.3g} % of the link): {why}"
            )
    return [f"Traffic profiles that do not fit: {'; '.join(misfits)}. {PROFILE_NOTE}"] if misfits else []


def _short_intervals(results: Results) -> list[str]:
    """Names the schemes under CoDel that take the round trip for a standing queue."""
    rtt = bottleneck.facts(results.plan.base)["rtt"]
    is_recorded = results.traffic is not None and results.traffic["rtt_known"] > 0
    if rtt is None or (is_recorded and not results.plan.base["link"].get("ignore_trace_rtt")):
        return []
    rtt_s, fitting, given = _engine.parse_duration("rtt", rtt), [], ""
    for scheme in results.plan.schemes:
        for name, value in _engine.scheme_parameters(scheme).items():
            if name.rpartition(".")[2] not in CODEL_INTERVALS:
                continue
            if rtt_s > LONG_RTT * _engine.parse_duration(name, value):
                own = scheme.partition("(")[0] if "|" not in scheme and "(" not in scheme else None
                fitting.append(f"{own}({name}={rtt})" if own else f"{scheme} with {name}={rtt}")
                given = value
    if not fitting:
        return []
    return [
        f"CoDel's interval is {given} where round trips take {rtt}, so it drops before senders can react. "
        f"RFC 8289 (4.3) asks for the longest round trip: compare {', '.join(fitting)}."
    ]


def _misfit(scheme: str, share: float, red: float) -> str:
    """Returns why a profile of `share` of the link does not fit, empty if it does.

    `red` is the share of red packets.
    """
    if share >= LARGE_PROFILE:
        users = f"{ceil(1 / share)} users" if share < 1 else "a single user"
        return f"{users} can fill the link with protected packets"
    if red > EXCEEDED_PROFILE:
        if scheme.startswith("er-tbm"):  # there, a packet is red only if it exceeds the profile
            return f"{100 * red:.0f} % of the packets exceeded the profile"
        return f"{100 * red:.0f} % of the packets exceeded the profile or were red by the scheme's own rule"
    return ""


def _colour_shares(colours: list[dict[str, dict[str, int]]]) -> dict[str, float]:
    arrived = {name: sum(run[name]["arrived"] for run in colours) for name in colours[0]} if colours else {}
    total = sum(arrived.values())
    return {name: count / total for name, count in arrived.items()} if total else {}


def _rate_bps(results: Results) -> float | None:
    """Returns the rate of the link, None for a topology."""
    base = results.plan.base
    mean = results.manifest.get("mean_rates", {}).get(bottleneck.EACH[bottleneck.is_up(base)])
    if mean is not None:  # a result that was kept has no trace
        return mean
    rate = None if base.get("topology") else bottleneck.mean_rate(base)
    return None if rate is None else _engine.parse_rate("rate", rate)


def _share_of(rate: str, whole_bps: float) -> float:
    return float(rate[:-1]) / 100 if rate.endswith("%") else _engine.parse_rate("rate", rate) / whole_bps


def _same_as_baseline(results: Results, cell: Cell) -> list[str]:
    """Names the schemes under which every replication had the same mean as under the baseline.

    Replications without a transfer have nothing to compare.
    """
    baseline = results.plan.baseline
    own = results.bucket_values(cell, baseline, "all", "response_mean_s")
    if not np.any(np.isfinite(own)):
        return []
    same = [
        scheme
        for scheme in results.plan.schemes
        if scheme != baseline
        and np.array_equal(results.bucket_values(cell, scheme, "all", "response_mean_s"), own, equal_nan=True)
    ]
    if not same:
        return []
    return [
        f"{', '.join(same)} did exactly the same as {baseline} in every {results.plan.run_word}: "
        "with this traffic and buffer, no decision differed."
    ]


def _hardly_early(colours: list[dict[str, dict[str, int]]]) -> bool:
    counts = [count for run in colours for count in run.values()]
    early, forced = (sum(count[name] for count in counts) for name in ("early", "forced"))
    marked = sum(count["marked"] for count in counts)
    return early + marked < 0.01 * forced
