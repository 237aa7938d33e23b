"""Lists and names in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

__all__ = ["closest_name", "listed"]


def listed(parts: Sequence[str], most: int = 5) -> str:
    """The parts as a list in a sentence; if more than `most`, the first ones and the last."""
    if len(parts) <= most:
        return ", ".join(parts)
    return f"{', '.join(parts[: most - 1])}, ..., {parts[-1]} ({len(parts)} in all)"


def closest_name(name: str, candidates: Iterable[str]) -> str:
    """The end of a message about an unknown name: a similar candidate, or nothing."""
    known = {candidate.lower(): candidate for candidate in candidates}
    found = get_close_matches(name.lower(), known, n=1)
    return f" (did you mean '{known[found[0]]}'?)" if found else ""
