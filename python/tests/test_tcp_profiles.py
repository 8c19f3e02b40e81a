"""Which TCP the hosts of a comparison have: Linux's by default, or shares of several."""

import mousehole
import pytest
from mousehole import MouseholeError
from mousehole.engine_types import JsonValue
from mousehole.scenario import make_default


def read_manifest_tcp(tcp: str | None) -> dict[str, JsonValue]:
    """Returns the TCP parameters in the manifest of a comparison with this profile."""
    done = mousehole.compare(
        "poisson", rate="2mbit", load=0.3, duration="5s", warmup="1s", seeds=2, schemes="droptail", tcp=tcp
    )
    return done.manifest["tcp"]


def test_default__is_linux() -> None:
    assert make_default()["tcp"] == {"profile": "linux"}
    parameters = read_manifest_tcp(None)
    assert parameters["congestion"] == "cubic"
    assert parameters["hystart"] is True
    assert parameters["timer_tick_ns"] == 4_000_000


def test_shares__are_in_the_manifest_by_profile() -> None:
    parameters = read_manifest_tcp("linux:0.5,bbr:0.3,rfc:0.2")
    assert set(parameters) == {"linux", "bbr", "rfc"}
    bbr = parameters["bbr"]
    assert isinstance(bbr, dict)
    assert (bbr["share"], bbr["congestion"], bbr["min_rto_ns"]) == (0.3, "bbr", 200_000_000)


def test_shares__that_do_not_sum_to_1_are_refused() -> None:
    with pytest.raises(MouseholeError, match=r"sum to 1; these sum to 0\.9"):
        read_manifest_tcp("linux:0.6,bbr:0.3")
