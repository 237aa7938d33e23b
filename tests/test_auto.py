"""``method="auto"``: the rule for all candidates, exact leave-one-out for those near the best."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC, exact_loo
from spansvm.datasets import twonorm
from spansvm.report import Report, render_html
from spansvm.search import refinement
from spansvm.search.work import Outcome

GRID = {"C": 2.0 ** np.arange(-4, 9, 2), "gamma": 2.0 ** np.arange(-6, 3, 2)}


def clouds(n_rows=70, seed=0):
    return twonorm(n_rows, d=3, seed=seed)


def both(X, y, grid=GRID, **options):
    """The search, and that by the rule and by exact leave-one-out alone."""
    model = SpanSVC()
    return [SpanSearch(model, grid, method=m, **options).fit(X, y)
            for m in ("auto", "span_rule", "loo")]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_exact_where_they_say_so_and_the_rules_elsewhere(seed):
    auto, rule, exact = both(*clouds(seed=seed))
    known = auto.cv_results_["exact"]
    assert 0 < known.sum() < known.size
    expected = np.where(
        known, exact.cv_results_["mean_test_score"], rule.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(auto.cv_results_["mean_test_score"], expected)
    assert known[auto.best_index_]
    assert np.isnan(auto.cv_results_["n_differ"][~known]).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_best_exact_score_is_found(seed):
    auto, _, exact = both(*clouds(seed=seed))
    assert auto.best_score_ == exact.best_score_


def test_signs_that_differ_are_counted():
    X, y = clouds(seed=1)
    auto = SpanSearch(SVC(tol=1e-8), GRID, method="auto").fit(X, y)
    for index in np.flatnonzero(auto.cv_results_["exact"])[:4]:
        params = auto.cv_results_["params"][index]
        exact = exact_loo(SpanSVC(**params, tol=1e-8), X, y)
        rule = SpanSVC(**params, tol=1e-8).fit(X, y).loo_predict_
        assert auto.cv_results_["n_differ"][index] == np.sum((exact > 0) != (rule > 0))


def test_the_number_of_exact_candidates_is_bounded(monkeypatch):
    X, y = clouds(40)
    # The same model six times: all of them are within reach of the best.
    grid = {"tol": [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10]}
    search = SpanSearch(SpanSVC(), grid, method="auto")
    assert search.fit(X, y).cv_results_["exact"].sum() == 6
    monkeypatch.setattr(refinement, "_FIRST", 2)
    monkeypatch.setattr(refinement, "_MOST", 3)
    assert search.fit(X, y).cv_results_["exact"].sum() == 3
    assert search.cv_results_["exact"][search.best_index_]


def test_only_candidates_of_known_exact_score_are_selected():
    outcomes = [{0: Outcome(scores={"score": score}, hinge=0.5)} for score in (0.8, 0.9, 0.9)]
    found = refinement.Refinement(outcomes, [{"C": 1}, {"C": 2}, {"C": 3}], True, "hinge")
    found._take(1, Outcome(scores={"score": 0.9}))
    # The third is as good by the rule, but not known to be.
    assert found.selecting().argsort().tolist() == [0, 2, 1]
    assert found.selecting() == pytest.approx([0.8, 0.9, 0.9], abs=1e-8)


@pytest.mark.filterwarnings("ignore:.*fits failed")
def test_failed_candidates_are_not_asked_again():
    X, y = clouds()
    search = SpanSearch(SpanSVC(), {"C": [1.0, -1.0, 10.0]}, method="auto").fit(X, y)
    assert search.cv_results_["exact"].tolist() == [True, False, True]


def test_any_score_and_many_classes():
    X, y = load_iris(return_X_y=True)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}
    auto, _, exact = both(X, y, grid, scoring="neg_log_loss")
    known = auto.cv_results_["exact"]
    np.testing.assert_array_equal(
        auto.cv_results_["mean_test_score"][known], exact.cv_results_["mean_test_score"][known]
    )
    several = SpanSearch(
        SpanSVC(), grid, method="auto", scoring=["accuracy", "f1_macro"], refit="f1_macro"
    ).fit(X, y)
    assert several.cv_results_["exact"][several.best_index_]


def test_several_scores_and_none_to_select_by_are_those_of_the_rule():
    X, y = clouds()
    grid = {"C": [1.0, 10.0]}
    options = {"scoring": ["accuracy", "roc_auc"], "refit": False}
    auto, rule, _ = both(X, y, grid, **options)
    assert not auto.cv_results_["exact"].any()
    for name in ("accuracy", "roc_auc"):
        column = f"mean_test_{name}"
        np.testing.assert_array_equal(auto.cv_results_[column], rule.cv_results_[column])


def test_a_function_cannot_say_which_candidates_are_near_the_best():
    search = SpanSearch(SpanSVC(), GRID, method="auto", refit=lambda results: 0)
    with pytest.raises(ValueError, match="needs a score to select by"):
        search.fit(*clouds())


def test_workers_change_nothing():
    X, y = clouds()
    one = SpanSearch(SpanSVC(), GRID, method="auto").fit(X, y)
    two = SpanSearch(SpanSVC(), GRID, method="auto", n_jobs=2).fit(X, y)
    assert one.best_params_ == two.best_params_
    assert one.corrected_score_ == two.corrected_score_
    np.testing.assert_array_equal(one.cv_results_["n_differ"], two.cv_results_["n_differ"])


def test_an_interrupted_refinement_keeps_what_is_exact(monkeypatch):
    X, y = clouds()
    taken = []
    take = refinement.Refinement._take

    def interrupt(self, index, outcome):
        if len(taken) == 3:
            raise KeyboardInterrupt
        taken.append(index)
        take(self, index, outcome)

    monkeypatch.setattr(refinement.Refinement, "_take", interrupt)
    search = SpanSearch(SpanSVC(), GRID, method="auto")
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert set(np.flatnonzero(search.cv_results_["exact"])) == set(taken)
    assert search.best_index_ in taken
    assert search.corrected_score_ <= search.best_score_


def test_the_report_says_how_many_predictions_the_rule_got_wrong():
    X, y = clouds(seed=1)
    search = SpanSearch(SpanSVC(), GRID, method="auto").fit(X, y)
    report = Report.from_search(search, X, y)
    differ = search.cv_results_["n_differ"]
    checked = report.search.checked
    assert checked.n_candidates == search.cv_results_["exact"].sum()
    assert checked.n_differ == differ[search.best_index_]
    assert checked.mean_differ == pytest.approx(np.nanmean(differ))
    assert report.search.judged_error.name == "exact leave-one-out error"
    assert report.search.judged_error.error == pytest.approx(1 - search.best_score_)
    page = render_html(report)
    assert f"was computed for {checked.n_candidates} candidates within reach of the best" in page


def test_groups_are_left_out_exactly_where_it_says_so():
    X, y = clouds(120)
    groups = np.arange(120) // 4
    auto, exact = (
        SpanSearch(SpanSVC(), GRID, method=method).fit(X, y, groups=groups)
        for method in ("auto", "loo")
    )
    known = auto.cv_results_["exact"]
    assert known[auto.best_index_]
    assert auto.n_groups_ == 30
    means = [search.cv_results_["mean_test_score"][known] for search in (auto, exact)]
    np.testing.assert_array_equal(*means)


def test_folds_are_refused():
    with pytest.raises(ValueError, match="not the folds of cv"):
        SpanSearch(SpanSVC(), GRID, method="auto", cv=5).fit(*clouds())
