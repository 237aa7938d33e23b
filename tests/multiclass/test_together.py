"""Machines trained in one compiled call, against each one trained by itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import FitFailedWarning
from sklearn.preprocessing import minmax_scale

from spansvm import SpanSearch, SpanSVC
from spansvm.algebra.qp import STALE
from spansvm.common.pairs import PairRows, labels
from spansvm.core.gaussian import to_gaussian
from spansvm.core.solver import rounding_level
from spansvm.core.votes import Votes
from spansvm.kernels.functions import resolve_kernel
from spansvm.kernels.pair_grams import Grams
from spansvm.machine.criteria import SolvedModel
from spansvm.machine.doubt import predict
from spansvm.machine.dual import solve_dual
from spansvm.multiclass.left_out import span_left_out
from spansvm.multiclass.machines import PairPaths, TrainedMachines
from spansvm.multiclass.path import Path
from spansvm.multiclass.together import Together

TOLERANCE = 1e-3


def problem(seed: int, n: int = 90, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes of unequal size, some rows twice, some of them with another label."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n, p=np.arange(1.0, classes + 1) / np.arange(1.0, classes + 1).sum())
    X = rng.standard_normal((n, 2)) + y[:, None]
    X[5:15], y[10:15] = X[20:30], y[25:30]
    y[:classes] = np.arange(classes)
    return X, y


def grams(X: np.ndarray, y: np.ndarray, gamma: float = 0.5, **options: object) -> Grams:
    return Grams(resolve_kernel("rbf", X, gamma=gamma, **options), X, y)


def agree(joint, alone) -> None:
    """That the models of both are the same, to the last digits that rounding leaves."""
    for one, other in zip(joint.models, alone, strict=True):
        a, b = one.solution, other.solution
        scale = max(1.0, float(b.C.max()))
        np.testing.assert_allclose(a.alpha, b.alpha, rtol=0.0, atol=1e-6 * scale)
        np.testing.assert_array_equal(a.in_bound, b.in_bound)
        np.testing.assert_array_equal(a.bounded, b.bounded)
        np.testing.assert_allclose(a.decision, b.decision, atol=1e-7)
        np.testing.assert_allclose(one.spans.squared, other.spans.squared, atol=1e-7)
        np.testing.assert_allclose(one.spans.decision, other.spans.decision, atol=1e-6)
        assert one.spans.errors == other.spans.errors
        assert one.n_empty == other.n_empty
    assert joint.n_in_bound == sum(int(m.solution.in_bound.sum()) for m in alone)
    assert joint.n_bounded == sum(int(m.solution.bounded.sum()) for m in alone)
    assert joint.n_empty == sum(model.n_empty for model in alone)
    np.testing.assert_allclose(joint.intercepts, [m.solution.intercept for m in alone], atol=1e-7)


def chain(y: np.ndarray, seed: int) -> list[np.ndarray]:
    """Weights up, down and by class, with rows that take no part in some."""
    rng = np.random.default_rng(seed)
    weights = [np.full(y.size, C) for C in (1e-3, 0.1, 1.0, 30.0, 1e3, 1e4, 2.0, 0.05)]
    weights += [np.where(y == 1, 8.0, 0.5), rng.uniform(0.1, 5.0, y.size)]
    absent = np.where(rng.random(y.size) < 0.2, 0.0, 1.0)
    absent[:3] = 1.0
    return [*weights, absent, 2.0 * absent, np.full(y.size, 50.0)]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("gamma", [0.05, 1.0, 20.0])
def test_machines_together_are_those_trained_alone(seed, gamma):
    X, y = problem(seed)
    several = grams(X, y, gamma)
    weights = chain(y, seed)
    paths = [
        Path(gram, signs) for gram, signs in zip(several.of_pairs, several.labels, strict=True)
    ]
    trained = PairPaths(several).train_each(weights, tol=TOLERANCE)
    for C, joint in zip(weights, trained, strict=True):
        alone = [
            path.step(C[rows], tol=TOLERANCE)
            for path, rows in zip(paths, several.pair_rows.rows, strict=True)
        ]
        agree(joint, alone)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gamma", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("drops", [False, True])
def test_what_left_out_values_may_be_off_by_is_found_in_training(seed, gamma, drops):
    X, y = problem(seed)
    several = grams(X, y, gamma)
    weights, known = chain(y, seed), 0
    options = {"tol": TOLERANCE, "drops": drops, "values": True}
    for joint in PairPaths(several).train_each(weights, **options):
        for pair, model in enumerate(joint.models):
            found = joint.prediction(pair)
            if found is None:  # one vector takes over, or the matrix is ill-conditioned
                continue
            known += 1
            alone = predict(model.gram, model.solution, model.spans)
            np.testing.assert_allclose(found.decision, alone.decision, rtol=1e-7, atol=1e-7)
            np.testing.assert_allclose(found.shift, alone.shift, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(found.doubt, alone.doubt, rtol=1e-6, atol=1e-6)
    assert known > 15


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gamma", [0.3, 2.0, 10.0])
def test_many_in_bound_vectors_are_followed_from_weights_to_weights(seed, gamma):
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(size=(260, 8)), rng.integers(2, size=260)
    several = grams(X, y, gamma)
    one, two = np.exp(rng.normal(scale=[[0.2], [0.2]], size=(2, 60)).cumsum(axis=1))
    weights = [np.where(y == 1, a, b) for a, b in zip(one, two, strict=True)]
    most = 0
    for C, joint in zip(
        weights, PairPaths(several).train_each(weights, tol=TOLERANCE), strict=True
    ):
        alone = SolvedModel(several.whole, solve_dual(several.whole, several.labels[0], C))
        agree(joint, [alone])
        most = max(most, joint.n_in_bound)
    assert most > 60


def test_large_weights_on_the_way_leave_no_rounding_behind():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(120, 3)), rng.integers(2, size=120)
    several = grams(X, y, 2.0)
    weights = [np.full(y.size, C) for C in (1e4, 1e6, 1e5, 1e4, 100.0, 1.0, 0.5, 0.3, 1.0)]
    for joint in PairPaths(several).train_each(weights, tol=TOLERANCE):
        solution = joint.models[0].solution
        exact = several.whole.values @ solution.beta + solution.intercept
        rounding = max(STALE, 10.0 * rounding_level(solution.beta, several.whole.diagonal))
        assert joint.iterations.any()
        np.testing.assert_allclose(solution.decision, exact, rtol=0.0, atol=rounding)
        assert abs(solution.beta.sum()) <= rounding


def test_one_chain_or_single_steps_are_the_same():
    X, y = problem(1)
    several = grams(X, y)
    weights = np.array([C[several.pair_rows.row] for C in chain(y, 1)])
    at_once = Together(several).steps(weights, tol=TOLERANCE)
    single = Together(several)
    for C, models in zip(weights, at_once, strict=True):
        (other,) = single.steps(C[None], tol=TOLERANCE)
        np.testing.assert_array_equal(models.left_out, other.left_out)
        np.testing.assert_array_equal(models.signed, other.signed)
        np.testing.assert_array_equal(models.intercepts, other.intercepts)


def test_a_solution_that_nothing_bounds_stays():
    X, y = load_digits(n_class=3, return_X_y=True)
    several = grams(X[:150] / 16.0, y[:150], gamma=1.0)
    size = several.pair_rows.row.size
    weights = np.array([np.full(size, C) for C in (1e3, 1e5, 1e7)])
    first, *others = Together(several).steps(weights, tol=TOLERANCE)
    assert first.n_bounded == 0
    for other in others:
        assert not other.iterations.any()
        np.testing.assert_array_equal(first.left_out, other.left_out)
        np.testing.assert_array_equal(first.intercepts, other.intercepts)
    # Back to weights that bind, it does not.
    (bound,) = Together(several).steps(np.full((1, size), 0.1), tol=TOLERANCE)
    assert bound.n_bounded > 0


def test_machines_that_are_unusual_are_trained_in_the_general_way(monkeypatch):
    X, y = problem(3)
    several = Grams(resolve_kernel("sigmoid", X, gamma=1.0, coef0=-1.0), X, y)
    together = Together(several)
    weights = np.array([np.full(several.pair_rows.row.size, C) for C in (0.1, 1.0, 10.0)])
    alone = []
    original = Together._train_alone
    monkeypatch.setattr(
        Together, "_train_alone", lambda self, m, *rest: alone.append(m) or original(self, m, *rest)
    )
    found = together.steps(weights, tol=TOLERANCE)
    assert alone
    assert any(models.indefinite for models in found)
    assert all(models.gap <= TOLERANCE for models in found if models.converged)


def test_a_machine_continues_after_it_was_trained_in_the_general_way(monkeypatch):
    X, y = problem(4)
    several, weights = grams(X, y), chain(y, 4)
    rows = np.array([C[several.pair_rows.row] for C in weights])
    expected = Together(several).steps(rows, tol=TOLERANCE)
    other = Together(several)
    chains = other.chains

    class Failing:
        """As if the second machine had met something at the third step."""

        def train(self, machines, weights, wanted, results, begin=0):
            chains.train(machines, weights, wanted, results, begin)
            if machines.size > 1:
                results.done[2:, 1] = False

        def __getattr__(self, name):
            return getattr(chains, name)

    monkeypatch.setattr(other, "chains", Failing())
    for one, two in zip(expected, other.steps(rows, tol=TOLERANCE), strict=True):
        np.testing.assert_allclose(one.left_out, two.left_out, atol=1e-6)
        assert one.n_empty == two.n_empty


def test_single_precision_is_trained_together_too():
    X, y = problem(5)
    kernel = resolve_kernel("rbf", X, gamma=0.5)
    double = Grams(kernel, X, y)
    single = Grams(kernel, X, y, budget=5.0 * y.size**2)
    assert single.whole.dtype == np.float32
    for one, two in zip(
        *(PairPaths(g).train_each(chain(y, 5)[:4], tol=TOLERANCE) for g in (double, single)),
        strict=True,
    ):
        np.testing.assert_allclose(one.left_out, two.left_out, atol=2e-3)


def test_rows_that_win_all_their_pairs_need_no_other_pair():
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    for C in (0.01, 0.3, 100.0):
        several = grams(X, y, gamma=2.0)
        bounds = np.full(y.size, C)
        found = PairPaths(several).train(bounds, tol=TOLERANCE)
        machines = TrainedMachines(
            X, several.pair_rows, several.kernel, bounds, found, None, several
        )
        for break_ties in (False, True):
            left_out = span_left_out(machines)
            voted = labels(left_out.values.counted, np.arange(3), break_ties)
            np.testing.assert_array_equal(left_out.labels(np.arange(3), break_ties), voted)
            np.testing.assert_array_equal(left_out.wrong(break_ties), voted != y)
            assert left_out.error(break_ties) == np.mean(voted != y)


def test_other_pairs_have_the_values_of_the_trained_machines():
    X, y = problem(6, classes=5, n=150)
    model = SpanSVC(C=3.0, gamma=0.7, decision_function_shape="ovo").fit(X, y)
    values, plain = model.left_out_.values.counted, -model.decision_function(X)
    pair_rows = PairRows(y, 5)
    own = np.zeros(values.shape, dtype=bool)
    own[pair_rows.row, pair_rows.column] = True
    np.testing.assert_allclose(values[~own], plain[~own], atol=1e-9)
    assert not np.allclose(values[own], plain[own], atol=1e-3)


@pytest.mark.parametrize("classes", [3, 4, 7, 11])
def test_votes_are_those_of_all_values(classes):
    """Of values that are drawn at random, so that every class wins and ties are common."""
    rng = np.random.default_rng(classes)
    rows = PairRows(rng.permutation(np.repeat(np.arange(classes), 30)), classes)
    n, n_pairs = rows.indices.size, len(rows.pairs)
    K = rng.standard_normal((n, n))
    signed = rng.standard_normal(rows.row.size) * (rng.random(rows.row.size) < 0.3)
    intercepts, own = rng.standard_normal(n_pairs), rng.standard_normal((n, classes - 1))
    values = np.empty((n, n_pairs))
    for pair in range(n_pairs):
        part = slice(*rows.starts[pair : pair + 2])
        values[:, pair] = K[:, rows.place[rows.rows[pair]]] @ signed[part] + intercepts[pair]
    columns = np.array(rows.columns)
    np.put_along_axis(values, columns[rows.indices], own, axis=1)
    votes = Votes(columns, rows.pair_of, rows.starts, rows.place[rows.row], signed, intercepts)
    found = votes.count(K, np.arange(n), rows.indices, own)
    expected = labels(values, np.arange(classes), False)
    np.testing.assert_array_equal(found, expected)
    assert np.unique(found).size == classes
    assert (found != rows.indices).any()


def test_rows_of_pairs():
    y = np.array([2, 0, 1, 0, -1, 2])
    rows = PairRows(y, 3)
    assert [own.tolist() for own in rows.rows] == [[1, 2, 3], [0, 1, 3, 5], [0, 2, 5]]
    assert rows.sign.tolist() == [-1, 1, -1, 1, -1, -1, 1, 1, -1, 1]
    assert rows.column.tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2]
    assert [own.tolist() for own in rows.columns] == [[0, 1], [0, 2], [1, 2]]
    known = PairRows(np.array([2, 0, 1, 0, 2]), 3)
    assert known.class_by_class[known.place].tolist() == [0, 1, 2, 3, 4]
    assert (known.row[known.by_row] == np.arange(5)[:, None]).all()


def test_a_candidate_that_cannot_be_trained_does_not_disturb_its_neighbours():
    X, y = problem(7)
    grid = [{"C": [C]} for C in (0.5, 1.0, 2.0, 4.0)]
    good = SpanSearch(SpanSVC(gamma=0.5), grid, refit=False).fit(X, y)
    mixed = [*grid[:2], {"C": [-1.0]}, *grid[2:]]
    with pytest.warns(FitFailedWarning, match="C must be a positive number"):
        search = SpanSearch(SpanSVC(gamma=0.5), mixed, refit=False).fit(X, y)
    scores = np.delete(search.cv_results_["mean_test_score"], 2)
    np.testing.assert_array_equal(scores, good.cv_results_["mean_test_score"])
    assert np.isnan(search.cv_results_["mean_test_score"][2])


def test_tolerances_may_differ_within_a_chain():
    X, y = problem(8)
    grid = {"C": [0.5, 5.0], "tol": [1e-3, 1e-5]}
    search = SpanSearch(SpanSVC(gamma=0.5), grid, refit=False).fit(X, y)
    hinge = search.cv_results_["loo_hinge"].reshape(2, 2)
    np.testing.assert_allclose(hinge[:, 0], hinge[:, 1], atol=1e-9)


@pytest.mark.parametrize("gamma", [1e-12, 0.3, 40.0, 1e4, 1e300])
def test_the_gaussian_kernel_is_exact_to_the_last_digit(gamma):
    X = np.random.default_rng(0).standard_normal((80, 3))
    squares, products = (X**2).sum(axis=1), X @ X.T
    distances = np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)
    to_gaussian(products, squares, squares, gamma)
    with np.errstate(over="ignore", under="ignore"):
        expected = np.exp(-gamma * distances)
    np.testing.assert_allclose(products, expected, rtol=4.5e-16, atol=5e-308)


def test_what_is_not_a_number_stays_so():
    values = np.array([[np.nan, 1.0]])
    to_gaussian(values, np.ones(1), np.ones(2), 1.0)
    assert np.isnan(values[0, 0])
    assert values[0, 1] == 1.0
