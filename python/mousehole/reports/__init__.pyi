from ._charts import name_sizes as name_sizes
from ._conditions import list_conditions as list_conditions
from .document import make_document as make_document
from .document import read_cell_report as read_cell_report
from .document import summarise_grid as summarise_grid
