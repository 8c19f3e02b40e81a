"""Schemes as parameters: a table of parts, which papers and trials change one parameter at a time.

In `paper.toml` a scheme is text, such as `droptail`, or a table with the parameters of each part, from the
traffic to the link: `{ sfd = { th = "15p" }, multi-red = { mode = "coupled" } }`. What all schemes of a paper
have in common of a part stands once, in `[scheme.PART]`.
"""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

AS = "as"
"""In a change of a part: the part that takes its place, with these parameters alone."""


def merged(base: Json, changes: Mapping[str, Any]) -> Json:
    """Returns `base` with `changes`: tables are merged, everything else and parts of schemes are replaced."""
    result = dict(base)
    for name, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(result.get(name), dict) and AS not in value
        result[name] = merged(result[name], value) if both else value
    return result


def tried_on(scenario: Json, change: Json) -> Json:
    """Returns a scenario as a trial changes it; what it says of parts that the scheme lacks stays out."""
    made, wanted = merged(scenario, change), change.get("scheme")
    if not isinstance(wanted, dict):
        return made
    own = scenario["scheme"]
    known = {name: part for name, part in wanted.items() if isinstance(own, dict) and name in own}
    return {**made, "scheme": merged(own, known) if known else own}


def scheme_text(scheme: str | Json, common: Mapping[str, Json]) -> str:
    """Returns a scheme as scenarios have it, such as `sfd(th=15p)|multi-red(mode=coupled)`."""
    if isinstance(scheme, str):
        return scheme
    return "|".join(_part_text(name, part, common) for name, part in scheme.items())


def _part_text(name: str, own: Json, common: Mapping[str, Json]) -> str:
    if AS in own:
        name = own[AS]
        parameters = {key: value for key, value in own.items() if key != AS}
    else:
        parameters = {**common.get(name, {}), **own}
    given = ",".join(f"{key}={_value_text(value)}" for key, value in parameters.items())
    return f"{name}({given})" if given else name


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
