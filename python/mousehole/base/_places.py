"""Traffic by users and applications: `--users`, `--apps`, and ready-made numbers of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mousehole import _engine
from mousehole.base._errors import field_error, missing_error, unknown_error
from mousehole.base._options import parse_texts, require_at_least

if TYPE_CHECKING:
    from mousehole.engine_types import MixEntry, TrafficSection

MOST_USERS = _engine.MOST_USERS
Apps = str | Sequence[str] | Mapping[str, float]
"""Applications as users give them: `web:1,calls:0.3`, texts of such a list, or shares by name."""
FORM = "applications, each with the share of the users who run it, above 0 and at most 1: web:1,calls:0.3"


@dataclass(frozen=True)
class Application:
    """What one application sends, as an entry of a mix without its number of users."""

    name: str
    model: str
    share: float
    """The share of the users who run it where none is given."""
    payload: str | None
    hosts: str | None
    """The parameter that is the number of client hosts, of models that have one."""
    params: Mapping[str, object]


@dataclass(frozen=True)
class Place:
    """Ready-made traffic: a number of users, and the share of them who run each application."""

    name: str
    summary: str
    users: int
    apps: Mapping[str, float]


@cache
def applications() -> dict[str, Application]:
    """Returns the applications by name, in the order of the table."""
    return {row["name"]: Application(**row) for row in _engine.places()["apps"]}


@cache
def places() -> dict[str, Place]:
    """Returns the ready-made places by name, in the order of the table."""
    rows = _engine.places()["places"]
    return {row["name"]: Place(**{**row, "apps": dict(row["apps"])}) for row in rows}


def is_place(name: str) -> bool:
    """Returns whether `name` is that of a ready-made place, and not of a file."""
    return name in places() and not Path(name).is_file()


def place_traffic(name: str | None, users: int | None, apps: Apps | None) -> "tuple[TrafficSection, str]":
    """Returns section `traffic` of this many users with these applications, and its name for titles.

    `name` is a place, whose numbers hold where none are given, or None. Raises `KeyError` for a name that is
    not among `places`, and `MouseholeError` for a number or an application that is not allowed or is missing.
    """
    place = None if name is None else places()[name]
    if users is not None and require_at_least("users", users, 1) > MOST_USERS:
        raise field_error("users", users, f"a whole number from 1 to {MOST_USERS}")
    shares = _parse_shares(apps) if apps is not None else place.apps if place else None
    number = users if users is not None else place.users if place else None
    if shares is None:
        raise missing_error("apps", "what the users run, such as --apps web:1,calls:0.3")
    if number is None:
        raise missing_error("users", "the number of users who run them, such as --users 30")
    mix = _engine.place_entries(number, list(shares.items()))
    return {"mix": cast("list[MixEntry]", mix)}, _engine.place_label(name, number)


def with_load(traffic: "TrafficSection", load: float) -> "TrafficSection":
    """Returns a copy of section `traffic` with this load.

    It is the load of the main traffic. Without main traffic it is that of the mix's entry `web`, where it
    replaces the number of users; without such an entry the engine refuses it.
    """
    has_main = any(traffic.get(field) for field in ("model", "files", "connections"))
    loaded = None if has_main else _engine.loaded_mix(traffic.get("mix") or [], load)
    return {**traffic, "load": load} if loaded is None else {**traffic, "mix": loaded}


def _parse_shares(given: Apps) -> dict[str, float]:
    """Returns the share of each application by name, by default that of the table.

    Raises `MouseholeError` for an unknown application, one given twice, and a share not above 0 and at most
    1.
    """
    if isinstance(given, Mapping):
        given = [f"{name}:{share}" for name, share in given.items()]
    known, shares = applications(), dict[str, float]()
    for text in parse_texts("apps", given):
        name, colon, number = (part.strip() for part in text.partition(":"))
        if name not in known:
            raise unknown_error("apps", "application", name, list(known))
        if name in shares:
            raise field_error("apps", name, "in the list once", "is given twice")
        share = _parse_share(number) if colon else known[name].share
        if share is None:
            raise field_error("apps", text, FORM)
        shares[name] = share
    return shares


def _parse_share(text: str) -> float | None:
    """Returns the share, None for anything but a number above 0 and at most 1."""
    try:
        share = float(text)
    except ValueError:
        return None
    return share if isfinite(share) and 0 < share <= 1 else None
