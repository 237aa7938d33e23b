"""Programs that are about what is searched: grids, distributions, parameters of the machine."""

from __future__ import annotations

import numpy as np
import scipy.stats
from scipy.stats import expon, loguniform, randint, uniform
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from . import Ran, data, program


@program()
def several_grids(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("digits", rows=200)
    tuned_parameters = [
        {"kernel": ["rbf"], "gamma": [1e-3, 1e-4], "C": [1, 10, 100, 1000]},
        {"kernel": ["linear"], "C": [1, 10, 100, 1000]},
    ]
    clf = GridSearchCV(SVC(), tuned_parameters, scoring="precision_macro", cv=3)
    clf.fit(X_train, y_train)
    means, stds = clf.cv_results_["mean_test_score"], clf.cv_results_["std_test_score"]
    lines = [
        f"{mean:0.3f} (+/-{2 * std:0.03f}) for {params!r}"
        for mean, std, params in zip(means, stds, clf.cv_results_["params"], strict=True)
    ]
    return Ran(clf, clf.predict(X_test) == y_test, {"lines": lines})


@program()
def drawn_on_a_logarithmic_scale(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=200)
    pipe = Pipeline([("sc", StandardScaler()), ("svc", SVC())])
    space = {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-4, 1e0)}
    search = RandomizedSearchCV(pipe, space, n_iter=12, cv=4, random_state=42)
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"best": search.best_params_})


@program()
def drawn_with_weights_for_classes(GridSearchCV, RandomizedSearchCV):
    X, y = make_classification(260, 8, weights=[0.8], n_informative=4, random_state=1)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    space = {
        "C": scipy.stats.expon(scale=100),
        "gamma": scipy.stats.expon(scale=0.1),
        "kernel": ["rbf"],
        "class_weight": ["balanced", None],
    }
    search = RandomizedSearchCV(SVC(), space, n_iter=8, cv=3, random_state=0, scoring="f1")
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def drawn_numbers_of_features(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    pipe = make_pipeline(StandardScaler(), SelectKBest(f_classif), SVC())
    space = {
        "selectkbest__k": randint(3, 13),
        "svc__C": uniform(loc=0.5, scale=50),
        "svc__kernel": ["linear", "rbf"],
    }
    search = RandomizedSearchCV(
        estimator=pipe, param_distributions=space, n_iter=8, cv=5, random_state=3, n_jobs=-1
    ).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program(folds=False)
def drawn_without_folds(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    space = {"C": expon(scale=10), "gamma": loguniform(1e-3, 1e1)}
    search = RandomizedSearchCV(SVC(), param_distributions=space, n_iter=15, random_state=0)
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"n": len(search.cv_results_["params"])})


@program()
def drawn_from_a_few(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    space = {"C": [0.1, 1, 10], "kernel": ["linear", "rbf"]}
    search = RandomizedSearchCV(SVC(), space, n_iter=10, cv=3, random_state=1).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def very_large_weights(GridSearchCV, RandomizedSearchCV):
    X, y = make_moons(120, noise=0.15, random_state=0)
    grid = {"C": np.logspace(-2, 10, 7), "gamma": [0.1, 1.0]}
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(SVC(tol=1e-6), grid, cv=cv).fit(X, y)
    new, labels = make_moons(400, noise=0.15, random_state=1)
    return Ran(search, search.predict(new) == labels)


@program()
def polynomials(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    grid = {"degree": [2, 3, 4], "coef0": [0.0, 1.0], "C": [0.1, 1]}
    model = make_pipeline(MinMaxScaler(), SVC(kernel="poly", gamma="auto"))
    search = GridSearchCV(model, {f"svc__{k}": v for k, v in grid.items()}, cv=4)
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def numbers_and_names_for_gamma(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    grid = {"svc__gamma": ["scale", "auto", 0.01, 0.1], "svc__C": [1, 10]}
    model = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(model, grid, cv=3, verbose=0).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def weights_for_classes(GridSearchCV, RandomizedSearchCV):
    X, y = make_classification(300, 6, weights=[0.85], n_informative=4, flip_y=0.05, random_state=3)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    grid = {
        "class_weight": [None, "balanced", {0: 1, 1: 3}, {0: 1, 1: 10}],
        "C": [0.1, 1, 10],
    }
    search = GridSearchCV(SVC(), grid, cv=5, scoring="balanced_accuracy").fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"best": search.best_params_})


@program()
def coarse_then_fine(GridSearchCV, RandomizedSearchCV):
    X, y = load_iris(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X[:, :2], y, random_state=1, stratify=y)
    model = make_pipeline(StandardScaler(), SVC())
    coarse = GridSearchCV(model, {"svc__C": 10.0 ** np.arange(-2, 4)}, cv=5).fit(X_train, y_train)
    best = coarse.best_params_["svc__C"]
    fine = GridSearchCV(model, {"svc__C": best * 2.0 ** np.linspace(-1, 1, 5)}, cv=5)
    fine.fit(X_train, y_train)
    return Ran(coarse, fine.predict(X_test) == y_test)


@program()
def components_and_machine(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("digits", rows=200)
    pipe = Pipeline([("pca", PCA(random_state=0)), ("svc", SVC())])
    grid = {"pca__n_components": [5, 15, 30], "svc__C": [1, 10], "svc__gamma": [0.0005, 0.005]}
    search = GridSearchCV(pipe, grid, cv=3, return_train_score=True).fit(X_train, y_train)
    gap = search.cv_results_["mean_train_score"] - search.cv_results_["mean_test_score"]
    return Ran(search, search.predict(X_test) == y_test, {"gap": gap})


@program(warns=("3 of 12 fits failed",))
def a_candidate_that_cannot_be_trained(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(SVC(), {"C": [-1, 0.1, 1, 10]}, cv=3, error_score=np.nan)
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def pairs_of_classes(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("digits", rows=160)
    svc = SVC(decision_function_shape="ovo", cache_size=500, shrinking=False)
    search = GridSearchCV(svc, {"C": [1, 10], "gamma": [0.001, 0.0001]}, cv=2)
    search.fit(X_train, y_train)
    values = search.decision_function(X_test)
    return Ran(search, search.predict(X_test) == y_test, {"values": values})


@program()
def few_iterations(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=150)
    model = make_pipeline(StandardScaler(), SVC(max_iter=1000))
    search = GridSearchCV(model, {"svc__C": [0.1, 1, 10]}, cv=3).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program(folds=False, warns=("9 of 9 fits stopped early",))
def hardly_any_iterations(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, _ = data("iris")
    search = GridSearchCV(SVC(max_iter=3), {"C": [0.1, 1, 10]}, cv=3).fit(X_train, y_train)
    return Ran(search, None, {"predicted": search.predict(X_test), "best": search.best_score_})
