"""Left-out values are right as values: ranked, and made probabilities of."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC, exact_loo
from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.lazy import gram_of
from spansvm.machine.criteria import SolvedModel
from spansvm.machine.dual import solve_dual
from spansvm.machine.span import find_spans
from spansvm.machine.values import accuracy_of, exact_values, left_out_values, rounded

#: Corners that grids contain: small C, tiny gamma.
SMALL = {"C": [0.1, 1, 10], "gamma": [1e-4, 1e-2, 1]}


def noise(rate, seed, n=200):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 5)), (np.arange(n) < rate * n).astype(int)


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X)[::4], y[::4]


def two_digits():
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero((y == 3) | (y == 8))[:140]
    return X[rows] / 16, (y[rows] == 8).astype(int)


def two_wines():
    X, y = load_wine(return_X_y=True)
    rows = y < 2
    return minmax_scale(X[rows]), y[rows]


def trained(X, y, C, gamma):
    gram = gram_of(resolve_kernel("rbf", X, gamma=gamma), X)
    signs = np.where(y == 1, 1.0, -1.0)
    return gram, solve_dual(gram, signs, np.full(y.size, float(C)))


# Noise --------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "neg_log_loss"])
def test_on_noise_a_search_promises_no_more_than_exact_leave_one_out(rate, scoring):
    ours, exact = [], []
    for seed in range(3):
        X, y = noise(rate, seed, n=200 if rate < 0.1 else 120)
        search = SpanSearch(SVC(), SMALL, scoring=scoring, refit=False)
        ours.append(search.fit(X, y).best_score_)
        exact.append(search.set_params(method="loo").fit(X, y).best_score_)
    assert np.mean(ours) < np.mean(exact) + 0.01
    if scoring == "roc_auc":
        assert np.mean(ours) < 0.7  # the best of nine, by chance


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5])
def test_on_noise_probabilities_are_as_good_as_the_prior(rate):
    ratios = []
    for seed in range(6):
        X, y = noise(rate, seed + 10)
        X_new, y_new = noise(rate, 1000 + seed, n=4000)
        prior = log_loss(y_new, np.full(y_new.size, rate))
        for setting in (
            {"C": 0.1, "gamma": 1e-4},
            {"gamma": 1e-2},
            {"kernel": "linear", "C": 1e-4},
        ):
            model = SpanSVC(**setting).fit(X, y)
            ratios.append(log_loss(y_new, model.predict_proba(X_new)) / prior)
    assert np.mean(ratios) < 1.02


def test_left_out_values_of_a_small_linear_machine_do_not_know_the_labels():
    X, y = noise(0.2, 0)
    model = SpanSVC(kernel="linear", C=1e-4).fit(X, y)
    exact = exact_loo(model, X, y)
    ours = roc_auc_score(y, model.loo_decision_function_)
    assert ours == pytest.approx(roc_auc_score(y, np.round(exact, 9)), abs=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_a_constant_predictor_is_not_chosen_by_ranked_scores(seed):
    """With C >= 0.1 and gamma <= 0.01 it was, on data with 20 % positives that can be ranked."""
    rng = np.random.default_rng(seed)
    y = (np.arange(200) < 40).astype(int)
    X = rng.normal(size=(200, 5)) + 0.8 * y[:, None]
    X_new = rng.normal(size=(2000, 5)) + 0.8 * (np.arange(2000) < 400)[:, None]
    grid = {"C": [0.1, 1, 10, 100], "gamma": [1e-4, 1e-3, 1e-2]}
    search = SpanSearch(SVC(), grid, scoring="roc_auc").fit(X, y)
    labels = np.arange(2000) < 400
    tested = roc_auc_score(labels, search.decision_function(X_new))
    every = [
        roc_auc_score(labels, SpanSVC(**params).fit(X, y).decision_function(X_new))
        for params in search.cv_results_["params"]
    ]
    assert tested > max(every) - 0.02
    assert search.best_score_ == pytest.approx(tested, abs=0.06)


# Against exact leave-one-out ----------------------------------------------------------


@pytest.mark.parametrize("data", [breast_cancer, two_digits, two_wines])
@pytest.mark.parametrize("gamma", [1e-4, 1e-2, 1.0])
def test_values_are_close_to_exact_leave_one_out(data, gamma):
    X, y = data()
    for C in (0.01, 1.0, 100.0):
        gram, solution = trained(X, y, C, gamma)
        ours, exact = left_out_values(gram, solution), exact_values(gram, solution)
        for score in (roc_auc_score, average_precision_score):
            assert score(y, ours.comparable) == pytest.approx(score(y, exact.comparable), abs=0.02)
        plain = rounded(exact.decision, accuracy_of(gram, solution))
        assert roc_auc_score(y, ours.decision) == pytest.approx(roc_auc_score(y, plain), abs=0.03)


def test_where_in_bound_vectors_are_few_values_are_better_than_the_rule():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [80, 70])
    X = rng.normal(size=(150, 2)) + 0.5 * y[:, None]
    better = 0
    for C in (0.1, 1.0, 10.0):
        for gamma in (0.01, 0.1, 1.0):
            gram, solution = trained(X, y, C, gamma)
            exact = exact_values(gram, solution).decision
            rule = find_spans(gram, solution).decision
            ours = left_out_values(gram, solution).decision
            assert np.abs(ours - exact).mean() <= np.abs(rule - exact).mean() + 1e-6
            better += np.abs(ours - exact).mean() < 0.5 * np.abs(rule - exact).mean()
    assert better >= 6


def check_shifts(gram, solution):
    """Compare exact values of some rows with those of models trained without them."""
    exact = exact_values(gram, solution)
    for p in np.flatnonzero(solution.support)[::7]:
        without = solution.C.copy()
        without[p] = 0.0
        model = solve_dual(gram, solution.y, without, tol=1e-9)
        others = np.arange(solution.y.size) != p
        shift = (model.decision - solution.decision)[others].mean()
        assert exact.decision[p] == pytest.approx(model.decision[p], abs=1e-6)
        assert exact.comparable[p] == pytest.approx(model.decision[p] - shift, abs=1e-6)


@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
def test_the_shift_of_the_others_is_that_of_retraining(C):
    check_shifts(*trained(*two_wines(), C, 0.5))


@pytest.mark.parametrize("C", [0.01, 0.1])
def test_the_shift_is_that_of_retraining_where_the_intercept_has_an_interval(C):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    gram, solution = trained(rng.normal(size=(60, 2)) + y[:, None], y, C, 0.5)
    assert not solution.in_bound.any()
    check_shifts(gram, solution)


def test_pooled_values_of_balanced_classes_are_comparable_with_small_weights():
    """All multipliers at their bounds: without an instance, the other class wins everywhere."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 3)) + 1.0 * y[:, None]
    model = SpanSVC(C=1e-3, gamma=0.1).fit(X, y)
    assert roc_auc_score(y, model.loo_decision_function_) < 0.1  # plain leave-one-out
    assert roc_auc_score(y, exact_loo(model, X, y)) < 0.1
    search = SpanSearch(SVC(gamma=0.1), {"C": [1e-3]}, scoring="roc_auc").fit(X, y)
    X_new = rng.normal(size=(2000, 3)) + 1.0 * (np.arange(2000) % 2)[:, None]
    tested = roc_auc_score(np.arange(2000) % 2, model.decision_function(X_new))
    assert search.best_score_ == pytest.approx(tested, abs=0.05)


# What holds of all of them ------------------------------------------------------------


def test_signs_are_those_of_the_span_rule():
    X, y = noise(0.3, 1)
    for C in (0.1, 10.0, 1000.0):
        model = SpanSVC(C=C, gamma=0.3).fit(X, y)
        np.testing.assert_array_equal(model.loo_decision_function_ > 0, model.loo_predict_ == 1)
        assert model.loo_error_ == pytest.approx((model.loo_predict_ != y).mean())


def test_values_do_not_depend_on_the_order_of_the_rows():
    X, y = breast_cancer()
    order = np.random.default_rng(0).permutation(y.size)
    for C, gamma in ((0.1, 0.01), (10.0, 0.3)):
        ours = left_out_values(*trained(X, y, C, gamma))
        permuted = left_out_values(*trained(X[order], y[order], C, gamma))
        np.testing.assert_allclose(permuted.comparable, ours.comparable[order], atol=1e-6)
        np.testing.assert_allclose(permuted.decision, ours.decision[order], atol=1e-6)


def test_values_that_the_solution_cannot_tell_apart_are_equal():
    values = np.array([1.0, 1.0 + 1e-11, 1.0 + 1e-7])
    first, second, third = rounded(values, 1e-9)
    assert first == second != third
    np.testing.assert_array_equal(rounded(values, 0.0), values)


def test_ranked_scores_of_matrices_computed_part_by_part():
    """To the tolerance of the training, which is finished only where the matrix is whole."""
    X, y = breast_cancer()
    grid = {"C": [1, 10], "gamma": [0.1, 1]}
    scores = [
        SpanSearch(SpanSVC(gram_budget=budget), grid, scoring="roc_auc", refit=False)
        .fit(X, y)
        .cv_results_["mean_test_score"]
        for budget in (None, 1.0)
    ]
    np.testing.assert_allclose(*scores, atol=0.01)


def test_rows_without_weight_are_not_ranked():
    X, y = breast_cancer()
    weight = np.ones(y.size)
    weight[::5] = 0.0
    search = SpanSearch(SVC(), {"C": [1.0]}, scoring="roc_auc").fit(X, y, sample_weight=weight)
    kept = weight > 0
    alone = SpanSearch(SVC(gamma=search.best_estimator_._gamma), {"C": [1.0]}, scoring="roc_auc")
    alone.fit(X[kept], y[kept])
    assert search.best_score_ == pytest.approx(alone.best_score_, abs=1e-6)


def test_scorers_that_read_signs_are_given_plain_values():
    X, y = breast_cancer()

    def share_positive(model, X, y):
        return float((model.decision_function(X) > 0).mean())

    search = SpanSearch(SpanSVC(C=0.01), {"gamma": [1.0]}, scoring=share_positive).fit(X, y)
    model = SpanSVC(C=0.01, gamma=1.0).fit(X, y)
    assert search.best_score_ == pytest.approx((model.loo_decision_function_ > 0).mean())


def test_predicted_shifts_are_those_of_retraining_where_theorem_2_holds():
    """Of in-bound and of bounded vectors; only the doubtful ones are followed."""
    X, y = breast_cancer()
    in_bound = bounded = 0
    for C in (0.3, 1.0, 3.0, 30.0):
        gram, solution = trained(X, y, C, 0.5)
        trusted = SolvedModel(gram, solution).trusted
        ours, exact = left_out_values(gram, solution), exact_values(gram, solution)
        np.testing.assert_allclose(ours.comparable[trusted], exact.comparable[trusted], atol=1e-6)
        np.testing.assert_allclose(ours.decision[trusted], exact.decision[trusted], atol=1e-6)
        in_bound += (trusted & solution.in_bound).sum()
        bounded += (trusted & solution.bounded).sum()
    assert min(in_bound, bounded) >= 3


def test_where_the_features_have_cancelled_out_nothing_is_ranked():
    """Every row is there twice but for a hair, once in each class: the model is a constant."""
    X = np.repeat(np.random.default_rng(0).standard_normal((20, 3)), 2, axis=0)
    X[1::2] += 1e-8
    y = np.tile([0, 1], 20)
    gram, solution = trained(X, y, 1.0, 0.5)
    assert 0.0 < solution.decision.std() < 1e-5
    assert np.ptp(left_out_values(gram, solution).comparable) == 0.0


def test_the_last_of_its_class_is_given_to_the_other():
    X, y = two_wines()
    y = (np.arange(y.size) == 7).astype(int)
    values = left_out_values(*trained(X, y, 1.0, 0.5))
    assert values.decision[7] == pytest.approx(-1.0, abs=1e-6)
    assert values.comparable[7] == pytest.approx(-1.0, abs=1e-6)
