"""Sweeps: many cells of settings, one row per cell, scheme and replication, in a Parquet data set.

`description` reads what is wanted, `design` enumerates the cells, `cells` makes scenarios of them, `store`
keeps the rows, `running` runs what is missing, `found` computes frames, `drawing` draws them, `report`
makes a page of them, `commands` is the command line.
"""

from mousehole.sweeps._cells import with_parameter as with_parameter
from mousehole.sweeps._description import read as read
from mousehole.sweeps._design import Cells as Cells
from mousehole.sweeps._quantities import between as between
from mousehole.sweeps._quantities import numbers as numbers
from mousehole.sweeps._result import Sweep as Sweep
from mousehole.sweeps._rows import FAULT as FAULT
from mousehole.sweeps._rows import reduce_row as reduce_row
from mousehole.sweeps._running import Prepared as Prepared
from mousehole.sweeps._running import sweep as sweep
