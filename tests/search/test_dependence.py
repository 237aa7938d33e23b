"""Rows that depend on those beside them are noticed; shuffled and sorted ones are not."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_moons
from sklearn.model_selection import LeaveOneGroupOut, TimeSeriesSplit, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spansvm import (
    SVCCV,
    SVRCV,
    DependentRowsWarning,
    SpanRandomizedSearch,
    SpanSearch,
    SpanSVC,
    SpanSVR,
)

GRID = {"C": [1, 10], "gamma": [0.03, 0.3]}


def walk(n_rows=300, seed=0):
    """Four sensors that wander, and labels of which 30 to 50 in a row are equal."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4)).cumsum(axis=0)
    lengths = random.integers(30, 51, size=n_rows // 30)
    return X, np.repeat(np.arange(lengths.size) % 2, lengths)[:n_rows]


def drift(n_rows=300, seed=0):
    """The same sensors, and a quantity that wanders on its own."""
    X, _ = walk(n_rows, seed)
    return X, np.random.default_rng(seed + 1).normal(size=n_rows).cumsum()


def shuffled(X, y, seed):
    order = np.random.default_rng(seed).permutation(y.size)
    return X[order], y[order]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_rows", [200, 300, 700])
def test_walks_are_noticed(n_rows, seed):
    search = SpanSearch(SVC(), GRID)
    with pytest.warns(DependentRowsWarning):
        search.fit(*walk(n_rows, seed))
    assert search.dependence_.noticed


@pytest.mark.parametrize("seed", range(4))
def test_a_quantity_that_wanders_is_noticed(seed):
    search = SpanSearch(SVR(), {"C": [1, 10, 100], "gamma": [0.03, 0.3]})
    with pytest.warns(DependentRowsWarning, match="R2 is"):
        search.fit(*drift(seed=seed))
    assert search.dependence_.noticed


@pytest.mark.parametrize("seed", range(5))
def test_the_same_rows_in_another_order_are_not(seed):
    assert not SpanSearch(SVC(), GRID).fit(*shuffled(*walk(), seed)).dependence_.noticed
    assert not SpanSearch(SVR(), GRID).fit(*shuffled(*drift(), seed)).dependence_.noticed


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_a_file_that_is_sorted_by_class_says_nothing(load):
    X, y = shuffled(*load(return_X_y=True), 0)
    order = np.argsort(y, kind="stable")
    model = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [1, 10], "svc__gamma": [0.01, 0.1]}
    assert not SpanSearch(model, grid).fit(X[order], y[order]).dependence_.noticed


def test_a_file_that_is_sorted_by_its_targets_says_nothing():
    X, y = load_diabetes(return_X_y=True)
    order = np.argsort(y, kind="stable")
    search = SpanSearch(SVR(), {"C": [10, 100], "gamma": [1, 10]})
    assert not search.fit(X[order], y[order]).dependence_.noticed


def test_the_warning_has_the_number_and_what_can_be_done():
    search = SpanSearch(SVC(), GRID)
    with pytest.warns(DependentRowsWarning) as told:
        search.fit(*walk())
    found, text = search.dependence_, str(told[0].message)
    number = re.search(r"where (\d+) neighbouring rows .*, ([\d.]+) of them .* but ([\d.]+)", text)
    assert int(number[1]) == found.block_size[found.most]
    assert float(number[2]) == pytest.approx(found.error[found.most], rel=1e-2)
    assert float(number[3]) == pytest.approx(found.exchanged_error[found.most], rel=1e-2)
    for remedy in ("groups=", "cv=TimeSeriesSplit()", "groups=np.arange(len(y)) // 25"):
        assert remedy in text
    assert told[0].filename == __file__


def test_errors_are_those_of_models_without_each_block():
    X, y = walk()
    search = SpanSearch(SVC(), GRID)
    with pytest.warns(DependentRowsWarning):
        search.fit(X, y)
    found, blocks = search.dependence_, np.arange(300) // 25
    folds = list(LeaveOneGroupOut().split(X, y, blocks))
    predicted = cross_val_predict(search.best_estimator_, X, y, cv=folds)
    at = found.block_size.tolist().index(25)
    assert found.n_rows[at] == 300
    assert found.error[at] == pytest.approx(np.mean(predicted != y), abs=1e-12)


def test_errors_of_a_regression_are_shares_of_the_variance():
    X, y = drift()
    search = SpanSearch(SVR(tol=1e-8), {"C": [10, 100], "gamma": [0.03, 0.3]})
    with pytest.warns(DependentRowsWarning):
        search.fit(X, y)
    found, blocks = search.dependence_, np.arange(300) // 25
    folds = list(LeaveOneGroupOut().split(X, y, blocks))
    predicted = cross_val_predict(search.best_estimator_, X, y, cv=folds)
    at = found.block_size.tolist().index(25)
    assert found.error[at] == pytest.approx(np.mean((predicted - y) ** 2) / y.var(), rel=1e-4)


def test_longer_blocks_are_tried_where_a_dependence_was_noticed():
    search = SpanSearch(SVC(), GRID)
    with pytest.warns(DependentRowsWarning):
        search.fit(*walk(1000))
    assert search.dependence_.block_size.tolist() == [5, 10, 25, 50, 100]
    search.fit(*shuffled(*walk(1000), 0))
    assert search.dependence_.block_size.tolist() == [25]


@pytest.mark.parametrize(
    "search",
    [
        SpanRandomizedSearch(SVC(), GRID, n_iter=2, random_state=0),
        SpanSearch(SpanSVC(), GRID),
        SpanSearch(SVC(), GRID, method="loo"),
        SpanSearch(SVC(), GRID, method="span_bound"),
        SpanSearch(SVC(), GRID, refit=False),
        SpanSearch(OneVsRestClassifier(SVC()), {f"estimator__{name}": GRID[name] for name in GRID}),
        SVCCV(n_trials=40),
    ],
    ids=lambda search: type(search).__name__,
)
def test_every_search_of_single_rows_notices(search):
    with pytest.warns(DependentRowsWarning):
        search.fit(*walk())
    assert search.dependence_.noticed


def test_labels_may_be_of_any_kind_and_several():
    X, y = walk()
    words = np.array(["down", "up"], dtype=object)[y]
    several = np.column_stack([y, np.arange(300) // 60 % 2])
    rest = SpanSearch(OneVsRestClassifier(SVC()), {"estimator__C": [1, 10]})
    for search, labels in ((SpanSearch(SVC(), GRID), words), (rest, several)):
        with pytest.warns(DependentRowsWarning):
            search.fit(X, labels)
        assert search.dependence_.noticed


def test_regressions_notice():
    X, y = drift()
    several = SpanSearch(MultiOutputRegressor(SpanSVR(gamma=0.1)), {"estimator__C": [10, 100]})
    for search, targets in ((SVRCV(n_trials=60), y), (several, np.column_stack([y, X[:, 0]]))):
        with pytest.warns(DependentRowsWarning):
            search.fit(X, targets)
        assert search.dependence_.noticed


def test_a_gram_matrix_and_rows_say_the_same():
    X, y = walk()
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    given = SpanSearch(SVC(kernel="precomputed"), {"C": [1, 10]})
    computed = SpanSearch(SVC(gamma=0.3), {"C": [1, 10]})
    for search, rows in ((given, K), (computed, X)):
        with pytest.warns(DependentRowsWarning):
            search.fit(rows, y)
    np.testing.assert_array_equal(given.dependence_.error, computed.dependence_.error)


def test_the_number_of_jobs_does_not_matter():
    one, two = (SpanSearch(SVC(), GRID, n_jobs=n_jobs) for n_jobs in (1, 2))
    for search in (one, two):
        with pytest.warns(DependentRowsWarning):
            search.fit(*walk())
    for name in ("block_size", "error", "exchanged_error", "times_noise"):
        np.testing.assert_array_equal(
            getattr(one.dependence_, name), getattr(two.dependence_, name)
        )


def test_rows_of_zero_weight_are_no_neighbours():
    X, y = walk()
    random = np.random.default_rng(0)
    twice = np.repeat(np.arange(300), 2)
    weight = np.tile([1.0, 0.0], 300)
    strange = np.where(weight[:, None] > 0, X[twice], random.normal(size=(600, 4)))
    plain, weighted = (SpanSearch(SpanSVC(), GRID) for _ in range(2))
    with pytest.warns(DependentRowsWarning):
        plain.fit(X, y)
    with pytest.warns(DependentRowsWarning):
        weighted.fit(strange, y[twice], sample_weight=weight)
    assert weighted.best_params_ == plain.best_params_
    np.testing.assert_array_equal(weighted.dependence_.error, plain.dependence_.error)


def test_rows_whose_class_leaves_with_them_do_not_count():
    X, y = make_moons(300, noise=0.3, random_state=0)
    y[100:104] = 2
    search = SpanSearch(SVC(), GRID).fit(X, y)
    assert search.dependence_.n_rows.tolist() == [296]


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"check_dependence": False}, {}),
        ({"cv": 5}, {}),
        ({"cv": TimeSeriesSplit(3)}, {}),
        ({"cv": 5, "method": "loo"}, {}),
        ({}, {"groups": np.arange(300) // 25}),
    ],
    ids=["switched off", "folds", "folds in time", "folds of one model", "groups"],
)
def test_there_is_none_if_it_is_switched_off_or_others_than_single_rows_leave(options, arguments):
    assert SpanSearch(SVC(), GRID, **options).fit(*walk(), **arguments).dependence_ is None


def test_svccv_can_switch_it_off():
    assert SVCCV(n_trials=40, check_dependence=False).fit(*walk()).dependence_ is None
    assert SVRCV(n_trials=60, check_dependence=False).fit(*drift()).dependence_ is None


def test_few_rows_cannot_tell():
    X, y = walk(60)
    y = np.arange(60) // 15 % 2
    assert SpanSearch(SVC(), GRID).fit(X[:59], y[:59]).dependence_ is None
    assert SpanSearch(SVC(), GRID, check_dependence=True).fit(
        *shuffled(X, y, 0)
    ).dependence_.block_size.tolist() == [6]


def test_what_is_neither_true_nor_false_is_refused():
    with pytest.raises(ValueError, match="check_dependence must be True or False; got 'yes'"):
        SpanSearch(SVC(), GRID, check_dependence="yes").fit(*walk())
    with pytest.raises(ValueError, match="check_dependence must be True or False; got 'yes'"):
        SVCCV(check_dependence="yes").fit(*walk())
