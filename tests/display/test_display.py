from __future__ import annotations

import sys
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale
from sklearn.svm import SVC

from spansvm import SpanRandomizedSearch, SpanSearch, SpanSVC, analyze, exact_loo
from spansvm.display import LooDisplay, SpanSearchDisplay
from spansvm.display.colours import ColourScale
from spansvm.display.margins import count_margins

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def searched(candidates, scores, **attributes):
    """What a search leaves behind, for given scores."""
    results = {"params": list(candidates), "mean_test_score": np.asarray(scores, dtype=float)}
    best = int(np.nanargmax(results["mean_test_score"]))
    return SimpleNamespace(cv_results_=results, best_index_=best, **attributes)


def grid(**lists):
    return [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]


def drawn(display):
    """Warnings of the layout come only when a figure is drawn."""
    display.figure_.draw_without_rendering()
    return display


def marked(display):
    (x,), (y,) = display.mark_.get_data()
    return x, y


@pytest.fixture(scope="module")
def search():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(MinMaxScaler(), SVC())
    lists = {
        "svc__C": [0.1, 10.0, 1.0],
        "svc__gamma": [2.0**-6, 2.0**-3, 1.0, 4.0],
        "svc__kernel": ["rbf", "poly"],
    }
    return GridSearchCV(model, lists, cv=2, scoring=["accuracy", "f1_macro"], refit="accuracy").fit(
        X[::2], y[::2]
    )


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X), y


@pytest.mark.parametrize("kind", [SpanSearch, SpanRandomizedSearch])
def test_a_search_plots_what_the_display_of_it_shows(kind, cancer):
    lists = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0], "shrinking": [True, False]}
    ours = kind(SVC(), lists, scoring=["accuracy", "f1"], refit="accuracy").fit(*cancer)
    _, ax = plt.subplots()
    plotted = drawn(ours.plot(axes=("gamma", "C"), score="f1", ax=ax, cmap="magma"))
    shown = SpanSearchDisplay.from_search(ours, axes=("gamma", "C"), score="f1", cmap="magma")
    assert plotted.ax_ is ax
    assert (plotted.axes, plotted.score_name) == (("gamma", "C"), "f1")
    assert marked(plotted) == marked(shown)
    for part in ("image_", "points_"):
        drawings = getattr(plotted, part), getattr(shown, part)
        if drawings != (None, None):
            np.testing.assert_array_equal(*(one.get_array() for one in drawings))
            assert drawings[0].get_cmap().name == "magma"


def test_a_search_that_is_not_fitted_has_nothing_to_plot():
    with pytest.raises(NotFittedError, match="This SpanSearch is not fitted yet"):
        SpanSearch(SVC(), {"C": [1]}).plot()


def test_the_heat_map_of_a_grid_search_has_the_best_score_over_the_rest(search):
    display = SpanSearchDisplay.from_search(search)
    assert display.axes == ("svc__C", "svc__gamma")
    C, gamma = [0.1, 1.0, 10.0], [2.0**-6, 2.0**-3, 1.0, 4.0]
    best = np.zeros((4, 3))
    results = search.cv_results_
    for params, score in zip(results["params"], results["mean_test_accuracy"], strict=True):
        place = gamma.index(params["svc__gamma"]), C.index(params["svc__C"])
        best[place] = max(best[place], score)
    np.testing.assert_array_equal(display.image_.get_array(), best)
    assert marked(display) == (
        C.index(search.best_params_["svc__C"]),
        gamma.index(search.best_params_["svc__gamma"]),
    )
    assert display.ax_.get_xlabel() == "C"
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == [
        "$10^{-1}$", "$10^{0}$", "$10^{1}$",
    ]  # fmt: skip
    assert display.ax_.get_yticklabels()[0].get_text() == "$2^{-6}$"


def test_the_metric_is_the_one_of_refit_unless_another_is_named(search):
    assert SpanSearchDisplay.from_search(search).score_name == "accuracy"
    display = SpanSearchDisplay.from_search(search, axes=("gamma", "C"), score="f1_macro")
    assert display.image_.get_array().max() == search.cv_results_["mean_test_f1_macro"].max()
    assert display.colorbar_.ax.get_ylabel() == "f1_macro"
    with pytest.raises(ValueError, match=r"\['accuracy', 'f1_macro'\]; got 'auc'"):
        SpanSearchDisplay.from_search(search, score="auc")


def test_a_named_axis_gives_a_curve_for_each_category(search):
    display = drawn(SpanSearchDisplay.from_search(search, axes="svc__C"))
    results = search.cv_results_
    for kernel, line in zip(["rbf", "poly"], display.lines_, strict=True):
        assert line.get_label() == f"kernel = {kernel}"
        np.testing.assert_array_equal(line.get_xdata(), [0.1, 1.0, 10.0])
        for C, score in zip(*line.get_data(), strict=True):
            rows = (results["param_svc__C"] == C) & (results["param_svc__kernel"] == kernel)
            assert score == results["mean_test_accuracy"][rows].max()
    assert display.ax_.get_xscale() == "log"
    assert marked(display) == (search.best_params_["svc__C"], search.best_score_)
    assert f"kernel = {search.best_params_['svc__kernel']}" in display.ax_.get_title(loc="left")


def test_an_unknown_axis_is_told_which_there_are(search):
    with pytest.raises(ValueError, match=r"'degree' was not searched; choose from .*'svc__gamma'"):
        SpanSearchDisplay.from_search(search, axes="degree")
    with pytest.raises(ValueError, match="one or two different"):
        SpanSearchDisplay.from_search(search, axes=("C", "svc__C"))
    both = searched(grid(a__C=[1, 2], b__C=[1, 2]), range(4))
    with pytest.raises(ValueError, match="'C' is ambiguous"):
        SpanSearchDisplay.from_search(both, axes="C")
    assert SpanSearchDisplay.from_search(both).ax_.get_ylabel() == "b__C"


def test_a_grid_of_33_by_33_has_few_ticks():
    values = 2.0 ** np.arange(-6, 10.1, 0.5)
    scores = np.random.default_rng(0).random(33 * 33)
    display = drawn(SpanSearchDisplay.from_search(searched(grid(a=values, b=values), scores)))
    np.testing.assert_array_equal(display.image_.get_array(), scores.reshape(33, 33).T)
    labels = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert labels == [f"$2^{{{exponent}}}$" for exponent in range(-6, 11, 2)]
    assert marked(display) == divmod(int(scores.argmax()), 33)


@pytest.mark.parametrize(
    ("values", "scale"),
    [(np.arange(1, 100), "linear"), ([0, 1, 100], "linear"), ([1, 3, 10], "linear"),
     ([0.03, 0.3, 1, 3], "log"), ([1, 1000], "log")],
)  # fmt: skip
def test_only_geometric_values_get_a_logarithmic_scale(values, scale):
    display = SpanSearchDisplay.from_search(searched(grid(C=values), range(len(values))))
    assert display.ax_.get_xscale() == scale


def test_failed_candidates_are_grey_in_a_heat_map_and_crossed_under_a_curve():
    plane = searched(grid(a=[1, 2], b=[1, 2, 3]), [np.nan, 1, 2, 3, 4, 5])
    display = SpanSearchDisplay.from_search(plane)
    expected = np.array([[True, False], [False, False], [False, False]])
    np.testing.assert_array_equal(np.ma.getmaskarray(display.image_.get_array()), expected)
    np.testing.assert_array_equal(~np.ma.getmaskarray(display.failed_.get_array()), expected)
    display = SpanSearchDisplay.from_search(searched(grid(a=[1, 2, 3]), [1, np.nan, 2]))
    assert display.failed_.get_xdata() == [2.0]
    assert marked(display) == (3, 2)


def test_a_search_of_which_every_candidate_failed_can_be_drawn():
    failed = searched(grid(a=[1, 2], b=[1, 2]), range(4))
    failed.cv_results_["mean_test_score"][:] = np.nan
    display = drawn(SpanSearchDisplay.from_search(failed))
    assert display.failed_ is not None
    assert display.colorbar_ is None


def test_candidates_that_are_not_on_a_grid_are_coloured_points():
    rng = np.random.default_rng(0)
    C, gamma, scores = 10 ** rng.uniform(-2, 3, 30), rng.uniform(1, 2, 30), rng.random(30)
    scores[4] = np.nan
    random = searched([{"C": c, "gamma": g} for c, g in zip(C, gamma, strict=True)], scores)
    display = drawn(SpanSearchDisplay.from_search(random))
    order = np.argsort(scores)[:-1]
    np.testing.assert_array_equal(display.points_.get_offsets(), np.c_[C, gamma][order])
    np.testing.assert_array_equal(display.points_.get_array(), scores[order])
    np.testing.assert_array_equal(display.failed_.get_offsets(), [(C[4], gamma[4])])
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "linear")
    assert marked(display) == (C[random.best_index_], gamma[random.best_index_])
    (points,) = SpanSearchDisplay.from_search(random, axes="C").lines_
    assert points.get_linestyle() == "None"
    np.testing.assert_array_equal(points.get_ydata(), scores)


def test_categories_are_labelled_shortly():
    weights = [None, "balanced", {0: 1, 1: 5}]
    display = SpanSearchDisplay.from_search(
        searched(grid(weight=weights, kernel=["rbf", "poly"]), range(6))
    )
    labels = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert labels == ["None", "balanced", "0:1, 1:5"]
    np.testing.assert_array_equal(display.image_.get_array(), [[0, 2, 4], [1, 3, 5]])


def test_candidates_without_a_parameter_have_a_place_of_their_own():
    candidates = [{"C": C} for C in (1, 2)] + grid(C=[1, 2], gamma=[0.1, 0.2])
    display = SpanSearchDisplay.from_search(searched(candidates, [5, 9, 1, 2, 3, 4]))
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["0.1", "0.2", "--"]
    np.testing.assert_array_equal(display.image_.get_array(), [[1, 3], [2, 4], [5, 9]])
    assert marked(display) == (1, 2)


def test_given_axes_are_drawn_on_and_options_reach_the_picture():
    _, ax = plt.subplots()
    display = SpanSearchDisplay.from_search(
        searched(grid(a=[1, 2], b=[1, 2]), range(4)), ax=ax, cmap="cividis", vmax=9, colorbar=False
    )
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.colorbar_ is None
    assert (display.image_.get_cmap().name, display.image_.get_clim()[1]) == ("cividis", 9)


def test_a_search_that_selected_nothing_has_no_mark():
    both = searched(grid(a=[1, 2], b=[1, 2]), range(4))
    del both.best_index_
    assert SpanSearchDisplay.from_search(both).mark_ is None


def test_a_search_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError, match="GridSearchCV is not fitted"):
        SpanSearchDisplay.from_search(GridSearchCV(SVC(), {"C": [1]}))


def test_the_margins_of_a_model_are_those_of_its_analysis(cancer):
    X, y = cancer
    svc = SVC(C=4, gamma=0.5).fit(X, y)
    analysis = analyze(svc, X, y)
    margins = (2 * y - 1) * analysis.loo_decision
    displays = [
        LooDisplay.from_estimator(svc, X, y),
        LooDisplay.from_analysis(analysis),
        LooDisplay.from_predictions(y, analysis.loo_decision, ["malignant", "benign"]),
    ]
    for display in displays:
        np.testing.assert_allclose(display.margins, margins, rtol=1e-12)
        np.testing.assert_array_equal(display.suspicious_, margins.argsort()[:10])
        shares = [np.mean(margins[y == label] <= 0) for label in (0, 1)]
        np.testing.assert_allclose(display.error_shares_, shares)
    label = displays[2].ax_.get_yticklabels()[0].get_text()
    assert label == f"malignant\n212 rows\n{shares[0]:.1%} errors"


def test_a_span_svc_needs_no_data(cancer):
    X, y = cancer
    model = SpanSVC(C=4, gamma=0.5).fit(X, y)
    display = LooDisplay.from_estimator(model)
    margins = (2 * y - 1) * model.loo_decision_function_
    np.testing.assert_array_equal(display.margins, margins)
    assert np.average(display.error_shares_, weights=np.bincount(y)) == pytest.approx(
        model.loo_error_
    )
    with pytest.raises(ValueError, match="keeps its training data"):
        LooDisplay.from_estimator(model, X, y)


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_with_more_classes_the_margin_is_the_least_of_the_pairs(shape):
    X, y = load_wine(return_X_y=True)
    X, y = minmax_scale(X), y.copy()
    y[::15] = (y[::15] + 1) % 3
    # Trainings on their own agree as far as their tolerance goes.
    model = SpanSVC(C=10, tol=1e-10, decision_function_shape=shape)
    model.fit(X, np.array(["a", "b", "c"])[y])
    display = LooDisplay.from_estimator(model, n_suspicious=5)
    least = np.full(y.size, np.inf)
    for first, second in [(0, 1), (0, 2), (1, 2)]:
        rows = np.flatnonzero((y == first) | (y == second))
        gamma = 1 / (X.shape[1] * X.var())
        pair = SpanSVC(C=10, gamma=gamma, tol=1e-10).fit(X[rows], y[rows])
        margins = pair.loo_decision_function_ * np.where(y[rows] == second, 1, -1)
        least[rows] = np.minimum(least[rows], margins)
    np.testing.assert_allclose(display.margins, least, atol=1e-9)
    np.testing.assert_array_equal(display.suspicious_, least.argsort()[:5])
    wrong = display.error_shares_ @ np.bincount(y)
    assert wrong / y.size == pytest.approx(model.loo_error_)


def test_columns_of_decisions_give_the_own_class_less_the_best_other():
    values = [[3.0, 1.0, 0.0], [0.0, 1.0, 5.0], [1.0, 2.0, 2.5]]
    display = LooDisplay.from_predictions(["x", "y", "z"], values)
    np.testing.assert_array_equal(display.margins, [2.0, -4.0, 0.5])
    np.testing.assert_array_equal(display.error_shares_, [0, 1, 0])
    np.testing.assert_array_equal(display.suspicious_, [1])
    with pytest.raises(ValueError, match=r"shape \(3, 3\); got \(3,\)"):
        LooDisplay.from_predictions(["x", "y", "z"], [1, 2, 3])
    with pytest.raises(ValueError, match="must have 3 names; got 1"):
        LooDisplay.from_predictions(["x", "y", "z"], values, ["x"])


def test_the_exact_values_can_be_shown(cancer):
    X, y = cancer[0][::4], cancer[1][::4]
    values = exact_loo(SVC(C=4).fit(X, y), X, y)
    display = LooDisplay.from_predictions(y, values)
    assert display.error_shares_ @ np.bincount(y) == np.count_nonzero((values > 0) != y)


def test_instances_of_zero_weight_are_left_out(cancer):
    X, y = cancer
    weight = np.ones(y.size)
    weight[[0, 297]] = 0
    model = SpanSVC(C=4).fit(X, y, sample_weight=weight)
    svc = SVC(C=4).fit(X, y, sample_weight=weight)
    for display in (
        LooDisplay.from_estimator(model),
        LooDisplay.from_estimator(svc, X, y, sample_weight=weight),
    ):
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(display.margins)), [0, 297])
        assert 297 not in display.suspicious_


def test_bars_count_every_instance_and_none_spans_zero():
    rng = np.random.default_rng(0)
    y, values = rng.integers(0, 2, 3000), rng.normal(0.5, 1, 3000)
    display = LooDisplay.from_predictions(y, np.where(y == 1, values, -values))
    for bars in display.bars_:
        for bar in bars:
            ends = bar.get_x(), bar.get_x() + bar.get_width()
            assert max(ends) < 1e-9 or min(ends) > -1e-9
    total = sum(int(text.get_text().split()[1]) for text in display.ax_.get_yticklabels())
    assert total == 3000


def test_labels_of_suspicious_rows_do_not_overlap():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 10_000)
    values = np.where(y == 1, 1, -1) * rng.normal(1.3, 0.5, y.size)
    display = LooDisplay.from_predictions(y, values, n_suspicious=20)
    drawn(display)
    assert sum(marks.get_xdata().size for marks in display.marks_) == 20
    boxes = [matplotlib.text.Text.get_window_extent(text).padded(-0.5) for text in display.texts_]
    assert len(boxes) >= 10
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_without_errors_nothing_is_suspicious():
    display = LooDisplay.from_predictions([0, 1, 1], [-1.0, 2.0, 0.0])
    assert display.suspicious_.size == 0
    assert not display.marks_
    np.testing.assert_array_equal(display.error_shares_, [0, 0.5])


@pytest.mark.parametrize(
    "draw",
    [
        lambda: SpanSearchDisplay.from_search(searched(grid(a=[1, 2]), [1, 2])),
        lambda: LooDisplay.from_predictions([0, 1], [-1.0, 1.0]),
    ],
)
def test_without_matplotlib_the_error_says_what_to_install(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "spansvm\[plots\]"'):
        draw()


@pytest.mark.parametrize(
    "margins", [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0], [-1.0, 0.0, 1.0], [-3.0, -2.0, 0.0]]
)
def test_a_margin_of_exactly_zero_is_counted_among_the_errors(margins):
    shown = count_margins(np.array(margins), np.zeros(3, dtype=np.intp), 1, n_bars=10)
    edges, counts = np.array(shown.edges), np.array(shown.counts[0])
    assert 0.0 in edges
    assert counts.sum() == 3
    assert counts[edges[:-1] < 0].sum() == sum(margin <= 0 for margin in margins)


def test_margins_beyond_the_fence_share_the_last_bar():
    margins = np.concatenate((np.linspace(-1.0, 1.0, 50), [-100.0, 200.0]))
    shown = count_margins(margins, np.zeros(52, dtype=np.intp), 1, n_bars=20, fence=5.0)
    assert shown.open_below
    assert shown.open_above
    assert (shown.counts[0][0], shown.counts[0][-1]) == (1, 1)
    whole = count_margins(margins, np.zeros(52, dtype=np.intp), 1, n_bars=20)
    assert not whole.open_below
    assert not whole.open_above
    assert sum(shown.counts[0]) == sum(whole.counts[0]) == 52


def test_the_scores_of_hopeless_candidates_share_a_colour_as_on_the_page_of_a_report():
    scores = np.array([0.0, 0.1, *np.linspace(0.9, 0.95, 10)])
    candidates = grid(C=[1.0, 2.0, 3.0], gamma=[1.0, 2.0, 3.0, 4.0])
    display = drawn(SpanSearchDisplay.from_search(searched(candidates, scores)))
    low, high = display.image_.get_clim()
    assert (low, high) == (ColourScale(scores).low, 0.95)
    assert 0.1 < low < 0.9
    assert display.colorbar_.extend == "min"
    # What is asked for holds, and where no score is far below the others, nothing is cut off.
    found = searched(candidates, scores)
    assert SpanSearchDisplay.from_search(found, vmin=0.0).image_.get_clim()[0] == 0.0
    even = SpanSearchDisplay.from_search(searched(candidates, np.linspace(0.5, 0.9, 12)))
    assert even.image_.get_clim() == (0.5, 0.9)
    assert even.colorbar_.extend == "neither"


def test_left_of_0_are_the_errors_of_two_classes_only():
    margins = np.array([-1.0, 1.0, 2.0, -0.5, 1.0, 1.0])
    names = ("a", "b", "c")
    for labels, expected in ((np.arange(6) % 2, "errors left of 0"),
                             (np.arange(6) % 3, "left of 0 a class loses to another")):  # fmt: skip
        display = LooDisplay(margins, labels, names[: labels.max() + 1]).plot()
        assert expected in display.ax_.get_xlabel()
