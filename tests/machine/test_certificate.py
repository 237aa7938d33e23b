"""Certificates of models say what numpy alone finds from their public attributes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from spansvm import SpanSearch, SpanSVC, SpanSVR, exact_loo
from spansvm.kernels.gram import HeldGram
from spansvm.machine.certificate import certify
from spansvm.machine.criteria import SolvedModel
from spansvm.machine.dual import DualSolution, solve_dual
from tests.problems import random_problem, reference_qp

CANCER = load_breast_cancer(return_X_y=True)
WINE = load_wine(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def gaussian(X, gamma):
    squares = (X**2).sum(axis=1)
    return np.exp(-gamma * (squares[:, None] + squares - 2.0 * X @ X.T))


def of_classes(beta, intercept, K, y, bounds):
    """Violation, objectives, sum and distance from the box of one pair of classes."""
    plain = K @ beta
    asked = y - plain
    low, high = np.minimum(0.0, y * bounds), np.maximum(0.0, y * bounds)
    gap = asked[beta < high].max() - asked[beta > low].min()
    loss = np.maximum(0.0, 1.0 - y * (plain + intercept))
    primal = 0.5 * beta @ plain + bounds @ loss
    dual = np.abs(beta).sum() - 0.5 * beta @ plain
    outside = max((low - beta).max(), (beta - high).max(), 0.0)
    return max(gap, 0.0), primal, dual, abs(beta.sum()), outside


def of_targets(beta, intercept, K, target, bounds, epsilon):
    """The same of a regression, with LibSVM's two multipliers for every row."""
    plain = K @ beta
    above, below = np.maximum(beta, 0.0), np.maximum(-beta, 0.0)
    lower, upper = target - plain - epsilon, target - plain + epsilon
    least = max(lower[above < bounds].max(), upper[below > 0.0].max())
    most = min(lower[above > 0.0].min(), upper[below < bounds].min())
    loss = np.maximum(0.0, np.abs(target - plain - intercept) - epsilon)
    primal = 0.5 * beta @ plain + bounds @ loss
    dual = target @ beta - epsilon * np.abs(beta).sum() - 0.5 * beta @ plain
    return max(least - most, 0.0), primal, dual, abs(beta.sum()), (np.abs(beta) - bounds).max()


def pairs_of(model, indices, row_bounds, K):
    """Multipliers of every pair of classes, taken out of LibSVM's layout."""
    n_classes, number = len(model.classes_), 0
    for first in range(n_classes):
        for second in range(first + 1, n_classes):
            rows = np.flatnonzero((indices == first) | (indices == second))
            beta = np.zeros(indices.size)
            own = indices[model.support_]
            for kind, row in ((first, second - 1), (second, first)):
                beta[model.support_[own == kind]] = model.dual_coef_[row, own == kind]
            y = np.where(indices[rows] == second, 1.0, -1.0)
            sign = 1.0 if n_classes == 2 else -1.0
            yield of_classes(
                sign * beta[rows], sign * model.intercept_[number],
                K[np.ix_(rows, rows)], y, row_bounds[rows],
            )  # fmt: skip
            number += 1


def assert_says(certificate, found):
    gap, primal, dual, equality, box = found
    assert certificate.gap == pytest.approx(gap, abs=1e-9)
    assert certificate.primal == pytest.approx(primal, rel=1e-10)
    assert certificate.dual == pytest.approx(dual, rel=1e-10)
    assert certificate.duality_gap == pytest.approx(primal - dual, abs=1e-9 * primal)
    assert certificate.relative_gap == pytest.approx((primal - dual) / primal, abs=1e-9)
    assert certificate.equality == pytest.approx(equality, abs=1e-9)
    assert certificate.box == pytest.approx(max(box, 0.0), abs=1e-12)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_numpy_alone_finds_the_certificate_of_two_classes(C):
    X, y = scale(CANCER[0]), CANCER[1]
    weight = np.random.default_rng(0).random(y.size)
    weight[::7] = 0.0
    model = SpanSVC(C=C, gamma=0.03, class_weight={1: 0.5}).fit(X, y, sample_weight=weight)
    bounds = C * model.class_weight_[y] * weight
    (found,) = pairs_of(model, y, bounds, gaussian(X, 0.03))
    assert_says(model.certificate_, found)
    assert model.certificate_.duality_gap < 1e-9 * model.certificate_.primal
    assert_says(model.certificate_.machines[0], found)


def test_numpy_alone_finds_the_certificates_of_all_pairs():
    X, y = scale(WINE[0]), WINE[1]
    model = SpanSVC(C=2.0, gamma=0.05).fit(X, y)
    found = list(pairs_of(model, y, np.full(y.size, 2.0), gaussian(X, 0.05)))
    for certificate, own in zip(model.certificate_.machines, found, strict=True):
        assert_says(certificate, own)
    gap, primal, dual, equality, box = np.transpose(found)
    sums = gap.max(), primal.sum(), dual.sum(), equality.max(), box.max()
    assert_says(model.certificate_, sums)


@pytest.mark.parametrize("epsilon", [0.0, 10.0])
def test_numpy_alone_finds_the_certificate_of_a_regression(epsilon):
    X, target = scale(DIABETES[0])[:150], DIABETES[1][:150]
    weight = np.random.default_rng(1).random(target.size)
    weight[::9] = 0.0
    model = SpanSVR(C=50.0, gamma=0.02, epsilon=epsilon).fit(X, target, sample_weight=weight)
    beta = np.zeros(target.size)
    beta[model.support_] = model.dual_coef_[0]
    found = of_targets(beta, model.intercept_[0], gaussian(X, 0.02), target, 50.0 * weight, epsilon)
    certificate = model.certificate_
    assert_says(certificate, found)
    assert certificate.relative_gap < 1e-9


def test_the_objectives_enclose_that_of_a_general_solver():
    for seed in range(12):
        problem = random_problem(seed)
        solution = solve_dual(problem.gram, problem.y, problem.C)
        lo = np.minimum(0.0, problem.y * problem.C)
        hi = np.maximum(0.0, problem.y * problem.C)
        x, *_ = reference_qp(problem.K, -problem.y, lo, hi, 0.0)
        best = problem.y @ x - 0.5 * x @ problem.K @ x
        certificate = certify(problem.gram, solution)
        assert certificate.dual == pytest.approx(best, rel=1e-6)
        assert certificate.primal == pytest.approx(best, rel=1e-6)


def test_a_model_that_is_not_the_solution_is_found_out():
    X, y = scale(CANCER[0]), CANCER[1]
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model = SpanSVC(gamma=0.1, max_iter=10).fit(X, y)
    certificate = model.certificate_
    whole = SpanSVC(gamma=0.1).fit(X, y).certificate_
    assert certificate.gap > 1.0
    assert certificate.relative_gap > 0.5
    assert certificate.dual < whole.dual <= whole.primal < certificate.primal
    assert (certificate.exact, certificate.predicted) == (0, y.size)


def test_multipliers_outside_their_box_or_of_another_sum_are_found_out():
    y, C = np.array([1.0, -1.0, 1.0]), np.full(3, 1.0)
    alpha, K = np.array([1.5, 1.0, -0.25]), np.eye(3)
    solution = DualSolution(alpha, C, y, 0.0, K @ (y * alpha), 0.0, True, 0)
    certificate = certify(HeldGram(K), solution)
    assert (certificate.box, certificate.equality) == (0.5, 0.25)


@pytest.mark.parametrize(("C", "gamma"), [(0.3, 0.02), (5.0, 0.03), (50.0, 0.3)])
def test_only_values_that_are_merely_predicted_differ_from_exact_ones(C, gamma):
    X, y = scale(CANCER[0])[:250], CANCER[1][:250]
    model = SpanSVC(C=C, gamma=gamma).fit(X, y)
    truth = exact_loo(model, X, y)
    certificate = model.certificate_
    apart = np.abs(model.loo_decision_function_ - truth)
    assert certificate.exact + certificate.predicted == y.size
    assert certificate.unchanged == y.size - model.support_.size
    assert min(certificate.followed, certificate.by_span) > 0
    assert int((apart > 1e-6).sum()) <= certificate.predicted


def test_rows_whose_predictions_are_said_to_be_solutions_have_exact_values():
    """Row by row: what is counted as exact by the span is what retraining gives."""
    X, y = scale(CANCER[0])[:120], CANCER[1][:120]
    model = SpanSVC(C=5.0, gamma=0.03).fit(X, y)
    (machine,) = model.solved_models()
    rows = np.flatnonzero(SolvedModel(machine.gram, machine.solution).trusted)
    assert rows.size >= model.certificate_.by_span > 0
    for row in rows[:8]:
        rest = np.delete(np.arange(y.size), row)
        without = SpanSVC(C=5.0, gamma=0.03, tol=1e-9).fit(X[rest], y[rest])
        value = without.decision_function(X[[row]])[0]
        assert machine.spans.decision[row] == pytest.approx(value, abs=1e-6)


def test_all_left_out_values_of_a_regression_are_exact():
    X, target = scale(DIABETES[0])[:90], DIABETES[1][:90]
    model = SpanSVR(C=20.0, gamma=0.05, epsilon=10.0).fit(X, target)
    certificate = model.certificate_
    assert (certificate.followed, certificate.predicted) == (model.support_.size, 0)
    assert certificate.exact == target.size
    model.fit(X, target, groups=np.arange(90) // 5)
    assert model.certificate_.exact == target.size
    assert model.certificate_.followed > model.support_.size


def test_classes_that_leave_in_groups_have_no_counts():
    X, y = scale(WINE[0]), WINE[1]
    model = SpanSVC(gamma=0.05).fit(X, y, groups=np.arange(y.size) // 4)
    certificate = model.certificate_
    assert certificate.exact is None
    assert certificate.predicted is None
    assert certificate.relative_gap < 1e-9


def test_a_fit_replaces_the_certificate_and_a_saved_model_has_none():
    X, y = scale(WINE[0]), WINE[1]
    model = SpanSVC(gamma=0.05).fit(X, y)
    first = model.certificate_
    assert model.certificate_ is first
    assert model.fit(X, y, sample_weight=np.linspace(0.5, 2.0, y.size)).certificate_ != first
    regression = SpanSVR(gamma=0.05).fit(X, X[:, 0])
    assert regression.certificate_.gap >= 0.0
    for one in (model, regression):
        with pytest.raises(AttributeError, match="keeps no training rows"):
            one.without_training_rows().certificate_  # noqa: B018


def test_the_selected_model_of_a_search_has_one():
    X, y = scale(WINE[0]), WINE[1]
    search = SpanSearch(SpanSVC(gamma=0.05), {"C": [0.5, 5.0]}).fit(X, y)
    own = SpanSVC(gamma=0.05, **search.best_params_).fit(X, y).certificate_
    assert search.best_estimator_.certificate_.primal == pytest.approx(own.primal, rel=1e-9)
    assert search.best_estimator_.certificate_.exact == own.exact
    with pytest.raises(FrozenInstanceError):
        own.gap = 0.0
