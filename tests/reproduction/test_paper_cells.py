"""Experiment 1 on the two small data sets with fixed splits: the cells that the paper prints.

The whole 33 x 33 grid of class weights, test error of the selected model, worst case
among ties.  An instance is the unit: two of them are the tolerance.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MinMaxScaler

from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.machine.criteria import SolvedModel, span_rule, xi_alpha
from spansvm.machine.dual import train_dual

CELLS = {
    "splice": ("splice/splice.gz", "splice/splice.t.gz", 60, 0.1080, 0.1591, 0.1016),
    "adult": ("adult_a1a/a1a", "adult_a1a/a1a.t.gz", 123, 0.1585, 0.2405, 0.1557),
}
GRID = 2.0 ** np.arange(-6, 10.5, 0.5)


@pytest.mark.parametrize("name", ["splice", pytest.param("adult", marks=pytest.mark.long)])
def test_selected_test_errors_of_experiment_1(data_folder, name):
    train_file, test_file, d, rule_cell, xi_alpha_cell, least_cell = CELLS[name]
    X, y = load_svmlight_file(str(data_folder / train_file), n_features=d)
    X_test, y_test = load_svmlight_file(str(data_folder / test_file), n_features=d)
    scaler = MinMaxScaler().fit(X.toarray())
    X, X_test = scaler.transform(X.toarray()), scaler.transform(X_test.toarray())
    kernel = resolve_kernel("rbf", X, gamma="auto")
    gram = HeldGram(kernel(X), kernel_range=kernel.range)

    weights = [(plus, minus) for plus in GRID for minus in GRID]
    solutions = [train_dual(gram, y, np.where(y > 0, *pair), tol=1e-4) for pair in weights]
    models = [SolvedModel(gram, solution) for solution in solutions]
    assert len(models) == 1089
    assert all(solution.converged for solution in solutions)

    beta = np.array([solution.beta for solution in solutions]).T
    intercept = np.array([solution.intercept for solution in solutions])
    wrong = np.zeros(len(models))
    for start in range(0, y_test.size, 2000):
        rows = slice(start, start + 2000)
        decision = kernel(X_test[rows], X) @ beta + intercept
        wrong += (np.where(decision > 0, 1, -1) != y_test[rows, None]).sum(axis=0)

    def selected(values):
        return wrong[np.isclose(values, np.min(values), atol=1e-12)].max()

    for cell, value in (
        (rule_cell, selected([span_rule(model) for model in models])),
        (xi_alpha_cell, selected([xi_alpha(model) for model in models])),
        (least_cell, wrong.min()),
    ):
        assert abs(value - cell * y_test.size) <= 2
