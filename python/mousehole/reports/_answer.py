"""Prints the answer of a comparison before all tables: what to install, what it costs, how sure that is."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from mousehole.answer import NO_VERDICT, RECOMMENDED, Advice
from mousehole.answer.advice import advice
from mousehole.base import say
from mousehole.runs import Results


def print_answer(console: Console, results: Results) -> None:
    """Prints the answer in at most six lines; for a grid, which answer holds where."""
    found = [advice(results, cell)[0] for cell in results.plan.cells]
    lines = found[0].lines if len(found) == 1 else of_grid(found, results.plan.baseline)
    style = "green" if any(one.outcome == RECOMMENDED for one in found) else "yellow"
    for place, line in enumerate(lines):
        if is_command(line):  # whole, so that it can be copied
            console.print(Text(line), soft_wrap=True)
        else:
            say(console, Text(line, style=style if place == 0 else ""))
    console.print()


def of_grid(found: list[Advice], baseline: str) -> list[str]:
    """Returns one line per answer that some cell of a grid has, the most frequent first; at most six."""
    by_answer: dict[str, list[Advice]] = {}
    for one in found:
        by_answer.setdefault(_grid_words(one, baseline), []).append(one)
    ordered = sorted(by_answer.items(), key=lambda item: -len(item[1]))
    return [
        f"{words} in {len(own)} of {len(found)} cells: {'; '.join(_places(own))}."
        for words, own in ordered[:6]
    ]


def is_command(line: str) -> bool:
    """Returns whether a line of an answer is or ends with a command."""
    return " tc qdisc " in f" {line}" or "nft add rule" in line


def _grid_words(one: Advice, baseline: str) -> str:
    if one.outcome == RECOMMENDED:
        return f"{one.scheme} is best"
    return "No verdict" if one.outcome == NO_VERDICT else f"Nothing is shown to beat {baseline}"


def _places(cells: Iterable[Advice]) -> list[str]:
    """Returns the cells by load, with the buffers of each: `buffer 20p, 50p at load 0.9`."""
    by_load: dict[float | None, list[str]] = {}
    for one in cells:
        by_load.setdefault(one.load, []).append(one.buffer)
    return [
        f"buffer {', '.join(buffers)}" + ("" if load is None else f" at load {load:g}")
        for load, buffers in by_load.items()
    ]
