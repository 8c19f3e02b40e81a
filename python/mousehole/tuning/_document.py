"""A search of settings as JSON and back, so that it can be shown again without a run."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar

from mousehole import quantities
from mousehole.answer import Settings, WredProfile, install_script, jsonout, wred_table
from mousehole.comparison import Comparison
from mousehole.runs import Results, Row, none_to_nan, to_record
from mousehole.statistics import Estimate
from mousehole.tuning import objectives
from mousehole.tuning._results import Account, JudgedRow, LimitRow, SensitivityRow, TrialRow, TuneResults
from mousehole.tuning.objectives import Goal

SCHEMA = "mousehole.tune/2"
R = TypeVar("R", bound=Row)


def make_tune_document(found: TuneResults, judged: Results) -> jsonout.Document:
    """Returns the document of schema `mousehole.tune/2`; `judged` are the results on unseen replications."""
    ways = found.settings
    return {
        "schema": SCHEMA,
        "label": found.label,
        "objectives": [one.name for one in found.goal.objectives],
        "limits": [one.text for one in found.goal.limits if not one.is_default],
        "default_limits": [one.text for one in found.goal.limits if one.is_default],
        "baseline": found.baseline,
        "schemes": found.families,
        "account": asdict(found.account),
        "recommended": found.recommended,
        "family": found.family,
        "lines": found.lines,
        "trials": [to_record(row) for row in found.trials],
        "judged": [to_record(row) for row in found.judged],
        "limits_judged": [to_record(row) for row in found.limits],
        "sensitivity": [to_record(row) for row in found.sensitivity],
        "installation": None if ways is None else {**asdict(ways), "files": make_install_files(ways)},
        "why_nothing": found.why_nothing,
        "comparison": jsonout.comparison_document(judged),
    }


def make_install_files(found: Settings) -> dict[str, str]:
    """Returns the texts of files that install a scheme, by name: those of each direction if it is at both.

    Nothing is written.
    """
    files: dict[str, str] = {}
    for way in found.directions:
        suffix = f"-{way.direction}" if found.back else ""
        files[f"install{suffix}.sh"] = install_script(way)
        if way.live is not None:
            name = f"mousehole-live{suffix}.toml"
            files[name] = way.live.replace("mousehole-live.toml", name)
        if way.wred:
            files[f"wred{suffix}.md"] = wred_table(way.wred)
    return files


def restore_results(document: Mapping[str, Any], judged: Comparison) -> TuneResults:
    """Returns the results of a search from its document; `judged` is the comparison in it.

    Raises `KeyError`, `TypeError` or `ValueError` where something is missing or of another type.
    """
    replications = judged.plan.replications
    return TuneResults(
        label=document["label"],
        goal=Goal(
            tuple(objectives.parse_quantity("objectives", one) for one in document["objectives"]),
            (
                *(objectives.parse_limit("limits", one) for one in document["limits"]),
                *(
                    replace(objectives.parse_limit("default_limits", one), is_default=True)
                    for one in document["default_limits"]
                ),
            ),
        ),
        baseline=document["baseline"],
        families=tuple(document["schemes"]),
        trials=_restore_rows(TrialRow, document["trials"], replications),
        judged=_restore_rows(JudgedRow, document["judged"], replications),
        limits=_restore_rows(LimitRow, document["limits_judged"], replications),
        recommended=document["recommended"],
        family=document["family"],
        lines=tuple(document["lines"]),
        sensitivity=_restore_rows(SensitivityRow, document["sensitivity"], replications),
        settings=_restore_settings(document["installation"]),
        why_nothing=document["why_nothing"],
        account=Account(**document["account"]),
    )


def _restore_rows(kind: type[R], records: list[Mapping[str, Any]], replications: int) -> tuple[R, ...]:
    """Returns rows of a class from records of a document; raises `KeyError` for a missing field."""
    return tuple(
        kind(
            **{item.name: _restore_value(record, item.name, item.type, replications) for item in fields(kind)}
        )
        for record in records
    )


def _restore_value(record: Mapping[str, Any], name: str, kind: object, replications: int) -> Any:
    """Returns the value of a field of class `kind` from a record of `to_record`.

    Raises `KeyError` where it is missing.
    """
    if kind is Estimate:
        mean, low, high = (none_to_nan(record[one]) for one in (name, *quantities.name_ends(name)))
        return Estimate(mean, low, high, replications)
    return none_to_nan(record[name]) if kind is float else record[name]


def _restore_settings(entry: Mapping[str, Any] | None) -> Settings | None:
    """Returns the settings that a document holds, with those of the other direction; None for None."""
    if entry is None:
        return None
    own = {item.name: entry[item.name] for item in fields(Settings)}
    wred = tuple(WredProfile(**profile) for profile in own["wred"])
    lists = {"lines": tuple(own["lines"]), "needs": tuple(own["needs"])}
    return Settings(**{**own, **lists, "wred": wred, "back": _restore_settings(own["back"])})
