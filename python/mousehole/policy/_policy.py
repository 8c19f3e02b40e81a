"""Policies of the user: creates a header to start from, and checks a header before it is used."""

from pathlib import Path
from typing import Literal

from mousehole import _engine
from mousehole.base import field_error, file_error, require_at_least, require_path, require_switch
from mousehole.engine_types import PolicyReport

RECORDS = 1 << 20
"""Records that `check` plays in the kernel by default: about a million."""


def new(name: str, kind: Literal["marker", "dropper", "queue"] = "marker", folder: str | Path = ".") -> Path:
    """Writes a commented header that works, and returns its path, `folder`/`name`.h.

    `kind` is "marker", "dropper" or "queue". The folder must exist. Raises `MouseholeError` for a name or
    kind that is not allowed, and for a file that exists already: nothing is overwritten.
    """
    for field, given in (("name", name), ("kind", kind)):
        if not isinstance(given, str):
            raise field_error(field, str(given), "a text")
    text = _engine.policy_template(kind, name)
    path = require_path("folder", folder, "a folder") / f"{name}.h"
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        sentence = "exists already; give another name, or remove the file"
        raise file_error(path, sentence) from None
    except OSError as error:
        sentence = f"cannot be written; {error.strerror}"
        raise file_error(path, sentence) from None
    return path


def check(target: str | Path, records: int = RECORDS, kernel: bool = True, seed: int = 1) -> PolicyReport:
    """Checks a header, or a policy known by its name, and returns the report.

    The header is compiled natively and searched for what a policy must not do. Random records are played to
    it under the compiler's sanitizers. As root and with clang it is loaded into the kernel, and `records`
    records are compared with the native build, with `kernel=False` none. `seed` is that of the random
    records. A check that cannot be made here has the verdict `not_run` and says why; the other verdicts are
    `passed`, `warning` and `failed`. The report is a policy's entry in the document of `mousehole policy
    check --json`.

    Raises `MouseholeError` if there is no such header or policy, and for fewer than one record.
    """
    require_at_least("records", records, 1)
    require_at_least("seed", seed, 0)
    name = require_path("target", target, "a header or policy")
    return _engine.policy_check(str(name), records, require_switch("kernel", kernel), seed)


def is_good(report: PolicyReport, require_kernel: bool = False) -> bool:
    """Returns whether no check failed and, with `require_kernel`, whether those in the kernel were made."""
    verdicts = {entry["name"]: entry["verdict"] for entry in report["checks"]}
    was_in_kernel = verdicts.get("kernel", "not_run") != "not_run"
    return "failed" not in verdicts.values() and (was_in_kernel or not require_kernel)


def headers_folder() -> Path:
    """Returns the folder for a C compiler's `-I`, so that `#include "mousehole/policy.h"` is found."""
    return Path(_engine.policy_headers_folder())
