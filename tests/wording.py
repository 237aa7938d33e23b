"""What a sentence says, whatever its words."""

from __future__ import annotations


def tells(text: str, *facts: str) -> bool:
    """Whether a text has all these parts, in this order."""
    start = 0
    for fact in facts:
        start = text.find(fact, start) + len(fact)
        if start < len(fact):
            return False
    return True
