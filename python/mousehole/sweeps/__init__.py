"""Sweeps: many cells of settings, one row per cell, scheme and replication, in a Parquet data set.

`description` reads what is wanted, `design` enumerates the cells, `cells` makes scenarios of them, `store`
keeps the rows, `running` runs what is missing, `found` computes frames, `drawing` draws them, `report`
makes a document of them, `commands` is the command line.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
