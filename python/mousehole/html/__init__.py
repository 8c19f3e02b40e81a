"""Documents as one self-contained HTML file each: prose, sortable tables, interactive charts.

`render` and `page` make a file of a document, `pictures` embeds charts in it, `figures` has charts with their
numbers, `common` the section that all reports share: the command and the manifest, and `shown` what results
have in common. This package knows nothing of comparisons, sweeps or papers; the modules that do build a
`Document`.
"""

from mousehole.html.page import render_page as render_page
from mousehole.html.page import write_page as write_page
from mousehole.html.shown import Kept as Kept
from mousehole.html.shown import Shown as Shown
from mousehole.html.shown import present as present
