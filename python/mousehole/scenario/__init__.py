"""A scenario, filled and checked, with the files and own policies that it names."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
