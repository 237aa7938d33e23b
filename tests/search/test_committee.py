"""Committees: the mean of the candidates that could have been the best."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spansvm import (
    Committee,
    RegressionCommittee,
    SigmoidWeighting,
    SpanRandomizedSearch,
    SpanSearch,
    SpanSVC,
    SpanSVR,
)
from spansvm.models import load_model, save_model
from spansvm.multiclass.left_out import calibrated_by_span
from spansvm.search.committee.weights import standard_errors, weigh
from spansvm.search.scoring.bootstrap import draws

GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.02, 0.1, 0.5]}
X, y = make_classification(
    400, n_features=6, n_informative=4, n_redundant=0, flip_y=0.1, random_state=3
)
X, X_NEW, y, Y_NEW = X[:120], X[120:], y[:120], y[120:]
FLOWERS, KINDS = load_iris(return_X_y=True)
PATIENTS, PROGRESS = (part[:150] for part in load_diabetes(return_X_y=True))


def candidates(grid=GRID):
    names, lists = zip(*grid.items(), strict=True)
    return [
        dict(zip(names, own, strict=True))
        for own in np.array(np.meshgrid(*lists)).T.reshape(-1, len(lists)).tolist()
    ]


def by_hand(losses, max_members=20):
    """Weights from the losses of candidates and rows, as the formula says."""
    means = losses.mean(axis=1)
    best = losses[means.argmin()]
    error = best.std(ddof=1) / np.sqrt(best.size)
    weights = np.exp(-(means - means.min()) / error)
    weights[np.argsort(means)[max_members:]] = 0.0
    return weights / weights.sum()


def averaged(weights, probabilities):
    """For every two classes, the mean of the log odds of several models."""
    product = np.prod(np.power(probabilities, np.asarray(weights)[:, None, None]), axis=0)
    return product / product.sum(axis=1, keepdims=True)


def left_out_by(rows, labels, wanted=None, **arguments):
    """Left-out probabilities of candidates of the grid, as any scorer of a search is given them."""
    seen = {}

    def scorer(model, points, _):
        own = model.get_params()
        seen.setdefault((own["C"], own["gamma"]), model.predict_proba(points))
        return 0.0

    SpanSearch(SpanSVC(), GRID, scoring=scorer, refit=False).fit(rows, labels, **arguments)
    return np.array([seen[own["C"], own["gamma"]] for own in wanted or candidates()])


def own_class(probabilities, labels):
    return -np.log(probabilities[np.arange(labels.size), labels])


@pytest.mark.parametrize(
    ("machine", "rows", "labels", "new", "max_members"),
    [
        (SVC, X, y, X_NEW, 20),
        (SpanSVC, X, y, X_NEW, 4),
        (SVC, FLOWERS, KINDS, FLOWERS + 0.3, 20),
    ],
)
def test_a_committee_is_the_weighted_mean_of_separately_fitted_models(
    machine, rows, labels, new, max_members
):
    committee = SpanSearch(machine(), GRID).fit(rows, labels).committee(max_members)
    models = [SpanSVC(**own).fit(rows, labels) for own in candidates()]
    left_out = left_out_by(rows, labels)
    weights = by_hand(np.array([own_class(own, labels) for own in left_out]), max_members)
    assert isinstance(committee, Committee)
    found = {(own["C"], own["gamma"]): w for own, w in zip(
        committee.members_, committee.weights_, strict=True)}  # fmt: skip
    for own, weight in zip(candidates(), weights, strict=True):
        assert found.get((own["C"], own["gamma"]), 0.0) == pytest.approx(weight, abs=1e-5)
    expected = averaged(weights, [model.predict_proba(new) for model in models])
    np.testing.assert_allclose(committee.predict_proba(new), expected, atol=1e-5)
    np.testing.assert_array_equal(
        committee.predict_log_proba(new), np.log(committee.predict_proba(new))
    )
    np.testing.assert_array_equal(committee.predict(new), expected.argmax(axis=1))
    loo = averaged(weights, left_out)
    np.testing.assert_allclose(committee.loo_predict_proba_, loo, atol=1e-5)
    assert committee.loo_error_ == np.mean(loo.argmax(axis=1) != labels)
    assert committee.loo_score_ == 1.0 - committee.loo_error_
    assert committee.n_kernels_ == len({own["gamma"] for own in committee.members_})


def test_a_committee_of_regressions_is_the_weighted_mean_of_separately_fitted_ones():
    grid = {"C": [10.0, 100.0, 1000.0], "epsilon": [5.0, 30.0], "gamma": [1.0, 10.0]}
    committee = SpanSearch(SVR(), grid).fit(PATIENTS, PROGRESS).committee_
    models = [SpanSVR(**own).fit(PATIENTS, PROGRESS) for own in candidates(grid)]
    left_out = np.array([model.loo_predict_ for model in models])
    weights = by_hand((left_out - PROGRESS) ** 2)
    assert isinstance(committee, RegressionCommittee)
    new = PATIENTS + 0.01
    expected = weights @ [model.predict(new) for model in models]
    np.testing.assert_allclose(committee.predict(new), expected, rtol=1e-5)
    np.testing.assert_allclose(committee.loo_predict_, weights @ left_out, rtol=1e-5)
    mean_square = np.mean((weights @ left_out - PROGRESS) ** 2)
    assert committee.loo_error_ == pytest.approx(np.sqrt(mean_square))
    assert committee.loo_score_ == pytest.approx(1.0 - mean_square / PROGRESS.var())
    low, high = committee.corrected_interval_
    assert low < committee.corrected_score_ <= committee.loo_score_ < high


def test_with_folds_left_out_probabilities_are_those_of_the_models_of_the_folds():
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    committee = SpanSearch(SpanSVC(), GRID, cv=folds).fit(X, y).committee_
    left_out = np.empty((len(candidates()), y.size, 2))
    for place, own in enumerate(candidates()):
        for train, test in folds.split(X, y):
            model = SpanSVC(**own).fit(X[train], y[train])
            calibration = calibrated_by_span(model.machines_)()  # as all searches with folds do
            left_out[place, test] = calibration(model.decision_function(X[test])[:, None])
    weights = by_hand(np.array([own_class(own, y) for own in left_out]))
    expected = averaged(weights, left_out)
    np.testing.assert_allclose(committee.loo_predict_proba_, expected, atol=1e-5)
    whole = [SpanSVC(**own).fit(X, y).predict_proba(X_NEW) for own in candidates()]
    expected = averaged(weights, whole)
    np.testing.assert_allclose(committee.predict_proba(X_NEW), expected, atol=1e-5)


def test_folds_that_lack_a_class_or_some_rows_are_no_obstacle():
    rare = np.where(np.arange(y.size) < 3, 2, y)
    folds = KFold(4).split(X)
    some = list(folds)[:2]  # the first has all rows of the rare class
    committee = SpanSearch(SVC(), GRID, cv=some).fit(X, rare).committee_
    tested = np.concatenate([test for _, test in some])
    assert np.isnan(np.delete(committee.loo_predict_proba_, tested, axis=0)).all()
    np.testing.assert_allclose(committee.loo_predict_proba_[tested].sum(axis=1), 1.0)
    assert (committee.loo_predict_proba_[:3, 2] < 1e-15).all()
    assert committee.predict_proba(X_NEW).shape == (X_NEW.shape[0], 3)


def test_groups_are_left_out_together():
    groups = np.arange(y.size) // 5
    committee = SpanSearch(SpanSVC(), GRID).fit(X, y, groups=groups).committee_
    models = [SpanSVC(**own).fit(X, y, groups=groups) for own in committee.members_]
    every = left_out_by(X, y, committee.members_, groups=groups)
    left_out = averaged(committee.weights_, every)
    np.testing.assert_allclose(committee.loo_predict_proba_, left_out, atol=1e-5)
    expected = averaged(committee.weights_, [m.predict_proba(X_NEW) for m in models])
    np.testing.assert_allclose(committee.predict_proba(X_NEW), expected, atol=1e-5)


def test_weights_and_importance_scores_reach_the_members():
    generator = np.random.default_rng(0)
    weight, scores = generator.integers(0, 3, y.size).astype(float), generator.random(y.size)
    machine = SpanSVC(weighting=SigmoidWeighting(steepness=4.0), class_weight="balanced")
    committee = SpanSearch(machine, GRID).fit(X, y, sample_weight=weight, scores=scores).committee_
    models = [
        clone(machine).set_params(**own).fit(X, y, sample_weight=weight, scores=scores)
        for own in committee.members_
    ]
    expected = averaged(committee.weights_, [m.predict_proba(X_NEW) for m in models])
    np.testing.assert_allclose(committee.predict_proba(X_NEW), expected, atol=1e-5)
    # Rows of weight 0 have not been seen: they are predicted.
    unseen = averaged(committee.weights_, [m.predict_proba(X) for m in models])
    aside = weight == 0
    np.testing.assert_allclose(committee.loo_predict_proba_[aside], unseen[aside], atol=1e-5)
    assert (committee.loo_predict_proba_[~aside] != unseen[~aside]).any()
    wrong = committee.loo_predict_ != y
    assert committee.loo_error_ == wrong[weight > 0].mean()


def test_settings_of_transformers_have_their_own_members():
    model = make_pipeline(StandardScaler(), SVC())
    grid = {"standardscaler__with_std": [True, False], "svc__C": [1.0, 10.0]}
    table = pd.DataFrame(X * [1, 2, 1, 3, 1, 1], columns=list("abcdef"))
    committee = SpanSearch(model, grid).fit(table, y).committee_
    every = []
    for own in committee.members_:
        single = make_pipeline(StandardScaler(), SpanSVC()).set_params(
            **{key.replace("svc__", "spansvc__"): value for key, value in own.items()}
        )
        every.append(single.fit(table, y).predict_proba(table))
    expected = averaged(committee.weights_, every)
    np.testing.assert_allclose(committee.predict_proba(table), expected, atol=1e-5)
    assert committee.n_kernels_ == len({o["standardscaler__with_std"] for o in committee.members_})
    assert committee.n_features_in_ == 6
    assert list(committee.feature_names_in_) == list("abcdef")
    with pytest.raises(ValueError, match="feature names"):
        committee.predict(table[list("fedcba")])


def test_members_with_one_kernel_share_its_values():
    calls = []

    def kernel(A, B):
        calls.append(A.shape)
        return rbf_kernel(A, B, gamma=0.1)

    committee = SpanSearch(SVC(kernel=kernel), {"C": [0.5, 1.0, 2.0]}).fit(X, y).committee_
    calls.clear()
    committee.predict_proba(X_NEW)
    assert len(committee.members_) == 3
    assert len(calls) == committee.n_kernels_ == 1


def test_targets_are_transformed_back_and_several_are_averaged_each():
    grid = {"C": [1.0, 10.0], "gamma": [1.0, 10.0]}
    scaled = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
    around = {f"regressor__{key}": values for key, values in grid.items()}
    committee = SpanSearch(scaled, around).fit(PATIENTS, PROGRESS).committee_
    units = StandardScaler().fit(PROGRESS[:, None])
    models = [
        SpanSVR(C=own["regressor__C"], gamma=own["regressor__gamma"]).fit(
            PATIENTS, units.transform(PROGRESS[:, None])[:, 0]
        )
        for own in committee.members_
    ]
    values = committee.weights_ @ [model.predict(PATIENTS) for model in models]
    expected = units.inverse_transform(values[:, None])[:, 0]
    np.testing.assert_allclose(committee.predict(PATIENTS), expected, rtol=1e-5)
    both = np.column_stack([PROGRESS, -2 * PROGRESS])
    several = {f"estimator__{key}": values for key, values in grid.items()}
    committee = SpanSearch(MultiOutputRegressor(SVR()), several).fit(PATIENTS, both).committee_
    assert committee.predict(PATIENTS).shape == committee.loo_predict_.shape == (150, 2)


def test_one_candidate_is_its_own_committee():
    search = SpanSearch(SVC(), {"C": [3.0], "gamma": [0.1]}).fit(X, y)
    committee, model = search.committee_, SpanSVC(C=3.0, gamma=0.1).fit(X, y)
    np.testing.assert_allclose(committee.predict_proba(X_NEW), model.predict_proba(X_NEW))
    np.testing.assert_array_equal(committee.predict(X_NEW), model.predict(X_NEW))
    np.testing.assert_allclose(committee.loo_predict_proba_, model.loo_predict_proba_)
    assert committee.weights_.tolist() == [1.0]
    assert committee.corrected_score_ == committee.loo_score_  # nothing was selected
    svc = committee.to_svc()
    assert type(svc) is SVC
    np.testing.assert_allclose(svc.decision_function(X_NEW), model.decision_function(X_NEW))
    several = SpanSearch(SVC(), GRID).fit(X, y).committee_
    with pytest.raises(ValueError, match="one member"):
        several.to_svc()
    regression = SpanSearch(SVR(), {"C": [100.0]}).fit(PATIENTS, PROGRESS).committee_
    expected = SVR(C=100.0).fit(PATIENTS, PROGRESS).predict(PATIENTS)
    assert type(regression.to_svr()) is SVR
    np.testing.assert_allclose(regression.to_svr().predict(PATIENTS), expected, atol=0.1)


def test_candidates_that_are_the_same_model_count_equally():
    search = SpanSearch(SVC(), {"C": [1.0], "gamma": [0.1], "cache_size": list(range(200, 230))})
    committee = search.fit(X, y).committee_
    np.testing.assert_allclose(committee.weights_, 0.05)
    # Those of the smallest numbers, whatever the order of the grid.
    assert [own["cache_size"] for own in committee.members_] == list(range(200, 220))
    expected = SpanSVC(gamma=0.1).fit(X, y).predict_proba(X_NEW)
    np.testing.assert_allclose(committee.predict_proba(X_NEW), expected, atol=1e-9)


def test_without_a_standard_error_only_the_best_count():
    means = np.array([[0.5, 0.3, 0.3, 0.4]])
    assert weigh(means, np.zeros(1), 20).tolist() == [[0.0, 0.5, 0.5, 0.0]]
    assert weigh(means, np.zeros(1), 1).tolist() == [[0.0, 1.0, 0.0, 0.0]]


def test_standard_errors_are_those_of_means_of_rows_or_of_groups():
    losses = np.random.default_rng(0).random((1, 60))
    once = np.ones((1, 60))
    alone = standard_errors(losses, np.arange(60), once)
    assert alone[0] == pytest.approx(losses.std(ddof=1) / np.sqrt(60))
    means = losses.reshape(20, 3).mean(axis=1)
    grouped = standard_errors(losses, np.repeat(np.arange(20), 3), once)
    assert grouped[0] == pytest.approx(means.std(ddof=1) / np.sqrt(20))


def test_noise_is_predicted_no_better_than_by_the_prior_and_not_much_worse():
    generator = np.random.default_rng(1)
    noise, labels = generator.normal(size=(900, 5)), generator.integers(0, 2, 900)
    committee = SpanSearch(SVC(), GRID).fit(noise[:150], labels[:150]).committee_
    low, high = committee.corrected_interval_
    assert low < 0.5 < high
    loss = log_loss(labels[150:], committee.predict_proba(noise[150:]))
    assert np.log(2.0) - 0.01 < loss < np.log(2.0) + 0.03


def test_26_classes_are_averaged_as_two_are():
    generator = np.random.default_rng(0)
    kinds = np.repeat(list("abcdefghijklmnopqrstuvwxyz"), 3)
    centres = generator.normal(scale=3.0, size=(26, 4))
    rows = np.repeat(centres, 3, axis=0) + generator.normal(size=(78, 4))
    grid = {"C": [1.0, 10.0], "gamma": [0.02, 0.05]}
    committee = SpanSearch(SVC(), grid).fit(rows, kinds).committee_
    assert len(committee.members_) == 4
    probabilities = committee.predict_proba(rows)
    members = [SpanSVC(**own).fit(rows, kinds).predict_proba(rows) for own in committee.members_]
    np.testing.assert_allclose(probabilities, averaged(committee.weights_, members), atol=1e-6)
    assert probabilities.shape == (78, 26)
    np.testing.assert_allclose(softmax(committee.decision_function(rows), axis=1), probabilities)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert committee.loo_predict_.dtype == kinds.dtype
    assert committee.losses_.max() < np.log(26.0)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "roc_auc"])
def test_the_corrected_score_repeats_the_weighting_on_drawn_rows(scoring):
    committee = SpanSearch(SpanSVC(), GRID, scoring=scoring).fit(X, y).committee(5)
    left_out = left_out_by(X, y)
    losses = np.array([own_class(own, y) for own in left_out])
    whole = averaged(by_hand(losses, 5), left_out)
    repeated = committee._correction.repeat(30)
    apart = []
    for counts in next(draws(np.arange(y.size), 30, 30)):
        drawn, others = np.repeat(np.arange(y.size), counts), counts == 0
        mean = averaged(by_hand(losses[:, drawn], 5), left_out)
        apart.append(scored(scoring, whole[others], y[others]) - scored(
            scoring, mean[others], y[others]))  # fmt: skip
    np.testing.assert_allclose(repeated.left_out - repeated.selected, apart, atol=1e-4)
    assert committee.corrected_score_ <= committee.loo_score_
    assert committee.loo_score_ == pytest.approx(scored(scoring, whole, y), abs=1e-6)


def scored(scoring, probabilities, labels):
    """A score, by functions of scikit-learn."""
    if scoring == "neg_log_loss":
        return -log_loss(labels, probabilities)
    if scoring == "roc_auc":
        return roc_auc_score(labels, probabilities[:, 1])
    return accuracy_score(labels, probabilities.argmax(axis=1))


def test_neither_workers_nor_the_order_of_the_grid_matter():
    one = SpanSearch(SVC(), GRID).fit(X, y).committee_
    turned = {name: values[::-1] for name, values in reversed(GRID.items())}
    other = SpanSearch(SVC(), turned, n_jobs=2).fit(X, y).committee_
    assert one.members_ == other.members_
    np.testing.assert_array_equal(one.weights_, other.weights_)
    np.testing.assert_array_equal(one.predict_proba(X_NEW), other.predict_proba(X_NEW))


def test_a_committee_can_search_itself():
    search = SpanSearch(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 10.0]})
    model = Committee(search, max_members=5)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.75
    model.fit(X, y)
    expected = clone(search).fit(X, y).committee(5)
    np.testing.assert_array_equal(model.predict_proba(X_NEW), expected.predict_proba(X_NEW))
    assert not hasattr(search, "committee_")
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    with pytest.raises(ValueError, match="has no search"):
        Committee().fit(X, y)
    with pytest.raises(TypeError, match="makes a Committee"):
        RegressionCommittee(search).fit(X, y)


def test_randomized_searches_and_bounds_have_committees_as_well():
    random = SpanRandomizedSearch(SVC(), GRID, n_iter=5, random_state=0).fit(X, y)
    assert len(random.committee_.members_) <= 5
    bounds = SpanSearch(SVC(), GRID, method="xi_alpha").fit(X, y).committee_
    usual = SpanSearch(SVC(), GRID).fit(X, y).committee_
    np.testing.assert_allclose(bounds.predict_proba(X_NEW), usual.predict_proba(X_NEW))


@pytest.mark.parametrize("regression", [False, True])
def test_a_saved_committee_predicts_the_same(tmp_path, regression):
    machine, rows, target = (SVR(), PATIENTS, PROGRESS) if regression else (SVC(), X, y)
    model = make_pipeline(StandardScaler(), machine)
    name = model.steps[-1][0]
    grid = {f"{name}__C": [1.0, 10.0], f"{name}__gamma": [0.02, 0.1]}
    search = SpanSearch(model, grid).fit(rows, target)
    committee = search.committee_
    score = committee.corrected_score_
    save_model(tmp_path / "model.skops", committee)
    loaded = load_model(tmp_path / "model.skops").model
    for other in (loaded, pickle.loads(pickle.dumps(committee)), pickle.loads(
        pickle.dumps(search)).committee_):  # fmt: skip
        np.testing.assert_array_equal(other.predict(rows), committee.predict(rows))
        assert other.corrected_score_ == score
        assert other.loo_error_ == committee.loo_error_
    unasked = pickle.loads(pickle.dumps(search.committee(3)))
    with pytest.raises(AttributeError, match="not asked for before"):
        unasked.corrected_score_  # noqa: B018


def test_where_there_is_no_committee_it_is_said_why():
    with pytest.raises(AttributeError, match="not fitted"):
        SpanSearch(SVC(), GRID).committee_  # noqa: B018
    rest = SpanSearch(OneVsRestClassifier(SVC()), {"estimator__C": [1.0, 2.0]}).fit(X, y)
    with pytest.raises(AttributeError, match="OneVsRestClassifier"):
        rest.committee_  # noqa: B018
    with pytest.warns(UserWarning, match="LogisticRegression"):
        other = SpanSearch(LogisticRegression(), {"C": [1.0, 2.0]}).fit(X, y)
    with pytest.raises(AttributeError, match="scikit-learn"):
        other.committee_  # noqa: B018
    search = SpanSearch(SVC(), GRID).fit(X, y)
    with pytest.raises(AttributeError, match="saved or copied"):
        pickle.loads(pickle.dumps(search)).committee_  # noqa: B018
    with pytest.raises(ValueError, match="max_members"):
        search.committee(0)
