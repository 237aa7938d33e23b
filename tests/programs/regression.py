"""Programs that tune an SVR: what is searched, how it is scored, and on which rows."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import expon, loguniform, spearmanr, uniform
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_regression
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import (
    get_scorer_names,
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
)
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    train_test_split,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVR, LinearSVR, NuSVR

from . import Ran, program
from .other_models import SAID

#: A program whose scores are of numbers that an SVR predicts.
regression = partial(program, values=True)

#: Its name has changed.
MAX_ERROR = next(name for name in ("neg_max_error", "max_error") if name in get_scorer_names())


def diabetes(rows=180):
    """``X_train, X_test, y_train, y_test``: targets from 25 to 346."""
    X, y = load_diabetes(return_X_y=True)
    return train_test_split(X, y, train_size=rows, random_state=0)


def friedman(rows=150, noise=1.0):
    """The same of a smooth function of five of ten features, targets from 0 to 30."""
    X, y = make_friedman1(rows + 200, noise=noise, random_state=0)
    return train_test_split(X, y, train_size=rows, random_state=1)


def series():
    """The last six values, and the next one."""
    rng = np.random.default_rng(3)
    values = 10 * np.sin(np.arange(260) / 9) + np.cumsum(0.3 * rng.standard_normal(260))
    return np.column_stack([values[lag : lag + 250] for lag in range(6)]), values[6:256]


@regression()
def cost_width_and_tube(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    sc = StandardScaler()
    X_train, X_test = sc.fit_transform(X_train), sc.transform(X_test)
    param_grid = {"C": [0.1, 1, 10, 100], "gamma": ["scale", 0.01, 0.1], "epsilon": [0.01, 0.1, 1]}
    grid = GridSearchCV(SVR(kernel="rbf"), param_grid, cv=5, scoring="r2", n_jobs=-1)
    grid.fit(X_train, y_train)
    y_pred = grid.predict(X_test)
    facts = {"best": grid.best_params_, "r2": r2_score(y_test, y_pred)}
    return Ran(grid, errors=y_test - y_pred, facts=facts)


@regression()
def a_list_of_kernels(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = diabetes()
    parameters = {"kernel": ["linear", "rbf", "poly"], "C": [1, 10, 50], "epsilon": [0.1, 5]}
    svr = GridSearchCV(SVR(), parameters, cv=5, verbose=1)
    svr.fit(X_train, y_train)
    model = svr.best_estimator_
    facts = {"kernel": model.kernel, "vectors": model.support_vectors_.ndim}
    return Ran(svr, errors=y_test - model.predict(X_test), facts=facts)


@regression(warns=("The kernel matrix is not positive semidefinite",))
def a_grid_for_every_kernel(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    param_grid = [
        {"kernel": ["linear"], "C": [1.0, 3.0, 10.0]},
        {"kernel": ["rbf"], "C": [1.0, 10.0, 30.0], "gamma": [0.03, 0.1, 0.3]},
        {"kernel": ["sigmoid"], "C": [0.1, 1.0], "gamma": [0.01]},
    ]
    search = GridSearchCV(SVR(), param_grid, cv=4, scoring="neg_mean_squared_error")
    search.fit(X_train, y_train)
    rmse = np.sqrt(-search.best_score_)
    lines = [f"{np.sqrt(-s):.3f} {p}" for s, p in zip(search.cv_results_["mean_test_score"],
             search.cv_results_["params"], strict=True)]  # fmt: skip
    facts = {"rmse": rmse, "lines": lines}
    return Ran(search, errors=y_test - search.predict(X_test), facts=facts)


@regression()
def degrees_of_a_polynomial(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    model = make_pipeline(MinMaxScaler(), SVR(kernel="poly", gamma="auto"))
    grid = {"svr__degree": [1, 2, 3], "svr__coef0": [0.0, 1.0], "svr__C": [1, 10]}
    search = GridSearchCV(model, grid, cv=KFold(4, shuffle=True, random_state=0))
    search.fit(X_train, y_train)
    return Ran(search, errors=y_test - search.predict(X_test))


@regression()
def scaled_inside_the_folds(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = diabetes()
    pipe = Pipeline([("scaler", StandardScaler()), ("svr", SVR())])
    params = {
        "svr__C": np.logspace(-1, 2, 4),
        "svr__gamma": np.logspace(-3, 0, 4),
        "svr__epsilon": [0.1, 1, 10],
    }
    gs = GridSearchCV(estimator=pipe, param_grid=params, cv=5,
                      scoring="neg_root_mean_squared_error", refit=True)  # fmt: skip
    gs.fit(X_train, y_train)
    table = pd.DataFrame(gs.cv_results_)[["params", "mean_test_score", "rank_test_score"]]
    return Ran(gs, errors=y_test - gs.predict(X_test), facts={"head": table.head()})


@regression()
def products_of_features(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = diabetes(120)
    steps = [("poly", PolynomialFeatures(include_bias=False)), ("mm", MinMaxScaler()),
             ("reg", SVR(kernel="linear"))]  # fmt: skip
    grid = {"poly__degree": [1, 2], "reg__C": [0.1, 1, 10], "reg__epsilon": [1, 10]}
    search = GridSearchCV(Pipeline(steps), grid, cv=4, scoring="neg_mean_absolute_error")
    search.fit(X_train, y_train)
    return Ran(search, errors=y_test - search.predict(X_test), facts={"mae": -search.best_score_})


@regression()
def components_first(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    pipe = make_pipeline(StandardScaler(), PCA(random_state=0), SVR())
    grid = {"pca__n_components": [3, 6, 10], "svr__C": [1, 10], "svr__gamma": [0.05, 0.2]}
    search = GridSearchCV(pipe, grid, cv=3, return_train_score=True).fit(X_train, y_train)
    gap = search.cv_results_["mean_train_score"] - search.cv_results_["mean_test_score"]
    return Ran(search, errors=y_test - search.predict(X_test), facts={"gap": gap})


@regression()
def the_features_that_correlate(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman(noise=2.0)
    pipe = Pipeline([("kbest", SelectKBest(f_regression)), ("scale", StandardScaler()),
                     ("svr", SVR())])  # fmt: skip
    grid = {"kbest__k": [3, 5, "all"], "svr__C": [1, 10], "svr__gamma": ["scale", "auto"]}
    search = GridSearchCV(pipe, grid, cv=5, scoring="neg_mean_squared_error")
    search.fit(X_train, y_train)
    kept = search.best_estimator_.named_steps["kbest"].get_support()
    return Ran(search, errors=y_test - search.predict(X_test), facts={"kept": kept})


@regression()
def columns_of_a_table(GridSearchCV, RandomizedSearchCV):
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"area": rng.uniform(40, 200, 260), "age": rng.integers(0, 60, 260),
                       "district": rng.choice(["north", "south", "centre"], 260)})  # fmt: skip
    df["rent"] = (
        6 * df.area - 3 * df.age + df.district.map({"north": 0, "south": 90, "centre": 300})
    )
    df["rent"] += rng.normal(0, 60, 260)
    X_train, X_test, y_train, y_test = train_test_split(
        df.drop(columns="rent"), df["rent"], test_size=0.4, random_state=42
    )
    prepare = ColumnTransformer([
        ("num", StandardScaler(), ["area", "age"]),
        ("cat", OneHotEncoder(handle_unknown="ignore"), ["district"]),
    ])  # fmt: skip
    model = Pipeline([("prepare", prepare), ("svr", SVR(kernel="rbf"))])
    search = GridSearchCV(model, {"svr__C": [10, 100, 1000], "svr__epsilon": [1, 20]}, cv=5,
                          scoring="neg_mean_absolute_error").fit(X_train, y_train)  # fmt: skip
    predicted = pd.Series(search.predict(X_test), index=y_test.index)
    facts = {"mae": mean_absolute_error(y_test, predicted)}
    return Ran(search, errors=(y_test - predicted).to_numpy(), facts=facts)


@regression()
def several_scores_and_the_one_to_select_by(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    scoring = ["r2", "neg_mean_squared_error", "neg_median_absolute_error", MAX_ERROR,
               "explained_variance"]  # fmt: skip
    search = GridSearchCV(make_pipeline(StandardScaler(), SVR()), {"svr__C": [1, 10, 100]},
                          scoring=scoring, refit="neg_mean_squared_error", cv=5,
                          return_train_score=True)  # fmt: skip
    search.fit(X_train, y_train)
    means = [search.cv_results_[f"mean_test_{name}"] for name in scoring]
    return Ran(search, errors=y_test - search.predict(X_test), facts={"means": means})


def percentage(y, predicted):
    """Mean absolute error in per cent of the targets."""
    return 100 * np.mean(np.abs((y - predicted) / np.maximum(np.abs(y), 1.0)))


@regression()
def errors_in_per_cent(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = diabetes()
    mape = make_scorer(percentage, greater_is_better=False)
    grid = {"svr__C": [1, 10, 100], "svr__epsilon": [0.5, 5, 20]}
    search = GridSearchCV(make_pipeline(StandardScaler(), SVR()), grid, scoring=mape, cv=5)
    search.fit(X_train, y_train)
    return Ran(search, errors=y_test - search.predict(X_test), facts={"score": search.best_score_})


def rank_correlation(estimator, X, y):
    return spearmanr(y, estimator.predict(X)).statistic


@regression()
def opinions_by_their_order(GridSearchCV, RandomizedSearchCV):
    """As of the quality of videos."""
    X_train, X_test, y_train, y_test = friedman()
    scaler = MinMaxScaler(feature_range=(-1, 1)).fit(X_train)
    grid = {"C": np.logspace(0, 5, 3, base=2), "gamma": np.logspace(-6, -2, 3, base=2)}
    search = GridSearchCV(SVR(), grid, scoring=rank_correlation, cv=3)
    search.fit(scaler.transform(X_train), y_train)
    return Ran(search, errors=y_test - search.predict(scaler.transform(X_test)))


@regression()
def two_scores_by_a_dictionary(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = diabetes(140)
    scoring = {"MAE": "neg_mean_absolute_error", "MSE": make_scorer(
        mean_squared_error, greater_is_better=False)}  # fmt: skip
    search = GridSearchCV(SVR(kernel="linear"), {"C": [1, 10, 100]}, scoring=scoring, refit=False,
                          cv=KFold(5)).fit(X_train, y_train)  # fmt: skip
    best = search.cv_results_["params"][int(np.argmax(search.cv_results_["mean_test_MAE"]))]
    model = SVR(kernel="linear", **best).fit(X_train, y_train)
    return Ran(search, errors=y_test - model.predict(X_test))


@regression()
def random_splits_of_a_regression(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    cv = ShuffleSplit(n_splits=6, test_size=0.3, random_state=0)
    search = GridSearchCV(SVR(gamma="auto"), {"C": [0.5, 5, 50], "epsilon": [0.0, 0.5]}, cv=cv)
    search.fit(X_train, y_train)
    return Ran(search, errors=y_test - search.predict(X_test), facts={"std": search.best_score_})


@regression()
def tomorrow_from_the_last_days(GridSearchCV, RandomizedSearchCV):
    X, y = series()
    model = make_pipeline(MinMaxScaler(), SVR(kernel="rbf"))
    space = {"svr__C": loguniform(1e-1, 1e3), "svr__epsilon": uniform(0.01, 0.5),
             "svr__gamma": ["scale", 0.1, 1]}  # fmt: skip
    search = RandomizedSearchCV(model, space, n_iter=10, cv=TimeSeriesSplit(n_splits=4),
                                scoring="neg_mean_squared_error", random_state=42)  # fmt: skip
    search.fit(X[:190], y[:190])
    return Ran(search, errors=y[190:] - search.predict(X[190:]))


@regression()
def one_row_at_a_time(GridSearchCV, RandomizedSearchCV):
    X, y = load_diabetes(return_X_y=True)
    X, y, new, values = X[:40], y[:40], X[40:240], y[40:240]
    grid = {"svr__C": [1, 10], "svr__kernel": ["linear", "rbf"]}
    search = GridSearchCV(make_pipeline(StandardScaler(), SVR()), grid, cv=LeaveOneOut(),
                          scoring="neg_mean_absolute_error").fit(X, y)  # fmt: skip
    facts = {"n": search.n_splits_, "mae": -search.best_score_}
    return Ran(search, errors=values - search.predict(new), facts=facts)


@regression()
def folds_three_times(GridSearchCV, RandomizedSearchCV):
    X, y = make_regression(120, 6, n_informative=4, noise=15, random_state=2)
    cv = RepeatedKFold(n_splits=4, n_repeats=3, random_state=1)
    model = make_pipeline(StandardScaler(), SVR(kernel="linear"))
    search = GridSearchCV(model, {"svr__C": [0.1, 1, 10]}, cv=cv, scoring="r2").fit(X[:80], y[:80])
    mean, std = search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"]
    return Ran(search, errors=y[80:] - search.predict(X[80:]), facts={"mean": mean, "std": std})


@regression()
def persons_stay_together(GridSearchCV, RandomizedSearchCV):
    X, y = make_friedman1(240, noise=1.0, random_state=4)
    person = np.arange(240) // 8
    y = y + np.random.default_rng(0).standard_normal(30)[person]
    train, test = person < 18, person >= 18
    search = GridSearchCV(SVR(), {"C": [1, 10, 100], "gamma": ["scale", 0.3]}, cv=GroupKFold(6))
    search.fit(X[train], y[train], groups=person[train])
    return Ran(search, errors=y[test] - search.predict(X[test]))


@regression()
def folds_that_are_given(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    fold = np.random.default_rng(5).integers(-1, 3, y_train.size)
    search = RandomizedSearchCV(SVR(), {"C": np.logspace(1, 6, 6, base=2),
                                "gamma": np.logspace(-6, 0, 6, base=2)}, n_iter=8,
                                cv=PredefinedSplit(fold), random_state=0)  # fmt: skip
    search.fit(X_train, y_train)
    return Ran(search, errors=y_test - search.predict(X_test))


@regression()
def drawn_by_scale(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = diabetes()
    space = {"C": expon(scale=30), "gamma": loguniform(1e-2, 1e1), "epsilon": expon(scale=5),
             "kernel": ["rbf"]}  # fmt: skip
    search = RandomizedSearchCV(SVR(), space, n_iter=12, cv=3, random_state=7)
    search.fit(X_train, y_train)
    return Ran(search, errors=y_test - search.predict(X_test), facts={"best": search.best_params_})


@regression(folds=False)
def a_search_without_folds(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    sc_X = StandardScaler().fit(X_train)
    grid = {"kernel": ["rbf"], "C": [0.1, 1, 10, 100, 1000], "gamma": [1, 0.1, 0.01, 0.001]}
    search = GridSearchCV(SVR(), grid, refit=True, verbose=0).fit(sc_X.transform(X_train), y_train)
    score = search.score(sc_X.transform(X_test), y_test)
    return Ran(search, errors=y_test - search.predict(sc_X.transform(X_test)),
               facts={"score": score})  # fmt: skip


@regression(folds=False)
def drawn_from_lists_without_folds(GridSearchCV, RandomizedSearchCV):
    X, y = make_friedman2(300, noise=40.0, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, test_size=0.5)
    model = make_pipeline(StandardScaler(), SVR())
    space = {"svr__C": np.logspace(0, 4, 20).tolist(), "svr__gamma": np.arange(0.05, 1, 0.05)}
    search = RandomizedSearchCV(model, space, n_iter=12, random_state=1).fit(X_train, y_train)
    return Ran(search, errors=y_test - search.predict(X_test))


@program(warns=SAID)
def nu_instead_of_a_tube(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = diabetes()
    search = GridSearchCV(make_pipeline(StandardScaler(), NuSVR()), {"nusvr__nu": [0.2, 0.5, 0.8],
                          "nusvr__C": [1, 10, 100]}, cv=5).fit(X_train, y_train)  # fmt: skip
    return Ran(search, errors=y_test - search.predict(X_test))


@program(warns=SAID)
def a_linear_svr(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    model = make_pipeline(StandardScaler(), LinearSVR(random_state=42, max_iter=20000))
    grid = {"linearsvr__C": [0.01, 0.1, 1], "linearsvr__epsilon": [0.0, 0.5]}
    search = GridSearchCV(model, grid, cv=3, scoring="neg_mean_squared_error")
    search.fit(X_train, y_train)
    weights = search.best_estimator_[-1].coef_
    return Ran(search, errors=y_test - search.predict(X_test), facts={"weights": weights})


@program(warns=SAID)
def a_regressor_as_a_parameter(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = diabetes()
    pipe = Pipeline([("scaler", StandardScaler()), ("reg", LinearRegression())])
    grid = [{"reg": [SVR()], "reg__C": [1, 10, 100]}, {"reg": [Ridge()], "reg__alpha": [0.1, 10]}]
    search = GridSearchCV(pipe, grid, cv=5, scoring="r2").fit(X_train, y_train)
    return Ran(search, errors=y_test - search.predict(X_test))
