"""What a header of the user may do wrong: each fault ends in one sentence, and nothing in a result."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import mousehole
import pytest
from mousehole import _engine, policy
from mousehole.base import MouseholeError

NULL = "*(volatile int *)0 = 1;"
LOOP = "for (volatile int go = 1; go;) ;"
EXIT = "extern void exit(int); exit(3);"
PAST = "((volatile u64 *)flow)[sizeof(*flow) / 8] = 7;"

FAULTS = {
    "crash": (NULL, "packet crashed (SIGSEGV) (call "),
    "divide": ("__builtin_trap();", "packet crashed (SIG"),
    "abort": ("extern void abort(void); abort();", "packet crashed (SIGABRT)"),
    "loop": (LOOP, "packet did not return within 2 s"),
    "exit": (EXIT, "packet called exit(3)"),
    "at-once": ("extern void _exit(int); _exit(0);", "calls _exit, which may end the program"),
    "beyond": (PAST, "packet wrote beyond its flow"),
    "before": ("((volatile u64 *)flow)[-1] = 7;", "packet wrote before its flow"),
    "reads": ("if (((volatile u64 *)flow)[sizeof(*flow) / 8] == 7) return 1;", "beyond its flow"),
    "params": ("*(volatile u32 *)params = 9;", "packet wrote to its parameters, which it may only read"),
    "view": ("((struct mh_view *)(unsigned long)view)->ip_bytes = 9;", "packet wrote to the packet's view"),
    "answer": ("return 77;", "packet returned 77; allowed are 0 to 3 (call "),
}
"""What a packet's function does, and the words for it."""

RARE = "now_ns / 100000000 == 30 && view->ip_bytes == 1500 && flow->packets > 3"
"""Does not hold in a trial, whose times are of many magnitudes, and does in the fourth second of a run."""

OPTIONS: dict[str, object] = {
    "rate": "5mbit", "load": 0.5, "duration": "4s", "warmup": "2s", "seeds": 1,
}  # fmt: skip


def header_with(name: str, does: str, folder: Path, function: str = "packet") -> Path:
    """Writes a marker in which a function first does something; returns its path."""
    header = policy.new(name, folder=folder)
    text = header.read_text(encoding="utf-8")
    begin = text.index("{", text.index(f"_{function}(", text.index("MH_FN"))) + 1
    header.write_text(f"{text[:begin]}\n\t{does}{text[begin:]}", encoding="utf-8")
    return header


def find_refusal(header: Path, scheme: str = "") -> str:
    """Returns the sentence with which `compare` refuses a header."""
    schemes = scheme or f"{header.stem}|multi-red"
    with pytest.raises(MouseholeError) as refused:
        mousehole.compare("poisson", policy=str(header), schemes=schemes, **OPTIONS)  # type: ignore[arg-type]
    assert str(refused.value).startswith(f"{header}: ")
    assert refused.value.file == str(header)
    return refused.value.sentence


@pytest.mark.parametrize("kind", FAULTS)
def test_compare__refuses_a_faulty_packet_function(kind: str, tmp_path: Path) -> None:
    does, words = FAULTS[kind]
    assert words in find_refusal(header_with(f"own-{kind}", does, tmp_path))


QUEUE_FAULTS = {
    "stall": ("next = MH_RED;", "dequeue stalls: it names no band with a packet in 76 calls while "),
    "band": ("next = 9;", "dequeue returned 9; allowed are 0 to 2 (call "),
    "crash": (NULL, "dequeue crashed (SIGSEGV) (call "),
}


@pytest.mark.parametrize("kind", QUEUE_FAULTS)
def test_compare__refuses_a_faulty_queue(kind: str, tmp_path: Path) -> None:
    does, words = QUEUE_FAULTS[kind]
    header = policy.new(f"own-{kind}-queue", kind="queue", folder=tmp_path)
    text, served = header.read_text(encoding="utf-8"), "\tstate->served[next]++;\n"
    assert served in text
    header.write_text(text.replace(served, f"\t{does}\n"), encoding="utf-8")
    assert words in find_refusal(header, f"sfd|{header.stem}")


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (NULL, "setup crashed (SIGSEGV)"),
        (LOOP, "setup did not return within 2 s"),
        (EXIT, "setup called exit(3)"),
    ],
)
def test_compare__refuses_a_faulty_setup(does: str, words: str, tmp_path: Path) -> None:
    assert words in find_refusal(header_with("own-setup", does, tmp_path, "setup"))


@pytest.mark.parametrize("kind", ["crash", "loop", "exit", "at-once", "beyond", "params", "answer"])
def test_check__fails_of_a_faulty_packet_function(kind: str, tmp_path: Path) -> None:
    header = header_with(f"own-{kind}", FAULTS[kind][0], tmp_path)
    report = policy.check(header, records=5000, kernel=False)
    assert not policy.is_good(report)


def test_check__names_an_exit_in_setup(tmp_path: Path) -> None:
    for status in (0, 3):
        header = header_with(f"own-out{status}", f"extern void exit(int); exit({status});", tmp_path, "setup")
        last = policy.check(header, records=5000, kernel=False)["checks"][-1]
        assert last["verdict"] == "failed"
        assert last["sentences"] == ["setup (record 0) calls exit; a policy only returns an answer"]


def test_compare__a_parameter_asked_for_is_tried(tmp_path: Path) -> None:
    header = header_with("own-asked", f"if (params->green == 7) {{ {NULL} }}", tmp_path)
    options = {**OPTIONS, "policy": str(header)}
    mousehole.compare("poisson", schemes="own-asked|multi-red", **options)  # type: ignore[arg-type]
    with pytest.raises(MouseholeError, match="packet crashed"):
        mousehole.compare("poisson", schemes="own-asked(green=7)|multi-red", **options)  # type: ignore[arg-type]


SCRIPT = """
import sys, mousehole
from mousehole import _engine
_engine.try_policies([], [])  # calls get the time of a trial
mousehole.compare("poisson", policy=sys.argv[1], schemes=sys.argv[2], rate="5mbit", load=0.5, duration="4s",
                  warmup="2s", seeds=1)
print("a result")
"""


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (NULL, "packet crashed (SIGSEGV) (call "),
        ("extern void exit(int); exit(0);", "packet called exit(0) (call "),
        (LOOP, "packet did not return within 2 s (call "),
    ],
)
def test_run__a_fault_that_the_trial_does_not_meet_ends_in_a_sentence(
    does: str, words: str, tmp_path: Path
) -> None:
    header = header_with("own-late", f"if ({RARE}) {{ {does} }}", tmp_path)
    command = [sys.executable, "-c", SCRIPT, str(header), "own-late|multi-red"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"mousehole: error: {header}: {words}")
    assert "a packet of 1500 B" in last


def test_run__an_answer_that_the_trial_does_not_meet_is_no_result(tmp_path: Path) -> None:
    assert "packet returned 77" in find_refusal(header_with("own-late", f"if ({RARE}) return 77;", tmp_path))


def test_load_policy__leaves_nothing_of_a_header_that_it_refuses(tmp_path: Path) -> None:
    header = policy.new("own-renamed", folder=tmp_path)
    taken = tmp_path / "pie.h"
    taken.write_text(header.read_text(encoding="utf-8").replace("own_renamed", "pie"), encoding="utf-8")
    before = _engine.parts()
    with pytest.raises(MouseholeError, match="a scheme named pie exists already"):
        _engine.load_policy(str(taken))
    whole = header.read_text(encoding="utf-8")
    header.write_text(whole.replace('"10"', '"50"'), encoding="utf-8")
    with pytest.raises(MouseholeError, match="defaults that do not fit"):
        _engine.load_policy(str(header))
    assert _engine.parts() == before
    header.write_text(whole, encoding="utf-8")
    assert _engine.load_policy(str(header)) == "own-renamed"


def test_run__keeps_a_handler_of_crashes_that_was_there(tmp_path: Path) -> None:
    header = policy.new("own-good", folder=tmp_path)
    script = (
        "import ctypes, faulthandler, sys, mousehole; faulthandler.enable(); from mousehole import _engine; "
        "_engine.load_policy(sys.argv[1]); ctypes.string_at(0)"
    )
    command = [sys.executable, "-c", script, str(header)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == -signal.SIGSEGV
    assert "Fatal Python error: Segmentation fault" in done.stderr
    assert "own policies" not in done.stderr


def test_run__a_crash_elsewhere_has_a_word_too(tmp_path: Path) -> None:
    header = policy.new("own-good", folder=tmp_path)
    script = (
        "import ctypes, sys; from mousehole import _engine; "
        "_engine.load_policy(sys.argv[1]); ctypes.string_at(0)"
    )
    command = [sys.executable, "-c", script, str(header)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == -signal.SIGSEGV
    assert "crashed (SIGSEGV) outside of the own policies in use" in done.stderr


def test_compare__a_header_without_end_leaves_no_compiler(tmp_path: Path) -> None:
    (tmp_path / "endless.h").write_text('#include "/dev/zero"\n', encoding="utf-8")
    sentence = find_refusal(tmp_path / "endless.h")
    assert "does not compile" in sentence
    assert list_compilers("endless") == []


SLOW = "\n".join([
    "#define A(x) x x x x x x x x x x",
    *(f"#define {big}(x) " + f"{small}(x) " * 10 for small, big in zip("ABC", "BCD", strict=True)),
    "int f(volatile int *a) { D(D(a[1] += a[0] * 7 / a[2];)) return a[0]; }",
])  # fmt: skip
"""A header that takes a compiler a long time."""


@pytest.mark.parametrize(
    "command", [["compare", "poisson", "--rate", "5mbit", "--policy"], ["policy", "check"]]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stop__ends_the_compiler_too(command: list[str], number: signal.Signals, tmp_path: Path) -> None:
    name = f"slow-{os.getpid()}-{number}-{command[0]}"
    (tmp_path / f"{name}.h").write_text(SLOW, encoding="utf-8")
    arguments = [sys.executable, "-m", "mousehole", *command, str(tmp_path / f"{name}.h")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert wait_until(lambda: list_compilers(name) != [])
        process.send_signal(number)
        began = time.monotonic()
        process.communicate(timeout=60)
        assert time.monotonic() - began < 10
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert wait_until(lambda: list_compilers(name) == [])


def wait_until(holds: Callable[[], bool]) -> bool:
    """Returns whether a condition holds within 20 s."""
    for _ in range(400):
        if holds():
            return True
        time.sleep(0.05)
    return False


def list_compilers(name: str) -> list[str]:
    """Returns the command lines of the compilers that work on a header."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().split(b"\0")
        except OSError:
            continue
        line = b" ".join(words).decode(errors="replace")
        if "cc1" in line and name.replace("-", "_") in line:
            found.append(line)
    return found
