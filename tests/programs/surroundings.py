"""Programs that put the search into something, or go on with what it found."""

from __future__ import annotations

import os
import pickle
import tempfile

import joblib
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.inspection import DecisionBoundaryDisplay, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    RocCurveDisplay,
    classification_report,
    confusion_matrix,
    roc_curve,
)
from sklearn.model_selection import (
    KFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from . import Ran, data, program

GRID = {"C": [0.1, 1, 10], "gamma": ["scale", 0.1]}


@program(folds=False)
def nested_folds(GridSearchCV, RandomizedSearchCV):
    X, _, y, _ = data("iris", rows=120)
    inner = KFold(n_splits=4, shuffle=True, random_state=0)
    outer = KFold(n_splits=4, shuffle=True, random_state=0)
    clf = GridSearchCV(estimator=SVC(kernel="rbf"), param_grid=GRID, cv=inner)
    clf.fit(X, y)
    nested = cross_val_score(clf, X=X, y=y, cv=outer)
    return Ran(clf, None, {"nested": nested})


@program(folds=False)
def nested_without_inner_folds(GridSearchCV, RandomizedSearchCV):
    X, _, y, _ = data("iris", rows=120)
    model = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(model, {"svc__C": [0.1, 1, 10]})
    found = cross_validate(search, X, y, cv=3, return_train_score=True, return_estimator=True)
    best = [inner.best_params_ for inner in found["estimator"]]
    predicted = cross_val_predict(search, X, y, cv=3)
    facts = {"test": found["test_score"], "train": found["train_score"], "best": best}
    return Ran(None, predicted == y, facts)


@program()
def saved_and_loaded(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(SVC(), GRID, cv=3).fit(X_train, y_train)
    again = pickle.loads(pickle.dumps(search))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.joblib")
        joblib.dump(search.best_estimator_, path)
        model = joblib.load(path)
    assert (again.predict(X_test) == model.predict(X_test)).all()
    new = clone(search)
    assert not hasattr(new, "best_params_")
    return Ran(again, model.predict(X_test) == y_test)


@program(folds=False)
def a_vote_of_several(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    svm = make_pipeline(StandardScaler(), GridSearchCV(SVC(), GRID, cv=3))
    near = make_pipeline(StandardScaler(), KNeighborsClassifier())
    line = make_pipeline(StandardScaler(), LogisticRegression())
    vote = VotingClassifier([("svm", svm), ("near", near), ("line", line)]).fit(X_train, y_train)
    return Ran(None, vote.predict(X_test) == y_test)


@program(folds=False)
def a_stack_of_several(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=150)
    svm = make_pipeline(StandardScaler(), GridSearchCV(SVC(), {"C": [0.1, 1, 10]}))
    near = make_pipeline(StandardScaler(), KNeighborsClassifier())
    stack = StackingClassifier([("svm", svm), ("near", near)], cv=3).fit(X_train, y_train)
    return Ran(None, stack.predict(X_test) == y_test)


@program(folds=False)
def one_search_per_class(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    model = OneVsRestClassifier(GridSearchCV(SVC(), GRID, cv=3)).fit(X_train, y_train)
    best = [inner.best_params_ for inner in model.estimators_]
    return Ran(None, model.predict(X_test) == y_test, {"best": best})


@program(folds=False)
def the_search_as_last_step(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    model = make_pipeline(StandardScaler(), GridSearchCV(SVC(), GRID, cv=4))
    model.fit(X_train, y_train)
    return Ran(model[-1], model.predict(X_test) == y_test, {"score": model.score(X_test, y_test)})


@program()
def a_report(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("digits", rows=200)
    grid = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.01, 0.001]}, cv=3, verbose=0)
    grid.fit(X_train, y_train)
    predicted = grid.predict(X_test)
    report = classification_report(y_test, predicted, output_dict=True)
    facts = {"report": sorted(report), "matrix": confusion_matrix(y_test, predicted)}
    return Ran(grid, predicted == y_test, facts)


@program()
def a_table_of_results(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    model = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [0.1, 1, 10], "svc__gamma": [0.01, 0.1, 1]}
    search = GridSearchCV(model, grid, cv=5).fit(X_train, y_train)
    table = pd.DataFrame(search.cv_results_).sort_values("rank_test_score")
    columns = ["param_svc__C", "param_svc__gamma", "mean_test_score", "std_test_score"]
    best = table[columns].head(3)
    pivot = table.pivot(index="param_svc__C", columns="param_svc__gamma", values="mean_test_score")
    return Ran(search, search.predict(X_test) == y_test, {"best": best, "pivot": pivot})


@program(folds=False)
def a_heat_map(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=200)
    C_range, gamma_range = np.logspace(-1, 3, 5), np.logspace(-4, 0, 5)
    model = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(model, {"svc__C": C_range, "svc__gamma": gamma_range})
    search.fit(X_train, y_train)
    scores = search.cv_results_["mean_test_score"].reshape(len(C_range), len(gamma_range))
    return Ran(search, search.predict(X_test) == y_test, {"scores": scores})


@program(folds=False)
def a_line_per_candidate(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(SVC(), GRID).fit(X_train, y_train)
    lines = []
    for mean, std, params in zip(
        search.cv_results_["mean_test_score"],
        search.cv_results_["std_test_score"],
        search.cv_results_["params"],
        strict=True,
    ):
        assert 0 < std < 0.2
        lines.append(f"{mean:.3f} (+/-{std * 2:.3f}) for {params}")
    return Ran(search, search.predict(X_test) == y_test, {"lines": lines})


@program()
def curves_of_the_best(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(SVC(), GRID, cv=3).fit(X_train, y_train)
    best = search.best_estimator_
    sizes, train, test = learning_curve(
        best, X_train, y_train, cv=3, train_sizes=[0.5, 1.0], shuffle=True, random_state=0
    )
    over_gamma = validation_curve(
        best, X_train, y_train, param_name="gamma", param_range=[0.01, 1], cv=3
    )
    facts = {"sizes": sizes, "train": train, "test": test, "over": over_gamma[1]}
    return Ran(search, best.predict(X_test) == y_test, facts)


@program()
def which_features_matter(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    model = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(model, {"svc__C": [0.1, 1, 10]}, cv=4).fit(X_train, y_train)
    importance = permutation_importance(search, X_test, y_test, n_repeats=3, random_state=0)
    return Ran(search, search.predict(X_test) == y_test, {"mean": importance.importances_mean})


@program()
def a_roc_curve(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=200)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SVC(tol=1e-6)), {"svc__C": [0.1, 1, 10]},
        cv=5, scoring="roc_auc",
    )  # fmt: skip
    values = search.fit(X_train, y_train).decision_function(X_test)
    false_positive, true_positive, _ = roc_curve(y_test, values)
    ends = [false_positive[[0, -1]], true_positive[[0, -1]]]
    return Ran(search, search.predict(X_test) == y_test, {"ends": ends, "values": values})


@program()
def changed_and_fitted_again(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(SVC(), {"C": [1]}, cv=3).fit(X_train, y_train)
    search.set_params(param_grid=GRID, estimator__kernel="rbf", cv=4).fit(X_train, y_train)
    facts = {"names": sorted(search.get_params(deep=False).keys() & {"cv", "refit", "scoring"})}
    return Ran(search, search.predict(X_test) == y_test, facts)


@program(needs="matplotlib")
def drawn_by_scikit_learn(GridSearchCV, RandomizedSearchCV):
    from matplotlib import pyplot as plt

    X_train, X_test, y_train, y_test = data("cancer", rows=120)
    X_train, X_test = np.log1p(X_train[:, :2]), np.log1p(X_test[:, :2])
    plt.switch_backend("agg")
    search = GridSearchCV(SVC(), GRID, cv=3).fit(X_train, y_train)
    matrix = ConfusionMatrixDisplay.from_estimator(search, X_test, y_test).confusion_matrix
    curve = RocCurveDisplay.from_estimator(search, X_test, y_test)
    surface = DecisionBoundaryDisplay.from_estimator(search, X_train, grid_resolution=10)
    plt.close("all")
    facts = {"matrix": matrix, "has area": curve is not None, "surface": surface.response}
    return Ran(search, search.predict(X_test) == y_test, facts)


@program(folds=False)
def a_learning_curve_of_the_search(GridSearchCV, RandomizedSearchCV):
    X, _, y, _ = data("iris", rows=120)
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10]}, cv=2)
    sizes, train, test = learning_curve(search, X, y, cv=3, train_sizes=[0.4, 1.0], shuffle=True)
    return Ran(None, None, {"sizes": sizes, "train": train, "test": test})


@program()
def a_threshold_of_its_own(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=200)
    model = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(model, {"svc__C": [0.1, 1, 10]}, cv=3, scoring="f1")
    search.fit(X_train, y_train)
    tuned = TunedThresholdClassifierCV(search.best_estimator_, scoring="f1", cv=3)
    tuned.fit(X_train, y_train)
    return Ran(search, tuned.predict(X_test) == y_test, {"threshold": tuned.best_threshold_})


@program()
def what_the_machine_looks_like(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    search = GridSearchCV(model, {"svc__C": [0.01, 0.1, 1]}, cv=3).fit(X_train, y_train)
    svc = search.best_estimator_.named_steps["svc"]
    strongest = np.argsort(-np.abs(svc.coef_[0]))[:3]
    facts = {
        "coef": svc.coef_, "strongest": strongest, "n": svc.n_support_, "b": svc.intercept_,
        "columns": svc.support_vectors_.shape[1], "html": len(search._repr_html_()) > 0,
        "text": "SVC" in repr(search.best_estimator_),
    }  # fmt: skip
    return Ran(search, search.predict(X_test) == y_test, facts)


@program(needs="sklearn.callback")
def a_progress_bar_of_scikit_learn(GridSearchCV, RandomizedSearchCV):
    from sklearn.callback import ProgressBar

    X_train, X_test, y_train, y_test = data("iris")
    search = GridSearchCV(SVC(), GRID, cv=3)
    search.set_callbacks(ProgressBar())
    search.fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)
