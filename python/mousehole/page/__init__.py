"""A page in a real browser beside bulk flows, behind the emulated link: `mousehole page`.

Two programs run in the link's namespaces: `serve` answers the browser, `visit` drives it. `conduct` calls the
link once per scheme and round. The others read the page (`content`, `har`, `example`), or compute and show
what was measured (`results`, `show`, `waterfall`, `document`), and `predict` simulates the same page.
"""

from mousehole.page._browser import times_of_request as times_of_request
from mousehole.page._options import PageOptions as PageOptions
from mousehole.page._results import PageResults as PageResults
from mousehole.page._results import Setting as Setting
from mousehole.page._results import Trial as Trial
from mousehole.page._trial import Fetch as Fetch
from mousehole.page._trial import Load as Load
from mousehole.page._trial import Task as Task
from mousehole.page.conduct import Behind as Behind
from mousehole.page.conduct import Errand as Errand
from mousehole.page.predict import Prediction as Prediction
from mousehole.page.serve import Listener as Listener
from mousehole.page.serve import application as application
