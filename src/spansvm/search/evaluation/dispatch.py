"""The division of labour: candidates into chains, chains to workers.

The chains depend only on the candidates, so results do not depend on the number of workers.
A worker is sent the rows and the parameters, never a Gram matrix.
"""

from __future__ import annotations

import atexit
import threading
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import BrokenExecutor, CancelledError
from itertools import groupby
from typing import Any

import joblib
import numpy as np
from sklearn import config_context

from ...common.stopping import heeding
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
    rest: list[tuple[int, int, Outcome]] | None = None,
) -> Iterator[tuple[int, int, Outcome]]:
    """Yield candidate, split and outcome for all of them, as each becomes known.

    `pre_dispatch` is how many chains joblib takes at once.  Chains of which all candidates are
    `done` are left out; those with others begin at their start, so that results do not depend on
    what is done.  If this ends early, no thread works on after it, and `rest` gets what threads
    had finished and nobody has been given yet.
    """
    waiting = [chain for chain in plan(work, candidates) if set(chain.indices) - done]
    if joblib.effective_n_jobs(n_jobs) == 1:
        for chain in waiting:
            for index, outcome in zip(chain.indices, evaluate(work, X, y, chain), strict=True):
                yield index, chain.split, outcome
        return
    left = dict(enumerate(_from_both_ends(waiting)))
    for attempt in range(_RETRIES + 1):
        team = _Team()
        atexit.register(team.dismiss)  # a program must not end under threads that compute
        try:
            for number, outcomes in _in_parallel(team, work, X, y, left, n_jobs, pre_dispatch):
                for index, outcome in zip(left[number].indices, outcomes, strict=True):
                    yield index, left[number].split, outcome
                del team.finished[number], left[number]  # in this order: Ctrl-C may come between
            return
        except Exception as error:
            if attempt == _RETRIES or not _lost_a_worker(error):
                raise
            warnings.warn(
                f"A worker was lost ({type(error).__name__}); resubmitting {len(left)} chains "
                "of candidates.",
                RuntimeWarning,
                stacklevel=6,
            )
        finally:
            team.dismiss()
            atexit.unregister(team.dismiss)
            if rest is not None:
                for number, outcomes in team.finished.items():
                    chain = left[number]
                    own = zip(chain.indices, outcomes, strict=False)
                    rest += [(index, chain.split, outcome) for index, outcome in own]


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
    team: _Team,
    work: Work,
    X: Any,
    y: np.ndarray,
    chains: Mapping[int, Chain],
    n_jobs: int | None,
    pre_dispatch: Any,
) -> Iterator[tuple[int, list[Outcome]]]:
    """Number and outcomes of every chain, as each is finished."""
    options: dict[str, Any] = {
        "n_jobs": n_jobs, "prefer": "threads", "batch_size": 1, "pre_dispatch": pre_dispatch,
    }  # fmt: skip
    for order in ("generator_unordered", "generator", "list"):
        try:
            parallel = joblib.Parallel(**options, return_as=order)
            break
        except ValueError:  # the backend, or an older joblib, does not return results like that
            pass
    call = joblib.delayed(team.evaluate)
    for number, outcomes in parallel(call(work, X, y, *item) for item in list(chains.items())):
        team.finished[number] = outcomes
        yield number, outcomes


class _Team:
    """Those who work on chains: threads, which can be dismissed, and what they have finished.

    In another process there is another team, which is not dismissed: joblib ends the process.

    Attributes
    ----------
    finished : dict
        The outcomes of every chain, by number; more come as long as it is worked on.
    """

    def __init__(self) -> None:
        self.finished: dict[int, list[Outcome]] = {}
        self._dismissed = threading.Event()
        self._n_working, self._change = 0, threading.Condition()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Team, ()

    def evaluate(
        self, work: Work, X: Any, y: np.ndarray, number: int, chain: Chain
    ) -> tuple[int, list[Outcome]]:
        """The outcomes of a chain; not all of them if the team is dismissed meanwhile."""
        outcomes: list[Outcome] = []
        with self._change:
            if self._dismissed.is_set():
                return number, outcomes
            self._n_working += 1
            self.finished[number] = outcomes
        try:
            with config_context(**work.config), work.shared.in_use(), heeding(self._dismissed):
                for outcome in evaluate(work, X, y, chain):
                    outcomes.append(outcome)  # noqa: PERF402 - they count even if others fail
        except KeyboardInterrupt:
            if not self._dismissed.is_set():
                raise
        finally:
            with self._change:
                self._n_working -= 1
                self._change.notify_all()
        return number, outcomes

    def dismiss(self) -> None:
        """Let all threads end their work soon, and wait until they have."""
        self._dismissed.set()
        with self._change:
            self._change.wait_for(lambda: self._n_working == 0)
