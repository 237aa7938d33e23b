"""Searches of classifiers with several labels per row: scores are those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import accuracy_score, f1_score, hamming_loss, jaccard_score, make_scorer
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, LeaveOneOut, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC
from spansvm.search import UnacceleratedWarning
from spansvm.search.scoring.bootstrap_scores import AnyScorer
from spansvm.search.scoring.column_scores import column_score

X, Y = make_multilabel_classification(100, n_features=6, n_classes=4, random_state=0)
GRID = {"estimator__C": [1, 10], "estimator__gamma": [0.01, 0.1]}
EXACT = {"tol": 1e-9}
HAMMING = make_scorer(hamming_loss, greater_is_better=False)
SAMPLES = make_scorer(f1_score, average="samples", zero_division=0)
AROUND = [OneVsRestClassifier, MultiOutputClassifier]


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(AnyScorer, "_most_scores", 100)  # scikit-learn takes its time


def assert_same_scores(model, grid, X, y, **options):
    """Of each fold, test and training rows, to the last digit; and the selected model."""
    ours = SpanSearch(model, grid, ties="first", return_train_score=True, **options).fit(X, y)
    theirs = GridSearchCV(model, grid, return_train_score=True, **options).fit(X, y)
    for name, expected in theirs.cv_results_.items():
        if name.startswith("split"):
            np.testing.assert_array_equal(ours.cv_results_[name], expected, err_msg=name)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    return ours


@pytest.mark.parametrize("around", AROUND)
def test_folds_have_the_scores_of_grid_search_cv(around):
    scoring = {
        "right": "accuracy", "macro": "f1_macro", "micro": "f1_micro", "samples": SAMPLES,
        "weighted": "jaccard_weighted", "recall": "recall_macro", "hamming": HAMMING,
    }  # fmt: skip
    model = around(SVC(**EXACT))
    search = assert_same_scores(model, GRID, X, Y, scoring=scoring, refit="macro", cv=3)
    assert search.corrected_score_ <= search.best_score_
    assert_same_scores(model, GRID, X, Y, cv=3)


def test_values_of_labels_are_ranked_as_in_grid_search_cv():
    model = OneVsRestClassifier(SVC(**EXACT))
    search = assert_same_scores(model, GRID, X, Y, scoring="roc_auc", cv=3)
    assert search.corrected_score_ <= search.best_score_


@pytest.mark.parametrize("around", AROUND)
def test_left_out_rows_have_the_scores_of_retrained_models(around):
    rows, labels = X[:60], Y[:60]
    model = around(SVC(gamma=0.02, **EXACT))
    scorers = {"right": "accuracy", "micro": "f1_micro", "jaccard": "jaccard_macro",
               "hamming": HAMMING}  # fmt: skip
    search = SpanSearch(model, {"estimator__C": [10, 100]}, scoring=scorers, refit="right")
    found = search.fit(rows, labels).cv_results_
    assert search.method_ == "verified"
    for place, params in enumerate(found["params"]):
        own = clone(model).set_params(**params)
        retrained = cross_val_predict(own, rows, labels, cv=LeaveOneOut())
        expected = {
            "right": accuracy_score(labels, retrained),
            "micro": f1_score(labels, retrained, average="micro"),
            "jaccard": jaccard_score(labels, retrained, average="macro"),
            "hamming": -hamming_loss(labels, retrained),
        }
        for name, score in expected.items():
            assert found[f"mean_test_{name}"][place] == pytest.approx(score, abs=1e-12)
            assert found[f"std_test_{name}"][place] > 0
    by_default = SpanSearch(model, {"estimator__C": [10, 100]}).fit(rows, labels)
    np.testing.assert_allclose(by_default.cv_results_["mean_test_score"], found["mean_test_right"])


def test_groups_are_left_out_of_the_machines_of_all_labels():
    groups = np.arange(len(X)) // 5
    model = OneVsRestClassifier(SVC(gamma=0.02, **EXACT))
    search = SpanSearch(model, {"estimator__C": [10]}, method="loo").fit(X, Y, groups=groups)
    retrained = cross_val_predict(model.set_params(estimator__C=10), X, Y, groups=groups,
                                  cv=LeaveOneGroupOut())  # fmt: skip
    assert search.best_score_ == pytest.approx(accuracy_score(Y, retrained))


def test_transformers_are_fitted_where_the_pipeline_has_them():
    around = make_pipeline(StandardScaler(), OneVsRestClassifier(SVC(**EXACT)))
    assert_same_scores(around, {"onevsrestclassifier__estimator__C": [1, 10]}, X, Y, cv=3)
    for kind in AROUND:
        inside = kind(make_pipeline(SelectKBest(k=3), SVC(**EXACT)))
        grid = {"estimator__svc__C": [1, 10], "estimator__selectkbest__k": [2, 4]}
        assert_same_scores(inside, grid, X, Y, cv=3)


def test_a_step_that_looks_at_one_of_the_labels_is_noticed():
    model = OneVsRestClassifier(make_pipeline(SelectKBest(k=3), SVC()))
    with pytest.warns(UserWarning, match=r"SelectKBest.*evaluated by 5 folds instead"):
        search = SpanSearch(model, {"estimator__svc__C": [1, 10]}).fit(X, Y)
    assert search.method_ == "kfold"


def test_outputs_may_have_several_classes_and_any_names():
    rng = np.random.default_rng(0)
    colours = np.array(["red", "green", "blue"])[(X[:, 0] > 5).astype(int) + Y[:, 0]]
    names = np.column_stack([colours, np.where(Y[:, 1] == 1, "yes", "no")])
    names = names[rng.permutation(len(X))]
    model = MultiOutputClassifier(SVC(class_weight="balanced", **EXACT))
    search = assert_same_scores(model, {"estimator__C": [1, 10]}, X, names, cv=3)
    assert [list(own) for own in search.classes_] == [["blue", "green", "red"], ["no", "yes"]]


def test_a_label_that_all_training_rows_have_needs_no_machine():
    labels = Y.copy()
    labels[:, 1], labels[:, 2] = 1, 0
    labels[:3, 2] = 1  # only in the first fold
    options = {"cv": 3, "scoring": ["accuracy", "f1_micro"], "refit": "accuracy"}
    model = OneVsRestClassifier(SVC(**EXACT))
    ours = SpanSearch(model, GRID, **options)
    theirs = GridSearchCV(model, GRID, **options)
    for search in (ours, theirs):
        with pytest.warns(UserWarning, match="training row|training examples"):
            search.fit(X, labels)
    for name in ("accuracy", "f1_micro"):
        for k in range(3):
            column = f"split{k}_test_{name}"
            np.testing.assert_array_equal(ours.cv_results_[column], theirs.cv_results_[column])


def test_values_count_as_probabilities_where_the_first_label_needs_no_machine():
    labels = Y[:60].copy()
    labels[:, 0] = 0
    labels[0, 0] = 1  # not among the training rows of the first fold
    model, grid = OneVsRestClassifier(SVC(**EXACT)), {"estimator__gamma": [0.01, 0.1]}
    with pytest.warns(UserWarning, match="label 0|Label not 0"):
        assert_same_scores(model, grid, X[:60], labels, scoring="f1_micro", cv=3)
    labels[0, 0] = 0
    with pytest.warns(UserWarning, match="Label not 0"):
        search = SpanSearch(model, grid).fit(X[:60], labels)
    for gamma, found in zip([0.01, 0.1], search.cv_results_["mean_test_score"], strict=True):
        own = clone(model).set_params(estimator__gamma=gamma)
        with pytest.warns(UserWarning, match="Label not 0"):
            retrained = cross_val_predict(own, X[:60], labels, cv=LeaveOneOut())
        assert found == pytest.approx(accuracy_score(labels, retrained), abs=1e-12)


def test_a_label_that_a_fold_lacks_is_said():
    labels = Y.copy()
    labels[:, 2] = 0
    labels[:3, 2] = 1
    with pytest.warns(UserWarning, match="In a fold, no training row has label 2"):
        SpanSearch(OneVsRestClassifier(SVC()), {"estimator__C": [1]}, cv=3).fit(X, labels)


def test_sample_weights_count_in_the_training_of_all_outputs():
    weight = np.linspace(0.2, 2.0, len(X))
    model = MultiOutputClassifier(SVC(gamma=0.02, **EXACT))
    ours = SpanSearch(model, {"estimator__C": [1, 10]}, cv=3, scoring="f1_micro")
    theirs = GridSearchCV(model, {"estimator__C": [1, 10]}, cv=3, scoring="f1_micro")
    ours.fit(X, Y, sample_weight=weight)
    theirs.fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12
    )


def test_machines_of_ours_are_searched_as_those_of_scikit_learn():
    theirs = SpanSearch(OneVsRestClassifier(SVC(**EXACT)), GRID).fit(X, Y)
    ours = SpanSearch(OneVsRestClassifier(SpanSVC(**EXACT)), GRID).fit(X, Y)
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_probabilities_of_several_outputs_are_scored():
    search = SpanSearch(MultiOutputClassifier(SpanSVC()), GRID, scoring="roc_auc").fit(X, Y)
    assert 0.5 < search.best_score_ < 1.0
    assert search.corrected_score_ <= search.best_score_


def test_scorers_see_the_trained_model_of_all_labels():
    def share(estimator, X, y):
        assert estimator.estimators_[0].n_support_.sum() > 0
        return float((estimator.predict(X) == y).mean()) if len(estimator.estimators_) == 4 else 0.0

    for around in AROUND:
        search = SpanSearch(around(SVC()), GRID, scoring=share).fit(X, Y)
        assert 0.5 < search.best_score_ < 1.0


def test_tables_of_labels():
    frame = pd.DataFrame(Y, columns=list("abcd"))
    model = OneVsRestClassifier(SVC(**EXACT))
    assert_same_scores(model, GRID, pd.DataFrame(X), frame, cv=3)


def test_sparse_labels_are_left_to_scikit_learn():
    with pytest.warns(UnacceleratedWarning, match=r"y\.toarray\(\) it is accelerated"):
        SpanSearch(OneVsRestClassifier(SVC()), GRID, cv=2).fit(X, sparse.csr_matrix(Y))
    with pytest.warns(UnacceleratedWarning, match="not 0 or 1"):
        SpanSearch(OneVsRestClassifier(SVC()), {"estimator__C": [1]}, cv=2).fit(X, 2 * Y)


def test_what_several_labels_cannot_have_is_said():
    with pytest.raises(ValueError, match="at least two dimensions"):
        SpanSearch(MultiOutputClassifier(SVC()), GRID).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="4 labels per row"):
        SpanSearch(OneVsRestClassifier(SVC()), GRID, method="span_bound").fit(X, Y)
    assert not hasattr(SpanSearch(OneVsRestClassifier(SVC()), GRID), "predict_set")
    missing = Y.astype(float)
    missing[0, 0] = np.nan
    for around in AROUND:
        with pytest.raises(ValueError, match="Input y contains NaN"):
            SpanSearch(around(SVC()), GRID).fit(X, missing)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_averages_over_labels_are_those_of_scikit_learn(average):
    predicted = np.roll(Y, 1, axis=0)
    for function in (f1_score, jaccard_score):
        score = column_score(make_scorer(function, average=average))
        counts = (predicted * Y).sum(axis=0), predicted.sum(axis=0), Y.sum(axis=0)
        assert float(score(*(own.astype(float) for own in counts))) == function(
            Y, predicted, average=average
        )
