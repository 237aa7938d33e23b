"""Tables for the page, with the paper's numbers next to ours, and how numbers are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .csv_files import csv_text
from .datasets import describe

__all__ = ["PageTable", "by_data_set", "mean_and_error", "number", "title"]


@dataclass(frozen=True)
class PageTable:
    """A table on the page.

    Attributes
    ----------
    name : str
        The name of its file.
    caption : str
    columns : sequence of str
    rows : sequence of sequence of str
    """

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def markdown(self) -> str:
        """The table in Markdown, under its caption."""
        lines = [self.columns, [":--", *["--:"] * (len(self.columns) - 1)], *self.rows]
        body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"**{self.caption}**\n\n{body}\n"

    @property
    def csv(self) -> str:
        """The table as CSV, without Markdown markup."""
        rows = [[cell.replace("**", "") for cell in row] for row in self.rows]
        return csv_text([self.columns, *rows])


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error; NaN for the error of a single value."""
    array = np.array(values, dtype=np.float64)
    if array.size < 2:
        return float(array.mean()), np.nan
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(array.size))


def number(value: float, error: float = np.nan, digits: int = 4) -> str:
    """A number with its standard error, if it has one."""
    text = f"{value:.{digits}f}"
    return text if np.isnan(error) else f"{text} ± {error:.{digits}f}"


def title(data_set: str) -> str:
    """The name of a data set in the paper."""
    return describe(data_set).title


def by_data_set(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Rows by data set, in order of first appearance."""
    result: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        result.setdefault(row["data_set"], []).append(row)
    return result
