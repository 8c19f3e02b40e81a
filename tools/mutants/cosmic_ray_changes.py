"""Prints cosmic-ray's changes of Python files as JSON lines of path and changed text.

A program of its own, as it runs where cosmic-ray is installed: `cosmic_ray_changes.py OPERATORS FILE ...`,
with the operators' names separated by commas.
"""

import json
import sys
from pathlib import Path

from cosmic_ray.mutating import mutate_code  # type: ignore[import-not-found, unused-ignore]
from cosmic_ray.plugins import get_operator  # type: ignore[import-not-found, unused-ignore]

for file in sys.argv[2:]:
    text = Path(file).read_text()
    for name in sys.argv[1].split(","):
        operator, occurrence = get_operator(name)(), 0
        while (changed := mutate_code(text, operator, occurrence)) is not None:
            print(json.dumps([file, changed]))
            occurrence += 1
