"""A result as a document: sections of prose, tables, charts and commands, which are shown in three ways.

`blocks` has the parts of a document, `terminal` prints it, `markdown` writes it, and the package `html`
makes a page of it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
