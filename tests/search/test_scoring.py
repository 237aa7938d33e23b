"""The span-rule as a scorer inside GridSearchCV."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale
from sklearn.svm import SVC

from spansvm import SigmoidWeighting, SpanSearch, SpanSVC, span_scorer

GRID = {"C": [0.1, 1, 10], "gamma": [0.1, 1.0]}


def grid_search(model, y, grid=GRID, scoring=span_scorer, **options):
    rows = np.arange(len(y))
    return GridSearchCV(model, grid, scoring=scoring, cv=[(rows, rows)], **options)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("model", [SVC(tol=1e-7), SpanSVC(tol=1e-7)])
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_grid_search_with_the_scorer_is_a_span_search(load, model, routing):
    X, y = load(return_X_y=True)
    X = minmax_scale(X)
    ours = SpanSearch(model, GRID).fit(X, y)
    with config_context(enable_metadata_routing=routing):
        theirs = grid_search(model, y).fit(X, y)
    np.testing.assert_allclose(
        theirs.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"], atol=1e-12
    )


def test_pipelines():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(MinMaxScaler(), SVC(tol=1e-7))
    grid = {f"svc__{name}": values for name, values in GRID.items()}
    ours = SpanSearch(model, grid).fit(X, y)
    theirs = grid_search(model, y, grid).fit(X, y)
    np.testing.assert_allclose(
        theirs.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"], atol=1e-12
    )


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_weights_of_an_svc_come_by_metadata_routing(load):
    X, y = load(return_X_y=True)
    X = minmax_scale(X)
    weight = np.random.default_rng(0).uniform(0.05, 1, len(y))
    ours = SpanSearch(SVC(tol=1e-7), GRID).fit(X, y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        model = SVC(tol=1e-7).set_fit_request(sample_weight=True)
        scorer = clone(span_scorer).set_score_request(sample_weight=True)
        theirs = grid_search(model, y, scoring=scorer).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(
            theirs.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"], atol=1e-12
        )
        forgetful = clone(span_scorer).set_score_request(sample_weight=False)
        with pytest.raises(ValueError, match="the scorer needs it too"):
            grid_search(model, y, scoring=forgetful, error_score="raise").fit(
                X, y, sample_weight=weight
            )


def test_a_span_svc_remembers_its_weights_and_scores():
    X, y = load_breast_cancer(return_X_y=True)
    X = minmax_scale(X)
    scores = np.random.default_rng(0).random(len(y))
    model = SpanSVC(weighting=SigmoidWeighting(), tol=1e-7)
    grid = {"weighting__steepness": [1.0, 10.0], "weighting__ceiling": [1.0, 10.0]}
    ours = SpanSearch(model, grid).fit(X, y, scores=scores)
    theirs = grid_search(model, y, grid).fit(X, y, scores=scores)
    with config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(scores=True)
        scorer = clone(span_scorer).set_score_request(scores=False)
        routed = grid_search(asking, y, grid, scoring=scorer).fit(X, y, scores=scores)
    for other in (theirs, routed):
        np.testing.assert_allclose(
            other.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"], atol=1e-12
        )


@pytest.mark.parametrize("model", [SVC(), SpanSVC()])
@pytest.mark.parametrize("rows", [569, 568])
def test_folds_are_refused(rows, model):
    X, y = load_breast_cancer(return_X_y=True)
    search = GridSearchCV(model, {"C": [1]}, scoring=span_scorer, cv=2, error_score="raise")
    with pytest.raises(ValueError, match="fitted on"):
        search.fit(X[:rows], y[:rows])
