"""What programs that are built on a search need besides it."""

import time

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import balanced_accuracy_score, get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from spansvm import SpanAnalysis, SpanSearch, SpanSVC, blocks
from spansvm.blocks import (
    LeftOutClassifier,
    asked_by,
    equal_training_rows,
    find_label_step,
    scores_without_parts,
    selecting_scorer,
    telling_time,
    with_span_machine,
)
from spansvm.search import evaluated
from spansvm.search.evaluation import progress


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X[:150]), y[:150]


def test_scores_without_parts_are_those_of_the_other_rows(tumours):
    X, y = tumours
    model, scorer = SpanSVC().fit(X, y), get_scorer("balanced_accuracy")
    parts = np.arange(y.size) % 5
    asked = {"predict": model.loo_predict_}
    assert asked_by(scorer) == "predict"
    (found,) = scores_without_parts(scorer, [asked], y, model.classes_, parts, 5)
    said = model.loo_predict_
    expected = [balanced_accuracy_score(y, said)]
    expected += [balanced_accuracy_score(y[parts != k], said[parts != k]) for k in range(5)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    # There is no score without the only part.
    (alone,) = scores_without_parts(scorer, [asked], y, model.classes_, 0 * parts, 1)
    assert np.isnan(alone[1])
    classifier = LeftOutClassifier(model.left_out_, model.classes_, model)
    np.testing.assert_array_equal(classifier.predict(X), said)


def test_a_search_over_an_svc_becomes_one_over_a_span_svc(tumours):
    X, y = tumours
    search = SpanSearch(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]}).fit(X, y)
    ours = with_span_machine(search, X, y)
    assert isinstance(ours.best_estimator_[-1], SpanSVC)
    np.testing.assert_allclose(
        ours.best_estimator_.decision_function(X), search.decision_function(X), atol=0.01
    )
    assert isinstance(search.best_estimator_[-1], SVC)  # it stays as it was
    with pytest.raises(ValueError, match="the rows and labels that the search was fitted on"):
        with_span_machine(search, X[:-1], y[:-1])


def test_all_candidates_are_evaluated_unless_a_search_is_stopped(tumours):
    search = SpanSearch(SpanSVC(), {"C": [1, 10]}, refit=False).fit(*tumours)
    assert evaluated(search) == (search.cv_results_, int(search.best_index_))
    assert selecting_scorer(search) == "score"


def test_a_step_that_looks_at_the_labels_is_found(tumours):
    X, y = tumours
    for step, found in ((SelectKBest(k=5), True), (StandardScaler(), False)):
        said = find_label_step(make_pipeline(step, SpanSVC()), [{}], X, y)
        assert (said is not None) == found


def test_equal_training_rows_are_found_in_rows_and_in_gram_matrices(tumours):
    X, y = tumours
    X = np.vstack((X, X[[3, 3]]))
    y = np.append(y, y[[3, 3]])
    for model, rows in ((SpanSVC(), X), (SpanSVC(kernel="precomputed"), X @ X.T)):
        kinds = equal_training_rows(model.fit(rows, y).machines_)
        assert kinds[[3, 150, 151]].tolist() == [3, 3, 3]
        assert np.unique(kinds).size == 150
    assert equal_training_rows(SpanSVC().fit(X[:150], y[:150]).machines_) is None


def test_removals_of_an_indefinite_kernel_are_not_followed(tumours):
    X, y = tumours
    assert SpanAnalysis(SpanSVC().fit(X, y).solved_model()).followable
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        model = SpanSVC(kernel="sigmoid", gamma=5.0, coef0=-3.0).fit(X, y)
    assert not SpanAnalysis(model.solved_model()).followable


def test_long_work_says_how_long_it_will_be(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_FIRST_LINE", 0.01)
    lines = []
    with telling_time("Training", 3600.0, lines.append):
        time.sleep(0.2)
    assert lines[0] == "Training: 1 second so far, about 60 minutes left"
    lines.clear()
    with telling_time("Training", 0.0, lines.append):
        time.sleep(0.2)
    assert lines[0] == "Training: 1 second so far"
    assert capsys.readouterr().err == ""


def test_memory_is_a_budget_or_half_of_what_there_is(monkeypatch):
    assert blocks.parse_budget("4 GiB") == 2.0**32
    assert blocks.gram_form(1000, "8 MB") == ("double", 8e6)
    assert blocks.gram_form(1000, "5 MB") == ("single", 4e6)
    assert blocks.available_memory() > 0
