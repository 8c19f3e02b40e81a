"""Charts as descriptions in Vega-Lite, which pages embed and vl-convert draws as PNG, SVG and PDF.

`style` has the look of all charts and distinguishes series, `looks` chooses colours and symbols, `axes` and
`marks` have the parts of charts, `layout` makes pictures of panels, `writing` makes files of them. This
package does not depend on comparisons, sweeps or papers; the modules that draw those build on it.
"""

from mousehole.charts import looks as looks
from mousehole.charts.layout import Panel as Panel
from mousehole.charts.layout import arrange_picture as arrange_picture
from mousehole.charts.style import Series as Series
from mousehole.charts.style import make_scheme_series as make_scheme_series
from mousehole.charts.style import make_series as make_series
from mousehole.charts.writing import write_chart as write_chart
