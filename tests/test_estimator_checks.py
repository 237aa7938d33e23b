"""SpanSVC is a citizen of scikit-learn."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spansvm import ClassWeighting, SigmoidWeighting, SpanSVC

_EQUIVALENCE = (
    "predict_proba is calibrated on leave-one-out values: leaving out an instance of weight 2 is "
    "not leaving out one of two copies"
)
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": _EQUIVALENCE,
    "check_sample_weight_equivalence_on_sparse_data": _EQUIVALENCE,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [SpanSVC(), SpanSVC(kernel="linear", break_ties=True)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weighting", [ClassWeighting(), SigmoidWeighting()])
def test_parameters_of_the_weighting_are_parameters_of_the_estimator(weighting):
    model = SpanSVC(weighting=weighting)
    name = next(iter(weighting.get_params()))
    model.set_params(**{f"weighting__{name}": 3.5})
    assert getattr(model.weighting, name) == 3.5
