"""The rows that contradict a label push away from it, and those that agree push towards it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.svm import SVC, SVR

from spansvm import SpanSVC, SpanSVR, find_label_issues
from spansvm.rows.labels import judge
from spansvm.rows.witnesses import find_witnesses


def doubted_iris() -> tuple[np.ndarray, np.ndarray, SpanSVC]:
    X, y = load_iris(return_X_y=True)
    y = (y > 0).astype(int)
    y[7] = 1
    return X, y, SpanSVC(C=1.0, gamma=0.5).fit(X, y)


def test_without_a_row_that_agrees_the_retrained_model_contradicts_more() -> None:
    X, y, model = doubted_iris()
    (found,) = find_witnesses(model, judge(model), np.array([7]), 4)
    exact = {"C": 1.0, "gamma": 0.5, "tol": 1e-9}
    plain = SVC(**exact).fit(X, y).decision_function(X[7:8])[0]
    assert found.agreeing.size
    assert found.against.size == 4
    for rows, influences, sign in (
        (found.against, found.against_by, 1.0), (found.agreeing, found.agreeing_by, -1.0),
    ):  # fmt: skip
        assert (np.diff(influences) <= 0.0).all()
        keep = np.delete(np.arange(y.size), rows[0])
        without = SVC(**exact).fit(X[keep], y[keep]).decision_function(X[7:8])[0]
        assert sign * (without - plain) > 0.0
    assert not y[found.against].any()
    assert y[found.agreeing].all()
    assert 7 not in found.agreeing


def test_targets_that_agree_are_not_on_the_side_of_the_prediction() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:120], y[:120].copy()
    y[50] += 600.0
    model = SpanSVR(C=50.0, gamma=10.0, epsilon=5.0).fit(X, y)
    (found,) = find_witnesses(model, judge(model), np.array([50]), 3)
    assert (y[found.against] < y[50]).all()
    assert 50 not in found.agreeing
    strongest = np.delete(np.arange(y.size), found.against[0])
    options = {"C": 50.0, "gamma": 10.0, "epsilon": 5.0, "tol": 1e-9}
    plain, without = (
        SVR(**options).fit(X[rows], y[rows]).predict(X[50:51])[0]
        for rows in (slice(None), strongest)
    )
    assert without - plain == pytest.approx(found.against_by[0], rel=0.2)


def test_nobody_is_asked_for_no_rows() -> None:
    _, _, model = doubted_iris()
    assert find_witnesses(model, judge(model), np.array([], dtype=int), 3) == []
    (found,) = find_witnesses(model, judge(model), np.array([7]), 0)
    assert found.against.size == found.agreeing.size == 0


def test_a_model_of_a_data_frame_is_asked_without_a_warning() -> None:
    X, y, _ = doubted_iris()
    frame = pd.DataFrame(X, columns=list("abcd"))
    issues = find_label_issues(SpanSVC(C=1.0, gamma=0.5).fit(frame, y))
    assert issues.contradicted_by[7]
