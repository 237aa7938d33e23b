"""SpanSVC and SpanSearch are citizens of scikit-learn."""

from __future__ import annotations

import pytest
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from spansvm import ClassWeighting, SigmoidWeighting, SpanSearch, SpanSVC

_EQUIVALENCE = (
    "predict_proba is calibrated on leave-one-out values: leaving out an instance of weight 2 is "
    "not leaving out one of two copies"
)
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": _EQUIVALENCE,
    "check_sample_weight_equivalence_on_sparse_data": _EQUIVALENCE,
}
#: For the model that the search selects in the check; it passes for SpanSVC() itself.
EXPECTED_FAILURES_OF_A_SEARCH = {
    **EXPECTED_FAILURES,
    "check_classifiers_train": (
        "the most probable of three classes is not always the one with most votes, as in SVC"
    ),
}


def expected_failures(estimator):
    if isinstance(estimator, SpanSearch) and isinstance(estimator.estimator, SpanSVC):
        return EXPECTED_FAILURES_OF_A_SEARCH
    return EXPECTED_FAILURES


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        SpanSVC(),
        SpanSVC(kernel="linear", break_ties=True),
        SpanSearch(SpanSVC(), {"C": [0.1, 1, 10]}),
        SpanSearch(SVC(), {"C": [0.1, 1, 10]}),
        SpanSearch(SVC(), {"C": [0.1, 1, 10]}, method="kfold", cv=2),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weighting", [ClassWeighting(), SigmoidWeighting()])
def test_parameters_of_the_weighting_are_parameters_of_the_estimator(weighting):
    model = SpanSVC(weighting=weighting)
    name = next(iter(weighting.get_params()))
    model.set_params(**{f"weighting__{name}": 3.5})
    assert getattr(model.weighting, name) == 3.5
