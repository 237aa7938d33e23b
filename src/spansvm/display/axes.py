"""What a plot of a search shows, whatever draws it: parameters as axes, scores, the grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.evaluated import evaluated
from ..common.types import Array
from ._figures import is_number, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Axis", "mean_scores", "on_grid", "parameter_columns"]

_MAX_TICKS = 9


def parameter_columns(candidates: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The value of every searched parameter in each candidate; masked where it has none."""
    names = dict.fromkeys(name for params in candidates for name in params)
    return {name: [params.get(name, np.ma.masked) for params in candidates] for name in names}


def mean_scores(search: Any) -> dict[str, Array]:
    """The candidates' mean scores by metric; with a single metric, by the name "score"."""
    start = "mean_test_"
    results = evaluated(search)[0].items()
    return {key[len(start) :]: column for key, column in results if key.startswith(start)}


def on_grid(across: Sequence[int] | np.ndarray, up: Sequence[int] | np.ndarray) -> bool:
    """Whether at least half of the grid cells of two axes, given by codes, have a candidate."""
    taken = set(zip(across, up, strict=True))
    return 2 * len(taken) >= len(set(across)) * len(set(up))


class Axis:
    """One searched parameter: its distinct values in order, and which one each candidate has.

    A candidate without the parameter has ``np.ma.masked``, as in ``cv_results_``.

    Attributes
    ----------
    name : str
    values : list
        The distinct values; numbers first, in order.
    codes : ndarray of int
        Which of the values each candidate has.
    numeric : bool
        Whether all values present are numbers.
    complete : bool
        Whether, in addition, every candidate has one, so that the axis can have a scale.
    base : int
        2 or 10 for a logarithmic scale, 0 for a linear one.
    exponents : ndarray or None
        Of the values, if all are powers of the base.
    """

    def __init__(self, name: str, column: Sequence[Any]) -> None:
        self.name = name
        keys = [float(value) if is_number(value) else repr(value) for value in column]
        found = dict(zip(keys, column, strict=True))
        numbers = sorted(key for key in found if isinstance(key, float))
        others = [key for key in found if not isinstance(key, float)]
        order: dict[Any, int] = {key: index for index, key in enumerate([*numbers, *others])}
        self.values = [found[key] for key in order]
        self.codes = np.array([order[key] for key in keys])
        self.complete = not others
        self.numeric = bool(numbers) and all(found[key] is np.ma.masked for key in others)
        self.base, self.exponents = _scale(np.array(numbers)) if self.complete else (0, None)

    @property
    def positions(self) -> Array:
        """Where each distinct value is drawn, except in a heat map."""
        return np.array(self.values if self.complete else range(len(self.values)), dtype=float)

    def label(self, index: int) -> str:
        """A value as a tick label."""
        if self.exponents is not None:
            return f"${self.base}^{{{self.exponents[index]:g}}}$"
        return short(self.values[index])

    def draw(self, ax: Axes, which: str, *, cells: bool = False) -> None:
        """Set scale, ticks and name of the x or y axis."""
        ax.set(**{f"{which}label": self.name})
        if self.complete and not cells:
            if self.base:
                (ax.set_xscale if which == "x" else ax.set_yscale)("log", base=self.base)
            return
        step = -(-len(self.values) // _MAX_TICKS) if self.numeric else 1
        ticks = list(range(0, len(self.values), step))
        labels = [self.label(index) for index in ticks]
        ax.set(**{f"{which}ticks": ticks, f"{which}ticklabels": labels})
        if which == "x" and self.exponents is None and sum(map(len, labels)) > 60:
            for text in ax.get_xticklabels():
                text.set(rotation=30, ha="right", rotation_mode="anchor")


def _scale(numbers: Array) -> tuple[int, Array | None]:
    """Base of the logarithmic scale, or 0; exponents if all values are powers of the base."""
    if not 0 < 20 * numbers.min() < numbers.max():
        return 0, None
    gaps = np.diff(np.log(numbers)), np.diff(numbers)
    if np.std(gaps[0]) / np.mean(gaps[0]) > np.std(gaps[1]) / np.mean(gaps[1]):
        return 0, None
    for base, part in ((10, 1), (2, 4)):
        exponents = np.log(numbers) / np.log(base)
        rounded = np.round(exponents * part) / part
        if np.allclose(exponents, rounded, rtol=0, atol=1e-9):
            return base, rounded
    return 10, None
