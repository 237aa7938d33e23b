"""Every sentence of the report is true: of copies, classes, features, test rows, the headline."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler

from spansvm import ClassWeighting, DependentRowsWarning, SpanSearch, SpanSVC, exact_loo
from spansvm_app.report import Report, render_html
from spansvm_app.report.cautions import Duplicates
from spansvm_app.report.headline import frequencies, headline
from spansvm_app.report.overstated import of_copies, of_leaks, of_neighbours, worst
from spansvm_app.report.plain import percent
from spansvm_app.studies.association import explained_share
from tests.problems import reference_wilson
from tests.wording import tells

pytest.importorskip("jinja2", reason="jinja2 is not installed")


def reported(X, y, grid, *, search=None, model=None, **options):
    model = make_pipeline(MinMaxScaler(), SpanSVC()) if model is None else model
    last = model.steps[-1][0]
    named = {f"{last}__{name}": values for name, values in grid.items()}
    found = SpanSearch(model, named, **(search or {})).fit(X, y)
    return found, Report.from_search(found, X, y, **options)


def with_copies(n_classes, n=220, n_copies=40, seed=0):
    """Rounded features; some rows are there twice, a few of them with another label."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 4)), 1)
    y = np.clip(np.round(X[:, 0] + 0.5 * rng.normal(size=n) + n_classes / 2), 0, n_classes - 1)
    again = rng.choice(n, n_copies)
    labels = np.where(rng.random(n_copies) < 0.25, (y[again] + 1) % n_classes, y[again])
    order = rng.permutation(n + n_copies)
    return np.vstack((X, X[again]))[order], np.concatenate((y, labels)).astype(int)[order]


# Copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_with_copies_one_setting_has_one_error_wherever_it_is_said(n_classes):
    X, y = with_copies(n_classes)
    grid = {"C": [0.3, 3.0, 30.0, 300.0], "gamma": [0.3, 3.0, 30.0]}
    search, report = reported(X, y, grid)
    content = json.loads(report.to_json())
    error = search.cv_results_["loo_error"][search.best_index_]
    assert report.leave_one_out.error == pytest.approx(error, abs=1e-12)
    assert content["summary"]["loo_error"] == report.leave_one_out.error
    assert sum(map(sum, content["leave_one_out"]["confusion"])) == y.size
    assert report.leave_one_out.n_errors == y.size - np.trace(report.leave_one_out.confusion)
    assert report.leave_one_out.n_errors == sum(
        one.n_errors for one in report.leave_one_out.classes
    )
    alone = {name: [search.best_params_[f"spansvc__{name}"]] for name in grid}
    order = np.random.default_rng(1).permutation(y.size)
    for rows in (np.arange(y.size), order):
        _, again = reported(X[rows], y[rows], alone)
        assert again.leave_one_out.n_errors == report.leave_one_out.n_errors


def test_with_every_row_doubled_the_error_of_the_page_is_the_exact_one():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (100, 6)).astype(float)
    y = (X[:, :3].sum(axis=1) + rng.normal(0, 1.5, 100) > 4.5).astype(int)
    X, y = np.vstack((X, X)), np.concatenate((y, y))
    search, report = reported(X, y, {"C": [1.0, 32.0, 1024.0], "gamma": [0.1, 1.0, 8.0]})
    exact = exact_loo(search.best_estimator_[-1], MinMaxScaler().fit_transform(X), y)
    assert report.leave_one_out.n_errors == ((exact > 0) != y).sum()
    assert search.cv_results_["loo_error"][search.best_index_] == report.leave_one_out.error


def test_copies_are_counted_and_their_effect_is_that_of_leaving_them_out_together():
    X, y = with_copies(2)
    search, report = reported(X, y, {"C": [3.0], "gamma": [3.0]})
    frame = pd.DataFrame(X)
    of_row = frame.groupby(list(frame)).ngroup().to_numpy()
    same = pd.DataFrame({"row": of_row, "label": y}).duplicated(keep=False)
    sizes = pd.Series(of_row).map(pd.Series(of_row).value_counts())
    own = pd.DataFrame({"row": of_row, "label": y}).value_counts()
    n_own = np.array([own[row, label] for row, label in zip(of_row, y, strict=True)])
    found = report.duplicates
    assert found.n_repeated == frame.duplicated().sum()
    assert found.n_same == same.sum()
    assert found.n_other == (sizes > n_own).sum() > 0
    model = make_pipeline(MinMaxScaler(), SpanSVC(C=3.0, gamma=3.0))
    model.fit(X, y, spansvc__groups=of_row)
    assert found.error_together == pytest.approx(model[-1].loo_error_)
    (caution,) = report.cautions
    assert caution.startswith(f"{found.n_repeated} of {y.size} rows repeat an earlier one")
    together, alone = percent(found.error_together), percent(report.leave_one_out.error)
    assert f"if copies leave together, the error is {together} instead of {alone}" in caution
    assert caution in render_html(report).replace("&#39;", "'")
    # In groups of their own, copies leave together already.
    grouped = SpanSearch(make_pipeline(MinMaxScaler(), SpanSVC()), {"spansvc__C": [3.0]})
    assert Report.from_search(grouped.fit(X, y, groups=of_row), X, y).duplicates is None
    del search


def test_groups_are_not_advised_where_they_are_given():
    X, y = with_copies(2)
    advice = "give each set of copies a group of its own."
    search, report = reported(X, y, {"C": [3.0], "gamma": [3.0]})
    assert report.cautions[0].endswith(f"remove the copies, or {advice}")
    # The rows of a group are neighbours in the file, so most copies are in another one.
    groups = np.arange(y.size) // 5
    grouped = SpanSearch(make_pipeline(MinMaxScaler(), SpanSVC()), {"spansvc__C": [3.0]})
    within = Report.from_search(grouped.fit(X, y, groups=groups), X, y, analyses=False)
    assert within.duplicates.grouped
    # With folds, only the caller knows of the groups.
    by_folds = Report.from_search(search, X, y, analyses=False, facts={"rows": {"grouped": True}})
    for told in (within, by_folds):
        assert told.cautions[0].endswith("repeat old ones as often, remove the copies.")


def test_copies_are_one_sentence_and_none_if_they_change_nothing():
    found = Duplicates(n_rows=90, n_repeated=9, n_same=18, n_other=3, error_together=0.0301)
    assert not found.matter(0.03)
    assert found.matter(0.02)
    assert " the error is 3.0% instead of 2.0%; if " in found.in_words(0.02)
    unknown = Duplicates(n_rows=90, n_repeated=9, n_same=18, n_other=3, error_together=None)
    assert unknown.matter(0.03)
    assert tells(unknown.in_words(0.03), "18 have a copy with the same label", "3 one with another")
    for one in (found, unknown):
        assert one.in_words(0.02).count(". ") == 0
    # Every row twice, and still none is ever wrong.
    X, y = clouds([60, 60])
    X[:, 0] += 10.0 * y
    _, report = reported(np.vstack((X, X)), np.append(y, y), {"C": [1.0]})
    assert report.duplicates.n_repeated == 120
    assert report.cautions == report.analyses.notes == []


def test_a_single_copy_is_counted_but_no_caution():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), np.arange(150) % 2
    X[:, 0] += 2 * y
    _, report = reported(np.vstack((X, X[:1])), np.append(y, y[0]), {"C": [1.0]})
    assert (report.duplicates.n_repeated, report.duplicates.n_same) == (1, 2)
    assert report.cautions == []
    _, report = reported(X, y, {"C": [1.0]})
    assert report.duplicates is None


# Features -------------------------------------------------------------------------------------


def test_the_share_explained_is_an_adjusted_r_squared():
    rng = np.random.default_rng(0)
    own = rng.integers(0, 3, 200)
    text = np.array(["a", "b", "c", "d"])[(own + (rng.random(200) < 0.4)) % 4]
    groups = pd.get_dummies(text).to_numpy(float)
    labels = pd.get_dummies(own).to_numpy(float)
    fitted = LinearRegression().fit(groups, labels).predict(groups)
    within, total = (labels - fitted).var(axis=0).sum(), labels.var(axis=0).sum()
    expected = 1 - within / total * (200 - 1) / (200 - 4)
    assert explained_share(text, own) == pytest.approx(expected)


def test_numbers_and_texts_are_measured_alike_and_names_of_rows_explain_nothing():
    rng = np.random.default_rng(0)
    own = np.arange(300) % 2
    shifted = own + rng.normal(size=300)
    assert explained_share(shifted, own) > 0.15
    # Not only differences of means: a class in the middle.
    spread = np.where(own, rng.normal(0, 0.3, 300), rng.choice([-1, 1], 300) + rng.normal(0, 0.3))
    assert explained_share(spread, own) > 0.5
    assert explained_share(np.where(own, "yes", "no"), own) == 1.0
    assert explained_share(np.array([f"row {i}" for i in range(300)]), own) == 0.0
    noise = [explained_share(rng.integers(0, 60, 300).astype(str), own) for _ in range(40)]
    assert abs(np.mean(noise)) < 0.03
    for side in (1.0, -1.0):  # one value in most rows, at either end
        piled = np.where(np.arange(300) % 10 > 1, 0.0, side * (0.1 + rng.random(300)))
        assert explained_share(piled, (piled != 0).astype(int)) > 0.95
    missing = np.where(own, np.nan, rng.normal(size=300))
    assert explained_share(missing, own) > 0.9
    assert explained_share(np.full(300, np.nan), own) == explained_share(own * 0.0, own) == 0.0


def test_the_features_that_are_shown_tell_most_whether_numbers_or_texts():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(200) % 3 == 0, "bad", "good")
    frame = pd.DataFrame({f"noise {i}": rng.normal(size=200) for i in range(12)})
    frame["leak"] = np.where(rng.random(200) < 0.03, "B", np.where(y == "bad", "A", "B"))
    frame["weak"] = rng.normal(size=200) + (y == "bad")
    steps = make_column_transformer(
        (MinMaxScaler(), [name for name in frame if name != "leak"]), (OneHotEncoder(), ["leak"])
    )
    _, report = reported(frame, y, {"C": [1.0]}, model=make_pipeline(steps, SpanSVC()))
    assert report.suspicious.features[:2] == ["leak", "weak"]
    assert "share of the labels' variance that a feature alone explains" in report.suspicious.choice
    assert "leak 9" in report.suspicious.choice


def test_rows_that_agree_with_the_others_are_not_suspicious():
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.argsort(X[:, 22])[np.r_[0:60, -60:0]]
    _, report = reported(X[rows], y[rows], {"C": [10.0]})
    assert report.leave_one_out.n_errors == 0
    assert report.suspicious.rows == []
    assert "contradict none of the labels" in render_html(report)


# Classes that are not predicted ---------------------------------------------------------------


def clouds(sizes, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return 3.0 * rng.normal(size=(len(sizes), 3))[y] + rng.normal(0, 0.4, (y.size, 3)), y


def test_a_class_of_one_row_gets_advice_that_can_help():
    X, y = clouds([60, 60, 1])
    search, report = reported(X, y, {"C": [10.0]})
    assert 2 in search.predict(X)
    (caution,) = report.cautions
    assert caution.startswith("'2' has a single row. Left out, nothing remains")
    assert "balanced_accuracy" not in caution
    _, report = reported(*clouds([60, 60, 1, 1]), {"C": [10.0]})
    assert report.cautions[0].startswith("'2', '3' have a single row each.")
    assert not {"2", "3"} & {row.label for row in report.suspicious.rows}
    # Even if other rows are predicted to be of that class.
    X[-1] = X[0] + 0.01
    y = np.where(np.arange(y.size) < 3, 1, y)
    search, report = reported(X, y, {"C": [1000.0], "gamma": [300.0]})
    assert report.cautions[-1].startswith("'2' has a single row.")
    assert "2" not in {row.label for row in report.suspicious.rows}


def test_classes_of_the_same_fate_share_a_caution():
    rng = np.random.default_rng(0)
    X, y = clouds([80, 80])
    X = np.vstack((X, X.mean(axis=0) + rng.normal(0, 3.0, (19, 3))))
    y = np.append(y, np.repeat(np.arange(2, 9), [2, 2, 3, 2, 2, 2, 6]))
    _, report = reported(X, y, {"C": [0.1]})
    tiny, rare = report.cautions
    assert tells(tiny, "never predicts '2', '3', '4', '5', ..., '7' (6 in all)", "13 of 179 rows")
    assert "balanced_accuracy" not in tiny
    assert tells(rare, "never predicts '8'", "6 of 179 rows", "balanced_accuracy")
    # The list of suspects names them all in brief, too.
    assert "'2', '3', '4', '5', ..., '8' (7 in all) are not listed" in report.suspicious.explanation


def test_a_class_that_only_training_rows_get_is_not_called_never_predicted():
    # Each row of the third class is alone among rows of the first.
    places = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    rare = np.array([[1.5, 1.5], [5.5, 1.5], [1.5, 5.5], [5.5, 5.5], [3.5, 3.5]])
    places = places[np.abs(places[:, None] - rare).max(axis=2).min(axis=1) > 0.9]
    X, y = np.vstack((places, places + 40.0, rare)), np.repeat([0, 1, 2], [44, 44, 5])
    # In this order neighbours are alike, which is another caution.
    given = {"grid": {"C": [10.0], "gamma": [1.0]}, "search": {"check_dependence": False}}
    search, report = reported(X, y, **given, model=make_pipeline(SpanSVC()))
    seen = (search.predict(X) == 2).sum()
    assert seen > 0
    assert 2 not in search.best_estimator_[-1].loo_predict_
    few, caution = report.cautions
    assert few == "There are only 93 rows."
    assert "never" not in caution
    assert f"the model predicts it only for {seen} rows that it was trained on" in caution
    assert "balanced_accuracy" in caution
    # The same rows as two classes, which share the caution.
    y[-2:] = 3
    search, report = reported(X, y, **given, model=make_pipeline(SpanSVC()))
    seen = (search.predict(X) > 1).sum()
    (caution,) = report.cautions[1:]
    assert tells(caution, "'2', '3'", "5 of 93 rows", f"only for {seen} rows")
    assert "never" not in caution


# The headline ---------------------------------------------------------------------------------


def test_frequencies_are_close_to_their_shares_and_of_the_same_number():
    for share in (0.0004, 0.0123, 0.0949, 0.251, 0.3, 0.5, 0.77, 0.996):
        (text,) = frequencies([share])
        count, _, of = text.split()
        assert int(count) / int(of) == pytest.approx(share, rel=0.11)
    assert frequencies([0.29, 0.30]) == ["3 of 10", "3 of 10"]
    assert frequencies([0.00001]) == ["fewer than 1 of 10000"]
    assert frequencies([0.02, 0.37]) == ["2 of 100", "37 of 100"]


def test_the_headline_says_the_corrected_error_and_the_largest_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.where(np.arange(200) % 10 < 3, "bad", "good")
    X[:, 0] += 0.4 * (y == "bad")
    _, report = reported(X, y, {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]})
    error = report.search.reported.value
    said = report.headline[0].split()
    assert int(said[1]) / int(said[3]) == pytest.approx(error, rel=0.11)
    assert "new rows would be misclassified" in report.headline[0]
    assert report.headline[1].startswith("Always predicting 'good' misclassifies 3")
    low, high = report.search.reported.interval
    assert low < 0.3 < high
    assert report.headline[1].endswith(
        ("the model does no better.", "it is not certain that the model does better.")
    )
    page = render_html(report)
    assert page.index('id="headline"') < page.index('class="setting"')
    assert json.loads(report.to_json())["summary"]["headline"] == report.headline


@pytest.mark.parametrize(
    ("scoring", "start"),
    [
        ("roc_auc", "Of two rows, one of each class, the model ranks the right one higher in "),
        ("balanced_accuracy", "If all classes were equally frequent, "),
        ("f1_macro", "The model's f1_macro is 0."),
    ],
)
def test_a_score_that_was_asked_for_is_said_first(scoring, start):
    X, y = load_breast_cancer(return_X_y=True)
    _, report = reported(X[::3], y[::3], {"C": [0.1, 1.0]}, search={"scoring": scoring})
    assert report.headline[0].startswith(start)
    assert report.headline[1].startswith("About ")


def of_unequal_classes(n=400, seed=1):
    """A rare class that is told apart, but by no means surely."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.2, "rare", "usual")
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.2 * (y == "rare")
    return X, y


def test_where_nothing_is_found_no_class_is_said_to_be_found():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.where(np.arange(60) % 2 == 0, "a", "b")
    _, report = reported(X, y, {"C": [1.0], "gamma": [0.1]})
    (step,) = [one for one in report.next_steps if one.topic == "Classes"]
    worst = max(report.leave_one_out.classes, key=lambda one: one.n_errors / one.n_rows)
    assert step.text.startswith(f"'{worst.label}' is missed most ({worst.n_errors} of ")


def test_of_unequal_classes_it_is_said_what_is_found_and_what_helps():
    X, y = of_unequal_classes()
    _, report = reported(X, y, {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]})
    figures = report.leave_one_out
    rare, usual = figures.classes
    assert figures.unequal
    assert figures.ranks
    said = f"It finds {rare.n_rows - rare.n_errors} of {rare.n_rows} 'rare' and "
    assert any(one.startswith(said) for one in report.headline)
    assert not any("labels may be noisy" in one for one in report.cautions)
    (step,) = [one for one in report.next_steps if one.topic == "Classes"]
    assert tells(step.text, "'rare' is often missed", f"{rare.n_errors} of {rare.n_rows}")
    assert tells(step.text, "--scoring balanced_accuracy", "--cost")
    assert report.suggested_scoring == "balanced_accuracy"
    page = render_html(report)
    assert page.index('id="next"') < page.index('class="tiles"') < page.index('id="contents"')
    assert usual.n_rows > rare.n_rows


def test_what_is_found_is_said_of_a_hundred_rows_unless_a_few_would_become_none_or_all():
    X, y = of_unequal_classes()
    _, report = reported(X, y, {"C": [1.0], "gamma": [0.1, 1.0]})
    rare, usual = report.leave_one_out.classes

    def said(n_missed_rare, n_missed_usual):
        classes = [
            replace(rare, n_rows=192, n_errors=n_missed_rare),
            replace(usual, n_rows=422, n_errors=n_missed_usual),
        ]
        figures = replace(report.leave_one_out, classes=classes)
        (found,) = [one for one in headline(report.search, figures) if "It finds" in one]
        return found

    assert said(110, 7).startswith("It finds 43 of 100 'rare' and 98 of 100 ")
    assert said(96, 0).startswith("It finds 50 of 100 'rare' and 100 of 100 ")
    assert said(110, 1).startswith("It finds 82 of 192 'rare' and 421 of 422 ")
    assert said(191, 7).startswith("It finds 1 of 100 'rare' and 98 of 100 ")
    assert said(192, 7).startswith("It finds 0 of 100 'rare' and 98 of 100 ")


def test_of_many_classes_the_least_found_is_one_of_which_something_is_known():
    X, y = with_copies(4)
    _, report = reported(X, y, {"C": [1.0], "gamma": [0.1, 1.0]})
    classes = [
        replace(one, n_rows=n_rows, n_errors=n_errors)
        for one, n_rows, n_errors in zip(
            report.leave_one_out.classes, (1, 40, 5, 150), (1, 10, 1, 60), strict=True
        )
    ]

    def said(classes):
        figures = replace(report.leave_one_out, classes=classes)
        return headline(report.search, figures)[-1]

    assert said(classes) == "It finds 60 of 100 '3', the least of all classes with 5 or more rows."
    assert said([replace(classes[0], n_rows=9, n_errors=9), *classes[1:]]) == (
        "It finds 0 of 9 '0', the least of all classes."
    )


def test_labels_are_called_noisy_only_if_nothing_is_told_apart():
    rng = np.random.default_rng(0)
    X, y = of_unequal_classes()
    noise = rng.normal(size=X.shape)
    for rows, noisy in ((X, False), (noise, True)):
        grid = {"C": [1000.0], "gamma": [30.0]}  # all classes are predicted
        _, report = reported(rows, y, grid)
        assert not report.leave_one_out.never_said
        assert report.leave_one_out.ranks == (not noisy)
        low, high = report.leave_one_out.operations[0].interval
        assert (low <= 0.5 <= high) == noisy
        assert any("labels may be noisy" in one for one in report.cautions) == noisy
    # An error clearly below that of the largest class is no reason for a caution.
    X = np.column_stack((X, (y == "rare") + rng.normal(0, 0.4, y.size)))
    _, report = reported(X, y, {"C": [1.0]})
    assert report.leave_one_out.interval[1] < report.leave_one_out.majority_error
    assert report.cautions == []


def test_the_interval_of_an_area_covers_it():
    rng, covered = np.random.default_rng(0), 0
    from spansvm_app.report.loo_figures import _interval_of_area

    for _ in range(300):
        values = np.append(rng.normal(size=60) + 1.0, rng.normal(size=140))
        area = roc_auc_score(np.arange(200) < 60, values)
        low, high = _interval_of_area(area, 60, 140)
        covered += low <= 0.76025 <= high  # P(N(1, 2) > 0)
    assert 276 <= covered <= 297


def test_on_a_leak_the_headline_is_the_error_without_it():
    data = load_breast_cancer(as_frame=True)
    y = np.array(["malignant", "benign"])[data.target]
    frame = data.data.iloc[::2, :3].assign(result=1.0 * data.target[::2])
    _, report = reported(frame, y[::2], {"C": [1.0, 10.0]})
    without = report.analyses.leaks.error_without_all
    found = re.match(r"Without 'result', .* about (\d+) of (\d+) new rows", report.headline[0])
    assert int(found[1]) / int(found[2]) == pytest.approx(without, rel=0.11)
    assert report.headline[1].startswith("With it, none: believe that only if")
    assert tells(report.next_steps[0].text, "'result'", "--drop")


def test_with_copies_the_headline_is_the_error_without_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.arange(100) % 2
    order = rng.permutation(200)
    X, y = np.vstack((X, X))[order], np.tile(y, 2)[order]
    _, report = reported(X, y, {"C": [1.0, 100.0], "gamma": [30.0]})
    assert report.leave_one_out.error < 0.05
    found = re.match(r"Without copies .* about (\d+) of (\d+) new rows", report.headline[0])
    together = report.duplicates.error_together
    assert int(found[1]) / int(found[2]) == pytest.approx(together, rel=0.11)
    assert report.headline[1].startswith("With them, ")
    assert report.headline[1].endswith("believe that only if new rows repeat old ones as often.")
    assert tells(report.next_steps[0].text, "--groups duplicates")


def wandering(n_rows=300):
    """Sensors that wander, labels of which 40 in a row are equal, and a quantity that wanders."""
    rng = np.random.default_rng(0)
    X, quantity = rng.normal(size=(n_rows, 4)).cumsum(axis=0), rng.normal(size=n_rows).cumsum()
    return X, np.arange(n_rows) // 40 % 2, quantity


def test_with_neighbours_that_depend_on_each_other_the_headline_is_the_error_without_them():
    X, y, _ = wandering()
    with pytest.warns(DependentRowsWarning):
        search, report = reported(X, y, {"C": [1.0, 100.0], "gamma": [1.0, 30.0]})
    known = search.dependence_
    found = re.match(
        r"Without the rows beside .* about (\d+) of (\d+) new rows", report.headline[0]
    )
    assert int(found[1]) / int(found[2]) == pytest.approx(known.error[known.most], rel=0.11)
    (size,) = known.block_size[[known.most]]
    caution = report.cautions[0]
    assert tells(caution, f"if {size} neighbours leave together", percent(known.error[known.most]))
    assert percent(known.exchanged_error[known.most]) in caution
    assert tells(report.next_steps[0].text, "--groups COLUMN", f"blocks of {size} rows")
    assert json.loads(report.to_json())["overstated"][0]["error"] == known.error[known.most]


def test_of_several_reasons_the_largest_error_is_said_and_none_that_is_smaller():
    copies, leak = of_copies(0.2), of_leaks(["result"], 0.3)
    assert worst([copies, leak], 0.1) is leak
    assert worst([copies, None], 0.1) is copies
    assert worst([copies, leak], 0.3) is worst([], 0.0) is None
    assert of_copies(None) is of_neighbours(None, float) is None


def test_a_better_model_of_another_kind_is_in_the_headline(trees):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 12))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)  # a linear kernel finds nothing
    model = make_pipeline(MinMaxScaler(), SpanSVC(kernel="linear"))
    _, report = reported(X, y, {"C": [1.0]}, model=model)
    better = report.analyses.comparison.better
    assert better.name == "gradient boosting"
    assert any("beyond chance: gradient boosting misclassifies" in one for one in report.headline)
    # Of one rival that is as good, nothing is said.
    _, report = reported(X[:, :2], X[:, 0] > 0, {"C": [10.0]}, model=model)
    assert report.analyses.comparison.better is None
    assert not any("Another model" in one for one in report.headline)


@pytest.mark.parametrize("labels", [[0, 1], [1, 2], ["a", "b"]])
def test_the_positive_class_is_the_same_throughout(labels):
    X, y = of_unequal_classes(240)
    y = np.where(y == "rare", labels[0], labels[1])
    _, report = reported(X, y, {"C": [1.0]})
    positive = str(labels[1] if labels[1] == 1 else labels[0])  # 1 of 0 and 1, else the rarer
    (operation,), (curve,) = report.leave_one_out.operations, report.analyses.decisions.curves
    named = (operation.label, curve.label, report.leave_one_out.calibration.of)
    assert {str(one) for one in named} == {str(report.analyses.decisions.costs.label)} == {positive}
    own = y.astype(str) == positive
    assert curve.share == own.mean()
    observed = np.average(
        report.leave_one_out.calibration.observed, weights=report.leave_one_out.calibration.n_rows
    )
    assert observed == pytest.approx(own.mean())


# Test rows ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    y = np.array(["malignant", "benign"])[data.target]
    return data.data[::2], y[::2]


@pytest.mark.parametrize(
    ("error", "n_rows", "findings"),
    [
        (0.02, 200, ["is within the 95% CI"]),
        (0.10, 20, ["is above the 95% CI .* With 20 test rows that may be chance"]),
        (0.30, 200, ["is above the 95% CI .* This is more than chance"]),
        (
            0.55,
            200,
            ["is above the 95% CI", "no better than always predicting their largest class"],
        ),
        (0.0, 200, ["is below the 95% CI .* that may be chance"]),
    ],
)
def test_a_test_error_is_compared_with_the_search_and_the_largest_class(
    cancer, error, n_rows, findings
):
    test = {"error": error, "n_rows": n_rows, "majority_error": 0.4}
    _, report = reported(*cancer, {"C": [1.0, 10.0]}, test=test)
    low, high = report.search.reported.interval
    assert 0.0 < low < 0.02 < high < 0.1
    assert len(report.tested.findings) == len(findings)
    for sentence, part in zip(report.tested.findings, findings, strict=True):
        assert re.search(part, sentence)
        assert sentence in render_html(report)
    assert report.tested.doubts == ([] if error == 0.02 else report.tested.findings)
    assert json.loads(report.to_json())["summary"]["test_findings"] == report.tested.findings


def test_test_rows_have_the_score_an_interval_and_a_confusion_matrix(cancer):
    test = {
        "error": 0.1, "n_rows": 50, "n_errors": 5, "interval": [0.043, 0.214], "log_loss": 0.3,
        "score_name": "balanced_accuracy", "score": 0.91, "majority_error": 0.4, "roc_auc": None,
        "classes": ["benign", "malignant"], "source": "new.csv", "findings": [],
        "confusion": [[28, 2], [3, 17]],
    }  # fmt: skip
    options = {"search": {"scoring": "balanced_accuracy"}, "test": test}
    _, report = reported(*cancer, {"C": [1.0, 10.0]}, **options)
    page = render_html(report).split('<section id="test">')[1].split("</section>")[0]
    assert "<dd>10.0%, 5 misclassified (95% CI 4.3% to 21.4%)</dd>" in page
    assert "<dt>balanced_accuracy</dt><dd>0.91</dd>" in page
    assert "<dt>log loss of the probabilities</dt>" in page
    assert '<td class="n wrong">3</td>' in page
    for raw in ("n_rows", "n_errors", "majority_error", "score_name", "roc_auc", "source"):
        assert raw not in page
    assert any("The balanced_accuracy of the test rows, 0.91, is" in one
               for one in report.tested.findings)  # fmt: skip


# The recipe -----------------------------------------------------------------------------------


def rebuilt(report, X, y, **names):
    space = {"X": X, "y": y, **names}
    exec(report.recipe.code, space)
    return space["model"]


def test_the_code_rebuilds_a_pipeline_with_scaling_encoding_and_weights(cancer):
    X, y = cancer
    X = X.iloc[:, :5].assign(size=np.where(X["mean area"] > 600, "big", "small"))
    steps = make_column_transformer(
        (StandardScaler(), list(X)[:-1]), (OneHotEncoder(handle_unknown="ignore"), ["size"])
    )
    machine = SpanSVC(gamma="auto", weighting=ClassWeighting(), tol=1e-5)
    grid = {"weighting__positive": [1.0, 2.5], "weighting__negative": [0.5], "C": [3.0]}
    search, report = reported(X, y, grid, model=make_pipeline(steps, machine))
    model = rebuilt(report, X, y)
    np.testing.assert_array_equal(model.predict(X), search.predict(X))
    np.testing.assert_allclose(model.decision_function(X), search.decision_function(X))
    scaling, encoding, svm = report.recipe.steps
    assert (scaling.what, encoding.what) == ("StandardScaler", "OneHotEncoder")
    assert encoding.columns == "size"
    assert svm.settings["kernel"] == "rbf"
    assert svm.settings["gamma"] == 1 / 7
    assert svm.settings["tolerance"] == 1e-5
    weight = search.best_params_["spansvc__weighting__positive"]
    assert svm.settings["C by class"] == {"benign": 1.5, "malignant": 3 * weight}
    assert f"C by class = benign: 1.5, malignant: {3 * weight:g}</span>" in render_html(report)
    assert "StandardScaler, OneHotEncoder → SVM with kernel rbf, gamma = 0.1429" in render_html(
        report
    )
    content = json.loads(report.to_json())["recipe"]
    assert content["steps"][2]["settings"] == svm.settings
    assert "gamma=0.14285714285714285" in content["code"]


def test_the_code_rebuilds_a_model_with_weights_of_rows(cancer):
    X, y = cancer
    weight = np.linspace(0.5, 2.0, y.size)
    search = SpanSearch(SpanSVC(kernel="poly", gamma=0.01, coef0=1.0), {"C": [0.1, 1.0]})
    rows = MinMaxScaler().fit_transform(X)
    search.fit(rows, y, sample_weight=weight)
    report = Report.from_search(search, rows, y, fit_arguments={"sample_weight": "weight"})
    model = rebuilt(report, rows, y, weight=weight)
    np.testing.assert_allclose(model.decision_function(rows), search.decision_function(rows))
    low, high = report.recipe.steps[-1].settings["C by class"]["benign"]
    assert low < high


def test_what_cannot_be_written_as_code_is_not(cancer):
    steps = make_pipeline(FunctionTransformer(np.log1p), SpanSVC())
    _, report = reported(*cancer, {"C": [1.0]}, model=steps)
    assert report.recipe.code is None
    assert "Python code that makes the model" not in render_html(report)
    assert report.recipe.steps[0].what == "FunctionTransformer"


# Small things ---------------------------------------------------------------------------------


def test_a_single_candidate_is_not_called_the_best_of_any(cancer):
    _, report = reported(*cancer, {"C": [1.0]})
    assert "best of 1" not in render_html(report)
    assert "optimistic" not in render_html(report)


def test_the_time_of_the_search_is_that_of_the_clock(cancer):
    search, report = reported(*cancer, {"C": [0.1, 1.0, 10.0]}, search={"n_jobs": 2})
    assert report.search.seconds == search.search_time_ > 0


def test_a_bound_that_the_error_exceeds_is_not_called_one():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), np.arange(120) % 2
    _, report = reported(X, y, {"C": [0.01]})
    error = report.trust.estimates[0].value
    below = [one for one in report.trust.estimates[1:] if one.value < error]
    assert {one.name for one in below} >= {"jaakkola_haussler"}
    for one in below:
        if one.name in ("jaakkola_haussler", "radius_margin"):
            assert one.meaning.endswith("not for this one, whose error is larger")


def test_how_the_search_was_made_is_said_once_and_a_partial_result_first(cancer):
    widened = "The best gamma was at the edge of the grid, so values above it were tried too."
    stopped = "The search was stopped by Ctrl-C, after 2 of 40 candidates."
    facts = {
        "search": {"name": "C-gamma", "n_planned": 40, "why": "Gamma is searched around 1/d."},
        "seconds": 12.5,
        "stopped": {"reason": "interrupted", "n_done": 2, "n_planned": 40, "in_words": stopped},
        "widened": [{"parameter": "svm__gamma", "in_words": widened}],
        "sample": None,
        "rows": {"n_rows": 285, "n_without_label": 3},
    }
    notes = [f"Partial: {stopped}", widened, "Something else."]
    facts["notes"] = notes[:2]
    _, report = reported(*cancer, {"C": [1.0, 10.0]}, facts=facts, notes=notes)
    page = render_html(report)
    assert page.index(stopped) < page.index('class="setting"')
    for sentence in (stopped, widened, "Gamma is searched around 1/d.", "Something else."):
        assert page.count(sentence) == 1
    assert "Rows without a label that were left out: 3." in page
    assert "12.5 s, and" in page
    assert json.loads(report.to_json())["facts"]["seconds"] == 12.5


def test_class_weights_are_said_in_words(cancer):
    grid = {"C": [1.0, 10.0], "class_weight": [{"malignant": 1.0}, {"malignant": 2.5}]}
    _, report = reported(*cancer, grid)
    names = [axis.name for axis in report.search.axes]
    assert names == ["C", "class weights"]
    assert report.search.axes[1].labels == ["none", "malignant: 2.5"]


def test_rows_of_equal_probability_are_one_point_of_the_calibration_curve():
    # Five kinds of rows, sorted by label: cut through a kind, groups would tell of that order.
    shares = [0.1, 0.2, 0.3, 0.8, 0.9]
    kinds = np.repeat(np.arange(5), 60)
    y = np.concatenate([np.arange(60) < share * 60 for share in shares]).astype(int)
    sorted_by_it = {"check_dependence": False}
    _, report = reported(
        kinds[:, None].astype(float), y, {"C": [1.0], "gamma": [1.0]}, search=sorted_by_it
    )
    calibration = report.leave_one_out.calibration
    assert sum(calibration.n_rows) == y.size
    assert all(np.diff(calibration.predicted) > 1e-9)
    assert min(calibration.n_rows) >= 6


def test_values_that_have_commas_are_told_apart():
    X, y = clouds([40, 30, 20])
    weights = [None, {0: 1.0, 1: 2.0, 2: 3.0}, {0: 1.0, 1: 3.0, 2: 5.0}]
    _, report = reported(X, y, {"C": [1.0], "class_weight": weights})
    (axis,) = (axis for axis in report.search.axes if axis.name == "class weights")
    assert axis.range_in_words == "; ".join(axis.labels)


def test_the_error_of_a_machine_without_in_bound_vectors_is_exact_too():
    X, y = clouds([30, 30])
    search, report = reported(X, y, {"C": [1e-4]})
    assert report.trust.pairs[0].n_in_bound == 0
    assert report.trust.doubts == []
    assert "were followed exactly" in report.trust.verdict
    model = search.best_estimator_[-1]
    exact = exact_loo(model, search.best_estimator_[:-1].transform(X), y)
    assert report.leave_one_out.error == np.mean(np.where(y == y.max(), exact, -exact) <= 0)


def test_the_end_of_an_interval_above_zero_does_not_look_like_zero():
    assert [percent(end) for end in reference_wilson(0, 8124)] == ["0.0%", "0.05%"]
    assert percent(0.0005) == "0.1%"
