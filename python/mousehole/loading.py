"""Results from the files that `save` and `--json` write, without any run."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mousehole import _engine
from mousehole.answer import jsonout
from mousehole.base import MouseholeError, file_error, require_path
from mousehole.comparison import Comparison
from mousehole.days import DAYS_SCHEMA, Day, DaysComparison
from mousehole.link import ProgramsComparison
from mousehole.page import PAGE_SCHEMA, PageLoads, restore_loads
from mousehole.runs import Results, load_policies
from mousehole.sweeps import Sweep
from mousehole.tuning import SCHEMA as TUNE_SCHEMA
from mousehole.tuning import Tuned, restore_results

Result = Comparison | DaysComparison | Tuned | PageLoads | Sweep


def load(path: str | Path, policy: str | Sequence[str] | None = None) -> Result:
    """Returns the result that a file holds: of `compare`, `compare_days`, `tune`, `page` or `link`.

    The file is what `save` or the option `--json` wrote. The folder of a sweep gives its `Sweep`. Frames,
    charts, pages and sentences are those of the result itself; single transfers are gone, and so is the time
    that a search took. `policy` names the headers of own policies that schemes of it use; they are loaded for
    the whole process.

    Raises `MouseholeError` for a file that cannot be read, is no such document, was written in the form of an
    earlier version or is not whole, for a folder without a sweep, and where a header is missing or has
    changed.

    Examples:

        >>> load("nothing.json")
        Traceback (most recent call last):
        mousehole.base._errors.MouseholeError: nothing.json: cannot be read; No such file or directory
    """
    path = require_path("path", path, "a file, or of a sweep's folder")
    if path.is_dir():
        return Sweep(path)
    document = _read_document(path)
    load_policies(policy)
    try:
        result = _READERS[document["schema"]](document)
        result.to_json()  # computes all rows, which are kept: a fault shows here
    except _NotAtHandError as error:
        raise file_error(path, str(error)) from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise file_error(path, f"is no whole document of {document['schema']}; {what}") from None
    return result


def _restore_days(document: dict[str, Any]) -> DaysComparison:
    """Returns the comparison over days that a document describes.

    Raises the exceptions of `_restore_results`.
    """
    return DaysComparison(
        tuple(Day(entry["day"], _restore_results(entry["comparison"])) for entry in document["days"])
    )


def _restore_tuned(document: dict[str, Any]) -> Tuned:
    """Returns the search that a document describes, without the time that it took.

    Raises the exceptions of `_restore_results`.
    """
    judged = Comparison(_restore_results(document["comparison"]), None)
    return Tuned(restore_results(document, judged), judged, None)


def _restore_comparison(document: dict[str, Any]) -> Comparison:
    """Returns the comparison that a document describes, also one of real programs."""
    results = _restore_results(document)
    return ProgramsComparison(results, document["link"]) if "link" in document else Comparison(results, None)


class _NotAtHandError(Exception):
    """A header of an own policy is not loaded, or is another one."""


def _read_document(path: str | Path) -> dict[str, Any]:
    """Returns the document in the file.

    Raises `MouseholeError` for a file that cannot be read, that is no JSON, or whose schema `_READERS` lacks.
    """
    try:
        document = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise file_error(path, f"cannot be read; {error.strerror}") from None
    except RecursionError:
        raise file_error(path, "is no result; it is nested too deeply") from None
    except ValueError as error:
        raise file_error(path, f"is not JSON, or is cut off ({error}); {_ALLOWED}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, str):
        raise file_error(path, f"names no schema; {_ALLOWED}")
    if schema in _READERS:
        return dict(document)
    family = schema.rpartition("/")[0]
    same = next((one for one in _READERS if one.rpartition("/")[0] == family), None)
    if same is None:
        raise file_error(path, f'has the schema "{schema}"; {_ALLOWED}')
    raise file_error(
        path,
        f'has the schema "{schema}", of another version of Mousehole than this one, which writes "{same}"; '
        "compare again",
    )


def _restore_results(document: dict[str, Any]) -> Results:
    """Returns a comparison's results.

    Raises `_NotAtHandError` if an own policy of its schemes is not loaded or has another header now, and the
    exceptions of `jsonout.restore_results`.
    """
    for entry in document["manifest"]["schemes"]:
        wanted = entry.get("policies", {})
        known = _list_digests(entry["scheme"])
        for name, digest in wanted.items():
            if known.get(name) != digest:
                state = "has changed since" if name in known else "is not loaded"
                raise _NotAtHandError(
                    f"its scheme {entry['scheme']} uses the own policy {name}, whose header {state}; "
                    "name the header of that time (--policy)"
                )
    return jsonout.restore_results(document)


def _list_digests(scheme: str) -> dict[str, str]:
    """Returns the SHA-256 of each own policy's header in a scheme, by name; empty for an unknown scheme."""
    try:
        return {own["name"]: own["sha256"] for own in _engine.scheme_policies(scheme)}
    except MouseholeError:
        return {}


_READERS: dict[str, Callable[[dict[str, Any]], Comparison | DaysComparison | Tuned | PageLoads]] = {
    jsonout.COMPARE_SCHEMA: _restore_comparison,
    DAYS_SCHEMA: _restore_days,
    TUNE_SCHEMA: _restore_tuned,
    PAGE_SCHEMA: restore_loads,
}
_ALLOWED = f"allowed is what --json of mousehole compare, tune, page or link wrote ({', '.join(_READERS)})"
