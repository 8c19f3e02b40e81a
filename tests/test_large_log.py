import subprocess
import sys
from pathlib import Path

import mousehole

from bench import logs as large_log


def test_lines__are_a_log_of_sound_rows(tmp_path: Path) -> None:
    file = tmp_path / "conn.log"
    file.write_text("".join(large_log.generate_lines(2000)))
    summary = mousehole.inspect(file, strict=True)
    assert summary["sources"][0]["rows"] == 2000
    assert 1500 < summary["connections"] < 1800


def test_cost__is_that_of_the_program(tmp_path: Path) -> None:
    idle = large_log.measure_cost("print(1)", tmp_path)
    busy = large_log.measure_cost("print(len(sorted(range(10_000_000), reverse=True)))", tmp_path)
    assert (idle.printed, busy.printed) == ("1", "10000000")
    assert busy.peak_bytes > 300_000_000
    assert busy.cpu_s > idle.cpu_s


def test_main__prints_the_ratio() -> None:
    command = [sys.executable, "-m", "bench.logs", "20000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("20000 rows, ")
    assert "ratio of CPU: " in done.stdout
