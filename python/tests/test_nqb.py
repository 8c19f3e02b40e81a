"""The code point of flows that build no queue (NQB): who carries it, and which queue reads it."""

from pathlib import Path

import mousehole
import pytest
from mousehole import _engine
from mousehole.base import console_reporter

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


@pytest.mark.parametrize("traffic", ["web:sfd", "poisson"])
def test_nqb__is_refused_where_nothing_can_be_marked(traffic: str) -> None:
    with pytest.raises(mousehole.MouseholeError, match=r"nqb: true cannot be .* without calls"):
        mousehole.compare(traffic, rate="2mbit", load=0.5, duration="1s", seeds=1, nqb=True)


def test_nqb__a_log_without_calls_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{n / 9},a{n % 3},{900 + n}\n" for n in range(200))
    (tmp_path / "a.csv").write_text("start,client,bytes\n" + rows)
    mousehole.compare(
        tmp_path / "a.csv", rate="2mbit", load=0.5, duration="1s", warmup="0s", seeds=1, nqb=True,
        schemes="droptail", reporter=console_reporter(),
    )  # fmt: skip
    assert "a.csv has no calls, games or video calls, so --nqb marks nothing" in capsys.readouterr().err
