"""Which build of the loops suits this processor."""

from __future__ import annotations

import os
from importlib.util import find_spec

from .cpu import has_v3

__all__ = ["LEVELS", "best_level"]

#: From the lowest level of processor to the highest.
LEVELS = ("baseline", "v3")


def best_level() -> str:
    """The highest level that this processor has and that was built, or what SPANSVM_CPU names."""
    built = [level for level in LEVELS if find_spec(f"{__package__}.{level}.loops")]
    asked = os.environ.get("SPANSVM_CPU")
    if asked:
        if asked not in built:
            raise ImportError(f"SPANSVM_CPU must be one of {', '.join(built)}; it is {asked!r}.")
        return asked
    return "v3" if "v3" in built and has_v3() else "baseline"
