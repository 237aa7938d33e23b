"""How much one feature alone tells about the labels: the same measure for numbers and for texts.

It is Goodman and Kruskal's tau, adjusted: the share of the labels' variance (their Gini impurity)
that knowing the feature removes.  The values of a text are its groups, and numbers are cut into
groups of about equally many rows; a missing value is a group of its own.  Within a group, labels
vary; how much less than over all rows is the share explained.

Why this one: eta squared needs numbers and sees differences of means only; Cramer's V and mutual
information grow with the number of groups, so that a column of names would explain everything.
The adjustment is that of an adjusted R squared: groups by chance explain 0 on average, and a
column that is different in every row explains nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .columns import as_numbers, codes_of

__all__ = ["MEASURE", "explained_share", "strongest"]

#: What the measure is called on the page.
MEASURE = "share of the labels' variance that a feature alone explains (adjusted tau)"

#: Numbers with more distinct values are cut into this many groups.
_GROUPS = 10


def explained_share(column: np.ndarray, own: np.ndarray) -> float:
    """Share of the labels' variance that a feature explains; at most 1, and about 0 for noise.

    Parameters
    ----------
    column : ndarray of shape (n,)
        Numbers or texts.
    own : ndarray of int of shape (n,)
        The class of every row.

    Examples
    --------
    >>> import numpy as np
    >>> from spansvm_app.studies.association import explained_share
    >>> own = np.arange(100) % 2
    >>> explained_share(np.where(own, "yes", "no"), own)
    1.0
    >>> explained_share(np.arange(100) // 50, own) < 0
    True
    """
    groups = _groups_of(column)
    n, n_groups = own.size, int(groups.max(initial=-1)) + 1
    if n_groups < 2 or n_groups >= n:
        return 0.0
    counts = np.zeros((n_groups, int(own.max()) + 1))
    np.add.at(counts, (groups, own), 1.0)
    impurity = 1.0 - float(((counts.sum(axis=0) / n) ** 2).sum())
    if impurity <= 0.0:
        return 0.0
    within = 1.0 - float(((counts**2).sum(axis=1) / counts.sum(axis=1)).sum()) / n
    return 1.0 - (within / impurity) * (n - 1) / (n - n_groups)


def strongest(columns: Sequence[np.ndarray], own: np.ndarray, number: int) -> list[int]:
    """The columns that tell most about the classes, by :func:`explained_share`."""
    each = np.array([explained_share(values, own) for values in columns])
    return sorted(np.argsort(-each, kind="stable")[:number].tolist())


def _groups_of(column: np.ndarray) -> np.ndarray:
    """The number of every row's group."""
    values = as_numbers(column)
    if values is None:
        return codes_of(column)
    known = np.isfinite(values)
    distinct, codes = np.unique(values[known], return_inverse=True)
    if distinct.size > _GROUPS:
        inner = np.linspace(0.0, 1.0, _GROUPS + 1)[1:-1]
        cuts, times = np.unique(np.quantile(values[known], inner), return_counts=True)
        # A value that many rows have is a group of its own, neither with smaller nor larger ones.
        frequent = cuts[times > 1]
        codes = np.searchsorted(cuts, values[known])
        codes = codes + np.searchsorted(frequent, values[known], side="right")
        codes = np.unique(codes, return_inverse=True)[1]
    groups = np.full(values.size, int(codes.max(initial=-1)) + 1)
    groups[known] = codes
    return groups
