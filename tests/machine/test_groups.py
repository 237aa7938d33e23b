"""Groups of rows that are left out together: predicted by blocks, and exactly."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from spansvm import DependentRowsWarning, SpanSearch, SpanSVC, analyze, exact_loo
from spansvm.kernels.gram import HeldGram
from spansvm.machine.dual import solve_dual
from spansvm.machine.groups import FEW_ROWS, FEWEST_IN_BOUND, LARGEST_SHARE, Remover
from spansvm.machine.span import find_spans
from spansvm.machine.values import exact_values
from spansvm.multiclass.group_left_out import groups_left_out, sets_of

from ..problems import random_problem, reference_svm

TIGHT = {"tol": 1e-10}


def problems(count, *, twins, most=50):
    """Random problems with groups of random rows."""
    for seed in range(count):
        problem = random_problem(seed, most=most)
        rng = np.random.default_rng(seed)
        K, y, C = problem.K, problem.y, problem.C
        if twins:
            drawn = rng.integers(0, y.size, y.size)
            K, y, C = K[np.ix_(drawn, drawn)], y[drawn], C[drawn]
        if np.unique(y[C > 0]).size == 2:
            yield HeldGram(K), y, C, rng.integers(0, rng.integers(2, max(y.size // 3, 3)), y.size)


def without(gram, y, C, members):
    """The machine trained from nothing without some rows; None if one class is left."""
    rest = C.copy()
    rest[members] = 0.0
    if np.unique(y[rest > 0]).size < 2:
        return None
    return solve_dual(gram, y, rest, **TIGHT)


def blobs(n, seed=0, n_classes=2, apart=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    centres = rng.standard_normal((n_classes, 4))
    return apart * centres[y] + rng.standard_normal((n, 4)), y


# One machine ----------------------------------------------------------------------------


def test_the_prediction_is_the_dense_block_form():
    compared = 0
    for gram, y, C, groups in problems(60, twins=False):
        solution = solve_dual(gram, y, C, **TIGHT)
        remover, K, b = Remover(gram, solution), gram.values, solution.beta
        for members in sets_of(groups):
            predicted = remover.predict(members)
            stays = solution.in_bound.copy()
            stays[members] = False
            J = np.flatnonzero(stays)
            if predicted is None or J.size == 0:
                continue
            system = np.ones((J.size + 1, J.size + 1))
            system[:-1, :-1], system[-1, -1] = K[np.ix_(J, J)], 0.0
            if np.linalg.cond(system) > 1e8:
                continue
            right = np.append(K[np.ix_(J, members)] @ b[members], b[members].sum())
            d, e = np.split(np.linalg.solve(system, right), [-1])
            expected = solution.decision - K[:, members] @ b[members] + K[:, J] @ d + e
            found = predicted.values(solution.decision, K[:, predicted.rows])
            np.testing.assert_allclose(found, expected, atol=1e-6 * max(np.abs(expected).max(), 1))
            compared += 1
    assert compared > 200


@pytest.mark.parametrize("twins", [False, True])
@pytest.mark.parametrize("way", ["follow", "retrain", "exact"])
def test_exact_removals_are_training_without_the_group(way, twins):
    found, lost = 0, 0
    for gram, y, C, groups in problems(120, twins=twins):
        solution = solve_dual(gram, y, C, **TIGHT)
        remover = Remover(gram, solution)
        for members in sets_of(groups):
            reference = without(gram, y, C, members)
            if reference is None:
                continue
            removed = getattr(remover, way)(members)
            if removed is None:
                lost += 1
                continue
            values = removed.values(solution.decision, gram.values[:, removed.rows])
            scale = max(np.abs(reference.decision).max(), 1.0)
            np.testing.assert_allclose(values, reference.decision, atol=1e-6 * scale)
            found += 1
    assert found > 500
    assert lost < 0.05 * found


def test_exact_removals_are_those_of_a_general_solver():
    compared = 0
    for gram, y, C, groups in problems(40, twins=False, most=25):
        solution = solve_dual(gram, y, C, **TIGHT)
        remover = Remover(gram, solution)
        for members in sets_of(groups):
            rest = (C > 0) & ~np.isin(np.arange(y.size), members)
            if np.unique(y[rest]).size < 2:
                continue
            beta, b = reference_svm(gram.values[np.ix_(rest, rest)], y[rest], C[rest])
            size = np.abs(beta) / C[rest]
            if not ((size > 1e-6) & (size < 1 - 1e-6)).any():
                continue  # the intercept is not unique
            expected = gram.values[np.ix_(members, rest)] @ beta + b
            removed = remover.exact(members)
            kernel = gram.block(members, removed.rows)
            values = removed.values(solution.decision[members], kernel)
            scale = max(np.abs(expected).max(), 1.0)
            np.testing.assert_allclose(values, expected, atol=1e-5 * scale)
            compared += 1
    assert compared > 80


def test_one_row_is_left_out_as_in_leave_one_out():
    for gram, y, C, _ in problems(40, twins=False):
        solution = solve_dual(gram, y, C, **TIGHT)
        remover, spans = Remover(gram, solution), find_spans(gram, solution)
        exact = exact_values(gram, solution).decision
        for p in np.flatnonzero(solution.support):
            row = np.array([p])
            predicted, followed = remover.predict(row), remover.exact(row)
            if np.unique(y[(C > 0) & (np.arange(y.size) != p)]).size < 2:
                continue
            if predicted is not None and solution.in_bound.sum() > 2:
                value = predicted.values(solution.decision[row], gram.block(row, predicted.rows))
                assert value[0] == pytest.approx(spans.decision[p], rel=1e-5, abs=1e-5)
            value = followed.values(solution.decision[row], gram.block(row, followed.rows))
            assert value[0] == pytest.approx(exact[p], rel=1e-6, abs=1e-6)


def test_a_group_without_support_vectors_changes_nothing():
    X, y = blobs(80, apart=3.0)
    signs = np.where(y > 0, 1.0, -1.0)
    gram = HeldGram(np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2)))
    solution = solve_dual(gram, signs, np.full(80, 10.0))
    members = np.flatnonzero(~solution.support)[:5]
    removed = Remover(gram, solution).remove(members)
    assert removed.rows.size == 0
    assert removed.intercept == 0.0


def test_the_shift_is_the_mean_change_of_the_other_rows():
    for gram, y, C, groups in problems(20, twins=True):
        solution = solve_dual(gram, y, C, **TIGHT)
        remover = Remover(gram, solution)
        for members in sets_of(groups):
            reference = without(gram, y, C, members)
            if reference is None:
                continue
            others = solution.present.copy()
            others[members] = False
            expected = (reference.decision - solution.decision)[others].mean()
            values = reference.decision[members]
            found = remover.shift(remover.exact(members), members, values)
            assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_a_machine_that_loses_a_class_decides_for_the_other():
    y = np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
    gram = HeldGram(np.eye(5))
    remover = Remover(gram, solve_dual(gram, y, np.ones(5)))
    assert remover.remove(np.array([0, 1])).constant == 1.0
    assert remover.remove(np.array([2, 3, 4])).constant == -1.0
    assert remover.remove(np.arange(5)).constant == 0.0
    assert remover.remove(np.array([0, 2])).constant is None


def test_large_groups_and_few_in_bound_vectors_are_not_predicted():
    X, y = blobs(800)
    signs = np.where(y > 0, 1.0, -1.0)
    gram = HeldGram(np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)))
    solution = solve_dual(gram, signs, np.full(800, 3.0))
    inside = np.flatnonzero(solution.in_bound)
    assert inside.size > FEWEST_IN_BOUND
    remover, most = Remover(gram, solution), int(LARGEST_SHARE * 800)
    rest = np.flatnonzero(~solution.support)
    small = np.append(rest[: most - 1], inside[0])
    assert not remover.remove(small).exact
    assert remover.remove(np.append(rest[:most], inside[0])).exact
    assert remover.remove(small, exact=True).exact
    part = np.arange(FEW_ROWS)
    alone = Remover(
        gram.subset(part), solve_dual(gram.subset(part), signs[part], np.full(600, 3.0))
    )
    assert alone.remove(np.flatnonzero(alone.solution.in_bound)[:1]).exact
    loose = solve_dual(gram, signs, np.full(800, 1e-3))
    assert loose.in_bound.sum() < FEWEST_IN_BOUND
    assert Remover(gram, loose).remove(np.flatnonzero(loose.bounded)[:3]).exact


# All machines ---------------------------------------------------------------------------


def trained_without(model, X, y, members, weight=None):
    """The same model without some rows, and without classes that are then gone."""
    rest = np.setdiff1d(np.arange(len(y)), members)
    if weight is not None:
        rest = rest[weight[rest] > 0]
        weight = weight[rest]
    return model.fit(X[rest], y[rest], sample_weight=weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_exact_groups_are_predicted_as_by_models_trained_without_them(n_classes, weighted):
    X, y = blobs(90, seed=n_classes, n_classes=n_classes)
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 8, 90)
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], 90) if weighted else None
    settings = {"C": 2.0, "gamma": 0.3, **TIGHT}
    model = SpanSVC(**settings).fit(X, y, sample_weight=weight)
    left_out = groups_left_out(model.machines_, sets_of(groups), method="loo")
    predicted = left_out.labels(model.classes_)
    for members in sets_of(groups):
        other = trained_without(SVC(**settings), X, y, members, weight)
        np.testing.assert_array_equal(predicted[members], other.predict(X[members]))
        if n_classes == 2:
            np.testing.assert_allclose(
                left_out.values.decision[members, 0], other.decision_function(X[members]), atol=1e-4
            )


def test_a_class_in_one_group_is_never_predicted_for_it():
    X, y = blobs(90, seed=1, n_classes=4, apart=2.0)
    groups = np.random.default_rng(0).integers(1, 6, 90)
    groups[y == 2] = 0
    groups[np.flatnonzero(y == 0)[:5]] = 0
    model = SpanSVC(gamma=0.3, **TIGHT).fit(X, y)
    for exact in (False, True):
        left_out = groups_left_out(
            model.machines_, sets_of(groups), method="loo" if exact else "verified"
        )
        predicted = left_out.labels(model.classes_)
        own = groups == 0
        assert not (predicted[own] == 2).any()
        rest = SVC(gamma=0.3, **TIGHT).fit(X[~own], y[~own])
        np.testing.assert_array_equal(predicted[own], rest.predict(X[own]))
        assert left_out.wrong()[y == 2].all()


def test_groups_of_one_row_are_leave_one_out():
    X, y = blobs(70, n_classes=3)
    model = SpanSVC(gamma=0.3).fit(X, y)
    grouped = SpanSVC(gamma=0.3).fit(X, y, groups=np.arange(70))
    assert grouped.loo_error_ == model.loo_error_
    np.testing.assert_array_equal(grouped.loo_decision_function_, model.loo_decision_function_)
    for method in ("span_rule", "loo"):
        options = {"param_grid": {"C": [0.1, 1, 10]}, "method": method, "refit": False}
        one, two = (SpanSearch(SVC(gamma=0.3), **options) for _ in range(2))
        one.fit(X, y), two.fit(X, y, groups=np.random.default_rng(0).permutation(70))
        for key in ("mean_test_score", "loo_hinge", "loo_error"):
            np.testing.assert_array_equal(one.cv_results_[key], two.cv_results_[key])


def test_single_rows_among_groups_keep_their_leave_one_out_values():
    X, y = blobs(60)
    groups = np.where(np.arange(60) < 30, np.arange(60), 100 + np.arange(60) // 6)
    model = SpanSVC(gamma=0.3).fit(X, y)
    grouped = SpanSVC(gamma=0.3).fit(X, y, groups=groups)
    for name in ("loo_decision_function_", "loo_ranking_"):
        np.testing.assert_array_equal(getattr(grouped, name)[:30], getattr(model, name)[:30])
        assert (getattr(grouped, name)[30:] != getattr(model, name)[30:]).any()


def test_doubled_rows_in_one_group_are_leave_one_out_of_one_with_twice_the_weight():
    X, y = blobs(60)
    both = np.tile(np.arange(60), 2)
    once = exact_loo(SVC(C=2.0, gamma=0.3), X, y)
    twice = exact_loo(SVC(C=1.0, gamma=0.3), X[both], y[both], groups=both)
    np.testing.assert_allclose(twice, once[both], atol=1e-6)
    model = SpanSVC(C=2.0, gamma=0.3).fit(X, y)
    doubled = SpanSVC(C=1.0, gamma=0.3).fit(X[both], y[both], groups=both)
    assert abs(doubled.loo_error_ - model.loo_error_) <= 2 / 60
    alone = SpanSVC(C=1.0, gamma=0.3).fit(X[both], y[both])
    assert alone.loo_error_ < doubled.loo_error_


def test_a_row_of_zero_weight_is_predicted_without_its_group():
    X, y = blobs(60)
    groups, weight = np.arange(60) // 6, np.ones(60)
    weight[::6] = 0.0
    values = exact_loo(SVC(C=2.0, gamma=0.3), X, y, sample_weight=weight, groups=groups)
    for group in range(10):
        rest = (groups != group) & (weight > 0)
        model = SVC(C=2.0, gamma=0.3, **TIGHT).fit(X[rest], y[rest])
        own = np.flatnonzero(groups == group)
        np.testing.assert_allclose(values[own], model.decision_function(X[own]), atol=1e-6)


def test_people_whose_labels_are_coin_tosses_cannot_be_predicted():
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(60), 6)
    y = rng.integers(0, 2, 60)[people]
    X = rng.standard_normal((60, 5))[people] + 0.3 * rng.standard_normal((360, 5))
    alone = SpanSearch(SpanSVC(), {"C": [1, 10]})
    with pytest.warns(DependentRowsWarning):
        alone.fit(X, y)
    for method in (None, "span_rule", "loo"):
        grouped = SpanSearch(SpanSVC(), {"C": [1, 10]}, method=method).fit(X, y, groups=people)
        assert 1 - alone.best_score_ < 0.2
        assert 0.35 < 1 - grouped.best_score_ < 0.65
        assert grouped.n_groups_ == 60
        error = grouped.best_estimator_.loo_error_
        assert error == pytest.approx(1 - grouped.best_score_, abs=0.05)


# Searches -------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_a_search_by_groups_counts_the_errors_of_models_trained_without_them(load):
    X, y = load(return_X_y=True)
    X = minmax_scale(X)
    groups = np.random.default_rng(0).integers(0, 12, len(y))
    grid = {"C": [0.1, 1, 100], "gamma": [0.1, 1]}
    exact = SpanSearch(SVC(**TIGHT), grid, method="loo").fit(X, y, groups=groups)
    rule = SpanSearch(SVC(**TIGHT), grid).fit(X, y, groups=groups)
    assert exact.n_splits_ == rule.n_splits_ == 1
    for i, params in enumerate(exact.cv_results_["params"]):
        right = np.zeros(len(y), dtype=bool)
        for members in sets_of(groups):
            model = trained_without(SVC(**params, **TIGHT), X, y, members)
            right[members] = model.predict(X[members]) == y[members]
        assert exact.cv_results_["mean_test_score"][i] == right.mean()
        assert exact.cv_results_["loo_error"][i] == pytest.approx(1 - right.mean())
        assert rule.cv_results_["mean_test_score"][i] == pytest.approx(right.mean(), abs=0.02)


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "neg_log_loss"])
def test_any_score_by_groups(scoring):
    X, y = blobs(800)
    groups = np.repeat(np.arange(200), 4)
    rule, exact = (
        SpanSearch(SVC(gamma=0.2), {"C": [0.1, 1, 10]}, method=method, scoring=scoring)
        .fit(X, y, groups=groups).cv_results_["mean_test_score"]
        for method in ("span_rule", "loo")
    )  # fmt: skip
    np.testing.assert_allclose(rule, exact, atol=0.005)
    assert (rule != exact).any()


def test_ranking_by_groups_of_one_class_finds_nothing_in_noise():
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(40), 5)
    y = (people % 2).astype(int)
    X = rng.standard_normal((200, 5))
    search = SpanSearch(SVC(), {"C": [0.01, 0.1, 1, 10]}, scoring="roc_auc")
    search.fit(X, y, groups=people)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], 0.5, atol=0.12)


def test_results_by_groups_do_not_depend_on_threads_or_names():
    X, y = blobs(100, n_classes=3)
    groups = np.random.default_rng(0).integers(0, 15, 100)
    names = np.array([f"person {g}" for g in groups], dtype=object)
    one = SpanSearch(SVC(), {"C": [1, 10], "gamma": [0.1, 1]}).fit(X, y, groups=groups)
    two = SpanSearch(SVC(), {"C": [1, 10], "gamma": [0.1, 1]}, n_jobs=2).fit(X, y, groups=names)
    for key in ("mean_test_score", "loo_hinge"):
        np.testing.assert_array_equal(one.cv_results_[key], two.cv_results_[key])


def test_groups_without_a_gram_matrix():
    X, y = blobs(700)
    groups = np.arange(700) // 14
    whole = SpanSearch(SVC(gamma=0.2, **TIGHT), {"C": [0.1, 1]}).fit(X, y, groups=groups)
    parts = SpanSearch(SVC(gamma=0.2, **TIGHT), {"C": [0.1, 1]}, gram_budget=1.0)
    parts.fit(X, y, groups=groups)
    for key in ("mean_test_score", "loo_hinge"):
        np.testing.assert_allclose(parts.cv_results_[key], whole.cv_results_[key], rtol=1e-4)


def test_linear_kernels_whose_in_bound_vectors_are_dependent():
    X, y = blobs(100)
    groups = np.arange(100) // 4
    values = exact_loo(SVC(kernel="linear"), X, y, groups=groups)
    predicted = SpanSVC(kernel="linear", **TIGHT).fit(X, y, groups=groups)
    assert abs(predicted.loo_error_ - np.mean((values > 0) != y)) <= 0.02


def test_an_indefinite_kernel_is_trained_without_the_groups():
    X, y = blobs(60)
    model = SpanSVC(kernel="sigmoid", gamma=0.5, coef0=1.0)
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        model.fit(X, y, groups=np.arange(60) // 6)
    assert 0.0 <= model.loo_error_ <= 1.0


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.zeros(40), "at least two groups"),
        (np.arange(39), "inconsistent numbers of samples"),
        (np.full(40, np.nan), "NaN"),
        (np.zeros((40, 2)), "1d array"),
    ],
)
def test_bad_groups_are_named(groups, message):
    X, y = blobs(40)
    for fit in (
        SpanSearch(SVC(), {"C": [1]}).fit,
        SpanSVC().fit,
        lambda X, y, groups: exact_loo(SVC(), X, y, groups=groups),
    ):
        with pytest.raises(ValueError, match=message):
            fit(X, y, groups=groups)


@pytest.mark.parametrize("method", ["span_bound", "span_count", "xi_alpha", "sv_count"])
def test_bounds_know_no_groups(method):
    X, y = blobs(40)
    with pytest.raises(ValueError, match="knows neither folds nor groups"):
        SpanSearch(SVC(), {"C": [1]}, method=method).fit(X, y, groups=np.arange(40) // 2)


def test_analysis_by_groups():
    X, y = blobs(100)
    groups = np.arange(100) // 4
    svc = SVC(C=2.0, gamma=0.3, **TIGHT).fit(X, y)
    analysis = analyze(svc, X, y, groups=groups)
    model = SpanSVC(C=2.0, gamma=0.3, **TIGHT).fit(X, y, groups=groups)
    assert analysis.group_error == pytest.approx(model.loo_error_)
    assert analysis.span_rule == pytest.approx(analyze(svc, X, y).span_rule)
    np.testing.assert_allclose(analysis.group_decision, model.loo_decision_function_, atol=1e-4)
    assert analyze(model).group_error == model.loo_error_
    assert "25 groups left out" in str(analysis)
    with pytest.raises(ValueError, match="call analyze with groups"):
        analyze(svc, X, y).group_decision  # noqa: B018


def test_a_saved_model_keeps_its_values_by_groups():
    X, y = blobs(60, n_classes=3)
    model = SpanSVC(gamma=0.3).fit(X, y, groups=np.arange(60) // 4)
    saved = model.without_training_rows()
    assert saved.loo_error_ == model.loo_error_
    np.testing.assert_array_equal(saved.loo_margin_, model.loo_margin_)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_predictions_without_room_or_across_margins_are_not_believed(C):
    X, y = blobs(700)
    y = np.where(y > 0, 1.0, -1.0)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    gram = HeldGram(K)
    solution = solve_dual(gram, y, np.full(700, C))
    remover, reasons = Remover(gram, solution), []
    for members in sets_of(np.arange(700) % 140):
        if not solution.support[members].any():
            continue
        predicted = remover.predict(members)
        beta = solution.beta
        beta[predicted.rows] += predicted.moves
        np.testing.assert_allclose(beta[members], 0.0, atol=1e-9)
        alpha = y * beta
        outside = np.maximum(alpha - C, 0.0) + np.maximum(-alpha, 0.0)
        no_room = outside.sum() > 0.5 * solution.alpha[members].sum()
        margin = y * (K @ beta + solution.intercept + predicted.intercept)
        over = np.where(solution.bounded, margin - 1.0, 1.0 - margin)
        over[solution.in_bound] = 0.0
        over[members] = 0.0
        across = over.max() > 0.3
        assert remover.remove(members).exact == (no_room or across)
        reasons.append((no_room, across))
    assert {(False, False), (False, True)} <= set(reasons)
    assert (True, False) in reasons or (True, True) in reasons
