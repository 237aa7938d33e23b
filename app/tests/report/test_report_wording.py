"""What the report calls things, and what it warns about."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from spansvm import ClassWeighting, SpanSearch, SpanSVC
from spansvm_app.report import Report, render_html
from spansvm_app.report.naming import name_parameters

pytest.importorskip("jinja2", reason="jinja2 is not installed")


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    return data.data, np.array(["malignant", "benign"])[data.target]


def reported(X, y, grid, **settings):
    model = make_pipeline(MinMaxScaler(), SpanSVC(**settings))
    named = {f"spansvc__{name}": values for name, values in grid.items()}
    return Report.from_search(SpanSearch(model, named).fit(X, y), X, y)


def test_weights_are_named_by_their_classes(cancer):
    grid = {f"weighting__{side}": [0.5, 1, 2] for side in ("negative", "positive")}
    report = reported(*cancer, grid, weighting=ClassWeighting())
    assert [axis.name for axis in report.search.axes] == [
        "C+ (class malignant)", "C- (class benign)",
    ]  # fmt: skip
    assert ">C+ (class malignant)</text>" in render_html(report)


def test_names_that_would_not_differ_stay_whole():
    names = name_parameters(["a__C", "b__C", "a__gamma"], [0, 1])
    assert names == ["a__C", "b__C", "gamma"]
    (long,) = name_parameters(["weighting__positive"], ["no", "x" * 60])
    assert len(long) < 45


def test_a_bound_of_1_or_more_is_called_uninformative(cancer):
    report = reported(*cancer, {"C": [1000.0], "gamma": [50.0]})
    meanings = {one.name: one.meaning for one in report.trust.estimates if one.value >= 1}
    assert meanings
    assert all(text.endswith("; at least 1, so uninformative") for text in meanings.values())
    others = [one for one in report.trust.estimates if one.name not in meanings]
    assert others
    assert not any("uninformative" in one.meaning for one in others)


def test_the_rule_is_exact_for_a_number_of_support_vectors(cancer):
    report = reported(*cancer, {"C": [1, 10]})
    (pair,) = report.trust.pairs
    tile = render_html(report).split('"what">support vectors</span>')[1].split("</div>")[0]
    assert f"the span-rule is exact for {pair.n_trusted} of {pair.n_support}<" in tile


def test_a_class_that_is_never_predicted_is_a_caution_and_not_a_list_of_suspects():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), np.arange(300) % 3
    y[y == 2] = np.arange(100) % 2  # the third class is rare
    y[:6] = 2
    X[:, 0] += 4 * y * (y < 2)
    report = reported(X, y, {"C": [0.1]})
    assert [one.label for one in report.leave_one_out.never_said] == ["2"]
    assert "never predicts '2' (6 of 300 rows have it)" in report.cautions[0]
    assert "a rarer class; --scoring balanced_accuracy" in report.cautions[0]
    assert report.suggested_scoring == "balanced_accuracy"
    assert {row.label for row in report.suspicious.rows} == {"0", "1"}
    assert report.suspicious.explanation.startswith("Rows labelled '2' are not listed")


def test_a_common_class_that_is_never_predicted_is_not_called_rare():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 2)), (np.arange(200) % 5 < 2).astype(int)
    report = reported(X, y, {"C": [0.01]})
    (caution,) = report.cautions
    assert "never predicts '1' (80 of 200 rows have it)" in caution
    assert "rare" not in caution
    assert report.suggested_scoring is None
    assert report.suspicious.rows == []
    assert "No rows are listed: &#39;0&#39;" in render_html(report)


def test_rows_that_are_predicted_right_come_after_those_that_are_contradicted():
    rng = np.random.default_rng(114)
    y = np.arange(40) % 5
    X = 2.2 * rng.normal(size=(5, 2))[y] + 0.5 * rng.normal(size=(40, 2))
    report = reported(X, y, {"C": [10]})
    contradicted = [row.label != row.predicted for row in report.suspicious.rows]
    assert contradicted == sorted(contradicted, reverse=True)
    assert 0 < sum(contradicted) < len(contradicted)
    probabilities = [row.probability for row in report.suspicious.rows]
    heading = render_html(report).split('class="sortable"')[1].split("<tbody>")[0]
    assert ("aria-sort" in heading) == (probabilities == sorted(probabilities))
