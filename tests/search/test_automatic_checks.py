"""SVCCV and SVRCV are citizens of scikit-learn."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spansvm import SVCCV, SVRCV

_EQUIVALENCE = (
    "selection is by leave-one-out: leaving out an instance of weight 2 is not leaving out one of "
    "two copies"
)
#: All of them fail with the default of 80 trials as well, which takes longer.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": _EQUIVALENCE,
    "check_sample_weight_equivalence_on_sparse_data": _EQUIVALENCE,
    "check_classifiers_train": (
        "the most probable of three classes is not always the one with most votes, as in SVC"
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
        EXPECTED_FAILURES if isinstance(estimator, SVCCV) else {}
    ),
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
