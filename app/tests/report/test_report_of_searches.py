"""Reports of searches with steps that look at the labels, and of one that was stopped."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline

from spansvm import SpanSearch, SpanSVC
from spansvm_app.report import Report
from tests.search.test_label_steps import noise
from tests.search.test_stopping import GRID, X, Y, stop_after

__all__ = ["stop_after"]


def test_the_report_says_what_to_believe():
    X, y = noise(4, columns=300)
    model = make_pipeline(SelectKBest(k=20), SpanSVC())
    grid = {"spansvc__C": [1, 10]}
    search = SpanSearch(model, grid, cv=5).fit(X, y)
    report = Report.from_search(search, X, y, analyses=False)
    assert any("'selectkbest' (SelectKBest) looks at the labels" in c for c in report.cautions)
    blind = SpanSearch(make_pipeline(PCA(5), SpanSVC()), grid, cv=5).fit(X, y)
    report = Report.from_search(blind, X, y, analyses=False)
    assert not any("looks at the labels" in caution for caution in report.cautions)


def test_the_headline_of_a_report_has_no_error_that_folds_did_not_count():
    X, y = noise(4, columns=300)
    model, grid = make_pipeline(SelectKBest(k=20), SpanSVC()), {"spansvc__C": [1, 10]}
    search = SpanSearch(model, grid, cv=5, scoring="roc_auc").fit(X, y)
    (said,) = Report.from_search(search, X, y, analyses=False).headline
    assert "misclassified" not in said
    search = SpanSearch(model, grid, cv=5).fit(X, y)
    said = Report.from_search(search, X, y, analyses=False).headline
    assert said[1].endswith(("the model does no better.", "that the model does better."))


def test_the_report_of_a_stopped_search_is_about_what_was_evaluated(stop_after):
    search = stop_after(SpanSearch(SpanSVC(), GRID), 20, X, Y)
    about = Report.from_search(search, X, Y).search
    n_done = int((~np.isnan(search.cv_results_["mean_test_score"])).sum())
    assert (about.n_candidates, about.n_failed) == (n_done, 0)
    assert about.scores["accuracy"][about.best_index] == search.best_score_
