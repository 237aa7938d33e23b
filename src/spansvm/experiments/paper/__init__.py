"""The numbers that the paper prints, by table and data set."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

__all__ = ["printed"]


@cache
def printed(table: str) -> dict[str, dict[str, float]]:
    """A table of the paper: ``selection``, ``prediction``, ``existence`` or ``seconds``.

    Returns
    -------
    dict of dict
        From data sets to columns to numbers.
    """
    text = (files(__name__) / f"{table}.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {
        row.pop("data_set"): {name: float(value) for name, value in row.items()}
        for row in csv.DictReader(lines)
    }
