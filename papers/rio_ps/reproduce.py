"""RIO-PS's figures and tables beside ours: `mousehole paper rio-ps --figure 2`."""

from papers.paper import Item, Paper, Seeds
from papers.rio_ps.experiments import figure_7, table_1, table_4
from papers.rio_ps.transfer_times import figure_2

PAPER = Paper(
    name="rio-ps",
    items=[
        Item("figure", 2, figure_2, Seeds(10, 50)),
        Item("figure", 7, figure_7),
        Item("table", 1, table_1),
        Item("table", 4, table_4),
    ],
)
main = PAPER.main
