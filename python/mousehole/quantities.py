"""The quantities that are measured, with names and units: the engine's table, and the columns made of it.

`answer/src/quantities.rs` holds the table. Tables, charts, objectives and limits of `tune`, measures of
sweeps, JSON and its documents take names and texts from here; no code splits a name.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from mousehole import _engine
from mousehole._engine import Quantity as Quantity

Subject = Literal["bucket", "scheme", "application", "count", "comparison", "run"]
TableName = Literal["bucket", "short", "long", "link", "application"]
KindName = Literal["calls", "games", "video_calls", "streams", "logins", "vpn", "responsiveness"]

ClassName = Literal["short", "long", "all"]

CLASSES: tuple[ClassName, ...] = ("short", "long", "all")
"""The classes of transfers, of which there is one bucket each."""

KINDS: tuple[KindName, ...] = get_args(KindName)
"""The kinds of applications whose users feel more than the times of transfers."""

KIND_TEXTS: Mapping[str, str] = dict(zip(KINDS, _engine.KIND_TEXTS, strict=True))
"""The name of each kind in a sentence, such as `video calls`."""

_added: list[Quantity] = []


def table() -> list[Quantity]:
    """Returns every quantity in the order of columns and documents."""
    return list(_list_all())


def add(quantity: Quantity) -> None:
    """Adds a quantity for this process; it is shown wherever quantities of its subject are.

    It comes last in the table. Raises `ValueError` if the subject has a quantity of this name.
    """
    if any((one.subject, one.name) == (quantity.subject, quantity.name) for one in table()):
        raise ValueError(f"quantity: {quantity.name} is known already; a name is given once")
    _added.append(quantity)
    _clear_caches()


def remove(quantity: Quantity) -> None:
    """Removes a quantity that `add` has added, for this process; raises `ValueError` for any other one."""
    _added.remove(quantity)
    _clear_caches()


def list_of_subject(subject: Subject) -> list[Quantity]:
    """Returns the quantities of a subject, in the order of the table."""
    return [one for one in table() if one.subject == subject]


def list_columns(name: TableName, subject: Subject) -> list[Quantity]:
    """Returns the quantities of a subject that are columns of a table, in the order of `table`."""
    return [one for one in list_of_subject(subject) if name in one.tables]


def list_felt(kind: KindName) -> list[Quantity]:
    """Returns the quantities that users of a kind of application feel first, then their substitutes.

    Both are in the order of the table.
    """
    first = [one for one in table() if kind in one.primary_of]
    return [*first, *(one for one in table() if kind in one.stands_in_for)]


def is_primary(kind: str | None, what: str, known: Collection[str]) -> bool:
    """Returns whether a figure is among those that users of a kind of application feel first.

    So is one that stands in for them, if the very first is not among those `known` of the application.

    `kind` is None for an application without a kind. Raises `KeyError` for an unknown figure.
    """
    one = find("application", what)
    if kind is None:
        return "application" in one.tables
    return _engine.is_felt_first(table(), kind, one, list(known))


def figures_in_order(figures: Iterable[tuple[str, str]], kinds: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns figures (group, name of the quantity) by group, the first ones of each kind before the rest.

    Groups stay in the order in which they first appear; repeated figures stand once. Raises `KeyError` for
    an unknown quantity.
    """
    keys = list(dict.fromkeys(figures))
    groups = list(dict.fromkeys(group for group, _ in keys))
    names = [one.name for one in list_of_subject("application")]

    def place(key: tuple[str, str]) -> tuple[int, bool, int]:
        """Returns the sort key of a figure: its group, whether it is felt first, its quantity's position."""
        group, what = key
        known = [name for own, name in keys if own == group]
        return groups.index(group), not is_primary(kinds.get(group), what, known), names.index(what)

    return sorted(keys, key=place)


def find(subject: Subject, name: str) -> Quantity:
    """Returns a quantity by its column's name; raises `KeyError` for an unknown one."""
    if (subject, name) not in _index_by_name():
        raise KeyError(f"no quantity of a {subject} is called {name}")
    return _index_by_name()[subject, name]


def name_ends(name: str) -> tuple[str, str]:
    """Returns the names of the columns with the ends of a quantity's interval, the same for all subjects.

    Raises `KeyError` for an unknown quantity.
    """
    if name not in _index_ends():
        raise KeyError(f"no quantity is called {name}")
    return _index_ends()[name]


@dataclass(frozen=True)
class Measure:
    """A column of numbers that a run gives: a quantity, of a class of transfers if it is one of buckets.

    A quantity of applications is that of all applications of a kind.
    """

    quantity: Quantity
    role: ClassName | None = None
    kind: KindName | None = None

    @property
    def name(self) -> str:
        """Returns the column's name, such as `short_response_p95_s`."""
        whose = self.role or self.kind
        return f"{whose}_{self.quantity.name}" if whose else self.quantity.name

    @property
    def description(self) -> str:
        """Returns the measure as text, such as `mean response time of short transfers`."""
        if self.kind:
            return f"{self.quantity.long}, {KIND_TEXTS[self.kind]}"
        return self.quantity.describe(f"{self.role} transfers") if self.role else self.quantity.long

    @property
    def asked_as(self) -> str | None:
        """Returns the name that `tune` has for it, such as `short p95`; None if it cannot be asked for."""
        word = self.quantity.measure
        whose = self.role or (self.kind and KIND_TEXTS[self.kind])
        return word if word is None or whose is None else f"{whose} {word}"


def measures() -> list[Measure]:
    """Returns the measures of a run in the order of a sweep's columns."""
    of_buckets = [Measure(one, role) for role in CLASSES for one in list_of_subject("bucket")]
    of_kinds = [Measure(one, kind=kind) for kind in KINDS for one in list_felt(kind)]
    of_runs = [Measure(one) for one in list_of_subject("run")]
    return [*of_buckets, *(Measure(one) for one in list_of_subject("scheme")), *of_kinds, *of_runs]


def counts() -> list[Measure]:
    """Returns the numbers of transfers by class in the order of a sweep's columns."""
    return [Measure(one, role) for role in CLASSES for one in list_of_subject("count")]


def find_measure(name: str) -> Measure:
    """Returns a measure or a count by its column's name; raises `KeyError` for an unknown one."""
    found = next((one for one in (*counts(), *measures()) if one.name == name), None)
    if found is None:
        raise KeyError(f"no measure is called {name}")
    return found


@cache
def _list_all() -> Sequence[Quantity]:
    """Returns the quantities of the engine, then those added here."""
    return [*_engine.quantities(), *_added]


@cache
def _index_by_name() -> dict[tuple[str, str], Quantity]:
    """Returns the quantities by subject and name."""
    return {(one.subject, one.name): one for one in _list_all()}


@cache
def _index_ends() -> dict[str, tuple[str, str]]:
    """Returns the names of the columns with the ends of an interval, by the quantity's name."""
    return {one.name: one.ends for one in _list_all()}


def _clear_caches() -> None:
    """Drops the cached table and its indices, after the table has changed."""
    for cached in (_list_all, _index_by_name, _index_ends):
        cached.cache_clear()
