"""Influence of features, against models trained again without each row."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from sklearn.svm import SVC

from spansvm import SpanSVC
from spansvm.blocks import ValuesWithout
from spansvm_app.studies import Subject, measure_influence


def subject_of(X, y, steps=None, names=None, groups=None, **settings):
    settings = {"C": 10, "gamma": 0.7, "tol": 1e-8, **settings}
    model = make_pipeline(MinMaxScaler() if steps is None else steps, SpanSVC(**settings))
    model.fit(X, y, **({} if groups is None else {"spansvc__groups": groups}))
    if names is None:
        names = [f"x{column}" for column in range(X.shape[1])]
    return Subject.of(model, X, y, names), model


def permuted_values(subject, model, X, column, seed=0):
    """Left-out values with one permuted column: ours, and the permuted rows."""
    order = np.random.default_rng(seed).permutation(len(X))
    X = X.copy()
    X[:, column] = X[order, column]
    without = ValuesWithout(subject.machines, subject.sets)
    without.prepare(np.arange(len(X)))
    points = model[0].transform(X)
    return without.values(points, 1)[0], points


def test_the_increase_is_that_of_brute_force():
    """Every row left out, retrained, its feature permuted as often: the same mean within chance."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    subject, model = subject_of(X, y, gamma=0.3, C=1)
    found = measure_influence(subject, n_repeats=20)
    Z, rows = subject.machines.X, np.arange(60)
    for one in found.features:
        grown = []
        for row in rows:
            others = np.repeat(X[[row]], 59, axis=0)
            others[:, one.column] = np.delete(X[:, one.column], row)  # each value of another row
            reference = SVC(C=1, gamma=0.3, tol=1e-8).fit(Z[rows != row], y[rows != row])
            wrong = reference.predict(model[0].transform(others)) != y[row]
            grown.append(wrong.mean() - (reference.predict(Z[[row]])[0] != y[row]))
        assert one.increase == pytest.approx(np.mean(grown), abs=4 * one.over_repeats + 0.01)
    assert found.features[0].column == 0
    assert [one.clear for one in found.features] == [True, False, False]


def test_a_text_column_is_permuted_as_one_feature():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=200), "site": rng.choice(list("abcd"), 200),
                          "note": rng.choice(["x", "y"], 200)})  # fmt: skip
    y = np.where(frame["site"].isin(["a", "b"]), "yes", "no")
    steps = make_column_transformer(
        (MinMaxScaler(), ["size"]), (OneHotEncoder(sparse_output=False), ["site", "note"])
    )
    subject, _ = subject_of(frame, y, steps, list(frame.columns))
    found = measure_influence(subject)
    assert found.error == 0.0
    assert found.features[0].name == "site"
    assert found.features[0].increase == pytest.approx(0.5, abs=0.1)
    assert [one.clear for one in found.features] == [True, False, False]


def test_noise_has_no_influence():
    """Twenty sets of pure noise with six features each: hardly ever is one called clear."""
    rng, features = np.random.default_rng(1), []
    for _ in range(20):
        X, y = rng.normal(size=(120, 6)), rng.integers(0, 2, 120)
        features += measure_influence(subject_of(X, y, gamma=0.5)[0]).features
    increases = np.array([one.increase for one in features])
    assert abs(increases.mean()) < 0.01
    assert sum(one.clear for one in features) <= 1
    errors = np.array([one.standard_error for one in features])
    assert np.mean(np.abs(increases) < 1.96 * errors) > 0.88


def test_many_classes_and_a_single_feature():
    rng = np.random.default_rng(0)
    y = np.arange(208) % 26
    X = np.column_stack([y + 0.1 * rng.normal(size=208), rng.normal(size=208)])
    found = measure_influence(subject_of(X, y, gamma=200, C=100)[0], n_repeats=2)
    assert found.n_rows == 200  # a sample: 25 machines change without each row
    assert found.features[0].column == 0
    assert found.features[0].increase > 0.6
    one = measure_influence(subject_of(X[:, :1], y // 13, gamma=200)[0])
    assert [feature.clear for feature in one.features] == [True]


def test_the_luck_of_the_selection_is_no_influence():
    X, y = load_breast_cancer(return_X_y=True)
    subject, _ = subject_of(X[:200, :5], y[:200])
    plain, careful = (measure_influence(subject, optimism=share) for share in (0.0, 1.0))
    assert any(one.clear for one in plain.features)
    assert not any(one.clear for one in careful.features)
    assert [one.increase for one in plain.features] == [one.increase for one in careful.features]


def test_a_score_falls_where_the_error_grows():
    X, y = load_breast_cancer(return_X_y=True)
    subject, _ = subject_of(X[:300, :4], y[:300])
    scorer = get_scorer("roc_auc")
    found = measure_influence(subject, scorer=scorer)
    assert all(one.score_decrease is not None for one in found.features)
    most = max(found.features, key=lambda one: one.score_decrease)
    assert most.score_decrease > 0.01
    assert most in found.features[:2]
    assert measure_influence(subject).features[0].score_decrease is None


def test_a_score_is_judged_by_its_own_interval():
    """A rare class that the error does not notice: with and without it, few rows are wrong."""
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.1).astype(int)
    X = rng.normal(size=(500, 5))
    X[:, 2] += 1.5 * y
    subject, _ = subject_of(X, y, gamma=0.3, C=1, class_weight="balanced")
    scorer = get_scorer("balanced_accuracy")
    found = measure_influence(subject, scorer=scorer, optimism=0.02)
    assert found.scored
    assert [one.name for one in found.features if one.clear] == ["x2"]
    for one in found.features:
        assert one.clear == (one.interval[0] > 0.0)
        assert one.shown == one.score_decrease
        low, high = one.interval
        assert low <= one.shown <= high
    luck = [
        measure_influence(subject, scorer=scorer, optimism=share).features[0].interval[0]
        for share in (0.0, 0.1)
    ]
    assert luck[0] - luck[1] == pytest.approx(0.1 * found.features[0].spoiled)


def test_the_standard_error_of_a_score_is_that_of_drawn_rows():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    X = rng.normal(size=(400, 2))
    X[:, 0] += y
    subject, model = subject_of(X, y, gamma=0.3, C=1)
    scorer = get_scorer("roc_auc")
    top = measure_influence(subject, scorer=scorer, n_repeats=1).features[0]
    own = model[-1].loo_ranking_
    values, _ = permuted_values(subject, model, X, 0)
    drawn = []
    for _ in range(300):
        rows = rng.integers(400, size=400)
        drawn.append(roc_auc_score(y[rows], own[rows]) - roc_auc_score(y[rows], values[rows, 0]))
    assert top.name == "x0"
    assert top.score_decrease == pytest.approx(np.mean(drawn), abs=0.02)
    assert top.score_error == pytest.approx(np.std(drawn), rel=0.5)


def test_a_feature_spoils_as_much_luck_as_it_changes_predictions():
    X, y = load_breast_cancer(return_X_y=True)
    X = np.column_stack((X[:200, :2], np.zeros(200)))
    found = {one.name: one for one in measure_influence(subject_of(X, y[:200])[0]).features}
    assert found["x2"].spoiled == 0.0
    assert 0.1 < max(one.spoiled for one in found.values()) <= 1.0
