"""Candidates on their grid: the order to train them in, their neighbourhoods, and ties.

Ties matter.  Leave-one-out errors are counts, so on a fine grid many candidates share the best
score, from the middle of a plateau to its rim.  :func:`select` has four ways to choose among
them.  On a wide grid, moreover, many candidates are the same model: beyond some C nothing changes,
and with a small gamma only C times gamma matters.  They predict the same, but the model may be
trained again later, so the one with the smallest weights is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from ...common.types import Array

__all__ = ["EQUAL_SCORES", "TIES", "chains", "list_candidates", "select"]

Params = Mapping[str, Any]

#: The ways to choose among equal scores.
TIES = ("plateau", "around", "hinge", "first")

#: Standard deviation of the Gaussian that weights a neighbourhood: a sixteenth of an axis, but at
#: least one step and at most two.
_PART, _LEAST_WIDTH, _MOST_WIDTH = 16, 1.0, 2.0

#: Scores that differ by less are equal: means over folds have rounding errors.
EQUAL_SCORES = 1e-10

#: Models of equal score whose hinge losses differ by less are the same: a hundredth of the solver's
#: usual tolerance, because different models can be as close as a twentieth.
_SAME_MODEL = 1e-5

#: A hinge loss that is larger by this share is no reason for larger weights.
_SAME_LOSS = 0.01

#: The same for candidates that are not on a grid, by the logarithms of their parameters to base 2.
_OCTAVES = 1.0

#: Axes with fewer values have no rim: it would be most of the axis.
_LONG_AXIS = 5

#: Last parts of the names of parameters that bound multipliers: smaller values, simpler models.
_WEIGHTS = frozenset(("C", "class_weight", "positive", "negative", "ceiling"))

#: Rows of the grid are joined until a chain reaches the first length; chains longer than the second
#: are cut.
_CHAIN, _LONGEST_CHAIN = 24, 48


def list_candidates(param_grid: Any) -> list[dict[str, Any]]:
    """The candidates of a grid, of a list of grids, or of an iterable of candidates.

    A list of dicts is a list of grids if all values in it are sequences.
    """
    if isinstance(param_grid, Mapping) or (
        isinstance(param_grid, Sequence) and param_grid and all(map(_is_grid, param_grid))
    ):
        param_grid = ParameterGrid(param_grid)
    elif not isinstance(param_grid, Iterable) or isinstance(param_grid, str):
        raise TypeError(
            "param_grid must be a dict of lists, a list of such dicts, or an iterable of "
            f"candidates; got {type(param_grid).__name__}."
        )
    candidates = [dict(params) for params in param_grid]
    if not candidates:
        raise ValueError(
            "param_grid is empty: there are no candidates. (An iterator can be searched only once.)"
        )
    return candidates


def _is_grid(params: Any) -> bool:
    """Whether a dict gives a sequence of values for each parameter, not a single value."""
    return isinstance(params, Mapping) and all(
        isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)
        for value in params.values()
    )


def _number(value: Any) -> float | None:
    if type(value) is float and isfinite(value):  # most are, and others take longer to look at
        return value
    if isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value)):
        return float(value)
    return None


def _positions(values: Sequence[Any]) -> list[float] | None:
    """Positions of the values on a numeric axis; None if they are not numbers.

    Dictionaries of numbers, as in ``class_weight``, have positions if a single entry varies.
    """
    if all(isinstance(value, Mapping) for value in values):
        keys = set(values[0])
        if any(set(value) != keys for value in values):
            return None
        varying = [key for key in keys if len({repr(value[key]) for value in values}) > 1]
        if len(varying) > 1:
            return None
        values = [value[varying[0]] for value in values] if varying else [0.0] * len(values)
    numbers = [_number(value) for value in values]
    return None if None in numbers else numbers  # type: ignore[return-value]


def _lattice(candidates: Sequence[Params]) -> tuple[list[str], np.ndarray, list[str]]:
    """Numeric axes, the rank of every candidate on each, and a key of all other parameters.

    Candidates with different parameter names never have equal keys.
    """
    names = sorted(set().union(*candidates)) if candidates else []
    ranks: list[np.ndarray] = []
    numeric: list[str] = []
    keys: list[list[str]] = [[] for _ in candidates]
    for name in names:
        holders = [i for i, params in enumerate(candidates) if name in params]
        positions = _positions([candidates[i][name] for i in holders])
        for i in set(range(len(candidates))) - set(holders):
            keys[i].append(f"no {name}")
        if positions is None:
            for i in holders:
                keys[i].append(f"{name}={candidates[i][name]!r}")
            continue
        rank = {value: place for place, value in enumerate(sorted(set(positions)))}
        column = np.zeros(len(candidates), dtype=np.intp)
        column[holders] = [rank[value] for value in positions]
        numeric.append(name)
        ranks.append(column)
    table = np.column_stack(ranks) if ranks else np.zeros((len(candidates), 0), dtype=np.intp)
    return numeric, table, ["; ".join(key) for key in keys]


def chains(candidates: Sequence[Params]) -> list[list[int]]:
    """Cut candidates into chains in which neighbours follow each other.

    The axis with the most values runs fastest, alternately upwards and downwards.  The cut depends
    only on the candidates, so results do not depend on how many chains run at a time.
    """
    _, ranks, keys = _lattice(candidates)
    axes = np.argsort(ranks.max(axis=0, initial=-1), kind="stable")
    slow = axes[:-1]

    def row_of(i: int) -> tuple[str, tuple[int, ...]]:
        return keys[i], tuple(int(rank) for rank in ranks[i, slow])

    def place(i: int) -> tuple[Any, ...]:
        return (*row_of(i), int(ranks[i, axes[-1]]) if axes.size else 0, i)

    result: list[list[int]] = []
    chain: list[int] = []
    forward = True
    for _, members in groupby(sorted(range(len(candidates)), key=place), key=row_of):
        row = list(members)
        chain += row if forward else row[::-1]
        forward = not forward
        if len(chain) >= _CHAIN:
            result += _cut(chain)
            chain, forward = [], True
    return result + _cut(chain)


def _cut(chain: list[int]) -> list[list[int]]:
    pieces = -(-len(chain) // _LONGEST_CHAIN)
    return [part.tolist() for part in np.array_split(chain, pieces)] if chain else []


def full_grids(candidates: Sequence[Params]) -> list[np.ndarray]:
    """For each full grid, the indices of its candidates, with one dimension per numeric axis."""
    _, ranks, keys = _lattice(candidates)
    grids = []
    for key in dict.fromkeys(keys):
        members = np.array([i for i, other in enumerate(keys) if other == key])
        places = [np.unique(column, return_inverse=True)[1] for column in ranks[members].T]
        shape = tuple(int(place.max()) + 1 for place in places)
        if members.size < 2 or np.prod(shape, dtype=float) != members.size:
            continue
        cells = np.full(shape, -1)
        cells[tuple(places)] = members
        if (cells >= 0).all():  # otherwise repeated candidates make up for missing ones
            grids.append(cells)
    return grids


def neighbourhood_scores(scores: Array, grids: Sequence[np.ndarray]) -> Array:
    """Mean score around every candidate that lies on a full grid; NaN for the others.

    The mean is weighted by a Gaussian of the distance in steps.  Failed candidates (NaN) do not
    count, and neighbourhoods do not extend along non-numeric axes.
    """
    result = np.full(scores.size, np.nan)
    for cells in grids:
        known = ~np.isnan(scores[cells])
        total, weight = np.where(known, scores[cells], 0.0), known.astype(float)
        for axis, length in enumerate(cells.shape):
            steps = np.subtract.outer(np.arange(length), np.arange(length))
            width = min(max((length - 1) / _PART, _LEAST_WIDTH), _MOST_WIDTH)
            kernel = np.exp(-0.5 * (steps / width) ** 2)
            total = np.moveaxis(np.tensordot(kernel, total, (1, axis)), 0, axis)
            weight = np.moveaxis(np.tensordot(kernel, weight, (1, axis)), 0, axis)
        with np.errstate(invalid="ignore"):
            result[cells] = total / weight
    return result


def surrounding_scores(scores: Array, candidates: Sequence[Params]) -> Array:
    """Mean score around every candidate, which need not lie on a grid.

    Distances are those of the logarithms of positive parameters, and neighbourhoods do not extend
    along others.  Failed candidates (NaN) do not count.
    """
    names = sorted(set().union(*candidates)) if candidates else []
    columns = {name: [_number(params.get(name)) for params in candidates] for name in names}
    positive = {
        name: np.log2([value for value in column if value is not None])
        for name, column in columns.items()
        if all(value is not None and value > 0 for value in column)
    }
    rest = [name for name in names if name not in positive]
    keys = [repr([params.get(name) for name in rest]) for params in candidates]
    kinds = np.unique(keys, return_inverse=True)[1]
    squared = np.zeros((len(candidates), len(candidates)))
    for column in positive.values():
        squared += np.subtract.outer(column, column) ** 2
    weight = np.exp(-0.5 * squared / _OCTAVES**2) * (kinds[:, None] == kinds)
    known = ~np.isnan(scores)
    weight[:, ~known] = 0.0
    with np.errstate(invalid="ignore"):
        return weight @ np.where(known, scores, 0.0) / weight.sum(axis=1)


def _inside(n_candidates: int, grids: Sequence[np.ndarray]) -> np.ndarray:
    """Which candidates are not at the end of a long axis of their grid."""
    result = np.ones(n_candidates, dtype=np.bool_)
    for cells in grids:
        for axis, length in enumerate(cells.shape):
            if length >= _LONG_AXIS:
                result[cells.take([0, -1], axis=axis)] = False
    return result


def select(scores: Array, hinge: Array, candidates: Sequence[Params], ties: str) -> int:
    """The index of the selected candidate: the best score, with ties broken by `ties`.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Greater is better; NaN for candidates that failed.  They must not all be NaN.
    hinge : ndarray of shape (n,)
        Mean hinge loss of the left-out predictions.
    candidates : sequence of dict
    ties : {"plateau", "around", "hinge", "first"}
        Prefer the best neighbourhood on the grid, away from its rim if possible, and then the
        smaller hinge loss; the best neighbourhood by the logarithms of parameters, on a grid or
        not, and then the smaller hinge loss; the smaller hinge loss; or the first.  Except with
        "first", of candidates that are the same model, the one with the smallest weights is
        selected.
    """
    tied = every = np.flatnonzero(scores >= np.nanmax(scores) - EQUAL_SCORES)
    if ties == "first":
        return int(tied[0])
    if ties == "plateau":
        grids = full_grids(candidates)
        around = neighbourhood_scores(scores, grids)[tied]
        if not np.isnan(around).any():
            # At the rim only half of the neighbourhood is known, perhaps the better half.
            inside = _inside(len(candidates), grids)[tied]
            if inside.any():
                tied, around = tied[inside], around[inside]
            tied = tied[around >= around.max() - EQUAL_SCORES]
    elif ties == "around" and tied.size > 1:
        around = surrounding_scores(scores, candidates)[tied]
        tied = tied[around >= around.max() - EQUAL_SCORES]
    losses = np.where(np.isnan(hinge[tied]), np.inf, hinge[tied])
    least = float(losses.min())
    chosen = tied[losses <= least + _slack(least)]
    return _with_smallest_weights(chosen, every, least, hinge, candidates)


def _slack(loss: float) -> float:
    """How much larger a hinge loss may be that tells no more of a model."""
    return _SAME_MODEL + (_SAME_LOSS * loss if np.isfinite(loss) else 0.0)


def _with_smallest_weights(
    chosen: np.ndarray, tied: np.ndarray, loss: float, hinge: Array, candidates: Sequence[Params]
) -> int:
    """The same model with the smallest weights, among candidates of equal score.

    `chosen` have this `loss`, up to the accuracy of the solver: which of them has the smallest may
    depend on the order of the rows.  Weights are compared by the sum of their ranks on the grid,
    and only between candidates that agree in all non-numeric parameters.
    """
    names, ranks, keys = _lattice(candidates)
    weights = [name.split("__")[-1] in _WEIGHTS for name in names]
    near, key = np.abs(hinge - loss) <= _slack(loss), keys[chosen[0]]
    same = [int(i) for i in tied if near[i] and keys[i] == key]

    def order(i: int) -> tuple[Any, ...]:
        return ranks[i, weights].sum(), i not in chosen, i

    return min(same, key=order, default=int(chosen[0]))
