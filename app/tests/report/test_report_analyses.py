"""The report's sections on the studies of the selected model."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder

from spansvm import SpanSearch, SpanSVC
from spansvm_app.report import Report, render_html
from tests.wording import tells

pytest.importorskip("jinja2", reason="jinja2 is not installed")

GRID = {"spansvc__C": [1, 10, 100], "spansvc__gamma": [0.1, 1]}
HOSTILE = "</script><b>'\"&"


def reported(X, y, steps=None, grid=GRID, scoring=None, **arguments):
    model = make_pipeline(MinMaxScaler() if steps is None else steps, SpanSVC())
    search = SpanSearch(model, grid, scoring=scoring).fit(X, y, **arguments)
    return Report.from_search(search, X, y)


def section(page, name):
    """The text of a section, without tags."""
    found = re.search(rf'<section id="{name}">.*?</section>', page, re.DOTALL)
    return None if found is None else " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    return reported(data.data, np.array(["malignant", "benign"])[data.target])


def test_all_studies_are_on_the_page_and_in_the_json(cancer):
    analyses, page = cancer.analyses, render_html(cancer)
    assert analyses.notes == analyses.cautions == []
    for name in ("comparison", "features", "decisions", "costs", "learning"):
        assert section(page, name)
    content = json.loads(cancer.to_json())["analyses"]
    assert content["comparison"]["error"] == pytest.approx(cancer.leave_one_out.error)
    assert [one["name"] for one in content["comparison"]["baselines"]] == [
        "largest class", "logistic regression", "SVC with default parameters",
    ]  # fmt: skip
    assert len(content["influence"]["features"]) == 30
    assert content["leaks"] == {
        "found": [], "error": pytest.approx(cancer.leave_one_out.error), "error_without_all": None,
        "n_columns": 30,
    }  # fmt: skip
    assert len(content["decisions"]["costs"]["steps"]) == 41
    assert [one["n_rows"] for one in content["learning_curve"]["points"]] == [71, 142, 284, 569]
    assert set(content["verdicts"]) == {"comparison", "influence", "learning_curve"}


def test_a_report_can_be_had_without_studies(cancer):
    X, y = load_iris(return_X_y=True)
    search = SpanSearch(make_pipeline(MinMaxScaler(), SpanSVC()), GRID).fit(X, y)
    report = Report.from_search(search, X, y, analyses=False)
    assert report.analyses is None
    assert section(render_html(report), "comparison") is None
    assert json.loads(report.to_json())["analyses"] is None


def test_a_choice_by_a_function_of_several_scores_is_compared_by_errors():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(MinMaxScaler(), SpanSVC())
    search = SpanSearch(model, GRID, scoring=["accuracy", "f1"], refit=lambda results: 0)
    comparison = Report.from_search(search.fit(X, y), X, y).analyses.comparison
    assert comparison.score is None
    assert len(comparison.baselines) == 3


def test_a_model_that_is_no_better_is_not_praised():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 2, 150)
    analyses = reported(X, y).analyses
    assert "Chance can explain the difference" in analyses.verdicts["comparison"]
    assert "every single feature may be due to chance" in analyses.verdicts["influence"]
    assert "more rows would probably help" not in analyses.verdicts["learning_curve"]
    assert analyses.cautions == []


def test_a_model_that_is_better_is_said_to_be():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0).astype(int)
    verdict = reported(X, y).analyses.verdicts["comparison"]
    assert "Chance can explain" in verdict  # a default SVC finds a line, too
    y = (np.sin(9 * X[:, 0]) > X[:, 1]).astype(int)
    grid = {"spansvc__C": [100], "spansvc__gamma": [1, 30]}
    verdict = reported(X, y, grid=grid).analyses.verdicts["comparison"]
    assert re.match(r"Of 100 left-out rows the selected model misclassifies [\d.]+ fewer", verdict)
    assert "best of 2 candidates on these same rows" in verdict


def test_a_leak_is_a_caution_at_the_top_and_a_table():
    data = load_breast_cancer(as_frame=True)
    y = np.array(["malignant", "benign"])[data.target]
    names = np.where(y == "benign", "B", "M")
    frame = data.data.iloc[:, :4].assign(result=names)
    steps = make_column_transformer(
        (MinMaxScaler(), list(frame.columns[:4])), (OneHotEncoder(), ["result"])
    )
    report = reported(frame, y, steps)
    (caution,) = report.cautions
    assert tells(caution, "'result'", "copy of the target", "569 of 569 rows")
    without = report.analyses.leaks.found[0].error_without
    assert f"without it the left-out error is {100 * without:.1f}% instead of 0.0%" in caution
    text = section(render_html(report), "features")
    assert f"result a copy of the target 100.0% {100 * without:.1f}%" in text
    assert "'result'" in report.analyses.verdicts["influence"]


def test_of_two_leaks_neither_is_said_to_tell_more_than_all_other_features():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 80)
    frame = pd.DataFrame(rng.normal(size=(160, 3)), columns=["a", "b", "c"])
    frame = frame.assign(d=y + rng.normal(0, 0.2, 160), e=y + rng.normal(0, 0.2, 160))
    report = reported(frame, y, MinMaxScaler())
    leaks = report.analyses.leaks
    assert {leak.kind for leak in leaks.found} == {"alone"}
    assert len(leaks.found) == 2
    for caution in report.cautions[:2]:
        assert "far more than all features without such a caution together" in caution


def test_equal_rows_are_no_reason_to_believe():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 2, 80)
    X, y = np.vstack([X, X]), np.append(y, y)
    analyses = reported(X, y, grid={"spansvc__C": [100], "spansvc__gamma": [10]}).analyses
    assert "160 of 160 rows" in analyses.notes[0]
    assert analyses.comparison.error == 0.0
    assert "memorisation" in analyses.verdicts["comparison"]
    assert "memorisation" in analyses.verdicts["influence"]
    assert "does not tell whether more would help" in analyses.verdicts["learning_curve"]


def test_the_score_of_the_search_is_compared():
    X, y = make_classification(400, 6, weights=[0.9], random_state=3)
    report = reported(X, y, scoring="balanced_accuracy")
    comparison = report.analyses.comparison
    assert comparison.score == pytest.approx(report.search.scores["balanced_accuracy"][
        report.search.best_index])  # fmt: skip
    assert "(logistic regression, balanced)" in report.analyses.verdicts["comparison"]
    assert comparison.optimism == 0.0
    assert comparison.score_optimism > 0.0
    page = render_html(report)
    assert f"corrected {comparison.score - comparison.score_optimism:.4g}" in section(
        page, "comparison"
    )
    assert "balanced_accuracy falls by" in section(page, "features")
    (curve,) = report.analyses.decisions.curves
    assert curve.label == 1


def test_the_learning_curve_ends_at_the_error_that_the_page_shows():
    X, y = load_breast_cancer(return_X_y=True)
    by_errors = reported(X, y).analyses
    by_area = reported(X, y, scoring="roc_auc").analyses
    optimism = by_errors.comparison.optimism
    assert optimism > 0
    ends = [own.learning_curve.points[-1].error for own in (by_errors, by_area)]
    expected = [by_errors.comparison.error + optimism, by_area.comparison.error]
    np.testing.assert_allclose(ends, expected)
    luck = "Part of it may be due to the selection"
    assert luck not in by_errors.verdicts["learning_curve"]
    falling = by_area.learning_curve.verdict == "falling"
    assert (luck in by_area.verdicts["learning_curve"]) == falling


def test_many_classes_one_feature_and_few_rows_have_a_page():
    rng = np.random.default_rng(0)
    y = np.arange(104) % 26
    X = (y + 0.1 * rng.normal(size=104))[:, None]
    report = reported(X, y, grid={"spansvc__C": [100], "spansvc__gamma": [1000]})
    assert len(report.analyses.decisions.rates) == 26
    assert report.analyses.decisions.costs is None
    assert report.analyses.cautions == []
    page = render_html(report)
    assert section(page, "costs") is None
    assert section(page, "decisions")
    report = reported(X[:8], y[:8] % 2)
    assert report.analyses.learning_curve is None
    assert "There is no learning curve" in section(render_html(report), "study-notes")


def test_many_features_and_rows_are_sampled_and_said(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 130)), np.arange(120) % 2
    X[:, 7] += 2 * y
    report = reported(X, y, grid={"spansvc__C": [1]})
    influence = report.analyses.influence
    assert (len(influence.features), influence.n_features) == (50, 130)
    assert influence.features[0].name == "x7"
    assert "only 50 of 130 features" in section(render_html(report), "features")
    monkeypatch.setattr("spansvm_app.studies.subject.MOST_ROWS", 80)
    report = reported(X[:, :3], y, grid={"spansvc__C": [1]})
    assert (report.analyses.n_rows, report.analyses.n_all) == (80, 120)
    assert report.analyses.notes[0].endswith("trained on 80 of the 120 rows.")


def test_a_step_that_refuses_other_columns_costs_only_its_study():
    X, y = load_iris(return_X_y=True)

    def strict(rows):
        if len(rows) != 150:
            raise ValueError("only the rows that I know")
        return rows

    report = reported(X, y, FunctionTransformer(strict), grid={"spansvc__C": [1, 10]})
    assert report.analyses.influence is None
    (note,) = report.analyses.notes
    assert tells(note, "influence of features", "ValueError: only the rows that I know")
    assert report.analyses.comparison is not None
    assert "only the rows that I know" in render_html(report)


def test_text_of_the_data_stays_text():
    data = load_breast_cancer(as_frame=True)
    frame = pd.DataFrame(np.asarray(data.data)[:, :3], columns=[HOSTILE, "b", "c"])
    report = reported(frame, np.where(data.target, HOSTILE, f"{HOSTILE}2"))
    page = render_html(report)
    assert "<b>" not in page
    assert page.count("<script") == page.count("</script") == 2
    steps = re.search(r'data-steps="([^"]*)"', page)[1]
    assert "<" not in steps
