"""The first example of README.md can be renewed."""

import re
from pathlib import Path

from tools import readme_home

PRINTED = """home, 4 users over 20mbit down
Best for transfers ≤ 15 kB: cake.
Install on Linux:
tc qdisc replace dev DEV root cake

Transfers ≤ 15 kB: mean response time and its change, %
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


def test_shown__keeps_the_answer() -> None:
    shown = readme_home.shorten_output(PRINTED)
    assert shown.startswith("home, 4 users over 20mbit down\nBest for")
    assert shown.endswith("tc qdisc replace dev DEV root cake\n…\n")
    assert "100 ms" not in shown


def test_readme__has_one_such_block() -> None:
    text = Path(readme_home.README).read_text("utf-8")
    (found,) = readme_home.BLOCK.finditer(text)
    assert "--down 20mbit --up 1mbit" in found[1]
    assert re.search(r"^(Best|Recommended) for transfers", found[0], re.MULTILINE)


def test_package_index__has_the_same_block() -> None:
    pages = [path.read_text("utf-8") for path in (readme_home.README, readme_home.PACKAGE_INDEX)]
    assert readme_home.find_block(pages[0]) == readme_home.find_block(pages[1])
