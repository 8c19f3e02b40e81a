"""Both directions of the link, named by what they are: `--down`, `--up`, `--at` and `--payload`."""

import subprocess
import sys
from pathlib import Path

import mousehole
import pytest
from mousehole import MouseholeError
from mousehole.answer import find_link, notes
from mousehole.answer._install import find_installation
from mousehole.scenario import bottleneck

SMALL = {
    "duration": "8s",
    "warmup": "2s",
    "seeds": 2,
    "schemes": "droptail,fq-codel",
    "rtt": "40ms",
    "buffer": "200p",
}
CALLS = """
duration = "20s"
warmup = "5s"
[link]
{rates}
rtt = "40ms"
buffer = "200p"
[[traffic.mix]]
name = "calls"
model = "voip"
params = {{ calls = 2 }}
[[traffic.mix]]
name = "files"
model = "ftp"
payload = "{payload}"
params = {{ users = 2, endless = true }}
"""


def run_command(*words: str) -> tuple[int, str]:
    """Runs the command line; returns its status and standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "mousehole", *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr.strip()


def compare_calls(folder: Path, rates: str, payload: str, **options: object) -> mousehole.Comparison:
    """Returns the comparison on two calls next to two transfers without end in direction `payload`."""
    path = folder / f"{payload}.toml"
    path.write_text(CALLS.format(rates=rates, payload=payload), encoding="utf-8")
    return mousehole.compare(str(path), schemes="droptail,fq-codel", seeds=2, **options)


def find_delay_p95(done: mousehole.Comparison, scheme: str) -> float:
    """Returns the 95th percentile of the calls' one-way delay under a scheme, in seconds."""
    rows = done.groups.filter(done.groups["scheme"] == scheme)
    found = rows.filter((rows["group"] == "calls") & rows["what"].str.contains("delay"))
    return float(found["value"][0])


@pytest.mark.parametrize(
    ("rates", "payload"), [('down = "20mbit"\nup = "1mbit"', "up"), ('down = "1mbit"\nup = "20mbit"', "down")]
)
def test_calls__are_relieved_whichever_direction_is_full(tmp_path: Path, rates: str, payload: str) -> None:
    done = compare_calls(tmp_path, rates, payload)
    assert done.manifest["scenario"]["at"] == "both"
    assert find_delay_p95(done, "droptail") > 0.5
    assert find_delay_p95(done, "fq-codel") < 0.05
    said = " ".join(notes.cell_notes(done.results, done.plan.cells[0]))
    assert "hardly loaded" not in said
    assert ("The up direction is the busier one" in said) == (payload == "up")


def test_at__the_scheme_is_only_where_it_is_asked_for(tmp_path: Path) -> None:
    rates = 'down = "20mbit"\nup = "1mbit"'
    assert find_delay_p95(compare_calls(tmp_path, rates, "up", at="down"), "fq-codel") > 0.5
    assert find_delay_p95(compare_calls(tmp_path, rates, "up", at="up"), "fq-codel") < 0.05


def test_payload__uploads_are_the_mirror_of_downloads() -> None:
    down = mousehole.compare("poisson", down="2mbit", up="20mbit", load=0.7, **SMALL)
    up = mousehole.compare("poisson", down="20mbit", up="2mbit", load=0.7, payload="up", **SMALL)
    mean = [float(one.buckets["response_mean_s"][0]) for one in (down, up)]
    assert mean[0] == pytest.approx(mean[1], rel=0.25)
    used = [float(one.schemes["utilisation"][0]) for one in (down, up)]
    assert used[0] == pytest.approx(used[1], rel=0.1)
    assert up.schemes["uplink_utilisation"][0] < 0.1


def test_payload__of_a_table_goes_up_over_the_upload_rate(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "".join(f"{n * 0.11},{n % 5},1000,{4000 if n % 2 else 40000}\n" for n in range(240))
    path.write_text(f"start_s,client,bytes_down,bytes_up\n{rows}", encoding="utf-8")
    done = mousehole.compare(str(path), down="20mbit", up="4mbit", payload="up", **SMALL)
    assert done.traffic_summary is not None
    # 22 kB every 0.11 s are 1.6 Mb/s of payload, of an upload rate of 4 Mb/s.
    assert done.traffic_summary["native_load"] == pytest.approx(0.42, abs=0.04)
    assert done.transfers("droptail")["upload"].all()


def test_rate__is_both_directions_with_the_scheme_on_the_download_link() -> None:
    done = mousehole.compare("poisson", rate="5mbit", load=0.8, **SMALL)
    link = done.manifest["scenario"]["link"]
    assert (link["down"], link["up"], link["up_buffer"]) == ("5mbit", "5mbit", "1000p")
    assert done.manifest["scenario"]["at"] == "down"
    same = mousehole.compare("poisson", down="5mbit", load=0.8, **SMALL)
    assert same.buckets.equals(done.buckets)
    assert bottleneck.describe(done.manifest["scenario"]) == "5mbit, 40ms RTT"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rate": "5mbit", "down": "5mbit"}, 'rate: "5mbit" cannot be combined with down'),
        ({"rate": "5mbit", "up": "5mbit"}, 'rate: "5mbit" cannot be combined with up'),
        ({"up": "1mbit"}, "down: "),
        ({}, "down: "),
        ({"down": "0mbit", "up": "1mbit"}, 'link.down: "0mbit" is not allowed'),
        ({"down": "none.trace"}, 'link.down: "none.trace" cannot be read'),
        ({"down": "20mbit", "up": "1mbit", "at": "here"}, 'at: "here" is not allowed'),
        ({"down": "20mbit", "payload": "both"}, 'payload: "both" cannot be combined with model poisson'),
    ],
)
def test_options__bad_input(options: dict[str, str], words: str) -> None:
    with pytest.raises(MouseholeError) as fault:
        mousehole.compare("poisson", load=0.5, **{**SMALL, **options})
    assert words in str(fault.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--rate", "20mbit", "--uplink", "1mbit"],
            "--uplink was replaced; give the rates of both directions",
        ),
        (["--down", "20mbit", "--uplink-buffer", "9p"], "--uplink-buffer was replaced; give the rates"),
        (["--rate", "20mbit", "--direction", "up"], "--direction was replaced; give --payload up"),
        (["--rate", "20mbit", "--down", "1mbit"], '--rate: "20mbit" cannot be combined with --down'),
        (["--up", "1mbit"], "--down: give a rate together with --up"),
    ],
)
def test_command__replaced_and_contradictory_options_say_what_to_write(
    options: list[str], words: str
) -> None:
    status, said = run_command("compare", "poisson", "--load", "0.5", *options)
    assert status == 2
    assert words in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ("both_directions = true", 'both_directions was replaced; write at = "both"'),
        ('[link]\nrate = "20mbit"\nuplink_rate = "1mbit"', "uplink_rate was replaced; write down and up"),
        ('[link]\nrate_trace = "a.trace"', "rate_trace was replaced; write the file's name as down"),
        ('[traffic]\nmodel = "ftp"\ndirection = "up"', "direction was replaced; write payload"),
        (
            "[[traffic.connections]]\nstart_s = 0\nupload = true\nwrites = [{bytes = 9}]",
            "upload was replaced",
        ),
        ('[traffic]\nmodel = "poisson"\n[traffic.params]\nupload = true', '"upload" was replaced'),
    ],
)
def test_scenario__old_fields_say_what_to_write(tmp_path: Path, old: str, words: str) -> None:
    path = tmp_path / "old.toml"
    path.write_text(f"{old}\n", encoding="utf-8")
    with pytest.raises(MouseholeError) as fault:
        mousehole.run(str(path))
    assert words in str(fault.value)


def test_trace__as_a_direction(tmp_path: Path) -> None:
    (tmp_path / "lte.trace").write_text("1\n2\n10\n", encoding="utf-8")  # 3.6 Mb/s
    (tmp_path / "empty.trace").write_text("# nothing\n", encoding="utf-8")
    (tmp_path / "dark.trace").write_text("0 0\n5 0\n", encoding="utf-8")
    done = mousehole.compare("poisson", down=str(tmp_path / "lte.trace"), up="1mbit", load=0.6, **SMALL)
    assert done.schemes["utilisation"][0] == pytest.approx(0.6, abs=0.3)
    assert "lte.trace down, 1mbit up" in bottleneck.describe(done.manifest["scenario"])
    for name, words in {"empty": "at least one line", "dark": "dark.trace"}.items():
        with pytest.raises(MouseholeError, match=words):
            mousehole.compare("poisson", down=str(tmp_path / f"{name}.trace"), up="1mbit", load=0.6, **SMALL)


def test_install__has_lines_for_both_directions_and_none_for_a_rate_that_varies(tmp_path: Path) -> None:
    five = {**SMALL, "seeds": 5}
    done = mousehole.compare("poisson", down="20mbit", up="1mbit", load=0.9, payload="up", **five)
    link = find_link(done.manifest["scenario"], "200p")
    assert link is not None
    assert link.other is not None
    assert (link.rate_bps, link.is_upload, link.other.rate_bps) == (1_000_000, True, 20_000_000)
    way = find_installation("fq-codel", link)
    assert way is not None
    rates = [line.split(" tbf rate ")[1].split()[0] for line in way.lines if " tbf rate " in line]
    assert (way.lines[0].startswith("# download"), rates) == (True, ["20mbit", "1mbit"])
    (tmp_path / "lte.trace").write_text("1\n2\n10\n", encoding="utf-8")
    done = mousehole.compare("poisson", down=str(tmp_path / "lte.trace"), up="1mbit", load=0.6, **SMALL)
    assert find_link(done.manifest["scenario"], "200p") is None
