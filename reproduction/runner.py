"""The runner of the experiments: what to compute, in which order, and progress.

Experiments 1 to 4 read the same trials, so these are computed once; 5 and 6 are timed afterwards,
in one thread.  What is in the store is not computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

from spansvm.common.progress_bars import progress_bar

from .confirmation import confirm
from .datasets import describe
from .problems import GRIDS, VARIATIONS, WITH_SCORES, Key, Problem, problem
from .store import Store
from .timing import measure
from .trials import SUBJECTS, Trial, five_fold, n_folds, run_trial

__all__ = ["CHECKS", "EXPERIMENTS", "QUICK_SETS", "Plan", "make_plan", "run"]

#: In addition to the six experiments: variants that explain why figures differ from the paper's.
CHECKS = "checks"

EXPERIMENTS = ("1", "2", "3", "4", "5", "6", CHECKS)

#: Data sets of the quick run.
QUICK_SETS = ("breast_cancer", "waveform", "banana", "splice", "parkinson_speech")

#: In sets with a fixed split only the folds are random: they are drawn several times if there are
#: at most this many training rows.
_FEW_ROWS = 2000

_RINGNORM_SIZES = {
    "paper": [(2**power, d) for power in range(7, 15) for d in (20, 40, 80)],
    "quick": [(2**power, 20) for power in range(7, 10)],
}


@dataclass(frozen=True)
class Plan:
    """What to compute.

    Attributes
    ----------
    grid : str
        ``"paper"`` or ``"quick"``.
    trials : list of Trial
    confirmed : list of Key
        Problems whose close candidates are also trained by LibSVM.
    timed : list of Key
    """

    grid: str
    trials: list[Trial]
    confirmed: list[Key]
    timed: list[Key]


def make_plan(
    experiments: Iterable[str], data_sets: Sequence[str], splits: int, grid: str = "paper"
) -> Plan:
    """Plan some of the experiments, on some of the data sets."""
    chosen = set(experiments)
    trials: list[Trial] = []
    for name in data_sets:
        own = "2" if name in WITH_SCORES else "1"
        if chosen & {own, "3", "4"}:
            trials += _trials(name, splits, folds=bool(chosen & {own, "3"}))
    confirmed = []
    if CHECKS in chosen:
        for name in data_sets:
            for variant in VARIATIONS.get(name, ()):
                keys = [Key(name, split, variant) for split in range(_n_splits(name, splits))]
                trials += [Trial(key) for key in keys]
            if describe(name).split_kind == "fixed" and name not in WITH_SCORES:
                trials.append(Trial(Key(name)))
                confirmed.append(Key(name))
    timed = [Key(name) for name in data_sets] if "5" in chosen else []
    if "6" in chosen:
        timed += [Key(f"ringnorm:{n}:{d}") for n, d in _RINGNORM_SIZES[grid]]
    return Plan(grid, list(dict.fromkeys(trials)), confirmed, timed)


def _n_splits(name: str, splits: int) -> int:
    most = describe(name).n_splits
    return splits if most is None else min(splits, most)


def _trials(name: str, splits: int, *, folds: bool) -> Iterator[Trial]:
    """The trials on all rows and on all folds, for every split of a data set."""
    description = describe(name)
    fixed = description.split_kind == "fixed"
    for split in range(_n_splits(name, splits)):
        key = Key(name, split)
        yield Trial(key)
        if not folds:
            continue
        partitions = range(splits) if fixed and description.n_train <= _FEW_ROWS else [split]
        schemes = [five_fold(partition) for partition in partitions]
        if name == "parkinson_speech":
            schemes.append(SUBJECTS)
        for scheme in schemes:
            for fold in range(n_folds(scheme)):
                yield Trial(key, scheme, fold)


def run(plan: Plan, store: Store, *, jobs: int = 1, console: Console | None = None) -> None:
    """Compute everything in a plan that the store lacks.

    Parameters
    ----------
    plan : Plan
    store : Store
    jobs : int, default=1
        Threads for the trials; times are always measured in one.
    console : Console, optional
        Where progress is shown; by default nowhere.
    """
    progress = _progress(console)
    with progress:
        total = sum(_n_candidates(trial.key, plan.grid) for trial in plan.trials)
        bar = progress.add_task("models", total=total, visible=bool(plan.trials))
        current: Problem | None = None
        for trial in plan.trials:
            if current is None or current.key != trial.key:
                current = problem(trial.key, plan.grid)
            progress.update(bar, description=_label(trial))
            for done in run_trial(store, trial, current, jobs):
                progress.update(bar, advance=done)
        if plan.confirmed:
            bar = progress.add_task("LibSVM", total=len(plan.confirmed))
        for key in plan.confirmed:
            progress.update(bar, description=f"{key.data_set}, by LibSVM")
            for _ in confirm(store, problem(key, plan.grid)):
                pass
            progress.update(bar, advance=1)
        if plan.timed:
            bar = progress.add_task("times", total=len(plan.timed))
        for key in plan.timed:
            for kind in measure(store, problem(key, plan.grid)):
                progress.update(bar, description=f"{key.data_set}, {kind}")
            progress.update(bar, advance=1)


def _n_candidates(key: Key, grid: str) -> int:
    return len(GRIDS[grid][key.data_set in WITH_SCORES])


def _label(trial: Trial) -> str:
    key = trial.key
    parts = [key.data_set]
    if describe(key.data_set).split_kind != "fixed":
        parts.append(f"split {key.split}")
    if key.variant:
        parts.append(key.variant)
    if trial.scheme:
        parts.append(f"{trial.scheme}, fold {trial.fold + 1}")
    return ", ".join(parts)


def _progress(console: Console | None) -> Progress:
    return progress_bar(
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        "left",
        console=console or Console(quiet=True),
        shown=console is not None,
    )
