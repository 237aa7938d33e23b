"""Searches that stop before all candidates are evaluated, and go on later."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from spansvm import SpanRandomizedSearch, SpanSearch, SpanSVC
from spansvm.search import SearchStoppedWarning
from spansvm.search.evaluation import dispatch, stages
from spansvm.search.evaluation.evaluator import evaluate
from spansvm.search.evaluation.progress import SearchProgress

X, Y = make_moons(120, noise=0.3, random_state=0)
GRID = {"C": list(2.0 ** np.arange(-3, 5)), "gamma": list(2.0 ** np.arange(-3, 2))}


@pytest.fixture
def stop_after(monkeypatch):
    """Fits a search for which a second passes with every candidate, for so many seconds."""

    def fit(search, seconds, *arguments, **others):
        clock = iter(range(10_000))
        with monkeypatch.context() as patched:
            patched.setattr(stages, "time", SimpleNamespace(monotonic=lambda: next(clock)))
            with pytest.warns(SearchStoppedWarning) as told:
                search.set_params(time_budget=seconds).fit(*arguments, **others)
        assert len(told) == 1
        return search

    return fit


def assert_same(one, other):
    """That two searches have the same results, to the last bit, but for the time they took."""
    assert one.cv_results_.keys() == other.cv_results_.keys()
    for name, column in one.cv_results_.items():
        if name == "params":
            assert column == other.cv_results_[name]
        elif not name.endswith("_time"):
            np.testing.assert_array_equal(column, other.cv_results_[name], err_msg=name)
    assert one.best_index_ == other.best_index_
    assert one.corrected_score_ == other.corrected_score_
    assert one.corrected_interval_ == other.corrected_interval_
    best, same = one.best_estimator_, other.best_estimator_
    np.testing.assert_array_equal(best.dual_coef_, same.dual_coef_)


def test_when_the_time_is_over_the_best_so_far_is_selected(stop_after):
    whole = SpanSearch(SpanSVC(), GRID).fit(X, Y)
    assert (whole.stopped_, whole.n_resumed_) == (None, 0)
    search = stop_after(SpanSearch(SpanSVC(), GRID), "20 sec", X, Y)
    assert search.stopped_ == "budget"
    results = search.cv_results_
    scores = results["mean_test_score"]
    done = ~np.isnan(scores)
    assert 15 <= done.sum() <= 21
    assert results["params"] == whole.cv_results_["params"]
    np.testing.assert_array_equal(scores[done], whole.cv_results_["mean_test_score"][done])
    assert scores[search.best_index_] == search.best_score_ == scores[done].max()
    assert search.best_params_ == results["params"][search.best_index_]
    assert (results["rank_test_score"][~done] == done.sum() + 1).all()
    assert np.isnan(results["mean_fit_time"][~done]).all()
    assert np.isfinite(search.corrected_score_)
    assert search.predict(X).shape == Y.shape


def test_candidates_that_were_not_evaluated_are_no_failures(stop_after):
    search = SpanSearch(SVC(), GRID, scoring=["accuracy", "f1"], refit="f1", error_score=0.0)
    stop_after(search, 20, X, Y)
    for name in ("accuracy", "f1"):
        assert np.isnan(search.cv_results_[f"mean_test_{name}"]).sum() > 15
    assert SpanSearch(SVC(), GRID, time_budget="1h").fit(X, Y).stopped_ is None


def test_folds_of_a_candidate_count_when_all_are_there(stop_after):
    search = stop_after(SpanSearch(SpanSVC(), GRID, cv=3), 25, X, Y)
    splits = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(3)])
    known = ~np.isnan(splits)
    np.testing.assert_array_equal(known.all(axis=0), known.any(axis=0))
    assert 0 < known[0].sum() < 40


WAYS = {
    "verified": {},
    "folds": {"cv": 3},
    "folds of one model": {"cv": 3, "method": "loo"},
    "ranking": {"scoring": "roc_auc"},
    "stages": {"coarse_first": True},
    "threads": {"n_jobs": 2},
    "wider": {"widen": ["C", "gamma"], "scoring": "accuracy"},
}


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_a_search_goes_on_to_the_same_end(stop_after, tmp_path, options):
    whole = SpanSearch(SpanSVC(), GRID, **options).fit(X, Y)
    path = tmp_path / "search.npz"
    first = stop_after(SpanSearch(SpanSVC(), GRID, checkpoint=path, **options), 10, X, Y)
    n_done = int((~np.isnan(first.cv_results_["mean_test_score"])).sum())
    assert [one.name for one in tmp_path.iterdir()] == ["search.npz"]
    second = SpanSearch(SpanSVC(), GRID, checkpoint=str(path), **options).fit(X, Y)
    assert second.n_resumed_ == n_done
    assert not path.exists()
    assert_same(second, whole)


def test_drawn_candidates_are_resumed_too(stop_after, tmp_path):
    drawn = {"C": loguniform(0.1, 100), "gamma": [0.1, 1.0]}
    search = SpanRandomizedSearch(SpanSVC(), drawn, n_iter=30, random_state=0)
    whole = clone(search).fit(X, Y)
    search.set_params(checkpoint=tmp_path / "search.npz")
    stop_after(clone(search), 10, X, Y)
    resumed = search.fit(X, Y)
    assert resumed.n_resumed_ > 0
    assert_same(resumed, whole)


def test_ctrl_c_writes_what_is_finished(monkeypatch, tmp_path):
    advance, calls = SearchProgress.advance, []

    def interrupt(self, *arguments):
        advance(self, *arguments)
        calls.append(1)
        if len(calls) == 10:
            raise KeyboardInterrupt

    search = SpanSearch(SpanSVC(), GRID, checkpoint=tmp_path / "search.npz")
    with monkeypatch.context() as patched:
        patched.setattr(SearchProgress, "advance", interrupt)
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, Y)
    assert search.stopped_ == "interrupted"
    assert len(search.cv_results_["params"]) == 10
    assert search.fit(X, Y).n_resumed_ == 10
    assert_same(search, SpanSearch(SpanSVC(), GRID).fit(X, Y))


@pytest.fixture
def interrupted(monkeypatch):
    """Interrupts a search when its first outcome arrives; gives those that were finished by then.

    A candidate takes a fiftieth of a second.
    """
    finished = []

    def slowly(*arguments):
        for outcome in evaluate(*arguments):
            time.sleep(0.02)
            finished.append(outcome)
            yield outcome

    def interrupt(*_):
        raise KeyboardInterrupt

    def fit(search):
        with monkeypatch.context() as patched:
            patched.setattr(dispatch, "evaluate", slowly)
            patched.setattr(SearchProgress, "advance", interrupt)
            with pytest.raises(KeyboardInterrupt):
                search.fit(X, Y)
        return finished

    return fit


def test_no_thread_works_on_after_ctrl_c(interrupted):
    before = set(threading.enumerate())
    n_finished = len(interrupted(SpanSearch(SpanSVC(), GRID, n_jobs=2)))
    assert 8 <= n_finished < 40
    deadline = time.monotonic() + 5.0
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.01)  # threads of joblib that have nothing to do end by themselves
    assert not set(threading.enumerate()) - before
    assert len(interrupted(SpanSearch(SpanSVC(), {"C": [1.0]}, n_jobs=2))) == n_finished + 1


def test_what_threads_have_finished_is_kept_at_ctrl_c(interrupted, tmp_path):
    whole = SpanSearch(SpanSVC(), GRID).fit(X, Y)
    search = SpanSearch(SpanSVC(), GRID, n_jobs=2, checkpoint=tmp_path / "search.npz")
    n_finished = len(interrupted(search))
    assert search.stopped_ == "interrupted"
    assert len(search.cv_results_["params"]) == n_finished
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.fit(X, Y).n_resumed_ == n_finished
    assert_same(search, whole)


#: A search that a real Ctrl-C interrupts, and the ordinary end of the program after it.
PROGRAM = """
import os, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # where a shell lets it be ignored
import joblib
from sklearn.datasets import make_moons
from sklearn.svm import SVC
from spansvm import SpanSearch
from spansvm.search.evaluation.progress import SearchProgress
advance = SearchProgress.advance
def begin(*arguments):
    if not timers:
        timers.append(threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)))
        timers[0].start()
    advance(*arguments)
SearchProgress.advance, timers = begin, []
if __name__ == "__main__":
    X, y = make_moons(2500, noise=0.4, random_state=0)
    grid = {"C": [0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5], "gamma": [0.1, 0.3, 1.0, 3.0, 10.0, 30.0]}
    search = SpanSearch(SVC(), grid, n_jobs=int(sys.argv[1]), coarse_first=True)
    try:
        with joblib.parallel_config(sys.argv[2]):
            search.fit(X, y)
    except KeyboardInterrupt:
        print("kept", len(search.cv_results_["params"]))
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
@pytest.mark.parametrize("how", [("1", "threading"), ("2", "threading"), ("2", "loky")])
def test_a_program_ends_as_usual_after_ctrl_c(tmp_path, how):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    command = [sys.executable, str(path), *how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert 0 < int(done.stdout.removeprefix("kept ")) < 42


def test_a_checkpoint_of_another_search_is_refused(stop_after, tmp_path):
    path = tmp_path / "search.npz"
    search = SpanSearch(SpanSVC(), GRID, cv=3, checkpoint=path)
    stop_after(clone(search), 10, X, Y)
    others = {
        "data": (search, X + 1.0),
        "estimator": (clone(search).set_params(estimator=SpanSVC(tol=1e-5)), X),
        "method": (clone(search).set_params(method="loo"), X),
        "cv": (clone(search).set_params(cv=4), X),
        "scoring": (clone(search).set_params(scoring="f1"), X),
        "grid": (clone(search).set_params(param_grid={"C": [1, 2]}), X),
    }
    for what, (other, rows) in others.items():
        with pytest.raises(ValueError, match=f"another search: its {what} is not the same"):
            other.fit(rows, Y)
    assert path.exists()
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(ValueError, match="cannot be read; delete it to begin anew"):
        search.fit(X, Y)


def test_what_cannot_be_recognised_later_is_refused(tmp_path):
    scorer = make_scorer(lambda truth, predicted: accuracy_score(truth, predicted))
    search = SpanSearch(SpanSVC(), GRID, scoring=scorer, checkpoint=tmp_path / "search.npz")
    with pytest.raises(TypeError, match="needs an estimator, data and scorers that can be pickled"):
        search.fit(X, Y)


def test_a_coarse_grid_comes_first(stop_after):
    values = list(2.0 ** np.arange(-8, 9))
    search = SpanSearch(SpanSVC(), {"C": values, "gamma": values}, coarse_first=True)
    stop_after(search, 8, X, Y)
    done = ~np.isnan(search.cv_results_["mean_test_score"])
    assert 5 <= done.sum() <= 9
    for name in ("param_C", "param_gamma"):
        tried = search.cv_results_[name][done].astype(float)
        assert {np.log2(value) % 4 for value in tried} == {0.0}


def test_an_axis_is_widened_where_the_best_candidate_is_at_its_end():
    data, labels = load_breast_cancer(return_X_y=True)
    model = make_pipeline(MinMaxScaler(), SVC())
    grid = {"svc__C": [0.01, 0.1, 1.0], "svc__gamma": [0.1, 1.0, 10.0]}
    search = SpanSearch(model, grid, widen=["svc__C"]).fit(data, labels)
    (widened,) = search.widened_
    assert (widened.parameter, widened.side) == ("svc__C", "above")
    assert widened.values == pytest.approx([10.0, 100.0])
    assert len(search.cv_results_["params"]) == 15
    assert search.best_params_["svc__C"] >= 1.0
    inside = SpanSearch(model, {**grid, "svc__C": [1.0, 10.0, 1e4]}, widen=["svc__C"])
    assert inside.fit(data, labels).widened_ == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_budget": 0}, "time_budget must be a positive number of seconds, a string such"),
        ({"time_budget": True}, "time_budget must be"),
        ({"time_budget": "soon"}, "time_budget must be .* got 'soon'"),
        ({"checkpoint": 3}, "checkpoint must be None or the path of a file; got 3"),
        ({"checkpoint": "nowhere/search.npz"}, "checkpoint must be .* in a folder that exists"),
        ({"coarse_first": "yes"}, "coarse_first must be True or False"),
        ({"widen": "C"}, "widen must be a list of parameters of the grid; got 'C'"),
        ({"widen": None}, "widen must be a list of parameters of the grid; got None"),
        ({"widen": ["degree"]}, "widen names 'degree', so param_grid must have a list of positive"),
        ({"widen": ["C"], "param_grid": [{"C": [1]}, {"C": [2]}]}, "that is a single dict of lis"),
    ],
)
def test_other_values_are_refused(options, message):
    search = SpanSearch(SpanSVC(), GRID).set_params(**options)
    with pytest.raises(ValueError, match=message):
        search.fit(X, Y)


def test_parameters_are_kept_as_they_are(tmp_path):
    given = {"time_budget": "2 min", "checkpoint": tmp_path / "a", "widen": ["C"]}
    search = clone(SpanSearch(SpanSVC(), GRID, **given))
    assert {name: search.get_params()[name] for name in given} == given
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, Y)
    assert {name: search.get_params()[name] for name in given} == given
