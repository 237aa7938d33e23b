"""What the benchmarks of regressions compare, on problems small enough to check."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.dummy import DummyRegressor
from sklearn.svm import SVR

from benchmarks import regression, regression_data, regression_intervals
from benchmarks.resumed import Results
from reproduction.csv_files import read_rows


def squared(number, way):
    """A row of a benchmark."""
    return {"number": number, "way": way, "result": number**2 + 0.5}


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.resumed.command", lambda: "python -m benchmarks.some")
    return Results(tmp_path / "runs.csv", ("number", "way"))


def test_rows_are_written_in_the_order_of_their_problems_and_not_computed_twice(results, capsys):
    computed = []

    def measure(*problem):
        computed.append(problem)
        return squared(*problem)

    results.complete([(2, "a"), (3, "a")], measure)
    again = Results(results.path, results.keys)
    again.complete([(1, "a"), (2, "a"), (3, "a")], measure)
    assert computed == [(2, "a"), (3, "a"), (1, "a")]
    rows, notes = read_rows(results.path)
    assert rows == [squared(number, "a") for number in (1, 2, 3)]
    assert notes[0] == "python -m benchmarks.some"
    assert capsys.readouterr().err.splitlines()[-1] == "1/1 1 a"


def test_rows_that_are_forgotten_are_computed_again(results):
    results.complete([(1, "a"), (1, "b")], squared)
    results.forget(way="b")
    assert results.rows == [squared(1, "a")]
    results.complete([(1, "a"), (1, "b")], lambda *problem: squared(*problem) | {"result": 0.0})
    assert [row["result"] for row in results.rows] == [1.5, 0.0]


def test_candidates_follow_the_scale_of_the_targets_and_the_number_of_features():
    X, y = make_friedman1(60, random_state=0)
    small, large = (regression_data.candidates(X, scale * y) for scale in (1.0, 1000.0))
    for name, factor in (("svr__C", 1000.0), ("svr__epsilon", 1000.0), ("svr__gamma", 1.0)):
        np.testing.assert_allclose(large[name], factor * small[name])
    wide = regression_data.candidates(np.hstack([X, X]), y)
    np.testing.assert_allclose(wide["svr__gamma"], small["svr__gamma"] / 2)


def test_training_and_test_rows_are_different_rows():
    X, _, X_test, _ = regression_data.parts("diabetes", 3, 150)
    assert (len(X), len(X_test)) == (150, 292)
    assert np.unique(np.vstack([X, X_test]), axis=0).shape[0] == 442
    assert regression_data.has("diabetes", 342)
    assert not regression_data.has("diabetes", 343)


def test_a_data_set_that_is_unknown_is_named_with_those_that_are_known():
    with pytest.raises(ValueError, match=r"'bostn'; use one of diabetes, .*boston"):
        regression_data.load("bostn")


def chosen(data_set, split, way, rmse, **others):
    return {"data_set": data_set, "size": 150, "split": split, "way": way, "rmse": rmse,
            "test_rows": 900, "seconds": 2.0, "true": 0.8, "best": 0.9, "corrected": 0.7,
            "low": 0.6, "high": 0.75} | others  # fmt: skip


def test_errors_are_compared_on_the_training_sets_that_both_have():
    rows = [chosen("boston", 0, "GridSearchCV", 0.5), chosen("boston", 1, "GridSearchCV", 0.7),
            chosen("boston", 2, "GridSearchCV", 9.0), chosen("boston", 0, "default", 0.6),
            chosen("boston", 1, "default", 0.9, seconds=0.02)]  # fmt: skip
    (line,) = regression.errors(rows)
    assert (line["splits"], line["data_set"], line["way"]) == (2, "boston", "default")
    assert line["ratio"] == pytest.approx(1.25)
    assert line["two_standard_errors"] == pytest.approx(2 * 0.05 / 0.6)


def test_scores_are_compared_with_the_truth_where_it_is_known():
    rows = [chosen("boston", split, way, 0.5) for split in (0, 1) for way in regression.WAYS]
    rows[1] |= {"true": 0.7}
    rows += [chosen("yacht", 0, way, 0.5, true=0.0, test_rows=50) for way in regression.WAYS]
    lines = {line["estimate"]: line for line in regression.scores(rows) if line["way"] == "default"}
    assert lines["best"]["searches"] == 2
    assert lines["best"]["bias"] == pytest.approx(0.15)
    assert lines["corrected"]["bias"] == pytest.approx(-0.05)
    assert lines["corrected"]["relative_bias"] == pytest.approx(0.3 / 0.25 - 1)
    assert lines["corrected"]["covers"] == 0.5
    assert lines["best of GridSearchCV"]["bias"] == pytest.approx(0.1)


def test_jackknife_plus_by_refits_is_that_of_its_definition():
    """For a mean: leaving out y_i, it is (sum - y_i) / (n - 1), whatever the row."""
    y = np.random.default_rng(0).standard_normal(39)
    X = np.arange(39.0)[:, None]
    means = (y.sum() - y) / 38
    residuals = abs(y - means)
    ends = regression_intervals.by_refits(DummyRegressor(), X, y, X[:2])
    # With 39 rows, 90 % leave out three of them at either end.
    np.testing.assert_allclose(
        ends[0], [np.sort(means - residuals)[3], np.sort(means + residuals)[-4]]
    )
    np.testing.assert_array_equal(ends[0], ends[1])


def test_intervals_of_mapie_by_leaving_out_rows_are_those_by_refits():
    pytest.importorskip("mapie.regression")
    X, y = make_friedman1(60, random_state=0)
    model, new = SVR(C=10.0, gamma=0.3), X[:7] + 0.01
    ours = regression_intervals.by_refits(model, X, y, new)
    np.testing.assert_allclose(regression_intervals.by_jackknife(model, X, y, new), ours)
