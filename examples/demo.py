"""A tour on built-in data: a file tuned, one word changed, every estimate for one model.

The first part is the command ``spansvm demo``, which takes the arguments.

    python examples/demo.py [--out FOLDER] [--force]
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale
from sklearn.svm import SVC

from spansvm import SpanSearch, analyze, exact_loo


def main() -> None:
    """Search as with GridSearchCV, and show every estimate for one model beside the true error."""
    data = load_breast_cancer()
    _search(data.data, data.target)
    _estimates(minmax_scale(data.data), data.target)


def _search(X: np.ndarray, y: np.ndarray) -> None:
    model = make_pipeline(MinMaxScaler(), SVC())
    grid = {"svc__C": 2.0 ** np.arange(-2, 9), "svc__gamma": 2.0 ** np.arange(-7, 3)}
    SpanSearch(model, {"svc__C": [1.0]}).fit(X, y)  # what is loaded once is not timed
    search, ours = _timed(lambda: SpanSearch(model, grid).fit(X, y))
    folds, theirs = _timed(lambda: GridSearchCV(model, grid, cv=5).fit(X, y))
    low, high = search.corrected_interval_
    tried = len(search.cv_results_["params"])
    _say(
        f"""
        In Python, one word changes: SpanSearch(model, grid) tried {tried} candidates in
        {ours:.2f} s, GridSearchCV(model, grid, cv=5) in {theirs:.2f} s. Their best scores are
        {search.best_score_:.3f} and {folds.best_score_:.3f}, each the best of many. The score to
        report is corrected_score_, {search.corrected_score_:.3f}, with a 95 % interval from
        {low:.3f} to {high:.3f}.
        """
    )


def _estimates(X: np.ndarray, y: np.ndarray) -> None:
    svc = SVC(C=4.0, gamma=0.5, class_weight={0: 3.0, 1: 1.0}).fit(X, y)
    analysis = analyze(svc, X, y)
    exact, ours = _timed(lambda: exact_loo(svc, X, y))
    retrained, theirs = _timed(
        lambda: cross_val_predict(svc, X, y, cv=LeaveOneOut(), method="decision_function")
    )
    agree = int(np.sum((retrained > 0) == (exact > 0)))
    error = np.mean((exact > 0) != (y == 1))
    _say(
        f"""
        For readers of the paper: every estimate for one weighted SVM, a malignant tumour weighing
        3 times as much. The true leave-one-out error is {error:.4f}: exact leave-one-out follows
        every removal from the one model, in {1e3 * ours:.0f} ms; training {len(y)} models takes
        {1e3 * theirs:.0f} ms, and they agree on {agree} of {len(y)} tumours.
        """
    )
    print(analysis)


def _say(text: str) -> None:
    print(textwrap.fill(" ".join(text.split()), width=88) + "\n")


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


if __name__ == "__main__":
    command = [sys.executable, "-m", "spansvm", "demo", *sys.argv[1:]]
    code = subprocess.run(command, check=False).returncode
    if code:
        sys.exit(code)
    print(flush=True)
    main()
