"""The selected regression is evaluated exactly.

The span predicts left-out values of a regression well enough to tell good candidates from bad ones:
root mean squared errors are off by a percent or two.  Following every row exactly takes several
times as long as training.  So the candidate that would be selected is evaluated again, with every
row left out exactly, and so is the one that would be selected then, until the selected candidate
has been evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..candidates.shared_data import SharedData
from .dispatch import plan
from .evaluator import evaluate
from .work import Outcome, Work

__all__ = ["confirm"]


def confirm(
    work: Work, X: Any, y: np.ndarray, candidates: Sequence[Mapping[str, Any]],
    outcomes: Sequence[dict[int, Outcome]], choose: Callable[[], int | None],
) -> None:  # fmt: skip
    """Replace outcomes of candidates that would be selected by exact ones.

    Parameters
    ----------
    work : Work
    X, y
        All rows.
    candidates, outcomes
        Of the search; outcomes are replaced in place.
    choose : callable
        The number of the candidate that would be selected from the outcomes as they are.
    """
    if not (work.regression and work.method == "verified" and work.leaving.one_sample):
        return
    exact = replace(work, method="loo", shared=SharedData())
    confirmed: set[int] = set()
    try:
        while (chosen := choose()) is not None and chosen not in confirmed:
            confirmed.add(chosen)
            (chain,) = plan(exact, [candidates[chosen]])
            (outcome,) = evaluate(exact, X, y, chain)
            if outcome.exception is not None or not outcome.converged:
                return
            outcomes[chosen][0] = outcome
    finally:
        exact.shared.close()
