"""Scores of left-out rows where every multiplier is at its bound, against rows that are new."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import get_scorer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from spansvm import SpanRandomizedSearch, SpanSearch, SpanSVC, exact_loo

#: With the first no multiplier is inside its box; with the last many are.
SMALL, LARGE = 1e-3, 1.0

SCORINGS = ["balanced_accuracy", "f1_macro", "recall_macro", "matthews_corrcoef"]


def data(n_classes):
    """Training rows and labels, test rows and labels."""
    weights = [0.7] if n_classes == 2 else [0.5, 0.3]
    X, y = make_classification(
        4300, 8, n_informative=5, n_classes=n_classes, weights=weights, flip_y=0.05, random_state=3
    )
    X = scale(X)
    return X[:300], y[:300], X[300:], y[300:]


def model(machine, C=SMALL):
    return machine(C=C, class_weight="balanced")


@pytest.mark.parametrize(
    ("wrap", "name", "options"),
    [
        (lambda machine: machine, "C", {}),
        (lambda machine: machine, "C", {"method": "loo"}),
        (lambda machine: machine, "C", {"method": "span_rule", "cv": 5}),
        (lambda machine: machine, "C", {"method": "loo", "cv": 5}),
        (lambda machine: make_pipeline(StandardScaler(), machine), "svc__C", {}),
        (OneVsRestClassifier, "estimator__C", {}),
        (OneVsRestClassifier, "estimator__C", {"method": "loo"}),
    ],
    ids=["rule", "loo", "rule folds", "loo folds", "pipeline", "rest", "rest loo"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_labels_are_those_of_new_rows(n_classes, wrap, name, options):
    X, y, new, truth = data(n_classes)
    search = SpanSearch(
        wrap(model(SVC)), {name: [SMALL]}, scoring=SCORINGS, refit=False, **options
    ).fit(X, y)
    evaluated = wrap(model(SpanSVC)).fit(X, y)
    for scoring in SCORINGS:
        expected = get_scorer(scoring)(evaluated, new, truth)
        assert search.cv_results_[f"mean_test_{scoring}"][0] == pytest.approx(expected, abs=0.04)


def test_whole_groups_and_random_searches():
    X, y, new, truth = data(2)
    expected = get_scorer("balanced_accuracy")(model(SpanSVC).fit(X, y), new, truth)
    options = {"scoring": "balanced_accuracy", "refit": False}
    grouped = SpanSearch(model(SVC), {"C": [SMALL]}, **options).fit(
        X, y, groups=np.arange(300) % 40
    )
    drawn = SpanRandomizedSearch(model(SVC), {"C": [SMALL]}, n_iter=1, **options).fit(X, y)
    for search in (grouped, drawn):
        assert search.best_score_ == pytest.approx(expected, abs=0.04)


@pytest.mark.parametrize("method", [None, "span_rule", "loo"])
def test_the_leave_one_out_error_stays_what_it_is(method):
    X, y, *_ = data(2)
    exact = exact_loo(model(SpanSVC), X, y)
    count = np.mean(np.where(y == 1, exact, -exact) <= 0)
    assert count == 1.0  # without a row, its class weighs less
    for scoring in (None, "accuracy"):  # one number, whoever asks for it
        search = SpanSearch(
            model(SVC), {"C": [SMALL]}, method=method, scoring=scoring, refit=False
        ).fit(X, y)
        assert search.best_score_ == 1.0 - count
    np.testing.assert_array_equal(search.cv_results_["loo_error"], count)
    fitted = model(SpanSVC).fit(X, y)
    assert fitted.loo_error_ == count
    assert (fitted.loo_predict_ != y).all()


def test_labels_decisions_and_probabilities_that_a_scorer_gets_agree():
    X, y, *_ = data(2)
    seen = []

    def scorer(estimator, X, y):
        labels, decision = estimator.predict(X), estimator.decision_function(X)
        seen.append((labels, decision, estimator.predict_proba(X)))
        return 0.0

    SpanSearch(model(SpanSVC), {"C": [SMALL]}, scoring=scorer, refit=False).fit(X, y)
    labels, decision, probabilities = seen[0]  # the others are drawn, for the standard error
    np.testing.assert_array_equal(labels, decision >= 0.0)
    np.testing.assert_array_equal(labels, probabilities.argmax(axis=1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_where_an_in_bound_vector_fixes_it_labels_are_those_of_leave_one_out(n_classes):
    X, y, *_ = data(n_classes)
    fitted = model(SpanSVC, LARGE).fit(X, y)
    assert not fitted.machines_.unfixed.any()
    assert fitted.left_out_.unshifted() is fitted.left_out_
    search = SpanSearch(model(SVC), {"C": [LARGE]}, scoring="accuracy", refit=False).fit(X, y)
    assert search.best_score_ == pytest.approx(1.0 - fitted.loo_error_)


def test_the_selected_model_predicts_new_rows_as_it_was_evaluated():
    X, y, new, truth = data(2)
    search = SpanSearch(
        model(SpanSVC), {"C": [SMALL, SMALL / 10]}, scoring="balanced_accuracy"
    ).fit(X, y)
    assert search.score(new, truth) == pytest.approx(search.best_score_, abs=0.04)
    low, high = search.corrected_interval_
    assert low < search.score(new, truth) < high
