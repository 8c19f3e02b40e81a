import doctest
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import mousehole
import polars as pl
import pytest
from mousehole.base import Options, command_line_options
from mousehole.base.cli_options import make_flag
from mousehole.commands.cli import main
from mousehole.runs import list_all_schemes, parse_schemes
from support import MODULE, SMALL_ARGUMENTS

ROOT = Path(__file__).resolve().parents[2]

LOADED = ["--rate", "10mbit"]

BAD_OPTIONS = [
    (["--rate", "-3mbit"], "--rate", "rate"),
    (["--rate", "10"], "--rate", "unit"),
    (["--rate", "10mbitt"], "--rate", 'did you mean "mbit"?'),
    (["--rate", "10\x1b[31m\nmbit"], "--rate", r"\u{1b}[31m\nmbit"),
    ([*LOADED, "--load", "0.5\x1b[31m\r"], "--load", "number"),
    ([*LOADED, "--schemes", "s\tf\x07d"], "--schemes", "the schemes are"),
    ([*LOADED, "--rtt", "80"], "--rtt", "unit"),
    ([*LOADED, "--buffer", "0p"], "--buffer", "packet"),
    ([*LOADED, "--buffer", "0"], "--buffer", "bdp"),
    ([*LOADED, "--buffer", "50p,50p"], "--buffer", "twice"),
    ([*LOADED, "--load", "0"], "--load", "above 0 and at most 2"),
    ([*LOADED, "--load", "20"], "--load", "above 0 and at most 2"),
    ([*LOADED, "--load", "0.5,x"], "--load", "number"),
    ([*LOADED, "--seeds", "0"], "--seeds", "at least 1"),
    ([*LOADED, "--jobs", "0"], "--jobs", "at least 1"),
    ([*LOADED, "--schemes", "droptail,spd"], "--schemes: ", 'did you mean "sfd"?'),
    (
        [*LOADED, "--schemes", "sfd(thh=15kB)"],
        '--schemes sfd: there is no parameter "thh"',
        'did you mean "th"?',
    ),
    ([*LOADED, "--schemes", "red,,sfd"], "--schemes", "empty"),
    ([*LOADED, "--schemes", "red,red"], "--schemes", "twice"),
    ([*LOADED, "--baseline", "dropptail"], "--baseline: ", 'did you mean "droptail"?'),
    ([*LOADED, "--duration", "0s"], "duration", ""),
    ([*LOADED, "--duration", "long"], "--duration", "time"),
    ([*LOADED, "--short", "3zB"], "--short", "size"),
    ([*LOADED, "--short", "200kB"], "--long", "at least"),
    ([*LOADED, "--payload", "sideways"], "--payload", "down"),
    ([*LOADED, "--at", "here"], "--at", "one of down, up, both"),
    ([*LOADED, "--replay", "half"], "--replay", "open or closed"),
    ([*LOADED, "--replay", "closed"], "--replay", "0 of 3"),
    ([*LOADED, "--tcp", "rcf"], "--tcp", "did you mean"),
    ([*LOADED, "--plot", "plot.gif"], "--plot", ".png, .svg or .pdf"),
    ([*LOADED, "--json", "nowhere/a.json"], "--json", "does not exist"),
    ([*LOADED, "--json", "same.png", "--plot", "same.png"], "--plot", "--json"),
    ([*LOADED, "--save-scenario", "."], "--save-scenario", "directory"),
]


def find_refusal(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> str:
    """Runs the command line in this process; asserts one line and status 2, and returns the line."""
    monkeypatch.setattr(sys, "argv", ["mousehole", *arguments])
    monkeypatch.setattr("os._exit", sys.exit)
    with pytest.raises(SystemExit) as leaving:
        main()
    out, err = capsys.readouterr()
    assert leaving.value.code == 2, err
    assert out == ""
    lines = [line for line in err.splitlines() if not line.startswith("warning:")]
    assert len(lines) == 1, err
    assert lines[0].isprintable(), "a control character reaches the terminal"
    assert lines[0].startswith("mousehole: error: ")
    return lines[0]


@pytest.mark.parametrize(("options", "field", "allowed"), BAD_OPTIONS)
def test_compare__bad_option(
    options: list[str], field: str, allowed: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "in.csv"
    source.write_text("start_s,client,bytes\n0,a,5000\n1,b,9000\n2,c,700\n")
    outputs = [] if "--json" in options else ["--json", "out.json"]
    message = find_refusal(["compare", "in.csv", *options, *outputs], capsys, monkeypatch)
    assert field in message
    assert allowed in message
    assert list(tmp_path.iterdir()) == [source]


BAD_FILES = {
    "missing": (None, "in.log"),
    "empty": (b"", "empty"),
    "unknown": (bytes(range(256)) * 40, "in.log"),
    "cut short": (gzip.compress(b"start_s,client,bytes\n" + b"1,a,5000\n" * 2000)[:-20], "in.log"),
    "nothing usable": (b"start_s,client,bytes\n1,a,0\n2,b,0\n", "in.log"),
    "mostly garbage": (b"start_s,client,bytes\n1,a,x\n2,b,-5\n3,c,5000\n", "in.log:2"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_compare__bad_file(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    content, named = BAD_FILES[name]
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("in.log").write_bytes(content)
    message = find_refusal(["compare", "in.log", *LOADED, "--json", "out.json"], capsys, monkeypatch)
    assert named in message
    assert not Path("out.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "web:sdf", *LOADED], 'did you mean "web:sfd"?'),
        (["compare", "web:sfd", "in.csv", *LOADED], "a model stands alone"),
        (["run", "none.toml"], "none.toml: cannot read the scenario"),
        (["run", "none.toml", "--records", "out.txt"], ".parquet or .csv"),
        (["inspect", "none.pcap"], "none.pcap"),
        (["paper", "sfd", "table"], "table: which one? mousehole paper list says"),
        (["paper", "sfd", "tabel", "4"], 'there is no item "tabel"'),
        (["paper", "sfd", "claims", "4"], 'claims: "4" is too much'),
        (["paper", "sfd", "--reading", "x"], 'there is no reading "x"'),
        (["paper", "sfd", "--tried"], "--tried: only together with claim ID or section N"),
        (["paper", "sfd", "table", "4", "--readings"], "--readings: only with claims"),
        (["paper", "sfd", "claim", "S4", "--html", "x"], "claim: not together with --html"),
        (["paper", "sfd", "--all"], "--all: not together with a paper"),
        (["paper", "sfd", "--papers", "nowhere"], "--papers: nowhere: no folder in it has a paper.toml"),
        (["paper", "new"], "new: give one name"),
        (["paper", "new", "A b"], "a name has small letters"),
        (["paper", "xyz"], 'paper: there is no paper "xyz"'),
        (
            ["paper", "list", "table", "4"],
            'list: "table" is too much; the list of papers takes no options; name a paper',
        ),
        (["paper", "list", "--all"], "--all: the list of papers takes no options"),
        (["paper", "--html", "report"], "--html: the list of papers takes no options"),
        (["paper", "list", "--seeds", "2"], "--seeds: the list of papers takes no options"),
        (["paper", "side-by-side", "claims"], "paper side-by-side: it states no claims; there are table"),
        (["compare"], "Missing argument 'TRAFFIC'"),
        (["compare", "web:sfd", "--rate"], "--rate"),
        (["compare", "web:sfd", *LOADED, "--replay", "closed"], "traffic that has no files"),
        (["compare", "web:sfd", "--rat", "3mbit"], "No such option: --rat"),
        (
            ["compare", "web:sfd", *LOADED, "--seeds", "x"],
            '--seeds: "x" is not allowed; it must be a whole number',
        ),
        (["compare", "web:sfd", *LOADED, "--jobs", "1.5"], '--jobs: "1.5" is not allowed'),
        (["compare", "web:sfd", *LOADED, "--seed", "-1"], "--seed: -1 is not allowed"),
        (["compare", "web:sfd", *LOADED, "--overhead", "-1"], "--overhead: -1 is not allowed"),
        (
            ["compare", "web:sfd", *LOADED, "--buffer", "99999999999999p"],
            '--buffer: "99999999999999p" is too large; it must be from 1p to 1000000000p',
        ),
        (["compare", "web:sfd", *LOADED, "--overhead", "25MB"], "a whole number of bytes from 0 to 65535"),
        (
            ["compare", "web:sfd", *LOADED, "--link-layer", "docsys"],
            '--link-layer: there is no link layer "docsys"; the link layers are ethernet, docsis',
        ),
        (
            ["compare", "web:sfd", *LOADED, "--link-layer", "adsl", "--overhead", "0"],
            '--link-layer: "adsl" cannot be combined with --overhead; give one of them',
        ),
        (["compare", "web:sfd", *LOADED, "--plot", "x.xyz"], ".png, .svg or .pdf"),
        (["comparre"], "Did you mean 'compare'?"),
        (["inspect", "web:sfd", "--seed", "-1"], "--seed: -1"),
        (["run", "none.toml", "--replication", "-1"], "--replication: -1"),
        (["paper", "sfd", "--seeds", "0"], "--seeds: 0"),
        (["schemes", "a", "b"], "unexpected extra argument"),
        (["compare", "-", "-", *LOADED], 'traffic: "-" is given twice; it must be given at most once'),
        (["compare", "-", *LOADED], "standard input: the file is empty"),
        (
            ["compare", "web:rio-ps", *LOADED, "--param", "sesions=100"],
            '--param: there is no parameter "sesions"',
        ),
        (
            ["compare", "web:rio-ps", *LOADED, "--param", "sessions=100", "--param", "sessions=10"],
            '--param: "sessions" is given twice',
        ),
        (
            ["inspect", "web:sfd", "--param", "sessions"],
            '--param: "sessions" is not allowed; it must be NAME=VALUE',
        ),
        (["inspect", "web:sfd", "--param", "shape=0"], "--param shape: 0 is not allowed; it must be from "),
        (
            ["compare", "conn.log", *LOADED, "--param", "sessions=1"],
            '--param: "sessions=1" is not allowed; it must be given with',
        ),
        (["compare", "", *LOADED], 'traffic: "" is not allowed; it must be the name of a file'),
        (
            ["compare", "web:sfd", *LOADED, "--json", ""],
            '--json: "" is not allowed; it must be the name of a file',
        ),
        (
            ["compare", "web:sfd", *LOADED, "--json", "-", "--save-scenario", "-"],
            "cannot be combined with --json -",
        ),
        (["compare", "web:sfd", *LOADED, "--baseline", ""], '--baseline: there is no scheme ""'),
        (["compare", "web:sfd", *LOADED, "--seeds", "100000000"], "at most 1000000 runs"),
        (["inspect", "some.toml"], "some.toml: a scenario; inspect and read show traffic"),
        (["schemes", "--json", "/dev/full"], "cannot write /dev/full; No space left on device"),
    ],
)
def test_commands__bad_input(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert words in find_refusal(arguments, capsys, monkeypatch)


@pytest.mark.parametrize("command", ["inspect", "compare"])
def test_commands__files_that_are_none(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop.pcap").symlink_to("loop.pcap")
    Path("lost.pcap").symlink_to("nowhere.pcap")
    Path("folder").mkdir()
    Path("empty.pcap").touch()
    Path("cut.pcap").write_bytes(bytes.fromhex("d4c3b2a102000400"))
    Path("header.pcap").write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    for name, words in {
        "loop.pcap": "a symbolic link that leads back to itself",
        "lost.pcap": "a symbolic link to a file that does not exist",
        "folder": "is a directory; give a file",
        "empty.pcap": "the file is empty",
        "cut.pcap": "the capture ends within its header",
        "header.pcap": "nothing usable: 0 rows",
    }.items():
        arguments = [command, name, *(LOADED if command == "compare" else ())]
        assert f"{name}: {words}" in find_refusal(arguments, capsys, monkeypatch)


def run_command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs the command in a folder."""
    return subprocess.run([*MODULE, *arguments], capture_output=True, text=True, cwd=cwd, check=False)


def test_compare__writes_everything(tmp_path: Path) -> None:
    files = ["--json", "a.json", "--plot", "a.png", "--save-scenario", "a.toml"]
    done = run_command(
        "compare", "web:sfd", *SMALL_ARGUMENTS, "--seeds", "5", "--details", *files, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", "a.png", "a.toml"}
    assert "Against droptail" in done.stdout
    assert "3 schemes × 5 replications" in done.stderr
    tables = [line for line in done.stdout.splitlines() if re.match(" *(droptail|sfd|fq-codel) +[0-9]", line)]
    assert tables
    assert max(map(len, tables)) <= 110


def test_compare__json_on_standard_output_stands_alone(tmp_path: Path) -> None:
    done = run_command("compare", "web:sfd", *SMALL_ARGUMENTS, "--seeds", "1", "--json", "-", cwd=tmp_path)
    assert json.loads(done.stdout)["schema"] == "mousehole.compare/3"
    assert "No verdict: 1 replication of 4s gives no interval" in done.stderr


def test_run__repeats_a_saved_scenario(tmp_path: Path) -> None:
    rows = "".join(f"{0.1 * n:.2f},c{n % 7},{500 + 997 * n % 40000}\n" for n in range(300))
    (tmp_path / "in.csv").write_text("start_s,client,bytes\n" + rows)
    compared = run_command("compare", "in.csv", *SMALL_ARGUMENTS, "--seeds", "1", "--save-scenario", "a.toml",
                   "--json", "a.json", cwd=tmp_path)  # fmt: skip
    assert compared.returncode == 0, compared.stderr
    files = ["--records", "r.parquet", "--json", "r.json", "--html", "r.html"]
    done = run_command("run", "a.toml", *files, cwd=tmp_path)
    assert "Packets of each link by colour" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert done.returncode == 0, done.stderr
    transfers = pl.read_parquet(tmp_path / "r.parquet")
    scheme = json.loads((tmp_path / "a.json").read_text())["cells"][0]["schemes"][0]
    short = transfers.filter(pl.col("bytes") <= 15_000)
    mean = (short["end_s"] - short["start_s"]).mean()
    assert mean == pytest.approx(scheme["short_response_mean_per_replication_s"][0])
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == "mousehole.run/2"


def test_run__other_scheme_csv_and_trace(tmp_path: Path) -> None:
    run_command(
        "compare", "web:sfd", *SMALL_ARGUMENTS, "--seeds", "1", "--save-scenario", "a.toml", cwd=tmp_path
    )
    done = run_command(
        "run", "a.toml", "--scheme", "sfd", "--records", "r.csv", "--trace", "t.csv", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sfd: ")
    assert pl.read_csv(tmp_path / "r.csv").height > 0
    assert {"time_s", "event", "flow", "seq", "bytes", "colour", "cwnd"} <= set(
        pl.read_csv(tmp_path / "t.csv").columns
    )


def test_inspect__says_what_was_understood(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("start_s,client,bytes\n0,a,5000\n1,b,9000\n2,c,70000\n")
    done = run_command("inspect", "in.csv", "--rate", "1mbit", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "connections" in done.stdout
    assert (
        json.loads(run_command("inspect", "in.csv", "--json", "-", cwd=tmp_path).stdout)["schema"]
        == "mousehole.inspect/1"
    )


def test_schemes__lists_one_line_each(tmp_path: Path) -> None:
    sections = run_command("schemes", cwd=tmp_path).stdout.split("\n\n")
    assert len(sections) == 4  # schemes, markers, other queues, a hint
    names = [[line.split()[0] for line in section.splitlines()[1:]] for section in sections[:3]]
    assert {"droptail", "sfd", "fq-codel"} <= set(names[0])
    assert {"sfd", "window-marker", "policer"} <= set(names[1])
    assert {"multi-red", "priority"} <= set(names[2])
    assert all(len(section) == len(set(section)) for section in names)


def test_schemes__prints_a_page_of_a_part_and_of_a_combination(tmp_path: Path) -> None:
    page = run_command("schemes", "window-marker(high=6)", cwd=tmp_path).stdout
    assert "high=6" in page
    assert "section VI.A" in page
    page = run_command("schemes", "sfd(th=3kB)|droptail", cwd=tmp_path).stdout
    assert "sfd.th=3kB" in page
    assert "droptail ignores colours" in page


OWN_MARKER = """
#ifndef OWN_MARKER_H
#define OWN_MARKER_H
#include "mousehole/flow_meter.h"
#include "mousehole/policy.h"
struct mh_own_marker_params {
    struct mh_flow_meter_params meter;
    u32 least, reserved;
};
MH_FN u32 mh_own_marker_draws(const struct mh_own_marker_params *params)
{
    (void)params;
    return 0;
}
MH_FN u32 mh_own_marker_packet(const struct mh_own_marker_params *params, struct mh_flow_meter *flow,
                   struct mh_none *state, const struct mh_view *view, u64 now_ns, u32 random)
{
    (void)state;
    (void)random;
    mh_flow_meter_packet(&params->meter, flow, view, now_ns);
    return flow->bytes <= params->least ? MH_GREEN : MH_RED;
}
#ifdef MH_DESCRIBE
static const struct mh_parameter mh_own_marker_parameters[] = {
    { MH_FIELD(mh_own_marker_params, meter.timeout_ns), .kind = MH_TIMEOUT, .name = "timeout", .value = "1s",
      .least = 1e-9, .most = 1e9, .meaning = "idle time", .source = "a test" },
    { MH_FIELD(mh_own_marker_params, least), .kind = MH_SIZE, .name = "th", .value = "5kB", .least = 0,
      .most = 1e9, .meaning = "green up to this", .source = "a test" },
};
#endif
MH_DRAWS(own_marker)
MH_MARKER(own_marker, mh_own_marker_params, mh_flow_meter, mh_none, .summary = "a test's marker",
      .source = "a test", .detail = "Green up to th, red beyond.", MH_TABLE_OF(own_marker),
      MH_OFFERS(own_marker, draws))
#endif
"""


def test_compare__takes_an_own_policy_and_names_its_header(tmp_path: Path) -> None:
    header = tmp_path / "own-marker.h"
    header.write_text(OWN_MARKER)
    scheme = "own-marker(th=3kB)|priority(colours=3)"
    done = run_command(
        "compare", "poisson", "--rate", "3mbit", "--load", "0.9", "--duration", "5s", "--warmup", "1s",
        "--seeds", "5", "--policy", str(header), "--schemes", f"droptail,{scheme}", "--json", "out.json",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (_, entry) = json.loads((tmp_path / "out.json").read_text())["manifest"]["schemes"]
    assert entry["scheme"] == scheme
    assert entry["parameters"]["own-marker.th"] == "3kB"
    assert entry["policies"] == {"own-marker": hashlib.sha256(OWN_MARKER.encode()).hexdigest()}
    page = run_command("schemes", "own-marker", "--policy", str(header), cwd=tmp_path).stdout
    assert "green up to this" in page


def test_compare__refuses_a_header_that_is_no_policy(tmp_path: Path) -> None:
    header = tmp_path / "own-marker.h"
    header.write_text("int x;")
    done = run_command("compare", "poisson", "--rate", "3mbit", "--policy", str(header), cwd=tmp_path)
    assert done.returncode == 2
    assert "describes no policy own_marker" in done.stderr
    assert "Traceback" not in done.stderr


def test_schemes__prints_a_page_with_the_values_given(tmp_path: Path) -> None:
    page = run_command("schemes", "s-sfd(k=5)", cwd=tmp_path).stdout
    assert "k=5" in page
    assert "th=15kB" in page
    assert "section 3.3" in page


def test_schemes__refuses_an_unknown_name(tmp_path: Path) -> None:
    done = run_command("schemes", "sdf", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("mousehole: error: NAME: there is no scheme")
    assert 'did you mean "sfd"?' in done.stderr


def test_version__names_the_revision(tmp_path: Path) -> None:
    assert run_command("--version", cwd=tmp_path).stdout.startswith("mousehole ")


def test_report__fits_a_narrow_terminal(tmp_path: Path) -> None:
    done = subprocess.run(
        [*MODULE, "compare", "web:sfd", *SMALL_ARGUMENTS, "--seeds", "5", "--details"],
        capture_output=True, text=True, cwd=tmp_path, check=True,
        env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": "80"},
    )  # fmt: skip
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", done.stdout)
    assert "too narrow for" in plain
    assert all(heading in plain for heading in ("reordered", "marked")), "at any width"
    assert max(map(len, plain.splitlines())) <= 80


def test_param__changes_the_model(tmp_path: Path) -> None:
    for command in (["inspect", "web:sfd"], ["compare", "web:sfd", *SMALL_ARGUMENTS, "--seeds", "1"]):
        done = run_command(
            *command, "--param", "cap_bytes=20000", "--param", "cold_start=true", "--json", "-", cwd=tmp_path
        )
        found = json.loads(done.stdout)
        assert found.get("traffic", found)["size_max_bytes"] == 20_000
    assert found["manifest"]["scenario"]["traffic"]["params"]["cold_start"] is True
    (tmp_path / "a.toml").write_text('[link]\nrate = "3mbit"\n[traffic]\nmodel = "web:sfd"\n')
    changes = ["--param", "cap_bytes=9000", "--records", "a.csv"]
    assert run_command("run", "a.toml", *changes, cwd=tmp_path).returncode == 0
    assert pl.read_csv(tmp_path / "a.csv")["bytes"].max() == 9000


def test_compare__every_option_is_of_the_library_too() -> None:
    """The signature that `help` shows, the docstring and the command line have the same options."""
    named = signature(mousehole.compare).parameters
    shown = run_command("compare", "--help", cwd=Path()).stdout
    for name, (_, words) in command_line_options(Options).items():
        assert name in named
        assert name in (mousehole.compare.__doc__ or "")
        assert f"{make_flag(name, words)} " in shown
    assert named["rate"].default is None
    assert max(map(len, shown.splitlines())) <= 80


def test_compare__a_closed_pipe_ends_quietly_after_the_files(tmp_path: Path) -> None:
    command = " ".join([*MODULE, "compare", "web:sfd", *SMALL_ARGUMENTS, "--seeds", "1", "--json", "a.json"])
    shell = f"set -o pipefail; {command} | true; echo status $?"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert json.loads((tmp_path / "a.json").read_text())["schema"] == "mousehole.compare/3"


def test_schemes__prints_ascii_where_the_terminal_needs_it(tmp_path: Path) -> None:
    plain = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "",
    }
    done = subprocess.run(
        [*MODULE, "schemes", "sfd"], capture_output=True, cwd=tmp_path, env=plain, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    done.stdout.decode("ascii")


def test_compare__a_full_disk_keeps_back_neither_report_nor_the_other_files(tmp_path: Path) -> None:
    files = ["--json", "/dev/full", "--save-scenario", "a.toml"]
    done = run_command("compare", "web:sfd", *SMALL_ARGUMENTS, "--seeds", "1", *files, cwd=tmp_path)
    assert done.returncode == 2
    assert "mousehole: error: cannot write /dev/full; No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "No verdict" in done.stdout
    assert (tmp_path / "a.toml").read_text()


def test_compare__all_with_a_name_is_all() -> None:
    assert parse_schemes("all,sfd") == list_all_schemes()
    assert parse_schemes("all,sfd(th=3kB)")[-1] == "sfd(th=3kB)"


USER = """
import mousehole

found: mousehole.Comparison = mousehole.compare("web:sfd", rate="3mbit", load=[0.5, 0.9], seeds=5)
rows: int = found.buckets.height
finding: mousehole.Finding = found.finding_list[0]
verdict: str = finding.verdict
records = mousehole.run("a.toml", seed=3)
print(rows, verdict, records.transfers["end_s"].mean())
mousehole.compare("web:sfd", rat="3mbit")
mousehole.compare("web:sfd", seeds="5")
"""


def test_library__is_typed_for_its_users() -> None:
    """In the repository's folder, where mypy remembers what `make lint` has checked."""
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-color-output", "-c", USER],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    faults = [line for line in checked.stdout.splitlines() if "error:" in line]
    assert [line.split(":")[1] for line in faults] == ["10", "11"], checked.stdout
    assert 'Unexpected keyword argument "rat"' in faults[0]
    assert 'Argument "seeds"' in faults[1]


def test_library__docstring_examples_are_true() -> None:
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    (example,) = finder.find(mousehole.compare, "compare", globs={"compare": mousehole.compare})
    assert runner.run(example).failed == 0
    assert runner.tries > 0


def test_compare__reads_a_named_pipe_once(tmp_path: Path) -> None:
    """Whoever opened it a second time would wait for a writer for ever."""
    rows = "".join(f"{n / 10},c{n % 30},{500 + 10 * n}\n" for n in range(300))
    pipe = tmp_path / "transfers.csv"
    os.mkfifo(pipe)
    command = ("compare", str(pipe), "--rate", "2mbit", "--quick", "--duration", "5s", "--schemes", "red")
    with subprocess.Popen([sys.executable, "-m", "mousehole", *command, "--json", str(tmp_path / "a.json")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:  # fmt: skip
        pipe.write_text("start_s,client,bytes\n" + rows)
        said, faults = running.communicate(timeout=120)
    assert running.returncode == 0, faults
    assert "transfers.csv" in said
    digest = hashlib.sha256(("start_s,client,bytes\n" + rows).encode()).hexdigest()
    manifest = json.loads((tmp_path / "a.json").read_text())["manifest"]
    assert manifest["inputs"] == [{"name": "transfers.csv", "sha256": digest}]
