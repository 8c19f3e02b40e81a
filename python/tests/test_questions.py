"""What people ask, each as one command, and the first lines of what it says."""

import io
from pathlib import Path

import mousehole
import pytest
from mousehole.document import print_document
from rich.console import Console

SCHEMES = "droptail,fq-codel,cake"
SHORT = {"schemes": SCHEMES, "duration": "6s", "warmup": "4s", "seeds": 2}
"""A few seconds, so that a question takes a second: the form of an answer is looked at, not its numbers."""


def list_lines(traffic: object, **options: object) -> list[str]:
    """Returns the lines of the report with details, without empty ones."""
    results = mousehole.compare(traffic, **{**SHORT, **options})  # type: ignore[arg-type]
    console = Console(record=True, width=300, file=io.StringIO())
    print_document(console, results.document(), details=True)
    return [line.strip() for line in console.export_text().splitlines() if line.strip()]


@pytest.fixture
def cellular(tmp_path: Path) -> Path:
    """The file of a varying rate in mahimahi's format: times in ms at which a packet may leave."""
    path = tmp_path / "lte.down"
    path.write_text("\n".join(str(at) for at in range(12_000) if at % (2 + at // 1000 % 4) == 0))
    return path


@pytest.mark.parametrize(
    ("traffic", "options", "first", "told"),
    [
        pytest.param("home", {"users": 30, "down": "20mbit", "up": "1mbit"},
                     "home, 30 users over 20mbit down, 1mbit up, 80ms RTT", "Pages: mean page time",
                     id="30 users on DSL: FQ-CoDel or CAKE?"),
        pytest.param((), {"users": 2, "apps": "calls:1,downloads:0.5,uploads:0.5",
                          "down": "20mbit", "up": "1mbit"},
                     "2 users over 20mbit down, 1mbit up, 80ms RTT", "Calls: one-way delay, p95",
                     id="the call stutters while somebody downloads or uploads"),
        pytest.param("home", {"down": "20mbit", "up": "5mbit", "rtt": "600ms"},
                     "home, 4 users over 20mbit down, 5mbit up, 600ms RTT", "fq-codel(interval=600ms)",
                     id="a satellite"),
        pytest.param((), {"users": 5, "apps": "calls:0.4,uploads:1", "down": "20mbit", "up": "2mbit"},
                     "5 users over 20mbit down, 2mbit up, 80ms RTT", "The up direction is the busier one",
                     id="uploads"),
        pytest.param("campus", {"users": 100, "down": "200mbit", "up": "200mbit", "buffer": "1bdp",
                                "duration": "2s", "warmup": "1s"},
                     "campus, 100 users over 200mbit, 80ms RTT", "Games: one-way delay, p95",
                     id="many users on a fast line"),
    ],
)  # fmt: skip
def test_question__is_answered_in_its_words(
    traffic: object, options: dict[str, object], first: str, told: str
) -> None:
    said = list_lines(traffic, **options)
    assert said[0] == first
    assert said[1].startswith("No verdict: 2 replications")
    assert any(told in line for line in said)


def test_question__which_buffer_names_the_best_cell() -> None:
    said = list_lines("village", users=20, down="50mbit", up="10mbit", buffer="50p,200p,1000p")
    assert said[0] == "village, 20 users over 50mbit down, 10mbit up, 80ms RTT"
    assert said[1] == "No verdict in 3 of 3 cells: buffer 50p, 200p, 1000p."
    (smallest,) = [line for line in said if line.startswith("Smallest:")][:1]
    assert "All percentages are against one cell, droptail with buffer 50p." in smallest


def test_question__on_a_cellular_line_has_its_file(cellular: Path) -> None:
    said = list_lines("home", down=str(cellular), up="5mbit")
    assert said[0] == "home, 4 users over lte.down down, 5mbit up, 80ms RTT"
    assert any(line.startswith("Calls: one-way delay, p95") for line in said)
    assert not any("tbf rate" in line for line in said), "no fixed rate for a line whose rate varies"


def test_question__of_responsiveness_alone_wants_more_round_trips() -> None:
    options = {"down": "5mbit", "up": "1mbit", "duration": "10s", "seeds": 5}
    said = list_lines((), users=2, apps="responsiveness", **options)
    assert said[1].startswith(("Best for responsiveness", "Recommended for responsiveness")), said[1]
    assert "Nothing here beats" not in " ".join(said)


def test_question__about_what_nobody_waits_for_has_no_verdict() -> None:
    said = list_lines((), users=3, apps="dns", down="5mbit", up="1mbit", seeds=5)
    assert (
        said[1]
        == "No verdict: no replication had transfers ≤ 15 kB, or another class whose users feel a queue."
    )
    assert not any("comes nearest" in line for line in said)
