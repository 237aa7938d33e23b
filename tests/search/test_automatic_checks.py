"""SVCCV and SVRCV are citizens of scikit-learn."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spansvm import SVCCV, SVRCV

_EQUIVALENCE = (
    "selection is by leave-one-out: leaving out an instance of weight 2 is not leaving out one of "
    "two copies"
)
_EITHER = {
    "check_sample_weight_equivalence_on_dense_data": _EQUIVALENCE,
    "check_sample_weight_equivalence_on_sparse_data": _EQUIVALENCE,
}
#: All of them fail with the default of 80 trials as well, which takes longer.
OF_SINGLE_MODELS = _EITHER | {
    "check_classifiers_train": (
        "the most probable of three classes is not always the one with most votes, as in SVC"
    ),
}
OF_COMMITTEES = _EITHER | {
    "check_class_weight_classifiers": (
        "the most probable class is predicted, and probabilities do not know of class weights"
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        SVCCV(n_trials=2),
        SVCCV(n_trials=2, ensemble=True),
        SVRCV(n_trials=2),
        SVRCV(n_trials=2, ensemble=True),
    ],
    expected_failed_checks=lambda estimator: (
        {}
        if isinstance(estimator, SVRCV)
        else OF_COMMITTEES
        if estimator.ensemble
        else OF_SINGLE_MODELS
    ),
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
