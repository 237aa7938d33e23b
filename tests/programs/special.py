"""Programs with an SVC that is not a plain one: probabilities, kernels, subclasses, wrappers."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, rbf_kernel
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from . import Ran, data, program


@program()
def probabilities_wanted(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=200)
    model = make_pipeline(StandardScaler(), SVC(probability=True, random_state=0))
    grid = {"svc__C": [0.1, 1, 10], "svc__gamma": [0.01, 0.1]}
    search = GridSearchCV(model, grid, cv=4, scoring="accuracy").fit(X_train, y_train)
    probabilities = search.predict_proba(X_test)
    assert np.allclose(probabilities.sum(axis=1), 1)
    return Ran(search, search.predict(X_test) == y_test, {"probabilities": probabilities})


@program(folds=False)
def a_score_of_probabilities(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(
        SVC(probability=True, random_state=0), {"C": [0.1, 1, 10]}, cv=3, scoring="neg_log_loss"
    ).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"p": search.predict_proba(X_test)})


@program(folds=False)
def probabilities_by_calibration(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=180)
    calibrated = CalibratedClassifierCV(SVC(), cv=3)
    model = make_pipeline(StandardScaler(), calibrated)
    grid = {"calibratedclassifiercv__estimator__C": [0.1, 1, 10]}
    search = GridSearchCV(model, grid, cv=3).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"p": search.predict_proba(X_test)})


@program()
def one_against_the_rest(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    model = OneVsRestClassifier(SVC())
    grid = {"estimator__C": [0.1, 1, 10], "estimator__gamma": [0.1, 1]}
    search = GridSearchCV(model, grid, cv=4).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"best": search.best_params_})


@program()
def one_against_the_rest_in_a_pipeline(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    model = make_pipeline(StandardScaler(), OneVsRestClassifier(SVC(kernel="rbf")))
    grid = {"onevsrestclassifier__estimator__C": [0.1, 1, 10]}
    search = GridSearchCV(model, grid, cv=4, scoring="f1_macro").fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def a_matrix_instead_of_rows(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    scaler = StandardScaler().fit(X_train)
    A, B = scaler.transform(X_train), scaler.transform(X_test)
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 1, 10]}, cv=4)
    search.fit(rbf_kernel(A, A, gamma=0.05), y_train)
    predicted = search.predict(rbf_kernel(B, A, gamma=0.05))
    return Ran(search, predicted == y_test)


def histogram_kernel(A, B):
    return chi2_kernel(A, B, gamma=0.5)


@program()
def a_kernel_of_ones_own(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("digits", rows=160)
    X_train, X_test = X_train / 16, X_test / 16
    grid = {"kernel": [histogram_kernel, laplacian_kernel, "linear"], "C": [1, 10]}
    search = GridSearchCV(SVC(), grid, cv=3).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


class LinearKernelSVC(SVC):
    """Has one parameter less: its kernel is fixed."""

    def __init__(self, C=1.0, class_weight=None):
        super().__init__(kernel="linear", C=C, class_weight=class_weight)


@program()
def a_class_of_ones_own(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    model = make_pipeline(StandardScaler(), LinearKernelSVC())
    grid = {"linearkernelsvc__C": [0.001, 0.01, 0.1], "linearkernelsvc__class_weight": [None]}
    search = GridSearchCV(model, grid, cv=4).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"type": type(search.best_estimator_[-1])})


@program(needs="imblearn")
def rows_made_for_the_rare_class(GridSearchCV, RandomizedSearchCV):
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import Pipeline

    X, y = make_classification(300, 8, weights=[0.88], n_informative=5, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    pipe = Pipeline([("scale", StandardScaler()), ("smote", SMOTE(random_state=0)), ("svc", SVC())])
    grid = {"smote__k_neighbors": [3, 5], "svc__C": [0.1, 1, 10]}
    cv = StratifiedKFold(n_splits=3, shuffle=True, random_state=0)
    search = GridSearchCV(pipe, grid, cv=cv, scoring="f1").fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program(needs="imblearn", warns=("The step 'smote' (SMOTE) makes new training rows.",))
def rows_made_for_the_rare_class_without_folds(GridSearchCV, RandomizedSearchCV):
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline

    X, y = make_classification(300, 8, weights=[0.88], n_informative=5, random_state=2)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    pipe = make_pipeline(StandardScaler(), SMOTE(random_state=0), SVC())
    search = GridSearchCV(pipe, {"svc__C": [0.1, 1, 10]}, scoring="f1").fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program(needs="imblearn")
def rows_left_out_of_the_frequent_class(GridSearchCV, RandomizedSearchCV):
    from imblearn.pipeline import make_pipeline
    from imblearn.under_sampling import RandomUnderSampler

    X, y = make_classification(400, 8, weights=[0.85], n_informative=5, random_state=1)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    pipe = make_pipeline(RandomUnderSampler(random_state=0), StandardScaler(), SVC())
    search = GridSearchCV(pipe, {"svc__C": [0.1, 1, 10]}, cv=4, scoring="balanced_accuracy")
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def sparse_rows(GridSearchCV, RandomizedSearchCV):
    rng = np.random.RandomState(0)
    X = sparse.random(200, 60, density=0.1, format="csr", random_state=rng)
    y = (np.asarray(X.sum(axis=1)).ravel() > 3).astype(int)
    search = GridSearchCV(SVC(), {"kernel": ["linear", "rbf"], "C": [1, 10, 100]}, cv=4)
    search.fit(X[:140], y[:140])
    return Ran(search, search.predict(X[140:]) == y[140:])


@program()
def everything_named(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    svc = SVC(
        C=1.0, kernel="rbf", degree=3, gamma="scale", coef0=0.0, shrinking=True, tol=0.001,
        cache_size=200, class_weight=None, verbose=False, max_iter=-1,
        decision_function_shape="ovr", break_ties=False, random_state=None,
    )  # fmt: skip
    search = GridSearchCV(
        estimator=svc, param_grid={"C": [0.1, 1, 10]}, scoring=None, n_jobs=2, refit=True, cv=3,
        verbose=0, pre_dispatch="2*n_jobs", error_score=np.nan, return_train_score=True,
    )  # fmt: skip
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"time": search.refit_time_})


@program()
def ties_between_classes(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    model = make_pipeline(MinMaxScaler(), SVC(break_ties=True, decision_function_shape="ovr"))
    search = GridSearchCV(model, {"svc__C": [0.01, 0.1, 1]}, cv=3).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def lists_and_categories(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    names = pd.Series(y_train).map({0: "a", 1: "b", 2: "c"}).astype("category")
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10]}, cv=3).fit(X_train.tolist(), names)
    predicted = search.predict(X_test.tolist())
    return Ran(search, predicted == np.array(["a", "b", "c"])[y_test], {"predicted": predicted})


@program()
def true_or_false(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=150)
    model = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(model, {"svc__C": [0.1, 1, 10]}, cv=3, scoring="f1")
    search.fit(X_train, y_train == 0)
    return Ran(search, search.predict(X_test) == (y_test == 0))


@program()
def a_column_of_a_table(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10]}, cv=StratifiedKFold(3))
    search.fit(pd.DataFrame(X_train).to_numpy(), pd.DataFrame({"y": y_train})["y"])
    return Ran(search, search.predict(X_test) == y_test)


@program()
def nothing_to_search(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(SVC(), {}, cv=5).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"best": search.best_params_})


@program()
def a_class_with_few_rows(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    kept = np.flatnonzero((y_train != 2) | (np.cumsum(y_train == 2) <= 4))
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10]}, cv=5).fit(X_train[kept], y_train[kept])
    return Ran(search, search.predict(X_test) == y_test)
