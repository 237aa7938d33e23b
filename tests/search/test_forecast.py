"""What a search will take, before it begins, and the time left while it runs."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC
from spansvm.common.memory import DOUBLE, NONE, PARTS, SINGLE, gram_form
from spansvm.search.candidates.subsets import stratified_rows
from spansvm.search.evaluation import forecast
from spansvm.search.evaluation.forecast import Forecast
from spansvm.search.evaluation.progress import SearchProgress, duration
from tests.problems import ringnorm

GRID = {"C": list(2.0 ** np.arange(-3.0, 7.0)), "gamma": [0.01, 0.1]}


@pytest.fixture
def small_trial(monkeypatch):
    """Trials for small searches too, on few rows, so that a test takes no time."""
    monkeypatch.setattr(forecast, "_WORTH_A_TRIAL", 0)
    monkeypatch.setattr(forecast, "_FIRST", 50)
    monkeypatch.setattr(forecast, "_SHARE", 1000.0)


def expected(costs, seconds):
    return Forecast(1000, seconds, np.asarray(costs, dtype=float), 1, DOUBLE, 8e6, 2.0)


# Subsets ------------------------------------------------------------------------------


def test_a_subset_has_every_class_in_its_share():
    y = np.repeat(["a", "b", "c"], [600, 300, 100])
    rows = stratified_rows(y, 50)
    assert rows.size == 50
    assert np.unique(y[rows], return_counts=True)[1].tolist() == [30, 15, 5]
    assert (np.diff(rows) > 0).all()


def test_rounding_leaves_no_row_out():
    y = np.repeat([0, 1, 2], [34, 33, 33])
    assert stratified_rows(y, 50).size == 50
    assert stratified_rows(y, 500).tolist() == list(range(100))


def test_a_rare_class_keeps_its_fewest_rows():
    y = np.repeat([0, 1, 2], [9990, 8, 2])
    rows = stratified_rows(y, 100, fewest=5)
    assert np.unique(y[rows], return_counts=True)[1].tolist() == [100, 5, 2]


def test_larger_subsets_contain_smaller_ones_and_the_seed_draws_them():
    y = np.arange(1000) % 3
    small, large = (set(stratified_rows(y, n, seed=1).tolist()) for n in (60, 240))
    assert small < large
    assert small != set(stratified_rows(y, 60, seed=2).tolist())


# Memory -------------------------------------------------------------------------------


def test_the_form_of_a_matrix_follows_from_rows_and_budget():
    assert gram_form(1000, "8 MB") == (DOUBLE, 8e6)
    assert gram_form(1000, "7.9 MB") == (SINGLE, 4e6)
    assert gram_form(1000, "3.9 MB") == (PARTS, 3.9e6)


# The forecast -------------------------------------------------------------------------


def test_a_search_that_is_over_in_no_time_has_no_forecast():
    X, y = ringnorm(100)
    assert SpanSearch(SpanSVC(), GRID).forecast(X, y) is None


def test_every_candidate_has_a_cost_and_together_they_are_the_search(small_trial):
    X, y = ringnorm(400)
    found = SpanSearch(SpanSVC(), GRID).forecast(X, y)
    assert found.costs.shape == (20,)
    assert (found.costs > 0).all()
    assert found.costs.sum() == pytest.approx(found.seconds)
    assert found.n_rows == 400
    assert (found.gram, found.gram_bytes) == (DOUBLE, 8 * 400**2)


@pytest.mark.parametrize("method", ["kfold", "loo", "span_bound"])
def test_other_methods_are_tried_as_they_are(small_trial, method):
    X, y = ringnorm(200)
    model = make_pipeline(MinMaxScaler(), SVC())
    grid = {f"svc__{name}": values for name, values in GRID.items()}
    found = SpanSearch(model, grid, method=method).forecast(X, y, sample_weight=np.ones(200))
    assert found.seconds > 0


def test_folds_are_counted(small_trial):
    X, y = ringnorm(200)
    few, many = (
        SpanSearch(SpanSVC(), GRID, method="kfold", cv=cv).forecast(X, y).seconds for cv in (2, 40)
    )
    assert many > few


def test_a_matrix_that_does_not_fit_is_in_parts(small_trial):
    X, y = ringnorm(400)
    found = SpanSearch(SpanSVC(), GRID, gram_budget="100 kB").forecast(X, y)
    assert found.gram == PARTS
    assert found.gram_bytes == 1e5


def test_a_linear_kernel_on_many_rows_has_no_matrix(small_trial):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=4000) > 0
    found = SpanSearch(SpanSVC(kernel="linear"), {"C": [0.1, 1]}).forecast(X, y)
    assert (found.gram, found.gram_bytes) == (NONE, 0.0)


def test_what_cannot_be_trained_has_no_forecast_and_its_error_is_that_of_the_search(small_trial):
    X, y = ringnorm(200)
    search = SpanSearch(SpanSVC(class_weight={y[0]: 0.0}), {"C": [100.0]})
    assert search.forecast(X, y) is None
    with pytest.raises(ValueError, match="have zero weight"):
        search.fit(X, y)


def test_a_forecast_changes_no_result(small_trial):
    X, y = ringnorm(300)
    plain, told = (SpanSearch(SpanSVC(), GRID) for _ in range(2))
    told.forecast(X, y)
    scores = [search.fit(X, y).cv_results_["mean_test_score"] for search in (plain, told)]
    np.testing.assert_array_equal(*scores)


def test_fewer_rows_and_candidates_take_less():
    found = expected(np.ones(100), 100.0)
    assert found.seconds_for(1000) == 100.0
    assert found.seconds_for(500) == pytest.approx(25.0)
    assert found.seconds_for(1000, 10) == pytest.approx(10.0)


# The time left ------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("spansvm.search.evaluation.progress.time.monotonic", lambda: now[0])
    return now


def test_costly_candidates_at_the_start_do_not_mislead(clock, capsys):
    costs = np.concatenate((np.full(10, 10.0), np.full(90, 0.1)))
    with SearchProgress(100, shown=True, forecast=expected(costs, costs.sum())) as progress:
        assert progress.seconds_left() == pytest.approx(109.0)
        for candidate in range(5):
            clock[0] += 10.0
            progress.advance(candidate, 0.5)
        assert progress.seconds_left() == pytest.approx(59.0)
    assert "5/100 candidates, best 0.5000, about 60 seconds left" in capsys.readouterr().err


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_a_wrong_forecast_is_soon_corrected(clock, factor):
    costs = np.ones(1000)
    with SearchProgress(1000, shown=True, forecast=expected(costs, 1000 * factor)) as progress:
        for candidate in range(200):
            clock[0] += 1.0
            progress.advance(candidate, 0.5)
        left = progress.seconds_left()
    assert 400 < left < 1600


def test_the_time_left_passes_while_a_candidate_is_trained(clock):
    with SearchProgress(10, shown=True, forecast=expected(np.ones(10), 100.0)) as progress:
        clock[0] = 30.0
        assert progress.seconds_left() == pytest.approx(70.0)
        clock[0] = 300.0
        assert progress.seconds_left() == 0.0


def test_a_forecast_of_another_search_is_not_used(clock):
    with SearchProgress(10, shown=True, forecast=expected(np.ones(5), 100.0)) as progress:
        assert progress.seconds_left() is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 second"), (12.3, "12 seconds"), (47, "45 seconds"), (100, "2 minutes"),
        (61 * 41, "40 minutes"), (3600 * 1.6, "2 hours"), (3600 * 23, "25 hours"),
        (86400 * 3.2, "3 days"),
    ],
)  # fmt: skip
def test_times_are_rounded_as_an_estimate_deserves(seconds, words):
    assert duration(seconds) == words


def test_a_search_without_results_for_long_still_tells_that_it_runs(monkeypatch, capsys):
    monkeypatch.setattr("spansvm.search.evaluation.progress._FIRST_LINE", 0.01)
    with SearchProgress(10, shown=True, forecast=expected(np.ones(10), 100.0)):
        time.sleep(0.3)
    first, *_ = capsys.readouterr().err.splitlines()
    assert first == "0/10 candidates, best -, about 2 minutes left"


def test_the_time_left_of_a_bar_does_not_jump(clock):
    costs = np.concatenate((np.full(50, 0.1), np.full(50, 1e-3)))
    with SearchProgress(100, shown=True, forecast=expected(costs, 5.0)) as progress:
        shown, raw = [], []
        for candidate in range(100):  # the second half is far slower than forecast
            for _ in range(4):
                clock[0] += 0.5 if candidate >= 50 else 0.025
                shown.append(progress.steady_seconds_left())
                raw.append(progress.seconds_left())
            progress.advance(candidate, 0.5)
        steps = np.abs(np.diff(shown))
        # In half a second it comes a twentieth nearer to what is expected by then.
        assert (steps <= 0.5 + 0.05 * np.max(raw)).all()
        assert steps.max() < np.abs(np.diff(raw)).max()
        clock[0] += 100.0
        assert progress.steady_seconds_left() == pytest.approx(progress.seconds_left(), abs=1e-3)


def test_more_candidates_take_more_time(clock):
    with SearchProgress(10, shown=True, forecast=expected(np.ones(10), 100.0)) as progress:
        for candidate in range(10):
            clock[0] += 10.0
            progress.advance(candidate, 0.5)
        assert progress.seconds_left() == 0.0
        progress.extend(5)
        assert progress.seconds_left() == pytest.approx(50.0)


def test_slow_candidates_at_the_end_are_not_said_to_be_over_at_once(clock):
    costs = np.concatenate((np.full(80, 1.0), np.full(20, 1e-3)))
    with SearchProgress(100, shown=True, forecast=expected(costs, 80.0)) as progress:
        for candidate in range(90):
            clock[0] += 1.0 if candidate < 80 else 10.0
            progress.advance(candidate, 0.5)
        # Ten more at ten seconds each would be a hundred.
        assert progress.seconds_left() >= 25.0


def test_a_candidate_counts_when_all_its_folds_are_done(capsys):
    with SearchProgress(3, 5, shown=True) as progress:
        for fold in range(5):
            progress.advance(0, 0.1 * fold)
        progress.advance(1, 0.9)
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .startswith("1/3 candidates (6/15 fits), best 0.2000")
    )
