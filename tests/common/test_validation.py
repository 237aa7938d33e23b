"""What is refused whoever takes it: damaged sparse matrices; leaving out all there is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC, SVR

from spansvm import (
    SVCCV,
    SVRCV,
    SpanRandomizedSearch,
    SpanSearch,
    SpanSVC,
    SpanSVR,
    analyze,
    data_values,
    exact_loo,
    influence,
)
from spansvm.common.validation import check_sparse
from spansvm.scores import neighbour_agreement

ROWS = sparse.random(40, 6, 0.5, format="csr", random_state=0)
LABELS = np.arange(40) % 2
GRID = {"C": [1.0, 10.0]}


def far(matrix):
    matrix.indices[5] = 10**9


def negative(matrix):
    matrix.indices[5] = -(10**6)


def falling(matrix):
    matrix.indptr[5] = 10**6


def too_long(matrix):
    matrix.indptr[-1] = 10**6


def late(matrix):
    matrix.indptr[0] = 3


def too_few_rows(matrix):
    matrix.indptr = matrix.indptr[:-3]


def without_numbers(matrix):
    matrix.data = matrix.data[:-20]


DAMAGES = {
    far: "indices from 0 to 1000000000, where 0 to 5 are right",
    negative: "indices from -1000000 to 5, where 0 to 5 are right",
    falling: "an indptr that does not ascend from 0 to the number of its entries, 120",
    too_long: "an indptr that does not ascend",
    late: "an indptr that does not ascend",
    too_few_rows: "38 indptr and 120 indices, where 41 and 120 are needed",
    without_numbers: "41 indptr and 120 indices, where 41 and 100 are needed",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_damaged_matrix_is_refused_with_what_is_wrong(damage, form):
    damaged = ROWS.copy()
    damage(damaged)
    if form == "csc":  # of columns, the same in the same order
        whole = sparse.csc_matrix(ROWS.T)
        for name in ("data", "indices", "indptr"):
            setattr(whole, name, getattr(damaged, name))
        damaged = whole
    with pytest.raises(ValueError, match=f"X is a damaged sparse matrix: it has {DAMAGES[damage]}"):
        check_sparse(damaged)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_whole_matrix_is_accepted(form):
    check_sparse(ROWS.asformat(form))
    check_sparse(sparse.csr_array((0, 6)))
    check_sparse(sparse.csr_matrix((5, 0)))


def test_entries_that_are_stored_twice_or_in_any_order_are_no_damage():
    twice = sparse.csr_matrix(([1.0, 2.0, 3.0], [2, 2, 0], [0, 3]), shape=(1, 4))
    check_sparse(twice)
    roomy = ROWS.copy()
    roomy.data, roomy.indices = np.resize(roomy.data, 130), np.resize(roomy.indices, 130)
    check_sparse(roomy)


def searched(search):
    return search.fit(ROWS, LABELS)


TAKING = {
    "SpanSVC.fit": lambda X: SpanSVC().fit(X, LABELS),
    "SpanSVC.predict": lambda X: SpanSVC().fit(ROWS, LABELS).predict(X),
    "SpanSVC.predict_set": lambda X: SpanSVC().fit(ROWS, LABELS).predict_set(X),
    "SpanSVR.fit": lambda X: SpanSVR().fit(X, LABELS),
    "SpanSVR.predict": lambda X: SpanSVR().fit(ROWS, LABELS).predict(X),
    "SpanSVR.predict_interval": lambda X: SpanSVR().fit(ROWS, LABELS).predict_interval(X),
    "SpanSearch.fit": lambda X: SpanSearch(SVC(), GRID).fit(X, LABELS),
    "SpanSearch.forecast": lambda X: SpanSearch(SVC(), GRID).forecast(X, LABELS),
    "SpanSearch.fit of a regression": lambda X: SpanSearch(SVR(), GRID).fit(X, LABELS),
    "SpanSearch.fit by scikit-learn": lambda X: SpanSearch(
        RandomForestClassifier(), {"max_depth": [2, 3]}
    ).fit(X, LABELS),
    "SpanRandomizedSearch.fit": lambda X: SpanRandomizedSearch(SVC(), GRID, n_iter=2).fit(
        X, LABELS
    ),
    "SVCCV.fit": lambda X: SVCCV(n_trials=5).fit(X, LABELS),
    "SVRCV.fit": lambda X: SVRCV(n_trials=5).fit(X, LABELS),
    "predict of a search": lambda X: searched(SpanSearch(SVC(), GRID)).predict(X),
    "decision_function of a search": lambda X: searched(SpanSearch(SVC(), GRID)).decision_function(
        X
    ),
    "score of a search": lambda X: searched(SpanSearch(SVC(), GRID)).score(X, LABELS),
    "predict_set of a search": lambda X: searched(
        SpanSearch(make_pipeline(MaxAbsScaler(), SVC()), {"svc__C": [1.0]})
    ).predict_set(X),
    "predict of a committee": lambda X: searched(SpanSearch(SVC(), GRID)).committee_.predict(X),
    "analyze": lambda X: analyze(SVC().fit(ROWS, LABELS), X, LABELS),
    "exact_loo": lambda X: exact_loo(SVC(), X, LABELS),
    "influence": lambda X: influence(SpanSVC().fit(ROWS, LABELS), X),
    "data_values": lambda X: data_values(SpanSVC().fit(ROWS, LABELS), X, LABELS),
    "scores": lambda X: neighbour_agreement(X, LABELS),
}


@pytest.mark.parametrize("take", TAKING.values(), ids=TAKING)
def test_nobody_takes_a_damaged_matrix(take):
    damaged = ROWS.copy()
    falling(damaged)
    with pytest.raises(ValueError, match="X is a damaged sparse matrix"):
        take(damaged)


ALONE = np.eye(40)[7]  # the weight of all other rows is 0
PAIRS = np.arange(40) // 2

LEAVING_ONE = {
    "loo_predict_": lambda model: model.loo_predict_,
    "loo_error_": lambda model: model.loo_error_,
    "predict_interval": lambda model: model.predict_interval(ROWS),
    "analyze": analyze,
}


@pytest.mark.parametrize("ask", LEAVING_ONE.values(), ids=LEAVING_ONE)
def test_one_row_alone_can_be_learnt_and_not_left_out(ask):
    targets = np.arange(40.0)
    model = SpanSVR().fit(ROWS, targets, sample_weight=ALONE)
    np.testing.assert_allclose(model.predict(ROWS), 7.0, atol=0.1)
    with pytest.raises(ValueError, match="two rows of positive weight are needed; there is 1"):
        ask(model)


@pytest.mark.parametrize("method", [None, "span_rule", "loo"])
def test_a_search_on_one_row_alone_is_refused(method):
    search = SpanSearch(SVR(), GRID, method=method)
    with pytest.raises(ValueError, match="two rows of positive weight are needed; there is 1"):
        search.fit(ROWS, np.arange(40.0), sample_weight=ALONE)


LEAVING_GROUPS = {
    "SpanSVC": lambda *data: SpanSVC().fit(*data, groups=PAIRS),
    "SpanSVR": lambda *data: SpanSVR().fit(*data, groups=PAIRS),
    "SpanSearch": lambda *data: SpanSearch(SVC(), GRID, refit=False).fit(*data, groups=PAIRS),
    "SpanSearch of a regression": lambda *data: SpanSearch(SVR(), GRID).fit(*data, groups=PAIRS),
    "exact_loo": lambda *data: exact_loo(SVC(), *data, groups=PAIRS),
    "analyze": lambda *data: analyze(SVC().fit(*data), *data, groups=PAIRS),
}


@pytest.mark.parametrize("leave", LEAVING_GROUPS.values(), ids=LEAVING_GROUPS)
def test_a_group_with_all_the_weight_cannot_be_left_out(leave):
    weights = (PAIRS == 3).astype(float)
    with pytest.raises(ValueError, match="needed in two groups; all are in the same one"):
        leave(ROWS.toarray(), LABELS, weights)
    leave(ROWS.toarray(), LABELS, (PAIRS < 2).astype(float))
