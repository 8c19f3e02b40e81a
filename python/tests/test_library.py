"""What programs and notebooks that use the package meet: quantities, keywords, and how results look."""

import datetime as dt
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import mousehole
import numpy as np
import pytest

QUICK: dict[str, Any] = {"load": 0.5, "schemes": "droptail", "seeds": 1}
RUN: dict[str, Any] = {
    "link": {"rate": 1e6, "rtt": 0.08, "buffer": 30_000}, "duration": 20, "warmup": dt.timedelta(seconds=1),
    "scheme": "droptail", "traffic": {"model": "poisson", "load": 0.5},
}  # fmt: skip


def test_results__read_well_and_can_be_pickled() -> None:
    found = mousehole.compare(
        [{"start_s": 0.1 * n, "client": n % 9, "server": 9, "bytes": 900 + n} for n in range(300)],
        rate="1mbit", buffer=["10p", "20p"], load=0.5, duration="4s", warmup="1s", seeds=2,
        schemes="droptail,sfd",
    )  # fmt: skip
    assert repr(found.plan.cells[0]) == "<Cell: buffer 10p, load 0.5>"
    first = found.finding_list[0]
    assert repr(first) == f"<Finding: {first.sentence} (buffer 10p, load 0.5)>"
    lines = repr(found).splitlines()[1:]
    assert [line.partition(": ")[0] for line in lines] == ["buffer 10p, load 0.5", "buffer 20p, load 0.5"]
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert again.to_json() == found.to_json()
    assert again.findings.equals(found.findings)
    assert len(found.transfers("sfd")) > 0
    with pytest.raises(mousehole.MouseholeError, match="the traffic is not kept here"):
        again.transfers("sfd")


def test_compare__numbers_are_bits_per_second_seconds_and_bytes() -> None:
    texts = mousehole.compare(
        "poisson", down="5mbit", rtt="50ms", buffer="64kB", up="1mbit",
        short="10kB", long="100kB", duration="3s", warmup="1s", **QUICK,
    )  # fmt: skip
    numbers = mousehole.compare(
        "poisson", down=5e6, rtt=np.float64(0.05), buffer=[64_000], up=1_000_000,
        short=10_000, long=1e5, duration=dt.timedelta(seconds=3), warmup=1, **QUICK,
    )  # fmt: skip
    assert numbers.buckets.drop("buffer").equals(texts.buckets.drop("buffer"))
    assert numbers.plan.buffers == ("64000B",)
    assert numbers.manifest["scenario"]["link"]["down"] == "5000000bit"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rate": True}, "rate: True is not allowed; it must be a number of bits per second"),
        ({"rate": float("nan")}, "rate: nan is not allowed"),
        ({"rate": 5e6, "rtt": [1]}, "rtt: "),
        ({"rate": 5e6, "duration": float("inf")}, "duration: inf is not allowed"),
        ({"rate": 5e6, "buffer": None, "short": dt.timedelta(1)}, "short: "),
        ({"rate": -5e6}, "rate: "),
    ],
)
def test_compare__quantities_that_are_none(options: dict[str, Any], words: str) -> None:
    with pytest.raises(mousehole.MouseholeError, match=words):
        mousehole.compare("poisson", **{**QUICK, **options})


def test_run__takes_numbers_in_a_scenario() -> None:
    done = mousehole.run(RUN)
    assert (done.scenario["link"]["down"], done.scenario["duration"]) == ("1000000bit", "20s")
    link = {"rate": "1mbit", "rtt": "80ms", "buffer": "30kB"}
    same = mousehole.run({**RUN, "link": link, "duration": "20s", "warmup": "1s"})
    assert same.transfers.equals(done.transfers)
    with pytest.raises(mousehole.MouseholeError, match=r"link\.rate: inf is not allowed"):
        mousehole.run({**RUN, "link": {"rate": float("inf")}})


@pytest.mark.parametrize(
    ("call", "first", "typed", "words"),
    [
        (mousehole.compare, "poisson", "lod", "compare() has no keyword lod; did you mean load?"),
        (mousehole.compare, "poisson", "qqqq", "compare() has no keyword qqqq; help(mousehole.compare)"),
        (mousehole.run, RUN, "sead", "run() has no keyword sead; did you mean seed?"),
        (mousehole.read, "x", "payloda", "read() has no keyword payloda; did you mean payload?"),
        (
            mousehole.compare,
            "poisson",
            "uplink",
            "no keyword uplink any more; give the rates of both directions",
        ),
        (mousehole.inspect, "x", "rat", "inspect() has no keyword rat; did you mean rate?"),
    ],
)
def test_unknown_keyword__is_a_type_error_with_a_suggestion(
    call: Any, first: Any, typed: str, words: str
) -> None:
    with pytest.raises(TypeError, match=re.escape(words)):
        call(first, **{typed: 1})


def test_params__of_models() -> None:
    sizes = mousehole.read("poisson", params={"cap_bytes": 5000})["bytes"]
    assert sizes.max() == 5000
    assert mousehole.inspect("poisson", params={"cap_bytes": 5000})["size_max_bytes"] == 5000
    done = mousehole.run(RUN, params={"cap_bytes": 4000})
    assert done.transfers["bytes"].max() == 4000
    with pytest.raises(mousehole.MouseholeError, match=r"params: .*it must be given with one model"):
        mousehole.read({"ts": [0], "client": [0], "bytes": [1]}, params={"cap_bytes": 5000})


def test_dir__shows_the_api_and_nothing_else() -> None:
    script = "import mousehole; print(*dir(mousehole))"
    shown = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    names = shown.stdout.split()
    assert names == sorted(mousehole.__all__)
    assert all(hasattr(mousehole, name) for name in names)


def test_import__is_light_until_something_is_used() -> None:
    script = (
        "import mousehole, sys; print('numpy' in sys.modules); mousehole.read; print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"]


def test_records__print_in_ten_lines() -> None:
    done = mousehole.run(RUN)
    text = repr(done)
    assert len(text.splitlines()) <= 10
    assert text.startswith(f"droptail: {done.transfers.height} transfers measured, ")
    assert "link down: 1 Mb/s" in text
    for count in (1, 2, 30):
        many = repr(replace(done, queues=done.queues * count))
        assert len(many.splitlines()) <= 10
    assert many.endswith("lines more")


def test_notebooks__show_results_and_traffic_as_the_command_prints_them() -> None:
    found = mousehole.compare("poisson", rate="5mbit", duration="3s", warmup="1s", **QUICK)
    shown: dict[str, Any] = {
        "droptail": found,
        "transfers measured": mousehole.run(RUN),
        "transfer size": mousehole.inspect("poisson"),
        "<table": mousehole.read("poisson"),
    }
    for words, value in shown.items():
        html = value._repr_html_()
        assert words in html
        assert "\x1b" not in html


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mousehole.run(None), 'scenario: "None"'),
        (lambda: mousehole.run({"link": {}, 3: 4}), "a dictionary of values by name"),
        (lambda: mousehole.load(None), 'path: "None"'),
        (lambda: mousehole.Sweep(3), 'folder: "3"'),
        (lambda: mousehole.sweep(None, "found"), 'source: "None"'),
        (lambda: mousehole.sweep({}, None), 'folder: "None"'),
        (lambda: mousehole.tune("web:sfd", rate="1mbit", schemes=[3]), "schemes: "),
        (lambda: mousehole.policy.new(None), 'name: "None"'),
        (lambda: mousehole.policy.check(3), 'target: "3"'),
        (lambda: mousehole.policy.check("sfd", kernel="no"), "kernel: "),
        (lambda: mousehole.compare_days(3, rate="1mbit"), 'days: "3"'),
        (lambda: mousehole.inspect("web:sfd", strict="no"), "strict: "),
        (lambda: mousehole.inspect("web:sfd", seed=-1), "seed: -1"),
        (lambda: mousehole.inspect("web:sfd", class_=3), 'class: "3"'),
        (lambda: mousehole.inspect("web:sfd", params=3), 'params: "3"'),
    ],
)
def test_arguments__of_another_type_are_refused_in_one_sentence(call: Any, words: str) -> None:
    with pytest.raises(mousehole.MouseholeError) as refused:
        call()
    assert words in str(refused.value)
    assert "must be" in str(refused.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ecn": "false"}, 'ecn: "false" is not allowed; it must be True or False'),
        ({"strict": 1}, "strict: "),
        ({"rate": 10**400}, "rate: "),
        ({"load": 10**400}, "load: "),
        ({"duration": float("inf")}, "duration: "),
        ({"params": [1]}, "params: "),
        ({"qoo": 3}, "qoo: "),
        ({"class_": b"x"}, "class: "),
        ({"apps": 3}, "apps: "),
        ({"dask": 3}, "dask: "),
        ({"reporter": 3}, "reporter: "),
        ({"baseline": 3}, 'baseline: "3" is not allowed; it must be a text'),
        ({"at": ["down"]}, "at: "),
        ({"jobs": 10**400}, "jobs: "),
    ],
)
def test_options__of_another_type_are_refused_in_one_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises(mousehole.MouseholeError) as refused:
        mousehole.compare("web:sfd", **{"rate": "1mbit", **options})
    assert str(refused.value).startswith(words)


def test_save__needs_the_name_of_a_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = mousehole.compare("poisson", rate="1mbit", duration="1s", warmup="0s", **QUICK)
    with pytest.raises(mousehole.MouseholeError, match=r'^path: "None"'):
        found.save(None)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
