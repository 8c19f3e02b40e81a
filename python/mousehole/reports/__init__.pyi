from ._answer import of_grid as of_grid
from ._charts import size_words as size_words
from ._overview import change_text as change_text
from ._overview import marked as marked
from ._overview import print_overview as print_overview
from .report import conditions as conditions
from .report import print_report as print_report
from .report import report_console as report_console
