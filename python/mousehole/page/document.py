"""The JSON document of `mousehole page`, schema `mousehole.page/1`; docs/json.md describes it."""

from dataclasses import asdict

from mousehole import _engine
from mousehole.answer import jsonout
from mousehole.base import REVISION
from mousehole.page._results import PageResults
from mousehole.page.predict import Prediction

SCHEMA = "mousehole.page/1"


def text(results: PageResults, prediction: Prediction | None) -> str:
    """Returns the document as text."""
    manifest = {
        "mousehole_version": _engine.__version__,
        "git_revision": REVISION,
        **asdict(results.setting),
        "baseline": results.baseline,
        "loads": results.rounds,
    }
    schemes = [
        {**asdict(row), "predicted": None if prediction is None else prediction.record(row.scheme)}
        for row in results.rows()
    ]
    loads = [
        {
            "scheme": trial.scheme,
            "round": trial.round,
            "counts": trial.counts,
            "invalid": trial.invalid,
            "repeats": trial.repeats,
            "link": trial.link,
            **trial.load.record(),
        }
        for trial in results.trials
    ]
    return jsonout.dumps({"schema": SCHEMA, "manifest": manifest, "schemes": schemes, "loads": loads})
