"""``python -m benchmarks.phases``: what the searches of tutorials spend their time on.

The searches of :mod:`benchmarks.tutorials`, with a clock of the processor around what they call:
the compiled training and removals of rows, kernel matrices, transformers (scikit-learn's fits and
transforms), the refit of the selected model by LibSVM with its check, and the rest.  The median of
some searches each, one thread; the last columns are GridSearchCV's time over ours, and over that of
the compiled part alone: no search that trains the same machines could be faster than that.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from spansvm import SpanSearch
from spansvm.core.chains import Chains
from spansvm.kernels import pair_grams
from spansvm.multiclass import together
from spansvm.search import base
from spansvm.search.candidates.training_sets import TransformedRows

from .measure import write
from .tutorials import GRID, SEARCHES, SHIPPED

MODEL = make_pipeline(StandardScaler(), SVC())

#: The searches that are taken apart.
TAKEN = ("default", "cv=5", "f1_macro")


class _Clock:
    """Processor time by phase; of phases in each other, the inner one is not the outer one's."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    def around(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            self._inner.append(0.0)
            started = time.process_time()
            try:
                return function(*args, **options)
            finally:
                whole = time.process_time() - started
                self.spent[phase] += whole - self._inner.pop()
                self._inner[-1] += whole

        return timed


@contextmanager
def _watched(clock: _Clock) -> Iterator[None]:
    """Searches within are taken apart by the clock."""

    class Timed(Chains):
        train = clock.around("compiled", Chains.train)
        verify = clock.around("compiled", Chains.verify)
        remove = clock.around("compiled", Chains.remove)

    rows, matrices, refit = TransformedRows.of, pair_grams.gram_of, base.refit_as_judged
    with (
        patch.object(together, "Chains", Timed),
        patch.object(pair_grams, "gram_of", clock.around("kernels", matrices)),
        patch.object(TransformedRows, "of", clock.around("transformers", rows)),
        patch.object(base, "refit_as_judged", clock.around("refit", refit)),
    ):
        yield


def taken_apart(name: str, search: str, repeats: int) -> dict[str, object]:
    """One line of the table."""
    X, y = SHIPPED[name]()
    arguments = SEARCHES[search][1]
    theirs, found = [], []
    for _ in range(repeats):
        started = time.process_time()
        GridSearchCV(MODEL, GRID, **{"cv": 5, **arguments}).fit(X, y)
        theirs.append(time.process_time() - started)
        clock = _Clock()
        started = time.process_time()
        with _watched(clock):
            SpanSearch(MODEL, GRID, **arguments).fit(X, y)
        found.append({**clock.spent, "search": time.process_time() - started})
    ours = {phase: float(np.median([one.get(phase, 0.0) for one in found])) for phase in found[0]}
    whole, grid = ours.pop("search"), float(np.median(theirs))
    return {
        "search": search, "data": name, "milliseconds": round(1e3 * whole, 2),
        **{phase: round(1e3 * spent, 2) for phase, spent in sorted(ours.items())},
        "rest": round(1e3 * (whole - sum(ours.values())), 2),
        "gridsearchcv_over_ours": round(grid / whole, 1),
        "gridsearchcv_over_compiled": round(grid / ours["compiled"], 1),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.phases", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--dry", action="store_true", help="do not write the table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    with threadpool_limits(1):
        SpanSearch(MODEL, GRID).fit(*SHIPPED["iris"]())
        for search in TAKEN:
            for name in SHIPPED:
                lines.append(taken_apart(name, search, options.repeats))
                print(lines[-1], flush=True)
    if not options.dry:
        print(f"written to {write('phases', lines)}")


if __name__ == "__main__":
    main()
