"""Programs whose SVC is the last step of something: scalers, selections, texts, tables."""

from __future__ import annotations

import tempfile

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    LabelEncoder,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC

from . import Ran, data, program


def customers(rows=240, seed=0):
    """A table with numbers, names and gaps, and whether a customer left."""
    rng = np.random.default_rng(seed)
    months, fee = rng.integers(1, 60, rows), rng.normal(60, 20, rows)
    contract = rng.choice(["monthly", "yearly", "two years"], rows)
    leaves = 2.0 * (contract == "monthly") + fee / 30 - months / 15 + rng.normal(0, 1, rows) > 1.5
    fee[rng.random(rows) < 0.1] = np.nan
    table = pd.DataFrame({"months": months, "fee": fee, "contract": contract})
    return table, pd.Series(np.where(leaves, "left", "stayed"), name="outcome")


def sentences(rows=160, seed=0):
    """Short texts about two subjects, with words in common."""
    rng = np.random.default_rng(seed)
    words = {
        "sport": ["match", "goal", "team", "coach", "league", "score", "player"],
        "space": ["orbit", "rocket", "moon", "launch", "probe", "star", "planet"],
    }
    common = ["the", "was", "today", "great", "long", "new", "first", "season", "team", "launch"]
    labels = rng.choice(list(words), rows)
    texts = [" ".join([*rng.choice(words[label], 2), *rng.choice(common, 6)]) for label in labels]
    return texts, labels


@program()
def numbers_and_names(GridSearchCV, RandomizedSearchCV):
    X, y = customers()
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    columns = ColumnTransformer(
        [
            ("num", numbers, make_column_selector(dtype_include=np.number)),
            ("cat", OneHotEncoder(handle_unknown="ignore"), ["contract"]),
        ]
    )
    model = Pipeline([("preprocess", columns), ("classifier", SVC())])
    grid = {
        "preprocess__num__simpleimputer__strategy": ["mean", "median"],
        "classifier__C": [0.1, 1, 10],
        "classifier__kernel": ["linear", "rbf"],
    }
    search = GridSearchCV(model, grid, cv=4, scoring="accuracy").fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"names": search.feature_names_in_})


@program()
def tables_with_names(GridSearchCV, RandomizedSearchCV):
    iris = load_iris(as_frame=True)
    X, y = iris.data, iris.target.map(dict(enumerate(iris.target_names)))
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=5)
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [1, 0.1, 0.01]}, cv=5, refit=True)
    search.fit(X_train, y_train)
    table = pd.DataFrame({"true": y_test, "predicted": search.predict(X_test)})
    facts = {"classes": search.classes_, "n": search.n_features_in_, "shape": table.shape}
    return Ran(search, (table["true"] == table["predicted"]).to_numpy(), facts)


@program()
def a_column_as_target(GridSearchCV, RandomizedSearchCV):
    X, y = customers(160, seed=3)
    encoder = LabelEncoder()
    target = encoder.fit_transform(y)
    X = X[["months", "fee"]].fillna(X["fee"].mean())
    X_train, X_test, y_train, y_test = train_test_split(X, target, random_state=0)
    model = make_pipeline(MinMaxScaler(), SVC())
    search = GridSearchCV(model, {"svc__C": [1, 10, 100]}, cv=5).fit(X_train, y_train)
    names = encoder.inverse_transform(search.predict(X_test))
    return Ran(search, names == encoder.inverse_transform(y_test), {"names": names})


@program()
def words_of_texts(GridSearchCV, RandomizedSearchCV):
    texts, labels = sentences()
    X_train, X_test, y_train, y_test = train_test_split(texts, labels, random_state=0)
    pipeline = Pipeline([("tfidf", TfidfVectorizer()), ("svm", SVC())])
    grid = {
        "tfidf__ngram_range": [(1, 1), (1, 2)],
        "tfidf__sublinear_tf": [True, False],
        "svm__kernel": ["linear", "rbf"],
        "svm__C": [0.5, 5],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test, {"best": search.best_params_})


@program()
def counted_words(GridSearchCV, RandomizedSearchCV):
    texts, labels = sentences(120, seed=2)
    clf = Pipeline(
        [("vect", CountVectorizer()), ("tfidf", TfidfTransformer()), ("clf", SVC(kernel="linear"))]
    )
    parameters = {"vect__max_df": (0.5, 1.0), "tfidf__use_idf": (True, False), "clf__C": (0.1, 1)}
    search = GridSearchCV(clf, parameters, cv=3, n_jobs=-1).fit(texts, labels)
    new, answers = sentences(80, seed=9)
    return Ran(search, search.predict(new) == answers)


@program()
def selected_features(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=180)
    pipe = Pipeline(
        [("scale", StandardScaler()), ("select", SelectKBest(f_classif)), ("svc", SVC())]
    )
    grid = {"select__k": [3, 10, "all"], "svc__C": [1, 10]}
    search = GridSearchCV(pipe, grid, cv=4).fit(X_train, y_train)
    kept = search.best_estimator_.named_steps["select"].get_support()
    return Ran(search, search.predict(X_test) == y_test, {"kept": kept})


@program(warns=("The step 'select' (SelectKBest) looks at the labels.",))
def selected_features_without_folds(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=180)
    pipe = Pipeline([("scale", StandardScaler()), ("select", SelectKBest()), ("svc", SVC())])
    grid = {"select__k": [3, 10], "svc__C": [1, 10], "svc__gamma": [0.01, 0.1]}
    search = GridSearchCV(pipe, grid).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program(folds=False)
def components_without_folds(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("cancer", rows=200)
    pipe = make_pipeline(StandardScaler(), PCA(random_state=0), SVC())
    grid = {"pca__n_components": [2, 5, 10], "svc__C": [0.1, 1, 10], "svc__gamma": [0.01, 0.1]}
    search = GridSearchCV(pipe, grid).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program(slack=1.01 / 28)  # one of 28 rows is on the boundary, to the last bit
def features_side_by_side(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("iris")
    both = FeatureUnion([("pca", PCA(n_components=2)), ("univ_select", SelectKBest(k=1))])
    pipeline = Pipeline([("features", both), ("svm", SVC(kernel="linear"))])
    grid = {
        "features__pca__n_components": [1, 2],
        "features__univ_select__k": [1, 2],
        "svm__C": [0.1, 1, 10],
    }
    search = GridSearchCV(pipeline, param_grid=grid, cv=4).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def which_scaler(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    pipe = Pipeline([("scaler", StandardScaler()), ("svc", SVC())])
    grid = {
        "scaler": [StandardScaler(), MinMaxScaler(), RobustScaler(), "passthrough"],
        "svc__C": [1, 10],
    }
    search = GridSearchCV(pipe, grid, cv=4).fit(X_train, y_train)
    chosen = type(search.best_params_["scaler"]).__name__
    return Ran(search, search.predict(X_test) == y_test, {"chosen": chosen})


@program()
def which_machine(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    pipe = Pipeline([("sc", StandardScaler()), ("clf", SVC())])
    grid = [
        {"clf": [SVC(), SVC(kernel="linear")], "clf__C": [0.1, 1]},
        {"clf": [SVC(kernel="poly")], "clf__degree": [2, 3]},
    ]
    search = GridSearchCV(pipe, grid, cv=4).fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def a_place_for_the_machine(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    pipe = Pipeline([("sc", None), ("clf", None)])
    grid = {
        "sc": [StandardScaler(), MinMaxScaler()],
        "clf": [SVC()],
        "clf__C": [0.1, 1, 10],
    }
    cv = StratifiedKFold(4)
    search = GridSearchCV(pipe, grid, cv=cv, scoring="accuracy").fit(X_train, y_train)
    return Ran(search, search.predict(X_test) == y_test)


@program()
def kept_transformers(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("digits", rows=160)
    with tempfile.TemporaryDirectory() as folder:
        pipe = Pipeline([("reduce", PCA(random_state=0)), ("svc", SVC())], memory=folder)
        grid = {"reduce__n_components": [4, 12], "svc__C": [1, 10, 100]}
        search = GridSearchCV(pipe, grid, cv=3).fit(X_train, y_train)
        right = search.predict(X_test) == y_test
    return Ran(search, right)


@program()
def a_function_first(GridSearchCV, RandomizedSearchCV):
    X_train, X_test, y_train, y_test = data("wine")
    pipe = make_pipeline(
        FunctionTransformer(np.log1p), VarianceThreshold(), StandardScaler(), SVC()
    )
    cv = StratifiedKFold(n_splits=3, shuffle=True, random_state=0)
    search = GridSearchCV(pipe, {"svc__C": [0.1, 1, 10]}, cv=cv).fit(X_train, y_train)
    steps = list(search.best_estimator_.named_steps)
    return Ran(search, search.predict(X_test) == y_test, {"steps": steps})
