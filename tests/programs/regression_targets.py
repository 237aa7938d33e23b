"""Programs that tune an SVR: what its targets are, which rows count, what is around the search."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
from scipy.stats import loguniform
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_linnerud, make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import mean_squared_error, root_mean_squared_error
from sklearn.model_selection import (
    KFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    train_test_split,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR

from . import Ran, program
from .other_models import SAID
from .regression import diabetes, friedman, regression


def houses(rows=200):
    """Prices of 100,000 and more, skewed, with names for the columns."""
    rng = np.random.default_rng(8)
    table = pd.DataFrame({"rooms": rng.integers(1, 8, rows + 150),
                          "area": rng.uniform(30, 250, rows + 150),
                          "distance": rng.exponential(8, rows + 150)})  # fmt: skip
    logs = 11.4 + 0.006 * table.area + 0.04 * table.rooms - 0.02 * table.distance
    prices = np.round(np.exp(logs + 0.12 * rng.standard_normal(len(table))), -2).rename("price")
    return train_test_split(table, prices, train_size=rows, random_state=0)


@regression()
def the_logarithm_of_a_price(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = houses()
    model = TransformedTargetRegressor(
        regressor=Pipeline([("scale", StandardScaler()), ("svr", SVR())]),
        func=np.log1p, inverse_func=np.expm1,
    )  # fmt: skip
    grid = {"regressor__svr__C": [0.1, 1, 10], "regressor__svr__epsilon": [0.01, 0.1]}
    search = GridSearchCV(model, grid, cv=5, scoring="neg_root_mean_squared_error")
    search.fit(X_train, y_train)
    errors = np.log(y_test) - np.log(search.predict(X_test))
    return Ran(search, errors=errors.to_numpy(), facts={"rmse": -search.best_score_})


@regression()
def targets_on_the_scale_of_one(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = diabetes()
    svr_pipeline = Pipeline([("scaler", StandardScaler()), ("svr", SVR(kernel="rbf"))])
    model = TransformedTargetRegressor(regressor=svr_pipeline, transformer=StandardScaler())
    param_grid = {
        "regressor__svr__C": [0.1, 1, 10],
        "regressor__svr__gamma": ["scale", 0.1, 0.01],
        "regressor__svr__epsilon": [0.01, 0.1, 0.5],
    }
    grid = GridSearchCV(model, param_grid, cv=5, scoring="r2", n_jobs=-1).fit(X_train, y_train)
    return Ran(grid, errors=y_test - grid.best_estimator_.predict(X_test))


@regression()
def a_scaled_target_inside_a_pipeline(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    target = TransformedTargetRegressor(SVR(), transformer=MinMaxScaler())
    pipe = make_pipeline(StandardScaler(), target)
    grid = {"transformedtargetregressor__regressor__C": [0.1, 1, 10],
            "transformedtargetregressor__regressor__epsilon": [0.01, 0.05]}  # fmt: skip
    search = GridSearchCV(pipe, grid, cv=4, scoring="neg_mean_absolute_error")
    search.fit(X_train, y_train)
    return Ran(search, errors=y_test - search.predict(X_test))


@regression()
def targets_scaled_by_hand(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = houses(140)
    sc_X, sc_y = StandardScaler(), StandardScaler()
    X = sc_X.fit_transform(X_train)
    y = sc_y.fit_transform(y_train.values.reshape(-1, 1)).ravel()
    search = GridSearchCV(SVR(kernel="rbf"), {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1]}, cv=5)
    search.fit(X, y)
    scaled = search.predict(sc_X.transform(X_test)).reshape(-1, 1)
    predicted = sc_y.inverse_transform(scaled).ravel()
    return Ran(search, errors=y_test.to_numpy() - predicted, facts={"best": search.best_params_})


@regression()
def prices_as_they_are(GridSearchCV, RandomizedSearchCV):
    """With a C that is far too small for them: no better than their mean."""
    X_train, X_test, y_train, y_test = houses()
    scaler = StandardScaler().fit(X_train)
    grid = {"C": [0.1, 1, 10], "gamma": ["scale", 0.01, 0.1], "epsilon": [0.1, 0.5, 1]}
    search = GridSearchCV(SVR(kernel="rbf"), grid, cv=5, scoring="neg_mean_squared_error")
    search.fit(scaler.transform(X_train), y_train)
    predicted = search.predict(scaler.transform(X_test))
    facts = {"r2": search.best_estimator_.score(scaler.transform(X_test), y_test)}
    return Ran(search, errors=y_test.to_numpy() - predicted, facts=facts)


@regression()
def a_column_of_targets(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    frame = pd.DataFrame({"target": y_train})
    y = frame[["target"]].values
    assert y.shape == (150, 1)
    search = GridSearchCV(SVR(), {"C": [1, 10], "epsilon": [0.1, 0.2, 0.5]}, cv=5)
    search.fit(X_train, y.ravel())
    return Ran(search, errors=y_test - search.predict(X_test).ravel())


@regression()
def grades(GridSearchCV, RandomizedSearchCV):
    """Integers, and a tube that ends on them."""
    X, values = make_friedman1(320, noise=1.5, random_state=6)
    y = np.clip(np.round(values / 4), 1, 6).astype(int)
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=140, random_state=0)
    grid = {"svr__C": [0.1, 1, 10], "svr__epsilon": [0.0, 0.1, 0.5, 1.0]}
    search = GridSearchCV(make_pipeline(StandardScaler(), SVR()), grid, cv=5,
                          scoring="neg_mean_absolute_error").fit(X_train, y_train)  # fmt: skip
    predicted = np.rint(search.predict(X_test)).astype(int)
    facts = {"exact": float(np.mean(predicted == y_test))}
    return Ran(search, errors=y_test - search.predict(X_test), facts=facts)


@regression()
def tables_and_series(GridSearchCV, RandomizedSearchCV):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.6, random_state=3)
    search = GridSearchCV(SVR(), {"C": [1, 10, 100], "kernel": ["rbf", "linear"]}, cv=3)
    search.fit(X_train, y_train)
    table = pd.DataFrame({"actual": y_test, "predicted": search.predict(X_test)})
    facts = {"table": table, "names": list(search.feature_names_in_)}
    return Ran(search, errors=(table.actual - table.predicted).to_numpy(), facts=facts)


@regression()
def recent_rows_count_more(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    weights = np.linspace(0.2, 1.0, y_train.size)
    search = GridSearchCV(SVR(gamma="scale"), {"C": [1, 10, 100], "epsilon": [0.1, 0.5]}, cv=5)
    search.fit(X_train, y_train, sample_weight=weights)
    return Ran(search, errors=y_test - search.predict(X_test))


@regression()
def weights_for_the_last_step(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = diabetes(150)
    weights = np.where(y_train > np.median(y_train), 2.0, 0.5)
    search = GridSearchCV(make_pipeline(StandardScaler(), SVR()), {"svr__C": [1, 10, 50]}, cv=4,
                          scoring="neg_mean_squared_error")  # fmt: skip
    search.fit(X_train, y_train, svr__sample_weight=weights)
    return Ran(search, errors=y_test - search.predict(X_test))


@regression()
def several_targets(GridSearchCV, RandomizedSearchCV):
    X, y = make_friedman1(300, noise=1.0, random_state=9)
    Y = np.column_stack([y, 3 * X[:, 0] - X[:, 4] + 0.3 * np.sin(20 * X[:, 1])])
    X_train, X_test, Y_train, Y_test = train_test_split(X, Y, train_size=120, random_state=0)
    model = MultiOutputRegressor(SVR(kernel="rbf"))
    grid = {"estimator__C": [0.1, 1, 10], "estimator__epsilon": [0.05, 0.2]}
    search = GridSearchCV(model, grid, cv=4, scoring="r2").fit(X_train, Y_train)
    predicted = search.predict(X_test)
    facts = {"predicted": predicted, "rmse": mean_squared_error(Y_test, predicted) ** 0.5}
    return Ran(search, errors=np.linalg.norm(Y_test - predicted, axis=1), facts=facts)


@regression()
def several_targets_after_a_scaler(GridSearchCV, RandomizedSearchCV):
    X, Y = load_linnerud(return_X_y=True)
    pipe = Pipeline([("sc", StandardScaler()), ("svr", MultiOutputRegressor(SVR()))])
    grid = {"svr__estimator__C": [0.1, 1, 10], "svr__estimator__kernel": ["linear", "rbf"]}
    search = GridSearchCV(pipe, grid, cv=KFold(4), scoring="neg_mean_absolute_error").fit(X, Y)
    return Ran(search, facts={"predicted": search.predict(X), "best": search.best_params_})


@regression()
def a_search_for_every_target(GridSearchCV, RandomizedSearchCV):
    X, y = make_friedman1(200, noise=1.0, random_state=10)
    targets = {"level": y, "slope": 10 * X[:, 3] + X[:, 0]}
    rows = []
    for name, values in targets.items():
        search = GridSearchCV(SVR(), {"C": [1, 10], "gamma": ["scale", 0.1]}, cv=3)
        search.fit(X[:100], values[:100])
        rmse = root_mean_squared_error(values[100:], search.predict(X[100:]))
        rows.append({"target": name, "rmse": rmse, **search.best_params_})
    return Ran(search, errors=values[100:] - search.predict(X[100:]),
               facts={"table": pd.DataFrame(rows)})  # fmt: skip


@regression(folds=False)
def a_search_inside_every_target(GridSearchCV, RandomizedSearchCV):
    X, Y = load_linnerud(return_X_y=True)
    tuned = GridSearchCV(estimator=SVR(), cv=3, scoring="neg_mean_absolute_error",
                         param_grid={"C": [0.1, 1, 10], "gamma": [0.01, 0.1]})  # fmt: skip
    model = MultiOutputRegressor(make_pipeline(StandardScaler(), tuned)).fit(X, Y)
    return Ran(None, facts={"predicted": model.predict(X), "n": len(model.estimators_)})


@regression(folds=False)
def a_tuned_regression_inside_cross_validation(GridSearchCV, RandomizedSearchCV):
    X, _, y, _ = friedman(120)
    inner = GridSearchCV(make_pipeline(StandardScaler(), SVR()), {"svr__C": [1, 10, 100]},
                         cv=KFold(3, shuffle=True, random_state=1))  # fmt: skip
    outer = KFold(n_splits=4, shuffle=True, random_state=2)
    scores = cross_val_score(inner, X, y, cv=outer, scoring="r2")
    errors = y - cross_val_predict(inner, X, y, cv=outer)
    return Ran(None, errors=errors, facts={"scores": scores, "mean": scores.mean()})


@regression()
def whether_more_rows_would_help(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman(120)
    search = GridSearchCV(SVR(), {"C": [1, 10, 100], "gamma": [0.1, 1]}, cv=4).fit(X_train, y_train)
    sizes, train, test = learning_curve(search.best_estimator_, X_train, y_train, cv=4,
                                        train_sizes=[0.3, 0.6, 1.0])  # fmt: skip
    facts = {"sizes": sizes, "gap": (train - test).mean(axis=1)}
    return Ran(search, errors=y_test - search.predict(X_test), facts=facts)


@regression()
def what_the_machine_is_made_of(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman()
    search = GridSearchCV(SVR(kernel="linear"), {"C": [0.1, 1, 10]}, cv=3).fit(X_train, y_train)
    best = search.best_estimator_
    facts = {"weights": best.coef_, "intercept": best.intercept_, "names": best.get_params(),
             "share": len(best.support_) / len(y_train), "dual": best.dual_coef_.ndim}  # fmt: skip
    return Ran(search, errors=y_test - best.predict(X_test), facts=facts)


@regression()
def kept_for_later(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = diabetes(150)
    model = make_pipeline(StandardScaler(), SVR())
    search = GridSearchCV(model, {"svr__C": [1, 10, 100]}, cv=3).fit(X_train, y_train)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    return Ran(search, errors=y_test - again.predict(X_test))


@regression(warns=("3 of 9 fits failed",))
def a_tube_that_is_not_possible(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = friedman(90)
    grid = {"epsilon": [-0.1, 0.1, 1.0]}
    search = GridSearchCV(SVR(), grid, cv=3, error_score=np.nan).fit(X_train, y_train)
    return Ran(search, errors=y_test - search.predict(X_test))


@program(warns=SAID)
def next_to_kernel_ridge(GridSearchCV, RandomizedSearchCV):
    """Two searches; the second is not of a machine."""
    X_train, X_test, y_train, y_test = friedman(100)
    svr = GridSearchCV(SVR(gamma=0.1), {"C": [1, 10, 100], "gamma": np.logspace(-2, 1, 4)}, cv=3)
    ridge = RandomizedSearchCV(
        KernelRidge(kernel="rbf"), {"alpha": loguniform(1e-3, 1), "gamma": loguniform(1e-2, 10)},
        n_iter=6, cv=3, random_state=0,
    )  # fmt: skip
    scores = [model.fit(X_train, y_train).score(X_test, y_test) for model in (svr, ridge)]
    ratio = svr.best_estimator_.support_.shape[0] / len(X_train)
    return Ran(ridge, errors=y_test - ridge.predict(X_test), facts={"s": scores, "ratio": ratio})
