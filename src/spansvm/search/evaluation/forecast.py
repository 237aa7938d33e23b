"""What a search will take, before it begins: time from a short trial, and memory.

The trial evaluates a few stretches of chains on subsets of the rows that grow until their time is
used up.  Times grow with a power of the number of rows that is fitted to them, drawn towards the
usual one, as small subsets say little about large ones.  The result is right within a factor of
about two or three; the progress of the search corrects it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np

from ...common.memory import NONE, PARTS, gram_form
from ...common.types import Array, Rows
from ..candidates.building import Candidates
from ..candidates.fit_arguments import has_rows, take_rows
from ..candidates.regression_sets import RegressionSet
from ..candidates.shared_data import SharedData
from ..candidates.subsets import drawn_rows, stratified_rows
from ..candidates.training_sets import TrainingSet
from .dispatch import plan
from .evaluator import evaluate
from .work import Chain, Work

__all__ = ["Forecast", "predict_cost"]

#: Searches with fewer rows times fits are over before a trial would be.
_WORTH_A_TRIAL = 100_000

#: Rows of the first subset, and of the one that only loads the compiled code; the factor from one
#: subset to the next.
_FIRST, _LOADING, _GROWTH = 250, 150, 2

#: Seconds that the trial may take, and that a stretch of a chain may take on the first subset; the
#: trial also ends when it has taken this share of the search.
_TRIAL, _STRETCH, _SHARE = 4.0, 0.4, 0.05

#: Rows of the first subset for a linear kernel, and rows a feature: with fewer it has a Gram
#: matrix, and with more it has none.
_FIRST_LINEAR, _ROWS_A_FEATURE = 3000, 20

#: How many chains are tried, and where in each of them two neighbours.
_CHAINS, _PLACES = 4, (1 / 6, 1 / 2, 5 / 6)

#: The usual power of the number of rows with a Gram matrix and without one (a linear kernel on many
#: rows), and how many doublings of it the measured one has to outweigh.
_POWER, _LINEAR_POWER, _DOUBLINGS = 2.0, 1.0, 4.0

#: How far the fitted power may be from the usual one.
_FARTHEST = 0.25

#: In parts, a candidate computes this share of the matrix.
_RECOMPUTED = 0.2

#: The gain of a further thread.
_THREAD_GAIN = 0.8


@dataclass(frozen=True)
class Forecast:
    """What a search will take.

    Attributes
    ----------
    n_rows : int
    seconds : float
        Of the whole search, on `n_workers` threads.
    costs : ndarray of shape (n_candidates,)
        Seconds of every candidate, over all folds; a candidate that needs a new Gram matrix
        includes it.
    n_workers : int
    gram : str
        The form of a Gram matrix: one of :data:`spansvm.common.memory.FORMS`.
    gram_bytes : float
        What it takes.
    power : float
        The time grows with this power of the number of rows.
    """

    n_rows: int
    seconds: float
    costs: Array
    n_workers: int
    gram: str
    gram_bytes: float
    power: float

    def seconds_for(self, n_rows: int, n_candidates: int | None = None) -> float:
        """Seconds of the search with fewer rows or candidates, with a Gram matrix that fits."""
        share = 1.0 if n_candidates is None else n_candidates / self.costs.size
        return self.seconds * share * (n_rows / self.n_rows) ** self.power


@dataclass(frozen=True)
class _Stretch:
    """What is tried of one chain, its place among all, and which of it follow their neighbour."""

    place: int
    chain: Chain
    warm: list[int]


@dataclass(frozen=True)
class _Trial:
    """Seconds on one subset: of a matrix, and per stretch of its first candidate and of a later.

    `places` are those of the chains, `counts` the candidates that were tried of each stretch, and
    `fewest` is the least number of rows that says something about many.
    """

    n_rows: int
    matrix: float
    places: Rows
    cold: Array
    warm: Array
    counts: tuple[int, ...]
    without_matrix: bool
    fewest: int

    def completed(self, before: _Trial) -> _Trial:
        """The trial with what only the one before had, grown like what both have."""
        n = self.cold.size
        growth = (self.cold.sum() + self.warm.sum()) / (
            before.cold[:n].sum() + before.warm[:n].sum()
        )
        return replace(
            self,
            places=before.places,
            counts=(*self.counts, *before.counts[n:]),
            cold=np.append(self.cold, growth * before.cold[n:]),
            warm=np.append(self.warm, growth * before.warm[n:]),
        )

    def reordered(self, order: Rows) -> _Trial:
        """The trial with its stretches in another order."""
        return replace(
            self,
            places=self.places[order],
            counts=tuple(self.counts[i] for i in order),
            cold=self.cold[order],
            warm=self.warm[order],
        )

    @property
    def stretch_seconds(self) -> Array:
        """Seconds of every stretch; each may need a matrix."""
        return self.matrix + self.cold + self.warm * (np.array(self.counts) - 1.0)

    def total(self, shape: _Shape) -> float:
        """Seconds of the whole search on as many rows."""
        return float(self.costs(shape).sum())

    def costs(self, shape: _Shape) -> Array:
        """Seconds of every fit, chain by chain."""
        places = np.arange(len(shape.lengths))
        order = np.argsort(self.places)
        tried, cold, warm = (values[order] for values in (self.places, self.cold, self.warm))
        cold = np.interp(places, tried, cold)
        warm = np.repeat(np.interp(places, tried, warm), shape.lengths)
        starts = np.cumsum(shape.lengths) - shape.lengths
        warm[starts] = cold + self.matrix * shape.new_matrix
        return warm


@dataclass(frozen=True)
class _Shape:
    """The chains: their lengths, and whether each needs a new matrix."""

    lengths: np.ndarray
    new_matrix: Array


def predict_cost(
    work: Work,
    X: Any,
    y: np.ndarray,
    candidates: Sequence[Mapping[str, Any]],
    n_jobs: int | None,
) -> Forecast | None:
    """What a search will take; None if it is over in no time, or if the trial fails.

    Parameters
    ----------
    work : Work
    X, y
        All rows.
    candidates : sequence of dict
    n_jobs : int, optional
    """
    if len(y) * len(candidates) * len(work.splits) < _WORTH_A_TRIAL:
        return None
    chains = plan(work, candidates)
    stretches = _stretches(chains)
    shape = _Shape(
        lengths=np.array([len(chain.indices) for chain in chains]),
        new_matrix=np.array(list(_first_of_their_matrix(chains)), dtype=float),
    )
    trials = _try(work, X, y, stretches, shape)
    if not trials:
        return None
    power = _power(trials, shape)
    last = trials[-1]
    ratio = len(y) / last.n_rows
    form, size = gram_form(_rows_of_a_fold(work, len(y)), work.gram_budget)
    matrix, extra = last.matrix * ratio**2, 0.0
    if last.without_matrix:
        matrix, form, size = last.matrix * ratio, NONE, 0.0
    elif form == PARTS:
        matrix, extra = 0.0, _RECOMPUTED * matrix
    cold, warm = (part * ratio**power + extra for part in (last.cold, last.warm))
    fits = replace(last, matrix=matrix, cold=cold, warm=warm).costs(shape)
    costs = np.zeros(len(candidates))
    order = [index for chain in chains for index in chain.indices]
    np.add.at(costs, order, fits)
    n_workers = min(joblib.effective_n_jobs(n_jobs), len(chains))
    return Forecast(
        n_rows=len(y),
        seconds=float(costs.sum()) / (1.0 + _THREAD_GAIN * (n_workers - 1)),
        costs=costs,
        n_workers=n_workers,
        gram=form,
        gram_bytes=size,
        power=power,
    )


def _rows_of_a_fold(work: Work, n_rows: int) -> int:
    return n_rows if work.splits[0] is None else int(work.splits[0][0].size)


def _first_of_their_matrix(chains: Sequence[Chain]) -> Iterator[bool]:
    before = None
    for chain in chains:
        keys = chain.split, chain.transformers, chain.kernel
        yield keys != before
        before = keys


def _stretches(chains: Sequence[Chain]) -> list[_Stretch]:
    """The first candidate of a few chains, and some pairs of neighbours; of the first fold.

    The costs of candidates may grow a lot along a chain.
    """
    own = [place for place, chain in enumerate(chains) if chain.split == 0]
    places = np.unique(np.linspace(0, len(own) - 1, _CHAINS).round().astype(int))
    result = []
    for place in (own[i] for i in places):
        chain = chains[place]
        last = len(chain.indices) - 1
        firsts = [min(round(part * last), last - 1) for part in _PLACES]
        pairs = [i for first in firsts for i in (first, first + 1)]
        kept = sorted({0, *pairs} & set(range(last + 1)))
        shorter = replace(
            chain,
            indices=[chain.indices[i] for i in kept],
            candidates=[chain.candidates[i] for i in kept],
        )
        # Only those after their neighbour are as quick as in the whole chain.
        warm = [n for n in range(1, len(kept)) if kept[n] == kept[n - 1] + 1]
        result.append(_Stretch(place, shorter, warm))
    # If time is short, those in the middle say most about all.
    return sorted(result, key=lambda stretch: abs(2 * stretch.place - own[-1]))


def _try(
    work: Work, X: Any, y: np.ndarray, stretches: list[_Stretch], shape: _Shape
) -> list[_Trial]:
    """Trials on growing subsets, until the time is up."""
    loaded = _measure(work, X, y, _LOADING, stretches[:1], [2], _STRETCH)
    if loaded is None:
        return []
    started = time.perf_counter()
    trials: list[_Trial] = []
    n_rows = min(max(_FIRST, loaded.fewest), len(y))
    counts = [len(stretch.chain.indices) for stretch in stretches]
    fitting = len(stretches)
    while fitting:
        limit = _TRIAL if trials else _STRETCH  # later, the same candidates must be compared
        trial = _measure(work, X, y, n_rows, stretches[:fitting], counts, limit)
        if trial is None:
            return trials
        trial = trial.completed(trials[-1]) if trials else trial
        # What costs most is tried first next time, if there is no time for all.
        order = np.argsort(-trial.warm, kind="stable")
        trial = trial.reordered(order)
        trials.append(trial)
        stretches, counts = [stretches[i] for i in order], list(trial.counts)
        spent = time.perf_counter() - started
        power = _LINEAR_POWER if trial.without_matrix else _POWER
        whole = trial.total(shape) * (len(y) / n_rows) ** power
        if n_rows == len(y) or spent > _SHARE * whole:
            return trials
        # On small subsets times hardly grow; if they do, the trial takes a little longer.
        times = trial.stretch_seconds * _GROWTH ** (0.75 * power)
        fitting = int(np.sum(np.cumsum(times) <= _TRIAL - spent))
        if len(trials) == 1 and spent < _TRIAL:  # one says nothing about the growth
            fitting = max(fitting, 1)
        n_rows = min(_GROWTH * n_rows, len(y))
    return trials


def _measure(
    work: Work, X: Any, y: np.ndarray, n_rows: int, stretches: Sequence[_Stretch],
    counts: Sequence[int], limit: float,
) -> _Trial | None:  # fmt: skip
    """Evaluate stretches on a subset, of each as many candidates as `counts` and time allow.

    `limit` is for one stretch, in seconds.
    """
    single = not work.regression and y.ndim == 1
    rows = stratified_rows(y, n_rows) if single else drawn_rows(len(y), n_rows)
    part, part_X, part_y = _restricted(work, rows, len(y)), take_rows(X, rows), y[rows]
    started = time.perf_counter()
    matrices, kernels, cold, warm, done, without_matrix = [], [], [], [], [], False
    try:
        for stretch, count in zip(stretches, counts, strict=False):
            seconds, training_set = _training_set(part, part_X, part_y, stretch.chain)
            matrices.append(seconds)
            kernels.append((stretch.chain.transformers, stretch.chain.kernel))
            without_matrix |= _has_no_matrix(training_set)
            times = _times(part, part_X, part_y, stretch.chain, count, limit)
            cold.append(times[0])
            warm.append(np.mean([times[n] for n in stretch.warm if n < len(times)] or times))
            done.append(len(times))
            if time.perf_counter() - started > _TRIAL:
                break
    except Exception:  # the search itself will tell the user
        return None
    finally:
        part.shared.close()
    return _Trial(
        n_rows=rows.size,
        # Stretches with the same kernel share a matrix.
        matrix=sum(matrices) / len(set(kernels)),
        places=np.array([stretch.place for stretch in stretches[: len(cold)]]),
        cold=np.array(cold),
        warm=np.array(warm),
        counts=tuple(done),
        without_matrix=without_matrix,
        fewest=_fewest(training_set),
    )


def _has_no_matrix(training_set: TrainingSet | RegressionSet) -> bool:
    return training_set.kernel.linear and training_set.whole.values is None


def _fewest(training_set: TrainingSet | RegressionSet) -> int:
    """How many rows a subset needs at least to behave like many."""
    if not training_set.kernel.linear:
        return 0
    return max(_FIRST_LINEAR, _ROWS_A_FEATURE * int(training_set.X.shape[1]))


def _training_set(work: Work, X: Any, y: np.ndarray, chain: Chain) -> tuple[float, TrainingSet]:
    """The seconds that transformed rows and a Gram matrix take; `evaluate` finds them again."""
    started = time.perf_counter()
    builder = Candidates(work.estimator)
    builder.build(chain.candidates[0])
    if work.gram_budget is not None:
        builder.machine.gram_budget = work.gram_budget
    split = work.splits[chain.split]
    params = work.params if split is None else work.params.take(split[0], len(y))
    problems = work.shared.problems(
        (chain.transformers, chain.kernel, chain.split),
        builder.estimator, builder.machine, X, y, params, split,
    )  # fmt: skip
    return time.perf_counter() - started, problems.sets[0]


def _times(
    work: Work, X: Any, y: np.ndarray, chain: Chain, count: int, limit: float
) -> list[float]:
    times = []
    before = started = time.perf_counter()
    for outcome in evaluate(work, X, y, chain):
        if outcome.exception is not None:
            raise outcome.exception
        now = time.perf_counter()
        times.append(now - before)
        before = now
        if len(times) == count or (now - started > limit and len(times) > 2):
            break
    return times


def _restricted(work: Work, rows: Rows, n_rows: int) -> Work:
    """The work on some of the rows, and on the first fold only."""
    split, sets = work.splits[0], work.leaving.sets
    if split is not None:
        train, test = (np.flatnonzero(np.isin(rows, part)) for part in split)
        split = train, test
    if sets is not None:
        parts = [np.flatnonzero(np.isin(rows, part)) for part in sets]
        sets = [part for part in parts if part.size]
    return replace(
        work,
        shared=SharedData(),
        params=work.params.take(rows, n_rows),
        score_params={
            name: {
                key: take_rows(value, rows) if has_rows(value, n_rows) else value
                for key, value in own.items()
            }
            for name, own in work.score_params.items()
        },
        leaving=replace(work.leaving, splits=[split], sets=sets),
    )


def _power(trials: Sequence[_Trial], shape: _Shape) -> float:
    """The power of the number of rows with which the time of a candidate grows."""
    usual = _LINEAR_POWER if trials[-1].without_matrix else _POWER
    alike = [trial for trial in trials if trial.without_matrix == trials[-1].without_matrix][-3:]
    sizes = np.log2([trial.n_rows for trial in alike])
    times = np.log2([replace(trial, matrix=0.0).total(shape) for trial in alike])
    sizes -= sizes.mean()
    fitted = (sizes @ times + _DOUBLINGS * usual) / (sizes @ sizes + _DOUBLINGS)
    return float(np.clip(fitted, usual - _FARTHEST, usual + _FARTHEST))
