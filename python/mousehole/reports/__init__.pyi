from ._charts import size_words as size_words
from ._conditions import conditions as conditions
from .document import capital as capital
from .document import document as document
from .document import marked as marked
from .document import of_grid as of_grid
from .document import overview_blocks as overview_blocks
from .document import whole_change_cell as whole_change_cell
