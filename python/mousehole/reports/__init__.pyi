from ._charts import name_sizes as name_sizes
from ._conditions import conditions as conditions
from .document import cell_report as cell_report
from .document import document as document
from .document import summarise_grid as summarise_grid
