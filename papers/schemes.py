"""Merges and writes schemes given as tables of parts, so that papers and trials can change one parameter.

In `paper.toml` a scheme is text, such as `droptail`, or a table with the parameters of each part,
from the traffic to the link: `{ sfd = { th = "15p" }, multi-red = { mode = "coupled" } }`.
Parameters of a part that all schemes of a paper share are given once, in `[scheme.PART]`.
"""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

AS = "as"
"""In a change of a part: the part that takes its place, with these parameters alone."""


def merge(base: Json, changes: Mapping[str, Any]) -> Json:
    """Returns a copy of `base` with `changes`, of which tables are merged and other values replace.

    A part of a scheme with `as` replaces the whole part. Neither argument is changed.
    """
    result = dict(base)
    for name, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(result.get(name), dict) and AS not in value
        result[name] = merge(result[name], value) if both else value
    return result


def apply_trial(scenario: Json, change: Json) -> Json:
    """Returns a copy of a scenario with the changes of a trial, except those to parts that its scheme lacks.

    A change that gives the scheme as text replaces it.
    """
    made, wanted = merge(scenario, change), change.get("scheme")
    if not isinstance(wanted, dict):
        return made
    own = scenario["scheme"]
    known = {name: part for name, part in wanted.items() if isinstance(own, dict) and name in own}
    return {**made, "scheme": merge(own, known) if known else own}


def write_scheme(scheme: str | Json, common: Mapping[str, Json]) -> str:
    """Returns a scheme in the text form of scenarios, such as `sfd(th=15p)|multi-red(mode=coupled)`.

    `common` holds the shared parameters of each part.
    """
    if isinstance(scheme, str):
        return scheme
    return "|".join(_write_part(name, part, common) for name, part in scheme.items())


def _write_part(name: str, own: Json, common: Mapping[str, Json]) -> str:
    """Returns one part of a scheme as text; its own parameters win over those of `common`.

    With `as` it is another part, which takes nothing from `common`.
    """
    if AS in own:
        name = own[AS]
        parameters = {key: value for key, value in own.items() if key != AS}
    else:
        parameters = {**common.get(name, {}), **own}
    given = ",".join(f"{key}={_write_value(value)}" for key, value in parameters.items())
    return f"{name}({given})" if given else name


def _write_value(value: object) -> str:
    """Returns a parameter's value as text, booleans as `true` and `false`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
