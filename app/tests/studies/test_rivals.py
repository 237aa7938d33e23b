"""Models of other kinds are scikit-learn's, each row predicted by models of other folds."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_info, threadpool_limits

from spansvm import SpanSVC, SpanSVR
from spansvm_app.studies import (
    Subject,
    TargetSubject,
    compare_baselines,
    compare_target_baselines,
)
from spansvm_app.studies.baselines import Baseline, Comparison
from spansvm_app.studies.folds import folds_of
from spansvm_app.studies.paired import paired_difference
from spansvm_app.studies.rivals import Rival, classes_in_folds, classifiers, regressions


def subject_of(X, y, **settings):
    model = make_pipeline(MinMaxScaler(), SpanSVC(**settings)).fit(X, y)
    return Subject.of(model, X, y, [f"x{i}" for i in range(X.shape[1])])


def test_forests_and_boosting_are_those_of_scikit_learn_with_default_parameters(trees):
    X, y = load_wine(return_X_y=True)
    X, y = X[:130], y[:130]
    subject = subject_of(X, y)
    found = {one.name: one for one in compare_baselines(subject).baselines}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, model in (
        ("random forest", RandomForestClassifier(random_state=0)),
        ("gradient boosting", HistGradientBoostingClassifier(random_state=0)),
    ):
        with threadpool_limits(1, user_api="openmp"):
            said = cross_val_predict(model, subject.machines.X, y, cv=folds)
        assert found[name].error == pytest.approx(np.mean(said != y))
        assert "5 folds" in found[name].meaning
        expected = paired_difference(said != y, subject.wrong)
        assert found[name].difference == expected


def test_of_regressions_too(trees):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:120], y[:120]
    model = make_pipeline(MinMaxScaler(), SpanSVR(C=100)).fit(X, y)
    subject = TargetSubject.of(model, X, y, [f"x{i}" for i in range(10)])
    found = {one.name: one for one in compare_target_baselines(subject).baselines}
    folds = KFold(5, shuffle=True, random_state=0)
    for name, other in (
        ("random forest", RandomForestRegressor(random_state=0)),
        ("gradient boosting", HistGradientBoostingRegressor(random_state=0)),
    ):
        with threadpool_limits(1, user_api="openmp"):
            said = cross_val_predict(other, subject.machines.X, y, cv=folds)
        assert found[name].rmse == pytest.approx(np.sqrt(np.mean((y - said) ** 2)))


def test_a_score_of_its_own_is_given_classes_of_equal_weight(trees):
    rng = np.random.default_rng(0)
    y = (rng.random(150) < 0.2).astype(int)
    X = rng.normal(size=(150, 3)) + y[:, None]
    found = compare_baselines(subject_of(X, y), scorer=get_scorer("balanced_accuracy"))
    names = [one.name for one in found.baselines]
    assert {"random forest, balanced", "gradient boosting, balanced"} < set(names)
    assert "random forest" not in names


class _Counting(DummyClassifier):
    """Notes how many OpenMP threads there are while it is fitted."""

    seen: ClassVar[list[int]] = []

    def fit(self, X, y):
        pools = [one for one in threadpool_info() if one["user_api"] == "openmp"]
        self.seen.extend(one["num_threads"] for one in pools)
        return super().fit(X, y)


def test_threads_change_nothing():
    """Boosting adds up in an order that depends on their number, so there is only one."""
    X, y = load_iris(return_X_y=True)
    folds = folds_of(subject_of(X, y), 2)
    with threadpool_limits(2, user_api="openmp"):
        classes_in_folds(Rival("", "", _Counting(strategy="prior")), X, y, folds, 3)
    assert set(_Counting.seen) == {1}


def test_a_class_of_one_row_among_many_is_boosted_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_100, 1)), rng.integers(2, size=10_100)
    y[0] = 2
    (boosting,) = [one for one in classifiers(False) if one.kind == "boosting"]
    model = boosting.model.set_params(max_iter=1)
    assert set(model.fit(X, y).classes_) == {0, 1, 2}


def test_sparse_rows_are_predicted_as_dense_ones():
    X, y = load_iris(return_X_y=True)
    folds = folds_of(subject_of(X, y), 2)
    for rival in classifiers(False):
        dense, own = (
            classes_in_folds(rival, rows, y, folds, 3)["predict"]
            for rows in (X, sparse.csr_array(X))
        )
        assert np.mean(dense == own) > 0.97


def test_what_takes_long_is_left_out_whatever_the_clock(trees, monkeypatch):
    linear, forest, boosting = classifiers(False)
    for rival in (linear, forest, boosting):
        assert not rival.takes_long((1000, 30), 1, 5)
        assert rival.takes_long((4000, 20_000), 10, 5)
    assert boosting.takes_long((1797, 64), 10, 5)
    assert not forest.takes_long((1797, 64), 10, 5)
    assert regressions(200)[2].takes_long((1000, 500), 1, 5)
    monkeypatch.setattr("spansvm_app.studies.rivals._MOST_SECONDS", 0.01)
    X, y = load_iris(return_X_y=True)
    assert compare_baselines(subject_of(X, y)).skipped == [
        "Random forest, gradient boosting were left out: they would take long on this many numbers."
    ]


def test_a_model_that_is_better_by_chance_is_not_called_better():
    """Of eight models that are as good, hardly ever is one better beyond chance."""
    rng, called = np.random.default_rng(0), 0
    for _ in range(200):
        own = rng.random(300) < 0.2
        others = [np.where(rng.random(300) < 0.5, own, rng.random(300) < 0.2) for _ in range(8)]
        baselines = [
            Baseline(str(i), "", float(one.mean()), paired_difference(one, own))
            for i, one in enumerate(others)
        ]
        called += Comparison(float(own.mean()), None, 0.0, 0.0, baselines, []).better is not None
    assert called <= 10
    # What is only estimated, by how much the selected model's error is too small, does not decide.
    worse = own | (np.arange(300) < 4)
    behind = Baseline("", "", float(worse.mean()), paired_difference(worse, own, optimism=0.1))
    assert behind.surely_better(2.0)
    assert Comparison(float(own.mean()), None, 0.1, 0.0, [behind], []).better is None
    sure = Baseline("sure", "", 0.0, paired_difference(np.zeros(300, dtype=bool), own))
    assert Comparison(0.2, None, 0.0, 0.0, [*baselines, sure], []).better is sure
