"""Programs that tune an SVC run with our searches in the place of GridSearchCV, as before.

Each program (``tests/programs``) runs twice, and everything that can be compared is.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from dataclasses import dataclass
from importlib.util import find_spec

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, OneClassSVM

from spansvm import SpanRandomizedSearch, SpanSearch
from tests.programs import PROGRAMS, Program, Ran

#: Columns of a search by single rows that a search by folds does not have, and vice versa: a search
#: by single rows has one score per candidate.
SPLITS_BEYOND_THE_FIRST = tuple(f"split{k}_" for k in range(1, 100))


@dataclass
class Both:
    """A program, and its runs with the classes of scikit-learn and with ours."""

    program: Program
    theirs: Ran
    ours: Ran
    their_warnings: set
    our_warnings: set


def run(program, *classes):
    """What a program returns and warns of; it may print what it likes.

    `n_jobs` are threads: processes take longer to start than any of the programs runs.
    """
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(io.StringIO()),
        joblib.parallel_config(backend="threading"),
    ):
        warnings.simplefilter("always")
        ran = program.run(*classes)
    return ran, {(warning.category, str(warning.message)) for warning in caught}


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda program: program.name)
def both(request):
    program = request.param
    if program.needs and find_spec(program.needs) is None:
        pytest.skip(f"{program.needs} is not installed")
    theirs, their_warnings = run(program, GridSearchCV, RandomizedSearchCV)
    ours, our_warnings = run(program, SpanSearch, SpanRandomizedSearch)
    return Both(program, theirs, ours, their_warnings, our_warnings)


def test_there_are_enough_of_them():
    assert len(PROGRAMS) >= 40
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)


def test_it_warns_of_nothing_new(both):
    """Of what scikit-learn warns of, or of what the program says."""
    known = {text.split("\n")[0][:60] for _, text in both.their_warnings}
    new = [
        (category.__name__, text)
        for category, text in both.our_warnings
        if text.split("\n")[0][:60] not in known and not text.startswith(both.program.warns)
    ]
    assert not new


def test_the_model_is_not_worse(both):
    """On the test rows, at most two standard errors of the difference.

    Only rows count that one model predicts correctly and the other does not.  If both models were
    equally good, each would be right on half of these; the difference between the two counts has
    the standard error ``sqrt(count)``.
    """
    theirs, ours = both.theirs.right, both.ours.right
    if theirs is None:
        pytest.skip("the program has no test rows")
    lost, won = int((theirs & ~ours).sum()), int((ours & ~theirs).sum())
    assert lost - won <= 2 * np.sqrt(lost + won)


def test_folds_have_the_same_scores(both):
    """Those of all candidates, splits and scorers; `cv` decides nothing else."""
    if not both.program.folds:
        pytest.skip("the program has no cv, or its predictions need a calibration")
    theirs, ours = both.theirs.search, both.ours.search
    assert same(ours.cv_results_["params"], theirs.cv_results_["params"])
    slack = both.program.slack
    for name, scores in theirs.cv_results_.items():
        if "_test_" not in name or (slack and name.startswith("rank_")):
            continue
        if slack:
            np.testing.assert_allclose(ours.cv_results_[name], scores, 0, slack, err_msg=name)
        else:
            np.testing.assert_array_equal(ours.cv_results_[name], scores, err_msg=name)


def same(ours, theirs):
    """Whether candidates are the same; their steps are copies, which are equal only as text."""
    return str(ours) == str(theirs)


def test_the_results_have_the_same_columns(both):
    theirs, ours = both.theirs.search, both.ours.search
    if theirs is None:
        pytest.skip("the program has its search inside something else")
    by_folds = ours.method_ == "kfold"
    for name, column in theirs.cv_results_.items():
        if by_folds or not name.startswith(SPLITS_BEYOND_THE_FIRST):
            assert len(ours.cv_results_[name]) == len(column), name
            if name.startswith("param_"):
                assert ours.cv_results_[name].dtype == column.dtype, name
    public = [name for name in vars(theirs) if not name.startswith("_")]
    assert not [name for name in public if not hasattr(ours, name)]


def test_what_it_goes_on_with_has_the_same_form(both):
    assert both.ours.facts.keys() == both.theirs.facts.keys()
    for name, theirs in both.theirs.facts.items():
        assert form(both.ours.facts[name]) == form(theirs), name


def form(value):
    """The kind of a value, and how many there are of it."""
    if isinstance(value, pd.DataFrame):
        return "table", value.shape, list(value.columns)
    if isinstance(value, dict):
        return "dict", sorted(value)
    if isinstance(value, (list, tuple)):
        return "list", len(value)
    if isinstance(value, np.ndarray):
        return "array", value.shape, value.dtype.kind
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return "number", np.isfinite(value)
    return type(value), value if isinstance(value, (bool, type)) else None


X, Y = load_wine(return_X_y=True)
ONE = {"C": [1]}
TWO_SCORES = ["accuracy", "f1_macro"]
GAPS = np.where(X > 2, np.nan, 1.0)

#: Mistakes, and what they raise: with scikit-learn's classes and with ours.
MISTAKES = {
    "a parameter that is unknown": (ValueError, lambda s: s(SVC(), {"c": [1]}, cv=3).fit(X, Y)),
    "a grid that is no list": (TypeError, lambda s: s(SVC(), {"C": 1}, cv=3).fit(X, Y)),
    "an empty list": (ValueError, lambda s: s(SVC(), {"C": []}, cv=3).fit(X, Y)),
    "one fold": (ValueError, lambda s: s(SVC(), ONE, cv=1).fit(X, Y)),
    "more folds than rows": (ValueError, lambda s: s(SVC(), ONE, cv=500).fit(X, Y)),
    "an unknown score": (ValueError, lambda s: s(SVC(), ONE, scoring="acuracy").fit(X, Y)),
    "none of two scores": (ValueError, lambda s: s(SVC(), ONE, scoring=TWO_SCORES).fit(X, Y)),
    "too few labels": (ValueError, lambda s: s(SVC(), ONE, cv=3).fit(X, Y[1:])),
    "one class": (ValueError, lambda s: s(SVC(), ONE, cv=3).fit(X, np.ones(len(Y)))),
    "missing values": (ValueError, lambda s: s(SVC(), ONE, cv=3).fit(GAPS, Y)),
    "numbers as labels": (ValueError, lambda s: s(SVC(), ONE, cv=3).fit(X, Y + X[:, 0])),
    "not fitted": (NotFittedError, lambda s: s(SVC(), ONE).predict(X)),
    "not refitted": (AttributeError, lambda s: s(SVC(), ONE, refit=False).fit(X, Y).predict(X)),
    "no probabilities": (AttributeError, lambda s: s(SVC(), ONE).fit(X, Y).predict_proba(X)),
    "other columns": (ValueError, lambda s: s(SVC(), ONE).fit(X, Y).predict(X[:, 1:])),
    "groups without groups": (ValueError, lambda s: s(SVC(), ONE, cv=GroupKFold(3)).fit(X, Y)),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.filterwarnings("ignore::UserWarning")  # what led to it
def test_mistakes_raise_what_they_raised(name):
    kind, make = MISTAKES[name]
    for search in (GridSearchCV, SpanSearch):
        with pytest.raises(kind, match=r"^(?s:.{20})"):
            make(search)


REFUSED = {
    "NuSVC": (NuSVC(), "SVC"),
    "LinearSVC": (LinearSVC(), r"SVC\(kernel='linear'\)"),
    "SVR": (SVR(), "GridSearchCV"),
    "OneClassSVM": (OneClassSVM(), "GridSearchCV"),
    "LogisticRegression": (LogisticRegression(), "GridSearchCV"),
    "RandomForestClassifier": (RandomForestClassifier(), "GridSearchCV"),
    "KMeans": (KMeans(), "GridSearchCV"),
    "AdaBoostClassifier": (AdaBoostClassifier(SVC()), "GridSearchCV"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_other_estimators_are_refused_with_what_to_use(name, in_pipeline):
    estimator, what = REFUSED[name]
    if in_pipeline:
        estimator = make_pipeline(StandardScaler(), estimator)
    with pytest.raises(TypeError, match=f"(?s){name}.*{what}"):
        SpanSearch(estimator, {}).fit(X, Y)


def test_a_machine_in_the_grid_is_refused_too():
    pipe = make_pipeline(StandardScaler(), SVC())
    with pytest.raises(TypeError, match=r"(?s)LinearSVC.*SVC\(kernel='linear'\)"):
        SpanSearch(pipe, {"svc": [SVC(), LinearSVC()]}, error_score="raise").fit(X, Y)


def test_new_rows_cannot_be_made_from_rows_that_are_left_out():
    over_sampling = pytest.importorskip("imblearn.over_sampling")
    from imblearn.pipeline import make_pipeline

    pipe = make_pipeline(over_sampling.SMOTE(random_state=0), SVC())
    with pytest.raises((TypeError, ValueError), match=r"(?s)SMOTE.*cv"):
        SpanSearch(pipe, {"svc__C": [1, 10]}, method="span_rule").fit(X, Y)
