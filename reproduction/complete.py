"""Results read from the store: complete problems as arrays over their candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spansvm.common.types import Array

from .datasets import names
from .problems import GRIDS, WITH_SCORES, Candidate, Key, candidate_name
from .store import MODEL_COLUMNS, Store
from .trials import n_folds

__all__ = ["CompleteProblems"]


class CompleteProblems:
    """The results of complete problems in a store.

    Parameters
    ----------
    store : Store
    grid : str
        ``"paper"`` or ``"quick"``.
    """

    def __init__(self, store: Store, grid: str) -> None:
        self.store, self.grid = store, grid
        self._folds: dict[Key, dict[str, tuple[Array, Array]]] = {}

    def candidates(self, key: Key) -> Sequence[Candidate]:
        """The candidates of a problem, in the order of all arrays."""
        return GRIDS[self.grid][key.data_set in WITH_SCORES]

    def complete(self) -> list[Key]:
        """Problems with every candidate trained on all training rows, in the paper's order.

        If some splits of a data set have folds, those without them are not complete: means should
        be over the same splits.
        """
        order = {name: place for place, name in enumerate(names())}
        keys = sorted(
            self.store.problems("models"),
            key=lambda key: (order.get(key.data_set, len(order)), key),
        )
        trained = [
            key for key in keys if len(self.store.known("models", key)) == len(self.candidates(key))
        ]
        folded = {key.data_set for key in trained if self.folds(key)}
        return [
            key for key in trained if key.variant or key.data_set not in folded or self.folds(key)
        ]

    def models(self, key: Key) -> dict[str, Array]:
        """Columns of the models of a complete problem."""
        rows = self.store.rows("models", ["candidate", *MODEL_COLUMNS], key)
        table = self._in_order(key, rows)
        return dict(zip(MODEL_COLUMNS, table.T, strict=True))

    def folds(self, key: Key) -> dict[str, tuple[Array, Array]]:
        """For each complete scheme, the error and the mean hinge loss of left-out rows."""
        if key in self._folds:
            return self._folds[key]
        result = self._folds[key] = {}
        columns = ["candidate", "fold", "wrong", "tested", "hinge"]
        schemes = {row[0] for row in self.store.rows("folds", ["DISTINCT scheme"], key)}
        for scheme in sorted(schemes):
            rows = self.store.rows("folds", columns, key, scheme=scheme)
            by_fold = [
                [(row[0], *row[2:]) for row in rows if row[1] == fold]
                for fold in range(n_folds(scheme))
            ]
            if all(len(part) == len(self.candidates(key)) for part in by_fold):
                total = sum(self._in_order(key, part) for part in by_fold)
                wrong, tested, hinge = np.asarray(total).T
                result[scheme] = (wrong / tested, hinge / tested)
        return result

    def _in_order(self, key: Key, rows: Sequence[tuple]) -> Array:
        """The numbers in the rows, which begin with the candidate, in candidate order."""
        place = {candidate_name(c): i for i, c in enumerate(self.candidates(key))}
        ordered = sorted(rows, key=lambda row: place[row[0]])
        return np.array([row[1:] for row in ordered], dtype=np.float64)
