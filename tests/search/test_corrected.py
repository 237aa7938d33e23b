"""The score of the selected model is corrected for having been the best of many."""

from __future__ import annotations

import pickle
import warnings

import joblib
import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    get_scorer,
    log_loss,
    make_scorer,
    matthews_corrcoef,
    roc_auc_score,
)
from sklearn.model_selection import GroupKFold, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.svm import SVC

from spansvm import ClassWeighting, SpanSearch, SpanSVC
from spansvm.search.scoring import corrected
from spansvm.search.scoring.bootstrap_scores import (
    AnyScorer,
    ConfusedLabels,
    CountedErrors,
    RowMeans,
)
from spansvm.search.scoring.kept import Keeping, Kept, Replayed, keep_responses
from spansvm.search.scoring.label_scores import (
    count_score,
    label_score,
    only_errors,
    same_digits,
    warns,
)
from spansvm.search.scoring.quickest_scores import Sample, quickest_scores
from spansvm.search.scoring.ranked_scores import RankedValues
from tests.problems import twonorm

FEW = {"C": [0.1, 10.0], "gamma": [0.1, 10.0]}
GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0, 10.0]}


def clouds(n_rows=60, seed=0):
    """Two overlapping clouds."""
    return twonorm(n_rows, d=3, seed=seed)


def noise(n_rows=100, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_rows, 5)), np.arange(n_rows) % 2


def draws(n_rows, n_draws=500):
    """The rows that each draw of the library contains, drawn once more."""
    for draw in range(n_draws):
        yield np.random.default_rng((2018, draw)).integers(n_rows, size=n_rows)


def corrected_by_hand(score, predicted, best, n_rows, drawn):
    """Bootstrap bias correction in plain Python.

    `score` takes row numbers and the predictions of a candidate.
    """
    differences = []
    for rows in drawn:
        others = [row for row in range(n_rows) if row not in set(rows.tolist())]
        inside = [score(rows, own) for own in predicted]
        winners = [j for j, value in enumerate(inside) if value >= max(inside) - 1e-10]
        outside = sum(score(others, predicted[j]) for j in winners) / len(winners)
        differences.append(score(others, predicted[best]) - outside)
    return score(range(n_rows), predicted[best]) - sum(differences) / len(differences)


def predictions(X, y, search):
    """Left-out predictions of all candidates, each trained by itself."""
    return [SpanSVC(**p).fit(X, y).loo_predict_ for p in search.cv_results_["params"]]


def test_the_correction_is_the_bootstrap_bias_correction():
    X, y = clouds()
    search = SpanSearch(SpanSVC(), GRID).fit(X, y)

    def accuracy(rows, own):
        return sum(own[row] == y[row] for row in rows) / len(rows)

    by_hand = corrected_by_hand(
        accuracy, predictions(X, y, search), search.best_index_, y.size, draws(y.size)
    )
    assert search.corrected_score_ == pytest.approx(by_hand, abs=1e-12)
    assert search.corrected_score_ < search.best_score_


def test_other_draws_and_the_published_form_give_nearly_the_same():
    X, y = clouds()
    search = SpanSearch(SpanSVC(), GRID).fit(X, y)
    right = np.array(predictions(X, y, search)) == y
    rng, outside = np.random.default_rng(7), []
    for _ in range(4000):
        counts = np.bincount(rng.integers(y.size, size=y.size), minlength=y.size)
        inside = right @ counts
        outside.append(right[inside == inside.max()][:, counts == 0].mean())
    published, error = np.mean(outside), np.std(outside) / np.sqrt(500)
    assert search.corrected_score_ == pytest.approx(published, abs=2 * error)


def test_on_noise_the_corrected_error_is_that_of_guessing():
    plain, fair = [], []
    weights = 2.0 ** np.arange(-4, 5)
    grid = {"weighting__positive": weights, "weighting__negative": weights, "gamma": [0.1, 1.0]}
    for seed in range(12):
        X, y = noise(seed=seed)
        search = SpanSearch(SpanSVC(weighting=ClassWeighting()), grid).fit(X, y)
        plain.append(1 - search.best_score_)
        fair.append(1 - search.corrected_score_)
    # The mean of twelve independent errors on 100 rows has a standard error of 0.014.
    assert np.mean(plain) < 0.46
    assert 0.47 < np.mean(fair) < 0.53


def test_one_candidate_needs_no_correction():
    X, y = clouds()
    search = SpanSearch(SpanSVC(), {"C": [1.0]}).fit(X, y)
    assert search.corrected_score_ == search.best_score_
    low, high = search.corrected_interval_
    assert low < search.best_score_ < high


def test_equal_candidates_need_no_correction():
    X, y = clouds()
    search = SpanSearch(SpanSVC(), {"tol": [1e-6, 1e-7, 1e-8]}).fit(X, y)
    assert search.corrected_score_ == search.best_score_


def test_the_interval_of_one_candidate_is_wilsons():
    from scipy.stats import binomtest

    X, y = clouds(100)
    search = SpanSearch(SpanSVC(), {"C": [1.0]}).fit(X, y)
    right = round(search.best_score_ * 100)
    wilson = binomtest(right, 100).proportion_ci(0.95, method="wilson")
    assert search.corrected_interval_ == pytest.approx((wilson.low, wilson.high), abs=1e-9)


def test_the_interval_of_many_candidates_is_wider():
    X, y = noise()
    one = SpanSearch(SpanSVC(), {"C": [1.0]}).fit(X, y).corrected_interval_
    many = SpanSearch(SpanSVC(), GRID).fit(X, y).corrected_interval_
    assert many[1] - many[0] > one[1] - one[0]


def test_copies_in_one_group_change_nothing():
    X, y = clouds(40)
    groups = np.arange(40)
    folds = [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]
    twice = [
        (np.concatenate([train, train + 40]), np.concatenate([test, test + 40]))
        for train, test in folds
    ]
    once = SpanSearch(SpanSVC(), GRID, method="kfold", cv=folds).fit(X, y, groups=groups)
    # Copies weigh twice as much, so half the weight gives the same models.
    double = SpanSearch(SpanSVC(), GRID, method="kfold", cv=twice).fit(
        np.vstack([X, X]), np.tile(y, 2), sample_weight=np.full(80, 0.5), groups=np.tile(groups, 2)
    )
    assert double.best_score_ == once.best_score_
    assert double.corrected_score_ == pytest.approx(once.corrected_score_, abs=1e-12)
    width = np.diff(once.corrected_interval_)
    assert np.diff(double.corrected_interval_) == pytest.approx(width, rel=0.2)


def test_copies_without_groups_promise_too_much():
    X, y = clouds(40)
    grouped = SpanSearch(SpanSVC(), {"C": [1.0]}, method="kfold", cv=GroupKFold(4))
    grouped.fit(np.repeat(X, 5, axis=0), np.repeat(y, 5), groups=np.repeat(np.arange(40), 5))
    rows = SpanSearch(SpanSVC(), {"C": [1.0]}, method="kfold", cv=4).fit(
        np.repeat(X, 5, axis=0), np.repeat(y, 5)
    )
    assert np.diff(grouped.corrected_interval_) > 1.5 * np.diff(rows.corrected_interval_)


@pytest.mark.parametrize("method", ["span_rule", "loo", "kfold"])
def test_many_classes_are_corrected(method):
    X, y = load_iris(return_X_y=True)
    search = SpanSearch(SpanSVC(), GRID, method=method).fit(X, y)
    assert search.best_score_ - 0.05 < search.corrected_score_ <= search.best_score_
    low, high = search.corrected_interval_
    assert 0.9 < low < search.corrected_score_ < high <= 1


def test_folds_are_pooled():
    X, y = clouds(50)
    cv = StratifiedKFold(5)
    search = SpanSearch(SVC(), GRID, method="kfold", cv=cv).fit(X, y)
    predicted = []
    for params in search.cv_results_["params"]:
        own = np.empty_like(y)
        for train, test in cv.split(X, y):
            own[test] = SVC(**params, tol=1e-6).fit(X[train], y[train]).predict(X[test])
        predicted.append(own)

    def accuracy(rows, own):
        return np.mean(own[list(rows)] == y[list(rows)])

    # Predictions are pooled in the order of the folds, and drawn by row.
    by_hand = corrected_by_hand(accuracy, predicted, search.best_index_, 50, draws(50))
    assert search.corrected_score_ == pytest.approx(by_hand, abs=1e-12)


def test_repeated_folds_draw_a_row_with_all_its_predictions():
    X, y = clouds(50)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    search = SpanSearch(SpanSVC(), {"C": [1.0]}, method="kfold", cv=cv).fit(X, y)
    once = SpanSearch(SpanSVC(), {"C": [1.0]}, method="kfold", cv=5).fit(X, y)
    assert np.diff(search.corrected_interval_) > 0.8 * np.diff(once.corrected_interval_)


@pytest.mark.parametrize(
    ("scoring", "function"),
    [
        ("balanced_accuracy", balanced_accuracy_score),
        ("f1", f1_score),
        ("f1_macro", lambda y, p: f1_score(y, p, average="macro")),
    ],
)
def test_scores_of_labels_are_corrected(scoring, function):
    X, y = clouds()
    y = (y > 0).astype(int)
    y[:6] = 0
    search = SpanSearch(SpanSVC(), FEW, scoring=scoring).fit(X, y)

    def score(rows, own):
        return function(y[list(rows)], own[list(rows)])

    by_hand = corrected_by_hand(
        score, predictions(X, y, search), search.best_index_, y.size, draws(y.size)
    )
    assert search.corrected_score_ == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss"])
def test_scores_of_values_are_corrected(scoring):
    X, y = clouds()
    search = SpanSearch(SpanSVC(), FEW, scoring=scoring).fit(X, y)
    values = []
    for params in search.cv_results_["params"]:
        model = SpanSVC(**params).fit(X, y)
        area = scoring == "roc_auc"
        values.append(model.loo_ranking_ if area else model.left_out_.probabilities)

    def score(rows, own):
        rows = list(rows)
        if scoring == "roc_auc":
            return roc_auc_score(y[rows], own[rows])
        return -log_loss(y[rows], own[rows], labels=[-1, 1])

    by_hand = corrected_by_hand(score, values, search.best_index_, y.size, draws(y.size))
    assert search.corrected_score_ == pytest.approx(by_hand, abs=1e-5)
    low, high = search.corrected_interval_
    assert low < search.corrected_score_ < high


@pytest.mark.parametrize("options", [{}, {"cv": 3}])
def test_areas_may_be_those_of_probabilities(options):
    X, y = clouds()
    scorer = make_scorer(roc_auc_score, response_method="predict_proba")
    search = SpanSearch(SpanSVC(), FEW, scoring=scorer, **options).fit(X, y)
    asked = SpanSearch(SpanSVC(), FEW, scoring=lambda *given: scorer(*given), **options).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    # Areas are summed in another order.
    np.testing.assert_allclose(scores, asked.cv_results_["mean_test_score"], rtol=1e-15)
    assert (search.cv_results_["std_test_score"] > 0).all()
    assert search.corrected_score_ == pytest.approx(asked.corrected_score_, abs=0.01)


def test_a_score_that_is_turned_round_is_corrected_as_such():
    X, y = clouds()
    scorer = make_scorer(
        roc_auc_score, response_method="decision_function", greater_is_better=False
    )
    search = SpanSearch(SpanSVC(), FEW, scoring=scorer).fit(X, y)
    assert search.corrected_score_ <= search.best_score_ < 0
    low, high = search.corrected_interval_
    assert low < search.corrected_score_ < high


def test_the_log_loss_of_labels_has_a_standard_error():
    X, y = clouds()
    search = SpanSearch(SpanSVC(), FEW, scoring=make_scorer(log_loss, greater_is_better=False))
    search.fit(X, (y > 0).astype(int))
    assert (search.cv_results_["std_test_score"] > 0).all()


def test_every_way_to_a_score_agrees_with_the_scorer():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50)
    labels = [np.where(rng.random(50) < 0.3, 1 - y, y) for _ in range(4)]
    values = [np.round(y + rng.standard_normal(50), 1).astype(np.float32) for _ in range(4)]
    shares = [np.column_stack([1 - p, p]) for p in (0.05 + 0.9 * rng.random(50) for _ in range(4))]
    counts = rng.integers(0, 3, (6, 50))
    classes = np.array([0, 1])

    def asked(method, responses, scoring):
        scorer = get_scorer(scoring)
        call = AnyScorer(
            [{method: own} for own in responses],
            lambda own, places: Replayed(own, classes, places),
            lambda replayed, places: scorer(replayed, places[:, None], y[places]),
        )
        return call(counts)

    names = ("accuracy", "balanced_accuracy", "f1", "f1_macro", "precision", "recall_macro")
    for scoring in names:
        formula = count_score(get_scorer(scoring), classes)
        bits = [np.packbits(own != y) for own in labels]
        counted = CountedErrors(bits, y, None, formula)(counts)
        np.testing.assert_allclose(counted, asked("predict", labels, scoring), atol=1e-12)
    ranked = RankedValues([{"decision_function": own} for own in values], y == 1, None)(counts)
    np.testing.assert_allclose(ranked, asked("decision_function", values, "roc_auc"), atol=1e-12)
    means = RowMeans(
        [{"predict_proba": own} for own in shares],
        lambda own: np.log(own["predict_proba"][np.arange(50), y]),
        None,
    )(counts)
    np.testing.assert_allclose(means, asked("predict_proba", shares, "neg_log_loss"), atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("scoring", "n_classes"),
    [
        ("roc_auc", 2), ("roc_auc_ovr", 2), ("average_precision", 2),
        ("roc_auc_ovr", 4), ("roc_auc_ovr_weighted", 4),
        ("roc_auc_ovo", 4), ("roc_auc_ovo_weighted", 4),
    ],
)  # fmt: skip
def test_scores_of_ranks_are_those_of_the_scorer(scoring, n_classes, weighted):
    rng = np.random.default_rng(0)
    n, scorer = 60, get_scorer(scoring)
    y = rng.integers(0, n_classes, n)
    shares = [rng.dirichlet(np.ones(n_classes), n) + np.eye(n_classes)[y] for _ in range(2)]
    # Few different values, so that there are ties.
    method = "predict_proba"
    values = [(np.round(8 * own) + 1) for own in shares]
    values = [own / own.sum(axis=1, keepdims=True) for own in values]
    if scorer._response_method != method:
        method, values = "decision_function", [own[:, 1] for own in values]
    counts = rng.integers(0, 3, (8, n))
    counts[0, y == 1] = 0  # a class that is not drawn
    weight = 0.5 + rng.random(n) if weighted else None
    params = {} if weight is None else {"sample_weight": weight}
    kept = [Kept(responses={method: own}) for own in values]
    quick = quickest_scores(scorer, params, kept, Sample(np.arange(n), y, None), "score")
    if "ovo" in scoring and weighted and n_classes > 2:  # scikit-learn has no such score
        assert isinstance(quick, AnyScorer)
        return
    assert not isinstance(quick, AnyScorer)
    found = quick(counts)
    assert np.isnan(found[:, 0]).all()
    for candidate, own in enumerate(values):
        for draw in range(1, 8):
            rows = np.repeat(np.arange(n), counts[draw])
            given = {} if weight is None else {"sample_weight": weight[rows]}
            predicted = own[rows, 1] if own.ndim == 2 and n_classes == 2 else own[rows]
            expected = scorer._score_func(y[rows], predicted, **scorer._kwargs, **given)
            assert found[candidate, draw] == pytest.approx(expected, abs=1e-12)


LABEL_SCORES = ("balanced_accuracy", "f1_macro", "f1_weighted", "precision_macro", "recall_micro")


@pytest.mark.parametrize("scoring", [*LABEL_SCORES, "matthews_corrcoef", "jaccard_macro"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_without_the_scorer_are_its_own_and_their_errors_those_of_drawn_rows(
    scoring, n_classes
):
    X, y = load_iris(return_X_y=True)
    X = (X + np.random.default_rng(0).standard_normal(X.shape))[y < n_classes]
    y, scorer = y[y < n_classes], get_scorer(scoring)
    # A scorer that is none of scikit-learn's is called, on drawn rows too: five times.
    calls = {"quick": scorer, "called": lambda *given: scorer(*given)}
    search = SpanSearch(SpanSVC(), {"C": [1.0], "gamma": [0.3]}, scoring=calls, refit=False)
    table = search.fit(X, y).cv_results_
    assert table["mean_test_quick"][0] == pytest.approx(table["mean_test_called"][0], abs=1e-15)
    model = SpanSVC(C=1.0, gamma=0.3).fit(X, y)
    drawn = np.random.default_rng(1).integers(y.size, size=(400, y.size))
    values = [scorer._score_func(y[i], model.loo_predict_[i], **scorer._kwargs) for i in drawn]
    assert table["std_test_quick"][0] == pytest.approx(np.std(values), rel=0.12)


def test_scorers_that_would_warn_still_do():
    X, y = clouds()
    y[:55], y[55:] = -1, 1  # nobody predicts the small class
    with pytest.warns(UndefinedMetricWarning, match="Precision is ill-defined"):
        SpanSearch(SpanSVC(C=1e-3), {"gamma": [1.0]}, scoring="precision_macro").fit(X, y)


def test_the_standard_error_of_areas_of_several_classes_is_that_of_drawn_rows():
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).standard_normal(X.shape)
    search = SpanSearch(SpanSVC(), {"C": [1.0]}, scoring=["roc_auc_ovr", "roc_auc_ovr_weighted"])
    search.set_params(refit=False).fit(X, y)
    # The classes are equally large: the one is by contributions of rows, the other by draws.
    first, second = (search.cv_results_[f"std_test_{name}"][0] for name in search.scoring)
    assert 0.01 < first == pytest.approx(second, rel=0.2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "scorer",
    [
        *map(get_scorer, ("f1_macro", "f1_micro", "f1_weighted", "precision_macro")),
        *map(get_scorer, ("recall_weighted", "jaccard_macro", "jaccard_micro")),
        make_scorer(matthews_corrcoef),
        make_scorer(cohen_kappa_score),
        make_scorer(f1_score, average="macro", zero_division=0),
    ],
)
def test_scores_of_confusion_matrices_are_those_of_the_scorer(scorer, weighted):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 40)
    labels = [np.where(rng.random(40) < 0.4, rng.integers(0, 4, 40), y), np.zeros(40, dtype=int)]
    counts = rng.integers(0, 2, (8, 40))
    counts[0, y > 1] = 0  # some classes are not drawn
    weight = 0.5 + rng.random(40) if weighted else None
    formula = label_score(scorer)
    found = ConfusedLabels([{"predict": own} for own in labels], y, 4, weight, formula)(counts)
    for candidate, own in enumerate(labels):
        for draw, times in enumerate(counts):
            rows = np.repeat(np.arange(40), times)
            given = {} if weight is None else {"sample_weight": weight[rows]}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                expected = scorer._score_func(y[rows], own[rows], **scorer._kwargs, **given)
            assert found[candidate, draw] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "scorer",
    [
        make_scorer(f1_score, average="macro", labels=[0, 1]),
        make_scorer(f1_score, average="macro", zero_division=1),
        make_scorer(cohen_kappa_score, weights="linear"),
        make_scorer(f1_score, greater_is_better=False, average="macro"),
        get_scorer("roc_auc"),
        lambda model, X, y: 0.0,
    ],
)
def test_other_settings_of_a_score_are_left_to_the_scorer(scorer):
    assert label_score(scorer) is None


def test_blocks_of_bounded_memory_change_nothing(monkeypatch):
    X, y = clouds()
    whole = SpanSearch(SpanSVC(), GRID, scoring="balanced_accuracy").fit(X, y).corrected_score_
    monkeypatch.setattr("spansvm.search.scoring.bootstrap_scores.BLOCK", 200)
    monkeypatch.setattr("spansvm.search.scoring.bootstrap.BLOCK", 200)
    parts = SpanSearch(SpanSVC(), GRID, scoring="balanced_accuracy").fit(X, y).corrected_score_
    assert parts == pytest.approx(whole, abs=1e-14)


def test_an_own_scorer_sees_its_rows_of_the_data():
    X, y = clouds()
    prices = 1 + np.arange(60) % 5
    table = np.column_stack([X, prices])

    def earned(model, X, y):
        return float(np.average(model.predict(X) == y, weights=X[:, -1]))

    model = SpanSVC()
    search = SpanSearch(model, {"C": [0.1, 1.0, 10.0]}, scoring=earned).fit(table, y)

    def score(rows, own):
        rows = list(rows)
        return np.average(own[rows] == y[rows], weights=prices[rows])

    predicted = predictions(table, y, search)
    by_hand = corrected_by_hand(score, predicted, search.best_index_, 60, draws(60))
    assert search.corrected_score_ == pytest.approx(by_hand, abs=1e-12)


def test_an_expensive_scorer_is_called_a_bounded_number_of_times():
    X, y = clouds()
    calls = []

    def counting(truth, predicted):
        calls.append(1)
        return float(np.mean(truth == predicted))

    grid = {"C": 2.0 ** np.arange(-5, 10), "gamma": 2.0 ** np.arange(-5, 5)}
    search = SpanSearch(SpanSVC(), grid, scoring=make_scorer(counting)).fit(X, y)
    assert len(calls) == 6 * 150  # once, and five times for its standard error
    assert search.corrected_score_ <= search.best_score_
    # The first draws for all different candidates, and few candidates on the rows left out.
    assert len(calls) < 3 * 5000
    before = len(calls)
    assert search.corrected_interval_[0] < search.corrected_score_
    assert len(calls) == before


def test_weights_of_rows_in_the_score_are_used():
    X, y = clouds()
    weight = 1.0 + np.arange(60) % 3
    with config_context(enable_metadata_routing=True):
        model = SpanSVC().set_fit_request(sample_weight=False)
        model = model.set_score_request(sample_weight=True)
        search = SpanSearch(model, GRID).fit(X, y, sample_weight=weight)

    def score(rows, own):
        rows = list(rows)
        return np.average(own[rows] == y[rows], weights=weight[rows])

    by_hand = corrected_by_hand(score, predictions(X, y, search), search.best_index_, 60, draws(60))
    assert search.corrected_score_ == pytest.approx(by_hand, abs=1e-12)


def test_rows_of_zero_weight_are_not_counted():
    X, y = clouds()
    weight = np.ones(60)
    weight[::7] = 0
    search = SpanSearch(SpanSVC(), GRID).fit(X, y, sample_weight=weight)
    without = SpanSearch(SpanSVC(gamma=1.0), GRID).fit(X[weight > 0], y[weight > 0])
    assert search.corrected_score_ == without.corrected_score_
    assert search.corrected_interval_ == without.corrected_interval_


@pytest.mark.filterwarnings("ignore:.*fits failed")
def test_failed_candidates_are_left_out():
    X, y = clouds()
    failing = SpanSearch(SpanSVC(), {"C": [1.0, -1.0, 10.0, 0.1]}).fit(X, y)
    search = SpanSearch(SpanSVC(), {"C": [1.0, 10.0, 0.1]}).fit(X, y)
    assert failing.corrected_score_ == search.corrected_score_


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_neither_workers_nor_the_order_of_the_grid_change_it(scoring):
    X, y = clouds()
    search = SpanSearch(SpanSVC(), GRID, scoring=scoring).fit(X, y)
    threads = SpanSearch(SpanSVC(), GRID, scoring=scoring, n_jobs=2).fit(X, y)
    backwards = {name: values[::-1] for name, values in GRID.items()}
    turned = SpanSearch(SpanSVC(), backwards, scoring=scoring).fit(X, y)
    assert threads.corrected_score_ == search.corrected_score_
    assert threads.corrected_interval_ == search.corrected_interval_
    assert turned.corrected_score_ == pytest.approx(search.corrected_score_, abs=1e-12)


def test_predictions_come_back_from_other_processes():
    X, y = clouds()
    search = SpanSearch(SpanSVC(), {"C": [0.1, 1.0, 10.0]}, scoring="roc_auc").fit(X, y)
    with joblib.parallel_config("loky", n_jobs=2):
        other = SpanSearch(SpanSVC(), {"C": [0.1, 1.0, 10.0]}, scoring="roc_auc").fit(X, y)
    assert other.corrected_score_ == search.corrected_score_


def test_of_several_scores_the_selecting_one_is_corrected():
    X, y = clouds()
    scoring = ["roc_auc", "accuracy", "balanced_accuracy"]
    several = SpanSearch(SpanSVC(), GRID, scoring=scoring, refit="balanced_accuracy").fit(X, y)
    one = SpanSearch(SpanSVC(), GRID, scoring="balanced_accuracy").fit(X, y)
    assert several.corrected_score_ == one.corrected_score_


def test_a_scorer_of_several_scores_is_asked_for_the_selecting_one():
    X, y = clouds()

    def both(model, X, y):
        right = model.predict(X) == y
        return {"right": right.mean(), "wrong": 1 - right.mean()}

    grid = {"C": [0.1, 1.0, 10.0]}
    several = SpanSearch(SpanSVC(), grid, scoring=both, refit="right").fit(X, y)
    assert several.corrected_score_ == SpanSearch(SpanSVC(), grid).fit(X, y).corrected_score_


def test_an_interrupted_search_is_corrected_over_what_it_finished(monkeypatch):
    X, y = clouds()
    calls = []
    advance = "spansvm.search.evaluation.progress.SearchProgress.advance"

    def interrupt(self, *arguments):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(advance, interrupt)
    search = SpanSearch(SpanSVC(), GRID)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    monkeypatch.undo()
    done = search.cv_results_["params"]
    assert 1 < len(done) < 16
    again = SpanSearch(SpanSVC(), done).fit(X, y)
    assert search.corrected_score_ == pytest.approx(again.corrected_score_, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"corrected": False}, "corrected=False"),
        ({"method": "span_count"}, "gives no predictions"),
        ({"refit": lambda results: 0}, "refit is a function"),
        ({"scoring": ["accuracy", "f1_macro"], "refit": False}, "several scores"),
    ],
)
def test_why_there_is_no_correction_is_said(options, reason):
    X, y = clouds()
    search = SpanSearch(SpanSVC(), {"C": [1.0, 10.0]}, **options).fit(X, y)
    assert not hasattr(search, "corrected_score_")
    with pytest.raises(AttributeError, match=f"There is no corrected_interval_: .*{reason}"):
        search.corrected_interval_  # noqa: B018


def test_an_unfitted_search_has_no_correction():
    with pytest.raises(AttributeError, match="not fitted"):
        SpanSearch(SpanSVC(), GRID).corrected_score_  # noqa: B018


def test_predictions_beyond_the_budget_are_not_kept(monkeypatch):
    X, y = clouds()
    monkeypatch.setattr(corrected, "BUDGET", 100)
    search = SpanSearch(SpanSVC(), GRID).fit(X, y)
    with pytest.raises(AttributeError, match=r"would take more than .* MiB"):
        search.corrected_score_  # noqa: B018


def test_folds_that_lack_a_class_are_not_put_together():
    X, y = load_iris(return_X_y=True)
    rows = np.arange(150)
    folds = [(rows[50:], rows[:50]), (rows[::2], rows[1::2])]
    options = {"method": "kfold", "cv": folds, "scoring": "accuracy"}
    labels = SpanSearch(SpanSVC(), {"C": [1.0, 10.0]}, **options).fit(X, y)
    assert labels.corrected_score_ <= labels.best_score_
    scorer = make_scorer(lambda y, p: float(p.std()), response_method="predict_proba")
    options["scoring"] = scorer
    values = SpanSearch(SpanSVC(), {"C": [1.0, 10.0]}, **options).fit(X, y)
    with pytest.raises(AttributeError, match="some folds lack a class"):
        values.corrected_score_  # noqa: B018


def test_a_saved_search_keeps_its_correction_but_not_the_predictions():
    X, y = clouds()
    search = SpanSearch(SpanSVC(), GRID).fit(X, y)
    saved = pickle.loads(pickle.dumps(search))
    assert saved.corrected_score_ == search.corrected_score_
    ranked = SpanSearch(SpanSVC(), GRID, scoring="roc_auc").fit(X, y)
    value = ranked.corrected_score_
    assert pickle.loads(pickle.dumps(ranked)).corrected_score_ == value
    ranked.fit(X, y)
    with pytest.raises(AttributeError, match="before the search was saved"):
        pickle.loads(pickle.dumps(ranked)).corrected_score_  # noqa: B018
    assert ranked.corrected_score_ == value


def test_corrected_must_be_true_or_false():
    with pytest.raises(ValueError, match="corrected must be True or False; got 'yes'"):
        SpanSearch(SpanSVC(), GRID, corrected="yes").fit(*clouds())


def test_folds_that_one_model_predicts_are_corrected_as_those_that_are_trained():
    X, y = clouds()
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    trained, exact = (
        SpanSearch(SVC(tol=1e-8), GRID, method=method, cv=cv, ties="first").fit(X, y)
        for method in ("kfold", "loo")
    )
    assert exact.n_splits_ == 4
    assert exact.best_params_ == trained.best_params_
    assert exact.corrected_score_ == pytest.approx(trained.corrected_score_, abs=1e-12)
    assert exact.corrected_score_ < exact.best_score_


@pytest.mark.parametrize("method", ["span_rule", "loo"])
def test_groups_that_one_model_leaves_out_are_drawn_whole(method):
    X, y = noise(80)
    groups = np.arange(80) // 8
    rows = SpanSearch(SVC(), GRID, method=method).fit(X, y)
    grouped = SpanSearch(SVC(), GRID, method=method).fit(X, y, groups=groups)
    assert grouped.corrected_score_ < grouped.best_score_
    twice = np.repeat(np.arange(80), 2)
    doubled = SpanSearch(SVC(), GRID, method=method).fit(X[twice], y[twice], groups=twice)
    # Both copies leave together and are drawn together: they tell no more than one.
    wide, narrow = (np.diff(search.corrected_interval_) for search in (rows, doubled))
    assert narrow == pytest.approx(wide, rel=0.15)


_SAME = [
    "accuracy", "balanced_accuracy",
    *(f"{name}_{average}" for name in ("f1", "precision", "recall", "jaccard")
      for average in ("macro", "micro", "weighted")),
]  # fmt: skip


@pytest.mark.parametrize("scoring", [*_SAME, "f1", "precision", "recall"])
def test_scores_of_folds_have_the_digits_of_the_scorer(scoring):
    rng, scorer, compared = np.random.default_rng(0), get_scorer(scoring), 0
    assert same_digits(scorer, {})
    assert not same_digits(scorer, {"sample_weight": np.ones(3)})
    for _ in range(60):
        k = int(rng.integers(2, 12)) if scoring in _SAME else 2
        y = np.concatenate((np.arange(k), rng.choice(k, 300, p=rng.dirichlet(np.ones(k)))))
        predicted = np.where(rng.random(y.size) < rng.random(), y, rng.permutation(y))
        errors = only_errors(scorer, {}, np.arange(k))
        sample = Sample(np.arange(y.size), y, None)
        keeping = Keeping("score", errors, 10**9)
        kept = keep_responses({"predict": predicted}, y, sample.classes, keeping)
        quick = quickest_scores(scorer, {}, [kept], sample, "score")
        found = quick(np.ones((1, y.size), dtype=np.int32))[0, 0]
        if not warns(scorer, predicted, k):
            assert found == scorer._score_func(y, predicted, **scorer._kwargs)
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc", "matthews_corrcoef"])
def test_other_scores_of_folds_are_those_of_the_scorer(scoring):
    assert not same_digits(get_scorer(scoring), {})
