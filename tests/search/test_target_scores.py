"""Scores of targets without the scorer: its digits, and its slopes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer

from spansvm.search.scoring.target_scores import TargetScores, own_digits, target_score

NAMES = [
    "r2",
    "neg_mean_squared_error",
    "neg_root_mean_squared_error",
    "neg_mean_absolute_error",
]


class Given(RegressorMixin, BaseEstimator):
    """A regressor with these predictions."""

    def __init__(self, values):
        self.values = values

    def predict(self, X):
        return self.values


def problems(n_problems=60):
    rng = np.random.default_rng(0)
    for number in range(n_problems):
        n = int(rng.integers(2, 200))
        target = rng.normal(size=n) * 10.0 ** rng.integers(-6, 7) + rng.normal() * 10.0
        if number % 3 == 0:
            target = np.round(target).astype(np.intp)
        yield target, target + rng.normal(size=n) * 10.0 ** rng.integers(-3, 3)


@pytest.mark.parametrize("name", NAMES)
def test_scores_of_folds_have_the_digits_of_the_scorer(name):
    scorer = get_scorer(name)
    ours = own_digits(scorer)
    compared = 0
    for target, predicted in problems():
        value = ours(target, predicted)
        if value is not None:
            assert value == scorer(Given(predicted), target[:, None], target)
            compared += 1
    assert compared > 50


def test_where_the_scorer_would_warn_it_is_asked():
    r2 = own_digits(get_scorer("r2"))
    assert r2(np.array([1.0]), np.array([2.0])) is None
    assert r2(np.array([1.0, 1.0]), np.array([2.0, 3.0])) is None


@pytest.mark.parametrize("name", [*NAMES, "explained_variance"])
def test_scores_of_drawn_rows_are_those_of_the_scorer(name):
    scorer, rng = get_scorer(name), np.random.default_rng(1)
    score, limits = target_score(scorer)
    for target, predicted in problems(20):
        if target.size < 10:
            continue
        scores = TargetScores([{"predict": predicted}], target.astype(float), None, score, limits)
        counts = rng.multinomial(target.size, np.full(target.size, 1 / target.size), size=3)
        expected = [
            scorer(Given(np.repeat(predicted, own)), np.repeat(target, own), np.repeat(target, own))
            for own in counts
        ]
        np.testing.assert_allclose(scores(counts)[0], expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", [*NAMES, "explained_variance"])
def test_contributions_give_the_standard_error_of_drawn_rows(name):
    rng = np.random.default_rng(2)
    target = rng.normal(size=400) * 3.0 + 5.0
    predicted = target + rng.normal(size=400)
    score, limits = target_score(get_scorer(name))
    scores = TargetScores([{"predict": predicted}], target, None, score, limits)
    own = scores.contributions()
    drawn = scores(rng.multinomial(400, np.full(400, 1 / 400), size=4000))[0]
    assert np.sqrt(own @ own) == pytest.approx(drawn.std(), rel=0.06)
    assert abs(own.sum()) < 1e-6


def test_scorers_with_settings_are_not_known():
    assert target_score(get_scorer("neg_median_absolute_error")) is None
    assert target_score(get_scorer("accuracy")) is None
