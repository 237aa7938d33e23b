"""Sets of labels of the model that a search selected: ``predict_set`` of a search."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from spansvm import SpanRandomizedSearch, SpanSearch, SpanSVC
from spansvm.search import UnacceleratedWarning

LEVELS = np.array([0.8, 0.9, 0.95])
GRID = {"C": [0.5, 4.0], "gamma": [0.05, 0.2]}
X, y = make_classification(
    2000, n_features=6, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1,
    class_sep=0.8, flip_y=0.2, random_state=0,
)  # fmt: skip
X_NEW, Y_NEW = X[300:], y[300:]
X, y = X[:300], y[:300]


def of(name, grid=GRID):
    return {f"{name}__{key}": values for key, values in grid.items()}


def searched(machine, grid=GRID, **options):
    """A search over a pipeline with a machine at its end."""
    name = type(machine).__name__.lower()
    return SpanSearch(make_pipeline(StandardScaler(), machine), of(name, grid), **options)


def same_sets(one, other):
    """Within the tolerance of the two solvers: a probability may be just at the limit."""
    return (one == other).mean() > 0.999


@pytest.mark.parametrize("options", [{}, {"cv": 4}, {"scoring": "roc_auc_ovr"}])
@pytest.mark.parametrize("per_class", [False, True])
def test_a_selected_svc_has_the_sets_of_the_same_span_svc(options, per_class):
    search = searched(SVC(), **options).fit(X, y)
    sets = search.predict_set(X_NEW, LEVELS, per_class=per_class)
    scaler = StandardScaler().fit(X)
    best = {key.removeprefix("svc__"): value for key, value in search.best_params_.items()}
    model = SpanSVC(**best).fit(scaler.transform(X), y)
    assert isinstance(search.best_estimator_[-1], SVC)
    assert same_sets(sets, model.predict_set(scaler.transform(X_NEW), LEVELS, per_class=per_class))


@pytest.mark.parametrize("machine", [SVC(), SpanSVC()])
def test_new_rows_have_their_label_in_their_set_as_often_as_promised(machine):
    found = []
    for split in range(8):
        order = np.random.default_rng(split).permutation(len(Y_NEW))
        train, new = order[:200], order[200:]
        search = searched(machine).fit(X_NEW[train], Y_NEW[train])
        sets = search.predict_set(X_NEW[new], LEVELS)
        found.append(np.take_along_axis(sets, Y_NEW[new, None, None], axis=1).mean(axis=(0, 1)))
    chance = 3 * np.sqrt(LEVELS * (1 - LEVELS) / (202 * 8))
    assert (np.mean(found, axis=0) >= LEVELS - chance).all()
    assert (np.mean(found, axis=0)[1:] <= (LEVELS + chance)[1:] + 0.01).all()


@pytest.mark.parametrize("machine", [SVC(), SpanSVC()])
def test_estimators_of_all_shapes_have_the_same_sets(machine):
    name = type(machine).__name__.lower()
    plain = searched(machine).fit(X, y).predict_set(X_NEW)
    nested = make_pipeline(StandardScaler(), make_pipeline("passthrough", machine))
    grid = of(f"pipeline__{name}")
    assert same_sets(SpanSearch(nested, grid).fit(X, y).predict_set(X_NEW), plain)
    frame = pd.DataFrame(X).add_prefix("column")
    new = pd.DataFrame(X_NEW).add_prefix("column")
    assert same_sets(searched(machine).fit(frame, y).predict_set(new), plain)
    random = SpanRandomizedSearch(
        make_pipeline(StandardScaler(), machine), of(name), n_iter=4, random_state=0
    )
    assert same_sets(random.fit(X, y).predict_set(X_NEW), plain)


def test_a_precomputed_kernel_and_weights_of_0():
    weight = np.ones(300)
    weight[::5] = 0.0
    search = SpanSearch(SVC(kernel="precomputed"), {"C": [0.01, 0.1]})
    with pytest.warns(UserWarning, match="with zero weights, SVC uses the wrong kernel values"):
        search.fit(X @ X.T, y, sample_weight=weight)
    sets = search.predict_set(X_NEW @ X.T, LEVELS)
    used = weight > 0
    model = SpanSVC(kernel="linear", **search.best_params_).fit(X[used], y[used])
    assert same_sets(sets, model.predict_set(X_NEW, LEVELS))
    search = SpanSearch(SVC(kernel="linear"), {"C": [0.01, 0.1]})
    sets = search.fit(X, y, sample_weight=weight).predict_set(X_NEW, LEVELS)
    assert same_sets(sets, model.predict_set(X_NEW, LEVELS))


@pytest.mark.parametrize("machine", [SVC(), SpanSVC()])
def test_groups_that_are_left_out_together_are_so_for_sets(machine):
    groups = np.arange(300) // 10
    search = SpanSearch(machine, {"C": [10.0], "gamma": [0.5]}).fit(X, y, groups=groups)
    model = SpanSVC(C=10.0, gamma=0.5).fit(X, y, groups=groups)
    sets = search.predict_set(X_NEW, LEVELS)
    assert same_sets(sets, model.predict_set(X_NEW, LEVELS))
    assert not same_sets(sets, SpanSVC(C=10.0, gamma=0.5).fit(X, y).predict_set(X_NEW, LEVELS))


@pytest.mark.parametrize("machine", [SVC(), SpanSVC()])
@pytest.mark.parametrize("options", [{}, {"cv": 3}])
@pytest.mark.filterwarnings("ignore:.*looks at the labels")
def test_there_are_no_sets_behind_a_step_that_looks_at_the_labels(machine, options):
    name = type(machine).__name__.lower()
    model = make_pipeline(SelectKBest(k=2), machine)
    search = SpanSearch(model, {f"{name}__C": [1.0]}, **options).fit(X, y)
    with pytest.raises(ValueError, match=r"selectkbest.*less often than promised"):
        search.predict_set(X_NEW)


@pytest.mark.parametrize(
    "estimator",
    [OneVsRestClassifier(SVC()), CalibratedClassifierCV(SVC(), ensemble=False)],
    ids=["one-vs-rest", "calibrated"],
)
def test_wrapped_machines_have_no_sets(estimator):
    search = SpanSearch(estimator, {"estimator__C": [1.0]}).fit(X, y)
    assert not hasattr(search, "predict_set")
    with pytest.raises(AttributeError):
        search.predict_set(X_NEW)


def test_other_models_have_no_sets():
    search = SpanSearch(LogisticRegression(), {"C": [1.0]})
    with pytest.warns(UnacceleratedWarning):
        search.fit(X, y)
    assert not hasattr(search, "predict_set")


def test_a_search_without_refit_or_fit_says_so():
    with pytest.raises(NotFittedError):
        SpanSearch(SVC(), GRID).predict_set(X_NEW)
    search = SpanSearch(SVC(), GRID, refit=False).fit(X, y)
    assert not hasattr(search, "predict_set")


@pytest.mark.parametrize("copied", [deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_saved_search_has_its_sets_if_they_were_asked_for(copied):
    search = searched(SVC()).fit(X, y)
    with pytest.raises(ValueError, match="call predict_set once before you save it"):
        copied(search).predict_set(X_NEW)
    sets = search.predict_set(X_NEW, LEVELS)
    later = copied(search)
    assert (later.predict_set(X_NEW, LEVELS) == sets).all()
    assert len(pickle.dumps(later)) < 20 * X.nbytes
    # A SpanSVC keeps what it needs.
    search = searched(SpanSVC()).fit(X, y)
    assert (copied(search).predict_set(X_NEW) == search.predict_set(X_NEW)).all()


def test_rows_that_have_changed_since_fit_are_noticed():
    rows = X.copy()
    search = searched(SVC()).fit(rows, y)
    rows[:] = rows[::-1]
    with pytest.raises(ValueError, match="X and sample_weight must be what the model was fitted"):
        search.predict_set(X_NEW)


def test_a_second_fit_has_its_own_sets():
    search = SpanSearch(make_pipeline(MinMaxScaler(), SVC()), of("svc"))
    search.fit(X, y).predict_set(X_NEW)
    wine, kinds = load_wine(return_X_y=True)
    sets = search.fit(wine, kinds).predict_set(wine)
    again = SpanSearch(make_pipeline(MinMaxScaler(), SVC()), of("svc")).fit(wine, kinds)
    assert (sets == again.predict_set(wine)).all()


def test_a_step_that_is_tried_and_does_not_look_at_the_labels_is_no_obstacle():
    own = FunctionTransformer(np.tanh)
    own.__class__ = type("Own", (FunctionTransformer,), {})  # not scikit-learn's: it is tried
    search = SpanSearch(make_pipeline(own, SVC()), of("svc"), cv=3).fit(X, y)
    expected = SpanSearch(SVC(), GRID, cv=3).fit(np.tanh(X), y).predict_set(np.tanh(X_NEW))
    assert same_sets(search.predict_set(X_NEW), expected)
