"""Programs that tune an SVC or SVR run with our searches in the place of GridSearchCV, as before.

Each program (``tests/programs``) runs twice, and everything that can be compared is.  Where scores
are of predicted numbers, LibSVM's `tol` and its matrix of single precision move all of them: such
programs run once more, with machines that are exact (``tests/exact_svr.py``).
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
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, RandomizedSearchCV
from sklearn.svm import SVC, SVR

from spansvm import SpanRandomizedSearch, SpanSearch
from tests.exact_svr import exact
from tests.programs import PROGRAMS, Program, Ran

#: Columns of a search by single rows that a search by folds does not have, and vice versa: a search
#: by single rows has one score per candidate.
SPLITS_BEYOND_THE_FIRST = tuple(f"split{k}_" for k in range(1, 100))

THEIRS, OURS = (GridSearchCV, RandomizedSearchCV), (SpanSearch, SpanRandomizedSearch)

#: How much scores of exact predictions may differ, relative to the largest score of a scorer.
SAME_NUMBER = 1e-6


@dataclass
class Both:
    """A program, and its runs with the classes of scikit-learn and with ours."""

    program: Program
    theirs: Ran
    ours: Ran
    their_warnings: set
    our_warnings: set

    @property
    def runs(self):
        return self.ours, self.theirs


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
    theirs, their_warnings = run(program, *THEIRS)
    ours, our_warnings = run(program, *OURS)
    return Both(program, theirs, ours, their_warnings, our_warnings)


@pytest.fixture(scope="module")
def exact_scores(both):
    """Fold scores of GridSearchCV with exact machines."""
    if not (both.program.values and both.program.folds):
        pytest.skip("the program has no cv, or its scores are not of numbers")
    return fold_scores(run(both.program, *map(of_exact_machines, THEIRS))[0].search)


def of_exact_machines(kind):
    """The search class, as if every SVR in the estimator were an exact one."""

    def fit(search, *args, **params):
        given, search.estimator = search.estimator, exact(search.estimator)
        try:
            return kind.fit(search, *args, **params)
        finally:
            search.estimator = given

    return type(kind.__name__, (kind,), {"fit": fit})


def fold_scores(search):
    """All columns with scores of test rows; ranks depend on the last digits."""
    return {
        name: np.asarray(column, dtype=float)
        for name, column in search.cv_results_.items()
        if "_test_" in name and not name.startswith("rank_")
    }


def distances(some, others):
    """How far scores are apart, one number for each scorer, in units of its largest score."""
    scorers = {name.partition("_test_")[2] for name in others}
    apart = {}
    for scorer in scorers:
        columns = [name for name in others if name.endswith(f"_test_{scorer}")]
        a, b = (np.array([own[name] for name in columns]) for own in (some, others))
        np.testing.assert_array_equal(np.isnan(a), np.isnan(b), err_msg=scorer)
        if not np.isnan(b).all():
            unit = max(1.0, np.nanmax(np.abs(b)))
            apart[scorer] = np.nanmax(np.abs(a - b)) / unit
    assert apart
    return apart


def test_there_are_enough_of_them():
    assert len(PROGRAMS) >= 40
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert sum(program.values for program in PROGRAMS) >= 24


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
    """On the test rows, at most two standard errors of the difference."""
    theirs, ours = both.theirs, both.ours
    if theirs.right is not None:
        difference, noise = of_labels(theirs.right, ours.right)
    elif theirs.errors is not None:
        difference, noise = of_numbers(theirs.errors, ours.errors)
    else:
        pytest.skip("the program has no test rows")
    assert difference <= 2 * noise


def of_labels(theirs, ours):
    """By how many rows our model is worse, and the standard error.

    Only rows count that one model predicts correctly and the other does not.  If both models were
    equally good, each would be right on half of these; the difference between the two counts has
    the standard error ``sqrt(count)``.
    """
    lost, won = int((theirs & ~ours).sum()), int((ours & ~theirs).sum())
    return lost - won, np.sqrt(lost + won)


def of_numbers(theirs, ours):
    """By how much the mean squared error of our model is larger, and the standard error.

    It is at least half a per cent of the mean squared error.  Where both select the same
    candidate, predictions differ only by LibSVM's `tol`, but that may be in one direction.
    """
    worse = ours**2 - theirs**2
    noise = worse.std(ddof=1) / np.sqrt(worse.size)
    return worse.mean(), max(noise, 0.005 * np.mean(theirs**2))


def test_scores_of_numbers_are_the_exact_ones(both, exact_scores):
    """Whatever the `tol` of the program: those of exact machines on the same folds."""
    for own, other in zip(*(ran.search.cv_results_["params"] for ran in both.runs), strict=True):
        assert same(sorted(own.items()), sorted(other.items()))
    for scorer, distance in distances(fold_scores(both.ours.search), exact_scores).items():
        assert distance <= SAME_NUMBER, scorer


def test_scores_of_numbers_differ_from_those_of_libsvm_by_its_own_inaccuracy(both, exact_scores):
    """And not by more: how far LibSVM is from exact machines, with the `tol` of the program."""
    theirs = fold_scores(both.theirs.search)
    inaccurate = distances(theirs, exact_scores)
    for scorer, distance in distances(fold_scores(both.ours.search), theirs).items():
        assert distance <= inaccurate[scorer] + SAME_NUMBER, scorer


def test_folds_have_the_same_scores(both):
    """Those of all candidates, splits and scorers; `cv` decides nothing else."""
    if not both.program.folds:
        pytest.skip("the program has no cv, or its predictions need a calibration")
    if both.program.values:
        pytest.skip("scores of numbers are compared with exact ones")
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
R, Z = load_diabetes(return_X_y=True)

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
    "a tube below 0": (ValueError, lambda s: s(SVR(), {"epsilon": [-1]}, cv=3).fit(R, Z)),
    "two columns of targets": (ValueError, lambda s: s(SVR(), ONE, cv=3).fit(R, R[:, :2])),
    "missing targets": (
        ValueError,
        lambda s: s(SVR(), ONE, cv=3).fit(R, np.where(Z > 99, Z, np.nan)),
    ),
    "words as targets": (ValueError, lambda s: s(SVR(), ONE, cv=3).fit(R, np.full(Z.size, "much"))),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.filterwarnings("ignore::UserWarning")  # what led to it
def test_mistakes_raise_what_they_raised(name):
    kind, make = MISTAKES[name]
    for search in (GridSearchCV, SpanSearch):
        with pytest.raises(kind, match=r"^(?s:.{20})"):
            make(search)


def test_new_rows_cannot_be_made_from_rows_that_are_left_out():
    over_sampling = pytest.importorskip("imblearn.over_sampling")
    from imblearn.pipeline import make_pipeline

    pipe = make_pipeline(over_sampling.SMOTE(random_state=0), SVC())
    with pytest.raises((TypeError, ValueError), match=r"(?s)SMOTE.*cv"):
        SpanSearch(pipe, {"svc__C": [1, 10]}, method="span_rule").fit(X, Y)
