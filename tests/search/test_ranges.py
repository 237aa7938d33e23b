"""Searches over ranges, and by what an Optuna study proposes."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import loguniform, norm, uniform
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from spansvm import SpanSearch
from spansvm.search.candidates.ranges import StudyPlan

optuna = pytest.importorskip("optuna", reason="optuna is not installed")
Float, Int = optuna.distributions.FloatDistribution, optuna.distributions.IntDistribution
Categorical = optuna.distributions.CategoricalDistribution
EXAMPLE = Path(__file__).parents[2] / "examples" / "optuna_search.py"

RANGES = {"C": Float(0.1, 1000.0, log=True), "gamma": Float(1e-3, 10.0, log=True)}


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return scale(X), y


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def study_of(seed=0):
    sampler = optuna.samplers.TPESampler(seed=seed)
    return optuna.create_study(direction="maximize", sampler=sampler)


def column(search, name):
    return np.array([one[name] for one in search.cv_results_["params"]])


def test_ranges_of_scipy_and_of_optuna_are_the_same(flowers):
    theirs = {"C": loguniform(0.1, 1000.0), "gamma": loguniform(1e-3, 10.0)}
    one, other = SpanSearch(SVC(), RANGES).fit(*flowers), SpanSearch(SVC(), theirs).fit(*flowers)
    np.testing.assert_allclose(column(one, "C"), column(other, "C"))
    np.testing.assert_allclose(column(one, "gamma"), column(other, "gamma"))
    assert one.best_score_ == other.best_score_


def test_candidates_lie_within_their_ranges_and_are_as_many_as_allowed(flowers):
    search = SpanSearch(SVC(), RANGES, n_trials=45).fit(*flowers)
    assert 32 < len(search.cv_results_["params"]) <= 45
    for name, own in RANGES.items():
        values = column(search, name)
        assert own.low <= values.min()
        assert values.max() <= own.high * (1 + 1e-12)


def test_the_score_is_that_of_a_grid_over_the_same_ranges(flowers):
    search = SpanSearch(SVC(), RANGES).fit(*flowers)
    grid = {"C": np.geomspace(0.1, 1000.0, 20), "gamma": np.geomspace(1e-3, 10.0, 20)}
    fine = SpanSearch(SVC(), grid, corrected=False).fit(*flowers)
    assert search.best_score_ >= 0.99 * fine.best_score_
    assert search.corrected_score_ <= search.best_score_


def test_ranges_may_be_linear_whole_or_lists(flowers):
    X, y = flowers
    ranges = {
        "svc__C": uniform(1.0, 9.0),
        "svc__gamma": [0.1, 1.0],
        "svc__degree": Int(2, 4),
        "svc__kernel": Categorical(["rbf", "poly"]),
    }
    search = SpanSearch(make_pipeline(StandardScaler(), SVC()), ranges, n_trials=60).fit(X, y)
    C = column(search, "svc__C")
    assert (C.min(), C.max()) == (1.0, 10.0)
    assert set(column(search, "svc__gamma")) == {0.1, 1.0}
    assert set(column(search, "svc__degree")) <= {2, 3, 4}
    assert set(column(search, "svc__kernel")) == {"rbf", "poly"}


def test_a_stepped_range_has_its_steps_only(flowers):
    search = SpanSearch(SVC(), {"C": Float(1.0, 3.0, step=0.5)}).fit(*flowers)
    assert sorted(set(column(search, "C"))) == [1.0, 1.5, 2.0, 2.5, 3.0]


def test_a_study_proposes_and_is_told_the_score_of_exact_leave_one_out(flowers):
    X, y = flowers
    study = study_of()
    search = SpanSearch(SVC(), RANGES, study=study, n_trials=12).fit(X, y)
    assert [trial.params for trial in study.trials] == search.cv_results_["params"]
    told = [trial.value for trial in study.trials]
    np.testing.assert_allclose(told, search.cv_results_["mean_test_score"])
    exact = cross_val_score(SVC(**study.best_params, tol=1e-6), X, y, cv=LeaveOneOut()).mean()
    assert study.best_value == pytest.approx(exact, abs=1e-12)
    assert search.corrected_score_ <= search.best_score_


def test_the_study_sees_what_it_would_see_if_it_optimised_itself(flowers):
    X, y = flowers

    def objective(trial):
        params = {
            name: trial.suggest_float(name, own.low, own.high, log=True)
            for name, own in RANGES.items()
        }
        return SpanSearch(SVC(), {n: [v] for n, v in params.items()}).fit(X, y).best_score_

    alone, asked = study_of(3), study_of(3)
    alone.optimize(objective, n_trials=12)
    SpanSearch(SVC(), RANGES, study=asked, n_trials=12).fit(X, y)
    assert [one.params for one in asked.trials] == [one.params for one in alone.trials]


def test_a_sampler_is_that_of_a_new_study(flowers):
    asked = study_of(3)
    SpanSearch(SVC(), RANGES, study=asked, n_trials=12).fit(*flowers)
    sampler = optuna.samplers.TPESampler(seed=3)
    search = SpanSearch(SVC(), RANGES, study=sampler, n_trials=12).fit(*flowers)
    assert search.cv_results_["params"] == [one.params for one in asked.trials]


def test_a_study_ends_when_its_time_is_over(flowers):
    study = study_of()
    search = SpanSearch(SVC(), RANGES, study=study, n_trials=50, time_budget=1e-9).fit(*flowers)
    assert [one.value for one in study.trials] == [search.best_score_]


def test_a_study_goes_on_where_it_was(flowers):
    study = study_of()
    for n_before in (0, 5):
        assert len(study.trials) == n_before
        SpanSearch(SVC(), RANGES, study=study, n_trials=5).fit(*flowers)


def test_a_search_over_ranges_can_be_cloned_and_fitted_again(flowers):
    search = SpanSearch(SVC(), RANGES, n_trials=20)
    first = clone(search).fit(*flowers)
    again = first.fit(*flowers)
    assert again.best_params_ == search.fit(*flowers).best_params_


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"param_grid": {"C": [1.0]}, "n_trials": 5}, "n_trials is for ranges and studies"),
        ({"param_grid": RANGES, "n_trials": 0}, "n_trials must be a whole number of at least 1"),
        ({"param_grid": RANGES, "widen": ["C"]}, "widen is for grids"),
        ({"param_grid": {"C": norm(1.0)}}, "The distribution of 'C' has no ends"),
    ],
)
def test_wrong_arguments_are_named(flowers, arguments, message):
    with pytest.raises(ValueError, match=message):
        SpanSearch(SVC(), **arguments).fit(*flowers)


def test_what_cannot_be_done_with_a_study_is_said(flowers, tmp_path):
    study = study_of()
    with pytest.raises(ValueError, match="checkpoint is for searches without a study"):
        SpanSearch(SVC(), RANGES, study=study, checkpoint=tmp_path / "one.npz").fit(*flowers)
    with pytest.raises(ValueError, match="What a study will propose is not known"):
        SpanSearch(SVC(), RANGES, study=study).forecast(*flowers)
    with pytest.raises(ValueError, match="direction='maximize'"):
        StudyPlan(optuna.create_study(direction="minimize"), RANGES, 3)


def test_other_estimators_need_lists(flowers):
    with pytest.raises(TypeError, match="List values instead"):
        SpanSearch(RandomForestClassifier(), {"max_depth": Int(1, 5)}).fit(*flowers)


def test_the_example_runs(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert "study: 60 candidates" in printed
    assert "the study itself: 60 trials" in printed
