"""Documents as one self-contained HTML file each: prose, sortable tables, interactive charts.

`render` and `page` make a file of a document, `pictures` embeds charts in it, `figures` has charts with their
numbers, and `common` the sections that all reports share: the traffic as it was understood, the manifest, the
command. This package knows nothing of comparisons, sweeps or papers; the modules that do build a `Document`.
"""

from mousehole.html.page import render as render
from mousehole.html.page import write as write
