"""What `mousehole page` found: the loads and, if it was asked for, their simulation; as document and JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mousehole import _engine
from mousehole.document import Document
from mousehole.html import Kept
from mousehole.page._results import PageResults, Setting, Trial
from mousehole.page._trial import Load
from mousehole.page.predict import Prediction
from mousehole.runs import none_to_nan

if TYPE_CHECKING:
    import altair as alt

PAGE_SCHEMA = "mousehole.page/1"


@dataclass(frozen=True)
class PageLoads(Kept):
    """Loads of a page under several schemes."""

    results: PageResults
    prediction: Prediction | None = None
    """The same loads simulated."""

    def document(self, command: Sequence[str] | None = None) -> Document:
        """Returns the loads as a document, which terminal, page and Markdown show.

        `command` is the command line as typed, None where Python was the caller.
        """
        from mousehole.page import _report  # loads Altair

        return _report.make_document(self.results, self.prediction, command)

    def plot(self, path: str | Path | None = None) -> "alt.VConcatChart":
        """Returns the waterfalls of the schemes' median loads side by side; writes them if a path is given.

        Raises `MouseholeError` for a suffix other than .png, .svg and .pdf, and for a file that cannot be
        written.
        """
        from mousehole import charts  # loads Altair
        from mousehole.page import _waterfall as waterfall

        return charts.write_chart(waterfall.draw_picture(self.results), path)

    def to_json(self) -> str:
        """Returns the document of schema `mousehole.page/1` (docs/json.md)."""
        simulated = {} if self.prediction is None else {"simulated": self.prediction.words}
        schemes = [
            {**asdict(row), "predicted": self.prediction and self.prediction.record(row.scheme)}
            for row in self.results.rows()
        ]
        document = {
            "schema": PAGE_SCHEMA,
            "manifest": {**self.results.manifest, **simulated},
            "schemes": schemes,
            "loads": [_make_trial_entry(trial) for trial in self.results.trials],
        }
        return _engine.json_text(document)


def restore_loads(document: Mapping[str, Any]) -> PageLoads:
    """Returns the loads of a JSON document.

    Raises `KeyError`, `TypeError` or `ValueError` for a faulty one.
    """
    manifest, schemes = document["manifest"], document["schemes"]
    given = {item.name: manifest[item.name] for item in fields(Setting)}
    setting = Setting(**{**given, "notes": tuple(given["notes"])})
    names = tuple(entry["scheme"] for entry in schemes)
    trials = tuple(_restore_trial(entry) for entry in document["loads"])
    results = PageResults(setting, names, manifest["baseline"], manifest["loads"], trials)
    times = {entry["scheme"]: entry["predicted"]["loads_s"] for entry in schemes if entry["predicted"]}
    numbers = {name: [none_to_nan(one) for one in own] for name, own in times.items()}
    predicted = Prediction(results.baseline, numbers, manifest.get("simulated", "")) if times else None
    return PageLoads(results, predicted)


def _make_trial_entry(trial: Trial) -> dict[str, object]:
    """Returns the entry of a load in the JSON document."""
    return {
        "scheme": trial.scheme,
        "round": trial.round,
        "counts": trial.counts,
        "invalid": trial.invalid,
        "repeats": trial.repeats,
        "link": trial.link,
        **trial.load.record(),
    }


def _restore_trial(entry: Mapping[str, Any]) -> Trial:
    """Returns the load of an entry of the document; raises `KeyError` or `TypeError` for a faulty one."""
    own = (entry[name] for name in ("link", "invalid", "repeats"))
    return Trial(entry["scheme"], entry["round"], Load.from_record(entry), *own)
