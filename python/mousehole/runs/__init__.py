"""What is run, where it is run, and the numbers that each run is reduced to."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
