"""Who computes what: candidates in chains, chains to workers.

Which candidates form a chain depends on them alone, so results do not depend on how many workers
there are.  A worker is sent the rows and the parameters, never a Gram matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import joblib
import numpy as np

from .composite import setting_keys, unwrap
from .evaluation import Chain, Outcome, Work, evaluate
from .grid import chains

__all__ = ["run"]

#: How often chains that were lost with their workers are sent out again.
_RETRIES = 3


def run(
    work: Work,
    X: Any,
    y: np.ndarray,
    candidates: Sequence[Mapping[str, Any]],
    n_jobs: int | None,
) -> Iterator[tuple[int, Outcome]]:
    """The index of a candidate and what came of it, for all candidates, each when it is known."""
    waiting = _plan(work.estimator, candidates)
    if joblib.effective_n_jobs(n_jobs) == 1:
        for chain in waiting:
            yield from zip(chain.indices, evaluate(work, X, y, chain), strict=True)
        return
    for attempt in range(_RETRIES + 1):
        try:
            for chain, outcomes in _in_parallel(work, X, y, waiting, n_jobs):
                yield from zip(chain.indices, outcomes, strict=True)
                waiting = [other for other in waiting if other is not chain]
            return
        except Exception:
            # Candidates that fail say so in their outcome.  What is raised comes from the
            # workers themselves: one died, and what it held is lost.
            if attempt == _RETRIES:
                raise


def _plan(estimator: Any, candidates: Sequence[Mapping[str, Any]]) -> list[Chain]:
    """Candidates that share a Gram matrix, in chains; one matrix after the other."""
    _, prefix, _ = unwrap(estimator)
    together: dict[tuple[str, str], list[int]] = {}
    for index, params in enumerate(candidates):
        together.setdefault(setting_keys(prefix, params), []).append(index)
    result = []
    for keys in sorted(together, key=lambda keys: (keys[0], together[keys][0])):
        members = together[keys]
        for chain in chains([candidates[i] for i in members]):
            indices = [members[k] for k in chain]
            result.append(Chain(indices, [candidates[i] for i in indices], *keys))
    return result


def _in_parallel(
    work: Work, X: Any, y: np.ndarray, waiting: list[Chain], n_jobs: int | None
) -> Iterator[tuple[Chain, list[Outcome]]]:
    options: dict[str, Any] = {"n_jobs": n_jobs, "prefer": "threads", "batch_size": 1}
    try:
        parallel = joblib.Parallel(**options, return_as="generator")
    except ValueError:  # the backend returns all results at once
        parallel = joblib.Parallel(**options)
    call = joblib.delayed(_evaluate_chain)
    yield from zip(waiting, parallel(call(work, X, y, chain) for chain in waiting), strict=True)


def _evaluate_chain(work: Work, X: Any, y: np.ndarray, chain: Chain) -> list[Outcome]:
    return list(evaluate(work, X, y, chain))
