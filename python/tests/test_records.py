"""The records of single runs: what adaptive schemes noted."""

import mousehole

SCENARIO = {
    "schema": "mousehole.scenario/1",
    "warmup": "5s",
    "duration": "60s",
    "link": {"rate": "3mbit", "buffer": "60p"},
    "traffic": {"model": "web:sfd", "load": 0.9},
}


def test_series__rio_ps_moves_its_threshold_by_one_every_t_c() -> None:
    series = mousehole.run({**SCENARIO, "scheme": "rio-ps(t_c=2s,l_t=7)"}).series
    threshold = series.filter(series["name"] == "threshold_packets")
    assert threshold["value"][0] == 7
    assert set(threshold["value"].diff().abs().drop_nulls()) <= {0.0, 1.0}
    assert set(threshold["time_s"].diff().drop_nulls().round(6)) == {2.0}
    assert set(threshold["link"]) == {"down"}


def test_series__adaptive_red_stays_within_its_range() -> None:
    series = mousehole.run({**SCENARIO, "scheme": "ared"}).series
    steps = series.filter(series["name"] == "max_p")["value"]
    assert len(steps) > 1
    # A step begins within 0.01 to 0.5 and may end a step beyond.
    assert steps.is_between(0.009, 0.51).all()


def test_series__plain_schemes_note_nothing() -> None:
    assert mousehole.run({**SCENARIO, "scheme": "sfd"}).series.is_empty()
