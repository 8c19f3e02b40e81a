"""A comparison shown: the terminal, a page, pictures."""

from mousehole.reports._answer import of_grid as of_grid
from mousehole.reports._charts import size_words as size_words
from mousehole.reports._overview import change_text as change_text
from mousehole.reports._overview import marked as marked
from mousehole.reports._overview import print_overview as print_overview
from mousehole.reports.plots import STYLE as STYLE
from mousehole.reports.plots import look as look
from mousehole.reports.plots import ratio_axis as ratio_axis
from mousehole.reports.plots import save as save
from mousehole.reports.report import conditions as conditions
from mousehole.reports.report import print_report as print_report
from mousehole.reports.report import report_console as report_console
