"""Errors that the default search counts, against exact leave-one-out and retrained LibSVM."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC, analyze, exact_loo
from spansvm.kernels.functions import kernel_of, resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.kernels.pair_grams import Grams
from spansvm.machine.doubt import doubtful, predict
from spansvm.machine.dual import solve_dual
from spansvm.machine.following import EXACT_TOLERANCE, Follower, retrain
from spansvm.machine.span import find_spans
from spansvm.multiclass.machines import PairPaths, TrainedMachines
from spansvm.multiclass.together import JointModels
from spansvm.multiclass.verified import verified_left_out

GRID = {"C": [0.01, 0.1, 1.0, 10.0, 100.0, 1e4], "gamma": [0.02, 0.3, 3.0]}


def clouds(seed: int, n: int = 90, classes: int = 2, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes of unequal size."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n, p=np.arange(2.0, classes + 2) / np.arange(2.0, classes + 2).sum())
    centres = 1.3 * rng.standard_normal((classes, d))
    return rng.standard_normal((n, d)) + centres[y], y


def errors(model, grid, X, y, method, **arguments) -> np.ndarray:
    search = SpanSearch(model, grid, method=method, refit=False).fit(X, y, **arguments)
    return search.cv_results_["loo_error"]


def assert_exact(model, grid, X, y, rule_is_too=False, **arguments) -> None:
    """That the default search counts as exact leave-one-out does, and that the rule does not."""
    default, rule, exact = (
        errors(model, grid, X, y, method, **arguments) for method in (None, "span_rule", "loo")
    )
    np.testing.assert_array_equal(default, exact)
    assert rule_is_too or (rule != exact).any()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("classes", [2, 3])
def test_counts_are_exact(seed, classes):
    assert_exact(SVC(), GRID, *clouds(seed, classes=classes))


def test_counts_of_many_small_classes_are_exact_but_for_a_row_in_a_thousand_models():
    # Fifteen pairs of five to thirty rows: what is known to first order may be too little.
    off, rule_off = [], []
    for seed in range(4):
        X, y = clouds(seed, classes=6)
        default, rule, exact = (errors(SVC(), GRID, X, y, m) for m in (None, "span_rule", "loo"))
        off.append(np.abs(default - exact))
        rule_off.append(np.abs(rule - exact))
    assert np.mean(off) <= 2e-4
    assert np.max(off) <= 1 / 90 + 1e-12
    assert np.mean(rule_off) > 0.02


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("d", [2, 6])
def test_counts_of_linear_kernels_are_exact(classes, d):
    grid = {"C": 10.0 ** np.linspace(-3, 3, 9)}
    assert_exact(SVC(kernel="linear"), grid, *clouds(classes + 1, classes=classes, d=d))


@pytest.mark.parametrize("classes", [2, 3])
def test_counts_with_unequal_weights_are_exact(classes):
    X, y = clouds(7, classes=classes)
    weight = np.random.default_rng(7).uniform(0.05, 2.0, y.size)
    weight[:5] = 0.0
    assert_exact(SVC(class_weight="balanced"), GRID, X, y)
    assert_exact(SVC(), GRID, X, y, sample_weight=weight)


def test_counts_of_doubled_rows_are_exact():
    X, y = clouds(3, n=50, classes=3)
    y[5:10] = (y[5:10] + 1) % 3
    X, y = np.vstack((X, X[:40])), np.concatenate((y, y[:30], y[:10]))
    assert_exact(SVC(), GRID, X, y)


def test_counts_on_noise_are_exact():
    rng = np.random.default_rng(0)
    assert_exact(SVC(), GRID, rng.standard_normal((80, 4)), np.arange(80) % 2)


def test_counts_of_one_vs_rest_are_exact():
    X, y = clouds(1, n=70, classes=4)
    grid = {"estimator__C": [0.01, 0.3, 10.0, 1e3], "estimator__kernel": ["linear", "rbf"]}
    assert_exact(OneVsRestClassifier(SVC()), grid, X, y)


def test_counts_with_groups_of_one_and_more_rows_are_exact():
    X, y = clouds(4, n=80)
    groups = np.concatenate((np.arange(40), 40 + np.arange(40) // 4))
    assert_exact(SVC(), GRID, X, y, groups=groups)


@pytest.mark.parametrize("C", [0.5, 30.0, 1e4])
@pytest.mark.parametrize("classes", [2, 3])
def test_counts_are_those_of_libsvm_trained_without_each_row(C, classes):
    X, y = clouds(11, n=60, classes=classes)
    model = SpanSVC(C=C, gamma=0.3).fit(X, y)
    predicted = cross_val_predict(SVC(C=C, gamma=0.3, tol=1e-7), X, y, cv=LeaveOneOut())
    np.testing.assert_array_equal(model.loo_predict_, predicted)
    assert model.loo_error_ == np.mean(predicted != y)


def test_the_number_of_a_model_does_not_depend_on_the_order_of_rows():
    # A linear kernel in two dimensions: the dual has many solutions.
    rng = np.random.default_rng(28)
    X, y = rng.standard_normal((40, 2)), np.where(rng.random(40) < 0.5, 1, -1)
    exact = np.mean((exact_loo(SpanSVC(kernel="linear", C=10.0), X, y) > 0) != (y > 0))
    for order in (np.arange(40), np.arange(40)[::-1], rng.permutation(40)):
        model = SpanSVC(kernel="linear", C=10.0).fit(X[order], y[order])
        assert model.loo_error_ == pytest.approx(exact)
    grid = {"C": [0.1, 1.0, 10.0, 100.0]}
    one = errors(SVC(kernel="linear"), grid, X, y, None)
    two = errors(SVC(kernel="linear"), grid, X[::-1], y[::-1], None)
    np.testing.assert_array_equal(one, two)
    assert one[2] == pytest.approx(exact)


@pytest.mark.parametrize("classes", [2, 3])
def test_counts_depend_neither_on_the_grid_nor_on_workers(classes):
    X, y = clouds(5, classes=classes)
    search = SpanSearch(SVC(), GRID, refit=False).fit(X, y)
    backwards = {name: values[::-1] for name, values in GRID.items()}
    again = SpanSearch(SVC(), backwards, refit=False, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(
        search.cv_results_["loo_error"], again.cv_results_["loo_error"][::-1]
    )
    for place in (0, 7, 16):
        params = search.cv_results_["params"][place]
        alone = SpanSVC(**params).fit(X, y)
        assert alone.loo_error_ == pytest.approx(search.cv_results_["loo_error"][place])


def test_the_paper_s_rule_keeps_its_name():
    X, y = clouds(2)
    search = SpanSearch(SVC(), GRID, method="span_rule", refit=False).fit(X, y)
    assert search.method_ == "span_rule"
    for params, error in zip(
        search.cv_results_["params"], search.cv_results_["loo_error"], strict=True
    ):
        model = SpanSVC(**params).fit(X, y)
        assert analyze(model).span_rule == pytest.approx(error)
    assert SpanSearch(SVC(), GRID, refit=False).fit(X, y).method_ == "verified"


def test_values_agree_with_the_counts():
    X, y = scale(load_iris().data), load_iris().target
    model = SpanSVC(C=100.0, gamma=0.5, decision_function_shape="ovo").fit(X, y)
    assert model.loo_error_ == np.mean(model.loo_predict_ != y)
    votes = model.left_out_.labels(model.classes_)
    np.testing.assert_array_equal(votes, model.loo_predict_)
    two = SpanSVC(C=100.0, gamma=0.5).fit(X[50:], y[50:])
    signs = np.where(two.loo_decision_function_ > 0, 2, 1)
    np.testing.assert_array_equal(signs, two.loo_predict_)


@pytest.mark.parametrize("C", [10.0, 1e3, 1e5])
def test_paths_at_large_bounds_are_followed_and_not_retrained(C):
    # Rounding in the tableau grows with C: before, most removals were given up at C = 1e4.
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 3))
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(300) > 0, 1.0, -1.0)
    gram = HeldGram(rbf_kernel(X, gamma=0.3))
    solution = solve_dual(gram, y, np.full(300, C), tol=EXACT_TOLERANCE)
    rows = np.flatnonzero(solution.support)
    followed = Follower(gram, solution).follow(rows)
    assert not np.isnan(followed.decision).any()
    some = rows[:: max(rows.size // 12, 1)]
    values, shifts, _ = retrain(gram, solution, some)
    found = Follower(gram, solution).follow(some)
    size = np.maximum(1.0, np.abs(values))
    np.testing.assert_allclose(found.decision / size, values / size, atol=1e-5)
    np.testing.assert_allclose(found.shift / size, shifts / size, atol=1e-5)


def test_removals_are_known_again_when_the_bounds_grow():
    X, y = clouds(6, d=4)
    signs = np.where(y > 0, 1.0, -1.0)
    gram = HeldGram(rbf_kernel(X, gamma=2.0))
    small, large = (solve_dual(gram, signs, np.full(y.size, C), tol=1e-10) for C in (1e3, 1e5))
    np.testing.assert_allclose(small.alpha, large.alpha, rtol=1e-6, atol=1e-6)
    assert not small.bounded.any()
    rows = np.flatnonzero(small.support)
    first = Follower(gram, small).follow(rows)
    again = Follower(gram, small).follow(rows[::2])
    np.testing.assert_array_equal(again.decision, first.decision[::2])
    fresh = Follower(HeldGram(gram.values), large).follow(rows)
    np.testing.assert_allclose(fresh.decision, first.decision, atol=1e-6)


@pytest.mark.parametrize("growing", [True, False])
def test_a_path_that_meets_a_bound_is_another_one_if_the_bound_is_another(growing):
    X, y = clouds(6, d=4)
    K, signs = rbf_kernel(X, gamma=2.0), np.where(y > 0, 1.0, -1.0)
    loose = solve_dual(HeldGram(K), signs, np.full(y.size, 1e6), tol=1e-10)
    # The same solution, with less room for what a removed row gives up.
    tight = replace(loose, C=1.1 * np.maximum(loose.alpha, np.median(loose.alpha)))
    before, after = (tight, loose) if growing else (loose, tight)
    rows, gram = np.flatnonzero(loose.support), HeldGram(K)
    others = Follower(gram, before).follow(rows)
    shared, alone = (Follower(own, after).follow(rows) for own in (gram, HeldGram(K)))
    assert np.abs(others.decision - alone.decision).max() > 0.1
    np.testing.assert_allclose(shared.decision, alone.decision, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gamma", [0.05, 0.5, 20.0])
def test_the_doubt_of_machines_trained_together_is_that_of_each_alone(seed, gamma):
    X, y = clouds(seed, n=120, classes=3)
    X[10:14], y[10:14] = X[:4], y[:4]
    grams = Grams(resolve_kernel("rbf", X, gamma=gamma), X, y)
    weights = [np.full(y.size, C) for C in (0.1, 1.0, 10.0, 1e3)]
    for found in PairPaths(grams).train_each(weights, tol=1e-3, drops=True):
        starts = grams.pair_rows.starts
        for pair, model in enumerate(found.models):
            solution = model.solution
            drops = found.drops[starts[pair] : starts[pair + 1]]
            expected = predict(model.gram, solution, find_spans(model.gram, solution)).drop
            looked_at = solution.support & (solution.y * solution.decision > -1e-9)
            if np.isnan(drops[~looked_at]).any():
                continue  # the test below is about these
            assert not drops[~looked_at].any()
            known = looked_at & np.isfinite(drops)
            np.testing.assert_allclose(drops[known], expected[known], rtol=1e-4, atol=1e-7)
            certain = np.flatnonzero(looked_at & np.isneginf(drops))
            followed = Follower(model.gram, solution).follow(certain)
            assert (model.spans.decision[certain] * solution.y[certain] <= 0).all()
            assert (followed.decision * solution.y[certain] <= 1e-9).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weight", [0.002, 0.05])
@pytest.mark.parametrize("gamma", [0.02, 0.5])
def test_what_one_vector_takes_over_is_predicted_in_training_as_by_itself(seed, weight, gamma):
    X, y = clouds(seed, n=60)
    X[10:14], y[10:14] = X[:4], y[:4]
    kernel = resolve_kernel("rbf", X, gamma=gamma)
    bounds = np.full(y.size, weight)
    grams = Grams(kernel, X, y)
    (found,) = PairPaths(grams).train_each([bounds], tol=1e-3, drops=True)
    solution, verified = found.solutions[0], found.verified
    expected = predict(grams.whole, solution, find_spans(grams.whole, solution))
    lone = solution.in_bound.sum() < 2
    asked = solution.support & doubtful(
        solution.y * solution.decision, solution.y * expected.decision, expected.drop
    )
    np.testing.assert_array_equal(verified.followed | verified.doubtful, asked)
    plain = ~verified.followed & (lone | ~solution.support)
    np.testing.assert_allclose(verified.decision[plain], expected.decision[plain], atol=1e-9)
    exact = Follower(grams.whole, solution).follow(np.flatnonzero(verified.followed))
    np.testing.assert_allclose(verified.decision[verified.followed], exact.decision, atol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weight", [0.05, 0.2])
def test_decision_values_have_the_signs_that_are_counted(classes, weight):
    # Fewer than two vectors are in-bound: what was followed in training must not be predicted anew.
    followed = 0
    for seed in range(20):
        X, y = clouds(seed, n=60, classes=classes)
        kernel = resolve_kernel("rbf", X, gamma=0.02 if weight > 0.1 else 0.3)
        bounds, grams = weight * np.tile([1.7, 1.0, 1.0, 1.0], 15), Grams(kernel, X, y)
        (found,) = PairPaths(grams).train_each([bounds], tol=1e-3, drops=True)
        machines = TrainedMachines(X, grams.pair_rows, kernel, bounds, found, grams=grams)
        rows, values = grams.pair_rows, verified_left_out(machines).values
        decision = values.decision[rows.row, rows.column]
        there = found.verified.followed
        np.testing.assert_allclose(decision[there], found.verified.decision[there], atol=1e-6)
        followed += np.count_nonzero(there)
    assert followed > 5


def test_matrices_in_parts_keep_the_rule_unless_they_are_small():
    X, y = clouds(8, n=120)
    model = SpanSVC(C=10.0, gamma=0.3, gram_budget=1000).fit(X, y)
    assert model.loo_error_ == SpanSVC(C=10.0, gamma=0.3).fit(X, y).loo_error_
    assert model.loo_error_ != pytest.approx(analyze(model).span_rule)
    X, y = clouds(8, n=1100)
    large = SpanSVC(C=1.0, gamma=0.3, gram_budget=1000).fit(X, y)
    assert large.loo_error_ == pytest.approx(analyze(large).span_rule)


def test_rows_that_are_alone_in_their_class_are_errors():
    X, y = clouds(9, n=60, classes=3)
    y[y == 2] = 0
    y[0] = 2
    model = SpanSVC(C=10.0, gamma=0.3).fit(X, y)
    assert model.loo_predict_[0] != 2
    grams = Grams(resolve_kernel("rbf", X, gamma=0.3), X, y)
    bounds = np.full(y.size, 10.0)
    found = PairPaths(grams).train(bounds, tol=1e-3)
    machines = TrainedMachines(X, grams.pair_rows, grams.kernel, bounds, found, grams=grams)
    assert verified_left_out(machines).wrong()[0]


@pytest.mark.parametrize(("name", "classes"), [("verified", 2), ("removed", 3)])
@pytest.mark.parametrize("seed", range(3))
def test_rows_followed_in_compiled_chains_are_those_followed_one_machine_at_a_time(
    monkeypatch, name, classes, seed
):
    X, y = clouds(seed, classes=classes)
    X[::9] = X[1]  # equal rows, also of different classes
    grid = {**GRID, "class_weight": [None, {0: 3.0}]}
    found = SpanSearch(SpanSVC(), grid, refit=False).fit(X, y).cv_results_
    nothing = property(lambda self: None) if name == "verified" else lambda self, entries: None
    monkeypatch.setattr(JointModels, name, nothing)
    expected = SpanSearch(SpanSVC(), grid, refit=False).fit(X, y).cv_results_
    np.testing.assert_array_equal(found["loo_error"], expected["loo_error"])
    np.testing.assert_allclose(found["loo_hinge"], expected["loo_hinge"], rtol=1e-9)


def test_removals_in_chains_are_kept_while_the_solution_stays_the_same():
    """For large C nothing is bounded, and larger ones change nothing; then a smaller one does."""
    X, y = clouds(1, classes=3)
    weights = [1e3, 1e5, 1e6, 1.0, 1e6]
    several = Grams(resolve_kernel("rbf", X, gamma=3.0), X, y)
    bounds = [np.full(y.size, C) for C in weights]
    for models in PairPaths(several).train_each(bounds, tol=EXACT_TOLERANCE, drops=True):
        rows = np.flatnonzero(models.signed)
        decision, _, _ = models.removed(rows)
        for pair, start in enumerate(several.pair_rows.starts[:-1]):
            model = models.model(pair)
            own = np.flatnonzero(model.solution.support)
            exact = Follower(model.gram, model.solution).remove(own)
            values = decision[np.searchsorted(rows, start + own)]
            there = ~np.isnan(values)
            assert there.mean() > 0.9
            np.testing.assert_allclose(values[there], exact.decision[there], atol=1e-6)


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_removals_in_chains_of_falling_bounds_are_followed_again(seed):
    """The solution stays the same for a while, but what removed rows give up meets the bounds."""
    X, y = clouds(seed)
    several = Grams(resolve_kernel("rbf", X, gamma=3.0), X, y)
    weights = [1e3, 5.0, 4.0, 3.0, 2.5, 2.0, 1.8, 1.6, 1.5, 1.4, 1.3, 1.2]
    bounds = [np.full(y.size, C) for C in weights]
    for models in PairPaths(several).train_each(bounds, tol=EXACT_TOLERANCE, drops=True):
        solution = models.model(0).solution
        own = np.flatnonzero(solution.support)
        decision, _, _ = models.removed(own)
        exact = Follower(HeldGram(models.model(0).gram.values), solution).remove(own)
        np.testing.assert_allclose(decision, exact.decision, atol=1e-6)


def test_paths_that_were_given_up_are_not_followed_again(monkeypatch):
    """A kernel that tells hardly any rows apart: many vectors meet their bounds at one place."""
    X, y = np.random.default_rng(0).standard_normal((180, 40)), np.repeat([0, 1], 90)
    grams = Grams(resolve_kernel("rbf", X, gamma=0.2), X, y)
    bounds = np.full(y.size, 1.0)
    found = next(PairPaths(grams).train_each([bounds], tol=1e-3, drops=True))
    assert found.verified.doubtful.any()

    def again(*arguments):
        raise AssertionError("These rows were tried.")

    monkeypatch.setattr("spansvm.machine.following.follow_rows_of", again)
    machines = TrainedMachines(X, grams.pair_rows, grams.kernel, bounds, found, grams=grams)
    expected = cross_val_predict(SVC(C=1.0, gamma=0.2, tol=1e-8), X, y, cv=LeaveOneOut())
    np.testing.assert_array_equal(verified_left_out(machines).wrong(), expected != y)


@pytest.mark.parametrize("C", [0.3, 3.0, 30.0])
def test_left_out_values_do_not_depend_on_what_was_asked_before(C):
    X, y = clouds(3, classes=3)
    one, other = (SpanSVC(C=C, gamma=0.3).fit(X, y) for _ in range(2))
    values, probabilities = one.loo_decision_function_, one.loo_predict_proba_
    np.testing.assert_array_equal(other.loo_predict_proba_, probabilities)
    np.testing.assert_array_equal(other.loo_decision_function_, values)
    saved = SpanSVC(C=C, gamma=0.3).fit(X, y).without_training_rows()
    np.testing.assert_array_equal(saved.predict_proba(X), one.predict_proba(X))


@pytest.mark.parametrize("seed", [0, 1, 7, 9, 14, 28])
def test_values_that_only_rounding_keeps_from_0_are_counted_as_exact_leave_one_out_does(seed):
    # Rows that have nothing in common: where without one of them two classes have as many, f is 0.
    rng = np.random.default_rng(seed)
    k = rng.integers(3, 8)
    y = rng.permutation(np.repeat(np.arange(k), rng.integers(6, 14, size=k)))
    X = 6.0 * rng.standard_normal((y.size, 20))
    assert_exact(SVC(gamma=1.0), {"C": [10.0]}, X, y, rule_is_too=True)


def test_values_do_not_depend_on_the_candidates_before():
    """Here two in-bound vectors have equal multipliers: without one, the other has nothing left."""
    X, y = load_iris(return_X_y=True)
    X, y = np.ascontiguousarray(X[::2]), y[::2]
    kernel = kernel_of(SpanSVC(gamma=0.1), X)

    def left_out(weights):
        grams = Grams(kernel, X, y)
        bounds = [np.full(y.size, C) for C in weights]
        paths = PairPaths(grams).train_each(bounds, tol=1e-3, drops=True, values=True)
        found = list(paths)[-1]
        machines = TrainedMachines(X, grams.pair_rows, kernel, bounds[-1], found, None, grams)
        return verified_left_out(machines).values

    alone, chained = left_out([1.0]), left_out([0.1, 1.0])
    np.testing.assert_allclose(chained.comparable, alone.comparable, atol=1e-9)
    np.testing.assert_allclose(chained.decision, alone.decision, atol=1e-9)
