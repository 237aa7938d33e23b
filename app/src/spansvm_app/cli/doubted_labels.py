"""``labels.csv``: what the others say of the label of each row, to be corrected by hand."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from spansvm import LabelIssuesWarning, find_label_issues

from ..common.output import write_csv
from ..report.suspicious import who_doubts
from ..tables import Table
from ..tables.corrections import CORRECTED, GIVEN, ROW

__all__ = ["write_labels"]

#: The columns that find_label_issues has, too.
_SAID = ("predicted_label", "label_quality", "is_label_issue")


def write_labels(path: Path, search: Any, table: Table) -> None:
    """Write a line for each row that was searched, the most doubtful label first.

    Rows are numbered as in the file of the table, also those that contradict.  Labels that were
    corrected stay corrected: the file says what it was given, and what is right.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelIssuesWarning)  # the report says it
        found = find_label_issues(who_doubts(search)[0])
    numbers, issue = table.row_numbers, found.is_label_issue.to_numpy()
    labels = table.y if table.given is None else table.given
    assert labels is not None
    assert table.y is not None
    right = ["" if new == old else _cell(new) for new, old in zip(table.y, labels, strict=True)]
    columns = [labels, *(found[name] for name in _SAID)]
    against = [" ".join(str(numbers[own]) for own in rows) for rows in found.contradicted_by]
    names = [] if table.ids is None else [table.ids]
    with path.open("w", encoding="utf-8", newline="") as stream:
        heading = [ROW, *("id" for _ in names), GIVEN, *_SAID, "contradicted_by", CORRECTED]
        order = np.lexsort((found.label_quality, ~issue))
        lines = (
            [numbers[row], *(ids[row] for ids in names),
             *(_cell(column[row]) for column in columns), against[row], right[row]]
            for row in order
        )  # fmt: skip
        write_csv(stream, [heading, *lines])


def _cell(value: Any) -> Any:
    """A value as text that reads as the same value."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return value.item() if isinstance(value, np.generic) else value
