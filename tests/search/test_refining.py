"""Candidates that follow from the scores of those before, on functions whose best is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from spansvm.search.candidates.grid import select
from spansvm.search.candidates.refining import Axis, Choices, Refinement

C = Axis("C", 1.0, (-4, -2, 0, 2, 4, 6, 8, 10), (2.0, 1.0))
GAMMA = Axis("gamma", 0.25, (-7, -4, -1, 2), (3.0, 1.0))


def searched(plan, function, error=0.0):
    """The candidates of a plan, until it proposes no more, and their values of a function."""
    candidates = list(plan.candidates)
    while True:
        values = [function(**one) for one in candidates]
        more = plan.more(np.array(values), int(np.argmax(values)), error)
        if not more:
            return candidates, np.array(values)
        candidates += more


def hill(log_C, log_gamma):
    """A function of C and gamma with its best at these powers of two."""
    return lambda C, gamma: -((np.log2(C) - log_C) ** 2) - (np.log2(gamma) - log_gamma) ** 2


@pytest.mark.parametrize("place", [(3, -4), (-1, -1), (6, -8), (9, 0)])
def test_the_top_of_a_hill_is_found(place):
    candidates, values = searched(Refinement(C, GAMMA), hill(*place))
    best = candidates[int(np.argmax(values))]
    assert (np.log2(best["C"]), np.log2(best["gamma"])) == place
    assert len(candidates) <= 80
    assert len({one["gamma"] for one in candidates}) <= 8


def test_no_candidate_is_proposed_twice():
    candidates, _ = searched(Refinement(C, GAMMA), hill(6, -8))
    assert len({tuple(one.values()) for one in candidates}) == len(candidates)


def test_an_axis_is_widened_while_that_is_better_by_more_than_the_error():
    function = hill(16, -3)
    found, _ = searched(Refinement(C, GAMMA), function, error=0.1)
    assert max(one["C"] for one in found) >= 2.0**16
    held_back, _ = searched(Refinement(C, GAMMA), function, error=1e6)
    assert 2.0**10 < max(one["C"] for one in held_back) <= 2.0**16


def test_limits_of_an_axis_are_kept():
    limited = Axis("C", 1.0, C.exponents, C.steps, limits=(-4.0, 11.0))
    found, _ = searched(Refinement(limited, GAMMA), hill(16, -3))
    assert max(one["C"] for one in found) == 2.0**11


def test_there_are_never_more_trials_than_allowed_and_few_lie_in_the_middle():
    for n_trials in (1, 5, 31, 40):
        assert len(searched(Refinement(C, GAMMA, n_trials=n_trials), hill(12, -9))[0]) <= n_trials
    (middle,) = Refinement(C, GAMMA, n_trials=1).candidates
    assert middle["C"] in (4.0, 8.0, 16.0)
    assert middle["gamma"] in (2.0**-3, 2.0**-6)


def test_other_parameters_are_tried_around_the_best():
    def function(C, gamma, epsilon, kind):
        return hill(3, -4)(C, gamma) - (np.log2(epsilon) - 2) ** 2 + (kind == "b")

    others = [Axis("epsilon", 1.0, (-4, -2, 0), (2.0, 1.0)), Choices("kind", ("a", "b"), False)]
    candidates, values = searched(Refinement(C, GAMMA, others, n_trials=120), function)
    best = candidates[int(np.argmax(values))]
    assert best == {"C": 8.0, "gamma": 2.0**-4, "epsilon": 4.0, "kind": "b"}


def test_kernels_are_counted_with_all_that_changes_them():
    degree = Choices("degree", (3, 2), ordered=False)
    plan = Refinement(C, GAMMA, [degree], of_kernel=["degree"])
    candidates, _ = searched(plan, lambda C, gamma, degree: hill(3, -4)(C, gamma))
    assert plan.n_kernels == len({(one["gamma"], one["degree"]) for one in candidates}) <= 8


def test_nothing_is_added_to_listed_values():
    plan = Refinement(Choices("C", (1.0, 2.0)), Choices("gamma", (0.5,)))
    assert searched(plan, hill(9, 9))[0] == [{"C": 1.0, "gamma": 0.5}, {"C": 2.0, "gamma": 0.5}]


def test_scores_that_are_unknown_end_the_widening_not_the_search():
    plan = Refinement(C, GAMMA)
    assert plan.more(np.full(32, np.nan), 0, np.nan)


def test_ties_around_go_to_the_candidate_whose_surroundings_are_best():
    rng = np.random.default_rng(0)
    places = rng.uniform(-3, 3, (40, 2))
    scores = np.round(rng.uniform(0.5, 0.9, 40), 2)
    scores[[4, 17, 30]] = 0.95
    candidates = [{"C": 2.0**a, "gamma": 2.0**b} for a, b in places]
    weight = rbf_kernel(places, gamma=0.5)
    around = (weight @ scores / weight.sum(axis=1))[[4, 17, 30]]
    expected = [4, 17, 30][int(np.argmax(around))]
    assert select(scores, np.full(40, np.nan), candidates, "around") == expected
    with_failed = np.append(scores, np.nan)
    candidates.append({"C": 2.0 ** places[4, 0], "gamma": 2.0 ** places[4, 1]})
    assert select(with_failed, np.full(41, np.nan), candidates, "around") == expected


def test_surroundings_do_not_extend_to_other_kinds_of_candidates():
    kinds = [{"C": 1.0, "class_weight": None}, {"C": 2.0, "class_weight": None}]
    kinds += [{"C": 1.0, "class_weight": "balanced"}, {"C": 2.0, "class_weight": "balanced"}]
    scores = np.array([0.9, 0.1, 0.9, 0.5])
    assert select(scores, np.zeros(4), kinds, "around") == 2
