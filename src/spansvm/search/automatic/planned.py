"""A search without a grid: its candidates follow from the scores of those before."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import BaseSearch
from ..candidates.refining import Refinement

__all__ = ["PlannedSearch"]


class PlannedSearch(BaseSearch):
    """The search of :class:`~spansvm.SVCCV` and :class:`~spansvm.SVRCV`, by a plan.

    It has the attributes of :class:`~spansvm.SpanSearch`.

    Parameters
    ----------
    estimator : SpanSVC or SpanSVR
    plan : Refinement
        A new one for every call of ``fit``.
    scoring, cv, n_jobs, check_dependence, time_budget
        As in :class:`~spansvm.SpanSearch`.
    """

    method = None
    refit = True
    ties = "around"
    verbose = 0
    pre_dispatch = "2*n_jobs"
    error_score = np.nan
    return_train_score = False
    gram_budget = None
    corrected = True
    checkpoint = None

    def __init__(
        self,
        estimator: Any,
        plan: Refinement,
        *,
        scoring: Any = None,
        cv: Any = None,
        n_jobs: int | None = None,
        check_dependence: bool = True,
        time_budget: float | str | None = None,
    ) -> None:
        self.estimator = estimator
        self.plan = plan
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.check_dependence = check_dependence
        self.time_budget = time_budget

    def _list_candidates(self) -> list[dict[str, Any]]:
        self._plan = self.plan
        return self.plan.candidates
