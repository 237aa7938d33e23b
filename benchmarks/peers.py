"""One adapter per peer: the same work, done by other software."""

from __future__ import annotations

import clarabel
import daqp
import numpy as np
from scipy import sparse
from sklearn.svm import SVC

from .problems import Problem


def libsvm(problem: Problem, C: float, tol: float) -> SVC:
    """Train on the rows: kernel values are computed as needed."""
    return SVC(C=C, gamma=problem.gamma, tol=tol).fit(problem.X, problem.y)


def libsvm_precomputed(K: np.ndarray, problem: Problem, C: float, tol: float) -> SVC:
    """Train on the Gram matrix."""
    return SVC(C=C, kernel="precomputed", tol=tol).fit(K, problem.y)


def span_by_interior_point(gram: np.ndarray, column: np.ndarray, own: float) -> float:
    """One squared span computed as in the paper: one quadratic program per vector."""
    n = column.size
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(gram)),
        -column,
        sparse.csc_matrix(np.ones((1, n))),
        np.ones(1),
        [clarabel.ZeroConeT(1)],
        settings,
    ).solve()
    return own + 2.0 * solution.obj_val


def span_by_active_set(gram: np.ndarray, column: np.ndarray, own: float) -> float:
    """The same with a solver designed for many small programs."""
    n = column.size
    sense = np.full(1, 5, dtype=np.int32)
    one = np.ones(1)
    value = daqp.solve(gram, -column, np.ones((1, n)), one, one, sense)[1]
    return own + 2.0 * value


SPAN_SOLVERS = {"clarabel": span_by_interior_point, "daqp": span_by_active_set}
