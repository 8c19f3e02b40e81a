"""Times and instruction counts, for people; nothing of the product imports them. `make bench` runs them."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "mousehole-bench"
"""The program that is timed, as `make bench` builds it."""
