"""Selected cells again, from models trained by LibSVM itself.

Leave-one-out errors are counts: if the best two candidates differ by one instance, the solver's
tolerance decides.  So LibSVM trains the candidates close to the smallest value of an estimate; its
models are read and evaluated like all others, and stored as a variant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.svm import SVC

from spansvm.kernels.gram import HeldGram
from spansvm.machine.fitted_svc import read_svc

from .problems import Key, Problem, candidate_name, n_training_rows
from .store import Store
from .trials import estimates_of

__all__ = ["CLOSE", "LIBSVM", "MOST", "close_candidates", "confirm"]

#: The variant under which these rows are stored.
LIBSVM = "LibSVM"

#: A count is close if it exceeds the smallest by at most this; and the most candidates taken.
CLOSE, MOST = 2, 24


def confirm(store: Store, problem: Problem) -> Iterator[int]:
    """Train the close candidates with LibSVM; yield how many are done."""
    chosen = close_candidates(store, problem.key)
    data = problem.data
    key = Key(problem.key.data_set, problem.key.split, LIBSVM)
    known = store.known("models", key)
    todo = [c for c in problem.candidates if candidate_name(c) in chosen - known]
    yield len(chosen) - len(todo)
    if not todo:
        return
    gram = HeldGram(problem.kernel(data.X_train), kernel_range=problem.kernel.range)
    to_test = problem.kernel(data.X_test, data.X_train)
    for candidate in todo:
        C = problem.weights(candidate)
        svc = SVC(kernel="precomputed", tol=problem.tol, cache_size=1000)
        svc.fit(gram.values, data.y_train, sample_weight=C)
        solution, _ = read_svc(svc, gram.values, data.y_train, C)
        wrong = svc.predict(to_test) != data.y_test
        row: dict[str, Any] = {
            **estimates_of(gram, solution),
            "test_error": float(wrong.mean()),
            "train_seconds": None,
            "candidate": candidate_name(candidate),
        }
        store.add("models", key, row)
        yield 1


def close_candidates(store: Store, key: Key) -> set[str]:
    """Candidates whose count is close to the smallest, for the span-rule and for xi-alpha.

    If there are more than :data:`MOST`, those with the smaller counts, and among equal counts
    those with the larger test errors, which the paper's tie rule reports.
    """
    rows = store.rows("models", ["candidate", "test_error", "span_rule", "xi_alpha"], key)
    result: set[str] = set()
    n_rows = n_training_rows(key)
    for column in (2, 3):
        counts = {row[0]: round(row[column] * n_rows) for row in rows}
        least = min(counts.values(), default=0)
        order = sorted(rows, key=lambda row: (counts[row[0]], -row[1], row[0]))
        close = [row[0] for row in order if counts[row[0]] <= least + CLOSE]
        result |= set(close[:MOST])
    return result
