"""Pictures of the guide that show searches: what is estimated, and what is selected."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, minmax_scale
from sklearn.svm import SVC

from docs.figures.drawing import BLUE, GREEN, GREY, ORANGE, RED, WHITE, figure, points
from spansvm import (
    SVCCV,
    ClassWeighting,
    SpanSearch,
    SpanSearchDisplay,
    SpanSVC,
    analyze,
    exact_loo,
    find_label_issues,
)


def coming_from_gridsearchcv() -> Figure:
    """Scores of GridSearchCV and ours, with its folds and with leave-one-out."""
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": 10.0 ** np.arange(-2, 3), "svc__gamma": 10.0 ** np.arange(-4, 1)}
    theirs = GridSearchCV(model, grid, cv=5).fit(X, y).cv_results_["mean_test_score"]
    drawn, ax = figure(4.6, 3.6)
    ax.plot([0.35, 1], [0.35, 1], ":", color=GREY)
    ways = {"leave-one-out (default)": ({}, ORANGE, "x"), "cv=5": ({"cv": 5}, BLUE, "o")}
    for name, (options, colour, mark) in ways.items():
        ours = SpanSearch(model, grid, **options).fit(X, y).cv_results_["mean_test_score"]
        ax.plot(theirs, ours, mark, color=colour, ms=6, fillstyle="none", label=name)
    ax.set(xlabel="score of GridSearchCV(cv=5)", ylabel="score of SpanSearch")
    ax.legend(loc="upper left")
    return drawn


def no_grid() -> Figure:
    """The candidates of SVCCV, round by round."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = SVCCV(class_weight=None).fit(X, y)
    results = model.cv_results_
    C, gamma = (np.array([one[name] for one in results["params"]]) for name in ("C", "gamma"))
    scores = results["mean_test_score"]
    drawn, ax = figure(6.0, 3.4)
    shown = ax.scatter(C, gamma, c=scores, s=34, cmap="viridis", vmin=scores.max() - 0.04)
    ax.plot(model.C_, model.gamma_, "*", color=RED, ms=15)
    ax.set(xscale="log", yscale="log", xlabel="C", ylabel="gamma")
    ax.set_title(f"{scores.size} candidates; star: selected")
    drawn.colorbar(shown, label="left-out accuracy", extend="min")
    return drawn


def methods() -> Figure:
    """Estimates of one error along C, and the error itself."""
    X, y = load_breast_cancer(return_X_y=True)
    X = minmax_scale(X)
    C = 2.0 ** np.arange(-4, 11)
    ways = {
        "verified": (BLUE, "o-", "verified (default)"),
        "span_rule": (ORANGE, "s--", "span_rule"),
        "span_count": (GREEN, "^-", "span_count, a bound"),
        "sv_count": (GREY, "v-", "sv_count, a bound"),
    }
    drawn, ax = figure(6.4, 3.4)
    for method, (colour, mark, name) in ways.items():
        search = SpanSearch(SpanSVC(gamma=0.5), {"C": C}, method=method, refit=False).fit(X, y)
        ax.plot(C, 1 - search.cv_results_["mean_test_score"], mark, color=colour, ms=4, label=name)
    exact = SpanSearch(SpanSVC(gamma=0.5), {"C": C}, method="loo", refit=False).fit(X, y)
    truth = 1 - exact.cv_results_["mean_test_score"]
    ax.plot(C, truth, "+", color="black", ms=11, label="exact leave-one-out")
    ax.set(xlabel="C", ylabel="error", ylim=(0, 0.2))
    ax.set_xscale("log", base=2)
    ax.set_yticks(np.arange(0, 0.21, 0.05))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.legend()
    return drawn


def score_to_report() -> Figure:
    """Best and corrected scores on noise, where nothing can be predicted."""
    grid = {"C": 2.0 ** np.arange(-3, 6), "gamma": 2.0 ** np.arange(-5, 2)}
    y = np.repeat([0, 1], 40)
    best, corrected = [], []
    for seed in range(40):
        X = np.random.default_rng(seed).standard_normal((80, 5))
        search = SpanSearch(SpanSVC(), grid).fit(X, y)
        best.append(search.best_score_)
        corrected.append(search.corrected_score_)
    drawn, ax = figure(6.4, 2.4)
    ax.axvline(0.5, color=GREY, ls=":")
    for height, (values, colour) in enumerate(((corrected, BLUE), (best, ORANGE))):
        ax.plot(values, np.full(len(values), height), "o", color=colour, ms=7, alpha=0.4)
        ax.plot(np.mean(values), height, "|", color=colour, ms=34, mew=2.5)
    ax.set(ylim=(-0.6, 1.6), xlabel="score; the truth is 0.5 (dotted), bars are means")
    ax.set_yticks([0, 1], ["corrected_score_", "best_score_"])
    return drawn


def groups() -> Figure:
    """The error if rows of a known person are left out, and if whole persons are."""
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(50), 7)
    voices = rng.standard_normal((50, 5))
    X = voices[people] + 0.3 * rng.standard_normal((people.size, 5))
    y = (voices[:, 0] + rng.standard_normal(50) > 0)[people].astype(int)
    gamma = 2.0 ** np.arange(-7, 3)
    drawn, ax = figure(6.0, 3.2)
    for name, own, colour, mark in (
        ("single rows are left out", None, ORANGE, "s--"),
        ("whole persons are left out", people, BLUE, "o-"),
    ):
        model, grid = SpanSVC(C=4), {"gamma": gamma}
        search = SpanSearch(model, grid, refit=False, check_dependence=False).fit(X, y, groups=own)
        ax.plot(gamma, 1 - search.cv_results_["mean_test_score"], mark, color=colour, label=name)
    ax.set(xlabel="gamma", ylabel="error", ylim=(0, 0.85))
    ax.set_xscale("log", base=2)
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.legend(loc="upper left")
    return drawn


def ties() -> Figure:
    """The candidates that share the best score, and the one that each rule selects."""
    X, y = load_iris(return_X_y=True)
    X = minmax_scale(X)
    grid = {"C": 2.0 ** np.arange(-2, 11), "gamma": 2.0 ** np.arange(-6, 3)}
    drawn, ax = figure(6.4, 3.4)
    marks = {"plateau": ("*", RED, 18), "first": ("s", RED, 9)}
    for rule, (mark, colour, size) in marks.items():
        search = SpanSearch(SpanSVC(), grid, ties=rule).fit(X, y)
        if rule == "plateau":
            scores = search.cv_results_["mean_test_score"].reshape(13, 9)
            shown = ax.pcolormesh(grid["C"], grid["gamma"], scores.T, vmin=0.9, cmap="viridis")
            rows, columns = np.nonzero(scores == scores.max())
            ax.plot(grid["C"][rows], grid["gamma"][columns], "o", color=WHITE, ms=4)
        chosen = (search.best_params_["C"], search.best_params_["gamma"])
        ax.plot(*chosen, mark, color=colour, mec=WHITE, ms=size, ls="", label=f'ties="{rule}"')
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set(xlabel="C", ylabel="gamma")
    ax.set_title("dots: candidates with the best score")
    ax.legend(loc="lower left", labelcolor=WHITE)
    drawn.colorbar(shown, label="left-out accuracy", extend="min")
    return drawn


def values() -> Figure:
    """Values of left-out rows, by the span alone and followed, against the exact ones."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [95, 25])
    X = rng.normal(size=(120, 4)) + 0.4 * y[:, None]
    model = SpanSVC(C=2, gamma=0.05).fit(X, y)
    exact = exact_loo(model, X, y)
    by_span = analyze(model).loo_decision
    drawn, ax = figure(5.0, 3.6)
    ends = [exact.min(), exact.max()]
    ax.plot(ends, ends, ":", color=GREY)
    ax.plot(exact, by_span, "s", color=ORANGE, ms=4, label="by the span alone")
    ax.plot(exact, model.loo_decision_function_, "o", color=BLUE, ms=4, label="of SpanSVC")
    ax.set(xlabel="exact leave-one-out value", ylabel="value without training again")
    ax.legend()
    return drawn


def rows() -> Figure:
    """Two wrong labels, and the rows that contradict them most."""
    X, y = make_moons(160, noise=0.18, random_state=1)
    wrong = [int(np.argmin(((X - place) ** 2).sum(axis=1))) for place in ((0.0, 0.95), (1.0, -0.5))]
    y[wrong] = 1 - y[wrong]
    issues = find_label_issues(SpanSVC(C=2, gamma=4.0).fit(X, y))
    drawn, ax = figure(6.0, 3.2)
    points(ax, X, y, 16)
    found = issues[issues.is_label_issue]
    for row, issue in found.iterrows():
        for other in issue.contradicted_by:
            ax.plot(*X[[row, other]].T, color="0.4", lw=1)
    ax.scatter(*X[found.index].T, s=130, facecolors="none", edgecolors=RED, linewidths=1.8)
    ax.set_title("circled: doubted labels; lines: to the rows that contradict them")
    return drawn


def committee() -> Figure:
    """The probabilities of the members of a committee, and their mean."""
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(-3, 3, 70))
    y = (rng.random(70) < 1 / (1 + np.exp(-3 * np.sin(1.6 * x)))).astype(int)
    grid = {"C": 4.0 ** np.arange(-1, 4), "gamma": 4.0 ** np.arange(-2, 2)}
    search = SpanSearch(SpanSVC(), grid).fit(x[:, None], y)
    at = np.linspace(-3, 3, 150)[:, None]
    own = search.committee_
    drawn, ax = figure(6.4, 3.2)
    for number, parameters in enumerate(own.members_):
        member = SpanSVC(**parameters).fit(x[:, None], y)
        name = "members, thick if they weigh much" if number == 0 else None
        width = 0.3 + 6 * own.weights_[number]
        ax.plot(at, member.predict_proba(at)[:, 1], color=ORANGE, lw=width, alpha=0.6, label=name)
    ax.plot(at, own.predict_proba(at)[:, 1], color=BLUE, lw=2.5, label="committee")
    ax.plot(at, 1 / (1 + np.exp(-3 * np.sin(1.6 * at))), ":", color="black", label="truth")
    ax.plot(x, np.where(y == 1, 1.06, -0.06), "|", color=GREY, ms=8)
    ax.set(xlabel="x", ylabel="probability of the class", ylim=(-0.12, 1.45))
    ax.legend(ncols=3, loc="upper center")
    return drawn


def readme() -> Figure:
    """The picture of the README: scores of 1089 pairs of class weights."""
    X, y = load_breast_cancer(return_X_y=True)
    weights = 2.0 ** np.arange(-6, 10.5, 0.5)
    grid = {"weighting__positive": weights, "weighting__negative": weights}
    model = SpanSVC(gamma=1 / 30, weighting=ClassWeighting())
    search = SpanSearch(model, grid).fit(minmax_scale(X), y)
    return SpanSearchDisplay.from_search(search, vmin=0.9).figure_


FIGURES = (
    coming_from_gridsearchcv, no_grid, methods, score_to_report, groups, ties, values, rows,
    committee,
)  # fmt: skip
