"""How candidates lie to each other, and which of equal ones is chosen."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from sklearn.model_selection import ParameterGrid

from spansvm import SpanSearch, SpanSVC
from spansvm.search.candidates.grid import (
    chains,
    full_grids,
    list_candidates,
    neighbourhood_scores,
    select,
)


def lattice(*lengths):
    return list(ParameterGrid({f"p{i}": list(range(n)) for i, n in enumerate(lengths)}))


def test_chains_visit_every_candidate_once_and_only_take_small_steps():
    candidates = lattice(33, 33)
    shuffled = [candidates[i] for i in np.random.default_rng(0).permutation(len(candidates))]
    found = chains(shuffled)
    assert sorted(i for chain in found for i in chain) == list(range(len(candidates)))
    for chain in found:
        steps = [
            sum(abs(shuffled[a][name] - shuffled[b][name]) for name in ("p0", "p1"))
            for a, b in pairwise(chain)
        ]
        assert set(steps) == {1}
    assert len(found) == 33


def test_short_rows_are_joined_and_long_ones_cut():
    joined = chains(lattice(5, 40, 2))
    assert min(map(len, joined)) >= 24
    assert [len(chain) for chain in chains(lattice(100))] == [34, 33, 33]


def test_chains_do_not_cross_what_is_not_a_number():
    candidates = list(ParameterGrid({"class_weight": [None, "balanced"], "C": range(30)}))
    for chain in chains(candidates):
        assert len({str(candidates[i]["class_weight"]) for i in chain}) == 1


@pytest.mark.parametrize(
    "param_grid", [{"C": [1, 2]}, [{"C": np.array([1, 2])}], [{"C": range(3)}]]
)
def test_grids_are_expanded(param_grid):
    assert list_candidates(param_grid) == list(ParameterGrid(param_grid))


def test_candidates_are_taken_as_they_are():
    given = [{"C": 1, "class_weight": {0: 1, 1: 2}}, {"C": 2, "kernel": "rbf"}]
    assert list_candidates(given) == given
    assert list_candidates(iter(given)) == given


def test_the_middle_of_a_plateau_is_chosen():
    candidates = lattice(9, 9)
    scores = np.array([float(abs(c["p0"] - 4) <= 3 and abs(c["p1"] - 4) <= 3) for c in candidates])
    hinge = np.linspace(1, 0, scores.size)
    chosen = candidates[select(scores, hinge, candidates, "plateau")]
    assert chosen == {"p0": 4, "p1": 4}
    assert candidates[select(scores, hinge, candidates, "hinge")] == {"p0": 7, "p1": 7}
    assert candidates[select(scores, hinge, candidates, "first")] == {"p0": 1, "p1": 1}


def test_a_better_score_beats_any_surroundings():
    candidates = lattice(9)
    scores = np.array([0.0, 0.6, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 0.5])
    assert select(scores, np.zeros(9), candidates, "plateau") == 1


def test_surroundings_are_a_gaussian_of_one_to_two_steps():
    candidates = lattice(33, 11)
    scores = np.random.default_rng(0).random(len(candidates))
    table = scores.reshape(33, 11)
    options = {"sigma": (2.0, 1.0), "mode": "constant", "truncate": 16.0}
    expected = gaussian_filter(table, **options) / gaussian_filter(np.ones_like(table), **options)
    found = neighbourhood_scores(scores, full_grids(candidates))
    np.testing.assert_allclose(found, expected.ravel(), rtol=1e-12)


def test_failed_candidates_do_not_count_and_are_not_chosen():
    candidates = lattice(7)
    scores = np.array([np.nan, 1.0, 1.0, 1.0, np.nan, 1.0, 0.0])
    assert select(scores, np.zeros(7), candidates, "plateau") == 1
    around = neighbourhood_scores(scores, full_grids(candidates))
    assert around[1] > around[3] > around[5]


def test_grids_do_not_touch_across_names_and_categories():
    candidates = [{"kernel": k, "C": c} for k in ("rbf", "linear") for c in range(3)]
    scores = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    assert select(scores, np.zeros(6), candidates, "plateau") == 0
    around = neighbourhood_scores(scores, full_grids(candidates))
    np.testing.assert_allclose(around[:3], 1.0)
    assert (around[3:] < 0.6).all()


def test_without_a_grid_the_hinge_loss_decides():
    candidates = [{"C": 0.3, "gamma": 2.0}, {"C": 1.7, "gamma": 0.1}, {"C": 5.0, "gamma": 0.7}]
    scores, hinge = np.array([0.9, 0.9, 0.8]), np.array([0.5, 0.4, 0.1])
    assert np.isnan(neighbourhood_scores(scores, full_grids(candidates))).all()
    assert select(scores, hinge, candidates, "plateau") == 1


def test_class_weights_with_one_varying_entry_are_an_axis():
    candidates = [{"class_weight": {0: 1, 1: w}} for w in (1, 2, 4, 8, 16)]
    scores = np.array([0.0, 1.0, 1.0, 1.0, 0.0])
    assert select(scores, np.linspace(1, 0, 5), candidates, "plateau") == 2
    mixed = [{"class_weight": w} for w in (None, "balanced", {0: 1, 1: 2})]
    assert select(np.ones(3), np.array([3.0, 1.0, 2.0]), mixed, "plateau") == 1


@pytest.mark.parametrize("ties", ["plateau", "hinge"])
@pytest.mark.parametrize(
    "name", ["C", "svc__C", "weighting__positive", "spansvc__weighting__ceiling"]
)
def test_of_the_same_model_the_smallest_weights_are_chosen(ties, name):
    # From the sixth value on nothing changes any more, except by rounding.
    candidates = [{name: 10.0**k} for k in range(-2, 11)]
    scores = np.array([0.5, 0.6, 0.7, 0.8] + [0.9] * 9)
    hinge = np.array([0.9, 0.8, 0.7, 0.6, 0.3] + [0.2] * 8) - 1e-7 * np.arange(13)
    assert select(scores, hinge, candidates, ties) == 5
    assert select(scores, hinge, candidates, "first") == 4
    shuffled = np.random.default_rng(0).permutation(13)
    moved = select(scores[shuffled], hinge[shuffled], [candidates[i] for i in shuffled], ties)
    assert shuffled[moved] == 5


@pytest.mark.parametrize("ties", ["plateau", "hinge"])
def test_along_a_ridge_the_corner_of_the_grid_is_not_chosen(ties):
    # With a small gamma only C times gamma counts.
    candidates = list(
        ParameterGrid({"C": 10.0 ** np.arange(-2, 11), "gamma": 10.0 ** np.arange(-9, 4)})
    )
    product = np.array([np.log10(c["C"] * c["gamma"]) for c in candidates])
    gamma = np.array([c["gamma"] for c in candidates])
    scores = np.round(1 - 0.1 * np.abs(product) - np.minimum(gamma, 1.0), 1)
    hinge = 0.3 + 0.1 * np.abs(product) + gamma
    chosen = candidates[select(scores, hinge, candidates, ties)]
    # The losses at C = 1e3 and beyond differ by less than a hundredth.
    assert chosen["C"] == pytest.approx(1e3)
    assert chosen["gamma"] == pytest.approx(1e-3)


def test_the_rim_of_a_long_axis_is_chosen_only_if_nothing_inside_is_as_good():
    candidates = lattice(5, 9)
    scores = np.zeros(45)
    # At the rim all that is known of the surroundings is good.
    scores[[i for i, c in enumerate(candidates) if c["p1"] == 0]] = 1.0
    inside = candidates.index({"p0": 2, "p1": 4})
    hinge = np.linspace(0, 1, 45)
    assert candidates[select(scores, hinge, candidates, "plateau")]["p1"] == 0
    scores[inside] = 1.0
    assert select(scores, hinge, candidates, "plateau") == inside
    assert select(scores, hinge, candidates, "hinge") == 0
    short = lattice(4, 3)
    assert select(np.ones(12), np.linspace(0, 1, 12), short, "plateau") == 0


def test_other_models_do_not_give_way_to_smaller_weights():
    candidates = [{"kernel": k, "C": c} for k in ("rbf", "linear") for c in (1.0, 10.0)]
    scores, hinge = np.ones(4), np.array([0.3, 0.2, 0.2, 0.4])
    assert select(scores, hinge, candidates, "hinge") == 1
    assert select(scores, np.array([0.3, 0.2, 0.21, 0.4]), candidates, "hinge") == 1
    weights = list(ParameterGrid({"negative": [1, 2, 4], "positive": [1, 2, 4], "C": [1.0]}))
    hinge = np.where([w["negative"] >= w["positive"] for w in weights], 0.2, 0.5)
    assert weights[select(np.ones(9), hinge, weights, "hinge")] == {
        "negative": 1, "positive": 1, "C": 1.0,
    }  # fmt: skip
    assert select(np.ones(2), np.full(2, np.nan), [{"C": 2}, {"C": 1}], "plateau") == 0


def test_scores_are_equal_up_to_the_rounding_of_means():
    candidates = [{"C": 1.0}, {"C": 2.0}]
    for ties in ("plateau", "hinge"):
        assert select(np.array([0.3, 0.1 + 0.2]), np.array([0.1, 0.5]), candidates, ties) == 0
        # The mean over a thousand folds of a thousand rows, one more of them right.
        assert select(np.array([0.9, 0.9 + 1e-6]), np.array([0.1, 0.5]), candidates, ties) == 1


@pytest.mark.parametrize("ties", ["plateau", "hinge"])
@pytest.mark.parametrize("seed", range(5))
def test_rounding_of_the_loss_does_not_decide(ties, seed):
    candidates = list(ParameterGrid({"C": [0.1, 1.0, 10.0], "gamma": [1e-3, 1e-2, 0.1]}))
    noise = np.random.default_rng(seed).uniform(0.0, 1e-8, len(candidates))
    chosen = select(np.zeros(len(candidates)), 0.4 + noise, candidates, ties)
    assert candidates[chosen] == {"C": 0.1, "gamma": 1e-3}


def test_the_order_of_the_rows_does_not_decide_between_equal_models():
    for seed in (11, 23):
        X, y = np.random.default_rng(seed).normal(size=(50, 2)), (np.arange(50) < 10).astype(int)
        grid = {"C": 10.0 ** np.arange(-4, 5), "gamma": 10.0 ** np.arange(-5, 2)}
        search = SpanSearch(SpanSVC(), grid, refit=False)
        expected = search.fit(X, y).best_params_
        assert search.fit(X[::-1], y[::-1]).best_params_ == expected
        order = np.random.default_rng(99).permutation(50)
        assert search.fit(X[order], y[order]).best_params_ == expected
