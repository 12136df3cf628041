"""Values as the JSON standard has them."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def as_json(value: Any) -> Any:
    """Return lists, dicts and numbers that JSON can hold; inf and nan become None."""
    if isinstance(value, Mapping):
        return {name: as_json(x) for name, x in value.items()}
    if isinstance(value, np.ndarray | tuple | list):
        return [as_json(x) for x in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_json(rows: list[dict[str, Any]]) -> None:
    """Print rows as one indented list; inf and nan raise ValueError."""
    print(json.dumps(rows, indent=2, allow_nan=False))
