"""The division of labour: candidates into chains, chains to workers.

The chains depend only on the candidates, so results do not depend on the number of workers.
A worker is sent the rows and the parameters, never a Gram matrix.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import BrokenExecutor, CancelledError
from itertools import groupby
from typing import Any

import joblib
import numpy as np
from sklearn import config_context

from ..candidates.building import Candidates, setting_keys
from ..candidates.grid import chains
from .evaluator import evaluate
from .work import Chain, Outcome, Work

__all__ = ["plan", "run"]

#: How often chains that were lost with their workers are resubmitted.
_RETRIES = 3

#: Exceptions of joblib's backends, besides Python's own, for a worker that died.
_LOST = ("KilledWorker", "FutureCancelledError", "WorkerCrashedError", "RayActorError")


def run(
    work: Work,
    X: Any,
    y: np.ndarray,
    candidates: Sequence[Mapping[str, Any]],
    n_jobs: int | None,
    pre_dispatch: Any = "2*n_jobs",
    done: Set[int] = frozenset(),
) -> Iterator[tuple[int, int, Outcome]]:
    """Yield candidate, split and outcome for all of them, as each becomes known.

    `pre_dispatch` is how many chains joblib takes at once.  Chains of which all candidates are
    `done` are left out; those with others begin at their start, so that results do not depend on
    what is done.
    """
    waiting = [chain for chain in plan(work, candidates) if set(chain.indices) - done]
    if joblib.effective_n_jobs(n_jobs) == 1:
        for chain in waiting:
            for index, outcome in zip(chain.indices, evaluate(work, X, y, chain), strict=True):
                yield index, chain.split, outcome
        return
    waiting = _from_both_ends(waiting)
    for attempt in range(_RETRIES + 1):
        try:
            for chain, outcomes in _in_parallel(work, X, y, waiting, n_jobs, pre_dispatch):
                for index, outcome in zip(chain.indices, outcomes, strict=True):
                    yield index, chain.split, outcome
                waiting = [other for other in waiting if other is not chain]
            return
        except Exception as error:
            if attempt == _RETRIES or not _lost_a_worker(error):
                raise
            warnings.warn(
                f"A worker was lost ({type(error).__name__}); resubmitting {len(waiting)} chains "
                "of candidates.",
                RuntimeWarning,
                stacklevel=6,
            )


def _lost_a_worker(error: Exception) -> bool:
    """Whether a worker failed rather than the work."""
    return (
        isinstance(error, (BrokenExecutor, CancelledError, ConnectionError, EOFError))
        or type(error).__name__ in _LOST
    )


def plan(work: Work, candidates: Sequence[Mapping[str, Any]]) -> list[Chain]:
    """Chains of candidates that share a Gram matrix, one matrix after the other."""
    together: dict[tuple[str, str], list[int]] = {}
    builder = Candidates(work.estimator)
    for index, keys in enumerate(setting_keys(work.estimator, candidates, builder)):
        together.setdefault(keys, []).append(index)
    work.shared.builders.append(builder)
    result: list[Chain] = []
    for keys, members in together.items():
        for chain in chains([candidates[i] for i in members]):
            indices = [members[k] for k in chain]
            own = [candidates[i] for i in indices]
            result += [Chain(split, indices, own, *keys) for split in range(len(work.splits))]
    # The transformed rows of a fold serve all kernels.
    order = {keys: number for number, keys in enumerate(together)}
    return sorted(result, key=lambda c: (c.transformers, c.split, order[c.transformers, c.kernel]))


def _from_both_ends(chains: Sequence[Chain]) -> list[Chain]:
    """The last and the first kernel of each split, then those next to them.

    Mostly the largest or the smallest gamma takes longest: it must not be left for one worker.
    """
    result: list[Chain] = []
    for _, members in groupby(chains, lambda chain: (chain.transformers, chain.split)):
        own = deque(members)
        while own:
            result.append(own.pop() if len(result) % 2 == 0 else own.popleft())
    return result


def _in_parallel(
    work: Work,
    X: Any,
    y: np.ndarray,
    waiting: list[Chain],
    n_jobs: int | None,
    pre_dispatch: Any,
) -> Iterator[tuple[Chain, list[Outcome]]]:
    options: dict[str, Any] = {
        "n_jobs": n_jobs, "prefer": "threads", "batch_size": 1, "pre_dispatch": pre_dispatch,
    }  # fmt: skip
    try:
        parallel = joblib.Parallel(**options, return_as="generator")
    except ValueError:  # the backend returns all results at once
        parallel = joblib.Parallel(**options)
    call = joblib.delayed(_evaluate_chain)
    yield from zip(waiting, parallel(call(work, X, y, chain) for chain in waiting), strict=True)


def _evaluate_chain(work: Work, X: Any, y: np.ndarray, chain: Chain) -> list[Outcome]:
    with config_context(**work.config), work.shared.in_use():
        return list(evaluate(work, X, y, chain))
