"""``spansvm datasets``: which data sets there are, where they are, and how to get them."""

from __future__ import annotations

__all__ = ["datasets"]


def datasets() -> None:
    """List the data sets of the paper."""
