"""What the report of a regression says, against scikit-learn and direct computation."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spansvm import DependentRowsWarning, SpanSearch, SpanSVC, SpanSVR
from spansvm_app.report import RegressionReport, Report, render_html
from spansvm_app.studies.target_baselines import compare_target_baselines
from spansvm_app.studies.target_errors import error_difference, errors_of
from spansvm_app.studies.target_influence import measure_target_influence
from spansvm_app.studies.target_learning import target_learning_curve
from spansvm_app.studies.target_subject import TargetSubject

pd = pytest.importorskip("pandas")
pytest.importorskip("jinja2")

GRID = {"spansvr__C": [30, 300], "spansvr__gamma": [0.01, 0.1], "spansvr__epsilon": [10]}


@pytest.fixture(scope="module")
def data():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X[:200], y.to_numpy()[:200]


@pytest.fixture(scope="module")
def search(data):
    model = make_pipeline(StandardScaler(), SpanSVR())
    return SpanSearch(model, GRID).fit(*data)


@pytest.fixture(scope="module")
def report(search, data):
    return RegressionReport.from_search(search, *data, title="<b>diabetes</b>", command="this one")


@pytest.fixture(scope="module")
def subject(search, data):
    return TargetSubject.of(search.best_estimator_, *data, list(data[0].columns))


@pytest.fixture(scope="module")
def retrained(search, data):
    """Left-out predictions of the selected setting by scikit-learn."""
    X, y = data
    X = StandardScaler().fit_transform(X)
    best = {name.partition("__")[2]: value for name, value in search.best_params_.items()}
    said = np.empty(y.size)
    for row in range(y.size):
        rest = np.arange(y.size) != row
        model = SVR(**best, tol=1e-9).fit(X[rest], y[rest])
        said[row] = model.predict(X[row : row + 1])[0]
    return said


def test_left_out_figures_are_those_of_retraining(report, retrained, data):
    y, errors = data[1], report.left_out.errors
    assert errors.rmse == pytest.approx(root_mean_squared_error(y, retrained), rel=1e-6)
    assert errors.mae == pytest.approx(mean_absolute_error(y, retrained), rel=1e-6)
    assert errors.r2 == pytest.approx(r2_score(y, retrained), rel=1e-6)
    actual, said = np.array(report.left_out.points).T
    assert np.array_equal(actual, y)
    assert np.abs(said - retrained).max() < 1e-3


def test_the_headline_states_the_corrected_error(report, search, data):
    off = data[1].std() * np.sqrt(1 - search.corrected_score_)
    assert report.expected.rmse == pytest.approx(off)
    assert f"off by about {off:.3g} (root mean squared" in report.headline[0]
    low, high = search.corrected_interval_
    assert report.headline[1] == (
        f"R2 is {search.corrected_score_:.2f} (95% CI {low:.2f} to {high:.2f})."
    )
    n = data[1].size
    mean = data[1].std() * n / (n - 1)  # each row without itself
    assert f"mean is off by {mean:.3g}." in report.headline[2]


@pytest.mark.parametrize("scoring", ["neg_root_mean_squared_error", "neg_mean_squared_error"])
def test_the_error_follows_from_any_squared_score(data, scoring):
    X, y = data
    model = make_pipeline(StandardScaler(), SpanSVR())
    search = SpanSearch(model, GRID, scoring=scoring).fit(X, y)
    found = RegressionReport.from_search(search, X, y, analyses=False).expected
    score = search.corrected_score_
    off = -score if "root" in scoring else np.sqrt(-score)
    assert found.corrected
    assert found.rmse == pytest.approx(off)
    assert found.r2 == pytest.approx(1 - off**2 / y.var())


def test_intervals_of_errors_cover_and_know_groups():
    covered, rng = 0, np.random.default_rng(0)
    for _ in range(200):
        y, said = rng.normal(size=80), np.zeros(80)
        low, high = errors_of(y, said).rmse_interval
        covered += low <= 1.0 <= high
    assert 170 <= covered <= 199
    y = np.repeat(rng.normal(size=20), 10)
    alone = errors_of(y, np.zeros(200))
    grouped = errors_of(y, np.zeros(200), np.repeat(np.arange(20), 10))
    assert grouped.rmse == pytest.approx(alone.rmse)
    assert np.ptp(grouped.rmse_interval) > 2 * np.ptp(alone.rmse_interval)


def test_the_error_of_a_difference_is_that_of_drawn_rows():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 300))
    second += 0.5 * first
    found = error_difference(first, second)
    assert found.value == pytest.approx(np.sqrt((first**2).mean()) - np.sqrt((second**2).mean()))
    drawn = rng.integers(300, size=(4000, 300))
    values = np.sqrt((first[drawn] ** 2).mean(1)) - np.sqrt((second[drawn] ** 2).mean(1))
    assert found.standard_error == pytest.approx(values.std(), rel=0.1)


def test_baselines_are_those_of_scikit_learn(subject, data):
    X, y = StandardScaler().fit_transform(data[0]), data[1]
    found = {one.name: one for one in compare_target_baselines(subject).baselines}
    folds = KFold(10, shuffle=True, random_state=0)
    for name, model in (
        ("ridge regression", Ridge()),
        ("10 nearest neighbours", KNeighborsRegressor(10)),
    ):
        said = cross_val_predict(model, X, y, cv=folds)
        assert found[name].rmse == pytest.approx(root_mean_squared_error(y, said))
        assert found[name].r2 == pytest.approx(r2_score(y, said))
    n = y.size
    assert found["the mean"].rmse == pytest.approx(y.std() * n / (n - 1))
    plain = SpanSVR().fit(X, y)
    assert found["SVR with default parameters"].rmse == pytest.approx(plain.loo_error_, rel=1e-6)


def test_influence_is_that_of_permuted_rows_predicted_without_themselves(subject, search, data):
    """Retrained without each row, by scikit-learn; the permutations are drawn in the same order."""
    X, y = data
    found = {one.column: one for one in measure_target_influence(subject, columns=[2]).features}
    best = {name.partition("__")[2]: value for name, value in search.best_params_.items()}
    scaler = StandardScaler().fit(X)
    rng = np.random.default_rng(0)
    drawn = [rng.permutation(y.size) for _ in range(5)]
    squares, own = np.empty((5, y.size)), np.empty(y.size)
    rows = scaler.transform(X)
    for row in range(y.size):
        rest = np.arange(y.size) != row
        model = SVR(**best, tol=1e-9).fit(rows[rest], y[rest])
        changed = np.repeat(X.iloc[row : row + 1].to_numpy(), 6, axis=0)
        changed[1:, 2] = [X.iloc[order[row], 2] for order in drawn]
        said = model.predict(scaler.transform(pd.DataFrame(changed, columns=X.columns)))
        own[row], squares[:, row] = y[row] - said[0], (y[row] - said[1:]) ** 2
    increase = np.sqrt(squares.mean()) - np.sqrt((own**2).mean())
    assert found[2].increase == pytest.approx(increase, rel=1e-4)
    assert found[2].clear


def test_noise_has_no_influence():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = 3 * X[:, 0] + rng.normal(0, 0.5, 150)
    model = SpanSVR(C=10, gamma=0.1).fit(X, y)
    subject = TargetSubject.of(model, X, y, ["told", "noise", "more"])
    found = {one.name: one for one in measure_target_influence(subject).features}
    assert found["told"].clear
    assert not found["noise"].clear
    assert not found["more"].clear


def test_the_curve_ends_at_the_left_out_error_of_all_rows(subject, report):
    curve = target_learning_curve(subject)
    assert [one.n_rows for one in curve.points] == [25, 50, 100, 200]
    assert curve.points[-1].error == pytest.approx(report.left_out.errors.rmse, rel=1e-6)
    assert curve.points[0].error > curve.points[-1].error


def test_intervals_cover_what_they_promise(report):
    found = report.analyses.intervals
    assert [one.level for one in found.levels] == [0.5, 0.8, 0.9, 0.95]
    for one in found.levels:
        low, high = one.coverage_interval
        assert low - 0.03 < one.level < high + 0.03
    sizes = np.sort(np.abs(np.subtract(*np.array(report.left_out.points).T)))
    assert found.at(0.9).width == pytest.approx(2 * sizes[int(np.ceil(0.9 * 201)) - 1])


def test_the_most_doubtful_value_is_the_one_that_was_changed(data):
    X, y = data[0], data[1].copy()
    y[17] += 1000
    search = SpanSearch(make_pipeline(StandardScaler(), SpanSVR()), GRID).fit(X, y)
    report = RegressionReport.from_search(search, X, y, analyses=False)
    first = report.doubtful.rows[0]
    assert (first.row, first.actual) == (17, y[17])
    assert first.in_spreads > 10
    assert first.features == pytest.approx([X.iloc[17][name] for name in report.doubtful.features])


def test_the_program_of_the_report_rebuilds_the_model(report, search, data):
    X, y = data
    scope = {"X": X, "y": y}
    exec(report.recipe.code, scope)
    assert scope["model"].predict(X) == pytest.approx(search.predict(X), abs=1e-6)


def test_the_page_is_whole_and_escapes_what_comes_from_the_data(report):
    page = render_html(report)
    assert "<b>diabetes</b>" not in page
    assert "&lt;b&gt;diabetes" in page
    for section in ("targets", "intervals", "search", "comparison", "features", "learning",
                    "doubtful", "made"):  # fmt: skip
        assert f'<section id="{section}">' in page
    assert "http:" not in re.sub(r"http://www\.w3\.org/\S+", "", page)
    assert "nan" not in re.findall(r">([^<]*)<", page)
    content = json.loads(report.to_json())
    assert content["summary"]["loo_rmse"] == report.left_out.errors.rmse
    assert content["left_out"]["errors"]["rmse"] == report.left_out.errors.rmse


def test_a_search_of_an_svr_is_reported_as_that_of_a_spansvr(data, report):
    X, y = data
    grid = {name.replace("spansvr", "svr"): values for name, values in GRID.items()}
    search = SpanSearch(make_pipeline(StandardScaler(), SVR()), grid).fit(X, y)
    found = RegressionReport.from_search(search, X, y, analyses=False)
    assert found.left_out.errors.rmse == pytest.approx(report.left_out.errors.rmse, rel=1e-4)


def test_rows_and_classes_that_do_not_fit_are_refused(search, data):
    X, y = data
    with pytest.raises(ValueError, match="200 rows; X has 199"):
        RegressionReport.from_search(search, X[1:], y[1:])
    classes = SpanSearch(SpanSVC(), {"C": [1]}).fit(X, y > 100)
    with pytest.raises(TypeError, match="use Report"):
        RegressionReport.from_search(classes, X, y > 100)
    with pytest.raises(TypeError, match="RegressionReport"):
        Report.from_search(search, X, y)
    with pytest.raises(TypeError, match="use Report"):
        RegressionReport.from_search(SpanSearch(SVC(), {"C": [1]}).fit(X, y > 100), X, y > 100)


# Cautions ---------------------------------------------------------------------------------------


def cautions_of(X, y, **grid):
    search = SpanSearch(SpanSVR(), grid or {"C": [1.0], "gamma": [1.0]}).fit(X, y)
    return " ".join(RegressionReport.from_search(search, X, y, analyses=False).cautions)


def test_a_small_c_for_a_large_target_is_a_caution():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = 1e6 * X[:, 0] + 5e6
    with pytest.warns(UserWarning, match="standard deviation"):
        told = cautions_of(X, y, C=[1.0, 10.0], gamma=[0.1])
    assert f"C = 10 is small for a target whose standard deviation is {y.std():.0f}" in told
    assert "units of the target" in told
    assert "is small" not in cautions_of(X, y / 1e6, C=[1.0, 10.0], gamma=[0.1])


def test_targets_of_many_magnitudes_suggest_the_logarithm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    assert "logarithm" in cautions_of(X, np.exp(3 * X[:, 0]))
    assert "logarithm" not in cautions_of(X, np.exp(0.3 * X[:, 0]))
    assert "logarithm" not in cautions_of(X, X[:, 0])


def test_scales_copies_few_rows_and_noise_are_cautions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = X[:, 0] + rng.normal(0, 0.1, 100)
    assert cautions_of(X, y) == ""
    assert "nothing scales them" in cautions_of(X * [1, 1e5], y)
    assert "only 30 rows" in cautions_of(X[:30], y[:30])
    assert "hardly better than always predicting the mean" in cautions_of(X, rng.normal(size=100))
    X[50:] = X[:50]
    together = SpanSVR(C=1.0, gamma=1.0).fit(X, y, groups=np.arange(100) % 50).loo_error_
    told = cautions_of(X, y)
    assert "50 of 100 rows repeat an earlier one" in told
    assert f"off by {together:.3g} instead of" in told


# What makes left-out rows look better than new ones ---------------------------------------------


def told_of(frame, y, **grid):
    model = make_pipeline(StandardScaler(), SpanSVR(epsilon=0.1))
    given = grid or {"C": [1.0, 100.0], "gamma": [0.1, 1.0]}
    search = SpanSearch(model, {f"spansvr__{name}": values for name, values in given.items()})
    return search, RegressionReport.from_search(search.fit(frame, y), frame, y)


def off(sentence):
    return float(re.search(r"off by about ([\d.]+)", sentence)[1])


def test_on_a_leak_the_headline_is_the_error_without_it():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    y = X["a"].to_numpy() + rng.normal(size=120)
    _, report = told_of(X.assign(cost=np.exp(y / 3)), y)
    assert report.headline[0].startswith("Without 'cost', which perhaps gives the target away,")
    without = off(report.headline[0])
    _, alone = told_of(X, y)
    assert without == pytest.approx(alone.left_out.errors.rmse, rel=0.1)
    assert f"With it, by {report.expected.rmse:.3g}: believe that only if" in report.headline[1]
    (leak,) = report.analyses.leaks.found
    assert (leak.name, leak.column) == ("cost", 3)
    assert "without it predictions are off by" in " ".join(report.cautions)
    assert "'cost'" in report.next_steps[0].text
    assert "--drop" in report.next_steps[0].text
    assert alone.analyses.leaks.found == alone.overstated == []


def test_with_copies_the_headline_is_the_error_without_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    order = rng.permutation(160)
    X, y = np.vstack((X, X))[order], np.tile(y, 2)[order]
    _, report = told_of(X, y, C=[1.0, 100.0], gamma=[3.0])
    assert report.headline[0].startswith("Without copies of the same row, predictions")
    assert off(report.headline[0]) == pytest.approx(report.repeated.error_together, rel=0.01)
    assert report.headline[1].endswith("believe that only if new rows repeat old ones as often.")
    assert "--groups duplicates" in report.next_steps[0].text


def test_with_neighbours_that_depend_on_each_other_the_headline_is_the_error_without_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)).cumsum(axis=0), rng.normal(size=300).cumsum()
    with pytest.warns(DependentRowsWarning):
        search, report = told_of(X, y)
    known = search.dependence_
    error = y.std() * np.sqrt(known.error[known.most])
    assert report.headline[0].startswith("Without the rows beside them in the file, predictions")
    assert off(report.headline[0]) == pytest.approx(error, rel=0.01)
    assert f"neighbours leave together, predictions are off by {error:.3g}" in report.cautions[0]
    assert "--groups COLUMN" in report.next_steps[0].text
    assert report.headline[0] in render_html(report)
