"""Influences and data values are those of models that are trained without the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spansvm import SpanSearch, SpanSVC, SpanSVR, data_values, influence

Data = tuple[np.ndarray, np.ndarray]


def wine(n_classes: int = 3) -> Data:
    X, y = load_wine(return_X_y=True)
    some = np.flatnonzero(y < n_classes)[::2]
    return StandardScaler().fit_transform(X[some]), y[some]


def diabetes() -> Data:
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X[:90]), y[:90]


def libsvm(**parameters: Any) -> SVC:
    return SVC(C=2.0, gamma=0.1, tol=1e-10, decision_function_shape="ovo", **parameters)


def retrained(model: Callable[[], Any], X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Any:
    """Changes of the values of new rows, by training without each row."""
    method = "predict" if isinstance(model(), SVR) else "decision_function"
    plain = getattr(model().fit(X, y), method)(new)
    rows = range(y.size)
    parts = ((np.delete(X, i, axis=0), np.delete(y, i)) for i in rows)
    return np.array([getattr(model().fit(*part), method)(new) for part in parts]) - plain


@pytest.mark.parametrize("n_classes", [2, 3])
def test_influences_are_those_of_libsvm_without_each_row(n_classes: int) -> None:
    X, y = wine(n_classes)
    new = X[::4] + 0.1
    model = SpanSVC(C=2.0, gamma=0.1).fit(X, y)
    expected = retrained(libsvm, X, y, new)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(influence(model, new), expected, atol=2e-6)


def test_equal_rows_take_over_from_each_other() -> None:
    X, y = wine(2)
    X, y = np.vstack((X, X[:20], X[:5])), np.concatenate((y, y[:20], y[:5]))
    model = SpanSVC(C=2.0, gamma=0.1).fit(X, y)
    found = influence(model, X)
    np.testing.assert_allclose(found, retrained(libsvm, X, y, X), atol=2e-6)
    np.testing.assert_array_equal(found[:5] == 0.0, influence(model, X, exact=False)[:5] == 0.0)


def test_influences_of_a_regression_are_in_the_units_of_its_target() -> None:
    X, y = diabetes()
    new = X[::5] + 0.1
    model = SpanSVR(C=50.0, gamma=0.05, epsilon=10.0).fit(X, y)
    expected = retrained(lambda: SVR(C=50.0, gamma=0.05, epsilon=10.0, tol=1e-9), X, y, new)
    np.testing.assert_allclose(influence(model, new), expected, atol=1e-4)


def test_of_itself_a_row_has_the_influence_that_the_span_rule_says() -> None:
    X, y = make_classification(150, 5, flip_y=0.1, random_state=0)
    model = SpanSVC(C=1.0).fit(X, y)
    solved = model.solved_model()
    own = np.diagonal(influence(model, X, exact=False))
    np.testing.assert_allclose(own, solved.spans.decision - solved.solution.decision, atol=1e-10)


def test_predicted_influences_are_exact_where_the_sets_hold() -> None:
    X, y = make_classification(300, 6, flip_y=0.1, random_state=0)
    model = SpanSVC(C=1.0, gamma=0.2).fit(X, y)
    holds = model.solved_model().trusted
    assert 3 < holds.sum() < model.solved_model().solution.support.sum()
    quick, followed = influence(model, X[:30], exact=False), influence(model, X[:30])
    np.testing.assert_array_equal(quick[holds], followed[holds])
    left = np.delete(np.arange(y.size), np.flatnonzero(holds)[0])
    again = SVC(C=1.0, gamma=0.2, tol=1e-10).fit(X[left], y[left])
    change = again.decision_function(X[:30]) - model.decision_function(X[:30])
    np.testing.assert_allclose(quick[holds][0], change, atol=1e-6)


def test_a_model_without_in_bound_vectors_has_influences_too() -> None:
    X, y = wine(2)
    X, y = X[np.argsort(y, kind="stable")], np.sort(y)
    X, y = np.vstack((X[:20], X[-20:])), np.concatenate((y[:20], y[-20:]))
    model = SpanSVC(C=1e-3, gamma=0.1).fit(X, y)
    solution = model.solved_model().solution
    assert solution.bounded.all()
    expected = retrained(lambda: SpanSVC(C=1e-3, gamma=0.1), X, y, X[::3])
    np.testing.assert_allclose(influence(model, X[::3]), expected, atol=1e-9)


def test_the_only_row_of_a_class_takes_the_class_with_it() -> None:
    X, y = wine(2)
    rows = np.append(np.flatnonzero(y == 0), np.flatnonzero(y == 1)[0])
    model = SpanSVC(C=2.0, gamma=0.1).fit(X[rows], y[rows])
    change = influence(model, X[:5])[-1]
    np.testing.assert_allclose(model.decision_function(X[:5]) + change, -1.0)


def test_rows_of_zero_weight_change_nothing() -> None:
    X, y = wine(3)
    weight = np.ones(y.size)
    weight[::3] = 0.0
    model = SpanSVC(C=2.0, gamma=0.1).fit(X, y, sample_weight=weight)
    found = influence(model, X[:7])
    assert not found[::3].any()
    assert found.any()


def test_pipelines_searches_and_kernels_that_are_given() -> None:
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), SpanSVC(gamma=0.1))
    search = SpanSearch(pipeline, {"spansvc__C": [2.0]}).fit(X[::2], y[::2])
    scaled = search.best_estimator_[0].transform(X)
    model = SpanSVC(C=2.0, gamma=0.1).fit(scaled[::2], y[::2])
    kernel = model.machines_.kernel
    given = SpanSVC(C=2.0, kernel="precomputed").fit(kernel(scaled[::2], scaled[::2]), y[::2])
    found = influence(search, X[1::2])
    np.testing.assert_array_equal(found, influence(search.best_estimator_, X[1::2]))
    np.testing.assert_array_equal(found, influence(model, scaled[1::2]))
    of_kernel = influence(given, kernel(scaled[1::2], scaled[::2]))
    np.testing.assert_allclose(found, of_kernel, atol=1e-9)


@pytest.mark.parametrize("scoring", [None, "f1_macro", "accuracy"])
def test_data_values_are_what_retraining_says(scoring: str | None) -> None:
    X, y = wine(3)
    y[::9] = (y[::9] + 1) % 3
    score = get_scorer(scoring or "accuracy")
    model = SpanSVC(C=2.0, gamma=0.1).fit(X[::2], y[::2])
    own, other = (X[::2], y[::2]), (X[1::2], y[1::2])
    found = data_values(model, *other, scoring=scoring)
    left = [(np.delete(own[0], i, axis=0), np.delete(own[1], i)) for i in range(own[1].size)]
    without = [score(libsvm().fit(*part), *other) for part in left]
    np.testing.assert_allclose(found, score(model, *other) - np.array(without), atol=1e-12)
    assert (found < 0).any()
    assert (found > 0).any()


def test_values_of_groups_are_those_of_their_removal() -> None:
    X, y = wine(3)
    y[::9] = (y[::9] + 1) % 3
    groups = np.array(["a", "b", "c", "d"])[np.arange(y[::2].size) % 4]
    model = SpanSVC(C=2.0, gamma=0.1).fit(X[::2], y[::2])
    found = data_values(model, X[1::2], y[1::2], scoring="f1_macro", groups=groups)
    score = get_scorer("f1_macro")
    parts = [(X[::2][groups != name], y[::2][groups != name]) for name in "abcd"]
    without = np.array([score(libsvm().fit(*part), X[1::2], y[1::2]) for part in parts])
    np.testing.assert_allclose(found, score(model, X[1::2], y[1::2]) - without, atol=1e-12)


def test_log_losses_keep_the_sigmoids() -> None:
    X, y = wine(2)
    model = SpanSVC(C=2.0, gamma=0.1).fit(X[::2], y[::2])
    found = data_values(model, X[1::2], y[1::2], scoring="neg_log_loss")
    calibration, score = model.left_out_.calibration, get_scorer("neg_log_loss")
    row = int(np.abs(found).argmax())
    left = np.delete(np.arange(y[::2].size), row)
    values = libsvm().fit(X[::2][left], y[::2][left]).decision_function(X[1::2])
    own = calibration(values[:, None])[np.arange(values.size), y[1::2]]
    expected = score(model, X[1::2], y[1::2]) - np.log(own).mean()
    np.testing.assert_allclose(found[row], expected, atol=1e-6)


def test_targets_have_values_too() -> None:
    X, y = diabetes()
    model = SpanSVR(C=50.0, gamma=0.05, epsilon=5.0).fit(X[::2], y[::2])
    found = data_values(model, X[1::2], y[1::2])
    row = int(found.argmin())
    left = np.delete(np.arange(y[::2].size), row)
    again = SVR(C=50.0, gamma=0.05, epsilon=5.0, tol=1e-9).fit(X[::2][left], y[::2][left])
    expected = model.score(X[1::2], y[1::2]) - again.score(X[1::2], y[1::2])
    np.testing.assert_allclose(found[row], expected, atol=1e-6)


def test_what_keeps_no_rows_is_refused_with_a_reason() -> None:
    X, y = wine(2)
    with pytest.raises(TypeError, match="got SVC, which does not keep its training rows"):
        influence(SVC().fit(X, y), X)
    with pytest.raises(NotFittedError, match="SpanSVC is not fitted"):
        influence(SpanSVC(), X)
    with pytest.raises(NotFittedError, match="no best_estimator_"):
        influence(SpanSearch(SpanSVC(), {"C": [1.0]}, refit=False).fit(X, y), X)
    with pytest.raises(ValueError, match="fit it again"):
        influence(SpanSVC().fit(X, y).without_training_rows(), X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        data_values(SpanSVC().fit(X, y), X, y[:-1])
    with pytest.raises(ValueError, match="features"):
        influence(SpanSVC().fit(X, y), X[:, :3])
