"""Programs that are about scores: which, how many, by whom they are computed, and what selects."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    confusion_matrix,
    fbeta_score,
    hinge_loss,
    make_scorer,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from . import Ran, data, program


def unequal(seed=0, rows=320):
    X, y = make_classification(
        rows, 8, n_informative=5, weights=[0.8], flip_y=0.05, random_state=seed
    )
    return train_test_split(X, y, random_state=0, stratify=y)


@program()
def two_scores_and_the_one_to_select_by(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = unequal()
    scoring = {"AUC": "roc_auc", "Accuracy": make_scorer(accuracy_score)}
    search = GridSearchCV(
        SVC(tol=1e-6), {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]},
        scoring=scoring, refit="AUC", cv=4, return_train_score=True,
    )  # fmt: skip
    search.fit(X_train, y_train)
    results = search.cv_results_
    columns = [results[f"{kind}_{part}_{name}"] for kind in ("mean", "std")
               for part in ("test", "train") for name in scoring]  # fmt: skip
    auc = roc_auc_score(y_test, search.decision_function(X_test))
    return Ran(search, search.predict(X_test) == y_test, {"columns": columns, "auc": auc})


@program()
def a_list_of_scores(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.01, 0.1, 1, 10]},
        scoring=["accuracy", "f1_macro", "precision_weighted"], refit="f1_macro", cv=5,
    ).fit(X_train, y_train)  # fmt: skip
    return Ran(search, search.predict(X_test) == y_test, {"score": search.score(X_test, y_test)})


@program()
def several_scores_and_none_selects(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10]}, scoring=["accuracy", "f1_macro"], cv=3,
                          refit=False).fit(X_train, y_train)  # fmt: skip
    best = int(np.argmax(search.cv_results_["mean_test_f1_macro"]))
    model = SVC(**search.cv_results_["params"][best]).fit(X_train, y_train)
    return Ran(search, model.predict(X_test) == y_test)


def least_within_one_standard_error(results):
    """The fewest components whose score is within one standard deviation of the best."""
    mean, std = results["mean_test_score"], results["std_test_score"]
    threshold = mean.max() - std[mean.argmax()]
    enough = np.flatnonzero(mean >= threshold)
    return enough[results["param_pca__n_components"][enough].astype(int).argmin()]


@program()
def the_simplest_model_within_one_standard_error(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("digits", rows=200)
    pipe = Pipeline([("pca", PCA(random_state=0)), ("svc", SVC(kernel="linear"))])
    search = GridSearchCV(
        pipe, {"pca__n_components": [2, 4, 8, 16, 32]}, cv=5, scoring="accuracy",
        refit=least_within_one_standard_error,
    )  # fmt: skip
    search.fit(X_train, y_train)
    chosen = search.best_params_["pca__n_components"]
    return Ran(search, search.predict(X_test) == y_test, {"chosen": chosen})


@program(folds=False)
def one_standard_error_without_folds(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = unequal(3, 400)
    search = GridSearchCV(SVC(), {"C": np.logspace(-2, 3, 8)}, refit=smallest_weight)
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"C": search.best_params_["C"]})


def smallest_weight(results):
    mean, error = np.array(results["mean_test_score"]), np.array(results["std_test_score"])
    return int(np.flatnonzero(mean >= mean.max() - error[mean.argmax()])[0])


@program()
def only_the_search(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    pipe = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(pipe, {"svc__C": [0.1, 1, 10]}, cv=5, refit=False).fit(X_train, y_train)
    model = pipe.set_params(**search.best_params_).fit(X_train, y_train)
    return Ran(search, model.predict(X_test) == y_test, {"has": hasattr(search, "predict")})


@program()
def recall_counts_more(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = unequal(1)
    f2 = make_scorer(fbeta_score, beta=2)
    grid = {"C": [0.1, 1, 10], "class_weight": [None, "balanced"]}
    search = GridSearchCV(SVC(), grid, scoring=f2, cv=4).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


def cost(y, predicted):
    """Ten for a missed positive, one for a false alarm."""
    _, fp, fn, _ = confusion_matrix(y, predicted).ravel()
    return 10 * fn + fp


@program()
def a_cost_to_be_small(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = unequal(2)
    search = GridSearchCV(
        SVC(), {"C": [1, 10], "class_weight": [None, "balanced", {1: 8}]},
        scoring=make_scorer(cost, greater_is_better=False), cv=4,
    ).fit(X_train, y_train)  # fmt: skip
    return Ran(search, None, {"cost": -search.score(X_test, y_test), "best": search.best_score_})


def sensitivity(estimator, X, y):
    return recall_score(y, estimator.predict(X), pos_label=1)


@program()
def a_function_as_score(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = unequal(4)
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10]}, scoring=sensitivity, cv=5)
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


def confusion(estimator, X, y):
    tn, fp, fn, tp = confusion_matrix(y, estimator.predict(X)).ravel()
    return {"tn": tn, "fp": fp, "fn": fn, "tp": tp}


@program()
def a_function_with_several_scores(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = unequal(5)
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10]}, scoring=confusion, refit="tp", cv=3)
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


def accurate_and_small(estimator, X, y):
    """Accuracy, less what the support vectors cost."""
    return estimator.score(X, y) - 1e-9 * len(estimator.support_)


@program()
def a_score_that_reads_the_machine(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10, 100]}, scoring=accurate_and_small, cv=4)
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


def share_of_vectors(pipeline, X, y):
    svc = pipeline[-1]
    penalty = svc.n_support_.sum() / svc.shape_fit_[0]
    return accuracy_score(y, pipeline.predict(X)) - 1e-9 * penalty


@program(slack=1e-9)  # LibSVM keeps one vector more, whose multiplier is nearly 0
def a_score_that_reads_the_last_step(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    model = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(model, {"svc__C": [0.1, 1, 10]}, scoring=share_of_vectors, cv=4)
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


def average_precision(estimator, X, y):
    return average_precision_score(y, estimator.decision_function(X))


@program()
def a_score_of_values(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = unequal(6)
    search = GridSearchCV(SVC(tol=1e-6), {"C": [0.1, 1, 10]}, scoring=average_precision, cv=4)
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def the_same_by_name(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = unequal(6)
    cv = StratifiedKFold(5, shuffle=True, random_state=1)
    search = GridSearchCV(SVC(tol=1e-6), {"C": [0.1, 1, 10], "gamma": [0.03, 0.3]},
                          scoring="average_precision", cv=cv, n_jobs=2)  # fmt: skip
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program(folds=False)
def ranks_without_folds(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = unequal(7)
    search = GridSearchCV(SVC(), {"C": np.logspace(-2, 3, 6)}, scoring="roc_auc")
    search.fit(X_train, y_train)
    loss = hinge_loss(y_test, search.decision_function(X_test))
    return Ran(search, search.predict(X_test) == y_test, {"loss": loss})


@program()
def weights_of_rows(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = unequal(8)
    weights = np.random.RandomState(0).uniform(0.2, 3, len(y_train))
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10]}, cv=4)
    search.fit(X_train, y_train, sample_weight=weights)
    return Ran(search, search.predict(X_test) == y_test)
