"""Programs that are about `cv`: which rows are trained on, and which are tested."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    train_test_split,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from . import Ran, data, program


@program()
def five_folds(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    pipe = Pipeline([("scaler", StandardScaler()), ("svm", SVC())])
    grid = {"svm__C": [0.1, 1, 10, 100], "svm__gamma": [1, 0.1, 0.01, 0.001]}
    search = GridSearchCV(pipe, grid, cv=5)
    search.fit(X_train, y_train)
    facts = {"best": search.best_params_, "score": search.score(X_test, y_test)}
    return Ran(search, search.predict(X_test) == y_test, facts)


@program()
def folds_drawn_with_the_classes(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=200)
    scaler = StandardScaler().fit(X_train)
    folds = StratifiedKFold(n_splits=4, shuffle=True, random_state=42)
    grid = {"gamma": np.logspace(-4, 0, 4), "C": np.logspace(-1, 3, 5)}
    search = GridSearchCV(SVC(), param_grid=grid, cv=folds, n_jobs=2)
    search.fit(scaler.transform(X_train), y_train)
    return Ran(search, search.predict(scaler.transform(X_test)) == y_test)


@program()
def repeated_folds(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=1)
    model = make_pipeline(StandardScaler(), SVC(gamma="scale"))
    grid = {"svc__kernel": ["poly", "rbf"], "svc__C": [50, 10, 1.0, 0.1]}
    search = GridSearchCV(model, grid, cv=cv, scoring="accuracy", error_score=0)
    result = search.fit(X_train, y_train)
    return Ran(search, result.best_estimator_.predict(X_test) == y_test)


@program()
def random_splits(GridSearchCV, RandomizedSearchCV):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X[:, :2][y > 0])
    y = y[y > 0] - 1
    grid = {"C": np.logspace(-2, 4, 4), "gamma": np.logspace(-3, 1, 4)}
    cv = StratifiedShuffleSplit(n_splits=5, test_size=0.2, random_state=42)
    search = GridSearchCV(SVC(), param_grid=grid, cv=cv).fit(X, y)
    scores = search.cv_results_["mean_test_score"].reshape(4, 4)
    return Ran(search, search.predict(X) == y, {"scores": scores})


@program()
def a_single_split(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    cv = ShuffleSplit(n_splits=1, test_size=0.25, random_state=3)
    model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    search = GridSearchCV(model, {"svc__C": [0.001, 0.01, 0.1, 1]}, cv=cv).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def groups_stay_together(GridSearchCV, RandomizedSearchCV):
    X, y = make_classification(240, 8, n_informative=5, flip_y=0.05, random_state=2)
    groups = np.arange(240) // 12
    train, test = groups < 14, groups >= 14
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": ["scale", 0.05]}, cv=GroupKFold(5))
    search.fit(X[train], y[train], groups=groups[train])
    return Ran(search, search.predict(X[test]) == y[test])


@program()
def one_group_at_a_time(GridSearchCV, RandomizedSearchCV):
    X, y = make_classification(150, 6, n_informative=4, random_state=4)
    subjects = np.tile(np.arange(6), 25)
    logo = LeaveOneGroupOut()
    search = GridSearchCV(SVC(kernel="rbf"), {"C": [1, 10, 100]}, cv=logo, scoring="f1")
    search.fit(X, y, groups=subjects)
    return Ran(search, facts={"n": search.n_splits_, "best": search.best_score_})


@program()
def the_past_predicts_the_future(GridSearchCV, RandomizedSearchCV):
    rng = np.random.default_rng(5)
    series = np.cumsum(rng.standard_normal(260)) + 3 * np.sin(np.arange(260) / 7)
    X = np.column_stack([series[lag : lag + 250] for lag in range(6)])
    y = (series[7:257] > series[6:256]).astype(int)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": [0.1, 1, 10], "svc__gamma": [0.01, 0.1, 1]},
        cv=TimeSeriesSplit(n_splits=4),
    ).fit(X[:200], y[:200])
    return Ran(search, search.predict(X[200:]) == y[200:])


@program()
def a_validation_set_of_ones_own(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=220)
    train, valid = train_test_split(np.arange(220), test_size=0.3, random_state=0)
    fold = np.full(220, -1)
    fold[valid] = 0
    model = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(model, {"svc__C": [0.1, 1, 10, 100]}, cv=PredefinedSplit(fold))
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"train": train.size})


@program()
def leave_one_out(GridSearchCV, RandomizedSearchCV):
    X, y = load_iris(return_X_y=True)
    X, y = X[50::2, 2:], y[50::2]
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10]}, cv=LeaveOneOut()).fit(X, y)
    return Ran(search, facts={"n": search.n_splits_, "best": search.best_score_})


@program()
def a_generator_of_splits(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("digits", rows=250)
    skf = StratifiedKFold(n_splits=3)
    search = GridSearchCV(
        SVC(kernel="rbf"), {"C": [1, 10], "gamma": [1e-3, 1e-4]}, cv=skf.split(X_train, y_train)
    )
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def a_list_of_index_pairs(GridSearchCV, RandomizedSearchCV):
    X, y = load_wine(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    X, y = X[order], y[order]
    half = len(y) // 2
    custom = [
        (np.arange(half), np.arange(half, len(y))),
        (np.arange(half, len(y)), np.arange(half)),
    ]
    model = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(model, {"svc__C": [0.1, 1, 10]}, cv=custom).fit(X, y)
    return Ran(search, facts={"splits": search.n_splits_})


@program()
def plain_folds_of_shuffled_rows(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    cv = KFold(n_splits=6, shuffle=True, random_state=7)
    svc = SVC(random_state=7)
    search = GridSearchCV(estimator=svc, param_grid={"C": [1, 5, 25], "gamma": [0.5]}, cv=cv)
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program(folds=False)
def no_cv_at_all(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=250)
    model = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [0.1, 1, 10, 100, 1000], "svc__gamma": [1, 0.1, 0.01, 0.001, 0.0001]}
    search = GridSearchCV(model, grid, refit=True).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"best": search.best_params_})
