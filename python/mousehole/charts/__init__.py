"""Charts as descriptions in Vega-Lite, which pages embed and vl-convert draws as PNG, SVG and PDF.

`style` has the look of all charts and tells series apart, `looks` chooses it, `axes` and `marks` have what
charts consist of, `layout` makes whole pictures of panels, `writing` makes files of them. This package knows
nothing of comparisons, sweeps or papers; what draws those builds on it.
"""

from mousehole.charts import looks as looks
from mousehole.charts.layout import Panel as Panel
from mousehole.charts.layout import arrange_picture as arrange_picture
from mousehole.charts.style import Series as Series
from mousehole.charts.style import make_scheme_series as make_scheme_series
from mousehole.charts.style import make_series as make_series
from mousehole.charts.writing import write_chart as write_chart
