"""The answer of a comparison: tables, findings, notes, advice, installation, and its JSON."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
