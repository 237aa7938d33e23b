"""Programs that search other models than an SVC, or an SVC among others."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import loguniform, randint
from sklearn.datasets import load_diabetes, make_multilabel_classification
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from . import Ran, data, program

#: How the warning begins that a search is evaluated by scikit-learn.
SAID = ("This search is not accelerated",)


@program(warns=SAID)
def the_loop_over_models(GridSearchCV, RandomizedSearchCV):
    X_train, _, y_train, _ = data("iris")
    model_params = {
        "svm": {"model": SVC(gamma="auto"), "params": {"C": [1, 10, 20], "kernel": ["rbf"]}},
        "random_forest": {
            "model": RandomForestClassifier(random_state=0),
            "params": {"n_estimators": [1, 5, 10]},
        },
        "logistic_regression": {
            "model": LogisticRegression(max_iter=1000),
            "params": {"C": [1, 5, 10]},
        },
    }
    scores = []
    for name, mp in model_params.items():
        clf = GridSearchCV(mp["model"], mp["params"], cv=5, return_train_score=False)
        clf.fit(X_train, y_train)
        scores.append(
            {"model": name, "best_score": clf.best_score_, "best_params": clf.best_params_}
        )
    table = pd.DataFrame(scores, columns=["model", "best_score", "best_params"])
    return Ran(clf, facts={"table": table, "mean": clf.best_score_.mean()})


@program(warns=SAID)
def classifiers_in_two_lists(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    classifiers = [KNeighborsClassifier(), DecisionTreeClassifier(random_state=0), SVC()]
    grids = [
        {"kneighborsclassifier__n_neighbors": [3, 5, 7]},
        {"decisiontreeclassifier__max_depth": [2, 4]},
        {"svc__C": [1, 10]},
    ]
    best, best_score = None, -np.inf
    for classifier, grid in zip(classifiers, grids, strict=True):
        search = GridSearchCV(make_pipeline(StandardScaler(), classifier), grid, cv=4)
        search.fit(X_train, y_train)
        if search.best_score_ > best_score:
            best, best_score = search, search.best_score_
    return Ran(best, best.predict(X_test) == y_test, {"score": best_score})


@program(warns=SAID)
def a_classifier_as_a_parameter(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    pipe = Pipeline([("scaler", StandardScaler()), ("clf", SVC())])
    grid = [
        {"clf": [SVC()], "clf__C": [0.1, 1, 10], "clf__kernel": ["rbf", "linear"]},
        {"clf": [RandomForestClassifier(n_estimators=10, random_state=0)],
         "clf__max_depth": [2, None]},
        {"clf": [GaussianNB()], "scaler": ["passthrough"]},
    ]  # fmt: skip
    search = GridSearchCV(pipe, grid, cv=StratifiedKFold(4), scoring="accuracy")
    search.fit(X_train, y_train)
    kind = type(search.best_estimator_.named_steps["clf"]).__name__
    return Ran(search, search.predict(X_test) == y_test, {"kind": kind})


@program(warns=SAID)
def a_bag_of_svcs(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    bag = BaggingClassifier(SVC(), n_estimators=3, random_state=0)
    grid = {"estimator__C": [1, 10], "max_samples": [0.5, 1.0]}
    search = GridSearchCV(bag, grid, cv=3).fit(X_train, y_train)
    members = search.best_estimator_.estimators_
    return Ran(search, search.predict(X_test) == y_test, {"members": members})


@program(warns=SAID)
def a_vote_with_an_svc_in_it(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    vote = VotingClassifier([("svc", SVC()), ("nb", GaussianNB()), ("knn", KNeighborsClassifier())])
    pipe = make_pipeline(StandardScaler(), vote)
    grid = {"votingclassifier__svc__C": [1, 10], "votingclassifier__knn__n_neighbors": [3, 9]}
    search = GridSearchCV(pipe, grid, cv=3, return_train_score=True).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program(warns=SAID)
def a_linear_svc(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=200)
    pipe = make_pipeline(StandardScaler(), LinearSVC(dual=False, random_state=0))
    grid = {"linearsvc__C": np.logspace(-3, 2, 6), "linearsvc__penalty": ["l1", "l2"]}
    search = GridSearchCV(pipe, grid, cv=5, scoring="roc_auc").fit(X_train, y_train)
    weights = search.best_estimator_[-1].coef_
    return Ran(search, search.predict(X_test) == y_test, {"weights": weights})


@program(warns=SAID)
def nu_in_place_of_c(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(NuSVC(), {"nu": [0.1, 0.3, 0.5]}, cv=4, scoring="f1_macro")
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program(values=True)
def a_regression(GridSearchCV, RandomizedSearchCV):
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    pipe = make_pipeline(StandardScaler(), SVR())
    grid = {"svr__C": [1, 10, 100], "svr__epsilon": [0.1, 10]}
    search = GridSearchCV(pipe, grid, cv=KFold(3), scoring="neg_mean_squared_error")
    search.fit(X_train, y_train)
    root = np.sqrt(-search.best_score_)
    return Ran(search, None, {"rmse": root, "score": search.score(X_test, y_test)})


@program(warns=SAID)
def a_regression_drawn_at_random(GridSearchCV, RandomizedSearchCV):
    X, y = load_diabetes(return_X_y=True)
    search = RandomizedSearchCV(
        Ridge(), {"alpha": loguniform(1e-3, 1e2)}, n_iter=8, cv=3, random_state=1
    ).fit(X, y)
    return Ran(search, None, {"alpha": search.best_params_["alpha"]})


@program(warns=SAID)
def boosting_drawn_at_random(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=150)
    drawn = {"max_depth": randint(1, 4), "learning_rate": loguniform(0.01, 1)}
    model = GradientBoostingClassifier(n_estimators=10, random_state=0)
    search = RandomizedSearchCV(
        model, drawn, n_iter=4, cv=3, scoring=["roc_auc", "accuracy"], refit="roc_auc",
        random_state=0, n_jobs=-1,
    ).fit(X_train, y_train)  # fmt: skip
    return Ran(search, search.predict(X_test) == y_test, {"p": search.predict_proba(X_test)})


@program()
def several_labels_per_row(GridSearchCV, RandomizedSearchCV):
    X, y = make_multilabel_classification(120, n_classes=4, random_state=0)
    X_train, X_test, y_train, _ = train_test_split(X, y, random_state=0)
    model = OneVsRestClassifier(SVC(kernel="linear"))
    grid = {"estimator__C": [0.1, 1]}
    search = GridSearchCV(model, grid, cv=3, scoring="f1_micro").fit(X_train, y_train)
    return Ran(search, None, {"predicted": search.predict(X_test)})


@program(warns=SAID)
def outliers(GridSearchCV, RandomizedSearchCV):
    X_train, _, y_train, _ = data("wine")
    inside = np.where(y_train == 0, -1, 1)
    search = GridSearchCV(OneClassSVM(), {"nu": [0.1, 0.3], "gamma": ["scale", 1e-4]},
                          scoring="f1", cv=3).fit(X_train, inside)  # fmt: skip
    return Ran(search, None, {"densities": search.score_samples(X_train)})


@program(warns=SAID)
def half_of_the_candidates_at_a_time(GridSearchCV, RandomizedSearchCV):
    """Successive halving, as people write it by hand: more rows for fewer candidates."""
    X_train, X_test, y_train, y_test = data("digits")
    candidates = [{"max_depth": [depth]} for depth in (1, 2, 4, 8, 16)]
    rows = 60
    while True:
        model = RandomForestClassifier(10, random_state=0)
        search = GridSearchCV(model, candidates, cv=3).fit(X_train[:rows], y_train[:rows])
        if len(candidates) == 1:
            break
        order = np.argsort(search.cv_results_["rank_test_score"], kind="stable")
        candidates = [candidates[place] for place in order[: len(candidates) // 2]]
        rows *= 2
    return Ran(search, search.predict(X_test) == y_test, {"rows": rows})


@program(folds=False, warns=SAID)
def a_forest_inside_cross_validation(GridSearchCV, RandomizedSearchCV):
    X_train, _, y_train, _ = data("wine")
    inner = GridSearchCV(
        RandomForestClassifier(5, random_state=0), {"max_depth": [1, 3]}, cv=StratifiedKFold(3)
    )
    return Ran(None, None, {"scores": cross_val_score(inner, X_train, y_train, cv=3)})
