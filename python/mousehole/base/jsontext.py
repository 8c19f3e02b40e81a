"""JSON as it is written everywhere: keys are sorted, and NaN never appears."""

import json
from collections.abc import Mapping
from math import isfinite

import numpy as np

from mousehole._engine import Estimate
from mousehole.base._plain_text import STEERING


def dumps(document: Mapping[str, object]) -> str:
    """Returns the document as text that ends in a newline, with escapes for what would steer a terminal."""
    text = json.dumps(clean(document), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def clean(value: object) -> object:
    """Returns the value with numpy numbers and estimates as plain numbers, and null for NaN and infinity."""
    if isinstance(value, Mapping):
        return {str(key): clean(item) for key, item in value.items()}
    if isinstance(value, Estimate):
        return clean(value.as_dict())
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not isfinite(plain) else plain
