"""``corrected_score_`` of a search: which predictions it needs, and when it can be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...common.methods import predicts
from ...common.types import Rows
from .bootstrap import repeat_selection
from .bootstrap_scores import BootstrapScores, CountedErrors
from .intervals import interval_of_score, interval_of_share
from .kept import BUDGET, Keeping, Kept
from .label_scores import accuracy, count_score, only_errors
from .quickest_scores import Sample, quickest_scores

if TYPE_CHECKING:
    from ..evaluation.work import Outcome, Work

__all__ = [
    "CorrectedScore",
    "Correction",
    "predicted_rows",
    "selecting_scorer",
    "what_to_keep",
]

_MEMORY = (
    f"the predictions of all candidates would take more than {BUDGET // 2**20} MiB; search fewer "
    "candidates, or on a part of the rows"
)

_LACKING = "some folds lack a class, so that their predictions cannot be put together"


@dataclass(frozen=True)
class Correction:
    """The corrected score of the selected model, with its 95% CI, and how often it was drawn."""

    score: float
    interval: tuple[float, float]
    n_draws: int


def selecting_scorer(search: Any) -> str:
    """Name of the scorer that candidates are selected by."""
    several = not (search.scoring is None or isinstance(search.scoring, str))
    several &= not callable(search.scoring)
    return search.refit if several and isinstance(search.refit, str) else "score"


def what_to_keep(search: Any, work: Work, n_candidates: int, y: np.ndarray) -> Keeping | str:
    """What to keep of every candidate; in words, why there is no correction if there is none."""
    if not search.corrected:
        return "the search was made with corrected=False"
    if not predicts(work.method):
        return f"method={work.method!r} gives no predictions"
    if callable(search.refit):
        return "refit is a function of all results, whose choice cannot be repeated on drawn rows"
    name = selecting_scorer(search)
    scorers = {"score": None} if work.scorers is None else work.scorers
    if name not in scorers:
        return "there are several scores, and refit names none of them to select by"
    # Of several labels per row, only all together are right or wrong.
    classes = np.unique(y) if y.ndim == 1 else np.empty(0)
    errors = only_errors(scorers[name], work.score_params.get(name, {}), classes)
    return Keeping(name, errors, BUDGET // (n_candidates * work.leaving.n_splits))


class CorrectedScore:
    """A search whose score is corrected for the selection; the search derives from this class."""

    #: The correction; the predictions that it will be computed from; or why there is none.
    _correction: Correction | _Predictions | str = "the search is not fitted"

    @property
    def corrected_score_(self) -> float:
        """Score of the selected model, corrected for being the best of many."""
        return self._corrected("corrected_score_").score

    @property
    def corrected_interval_(self) -> tuple[float, float]:
        """95% CI of the score of the selected model."""
        return self._corrected("corrected_interval_").interval

    def _corrected(self, attribute: str) -> Correction:
        if isinstance(self._correction, _Predictions):
            self._correction = self._correction.correct()
        if isinstance(self._correction, str):
            raise AttributeError(f"There is no {attribute}: {self._correction}.")
        return self._correction

    def _correct(
        self,
        outcomes: Sequence[Mapping[int, Outcome]],
        work: Work,
        X: Any,
        y: np.ndarray,
        groups: Any,
    ) -> None:
        """Gather what the correction needs; it is computed when it is asked for."""
        self._correction = _gather(self, [own for own in outcomes if own], work, X, y, groups)

    def __getstate__(self) -> dict[str, Any]:
        """Without the predictions, and perhaps the data, that would make a saved search large."""
        pending: Any = self._correction
        state: Any = super().__getstate__()
        if not isinstance(pending, _Predictions):
            return state
        reason = "it was not asked for before the search was saved or copied"
        return {**state, "_correction": pending.correct() if pending.quick else reason}


@dataclass(frozen=True, eq=False)
class _Predictions:
    """Predictions of all candidates of a search, to correct the score of the selected one."""

    scores: BootstrapScores
    best: int
    best_score: float
    units: Rows
    n_rows: int
    is_share: bool
    weighted: bool

    @property
    def quick(self) -> bool:
        """Whether the correction takes a small part of the time of the search."""
        return isinstance(self.scores, CountedErrors)

    def correct(self) -> Correction | str:
        """The correction, or why there is none."""
        repeated = repeat_selection(self.scores, self.best, self.units)
        if not repeated.drawn.size:
            return (
                "no draw of the rows gives a score, as they are too few, or as the scorer looks at "
                "more than predictions"
            )
        # Below 0 only by the chance of the draws.
        score = float(self.best_score - max(repeated.optimism, 0.0))
        if self.is_share:
            independent = not self.weighted and int(self.units.max()) + 1 == self.n_rows
            interval = interval_of_share(score, repeated, self.n_rows, independent)
        else:
            interval = interval_of_score(score, repeated, self.scores.limits)
        return Correction(score, interval, repeated.drawn.size)


def _gather(
    search: Any, outcomes: Sequence[Mapping[int, Outcome]], work: Work, X: Any, y: np.ndarray,
    groups: Any,
) -> _Predictions | str:  # fmt: skip
    """The predictions that were kept, pooled over the folds."""
    keeping = work.keeping
    if not isinstance(keeping, Keeping):
        return keeping
    if not hasattr(search, "best_score_"):
        return "no candidate was selected"
    predicted = predicted_rows(work, len(y))
    sizes, rows = [own.size for own in predicted], np.concatenate(predicted)
    parts = [[own[k].kept if k in own else None for k in range(len(sizes))] for own in outcomes]
    kept = [_pooled(own, sizes) for own in parts]
    selected = kept[search.best_index_]
    if selected is None:
        chosen = outcomes[search.best_index_]
        if len(chosen) < len(sizes) or any(o.exception is not None for o in chosen.values()):
            return "the selected candidate was not evaluated on all rows"
        if None in parts[search.best_index_]:
            return _MEMORY
        return _LACKING
    classes = np.unique(y)
    values = selected.responses.get("predict_proba")
    if values is not None and y.ndim == 1 and values.shape[1] != classes.size:
        return _LACKING
    params = work.score_params.get(keeping.scorer, {})
    scorer = None if work.scorers is None else work.scorers[keeping.scorer]
    scores = quickest_scores(scorer, params, kept, Sample(rows, y, X), search.refit)
    counted = count_score(scorer, classes) if keeping.only_errors else None
    units = rows if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1][rows]
    return _Predictions(
        scores,
        search.best_index_,
        search.best_score_,
        np.unique(units, return_inverse=True)[1],
        np.unique(rows).size,
        counted is accuracy,
        params.get("sample_weight") is not None,
    )


def predicted_rows(work: Work, n_rows: int) -> list[Rows]:
    """The rows that candidates predict, split by split."""
    leaving = work.leaving
    if leaving.sets is not None and not leaving.pooled:
        return leaving.sets
    if leaving.splits[0] is not None:
        return [split[1] for split in leaving.splits if split is not None]
    weight = work.params.sample_weight
    return [np.arange(n_rows) if weight is None else np.flatnonzero(weight)]


def _pooled(parts: Sequence[Kept | None], sizes: Sequence[int]) -> Kept | None:
    """What was kept of a candidate on splits of these sizes; None unless it was on each."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({_form(part) for part in known}) > 1:
        return None
    if len(known) == 1:
        return known[0]
    bits = [
        np.unpackbits(part.wrong, count=size)
        for part, size in zip(known, sizes, strict=True)
        if part.wrong is not None
    ]
    return Kept(
        np.packbits(np.concatenate(bits)) if bits else None,
        {
            method: np.concatenate([part.responses[method] for part in known])
            for method in known[0].responses
        },
        known[0].values,
    )


def _form(kept: Kept) -> tuple[Any, ...]:
    """What must agree between folds: the methods that were asked, and numbers of columns."""
    return tuple((method, *values.shape[1:]) for method, values in sorted(kept.responses.items()))
