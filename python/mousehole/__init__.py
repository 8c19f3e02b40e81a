"""Mousehole compares schemes that let short flows go first through a congested link.

`compare` compares schemes on traffic, `tune` searches their settings, `sweep` compares in many cells, `run`
runs one scenario, `inspect` summarises traffic, and `read` returns its connections as a frame. `load` gives a
saved result again. `policy` makes and checks own policies, `tcp_model` is the analytic TCP model.

Names stand in `__init__.pyi` and are imported when they are first used, here and in the packages, so that the
command line starts at once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
