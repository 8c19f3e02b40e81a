"""Which engine is running: its version, revision and sources."""

from mousehole import _engine

REVISION: str = getattr(_engine, "BUILD", "unknown")
"""The git revision the engine was built from."""


def engine_text() -> str:
    """Returns the engine's version and revision, such as `0.9.0 (4167e94)`."""
    return f"{_engine.__version__} ({REVISION})"


def engine_digest() -> str:
    """Returns a digest of the sources the engine is built from: results under another digest may differ."""
    return _engine.SOURCES
