"""What is said where round trips take longer than CoDel expects."""

import mousehole
import pytest


def find_remarks(rtt: str, schemes: str) -> list[str]:
    """Returns the remarks on CoDel's interval for a round-trip time."""
    found = mousehole.compare(
        "poisson", rate="2mbit", rtt=rtt, load=0.5, schemes=schemes, duration="5s", warmup="2s", seeds=2
    )
    return [note for note in found.notes(found.plan.cells[0]) if "CoDel's interval" in note]


def test_long_round_trip__names_the_setting_that_fits() -> None:
    (note,) = find_remarks("600ms", "droptail,fq-codel,cake(rtt=1s),excess|cake(tins=bulk)")
    assert "interval is 100ms where round trips take 600ms" in note
    assert note.endswith("compare fq-codel(interval=600ms), excess|cake(tins=bulk) with cake.rtt=600ms.")


@pytest.mark.parametrize("schemes", ["droptail,fq-codel(interval=600ms),cake(rtt=300ms)", "droptail,red"])
def test_long_round_trip__of_fitting_settings_is_no_news(schemes: str) -> None:
    assert find_remarks("600ms", schemes) == []


def test_usual_round_trip__is_no_news() -> None:
    assert find_remarks("200ms", "droptail,fq-codel,cake") == []
