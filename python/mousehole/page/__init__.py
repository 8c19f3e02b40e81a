"""A page in a real browser beside bulk flows, behind the emulated link: `mousehole page`.

Two programs run in the link's namespaces: `serve` answers the browser, `visit` drives it. `conduct` calls the
link once per scheme and round. The others read the page (`content`, `har`, `example`), or compute and show
what was measured (`_results`, `_found`, `_report`, `_waterfall`), and `predict` simulates the same page.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
