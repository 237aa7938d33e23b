"""``python -m benchmarks.programs``: programs as people write them, with our searches in one word.

The programs of ``tests/programs`` run with GridSearchCV and RandomizedSearchCV and with ours in
their place; with these also as if `cv` were not there.  What is timed is the search, with its final
training: processor time, the least of some runs in turns, on one thread.

One row per program.  At the end geometric means and the share of programs below twice the speed:
of those that give `cv`, as they are; of these without it; and of those that the engine does not
know and leaves to scikit-learn.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from threadpoolctl import threadpool_limits

from spansvm import SpanRandomizedSearch, SpanSearch
from tests.programs import PROGRAMS, Program

from .measure import geometric_mean, machine, write

#: Searches that end sooner than this, in seconds, are not compared: nobody waits for them.
SHORTEST = 0.02


class Clock:
    """How long the searches of a program take, and how they were made."""

    def __init__(self, without_folds: bool = False) -> None:
        self.without_folds = without_folds
        self.seconds, self.gives_folds, self._depth = 0.0, False, 0

    def classes(self, *given: type) -> list[type]:
        """The classes with the same names, whose fits are timed."""
        return [type(own.__name__, (own,), {"fit": self._timed(own)}) for own in given]

    def _timed(self, own: Any) -> Any:
        def fit(search: Any, *args: Any, **params: Any) -> Any:
            folds, workers, started = search.cv, search.n_jobs, time.process_time()
            self.gives_folds |= folds is not None
            self._depth += 1
            try:
                search.n_jobs = None  # other processes have clocks of their own
                if self.without_folds:
                    search.cv = None
                return own.fit(search, *args, **params)
            finally:
                search.cv, search.n_jobs = folds, workers
                self._depth -= 1
                if self._depth == 0:  # a search inside another is part of its time
                    self.seconds += time.process_time() - started

        return fit


def timed(program: Program, clock: Clock, *classes: type) -> set[str]:
    """Run a program; the kinds of warnings that it gave."""
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(io.StringIO()),
        threadpool_limits(1),
    ):
        warnings.simplefilter("always")
        program.run(*clock.classes(*classes))
    return {warning.category.__name__ for warning in caught}


def compared(program: Program, repeats: int) -> dict[str, object]:
    """One line of the table."""
    theirs, ours, single = [], [], []
    kinds: set[str] = set()
    gives_folds = False
    for _ in range(repeats):
        clock = Clock()
        timed(program, clock, GridSearchCV, RandomizedSearchCV)
        theirs.append(clock.seconds)
        clock = Clock()
        kinds |= timed(program, clock, SpanSearch, SpanRandomizedSearch)
        ours.append(clock.seconds)
        gives_folds = clock.gives_folds
        if gives_folds:
            clock = Clock(without_folds=True)
            timed(program, clock, SpanSearch, SpanRandomizedSearch)
            single.append(clock.seconds)
    line: dict[str, object] = {
        "program": program.name,
        "gives_cv": int(gives_folds),
        "accelerated": int("UnacceleratedWarning" not in kinds),
        "gridsearchcv": round(min(theirs), 4),
        "ours": round(min(ours), 4),
        "ratio": round(min(theirs) / max(min(ours), 1e-4), 2),
        "without_cv": round(min(theirs) / max(min(single), 1e-4), 2) if single else "",
    }
    print(line, flush=True)
    return line


def summary(lines: list[dict[str, Any]]) -> list[str]:
    """Geometric means, and how many are below twice the speed."""
    long = [line for line in lines if float(line["gridsearchcv"]) >= SHORTEST]
    engine = [line for line in long if line["accelerated"]]
    parts = {
        "with cv, as written": [line["ratio"] for line in engine if line["gives_cv"]],
        "the same without cv": [line["without_cv"] for line in engine if line["gives_cv"]],
        "written without cv": [line["ratio"] for line in engine if not line["gives_cv"]],
        "left to scikit-learn": [line["ratio"] for line in long if not line["accelerated"]],
    }
    return [
        f"{name}: {len(own)} programs, {geometric_mean([float(r) for r in own]):.1f} times "
        f"(geometric mean), {np.mean(np.array(own, dtype=float) < 2.0):.0%} below 2"
        for name, own in parts.items()
        if own
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="names of programs")
    given = parser.parse_args()
    chosen = [
        own
        for own in PROGRAMS
        if (not given.only or own.name in given.only)
        and (own.needs is None or find_spec(own.needs) is not None)
    ]
    lines = []
    for own in chosen:
        try:
            lines.append(compared(own, given.repeats))
        except Exception as error:  # a program that needs its own cv does not run without
            print(f"{own.name}: {type(error).__name__}: {error}", flush=True)
    print(machine(), *summary(lines), sep="\n")
    if not given.only:
        write("programs", lines)


if __name__ == "__main__":
    main()
