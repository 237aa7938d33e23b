"""Searches that take less: a coarser grid, a sample of the rows, an approximated kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem

from spansvm.blocks import stratified_rows, take_rows, tenths
from spansvm.errors import UserError

from ..common.tasks import REGRESSION
from ..common.types import Rows
from ..common.wording import listed
from ..report.plain import percent
from ..tables import Table
from .grids import SearchPlan
from .terminal import Terminal

__all__ = ["Sample", "approximated", "coarser", "draw_sample", "fewest_rows"]

#: A sample has at least this many rows of every class, as many as the folds of kfold need; that of
#: a regression has this many in all.
_FEWEST, _FEWEST_OF_QUANTITY = 5, 50

#: A class keeps so many of its rows, or all that it has, whatever its share: with fewer a search
#: cannot tell candidates apart by them, and every further one would distort the shares.  In a small
#: sample such rows are no more than half of it.
_KEPT, _MOST_KEPT = 50, 0.5

#: A class is told of if its share of the sample is larger than that of the file by so much, and by
#: so much of the latter.
_LARGER, _LARGER_BY = 0.005, 0.25


@dataclass(frozen=True)
class Sample:
    """Some of the rows of a table.

    Attributes
    ----------
    table : Table
        These rows.
    rows : ndarray of int
        Where they are in the whole table.
    n_of : int
        How many rows the whole table has.
    """

    table: Table
    rows: Rows
    n_of: int

    @property
    def in_words(self) -> str:
        """How large it is."""
        return f"{self.table.n_rows} of {self.n_of} rows"


def draw_sample(
    table: Table, n_rows: int | None, seed: int, terminal: Terminal, why: str = ""
) -> Sample | None:
    """A sample with every class, or tenth of the targets, in its share; of whole groups if any.

    A rare class keeps the few rows that a search needs, which others have less; that is told if
    its share is then noticeably larger.

    None if all rows are to be searched.  `why` is the reason, if it was not asked for.
    """
    if n_rows is None:
        return None
    n_classes = len(table.schema.classes)
    if n_rows < fewest_rows(table):
        of_each = f", {_FEWEST} rows for each of {n_classes} classes" if n_classes else ""
        raise UserError(f"--sample must be at least {fewest_rows(table)}{of_each}; got {n_rows}.")
    if n_rows >= table.n_rows:
        terminal.note(
            f"All {table.n_rows} rows are searched: there are no more than --sample {n_rows}."
        )
        return None
    y = np.asarray(table.y)
    regression = table.task == REGRESSION
    if table.groups is None:
        if regression:
            rows = stratified_rows(tenths(y), n_rows, seed=seed, fewest=_FEWEST)
        else:
            rows = _of_classes(y, n_rows, seed)
    else:
        rows = _whole_groups(table.groups, n_rows, seed)
        _check_groups(table, rows, n_rows)
    parts: dict[str, Any] = {
        name: None if getattr(table, name) is None else take_rows(getattr(table, name), rows)
        for name in ("X", "y", "scores", "weights", "groups", "ids", "given")
    }
    parts["rows"] = table.row_numbers[rows]
    sample = Sample(replace(table, **parts), rows, table.n_rows)
    drawn = why or (
        f"The search uses a sample of {sample.in_words} (--sample {n_rows}, --seed {seed}); the "
        "selected model is then trained on all rows."
    )
    terminal.note(
        f"{drawn} Figures are those of a model trained on the sample, unless they say all rows.",
        fact=bool(why),
    )
    if not regression:
        _tell_of_shares(y, rows, terminal)
    return sample


def fewest_rows(table: Table) -> int:
    """How many rows a sample must have at least."""
    return _FEWEST * len(table.schema.classes) or _FEWEST_OF_QUANTITY


def _of_classes(y: np.ndarray, n_rows: int, seed: int) -> Rows:
    """Exactly so many rows, of every class according to its share, but a few at least."""
    indices, sizes = np.unique(y, return_inverse=True, return_counts=True)[1:]
    fewest = max(min(_KEPT, int(_MOST_KEPT * n_rows / sizes.size)), _FEWEST)
    counts = _quotas(sizes, n_rows, np.minimum(sizes, fewest))
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(np.flatnonzero(indices == label)) for label in range(sizes.size)]
    return np.sort(np.concatenate([o[:n] for o, n in zip(orders, counts, strict=True)]))


def _quotas(sizes: Rows, n_rows: int, least: Rows) -> Rows:
    """How many rows each class has: its share of what those with their least number leave."""
    fixed = np.zeros(sizes.size, dtype=bool)
    while True:
        free, total = n_rows - least[fixed].sum(), sizes[~fixed].sum()
        short = ~fixed & (sizes * free < least * total)
        if not short.any():
            break
        fixed |= short
    counts = np.where(fixed, least, sizes * free // total)
    # Whole rows are missing from rounding: the largest remainders get them.
    remainders = np.where(fixed, -1, sizes * free % total)
    counts[np.argsort(-remainders, kind="stable")[: n_rows - counts.sum()]] += 1
    return counts


def _tell_of_shares(y: np.ndarray, rows: Rows, terminal: Terminal) -> None:
    """Say which classes the figures of a sample count too often."""
    classes, sizes = np.unique(y, return_counts=True)
    drawn = np.array([(y[rows] == label).sum() for label in classes])
    own, found = sizes / y.size, drawn / rows.size
    more = (found - own > _LARGER) & (found - own > _LARGER_BY * own)
    if not more.any():
        return
    shares = [
        f"'{label}' is {percent(of_sample)} of the sample and {percent(of_file)} of the file"
        for label, of_sample, of_file in zip(classes[more], found[more], own[more], strict=True)
    ]
    counted = "it" if len(shares) == 1 else "them"
    terminal.note(
        f"{listed(shares)}, so that figures of the sample count {counted} too often; the error on "
        "all rows does not."
    )


def _whole_groups(groups: np.ndarray, n_rows: int, seed: int) -> Rows:
    """Rows of randomly drawn groups, until there are enough."""
    indices, sizes = np.unique(groups, return_inverse=True, return_counts=True)[1:]
    order = np.random.default_rng(seed).permutation(sizes.size)
    n_groups = int(np.searchsorted(np.cumsum(sizes[order]), n_rows)) + 1
    return np.flatnonzero(np.isin(indices, order[:n_groups]))


def _check_groups(table: Table, rows: Rows, n_rows: int) -> None:
    y = np.asarray(table.y)
    absent = np.setdiff1d(y, y[rows])
    if absent.size and table.task != REGRESSION:
        raise UserError(
            f"The groups of --sample {n_rows} have no row of class {absent[0]}; use a larger "
            "sample, or another --seed."
        )
    assert table.groups is not None
    if np.unique(table.groups[rows]).size < 2:
        raise UserError(
            f"--sample {n_rows} holds a single group; use a larger sample, so that whole groups "
            "can be left out."
        )


def coarser(plan: SearchPlan, n_candidates: int | None, terminal: Terminal) -> SearchPlan:
    """The search with at most so many candidates: fewer values on its longest axes."""
    if n_candidates is None:
        return plan
    if n_candidates < 1:
        raise UserError(f"--candidates must be at least 1; got {n_candidates}.")
    grids = [{name: list(values) for name, values in part.items()} for part in plan.parts]
    thinned = replace(plan, grid=grids)
    while thinned.n_candidates > n_candidates:
        part, name = max(
            ((part, name) for part in grids for name in part), key=lambda at: len(at[0][at[1]])
        )
        if len(part[name]) == 1:
            raise UserError(
                f"The search has {len(grids)} grids, so --candidates must be at least {len(grids)};"
                f" got {n_candidates}."
            )
        values = plan.parts[[own is part for own in grids].index(True)][name]
        part[name] = _evenly(values, len(part[name]) - 1)
    if thinned.n_candidates < plan.n_candidates:
        terminal.note(
            f"The grid has {thinned.n_candidates} candidates instead of {plan.n_candidates} "
            f"(--candidates {n_candidates})."
        )
    return thinned


def _evenly(values: list[Any], count: int) -> list[Any]:
    """So many of the values: the ends and others evenly between them; the middle, if one."""
    if count == 1:
        return [values[len(values) // 2]]
    chosen = np.linspace(0, len(values) - 1, count).round().astype(int)
    return [values[i] for i in chosen]


def approximated(plan: SearchPlan, n_components: int | None, n_rows: int, seed: int) -> SearchPlan:
    """The search with the kernel approximated from landmarks, and a linear machine behind it."""
    if n_components is None:
        return plan
    if plan.model.kernel == "linear":
        raise UserError("A linear kernel needs no --components; leave one of them out.")
    if not 2 <= n_components < n_rows:
        raise UserError(
            f"--components must be at least 2 and less than the number of rows, {n_rows}; got "
            f"{n_components}."
        )
    model = plan.model
    landmarks = Nystroem(
        kernel=model.kernel,
        degree=model.degree,
        coef0=model.coef0,
        n_components=n_components,
        random_state=seed,
    )
    grids = [
        {name: [_of_landmarks(name, value) for value in values] for name, values in part.items()}
        for part in plan.parts
    ]
    linear = clone(model).set_params(kernel="linear")
    return replace(plan, model=linear, grid=grids, landmarks=landmarks)


def _of_landmarks(name: str, value: Any) -> Any:
    """A parameter value as Nystroem takes it; its default gamma is 1/d."""
    if name == "gamma" and value == "auto":
        return None
    if name == "gamma" and value == "scale":
        raise UserError("--components needs numbers for gamma, or auto; replace scale in the grid.")
    if name == "kernel" and value == "linear":
        raise UserError("A linear kernel needs no --components; leave one of them out.")
    return value
