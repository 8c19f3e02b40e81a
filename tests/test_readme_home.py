"""The first example of README.md can be renewed."""

import re
from pathlib import Path

from tools import readme_home

PRINTED = """home, 4 users over 20mbit down
Best for transfers ≤ 15 kB: cake.

scheme     mean
cake     100 ms

In parentheses: 95 % intervals.

Against droptail, mean response time of transfers ≤ 15 kB:
  better: cake

By application, change against droptail
scheme  streams: start-up time
cake                       1 s

By application, change against droptail, continued
scheme  calls: MOS
cake          4.41

Delay
"""


def test_shown__keeps_the_answer_and_what_callers_felt() -> None:
    shown = readme_home.shown(PRINTED)
    assert shown.startswith("home, 4 users over 20mbit down\nBest for")
    assert shown.endswith("calls: MOS\ncake          4.41\n…\n")
    assert "streams" not in shown
    assert "better:" not in shown


def test_readme__has_one_such_block_before_that_of_a_log() -> None:
    text = Path(readme_home.README).read_text("utf-8")
    (found,) = readme_home.BLOCK.finditer(text)
    assert "--down 20mbit --up 1mbit" in found[1]
    assert re.search(r"^(Best|Recommended) for transfers", found[0], re.MULTILINE)
    assert found.start() < text.index("$ mousehole compare nasa")
