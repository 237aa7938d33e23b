"""The numbers printed in the paper, by table and data set."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..csv_files import read_rows

__all__ = ["printed"]


@cache
def printed(table: str) -> dict[str, dict[str, float]]:
    """A table of the paper: ``selection``, ``prediction``, ``existence`` or ``seconds``.

    Returns
    -------
    dict of dict
        Numbers by data set and column.
    """
    rows, _ = read_rows(Path(__file__).with_name(f"{table}.csv"))
    return {row.pop("data_set"): row for row in rows}
