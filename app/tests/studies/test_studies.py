"""Baselines, learning curves and decisions of a selected model."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    get_scorer,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from spansvm import SigmoidWeighting, SpanSearch, SpanSVC
from spansvm_app.studies import (
    Subject,
    compare_baselines,
    learning_curve,
    paired_difference,
    rate_decisions,
)
from spansvm_app.studies.baselines import selection_optimism, unweighted_candidates


def pipeline(**settings):
    return make_pipeline(MinMaxScaler(), SpanSVC(**settings))


def subject_of(X, y, groups=None, most_rows=4000, **settings):
    model = pipeline(**{"C": 10, "gamma": 0.1, **settings})
    model.fit(X, y, **({} if groups is None else {"spansvc__groups": groups}))
    return Subject.of(model, X, y, [f"x{i}" for i in range(X.shape[1])], most_rows)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return subject_of(X, y)


# Pairs of models ----------------------------------------------------------------------------------


def test_a_difference_is_that_of_the_rows_on_which_two_models_disagree():
    rng = np.random.default_rng(0)
    first, second = rng.random(200) < 0.3, rng.random(200) < 0.1
    found = paired_difference(first, second)
    assert found.value == pytest.approx(first.mean() - second.mean())
    b, c = found.n_only_first, found.n_only_second
    assert (b, c) == ((first & ~second).sum(), (second & ~first).sum())
    # Where McNemar's exact test is clear, so is the interval, and the other way round.
    assert found.clear == (binomtest(b, b + c).pvalue < 0.05)
    assert not paired_difference(first, first).clear
    assert paired_difference(first, second, optimism=0.1).value == pytest.approx(found.value - 0.1)


def test_the_interval_covers_the_true_difference_also_with_few_errors():
    rng, covered = np.random.default_rng(0), 0
    for _ in range(1000):
        first, second = rng.random(100) < 0.05, rng.random(100) < 0.03
        low, high = paired_difference(first, second).interval
        covered += low <= 0.02 <= high
    assert 930 <= covered <= 1000


def test_rows_of_a_group_tell_less_than_as_many_others():
    rng = np.random.default_rng(0)
    first = np.repeat(rng.random(30) < 0.4, 10)
    second = np.repeat(rng.random(30) < 0.3, 10)
    units = np.repeat(np.arange(30), 10)
    single, grouped = paired_difference(first, second), paired_difference(first, second, units)
    assert grouped.value == single.value
    assert grouped.standard_error > 2.5 * single.standard_error


# Baselines ----------------------------------------------------------------------------------------


def test_baselines_are_the_models_they_are_called(cancer):
    found = {one.name: one for one in compare_baselines(cancer).baselines}
    X, y = cancer.machines.X, cancer.y
    assert list(found) == ["largest class", "logistic regression", "SVC with default parameters"]
    assert found["largest class"].error == pytest.approx(212 / 569)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    logistic = LogisticRegression(max_iter=200, tol=1e-3)
    predicted = cross_val_predict(logistic, X, y, cv=folds)
    assert found["logistic regression"].error == pytest.approx(np.mean(predicted != y))
    span = SpanSVC().fit(X, y)
    assert found["SVC with default parameters"].error == pytest.approx(span.loo_error_)
    for one in found.values():
        assert one.difference.value == pytest.approx(one.error - cancer.wrong.mean())


def test_groups_leave_the_baselines_as_groups():
    rng = np.random.default_rng(0)
    groups, y = np.repeat(np.arange(40), 10), np.repeat(np.arange(40) % 2, 10)
    X = np.repeat(rng.normal(size=(40, 20)), 10, axis=0) + 0.1 * rng.normal(size=(400, 20))
    alone, together = (
        {one.name: one.error for one in compare_baselines(subject).baselines}
        for subject in (subject_of(X, y), subject_of(X, y, groups))
    )
    # Rows of a person give the label of the others away; whole persons do not.
    for name in ("logistic regression", "SVC with default parameters"):
        assert alone[name] < 0.25
        assert together[name] > 0.45


def test_scores_of_baselines_are_those_of_scikit_learn():
    X, y = make_classification(500, 8, weights=[0.85], random_state=1)
    subject = subject_of(X, y)
    model = subject.model
    for name, expected in (
        ("balanced_accuracy", balanced_accuracy_score(y, model.loo_predict_)),
        ("roc_auc", roc_auc_score(y, model.loo_ranking_)),
    ):
        found = compare_baselines(subject, scorer=get_scorer(name))
        assert found.score == pytest.approx(expected)
        assert [one.name for one in found.baselines] == [
            "largest class", "logistic regression", "logistic regression, balanced",
            "SVC with default parameters",
        ]  # fmt: skip
        assert found.baselines[0].score == 0.5
        for one in found.baselines:
            low, high = one.score_interval
            assert low < one.score - found.score < high
        assert found.baselines[0].score_interval[1] < 0.0


def test_the_interval_of_a_score_is_that_of_drawn_rows():
    X, y = make_classification(600, 8, weights=[0.8], flip_y=0.1, random_state=1)
    subject = subject_of(X, y)
    found = compare_baselines(subject, scorer=get_scorer("balanced_accuracy"))
    low, high = found.baselines[0].score_interval
    right = subject.model.loo_predict_ == y
    rng, drawn = np.random.default_rng(0), []
    for _ in range(400):
        rows = rng.integers(600, size=600)
        drawn.append(np.mean([right[rows][y[rows] == label].mean() for label in (0, 1)]))
    assert (high - low) / (2 * 1.96) == pytest.approx(np.std(drawn), rel=0.35)


def test_what_weights_add_is_seen_in_the_same_search_without_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 2))
    y = (X[:, 0] > 0).astype(int)
    scores = rng.random(240)
    flipped = (scores < 0.3) & (rng.random(240) < 0.8)  # labels of low scores are mostly wrong
    y[flipped] = 1 - y[flipped]
    grid = {
        "spansvc__weighting__steepness": [1.0, 30.0],
        "spansvc__weighting__midpoint": [0.3],
        "spansvc__weighting__ceiling": [1.0, 10.0],
    }
    search = SpanSearch(pipeline(gamma=1.0, weighting=SigmoidWeighting()), grid)
    search.fit(X, y, scores=scores)
    assert unweighted_candidates(search) == [
        {"spansvc__weighting": None, "spansvc__C": ceiling} for ceiling in (1.0, 10.0)
    ]
    subject = Subject.of(search.best_estimator_, X, y, ["a", "b"])
    last = compare_baselines(subject, search).baselines[-1]
    assert last.name == "the same search without weights"
    errors = [pipeline(gamma=1.0, C=C).fit(X, y)[-1].loo_error_ for C in (1.0, 10.0)]
    assert last.error == pytest.approx(min(errors))
    weighted = SpanSearch(pipeline(), {"spansvc__C": [1, 10]}).fit(X, y, sample_weight=scores)
    subject = Subject.of(weighted.best_estimator_, X, y, ["a", "b"])
    plain = SpanSearch(pipeline(), {"spansvc__C": [1, 10]}).fit(X, y)
    assert compare_baselines(subject, weighted).baselines[-1].error == 1 - plain.best_score_
    assert len(compare_baselines(Subject.of(plain.best_estimator_, X, y, []), plain).baselines) == 3


def test_differences_are_corrected_for_the_selection():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    grid = {"spansvc__C": 2.0 ** np.arange(-3, 8), "spansvc__gamma": 2.0 ** np.arange(-3, 4)}
    search = SpanSearch(pipeline(), grid).fit(X, y)
    subject = Subject.of(search.best_estimator_, X, y, list("abc"))
    optimism = selection_optimism(search)
    assert optimism == pytest.approx(search.best_score_ - search.corrected_score_)
    assert optimism > 0.01
    found = compare_baselines(subject, search)
    assert found.optimism == optimism
    for one in found.baselines:
        expected = one.error - found.error - optimism
        assert one.difference.value == pytest.approx(expected)


# Learning curve -----------------------------------------------------------------------------------


def test_every_row_is_left_out_once_at_every_size(cancer):
    curve = learning_curve(cancer)
    assert [(one.n_rows, one.n_models) for one in curve.points] == [
        (71, 8), (142, 4), (284, 2), (569, 1),
    ]  # fmt: skip
    assert curve.points[-1].error == pytest.approx(cancer.wrong.mean())
    half = curve.points[-2]
    assert curve.gain.value == pytest.approx(half.error - curve.points[-1].error)
    assert all(one.interval[0] < one.error < one.interval[1] for one in curve.points)


def test_the_error_of_a_half_is_that_of_models_trained_on_halves():
    X, y = load_iris(return_X_y=True)
    subject = subject_of(X, y)
    curve = learning_curve(subject)
    from spansvm_app.studies.learning import _eighths, _merged

    parts = _eighths(subject, 0)
    halves = [np.sort(np.concatenate(own)) for own in _merged(parts, 2)]
    assert np.array_equal(np.sort(np.concatenate(halves)), np.arange(150))
    assert [np.bincount(y[rows]).tolist() for rows in halves] == [[25, 25, 25]] * 2
    errors = []
    for factor in (1, 2):
        wrong = 0
        for rows in halves:
            Z, own = subject.machines.X[rows], y[rows]
            model = SpanSVC(C=10 * factor, gamma=0.1).fit(Z, own)
            wrong += int((model.loo_predict_ != own).sum())
        errors.append(wrong / 150)
    assert curve.points[-2].error == pytest.approx(min(errors))


def test_the_verdict_is_careful():
    rng = np.random.default_rng(0)
    X, y = make_classification(800, 10, n_informative=8, n_redundant=0, class_sep=0.6,
                               random_state=0)  # fmt: skip
    assert learning_curve(subject_of(X, y, gamma=2.0)).verdict == "falling"
    # What the selection gained by luck is no gain by rows.
    assert learning_curve(subject_of(X, y, gamma=2.0), optimism=0.03).verdict != "falling"
    X = rng.normal(size=(800, 2))
    easy = (X[:, 0] > 0).astype(int)
    easy[rng.random(800) < 0.3] ^= 1
    assert learning_curve(subject_of(X, easy, gamma=0.01)).verdict in ("flat", "unknown")
    falling = 0
    for _ in range(8):
        subject = subject_of(rng.normal(size=(120, 4)), np.arange(120) % 2)
        falling += learning_curve(subject).verdict == "falling"
    assert falling <= 1


def test_groups_stay_together_in_all_parts():
    from spansvm_app.studies.learning import _eighths

    rng = np.random.default_rng(0)
    groups, X = np.repeat(np.arange(50), 6), rng.normal(size=(300, 3))
    y = np.where(X[:, 0] > 0, "b", "a")
    subject = subject_of(X, y, groups)
    parts = _eighths(subject, 0)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(300))
    homes = [set(groups[part]) for part in parts]
    assert sum(map(len, homes)) == 50
    assert len(learning_curve(subject).points) == 4


def test_there_is_no_curve_of_too_few_rows():
    X, y = load_iris(return_X_y=True)
    y[0] = 3
    assert "fewer than 2 of some class" in learning_curve(subject_of(X, y))


# Decisions ----------------------------------------------------------------------------------------


def test_rates_are_those_of_scikit_learn(cancer):
    X, y = load_wine(return_X_y=True)
    for subject in (cancer, subject_of(X, y, C=1)):
        said, own = subject.model.loo_predict_, subject.y
        found = rate_decisions(subject).rates
        for name, score in (("precision", precision_score), ("recall", recall_score),
                            ("f1", f1_score)):  # fmt: skip
            expected = score(own, said, average=None)
            assert [getattr(one, name) for one in found] == pytest.approx(expected)
        for one in found:
            assert one.recall_interval[0] <= one.recall <= one.recall_interval[1]


def test_curves_are_drawn_for_unequal_classes_only(cancer):
    (curve,) = rate_decisions(cancer).curves
    values, own = cancer.model.loo_ranking_, cancer.y == 1  # the label 1, though the larger class
    assert curve.label == 1
    assert curve.average == pytest.approx(average_precision_score(own, values))
    said = cancer.model.loo_predict_ == 1
    assert curve.at == pytest.approx([said[own].mean(), own[said].mean()])
    X, y = load_iris(return_X_y=True)
    assert rate_decisions(subject_of(X, y)).curves == []
    assert rate_decisions(subject_of(X, y)).costs is None


def test_costs_are_those_of_the_decisions_at_the_threshold():
    X, y = load_breast_cancer(return_X_y=True)
    cancer = subject_of(X, np.where(y, "benign", "a tumour"))
    costs = rate_decisions(cancer).costs
    left_out = cancer.left_out
    probability = left_out.calibration.calibrated(left_out.values.comparable)[:, 0]
    value = cancer.model.loo_ranking_
    assert (costs.label, costs.rises, costs.n_rows, costs.n_other) == (
        "a tumour", False, 212, 357,
    )  # fmt: skip
    assert [costs.steps[place].ratio for place in (0, 20, 40)] == [0.01, 1.0, 100.0]
    for step in costs.steps:
        assert step.threshold == pytest.approx(1 / (1 + step.ratio))
        said = cancer.classes[np.where(probability >= step.threshold, 0, 1)]
        # The rarer class is the first one: its decision values are the smaller ones.
        assert np.array_equal(said, cancer.classes[np.where(value <= step.decision, 0, 1)])
        (_, missed), (alarms, _) = confusion_matrix(cancer.y, said, labels=cancer.classes)
        assert (step.n_missed, step.n_alarms) == (missed, alarms)
        cheaper = min(step.ratio, 1.0)
        assert step.cost == pytest.approx((step.ratio * missed + alarms) / cheaper / 569)
    assert np.all(np.diff([step.n_missed for step in costs.steps]) <= 0)
    assert np.all(np.diff([step.n_alarms for step in costs.steps]) >= 0)
    (_, missed), (alarms, _) = confusion_matrix(cancer.y, cancer.model.loo_predict_)
    assert costs.own == [missed, alarms]
    X, model = cancer.machines.X, cancer.model
    for step in costs.steps[::10]:  # it applies to other rows as well
        alarm = model.predict_calibrated_proba(X)[:, 0] >= step.threshold
        assert np.array_equal(alarm, model.decision_function(X) <= step.decision)
    # With calibrated probabilities the thresholds of the costs are hardly dearer than the model's.
    assert sum(step.cost for step in costs.steps) < sum(step.own_cost for step in costs.steps)


# Rows ---------------------------------------------------------------------------------------------


def test_many_rows_are_sampled_and_rows_of_no_weight_left_aside():
    X, y = make_classification(900, 6, weights=[0.9], random_state=0)
    sampled = subject_of(X, y, most_rows=300)
    assert (sampled.n_rows, sampled.n_all, sampled.sampled) == (300, 900, True)
    assert np.mean(sampled.y) == pytest.approx(np.mean(y), abs=0.01)
    assert sampled.wrong.mean() < 0.2
    groups = np.arange(900) // 9
    grouped = subject_of(X, y, groups, most_rows=300)
    assert grouped.n_rows == pytest.approx(300, abs=30)
    assert {own.size for own in grouped.sets} <= set(range(1, 10))
    weight = np.ones(900)
    weight[:100] = 0
    model = pipeline().fit(X, y, spansvc__sample_weight=weight)
    subject = Subject.of(model, X, y, list("abcdef"))
    assert np.array_equal(subject.y, y[100:])
    assert subject.wrong.mean() == pytest.approx(model[-1].loo_error_)


def test_equal_rows_are_counted():
    X, y = load_iris(return_X_y=True)
    assert subject_of(X[:100], y[:100]).n_repeated == 0
    X, y = np.vstack([X[:100], X[:20]]), np.append(y[:100], y[:20])
    assert subject_of(X, y).n_repeated == 40
    assert subject_of(X, np.where(np.arange(120) % 9, y, 2)).n_repeated == 40
    # Copies that leave together do not stay.
    assert subject_of(X, y, groups=np.append(np.arange(100), np.arange(20))).n_repeated == 0


def test_little_memory_is_no_reason_to_wait():
    X, y = make_classification(1400, 4, random_state=0)
    subject = subject_of(X, y, gram_budget="1 MB")
    assert (subject.n_rows, subject.n_all) == (1000, 1400)
