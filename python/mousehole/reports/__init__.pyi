from ._charts import name_sizes as name_sizes
from ._conditions import conditions as conditions
from .document import document as document
from .document import mark_ideal as mark_ideal
from .document import overview_blocks as overview_blocks
from .document import summarise_grid as summarise_grid
from .document import whole_change_cell as whole_change_cell
