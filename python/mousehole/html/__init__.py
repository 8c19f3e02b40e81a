"""Pages of results as one self-contained HTML file each: prose, sortable tables, interactive charts.

    page = Page(title, subtitle, sections, verdict=Verdict([...], "good"))
    write(page, "report.html")

`parts` says what a page consists of, `charts` gives charts of Vega-Altair the look of the page and tells
schemes apart as all figures do, and `common` has the sections that all reports share: the traffic as it was
understood, the manifest, the command. This package knows nothing of comparisons, sweeps or papers; the
modules that do build a `Page` and write it.
"""

from mousehole.html.page import render as render
from mousehole.html.page import write as write
from mousehole.html.parts import Block as Block
from mousehole.html.parts import Cell as Cell
from mousehole.html.parts import Chart as Chart
from mousehole.html.parts import Choice as Choice
from mousehole.html.parts import Code as Code
from mousehole.html.parts import Column as Column
from mousehole.html.parts import Details as Details
from mousehole.html.parts import Facts as Facts
from mousehole.html.parts import Grid as Grid
from mousehole.html.parts import Items as Items
from mousehole.html.parts import Page as Page
from mousehole.html.parts import Prose as Prose
from mousehole.html.parts import Raw as Raw
from mousehole.html.parts import Row as Row
from mousehole.html.parts import Section as Section
from mousehole.html.parts import Table as Table
from mousehole.html.parts import Tone as Tone
from mousehole.html.parts import Verdict as Verdict
