"""How much memory a Gram matrix may take."""

from __future__ import annotations

import math
import os
from pathlib import Path

__all__ = [
    "DOUBLE",
    "FORMS",
    "NONE",
    "PARTS",
    "SINGLE",
    "available_memory",
    "gram_form",
    "has_room",
    "parse_budget",
]

#: The forms of a Gram matrix: whole in double or single precision, in parts when needed, or none
#: at all for a linear kernel on many rows.
DOUBLE, SINGLE, PARTS, NONE = FORMS = ("double", "single", "parts", "none")

#: Fraction of the available memory that a Gram matrix may take.
_FRACTION = 0.5

#: What takes up to this many bytes fits into any memory: how much there is need not be asked.
_SMALL = 1e7

_UNITS = {"kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6, "gb": 10**9, "b": 1}


def parse_budget(budget: float | str | None, needed: float = math.inf) -> float:
    """Bytes that a Gram matrix may take, from a number, a string such as "4 GiB", or None.

    None means half of the available memory, or a small number if no more is `needed`.
    """
    if budget is None:
        return _SMALL if needed <= _SMALL else _FRACTION * available_memory()
    if isinstance(budget, str):
        text = budget.strip().lower()
        for unit, factor in _UNITS.items():
            if text.endswith(unit):
                try:
                    budget = float(text.removesuffix(unit)) * factor
                except ValueError:
                    break
                else:
                    break
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not budget > 0:
        raise ValueError(
            f"gram_budget must be a positive number of bytes, a string such as '4 GiB', or None; "
            f"got {budget!r}."
        )
    return float(budget)


def gram_form(n_rows: int, budget: float | str | None = None) -> tuple[str, float]:
    """The form in which the Gram matrix of some rows fits the budget, and the bytes that it takes.

    In parts it takes the whole budget.
    """
    allowed = parse_budget(budget, 8.0 * n_rows**2)
    for form, size in ((DOUBLE, 8.0), (SINGLE, 4.0)):
        if size * n_rows**2 <= allowed:
            return form, size * n_rows**2
    return PARTS, allowed


def has_room(n: int) -> bool:
    """Whether there is room for a tableau of n vectors."""
    size = 8.0 * n**2
    return size <= parse_budget(None, size)


def available_memory() -> float:
    """Bytes that can be used without swapping; 4 GiB if the system does not report it."""
    found = []
    info = Path("/proc/meminfo")
    if info.exists():
        lines = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
        if "MemAvailable" in lines:
            found.append(float(lines["MemAvailable"].split()[0]) * 1024)
    elif "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        found.append(0.5 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.exists() and limit.read_text().strip().isdigit():
        used = Path("/sys/fs/cgroup/memory.current")
        taken = float(used.read_text()) if used.exists() else 0.0
        found.append(max(float(limit.read_text()) - taken, 2.0**28))
    return min(found, default=2.0**32)
