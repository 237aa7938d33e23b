"""Estimators that the engine does not know are searched as by GridSearchCV, with one warning."""

from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import randint
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris, make_multilabel_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    RandomizedSearchCV,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from spansvm import SpanRandomizedSearch, SpanSearch, SpanSVC
from spansvm.search import UnacceleratedWarning
from spansvm.search.scoring.bootstrap import draws
from spansvm.search.scoring.bootstrap_scores import AnyScorer

X, Y = load_iris(return_X_y=True)
X = X + np.random.default_rng(0).normal(scale=0.5, size=X.shape)
FOREST = RandomForestClassifier(5, random_state=0)
DEPTHS = {"max_depth": [1, 2, 3]}

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


class Careful(SVC):
    """Has a training of its own."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X[::2], y[::2])


class Boastful(SVC):
    """Has a score of its own."""

    def score(self, X, y, sample_weight=None):
        return 0.5 + 0.5 * super().score(X, y)


class Threshold(ClassifierMixin, BaseEstimator):
    """A classifier that somebody wrote."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.cut_ = X[:, self.column].mean()
        return self

    def predict(self, X):
        return self.classes_[(X[:, self.column] > self.cut_).astype(int)]


#: Estimators that the engine does not know, a grid, and what the warning says.
UNKNOWN = {
    "forest": (FOREST, DEPTHS, "not RandomForestClassifier"),
    "neighbours": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}, "not KNeighborsClassifier"),
    "LinearSVC": (LinearSVC(), {"C": [0.1, 1]}, r"SpanSVC\(kernel='linear'\) is .* no penalty, lo"),
    "SGD": (SGDClassifier(random_state=0), {"alpha": [1e-3, 1]}, r"SpanSVC\(kernel='linear'\) is"),
    "NuSVC": (NuSVC(), {"nu": [0.1, 0.3]}, "an SVC, searched over C, is accelerated"),
    "pairs": (OneVsOneClassifier(SVC()), {"estimator__C": [1, 9]}, "one-vs-one by itself"),
    "bagging": (
        BaggingClassifier(SVC(), 3, random_state=0),
        {"estimator__C": [1, 9]},
        "The SVM in it is accelerated where it is searched by itself",
    ),
    "boosting": (
        AdaBoostClassifier(SVC(), n_estimators=2, random_state=0), {"estimator__C": [1, 9]},
        "not AdaBoostClassifier",
    ),
    "votes": (
        VotingClassifier([("a", SVC()), ("b", GaussianNB())]), {"a__C": [1, 9]},
        "not VotingClassifier",
    ),
    "stack": (
        StackingClassifier([("a", SVC())], GaussianNB(), cv=2), {"a__C": [1, 9]},
        "not StackingClassifier",
    ),
    "search": (GridSearchCV(SVC(), {"C": [1, 9]}, cv=2), {"cv": [2, 3]}, "not GridSearchCV"),
    "calibrated rest": (
        OneVsRestClassifier(CalibratedClassifierCV(SVC(), cv=2)),
        {"estimator__estimator__C": [1, 9]},
        "not OneVsRestClassifier around CalibratedClassifierCV",
    ),
    "calibrated": (CalibratedClassifierCV(), {"cv": [2, 3]}, "without an estimator"),
    "own training": (Careful(), {"C": [1, 9]}, "Careful.*It has its own fit"),
    "own score": (Boastful(), {"C": [1, 9]}, "Boastful.*own score .* named in scoring"),
    "own class": (Threshold(), {"column": [0, 2]}, "not Threshold"),
    "pipeline": (make_pipeline(StandardScaler(), FOREST),
                 {"randomforestclassifier__max_depth": [1, 2]}, "not RandomForestClassifier"),
}  # fmt: skip


def both(estimator, grid, X=X, y=Y, *, kinds=(SpanSearch, GridSearchCV), fit=None, **options):
    """Our search, with its one warning, and scikit-learn's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = kinds[1](estimator, grid, **options).fit(X, y, **(fit or {}))
    with pytest.warns(UnacceleratedWarning) as said:
        ours = kinds[0](estimator, grid, **options).fit(X, y, **(fit or {}))
    own = [one for one in said if issubclass(one.category, UnacceleratedWarning)]
    assert len(own) == 1
    assert own[0].filename == __file__
    return ours, theirs, str(own[0].message)


def same_search(ours, theirs):
    """All that GridSearchCV has, to the last digit; times differ."""
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    for name, column in theirs.cv_results_.items():
        if "_time" not in name:
            assert list(map(str, ours.cv_results_[name])) == list(map(str, column)), name
    for name in (name for name in vars(theirs) if not name.startswith("_")):
        assert hasattr(ours, name), name
    for name in ("best_index_", "best_score_"):
        if hasattr(theirs, name):
            assert getattr(ours, name) == getattr(theirs, name)
            assert type(getattr(ours, name)) is type(getattr(theirs, name))
    assert str(ours.scorer_) == str(theirs.scorer_)


@pytest.mark.parametrize("name", UNKNOWN)
def test_the_search_is_that_of_grid_search_cv(name):
    estimator, grid, told = UNKNOWN[name]
    ours, theirs, message = both(estimator, grid)
    same_search(ours, theirs)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, Y) == theirs.score(X, Y)
    assert message.startswith("This search is not accelerated: the engine trains SVC, SVR")
    assert re.search(told, message)


@pytest.mark.parametrize(
    "options",
    [
        {"cv": 3, "scoring": "roc_auc_ovr", "return_train_score": True},
        {"cv": ShuffleSplit(4, random_state=0), "scoring": "neg_log_loss"},
        {"cv": 2, "scoring": ["accuracy", "f1_macro"], "refit": "f1_macro"},
        {"cv": 2, "scoring": ["accuracy", "f1_macro"], "refit": False},
        {"cv": 2, "scoring": lambda model, X, y: {"a": model.score(X, y), "b": 1}, "refit": "a"},
        {"cv": 2, "refit": lambda results: 1},
        {"cv": 2, "n_jobs": 2},
    ],
)
def test_with_every_argument(options):
    ours, theirs, _ = both(FOREST, DEPTHS, **options)
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    for name, column in theirs.cv_results_.items():
        if "_test_" in name or "_train_" in name:
            np.testing.assert_array_equal(ours.cv_results_[name], column)
    assert getattr(ours, "best_index_", None) == getattr(theirs, "best_index_", None)
    if options.get("n_jobs"):  # predictions come back from other processes
        assert ours.corrected_score_ == both(FOREST, DEPTHS, cv=2)[0].corrected_score_


def test_of_equal_scores_the_first_is_selected():
    ours, theirs, _ = both(KNeighborsClassifier(), {"leaf_size": [10, 20, 30, 40, 50]})
    assert np.ptp(ours.cv_results_["mean_test_score"]) == 0
    assert ours.best_index_ == theirs.best_index_ == 0


def test_candidates_drawn_at_random_are_the_same():
    drawn = {"max_depth": randint(1, 9)}
    kinds = (SpanRandomizedSearch, RandomizedSearchCV)
    state = np.random.RandomState
    ours, theirs, _ = both(FOREST, drawn, kinds=kinds, n_iter=4, random_state=3)
    same_search(ours, theirs)
    with pytest.warns(UnacceleratedWarning):
        search = SpanRandomizedSearch(FOREST, drawn, n_iter=4, random_state=state(3)).fit(X, Y)
    assert search.cv_results_["params"] == theirs.cv_results_["params"]


def test_a_step_that_varies_between_estimators():
    pipe = Pipeline([("scale", StandardScaler()), ("model", SVC())])
    grid = [
        {"model": [SVC()], "model__C": [1, 10]},
        {"model": [FOREST], "model__max_depth": [1, 3]},
        {"model": [KNeighborsClassifier()], "scale": ["passthrough"]},
    ]
    ours, theirs, message = both(pipe, grid, cv=4)
    same_search(ours, theirs)
    assert "not RandomForestClassifier" in message
    assert ours.corrected_score_ <= ours.best_score_
    several = Pipeline([("scale", StandardScaler()), ("model", None)])
    same_search(*both(several, grid, cv=4, scoring="accuracy")[:2])


def test_a_grid_of_steps():
    pipe = Pipeline([("svc", SVC())])
    grid = {"steps": [[("svc", SVC())], [("forest", FOREST)]]}
    same_search(*both(pipe, grid)[:2])


def test_a_step_that_varies_between_machines_of_the_engine_is_accelerated():
    pipe = Pipeline([("scale", StandardScaler()), ("model", SVC())])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = SpanSearch(pipe, {"model": [SVC(), SpanSVC(kernel="linear")]}).fit(X, Y)
    assert search.method_ == "verified"


def test_regression_and_clusters_and_transformers():
    rows, target = load_diabetes(return_X_y=True)
    ours, theirs, message = both(Ridge(), {"alpha": [1, 100]}, rows, target)
    same_search(ours, theirs)
    assert "Of regressors, an SVR is accelerated" in message
    ours, theirs, _ = both(KMeans(n_init=2, random_state=0), {"n_clusters": [2, 3]}, y=None)
    same_search(ours, theirs)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    ours, theirs, _ = both(PCA(), {"n_components": [1, 2]}, y=None)
    same_search(ours, theirs)
    there_and_back = ours.inverse_transform(ours.transform(X))
    np.testing.assert_array_equal(there_and_back, theirs.inverse_transform(theirs.transform(X)))
    ours, theirs, _ = both(KernelDensity(), {"bandwidth": [0.1, 1]}, y=None)
    np.testing.assert_array_equal(ours.score_samples(X), theirs.score_samples(X))
    assert ours.score(X) == theirs.score(X)


def test_groups_are_left_out_unless_cv_says_otherwise():
    groups = np.arange(Y.size) % 6
    with pytest.warns(UnacceleratedWarning, match="by leaving out one group at a time"):
        search = SpanSearch(FOREST, DEPTHS).fit(X, Y, groups=groups)
    theirs = GridSearchCV(FOREST, DEPTHS, cv=LeaveOneGroupOut()).fit(X, Y, groups=groups)
    same_search(search, theirs)
    low, high = search.corrected_interval_
    assert low < search.corrected_score_ < high
    same_search(*both(FOREST, DEPTHS, cv=GroupKFold(3), fit={"groups": groups})[:2])


def test_weights_reach_training_and_scores(monkeypatch):
    monkeypatch.setattr(AnyScorer, "_most_scores", 200)
    weight = {"sample_weight": np.linspace(0, 2, Y.size)}
    ours, theirs, _ = both(FOREST, DEPTHS, fit=weight)
    same_search(ours, theirs)
    with config_context(enable_metadata_routing=True):
        forest = clone(FOREST).set_fit_request(sample_weight=True)
        scorer = make_scorer(r2_score).set_score_request(sample_weight=True)
        other = make_scorer(r2_score).set_score_request(sample_weight=False)
        scoring = {"r2": scorer, "other": other}
        for options in ({"scoring": scorer}, {"scoring": scoring, "refit": "r2"}):
            ours, theirs, _ = both(forest, DEPTHS, fit=weight, **options)
            np.testing.assert_array_equal(
                ours.cv_results_["split0_test_" + options.get("refit", "score")],
                theirs.cv_results_["split0_test_" + options.get("refit", "score")],
            )
            assert ours.corrected_score_ <= ours.best_score_


@pytest.mark.parametrize("method", ["span_rule", "loo", "verified", "xi_alpha"])
def test_a_method_of_the_engine_by_name_is_an_error(method):
    with pytest.raises(TypeError, match=rf"method='{method}' .* got NuSVC. It bounds .* Without"):
        SpanSearch(NuSVC(), {"nu": [0.1]}, method=method).fit(X, Y)
    with pytest.warns(UnacceleratedWarning):
        SpanSearch(NuSVC(), {"nu": [0.1]}, method="kfold").fit(X, Y)


def test_there_is_no_forecast():
    with pytest.raises(TypeError, match="got RandomForestClassifier"):
        SpanSearch(FOREST, DEPTHS).forecast(X, Y)


def test_what_only_the_engine_heeds_is_named(tmp_path):
    options = {"time_budget": 60, "checkpoint": tmp_path / "search", "widen": ["C"]}
    told = "heeds has no effect: time_budget, checkpoint, widen"
    with pytest.warns(UnacceleratedWarning, match=told):
        SpanSearch(LinearSVC(), {"C": [0.1, 1]}, **options).fit(X, Y)


#: Mistakes, which raise what they raise with GridSearchCV, before any warning.
MISTAKES = {
    "an unknown score": (ValueError, lambda s: s(FOREST, DEPTHS, scoring="acuracy").fit(X, Y)),
    "none of two": (ValueError, lambda s: s(FOREST, DEPTHS, scoring=["f1", "r2"]).fit(X, Y)),
    "one fold": (ValueError, lambda s: s(FOREST, DEPTHS, cv=1).fit(X, Y)),
    "no groups": (ValueError, lambda s: s(FOREST, DEPTHS, cv=GroupKFold(3)).fit(X, Y)),
    "too few labels": (ValueError, lambda s: s(FOREST, DEPTHS).fit(X, Y[1:])),
    "nothing to score": (TypeError, lambda s: s(StandardScaler(), {"copy": [True]}).fit(X, Y)),
    "a step that is none": (
        ValueError, lambda s: s(Pipeline([("a", FOREST)]), {"b": [FOREST]}).fit(X, Y),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.filterwarnings("ignore::spansvm.search.UnacceleratedWarning")
def test_mistakes_raise_what_they_raise_with_grid_search_cv(name):
    kind, make = MISTAKES[name]
    messages = []
    for search in (GridSearchCV, SpanSearch):
        with pytest.raises(kind) as raised:
            make(search)
        messages.append(str(raised.value)[:22])
    assert messages[0] == messages[1]


def test_a_parameter_that_is_none_is_named():
    with pytest.warns(UnacceleratedWarning), pytest.raises(ValueError, match="Invalid parameter"):
        SpanSearch(FOREST, {"depth": [1]}).fit(X, Y)


def test_lines_per_fit_are_those_of_grid_search_cv(capsys):
    both(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2, verbose=3)
    lines = [line.rpartition("total time")[0] for line in capsys.readouterr().out.splitlines()]
    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]
    assert any("[CV 2/2] END" in line for line in lines)


# The corrected score ------------------------------------------------------------------


def repeated(scores, best, n, n_draws):
    """How much better the selected candidate looks than it is: the definition, draw by draw.

    `scores` maps rows to the scores of all candidates.
    """
    differences = []
    for counts in draws(np.arange(n), n_draws, 1):
        inside = scores(np.repeat(np.arange(n), counts[0]))
        outside = scores(np.flatnonzero(counts[0] == 0))
        tied = inside >= inside.max() - 1e-10
        differences.append(outside[best] - outside[tied].mean())
    return np.mean(differences)


def test_the_corrected_score_is_that_of_the_predictions_of_the_folds():
    search, theirs, _ = both(KNeighborsClassifier(), {"n_neighbors": [1, 2, 3, 4, 5]}, cv=3)
    labels = np.empty((5, Y.size))
    for train, test in StratifiedKFold(3).split(X, Y):
        for place, k in enumerate((1, 2, 3, 4, 5)):
            labels[place, test] = KNeighborsClassifier(k).fit(X[train], Y[train]).predict(X[test])
    right = labels == Y
    optimism = repeated(lambda rows: right[:, rows].mean(axis=1), search.best_index_, Y.size, 500)
    expected = theirs.best_score_ - max(optimism, 0)
    assert search.corrected_score_ == pytest.approx(expected, abs=1e-12)
    low, high = search.corrected_interval_
    assert low < search.corrected_score_ < high


def test_the_corrected_score_of_a_regression_is_that_of_its_predictions():
    rows, target = load_diabetes(return_X_y=True)
    rows, target = rows[:60], target[:60]
    alphas = [0.001, 0.1, 10.0]
    folds = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    search, _, _ = both(Ridge(), {"alpha": alphas}, rows, target, cv=folds)
    values = np.empty((3, 60))
    for train, test in folds:
        for place, alpha in enumerate(alphas):
            values[place, test] = (
                Ridge(alpha=alpha).fit(rows[train], target[train]).predict(rows[test])
            )

    def scores(drawn):
        return np.array([r2_score(target[drawn], own[drawn]) for own in values])

    optimism = repeated(scores, search.best_index_, 60, 500)
    expected = search.best_score_ - max(optimism, 0)
    assert search.corrected_score_ == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    "scoring", ["roc_auc", "neg_log_loss", "f1_macro", "balanced_accuracy", "accuracy"]
)
def test_every_score_of_predictions_is_corrected(scoring):
    """Whatever else is scored at the same time, and whatever methods call each other."""
    two = {"y": Y == 1, "cv": 3}
    alone, _, _ = both(FOREST, DEPTHS, scoring=scoring, **two)
    every = ["accuracy", "f1_macro", "neg_log_loss", "roc_auc", "balanced_accuracy"]
    several, _, _ = both(FOREST, DEPTHS, scoring=every, refit=scoring, **two)
    piped, _, _ = both(
        make_pipeline(FOREST), {"randomforestclassifier__max_depth": [1, 2, 3]}, scoring=scoring,
        return_train_score=True, **two,
    )  # fmt: skip
    assert alone.corrected_score_ <= alone.best_score_
    assert several.corrected_score_ == alone.corrected_score_ == piped.corrected_score_
    assert several.corrected_interval_ == alone.corrected_interval_


def test_the_score_of_a_pipeline_and_of_a_search_is_corrected():
    alone, _, _ = both(FOREST, DEPTHS)
    piped, _, _ = both(make_pipeline(FOREST), {"randomforestclassifier__max_depth": [1, 2, 3]})
    assert piped.corrected_score_ == alone.corrected_score_


def test_a_function_of_predictions_is_corrected_and_one_of_more_is_not():
    def of_labels(model, X, y):
        return float((model.predict(X) == y).mean())

    def of_depth(model, X, y):
        return of_labels(model, X, y) - 0.001 * model.max_depth

    def of_noise(model, X, y):
        noisy = X + np.random.default_rng(0).normal(size=X.shape)
        return of_labels(model, X, y) - of_labels(model, noisy, y)

    search, _, _ = both(FOREST, DEPTHS, scoring=of_labels)
    assert search.corrected_score_ == pytest.approx(both(FOREST, DEPTHS)[0].corrected_score_, 0.01)
    for scorer in (of_depth, of_noise):
        search, _, _ = both(FOREST, DEPTHS, scoring=scorer)
        with pytest.raises(AttributeError, match="the score looks at more than predictions"):
            _ = search.corrected_score_


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"estimator": Boastful(), "param_grid": {"C": [1]}}, "looks at more than predictions"),
        ({"refit": lambda results: 0}, "refit is a function"),
        ({"corrected": False}, "corrected=False"),
        ({"scoring": ["accuracy", "f1_macro"], "refit": False}, "refit names none of them"),
    ],
)
@pytest.mark.filterwarnings("ignore::spansvm.search.UnacceleratedWarning")
def test_why_there_is_no_corrected_score(options, reason):
    search = SpanSearch(**{"estimator": FOREST, "param_grid": DEPTHS, **options}).fit(X, Y)
    for name in ("corrected_score_", "corrected_interval_"):
        with pytest.raises(AttributeError, match=f"There is no {name}: .*{reason}"):
            getattr(search, name)


@pytest.mark.filterwarnings("ignore::spansvm.search.UnacceleratedWarning")
def test_without_labels_there_is_no_corrected_score():
    search = SpanSearch(KMeans(n_init=1), {"n_clusters": [2]}).fit(X)
    with pytest.raises(AttributeError, match="no labels to compare predictions with"):
        _ = search.corrected_score_


@pytest.mark.filterwarnings("ignore::spansvm.search.UnacceleratedWarning")
def test_outliers_are_corrected_by_what_is_predicted(monkeypatch):
    monkeypatch.setattr(AnyScorer, "_most_scores", 200)
    y = np.where(Y > 0, 1, -1)
    search = SpanSearch(OneClassSVM(), {"nu": [0.1, 0.3]}, scoring="f1").fit(X, y)
    assert search.corrected_score_ <= search.best_score_


def test_failed_fits_are_scikit_learns():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        search = SpanSearch(FOREST, {"max_depth": [1, -1]}).fit(X, Y)
    kinds = [one.category for one in said]
    assert kinds == [UnacceleratedWarning, FitFailedWarning, UserWarning]
    assert np.isnan(search.cv_results_["mean_test_score"][1])
    assert search.corrected_score_ <= search.best_score_


def test_nothing_is_left_on_the_model_and_it_can_be_saved():
    search, theirs, _ = both(FOREST, DEPTHS)
    assert not {"predict", "predict_proba"} & set(vars(search.best_estimator_))
    saved = pickle.loads(pickle.dumps(search))
    assert saved.corrected_score_ == search.corrected_score_
    np.testing.assert_array_equal(saved.predict(X), theirs.predict(X))
    again = clone(search)
    assert not hasattr(again, "cv_results_")


def test_trackers_see_a_grid_search_cv(monkeypatch):
    """mlflow's autolog replaces its ``fit``, and logs what it is called with by its name."""
    seen, fit = [], GridSearchCV.fit

    def tracked(self, *args, **params):
        result = fit(self, *args, **params)
        seen.append(pickle.loads(pickle.dumps(self)))
        return result

    monkeypatch.setattr(GridSearchCV, "fit", tracked)
    with pytest.warns(UnacceleratedWarning):
        search = SpanSearch(FOREST, DEPTHS).fit(X, Y)
    assert [type(one).__name__ for one in seen] == ["GridSearchCV"]
    assert isinstance(seen[0], GridSearchCV)
    assert seen[0].best_score_ == search.best_score_
    assert seen[0].cv_results_["params"] == search.cv_results_["params"]


def test_a_search_that_is_fitted_again_forgets_the_first():
    with pytest.warns(UnacceleratedWarning):
        search = SpanSearch(FOREST, {"max_depth": [1]}).fit(X, Y)
    search.set_params(estimator=SVC(), param_grid={"C": [1]}).fit(X, Y)
    assert search.method_ == "verified"
    assert "loo_error" in search.cv_results_


# Several labels per row ---------------------------------------------------------------

MANY_X, MANY_Y = make_multilabel_classification(90, n_classes=4, random_state=0)
RATES = {"estimator__C": [0.1, 1, 10]}


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (MultiOutputClassifier(LinearSVC()), RATES),
        (ClassifierChain(SVC()), {"cv": [None, 2]}),
        (OneVsRestClassifier(LinearSVC()), RATES),
    ],
)
def test_several_labels_per_row(model, grid):
    ours, theirs, _ = both(model, grid, MANY_X, MANY_Y, scoring="f1_micro")
    same_search(ours, theirs)
    np.testing.assert_array_equal(ours.predict(MANY_X), theirs.predict(MANY_X))


def test_scores_of_several_labels_per_row_are_corrected(monkeypatch):
    monkeypatch.setattr(AnyScorer, "_most_scores", 200)  # scikit-learn takes its time
    model = MultiOutputClassifier(DecisionTreeClassifier(random_state=0))
    grid = {"estimator__max_depth": [1, 5]}
    search, _, _ = both(model, grid, MANY_X, MANY_Y, scoring="f1_micro")
    assert search.corrected_score_ <= search.best_score_
    low, high = search.corrected_interval_
    assert low < search.corrected_score_ < high
    by_default, _, _ = both(model, grid, MANY_X, MANY_Y)
    assert by_default.corrected_score_ <= by_default.best_score_


def test_rows_with_several_labels_are_right_or_wrong():
    dense, theirs, _ = both(OneVsRestClassifier(LinearSVC()), RATES, MANY_X, MANY_Y)
    same_search(dense, theirs)
    rare, _, _ = both(OneVsRestClassifier(LinearSVC()), RATES, MANY_X, sparse.csr_matrix(MANY_Y))
    assert rare.corrected_score_ == dense.corrected_score_ <= dense.best_score_
    assert rare.corrected_interval_ == dense.corrected_interval_


def test_several_labels_of_an_svc_are_a_mistake():
    with pytest.raises(ValueError, match="1d array"):
        SpanSearch(SVC(), {"C": [1]}).fit(MANY_X, MANY_Y)


def test_tables_of_data():
    frame = pd.DataFrame(X, columns=list("abcd"))
    labels = pd.Series(Y, index=Y.size + np.arange(Y.size))
    ours, theirs, _ = both(FOREST, DEPTHS, frame, labels.map({0: "x", 1: "y", 2: "z"}))
    same_search(ours, theirs)
    assert list(ours.feature_names_in_) == list("abcd")
    assert list(ours.classes_) == ["x", "y", "z"]
    assert ours.corrected_score_ <= ours.best_score_
