"""Runs `mousehole paper`: lists the papers, runs chosen items of them, prints them or writes the page."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mousehole import html
from mousehole.base import ConsoleReporter
from mousehole.document import as_markdown, make_report_console, print_document
from mousehole.runs import open_backend

from papers import paper, report
from papers.definition import TAKEN
from papers.paper import Paper, Wanted
from papers.runs import Options, default_cache


def list_papers() -> str:
    """Returns a line of text for each paper, with the items that it offers.

    Reads and checks each definition; raises `MouseholeError` for a faulty one.
    """
    return "\n".join(f"{name:8} {paper.find_paper(name).list_items()}" for name in paper.list_names())


def list_papers_with_claims() -> list[Paper]:
    """Returns the papers that state claims; the comparison of all schemes states none."""
    return [one for one in map(paper.find_paper, paper.list_names()) if one.definition.claims]


def run(
    name: str | None,
    *,
    table: str | None = None,
    figure: str | None = None,
    claim: str | None = None,
    section: str | None = None,
    log: str | None = None,
    reading: str | None = None,
    readings: bool = False,
    tried: bool = False,
    seed: int | None = None,
    settle: int | None = None,
    details: bool = False,
    full: bool = False,
    seeds: int | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    dask: str | None = None,
    html_folder: Path | None = None,
    markdown: bool = False,
) -> int:
    """Runs a paper, or one item of it, and prints the results; returns 0 whatever they are.

    Without a name all papers that state claims are run. With `html_folder` all items are run and written as
    one page instead; with `markdown` Markdown is printed. Figures are written into the current folder. `dask`
    is the address of a Dask scheduler whose workers do the runs. Raises `MouseholeError` for an unknown
    paper, item or reading and for a file that cannot be written, `Stopped` on Ctrl-C.
    """
    papers = [paper.find_paper(name)] if name is not None else list_papers_with_claims()
    wanted = Wanted(
        table=table,
        figure=figure,
        claim=claim,
        section=section,
        readings=readings,
        log=None if log is None else Path(log),
        tried=tried,
    )
    reporter = ConsoleReporter(make_report_console(stderr=True))
    console = make_report_console()
    with open_backend(dask, reporter=reporter) as backend:
        options = Options(
            full=full, reading=reading or TAKEN, seed=seed, seeds=seeds, settle=settle, jobs=jobs,
            cache=default_cache(), fresh=fresh, reporter=reporter, backend=backend,
        )  # fmt: skip
        if html_folder is not None:
            path = write_html(papers, html_folder, options, details=details)
            console.print(f"wrote {path}", highlight=False)
            return 0
        for one in papers:
            found = report.Reported(one.definition, list(one.reproduce(wanted, options)), details)
            if markdown:
                print(as_markdown(report.make_document(found)))
            else:
                print_document(console, report.make_document(found))
    return 0


def write_html(papers: Sequence[Paper], folder: Path, options: Options, *, details: bool = False) -> Path:
    """Runs all items of the papers, writes `index.html` into the folder, and returns its path.

    Makes the folder; an older page is replaced. Raises `MouseholeError` for a file that cannot be written.
    """
    with tempfile.TemporaryDirectory() as place:
        wanted = Wanted(everything=True, pictures=Path(place), form="svg")
        reported = []
        for one in papers:
            options.reporter.say(f"{one.name}: all claims, tables and figures")
            parts = list(one.reproduce(replace(wanted, pictures=Path(place) / one.name), options))
            reported.append(report.Reported(one.definition, parts, details))
        folder.mkdir(parents=True, exist_ok=True)
        html.write_page(report.make_page(reported), folder / "index.html")
        return folder / "index.html"
