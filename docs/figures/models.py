"""Pictures of the guide that show one model: weights, scores, features, classes, probabilities."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from sklearn.calibration import calibration_curve
from sklearn.datasets import (
    load_breast_cancer,
    load_wine,
    make_blobs,
    make_classification,
    make_moons,
)
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler, minmax_scale
from sklearn.svm import SVC

from docs.figures.drawing import BLUE, CLASSES, GREEN, GREY, ORANGE, RED, figure, points, regions
from spansvm import ClassWeighting, SigmoidWeighting, SpanSearch, SpanSVC, SpanSVR


def class_weights() -> Figure:
    """Two imbalanced classes, with equal weights and with those that a search selects."""
    X, y = make_blobs([160, 25], centers=[[0, 0], [1.9, 1.2]], cluster_std=1.1, random_state=3)
    equal = SpanSVC(gamma=0.3).fit(X, y)
    model = SpanSVC(gamma=0.3, weighting=ClassWeighting())
    grid = {"weighting__positive": 2.0 ** np.arange(-1, 5), "weighting__negative": [0.25, 1.0]}
    search = SpanSearch(model, grid, scoring="balanced_accuracy").fit(X, y)
    drawn, axes = figure(columns=2)
    titles = ("equal weights", "selected weights")
    for ax, one, title in zip(axes, (equal, search.best_estimator_), titles, strict=True):
        regions(ax, one, X, y)
        found = (one.loo_predict_[y == 1] == 1).sum()
        ax.set_title(f"{title}: {found} of {(y == 1).sum()} rare rows found")
    return drawn


def scores() -> Figure:
    """Rows as large as their weights, and the boundary with and without the weights."""
    X, truth = make_blobs(120, centers=[[-1, -1], [1, 1]], cluster_std=1.0, random_state=4)
    rng = np.random.default_rng(0)
    certain = rng.random(truth.size)
    y = np.where((truth == 1) & (rng.random(truth.size) > 1.4 * certain), 0, truth)
    weighting = SigmoidWeighting(steepness=10, midpoint=0.6, ceiling=2.0)
    weighted = SpanSVC(gamma=0.2, weighting=weighting).fit(X, y, scores=certain)
    equal = SpanSVC(gamma=0.2).fit(X, y)
    drawn, (curve, plane) = figure(columns=2, width_ratios=[2, 3])
    q = np.linspace(0, 1, 100)
    curve.plot(q, weighting.instance_weights(np.zeros(q.size), q), color=GREEN, lw=2)
    curve.set(xlabel="how certain the label is, q", ylabel="weight, $C_i$", ylim=(0, None))
    across, up = regions(plane, weighted, X, y, size=0.0)
    weights = weighting.instance_weights(y, certain)
    for colour, label in zip(CLASSES, (0, 1), strict=False):
        own = y == label
        plane.scatter(*X[own].T, s=2 + 20 * weights[own], color=colour, linewidths=0)
    values = equal.decision_function(np.c_[across.ravel(), up.ravel()]).reshape(across.shape)
    plane.contour(across, up, values, [0], colors=GREY, linestyles="--", linewidths=1.5)
    plane.set_title("line: with weights; dashed: all rows alike")
    return drawn


def features() -> Figure:
    """The error to report of the same search, with and without scaling."""
    X, y = load_wine(return_X_y=True)
    grid = {"spansvc__C": [0.1, 1, 10, 100], "spansvc__gamma": [0.001, 0.01, 0.1, 1]}
    steps = {
        "no scaling": (),
        "MinMaxScaler": (MinMaxScaler(),),
        "StandardScaler": (StandardScaler(),),
    }
    errors, ends = [], []
    for own in steps.values():
        search = SpanSearch(make_pipeline(*own, SpanSVC()), grid).fit(X, y)
        low, high = search.corrected_interval_
        errors.append(1 - search.corrected_score_)
        ends.append((search.corrected_score_ - low, high - search.corrected_score_))
    drawn, ax = figure(6.0, 2.0)
    reach = np.array(ends).T[::-1]
    ax.barh(list(steps), errors, xerr=reach, color=[RED, BLUE, BLUE], ecolor=GREY, height=0.6)
    ax.invert_yaxis()
    ax.set(xlabel="error to expect on new rows, with 95 % interval", xlim=(0, None))
    return drawn


def regression() -> Figure:
    """A curve that an SVR has learnt, its tube, and the 90 % interval of new measurements."""
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0, 10, 90))
    y = np.sin(x) + 0.15 * x + rng.normal(scale=0.3, size=x.size)
    model = SpanSVR(C=10, gamma=0.4, epsilon=0.2).fit(x[:, None], y)
    at = np.linspace(0, 10, 200)[:, None]
    middle, ends = model.predict(at), model.predict_interval(at, confidence_level=0.9)
    drawn, ax = figure(7.0, 3.0)
    ax.fill_between(at[:, 0], *ends.T, color=BLUE, alpha=0.2, linewidth=0, label="90 % of new rows")
    ax.plot(at, middle, color=BLUE, lw=2, label="prediction")
    for shift in (-0.2, 0.2):
        name = "tube, epsilon = 0.2" if shift > 0 else None
        ax.plot(at, middle + shift, "--", color=BLUE, lw=1, label=name)
    on = np.zeros(x.size, dtype=bool)
    on[model.support_] = True
    ax.scatter(x[~on], y[~on], s=12, color=GREY, label="inside: not a support vector")
    ax.scatter(x[on], y[on], s=16, color=ORANGE, label="support vector")
    ax.set(xlabel="x", ylabel="y", xlim=(0, 10), ylim=(None, y.max() + 1.7))
    ax.legend(ncols=3, loc="upper center")
    return drawn


def multiclass() -> Figure:
    """Four classes, and the rows that the others would predict otherwise."""
    centers = [[0, 0], [2.4, 0.4], [0.6, 2.3], [3.0, 2.8]]
    X, y = make_blobs(160, centers=centers, cluster_std=0.85, random_state=2)
    model = SpanSVC(C=4, gamma=0.3).fit(X, y)
    wrong = model.loo_predict_ != y
    drawn, ax = figure(5.5, 3.4)
    regions(ax, model, X, y, size=18)
    ax.scatter(*X[wrong].T, s=90, facecolors="none", edgecolors="0.2", linewidths=1.2)
    ax.set_title(f"circled: {wrong.sum()} of {y.size} rows predicted wrongly when left out")
    return drawn


def probabilities() -> Figure:
    """How often the class occurs among new rows, over its predicted probability."""
    X, y = make_classification(
        8400, n_features=21, n_informative=4, class_sep=1.0, flip_y=0.1, random_state=1
    )
    X, X_new, y, y_new = train_test_split(X, y, train_size=400, random_state=0)
    model = SpanSVC(C=4, gamma=1 / 21).fit(X, y)
    trained = model.decision_function(X)
    naive = SVC(C=4, gamma=1 / 21).fit(X, y).decision_function(X_new)
    drawn, ax = figure(4.6, 3.6)
    ax.plot([0, 1], [0, 1], ":", color=GREY)
    seen = 1 / (1 + np.exp(-_slope(trained, y) * naive))
    ours = model.predict_proba(X_new)[:, 1]
    for name, p, colour, mark in (
        ("SpanSVC: left-out values", ours, BLUE, "o-"),
        ("sigmoid of values of seen rows", seen, ORANGE, "s--"),
    ):
        happened, predicted = calibration_curve(y_new, p, n_bins=10)
        ax.plot(predicted, happened, mark, color=colour, ms=5, label=name)
    ax.set(xlabel="predicted probability", ylabel="share of 8000 new rows", ylim=(0, 1.15))
    ax.legend(loc="upper left")
    return drawn


def _slope(values: np.ndarray, y: np.ndarray) -> float:
    """The slope of the sigmoid that suits the values of the training rows best."""
    slopes = np.linspace(0.2, 12, 60)
    signed = np.where(y == 1, 1, -1) * values
    return float(min(slopes, key=lambda slope: np.logaddexp(0, -slope * signed).sum()))


def sets() -> Figure:
    """Where a set of labels has one label, and where it has more."""
    X, y = make_moons(300, noise=0.4, random_state=0)
    model = SpanSVC(C=1, gamma=1.0).fit(X, y)
    drawn, axes = figure(columns=2, sharey=True)
    for ax, level in zip(axes, (0.9, 0.97), strict=True):
        points(ax, X, y, 8)
        across, up = np.meshgrid(*(np.linspace(*ax_range, 120) for ax_range in _ranges(X)))
        rows = np.c_[across.ravel(), up.ravel()]
        held = model.predict_set(rows, confidence_level=level)
        kind = np.where(held.all(axis=1), 2, held.argmax(axis=1)).reshape(across.shape)
        ax.imshow(
            kind, origin="lower", extent=(*across[0, [0, -1]], *up[[0, -1], 0]), aspect="auto",
            cmap=ListedColormap([*CLASSES[:2], GREEN]), vmin=-0.5, vmax=2.5, alpha=0.3,
            interpolation="nearest",
        )  # fmt: skip
        ax.set_title(f"confidence_level={level:g}; green: both labels")
    return drawn


def _ranges(X: np.ndarray) -> list[tuple[float, float]]:
    return [(low - 0.2, high + 0.2) for low, high in zip(X.min(axis=0), X.max(axis=0), strict=True)]


def certificate() -> Figure:
    """Duality gaps of the same machine: by LIBSVM, over its tolerance, and by SpanSVC."""
    X, y = load_breast_cancer(return_X_y=True)
    X = minmax_scale(X)
    K, sign = rbf_kernel(X, gamma=0.5), np.where(y == 1, 1.0, -1.0)
    tolerances, gaps = 10.0 ** np.arange(-6, 0), []
    for tol in tolerances:
        model = SVC(C=10, gamma=0.5, tol=tol).fit(X, y)
        beta = np.zeros(y.size)
        beta[model.support_] = model.dual_coef_[0]
        norm = beta @ K @ beta / 2
        primal = norm + 10 * np.maximum(0, 1 - sign * (K @ beta + model.intercept_[0])).sum()
        gaps.append((primal - (np.abs(beta).sum() - norm)) / primal)
    ours = SpanSVC(C=10, gamma=0.5).fit(X, y).certificate_.relative_gap
    drawn, ax = figure(6.0, 3.0)
    ax.plot(tolerances, gaps, "s-", color=ORANGE, label="SVC (LIBSVM)")
    ax.axhline(max(ours, 1e-16), color=BLUE, lw=2, label="SpanSVC")
    ax.set(xscale="log", yscale="log", xlabel="tol of SVC", ylabel="relative duality gap")
    ax.legend()
    return drawn


FIGURES = (
    class_weights, scores, features, regression, multiclass, probabilities, sets, certificate,
)  # fmt: skip
