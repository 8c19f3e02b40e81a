"""Writes web/src/papers.json for `make docs`: scenarios and published points of two figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from papers.evaluate import Evaluator
from papers.paper import Paper, list_published_points
from papers.runs import Options, Request

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "web" / "src" / "papers.json"
KNOB = "{knob}"
"""Stands in a scenario's scheme for the value of the knob."""
RED, RIO_PS, WEB = {"scheme": "RED", "ito": "3s"}, {"scheme": "RIO-PS", "ito": "3s"}, "web"


def main() -> None:
    """Writes `DOCUMENT`, over the older one; runs nothing."""
    DOCUMENT.write_text(write_text(), encoding="utf-8")


def write_text() -> str:
    """Returns the content of the file."""
    return json.dumps([make_sfd_figure(), make_rio_ps_figure()], ensure_ascii=False, indent=1) + "\n"


def make_sfd_figure() -> dict[str, Any]:
    """Returns figure 7 of SFD, with its threshold as the parameter that the user sets; runs nothing.

    Points are pairs of bytes and seconds.
    """
    paper = Paper("sfd")
    evaluator = paper.evaluator(Options())
    (figure,) = [one for one in paper.definition.figures if one.number == "7"]
    panel = figure.panels[0]
    curves: list[dict[str, Any]] = []
    for name in figure.names:
        (labels,) = evaluator.list_point_labels(figure, panel, name)
        change = {"scheme": {"sfd": {"th": f"{KNOB}p"}}} if name == "SFD" else {}
        request = Request(
            figure.grid, evaluator.definition.find_cell(figure.grid, labels), json.dumps(change)
        )
        points = list_published_points(evaluator, panel, name, [labels])
        known = [[1000 * packets, seconds] for packets, seconds in points]
        curves.append({"name": name, "scenario": evaluator.runs.scenario(request), "points": known})
    knob = {"title": "Threshold of SFD, packets of 1000 B", "least": 2, "most": 60, "value": 15}
    return {**_describe(paper, evaluator), "figure": f"Figure 7: {figure.title}", "against": None,
            "knob": knob,
            "curves": curves, "ranges": []}  # fmt: skip


def make_rio_ps_figure() -> dict[str, Any]:
    """Returns figure 7 of RIO-PS, with its threshold as the parameter that the user sets; runs nothing.

    Ranges have their ends in bytes and the published share.
    """
    paper = Paper("rio-ps")
    evaluator = paper.evaluator(Options())
    fixed = {"scheme": {"rio-ps": dict.fromkeys(("l_t", "floor", "cap"), KNOB)}}
    curves: list[dict[str, Any]] = []
    for labels, change in ((RED, {}), (RIO_PS, fixed)):
        request = Request(WEB, evaluator.definition.find_cell(WEB, labels), json.dumps(change))
        scenario = evaluator.runs.scenario(request)
        curves.append({"name": labels["scheme"], "scenario": scenario, "points": []})
    segment = curves[0]["scenario"]["tcp"]["mss"]
    ranges = [
        {
            "name": f"{claim.part} files",
            "bytes": [claim.args[end] * segment for end in ("low", "high")],
            "share": evaluator.published.find(str(claim.published), RIO_PS),
        }
        for claim in paper.definition.claims
        if claim.id == "M-6" and str(claim.published).startswith("figure_7.")
    ]
    knob = {
        "title": f"Threshold of RIO-PS, fixed, packets of {segment} B",
        "least": 2,
        "most": 60,
        "value": 20,
    }
    figure = "Figure 7 (a): response time against RED’s, by size"
    return {**_describe(paper, evaluator), "figure": figure, "against": "RED", "knob": knob, "curves": curves,
            "ranges": ranges}  # fmt: skip


def _describe(paper: Paper, evaluator: Evaluator) -> dict[str, Any]:
    """Returns title, source and length of runs of a paper."""
    own, length = paper.definition, evaluator.runs.length
    return {
        "name": own.name, "title": own.title, "authors": own.authors, "source": own.source,
        "replications": length.replications, "length": length.says,
    }  # fmt: skip


if __name__ == "__main__":
    main()
