"""What a comparison says: tables, findings, notes, advice, how to install it, and its JSON."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
