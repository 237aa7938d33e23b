"""Values of machines without a row, or without its set, at any place.

The machine without row p differs from the one with it in a few multipliers and the intercept
(:class:`~spansvm.machine.groups.Removed`: block form of Theorem 2, or the followed solution), so

    f^p(x) = f(x) + sum_j m_j K(x_j, x) + e

for any x: only rows of kernel values are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..common.types import Array, Rows
from ..machine.groups import Removed, Remover
from .group_left_out import numbers_of
from .machines import TrainedMachines

__all__ = ["ValuesWithout"]

#: Kernel values held at a time.
_BLOCK_NUMBERS = 4_000_000


class ValuesWithout:
    """Values of the machines without a row, or without its set, at any other place.

    Parameters
    ----------
    machines : TrainedMachines
    sets : list of ndarray of int, or None
        Rows that leave together and make up all; None for single rows.

    Attributes
    ----------
    n_active : int
        How many rows are support vectors: what a value takes.
    shifts : ndarray of shape (n_rows, n_pairs)
        What is subtracted from the values of the prepared rows so that they can be ranked.
    """

    def __init__(self, machines: TrainedMachines, sets: list[Rows] | None = None) -> None:
        self._machines, self._sets = machines, sets
        n_rows = machines.indices.size
        self._units = np.arange(n_rows) if sets is None else numbers_of(sets, n_rows)
        signed = machines.found.signed
        supports = np.zeros(n_rows, dtype=np.bool_)
        supports[machines.pair_rows.row[signed != 0.0]] = True
        self._supports = supports
        self.n_active = int(supports.sum())

    def prepare(self, rows: Rows, *, ranked: bool = False) -> None:
        """Leave out every one of `rows`, or its set; with the shifts if values are `ranked`."""
        machines, units, sets = self._machines, self._units, self._sets
        members = {
            int(unit): np.array([row]) if sets is None else sets[unit]
            for unit, row in zip(units[rows], rows, strict=True)
        }
        active = self._supports.copy()
        self.shifts = np.zeros((rows.size, machines.intercepts.size))
        found = []
        with machines.holding_grams():
            for column, (model, own) in enumerate(
                zip(machines.models(), machines.pair_rows.rows, strict=True)
            ):
                local = np.full(units.size, -1, dtype=np.intp)
                local[own] = np.arange(own.size)
                remover = Remover(model.gram, model.solution)
                removed: dict[int, Removed] = {}
                for unit, own_set in members.items():
                    inside = local[own_set]
                    inside = inside[inside >= 0]
                    if inside.size:
                        removed[unit] = remover.remove(inside)
                        if ranked:
                            shift = remover.shift(removed[unit], inside)
                            self.shifts[units[rows] == unit, column] = shift
                changes = [
                    (place, removed[unit])
                    for place, unit in enumerate(units[rows].tolist())
                    if unit in removed and not removed[unit].unchanged
                ]
                found.append(_Changes(changes, own))
                active[found[-1].moved] = True
        self._active = np.flatnonzero(active)
        self._place = np.full(units.size, -1, dtype=np.intp)
        self._place[self._active] = np.arange(self._active.size)
        self._changes = found
        self._coefficients = self._of_active()
        self._points = machines.X[self._active]
        self._size = rows.size

    def _of_active(self) -> Array:
        """Signed multipliers of the active rows, one column per pair."""
        machines, pairs = self._machines, self._machines.pair_rows
        result = np.zeros((self._active.size, machines.intercepts.size))
        known = self._place[pairs.row] >= 0
        result[self._place[pairs.row[known]], pairs.column[known]] = machines.found.signed[known]
        return result

    def values(self, points: Any, n_repeats: int) -> Array:
        """Values of all pairs, of shape (n_repeats, n_rows, n_pairs).

        `points` holds `n_repeats` places for each of the prepared rows, row by row.
        """
        machines, size = self._machines, self._size
        result = np.empty((size, n_repeats, machines.intercepts.size))
        step = max(1, _BLOCK_NUMBERS // max(self._active.size * n_repeats, 1))
        for start in range(0, size, step):
            part = result[start : start + step]
            stop = start + part.shape[0]
            kernel = np.asarray(
                machines.kernel(points[start * n_repeats : stop * n_repeats], self._points)
            )
            plain = kernel @ self._coefficients + machines.intercepts
            part[:] = plain.reshape(part.shape)
            kernel = kernel.reshape(*part.shape[:2], -1)
            for column, changes in enumerate(self._changes):
                changes.add_to(part[:, :, column], kernel, self._place[changes.moved], start)
        return result.swapaxes(0, 1)


class _Changes:
    """How the machine of one pair changes without each of the rows that it was trained on.

    Attributes
    ----------
    moved : ndarray of int
        The rows whose multipliers change without some row.
    """

    def __init__(self, changes: Sequence[tuple[int, Removed]], own: Rows) -> None:
        self._constant = [(at, one.constant) for at, one in changes if one.constant is not None]
        changes = [(at, one) for at, one in changes if one.constant is None]
        self._at = np.array([at for at, _ in changes], dtype=np.intp)
        self._intercepts = np.array([one.intercept for _, one in changes])
        local = np.unique(np.concatenate([np.empty(0, np.intp), *(one.rows for _, one in changes)]))
        self.moved = own[local]
        self._moves = np.zeros((len(changes), local.size))
        for number, (_, one) in enumerate(changes):
            self._moves[number, np.searchsorted(local, one.rows)] = one.moves

    def add_to(self, values: Array, kernel: Array, places: Rows, start: int) -> None:
        """Change values of shape (n, n_repeats), of the rows from `start` on.

        `kernel` holds their kernel values, and `places` says where those of `moved` are.
        """
        for at, constant in self._constant:
            if start <= at < start + values.shape[0]:
                values[at - start] = constant
        here = np.flatnonzero((self._at >= start) & (self._at < start + values.shape[0]))
        if here.size == 0:
            return
        changed = self._at[here] - start
        values[changed] += self._intercepts[here, None]
        if places.size:
            # The moves sum to 0; differences are exact where kernel values are nearly equal.
            block = kernel[changed][:, :, places]
            block -= block[:, :, :1]
            values[changed] += np.matmul(block, self._moves[here][:, :, None])[:, :, 0]
