"""SHRED's cases: the network under one mix of Web and FTP, from the data beside this file."""

from dataclasses import dataclass
from pathlib import Path

from papers.common import Data, Json, merged

DATA = Data(Path(__file__).parent)
SCHEMES = ("DT", "RED", "SHRED")
STABLE = {"warmup": "20s", "duration": "140s"}
"""With FTP flows, measurements begin after 20 of the 160 s (section 4.3)."""


@dataclass(frozen=True, order=True)
class Cell:
    """A mix: load of the Web in object bytes, FTP flows, most objects per page; load 0 is FTP alone."""

    objects: int
    ftp: int
    load: float


def base() -> Json:
    """Returns the scenario that all cases start from."""
    return DATA.scenario("dumbbell")


def schemes() -> dict[str, str]:
    """Returns the paper's three schemes, by name."""
    return dict(DATA.variants()["scheme"])


def cells(grid: Json) -> list[Cell]:
    """Returns all cells of a figure's grid."""
    return [Cell(o, f, w) for o in grid["objects"] for f in grid["ftp"] for w in grid["load"]]


def case(scenario: Json, cell: Cell, scheme: str) -> Json:
    """Returns the scenario of one mix under one scheme."""
    traffic: Json = {}
    if cell.load:
        params = {"objects_max": cell.objects}
        traffic = {"model": "web:shred", "load": cell.load, "params": params}
    if cell.ftp:
        traffic["bulk"] = {"flows": cell.ftp, "start_spread_s": 2.0}
    return merged({**scenario, "traffic": traffic}, {"scheme": scheme, **(STABLE if cell.ftp else {})})
