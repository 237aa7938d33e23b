"""Which values the parameters of :class:`~spansvm.SpanSVC` and `SpanSVR` may have."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..common.validation import Constraint, is_bool, is_positive

__all__ = ["CONSTRAINTS", "REGRESSION_CONSTRAINTS"]


def _is_iteration_limit(value: Any) -> bool:
    return isinstance(value, Integral) and not is_bool(value) and (value == -1 or int(value) >= 1)


def _is_weight(value: Any) -> bool:
    infinite = isinstance(value, Real) and value == np.inf
    return infinite or is_positive(value)


def _is_one_of(*names: str) -> Constraint:
    expected = " or ".join(repr(name) for name in names)
    return (lambda value: isinstance(value, str) and value in names), expected


def _is_class_weight(value: Any) -> bool:
    named = isinstance(value, str) and value == "balanced"
    return value is None or isinstance(value, dict) or named


def _is_probability(value: Any) -> bool:
    # "deprecated" is SVC's default from scikit-learn 1.9 on.
    return is_bool(value) or (isinstance(value, str) and value == "deprecated")


def _is_verbosity(value: Any) -> bool:
    return is_bool(value) or (isinstance(value, Integral) and int(value) >= 0)


def _is_random_state(value: Any) -> bool:
    try:
        check_random_state(value)
    except ValueError:
        return False
    return True


def _is_width(value: Any) -> bool:
    number = isinstance(value, Real) and not is_bool(value)
    return number and np.isfinite(float(value)) and float(value) >= 0.0


_YES_OR_NO: Constraint = (is_bool, "True or False")

#: Kernel parameters and weights are checked where they are used.
CONSTRAINTS: dict[str, Constraint] = {
    "C": (_is_weight, "a positive number"),
    "tol": (is_positive, "a positive number"),
    "max_iter": (_is_iteration_limit, "-1 or at least 1"),
    "decision_function_shape": _is_one_of("ovr", "ovo"),
    "break_ties": _YES_OR_NO,
    "class_weight": (_is_class_weight, "a dict, 'balanced' or None"),
    "shrinking": _YES_OR_NO,
    "probability": (_is_probability, "True or False"),
    "cache_size": (is_positive, "a positive number"),
    "verbose": (_is_verbosity, "True, False or an integer of at least 0"),
    "random_state": (_is_random_state, "None, an integer of at least 0 or a RandomState"),
}

REGRESSION_CONSTRAINTS: dict[str, Constraint] = {
    "C": (is_positive, "a positive number"),
    "epsilon": (_is_width, "a number of at least 0"),
    **{
        name: CONSTRAINTS[name]
        for name in ("tol", "max_iter", "shrinking", "cache_size", "verbose")
    },
}
