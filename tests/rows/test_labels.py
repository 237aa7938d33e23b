"""Labels that are wrong are found, and nothing is said where nothing can be."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spansvm import SpanSearch, SpanSVC, SpanSVR, find_label_issues
from spansvm.rows.labels import LabelIssuesWarning

pd = pytest.importorskip("pandas", reason="find_label_issues returns a pandas.DataFrame")


def digits(n_changed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels, and the rows whose labels were changed."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:500] / 16.0, y[:500].copy()
    rng = np.random.default_rng(0)
    changed = rng.permutation(500)[:n_changed]
    y[changed] = (y[changed] + rng.integers(1, 10, n_changed)) % 10
    return X, y, changed


def digit_model() -> SpanSVC:
    return SpanSVC(C=5.0, gamma=0.05)


def test_changed_labels_are_found_in_cleanlabs_columns() -> None:
    X, y, changed = digits(25)
    issues = find_label_issues(digit_model().fit(X, y))
    assert list(issues.columns) == [
        "is_label_issue", "label_quality", "given_label", "predicted_label", "contradicted_by",
    ]  # fmt: skip
    assert issues.index.equals(pd.RangeIndex(500))
    np.testing.assert_array_equal(issues.given_label, y)
    found = np.flatnonzero(issues.is_label_issue)
    assert np.isin(found, changed).mean() > 0.9
    assert found.size > 15
    assert issues.label_quality[changed].max() < issues.label_quality.median()


def test_few_labels_of_clean_data_are_issues() -> None:
    X, y, _ = digits(0)
    model = digit_model().fit(X, y)
    assert find_label_issues(model).is_label_issue.mean() <= model.loo_error_


def test_ranked_issues_are_those_of_the_table() -> None:
    X, y, _ = digits(25)
    model = digit_model().fit(X, y)
    table = find_label_issues(model)
    ranked = find_label_issues(model, return_indices_ranked_by="self_confidence")
    np.testing.assert_array_equal(np.sort(ranked), np.flatnonzero(table.is_label_issue))
    assert table.label_quality[ranked].is_monotonic_increasing
    by_margin = find_label_issues(model, return_indices_ranked_by="normalized_margin")
    np.testing.assert_array_equal(np.sort(by_margin), np.sort(ranked))


def test_filters_say_which_rows_are_issues() -> None:
    X, y, _ = digits(25)
    model = digit_model().fit(X, y)
    confident, differs = (
        find_label_issues(model, filter_by=name).is_label_issue.to_numpy()
        for name in ("confident_learning", "predicted_neq_given")
    )
    probabilities = model.left_out_.calibrated_probabilities
    np.testing.assert_array_equal(differs, probabilities.argmax(axis=1) != y)
    assert 0 < confident.sum() < differs.sum()
    assert not (confident & ~differs).any()


def test_confident_learning_is_as_it_was_published() -> None:
    """Counted row by row: thresholds are the mean self-confidence of every class."""
    X, y, _ = digits(25)
    model = digit_model().fit(X, y)
    P = model.left_out_.calibrated_probabilities
    means = [P[y == label, label].mean() for label in range(10)]
    expected = []
    for row in range(500):
        present = [label for label in range(10) if P[row, label] >= means[label]]
        doubted = bool(present) and max(present, key=lambda k: P[row, k]) != y[row]
        expected.append(doubted and P[row].argmax() != y[row])
    np.testing.assert_array_equal(find_label_issues(model).is_label_issue, expected)


def test_rows_that_contradict_have_the_other_label_and_push_to_it() -> None:
    """Without them, the retrained model contradicts the label less."""
    X, y = load_iris(return_X_y=True)
    y = (y > 0).astype(int)
    y[7] = 1
    model = SpanSVC(C=1.0, gamma=0.5).fit(X, y)
    issues = find_label_issues(model, n_contradicting=5)
    assert issues.is_label_issue[7]
    rows = issues.contradicted_by[7]
    assert 0 < len(rows) <= 5
    assert not y[rows].any()
    plain = SVC(C=1.0, gamma=0.5, tol=1e-9).fit(X, y).decision_function(X[7:8])
    keep = np.delete(np.arange(y.size), rows[:1])
    without = SVC(C=1.0, gamma=0.5, tol=1e-9).fit(X[keep], y[keep]).decision_function(X[7:8])
    assert without > plain
    assert not any(issues.contradicted_by[~issues.is_label_issue])


def test_a_search_asks_its_committee() -> None:
    X, y, _ = digits(25)
    grid = {"C": [1.0, 5.0], "gamma": [0.03, 0.05]}
    search = SpanSearch(SpanSVC(), grid).fit(X[:250], y[:250])
    quality = find_label_issues(search).label_quality
    own = search.committee_.loo_predict_proba_[np.arange(250), y[:250]]
    np.testing.assert_array_equal(quality, own)


def test_rows_in_no_fold_are_judged_by_the_model() -> None:
    X, y, _ = digits(25)
    folds = list(KFold(5).split(X[:250]))[:3]
    search = SpanSearch(digit_model(), {"C": [1.0, 5.0]}, cv=folds).fit(X[:250], y[:250])
    alone = find_label_issues(search.best_estimator_)
    pd.testing.assert_frame_equal(find_label_issues(search), alone)


@pytest.mark.parametrize("seed", range(5))
def test_of_pure_noise_nothing_can_be_said(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 2 + seed % 2, 120)
    model = SpanSVC(C=10.0).fit(X, y)
    with pytest.warns(LabelIssuesWarning, match="Nothing can be said"):
        issues = find_label_issues(model)
    assert not issues.is_label_issue.any()


def test_unequal_weights_do_not_make_issues() -> None:
    """A heavy class is predicted for many rows of the other, whose labels are likely even so."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [200, 20])
    X = rng.normal(size=(220, 3)) + 1.5 * y[:, None]
    model = SpanSVC(C=1.0, class_weight={1: 10.0}).fit(X, y)
    predicted = (model.loo_predict_ != y)[:200].sum()
    assert find_label_issues(model).is_label_issue[:200].sum() < predicted


def test_rows_of_zero_weight_and_lone_rows_are_no_issues() -> None:
    X, y = load_iris(return_X_y=True)
    y[7], y[9] = 2, 3
    weight = np.ones(y.size)
    weight[7] = 0.0
    model = SpanSVC(C=1.0).fit(X, y, sample_weight=weight)
    issues = find_label_issues(model, filter_by="predicted_neq_given")
    assert not issues.is_label_issue[[7, 9]].any()


def test_targets_far_from_what_the_others_say_are_issues() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:200], y[:200].copy()
    y[[3, 50]] += 600.0
    model = make_pipeline(StandardScaler(), SpanSVR(C=50.0, epsilon=5.0)).fit(X, y)
    issues = find_label_issues(model)
    assert issues.is_label_issue[[3, 50]].all()
    assert issues.is_label_issue.sum() <= 4
    residual = model[-1].loo_residual_
    np.testing.assert_allclose(issues.predicted_label, y - residual)
    assert (y[issues.contradicted_by[3]] < y[3]).all()
    np.testing.assert_array_equal(np.argsort(-np.abs(residual)), np.argsort(issues.label_quality))


def test_targets_of_zero_weight_have_a_quality_and_are_no_issues() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y, weight = X[:100], y[:100].copy(), np.ones(100)
    y[5], weight[:10] = 1000.0, 0.0
    model = SpanSVR(C=50.0, epsilon=5.0).fit(X, y, sample_weight=weight)
    issues = find_label_issues(model)
    assert issues.label_quality.between(0.0, 1.0).all()
    assert issues.label_quality[5] < 1e-3
    assert not issues.is_label_issue[:10].any()


@pytest.mark.parametrize("filter_by", ["confident_learning", "predicted_neq_given"])
def test_issues_are_those_of_cleanlab_on_our_probabilities(filter_by: str) -> None:
    cleanlab = pytest.importorskip("cleanlab.filter", reason="cleanlab is not installed")
    X, y, _ = digits(25)
    model = SpanSVC(C=5.0, gamma=0.002).fit(X, y)  # leaves much doubt
    theirs = cleanlab.find_label_issues(
        y, model.left_out_.calibrated_probabilities, filter_by=filter_by, n_jobs=1
    )
    ours = find_label_issues(model, filter_by=filter_by).is_label_issue.to_numpy()
    np.testing.assert_array_equal(ours, theirs)
    assert ours.sum() > 20


@pytest.mark.parametrize("ranked_by", ["self_confidence", "normalized_margin"])
def test_issues_are_ranked_as_cleanlab_ranks_them(ranked_by: str) -> None:
    cleanlab = pytest.importorskip("cleanlab.filter", reason="cleanlab is not installed")
    X, y, _ = digits(25)
    model = digit_model().fit(X, y)
    theirs = cleanlab.find_label_issues(
        y, model.left_out_.calibrated_probabilities, filter_by="confident_learning",
        return_indices_ranked_by=ranked_by, n_jobs=1,
    )  # fmt: skip
    ours = find_label_issues(model, return_indices_ranked_by=ranked_by)
    np.testing.assert_array_equal(ours, theirs)


def test_datalab_takes_our_probabilities_in_one_line() -> None:
    cleanlab = pytest.importorskip("cleanlab", reason="cleanlab is not installed")
    pytest.importorskip("datasets", reason="Datalab needs datasets")
    X, y, changed = digits(25)
    model = digit_model().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lab = cleanlab.Datalab({"y": y}, label_name="y", verbosity=0)
        lab.find_issues(pred_probs=model.loo_predict_proba_, issue_types={"label": {}})
    theirs = lab.get_issues("label")
    assert theirs.is_label_issue[changed].mean() > 0.6
    np.testing.assert_array_equal(theirs.given_label, y)
    ours = find_label_issues(model)
    np.testing.assert_array_equal(theirs.predicted_label, model.loo_predict_proba_.argmax(axis=1))
    assert set(theirs.columns) - {"label_score"} <= set(ours.columns)


def test_arguments_that_mean_nothing_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    model = SpanSVC().fit(X, y)
    with pytest.raises(ValueError, match="filter_by must be one of"):
        find_label_issues(model, filter_by="prune_by_class")
    with pytest.raises(ValueError, match="return_indices_ranked_by must be one of"):
        find_label_issues(model, return_indices_ranked_by="entropy")
    with pytest.raises(TypeError, match="got SVC"):
        find_label_issues(SVC().fit(X, y))
