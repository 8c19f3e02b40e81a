"""Tests of bench.profile: which file callgrind's lines belong to."""

from __future__ import annotations

from bench import profile as instruction_profile

PROFILE = """\
events: Ir
fl=(1) /src/sim/src/engine/host.rs
fn=(1) pump
10 5
fi=(2) /rustc/1/library/core/src/slice/index.rs
+3 2
fe=(1)
* 1
cfi=(3) /src/sim/src/tcp/sender.rs
cfn=(2) emit
calls=4 30
12 900
13 1
fl=(3)
fn=(2)
30 8
-2 1
totals: 18
"""


def test_by_file__counts_inlined_code_where_it_is_written_and_calls_once() -> None:
    files = instruction_profile.sum_by_file(PROFILE.splitlines())
    assert sorted(files.values()) == [2, 7, 9]
    assert files["/src/sim/src/engine/host.rs"] == 7


def test_by_part__every_file_belongs_to_one_part() -> None:
    parts = instruction_profile.sum_by_part(instruction_profile.sum_by_file(PROFILE.splitlines()))
    assert parts["engine: hosts, forwarding, events"] == 7
    assert parts["TCP"] == 9
    assert parts["Rust's library, inlined"] == 2
    assert sum(parts.values()) == 18
