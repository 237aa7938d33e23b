from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from spansvm.kernels.functions import dense, resolve_kernel
from spansvm.kernels.gram import HeldGram
from spansvm.machine.dual import train_dual
from spansvm.machine.fitted_svc import read_svc

from ..problems import random_problem, reference_svm


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X)[:300], np.where(y[:300] == 1, 1.0, -1.0)


def moons():
    X, y = make_moons(200, noise=0.3, random_state=0)
    return X, np.where(y == 1, 1.0, -1.0)


DATA = {"breast cancer": breast_cancer(), "moons": moons()}
KERNELS = {
    "rbf": {"gamma": 0.5},
    "linear": {},
    "poly": {"gamma": 0.5, "degree": 3, "coef0": 1.0},
}


def weights(kind, y):
    rng = np.random.default_rng(1)
    return {
        "equal": np.ones(y.size),
        "classes": np.where(y > 0, 1.0, 0.2),
        "random": 2 ** rng.uniform(-4, 4, y.size),
        "some zero": (rng.random(y.size) < 0.7).astype(float),
    }[kind]


def assert_kkt(K, y, C, solution, tol):
    """The KKT conditions of the paper, each by itself."""
    margin = y * (K @ (y * solution.alpha) + solution.intercept)
    present = C > 0
    assert (solution.alpha >= 0).all()
    assert (solution.alpha <= C).all()
    assert abs(y @ solution.alpha) <= 1e-9 * max(1.0, C.sum())
    assert (margin[solution.in_bound] - 1 <= tol).all()
    assert (1 - margin[solution.in_bound] <= tol).all()
    assert (margin[solution.bounded] <= 1 + tol).all()
    assert (margin[present & (solution.alpha == 0)] >= 1 - tol).all()
    np.testing.assert_allclose(y * solution.decision, margin, atol=tol)


def assert_same_decision(ours, theirs, K):
    """Decision values within 1e-3 of LibSVM's, or of the general solver's.

    LibSVM keeps kernel values in single precision.  Under large weights its models then miss
    the KKT conditions by far more than its tolerance; there it cannot be the judge.
    """
    expected = theirs.decision
    if theirs.gap > 1e-5:
        present = ours.present
        beta, b = reference_svm(K[np.ix_(present, present)], ours.y[present], ours.C[present])
        expected = K[:, present] @ beta + b
    np.testing.assert_allclose(ours.decision, expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", ["equal", "classes", "random", "some zero"])
@pytest.mark.parametrize("exponent", [-6, -2, 2, 6, 10])
def test_training_agrees_with_libsvm(data, name, kind, exponent):
    X, y = DATA[data]
    factor, C = weights(kind, y), 2.0**exponent
    K = resolve_kernel(name, X, **KERNELS[name])(X)
    ours = train_dual(K, y, C * factor, tol=1e-6)
    assert ours.converged
    assert_kkt(K, y, C * factor, ours, 1e-5)

    svc = SVC(C=C, kernel=name, tol=1e-6, **KERNELS[name]).fit(X, y, sample_weight=factor)
    theirs, _ = read_svc(svc, X, y, factor)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
    assert_same_decision(ours, theirs, K)


@pytest.mark.parametrize("file", ["splice/splice.gz", "adult_a1a/a1a"])
@pytest.mark.parametrize("exponent", [-6, 2, 10])
def test_training_agrees_with_libsvm_on_the_data_of_the_paper(data_folder, file, exponent):
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(data_folder / file))
    X = minmax_scale(X.toarray())
    C = np.where(y > 0, 2.0**exponent, 2.0 ** (exponent - 1))
    gram = HeldGram(resolve_kernel("rbf", X, gamma="auto")(X))
    ours = train_dual(gram, y, C, tol=1e-6)
    assert_kkt(gram.values, y, C, ours, 1e-5)
    svc = SVC(C=2.0**exponent, gamma="auto", tol=1e-6, class_weight={-1.0: 0.5, 1.0: 1.0})
    theirs, _ = read_svc(svc.fit(X, y), X, y)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
    assert_same_decision(ours, theirs, gram.values)


@pytest.mark.parametrize("seed", range(15))
def test_training_agrees_with_a_general_solver(seed):
    problem = random_problem(seed)
    ours = train_dual(problem.gram, problem.y, problem.C, tol=1e-9)
    beta, b = reference_svm(problem.K, problem.y, problem.C)
    best = problem.y @ beta - 0.5 * beta @ problem.K @ beta
    assert ours.objective == pytest.approx(best, rel=1e-7)
    if ours.in_bound.any():
        np.testing.assert_allclose(ours.decision, problem.K @ beta + b, atol=1e-5)


def test_a_start_from_another_solution_gives_the_same_model():
    X, y = DATA["moons"]
    gram = HeldGram(resolve_kernel("rbf", X, gamma=1.0)(X))
    cold = train_dual(gram, y, 4.0, tol=1e-8)
    near = train_dual(gram, y, 5.0, tol=1e-8)
    warm = train_dual(gram, y, 4.0, alpha0=near.alpha, tol=1e-8)
    np.testing.assert_allclose(warm.decision, cold.decision, atol=1e-6)
    again = train_dual(gram, y, 4.0, alpha0=cold.alpha, tol=1e-7)
    assert again.iterations == 0


def test_single_precision_gram_matrix():
    X, y = DATA["breast cancer"]
    K = resolve_kernel("rbf", X, gamma=0.5)(X)
    double = train_dual(K, y, 10.0, tol=1e-6)
    single = train_dual(K.astype(np.float32), y, 10.0, tol=1e-6)
    assert single.converged
    np.testing.assert_allclose(single.decision, double.decision, atol=1e-4)


@pytest.mark.parametrize("name", ["rbf", "linear", "poly", "sigmoid", "precomputed", "callable"])
@pytest.mark.parametrize("kind", ["equal", "random", "some zero"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_reading_a_fitted_svc(name, kind, form):
    X, y = DATA["breast cancer"]
    data = sparse.csr_matrix(X) if form == "sparse" else X
    if name == "precomputed":
        if form == "sparse":
            pytest.skip("SVC takes no sparse precomputed kernels")
        data = X @ X.T
    if name == "callable":
        own = lambda a, b: dense(a @ b.T)  # noqa: E731
        svc = SVC(C=3.0, kernel=own, class_weight={-1.0: 2.0, 1.0: 0.7})
    else:
        svc = SVC(C=3.0, kernel=name, class_weight={-1.0: 2.0, 1.0: 0.7})
    factor = weights(kind, y)
    svc.fit(data, y, sample_weight=factor)
    with (
        pytest.warns(UserWarning, match="not positive semidefinite")
        if name == "sigmoid"
        else nullcontext()
    ):
        solution, gram = read_svc(svc, data, y, factor)
    assert solution.indefinite == (name == "sigmoid")

    present = factor > 0
    same = SVC(**(svc.get_params() | {"gamma": 1 / (X.shape[1] * X.var())}))
    rows = gram.values[np.ix_(present, present)] if name == "precomputed" else data[present]
    same.fit(rows, y[present], sample_weight=factor[present])
    np.testing.assert_allclose(solution.decision[present], same.decision_function(rows), atol=1e-9)
    expected = np.sort(np.flatnonzero(present)[same.support_])
    np.testing.assert_array_equal(np.flatnonzero(solution.support), expected)
    assert solution.converged
    assert (solution.in_bound | solution.bounded == solution.support).all()
    assert solution.gap < 2e-3
    assert not solution.support[~present].any()


def test_bounded_multipliers_of_libsvm_equal_their_bounds_to_the_bit():
    X, y = DATA["moons"]
    rng = np.random.default_rng(3)
    factor = rng.random(y.size)
    svc = SVC(C=0.3, class_weight={-1.0: 0.1, 1.0: 0.7}).fit(X, y, sample_weight=factor)
    solution, _ = read_svc(svc, X, y, factor)
    assert solution.bounded.sum() > 50
    assert solution.in_bound.sum() < 20


@pytest.mark.parametrize("labels", [("benign", "malignant"), (0, 1), (3, 7), (False, True)])
def test_labels_may_be_anything(labels):
    X, y = DATA["moons"]
    named = np.where(y > 0, labels[1], labels[0])
    solution, _ = read_svc(SVC().fit(X, named), X, named)
    reference, _ = read_svc(SVC().fit(X, y), X, y)
    np.testing.assert_array_equal(solution.alpha, reference.alpha)
    np.testing.assert_array_equal(solution.y, y)


def test_reading_names_what_does_not_fit_the_model():
    X, y = DATA["moons"]
    factor = weights("random", y)
    svc = SVC(C=1.0).fit(X, y, sample_weight=factor)
    with pytest.raises(NotFittedError):
        read_svc(SVC(), X, y)
    with pytest.raises(ValueError, match=r"of shape \(200, 2\); its shape is \(199, 2\)"):
        read_svc(svc, X[1:], y[1:], factor[1:])
    with pytest.raises(ValueError, match="support vectors are not the rows of X"):
        read_svc(svc, X[::-1], y, factor)
    with pytest.raises(ValueError, match="y must have one label"):
        read_svc(svc, X, y[1:], factor)
    with pytest.raises(ValueError, match="y contains the label"):
        read_svc(svc, X, np.where(y > 0, 2, -1), factor)
    with pytest.raises(ValueError, match="y must be the labels that the model was fitted on"):
        read_svc(svc, X, -y, factor)
    with pytest.raises(ValueError, match="sample_weight must be the weights"):
        read_svc(svc, X, y)
    few = np.where(np.arange(y.size) < 20, 1.0, 0.0)
    with pytest.raises(ValueError, match="these leave fewer rows than the model was fitted on"):
        read_svc(svc, X, y, few)
    with pytest.warns(UserWarning, match="are X, y and sample_weight what it was fitted on"):
        wrong, _ = read_svc(svc, X, y, 10 * factor)
    assert not wrong.converged
    with pytest.raises(ValueError, match="X contains NaN"):
        read_svc(svc, np.full_like(X, np.nan), y, factor)


def test_callable_kernels_may_take_anything():
    words = ["ax", "axe", "apple", "bee", "beet", "beetle", "bat", "add"]
    y = np.array([1, 1, 1, -1, -1, -1, -1, 1])

    def shared_letters(a, b):
        return np.array([[float(len(set(u) & set(v))) for v in b] for u in a])

    svc = SVC(kernel=shared_letters, C=10.0).fit(words, y)
    solution, gram = read_svc(svc, words, y)
    assert len(gram) == len(words)
    np.testing.assert_allclose(solution.decision, svc.decision_function(words), atol=1e-6)
    with pytest.raises(ValueError, match="of shape"):
        read_svc(svc, words[1:], y[1:])


def test_models_of_more_classes_are_refused():
    X = np.arange(12.0)[:, None]
    y = np.repeat([0, 1, 2], 4)
    with pytest.raises(ValueError, match=r"has 3 classes; .* or use SpanSVC, which handles all"):
        read_svc(SVC().fit(X, y), X, y)


def test_unconverged_models_are_marked():
    X, y = DATA["moons"]
    with pytest.warns(ConvergenceWarning):
        svc = SVC(C=100.0, max_iter=5).fit(X, y)
    solution, _ = read_svc(svc, X, y)
    assert not solution.converged
    with pytest.warns(ConvergenceWarning, match="stopped after 5 iterations"):
        ours = train_dual(X @ X.T, y, 100.0, max_iter=5)
    assert not ours.converged
    assert np.isfinite(ours.decision).all()


def test_a_tolerance_may_be_any_number():
    X, y = moons()
    expected = train_dual(X @ X.T, y, np.ones(y.size), tol=1.0).alpha
    for tol in (1, np.float32(1)):
        np.testing.assert_array_equal(
            train_dual(X @ X.T, y, np.ones(y.size), tol=tol).alpha, expected
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [1, 1, 1]}, r"Two classes are needed; .* only class \+1"),
        ({"y": [1, 0, 1]}, "labels -1 and"),
        ({"y": [1, -1]}, "K has 3 rows, but there are 2 labels in y"),
        ({"C": [1, 0, 1]}, r"only class \+1"),
        ({"C": 0.0}, "positive weight have none"),
        ({"C": [1, -1, 1]}, "C must not be negative; the smallest value is -1"),
        ({"C": [1, np.nan, 1]}, "C must be finite"),
        ({"C": [1, np.inf, 1]}, "C must be finite"),
        ({"C": [1, 1]}, "C must have one value for each of the 3 instances"),
        ({"K": np.ones((3, 2))}, "K must be a square matrix"),
        ({"K": np.diag([1.0, np.nan, 1.0])}, "K must be finite"),
        ({"tol": 0.0}, "tol must be positive"),
        ({"tol": np.nan}, "tol must be positive"),
        ({"max_iter": -1}, "max_iter must be at least 1"),
        ({"alpha0": [1.0]}, "alpha0 must have one value for each of the 3 instances"),
        ({"alpha0": [1.0, np.nan, 1.0]}, "alpha0 must be finite"),
    ],
)
def test_bad_training_input_is_named(change, message):
    problem = {"K": np.eye(3), "y": [1, -1, 1], "C": 1.0} | change
    with pytest.raises(ValueError, match=message):
        train_dual(**problem)


def test_a_multiplier_that_is_truly_inside_its_box_stays_there():
    """The solution of two instances is alpha = 1, half a percent off its bound."""
    solution = train_dual(np.eye(2), [1, -1], 1.005, tol=1e-9)
    np.testing.assert_allclose(solution.alpha, 1.0, rtol=1e-9)
    np.testing.assert_allclose(solution.decision, [1.0, -1.0], rtol=1e-9)
    assert solution.in_bound.all()
