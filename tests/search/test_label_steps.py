"""Steps that look at the labels are found, and are fitted in each fold; the others are not."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, RandomTreesEmbedding
from sklearn.feature_extraction import text
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import (
    RFE,
    SelectFpr,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
    mutual_info_classif,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
    TargetEncoder,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.svm import SVC
from sklearn.utils import all_estimators

from spansvm import SpanRandomizedSearch, SpanSearch
from spansvm.search.candidates.fit_arguments import FitParams
from spansvm.search.candidates.label_steps import BLIND, find_label_step

SAID = r"looks at the labels\. Fitted once, on all rows, it has seen the label"
GRID = {"svc__C": [0.1, 1, 10], "svc__gamma": [0.01, 0.1]}

#: Small, and ended by a tight tolerance, so that scores are GridSearchCV's to the last digit.
EXACT = {"tol": 1e-6}


def noise(seed, rows=60, columns=600):
    """Rows that say nothing about their labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.permutation(np.arange(rows) % 2)


def numbers(seed=0, rows=60, columns=8, classes=2):
    """Positive numbers, the first of which say something about the labels."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % classes)
    X = rng.uniform(size=(rows, columns))
    X[:, 0] += 0.5 * y
    return X, y


class Centred(TransformerMixin, BaseEstimator):
    """Ignores the labels, as most transformers that people write."""

    n_fits = 0

    def fit(self, X, y=None):
        type(self).n_fits += 1
        self.mean_ = np.mean(X, axis=0)
        return self

    def transform(self, X):
        return np.asarray(X) - self.mean_


class Contrast(TransformerMixin, BaseEstimator):
    """Projects rows onto the difference of the means of two classes."""

    def fit(self, X, y):
        X, first = np.asarray(X), np.asarray(y) == np.min(y)
        self.direction_ = X[first].mean(axis=0) - X[~first].mean(axis=0)
        return self

    def transform(self, X):
        return np.asarray(X) @ self.direction_[:, None]


class Strict(Centred):
    """Fits only with certain labels."""

    def __init__(self, labels):
        self.labels = labels

    def fit(self, X, y=None):
        if not np.array_equal(y, self.labels):
            raise ValueError("these are other labels")
        return super().fit(X, y)


class Jittered(Centred):
    """Adds random numbers, of numpy's global generator or, unless `fixed`, of a new one."""

    def __init__(self, fixed=True):
        self.fixed = fixed

    def transform(self, X):
        rng = np.random if self.fixed else np.random.default_rng()
        return super().transform(X) + 0.1 * rng.normal(size=np.shape(X))


class Remembering(Centred):
    """Keeps the labels, and does nothing with them."""

    def fit(self, X, y=None):
        self.labels_ = np.array(y)
        return super().fit(X, y)


class Weighted(StandardScaler):
    """Has the name of a scaler and the ways of a selection of features."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X)
        self.scale_ = 1.0 + 3.0 * np.abs(np.corrcoef(X.T, y)[-1, :-1])
        return self


Weighted.__name__ = "StandardScaler"


def look(*steps, X=None, y=None, **params):
    """The step that a pipeline is said to have, or None."""
    given = numbers()
    X, y = given[0] if X is None else X, given[1] if y is None else y
    return find_label_step(make_pipeline(*steps, SVC()), [{}], X, y, FitParams(**params))


def warned(caught):
    return [str(one.message) for one in caught if "stratified" in str(one.message)]


# Noise --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_noise_cannot_be_predicted(seed):
    """The scores are GridSearchCV's, and the interval contains the truth."""
    X, y = noise(seed)
    model = make_pipeline(SelectKBest(k=20), SVC(**EXACT))
    with pytest.warns(UserWarning, match=SAID):
        ours = SpanSearch(model, GRID).fit(X, y)
    theirs = GridSearchCV(model, GRID).fit(X, y)
    assert ours.method_ == "kfold"
    assert ours.n_splits_ == 5
    for name in theirs.cv_results_:
        if "_test_" in name:
            np.testing.assert_array_equal(ours.cv_results_[name], theirs.cv_results_[name])
    assert ours.best_score_ == theirs.best_score_ < 0.7
    low, high = ours.corrected_interval_
    assert low < 0.5 < high
    assert ours.predict(X).shape == y.shape
    assert ours.corrected_score_ <= ours.best_score_


def test_leave_one_out_by_folds_is_honest_too():
    X, y = noise(5, rows=40)
    model = make_pipeline(SelectKBest(k=20), SVC(**EXACT))
    search = SpanSearch(model, {"svc__C": [1]}, cv=LeaveOneOut()).fit(X, y)
    assert search.best_score_ == cross_val_score(model, X, y, cv=LeaveOneOut()).mean() < 0.7


# Steps that look at the labels --------------------------------------------------------

LOOKING = {
    "selection by a test": SelectKBest(k=3),
    "selection by mutual information": SelectKBest(mutual_info_classif, k=3),
    "selection by a threshold": SelectFpr(alpha=0.5),
    "selection by a model": SelectFromModel(RandomForestClassifier(10)),
    "recursive elimination": RFE(LogisticRegression(), n_features_to_select=3),
    "sequential selection": SequentialFeatureSelector(
        LogisticRegression(), n_features_to_select=2, cv=2
    ),
    "discriminant analysis": LinearDiscriminantAnalysis(),
    "components of neighbours": NeighborhoodComponentsAnalysis(2, max_iter=5),
    "target encoding": TargetEncoder(),
    "one's own": Contrast(),
    "a subclass of a scaler": Weighted(),
    "within a pipeline": make_pipeline(StandardScaler(), SelectKBest(k=3)),
    "side by side": FeatureUnion([("pca", PCA(2)), ("best", SelectKBest(k=1))]),
    "of some columns": ColumnTransformer([("best", SelectKBest(k=1), [0, 1, 2])], remainder="drop"),
    "of the other columns": ColumnTransformer(
        [("scale", MinMaxScaler(), [0])], remainder=SelectKBest(k=3)
    ),
}


@pytest.mark.parametrize("name", LOOKING)
def test_steps_that_look_at_the_labels_are_evaluated_by_folds(name):
    X, y = numbers()
    X, step = np.round(X, 1), LOOKING[name]
    model = Pipeline([("scale", MinMaxScaler()), ("step", step), ("svc", SVC(**EXACT))])
    with pytest.warns(UserWarning, match=rf"The step 'step' \({type(step).__name__}.*{SAID}"):
        search = SpanSearch(model, GRID, refit=False).fit(X, y)
    assert search.method_ == "kfold"


def test_a_step_that_refuses_other_labels_looks_at_them():
    X, y = numbers()
    assert look(Strict(y), X=X, y=y).reason.startswith("looks at the labels")
    assert look(Strict(1 - y), X=X, y=y) is None  # the search will say what is wrong


def test_what_a_composite_contains_is_named():
    X = pd.DataFrame({"town": list("abcdef") * 10, "age": np.arange(60.0)})
    y = np.random.default_rng(0).permutation(np.arange(60) % 2)
    columns = ColumnTransformer(
        [("town", TargetEncoder(), ["town"]), ("age", StandardScaler(), ["age"])]
    )
    model = make_pipeline(columns, SVC())
    with pytest.warns(UserWarning, match=r"\(ColumnTransformer with TargetEncoder\)"):
        search = SpanSearch(model, {"svc__C": [1, 10]}).fit(X, y)
    assert search.method_ == "kfold"
    columns = ColumnTransformer(
        [("town", OneHotEncoder(), ["town"]), ("age", StandardScaler(), ["age"])]
    )
    assert SpanSearch(make_pipeline(columns, SVC()), GRID).fit(X, y).method_ == "verified"


def test_labels_that_are_words_and_rows_that_are_texts():
    texts = ["good food", "bad food", "good room", "bad room", "fine", "poor"] * 8
    y = np.array(["yes", "no"] * 24)
    assert look(TfidfVectorizer(), Centred(), X=texts, y=y) is None  # sparse rows: it fails
    assert look(TfidfVectorizer(), VarianceThreshold(), X=texts, y=y) is None
    found = look(TfidfVectorizer(), SelectKBest(k=3), X=texts, y=y)
    assert found.path == "selectkbest"
    inner = OneVsRestClassifier(make_pipeline(SelectKBest(k=2), SVC()))
    model = make_pipeline(TfidfVectorizer(), inner)
    found = find_label_step(model, [{}], texts, y, FitParams())
    assert found.path == "onevsrestclassifier__estimator__selectkbest"


def test_a_selection_that_is_the_same_by_chance_is_found():
    """Of two features, every other permutation selects the same one."""
    for seed in range(20):
        X, y = noise(seed, rows=40, columns=2)
        assert look(SelectKBest(k=1), X=X, y=y) is not None, seed


def test_labels_of_which_one_is_rare_are_permuted():
    X, y = noise(0, rows=50, columns=10)
    y = (np.arange(50) == 17).astype(int)
    assert look(SelectKBest(k=3), X=X, y=y) is not None
    assert look(Centred(), X=X, y=y) is None
    assert look(Centred(), X=X, y=np.zeros(50)) is None


def test_a_selection_among_the_candidates():
    """If one setting looks at the labels, all candidates have the same folds."""
    X, y = noise(1, columns=30)
    model = Pipeline([("scale", StandardScaler()), ("some", PCA()), ("svc", SVC(**EXACT))])
    grid = {"some": [PCA(5), "passthrough", SelectKBest(k=5)], "svc__C": [1, 10]}
    with pytest.warns(UserWarning, match=rf"'some' \(SelectKBest\) {SAID}") as caught:
        ours = SpanSearch(model, grid).fit(X, y)
    assert len(warned(caught)) == 1
    theirs = GridSearchCV(model, grid).fit(X, y)
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    blind = {"some": [PCA(5), "passthrough", Centred()], "svc__C": [1, 10]}
    assert SpanSearch(model, blind).fit(X, y).method_ == "verified"


def test_the_parameters_of_a_step_decide():
    X, y = numbers()
    model = make_pipeline(SelectKBest(), SVC())
    search = SpanSearch(model, {"selectkbest__k": ["all"], "svc__C": [1, 10]}).fit(X, y)
    assert search.method_ == "verified"
    with pytest.warns(UserWarning, match=SAID):
        search = SpanSearch(model, {"selectkbest__k": ["all", 2], "svc__C": [1, 10]}).fit(X, y)
    assert search.method_ == "kfold"


def test_what_takes_the_place_of_the_machine_may_have_such_a_step():
    X, y = numbers()
    model = Pipeline([("scale", StandardScaler()), ("svc", SVC())])
    inner = make_pipeline(SelectKBest(k="all"), SVC())
    grid = {"svc": [inner], "svc__selectkbest__k": ["all", 2]}
    with pytest.warns(UserWarning, match=rf"'svc__selectkbest' \(SelectKBest\) {SAID}"):
        assert SpanSearch(model, grid).fit(X, y).method_ == "kfold"
    grid = {"svc": [inner], "svc__selectkbest__k": ["all"]}
    assert SpanSearch(model, grid).fit(X, y).method_ == "verified"


def test_steps_within_one_vs_rest():
    X, y = numbers(classes=3)
    inner = make_pipeline(SelectKBest(k=2), SVC(**EXACT))
    model = make_pipeline(StandardScaler(), OneVsRestClassifier(inner))
    grid = {"onevsrestclassifier__estimator__svc__C": [1, 10]}
    with pytest.warns(UserWarning, match=SAID):
        ours = SpanSearch(model, grid).fit(X, y)
    theirs = GridSearchCV(model, grid).fit(X, y)
    np.testing.assert_array_equal(
        ours.cv_results_["split3_test_score"], theirs.cv_results_["split3_test_score"]
    )


def test_drawn_candidates():
    X, y = noise(2, columns=100)
    model = make_pipeline(SelectKBest(), SVC())
    drawn = {"selectkbest__k": [5, 10, 20], "svc__C": [1, 10]}
    search = SpanRandomizedSearch(model, drawn, n_iter=4, random_state=0)
    with pytest.warns(UserWarning, match=SAID):
        assert search.fit(X, y).method_ == "kfold"


def test_samplers_follow_the_same_rule():
    sampling = pytest.importorskip("imblearn.over_sampling")
    pipeline = pytest.importorskip("imblearn.pipeline")
    X, y = numbers()
    X, y = np.delete(X, np.flatnonzero(y)[:12], 0), np.delete(y, np.flatnonzero(y)[:12])
    model = pipeline.make_pipeline(sampling.SMOTE(k_neighbors=3, random_state=0), SVC(**EXACT))
    with pytest.warns(UserWarning, match=r"'smote' \(SMOTE\) makes new training rows"):
        ours = SpanSearch(model, GRID).fit(X, y)
    theirs = GridSearchCV(model, GRID).fit(X, y)
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    with pytest.raises(ValueError, match=r"SMOTE.*leave method out"):
        SpanSearch(model, GRID, method="loo").fit(X, y)


# Steps that do not --------------------------------------------------------------------

BLIND_STEPS = {
    "standard scaler": StandardScaler(),
    "components": PCA(3),
    "randomized components": PCA(3, svd_solver="randomized"),
    "random projection": GaussianRandomProjection(4),
    "sparse random projection": SparseRandomProjection(4),
    "bins": KBinsDiscretizer(3, strategy="uniform"),
    "Nystroem": Nystroem(n_components=20),
    "random trees": RandomTreesEmbedding(5),
    "a function": FunctionTransformer(np.log1p),
    "one's own": Centred(),
    "one's own with random numbers": Jittered(),
    "one's own with the labels kept": Remembering(),
    "a data frame": FunctionTransformer(pd.DataFrame),
    "within a pipeline": make_pipeline(StandardScaler(), Centred()),
    "side by side": FeatureUnion([("pca", PCA(2)), ("own", Jittered())]),
    "of some columns": ColumnTransformer([("own", Centred(), [0, 1])], remainder="passthrough"),
    "gaps": FunctionTransformer(lambda X: np.where(X > 0.9, np.nan, X)),
}


@pytest.mark.parametrize("name", BLIND_STEPS)
def test_steps_that_do_not_look_are_fitted_once(name):
    """Leave-one-out, without a warning: warnings are errors."""
    X, y = numbers()
    steps = [BLIND_STEPS[name]]
    if name == "gaps":
        steps.append(FunctionTransformer(np.nan_to_num))
    search = SpanSearch(make_pipeline(*steps, SVC()), GRID).fit(X, y)
    assert search.method_ == "verified"


@pytest.mark.parametrize("name", BLIND_STEPS)
def test_a_trial_tells_them_apart_too(name):
    """Also where known classes need no trial: a subclass does."""
    X, y = numbers()
    known = BLIND_STEPS[name]
    step = type(f"Own{type(known).__name__}", (type(known),), {"__module__": __name__})
    assert look(step(**known.get_params(deep=False)), X=X, y=y) is None


def test_random_numbers_of_the_program_go_on_as_before():
    X, y = numbers()
    draws = []
    for step in (StandardScaler(), Centred(), Jittered(), SelectKBest(k=2)):
        np.random.seed(7)  # noqa: NPY002
        look(step, X=X, y=y)
        draws.append(np.random.uniform())  # noqa: NPY002
    assert len(set(draws)) == 1


def test_random_numbers_that_cannot_be_fixed():
    X, y = numbers()
    model = make_pipeline(Jittered(fixed=False), SVC())
    with pytest.warns(UserWarning, match=r"gives other rows each time.*Fix its random numbers"):
        assert SpanSearch(model, GRID).fit(X, y).method_ == "kfold"


def counted(rows):
    counted.n_fits += 1
    return rows


def test_known_steps_are_not_fitted_more_often():
    X, y = numbers()
    counted.n_fits = 0
    model = make_pipeline(FunctionTransformer(counted), StandardScaler(), SVC())
    search = SpanSearch(model, GRID, refit=False).fit(X, y)
    assert counted.n_fits == 1
    assert search.dependence_ is not None


def test_others_are_tried_once_for_each_of_their_settings():
    X, y = numbers()
    Centred.n_fits = 0
    model = make_pipeline(Centred(), PCA(), SVC())
    grid = {"pca__n_components": [2, 3, 4], **GRID}
    SpanSearch(model, grid, refit=False, check_dependence=False).fit(X, y)
    assert Centred.n_fits == 2 + 3  # with the labels and with others; for each setting of PCA
    Centred.n_fits = 0
    SpanSearch(model, grid, refit=False, cv=2).fit(X, y)
    assert Centred.n_fits == 6  # folds need no trial


#: What some of them need.
ARGUMENTS = {
    "GaussianRandomProjection": {"n_components": 4},
    "KBinsDiscretizer": {"strategy": "uniform"},
    "Nystroem": {"n_components": 20},
    "QuantileTransformer": {"n_quantiles": 20},
    "SparseRandomProjection": {"n_components": 4},
}


@pytest.mark.parametrize("name", sorted(BLIND))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_said_to_need_no_trial_passes_one(name):
    kind = dict(all_estimators(type_filter="transformer")).get(name) or getattr(text, name)
    own = type("Own", (kind,), {"__module__": __name__, "__init__": kind.__init__})
    X, y = numbers()
    if name in ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer"):
        X = [" ".join(f"w{k}" for k in np.flatnonzero(row > 0.6)) or "none" for row in X]
    elif name in ("DictVectorizer", "FeatureHasher"):
        X = [{f"w{k}": value for k, value in enumerate(row)} for row in X]
    elif name == "KernelCenterer":
        X = X @ X.T
    elif name == "MissingIndicator":
        X = np.where(X > 0.8, np.nan, X)
    elif name == "TfidfTransformer":
        X = sparse.csr_matrix(np.round(3 * X))
    step = own(**ARGUMENTS.get(name, {}))  # whose class is not known
    step.fit_transform(X, y)  # one that fails would not be found
    assert look(step, X=X, y=y) is None


# By name ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["verified", "span_rule", "loo", "span_bound", "sv_count"])
def test_leave_one_out_by_name_is_refused(method):
    X, y = noise(0, columns=50)
    model = make_pipeline(SelectKBest(k=5), SVC())
    text = rf"The step 'selectkbest' \(SelectKBest\) {SAID}.*method='{method}'.*leave method out"
    with pytest.raises(ValueError, match=text):
        SpanSearch(model, GRID, method=method).fit(X, y)
    assert SpanSearch(make_pipeline(Centred(), SVC()), GRID, method=method).fit(X, y)


@pytest.mark.parametrize("method", ["span_rule", "loo"])
def test_folds_that_leave_one_model_are_refused_too(method):
    X, y = noise(0, columns=50)
    model = make_pipeline(SelectKBest(k=5), SVC())
    with pytest.raises(ValueError, match="leave method out"):
        SpanSearch(model, GRID, method=method, cv=5).fit(X, y)


@pytest.mark.parametrize("options", [{"cv": 5}, {"method": "kfold"}, {"cv": GroupKFold(3)}])
def test_who_asks_for_folds_gets_them_without_a_warning(options):
    X, y = noise(0, columns=50)
    groups = np.arange(60) % 6 if isinstance(options.get("cv"), GroupKFold) else None
    model = make_pipeline(SelectKBest(k=5), SVC())
    assert SpanSearch(model, GRID, **options).fit(X, y, groups=groups).method_ == "kfold"


# What a search does besides -----------------------------------------------------------


def test_groups_leave_one_at_a_time():
    X, y = noise(3, columns=200)
    groups = np.arange(60) // 2 % 6
    model = make_pipeline(SelectKBest(k=5), SVC(**EXACT))
    with pytest.warns(UserWarning, match="by leaving out one group at a time"):
        ours = SpanSearch(model, GRID).fit(X, y, groups=groups)
    theirs = GridSearchCV(model, GRID, cv=LeaveOneGroupOut()).fit(X, y, groups=groups)
    assert ours.n_splits_ == 6
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    assert ours.corrected_score_ < 0.7


def test_arguments_of_the_step_reach_the_trial():
    X, y = numbers()

    class Needing(Centred):
        def fit(self, X, y=None, weight=None):
            assert weight is not None
            return super().fit(X, y)

        def fit_transform(self, X, y=None, weight=None):
            return self.fit(X, y, weight=weight).transform(X)

    model = Pipeline([("own", Needing()), ("svc", SVC())])
    search = SpanSearch(model, GRID).fit(X, y, own__weight=np.ones(60))
    assert search.method_ == "verified"


def test_a_step_that_fails_is_reported_by_the_search():
    X, y = numbers()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SpanSearch(make_pipeline(SelectKBest(k=2), SVC()), GRID).fit(X, y)


def test_weights_several_scores_and_processes():
    X, y = numbers()
    model = make_pipeline(SelectKBest(k=3), SVC(**EXACT))
    options = {"scoring": ["accuracy", "roc_auc"], "refit": "roc_auc", "return_train_score": True}
    weight = np.linspace(0.5, 1.5, 60)
    ours = SpanSearch(model, GRID, n_jobs=2, **options)
    with pytest.warns(UserWarning, match=SAID):
        ours.fit(X, y, svc__sample_weight=weight)
    theirs = GridSearchCV(model, GRID, **options).fit(X, y, svc__sample_weight=weight)
    for name in ("mean_test_roc_auc", "mean_train_accuracy", "split4_test_accuracy"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-12)


def test_the_forecast_is_that_of_folds():
    X, y = numbers(rows=400)
    model = make_pipeline(SelectKBest(k=3), SVC())
    grid = {"svc__C": np.logspace(-2, 2, 30), "svc__gamma": np.logspace(-2, 1, 12)}
    search = SpanSearch(model, grid)
    forecast = search.forecast(X, y)  # which leaves the warning to fit
    assert forecast.costs.size == 360
    with pytest.raises(ValueError, match="leave method out"):
        SpanSearch(model, grid, method="loo").forecast(X, y)


def test_one_warning_that_names_the_line_of_the_program():
    X, y = noise(0, columns=50)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SpanSearch(make_pipeline(SelectKBest(k=5), SelectKBest(k=2), SVC()), GRID).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
