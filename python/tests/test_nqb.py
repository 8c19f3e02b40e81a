"""The code point of flows that build no queue (NQB): who carries it, and which queue reads it."""

import mousehole
import pytest
from mousehole import _engine

CALL = {"packets": 500, "bytes": 100_000}


def delay_p95_s(flow_class: str, scheme: str, *, nqb: bool) -> float:
    """Returns the greater 95th percentile of one-way delay, in s, of a flow next to eight downloads."""
    flow = {"start_s": 0.0, "duration_s": 10.0, "flow_class": flow_class, "datagrams": CALL}
    scenario = {
        "schema": "mousehole.scenario/1", "warmup": "2s", "duration": "8s", "tcp": {"profile": "linux"},
        "link": {"rate": "20mbit", "rtt": "20ms", "buffer": "500p"}, "scheme": scheme,
        "traffic": {"connections": [flow], "bulk": {"flows": 8}, "nqb": nqb},
    }  # fmt: skip
    columns = _engine.run(scenario, None, _engine.Cancel()).datagrams()
    return float(max(columns["delay_p95_s"]))


@pytest.mark.parametrize("flow_class", ["call", "game", "video-call"])
def test_nqb__recorded_flows_in_real_time_carry_it(flow_class: str) -> None:
    assert delay_p95_s(flow_class, "dualpi2", nqb=True) < 0.013
    assert delay_p95_s(flow_class, "dualpi2", nqb=False) > 0.020


def test_nqb__other_flows_do_not_carry_it() -> None:
    with_mark, without = (delay_p95_s("vpn", "dualpi2", nqb=nqb) for nqb in (True, False))
    assert with_mark == without > 0.020


@pytest.mark.parametrize("scheme", ["dualpi2(nqb=false)", "droptail", "cake"])
def test_nqb__other_schemes_do_not_read_it(scheme: str) -> None:
    assert delay_p95_s("call", scheme, nqb=True) == delay_p95_s("call", scheme, nqb=False)


def test_nqb__is_an_option_of_a_comparison() -> None:
    changed = {}
    for nqb in (True, False):
        found = mousehole.compare(
            "voip", rate="2mbit", load=None, schemes="dualpi2", seeds=1, duration="2s", warmup="1s", nqb=nqb
        )
        changed[nqb] = found.results.manifest["scenario"]["traffic"].get("nqb")
    assert changed == {True: True, False: None}
