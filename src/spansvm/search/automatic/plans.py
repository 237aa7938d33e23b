"""What ``SVCCV`` and ``SVRCV`` search: the coarse stage, and the steps around the best.

Scales are those of the data (``search/candidates/scales``); steps are coarser at
first, and finer at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...common.validation import is_positive
from ...estimators.svr import SpanSVR
from ..candidates.refining import Axis, Choices, Refinement, Setting
from ..candidates.scales import (
    balances,
    can_be_weighted,
    noise_of,
    spread_of,
    start_values,
    weights_matter,
)

__all__ = ["KERNELS", "check_values", "class_weights", "plan_classes", "plan_targets"]

#: Kernels whose parameters can be planned.
KERNELS = ("rbf", "linear", "poly", "precomputed")

#: Exponents of 2 in the coarse stage, and the steps around the best: of C, of C where there is no
#: gamma, of gamma relative to the scale of the data, the same for a regression, whose functions
#: are smoother, and for polynomials; of epsilon relative to the noise.  Steps of 8 of gamma in the
#: coarse stage do as well as steps of 4, with fewer Gram matrices (``benchmarks/automatic.py``).
_C, _C_STEPS = (-4, -2, 0, 2, 4, 6, 8, 10), (2.0, 1.0)
_ONLY_C_STEPS = (2.0, 1.0, 0.5)
_GAMMA, _GAMMA_STEPS = (-7, -4, -1, 2), (3.0, 1.0)
_SMOOTH_GAMMA, _POLY_GAMMA = (-10, -7, -4, -1, 2), (-4, -1, 2)
_EPSILON, _EPSILON_STEPS = (-4, -2, 0), (2.0, 1.0)

#: Degrees of polynomials, that of the coarse stage first.
_DEGREES = (3, 2)


def plan_classes(
    X: Any, kernel: str, Cs: Sequence[float] | None, gammas: Sequence[float] | None,
    weights: Sequence[Any], n_trials: int,
) -> Refinement:  # fmt: skip
    """What to search for a classifier.

    Parameters
    ----------
    X : array or sparse matrix
        The rows that count.
    kernel : str
    Cs, gammas : sequence of float, optional
        The values of C and gamma; planned if None.
    weights : sequence
        Values of class_weight; the first is that of the coarse stage.
    n_trials : int
    """
    others: list[Setting] = []
    if len(weights) > 1:
        others.append(Choices("class_weight", tuple(weights), ordered=False))
    return _plan(X, kernel, Cs, gammas, others, n_trials)


def plan_targets(
    X: Any, y: np.ndarray, kernel: str, values: dict[str, Sequence[float] | None], n_trials: int
) -> Refinement:
    """What to search for a regression; `values` are those of C, gamma and epsilon, or None."""
    spread = float(y.std())
    unit = 2.0 ** round(np.log2(spread)) if spread > 0 else 1.0
    given = values["epsilon"]
    if given is not None:
        epsilon: Setting = Choices("epsilon", _tuple(given))
    else:
        noise = 1.0
        if spread > 0:
            noise = 2.0 ** round(np.log2(noise_of(X, y, SpanSVR(**start_values(kernel)))))
        epsilon = Axis("epsilon", noise, _EPSILON, _EPSILON_STEPS)
    return _plan(X, kernel, values["C"], values["gamma"], [epsilon], n_trials, unit)


def _plan(
    X: Any, kernel: str, Cs: Sequence[float] | None, gammas: Sequence[float] | None,
    others: list[Setting], n_trials: int, unit: float | None = None,
) -> Refinement:  # fmt: skip
    scale = 2.0 ** round(-np.log2(_gram_spread(X) if kernel == "precomputed" else spread_of(X)))
    has_gamma = kernel in ("rbf", "poly")
    own_unit = (unit or 1.0) * (1.0 if has_gamma else scale)
    weight: Setting = Axis("C", own_unit, _C, _C_STEPS if has_gamma else _ONLY_C_STEPS)
    if Cs is not None:
        weight = Choices("C", _tuple(Cs))
    if not has_gamma:
        return _checked(Refinement(weight, None, others, n_trials=n_trials))
    exponents: tuple[float, ...] = _GAMMA if unit is None else _SMOOTH_GAMMA
    if kernel == "poly":
        exponents = _POLY_GAMMA
        others = [*others, Choices("degree", _DEGREES, ordered=False)]
    gamma: Setting = Axis("gamma", scale, exponents, _GAMMA_STEPS)
    if gammas is not None:
        gamma = Choices("gamma", _tuple(gammas))
    return _checked(Refinement(weight, gamma, others, n_trials=n_trials, of_kernel=["degree"]))


def _checked(plan: Refinement) -> Refinement:
    listed = [one for one in plan.settings[:2] if isinstance(one, Choices) and one.ordered]
    n_listed = int(np.prod([len(one.values) for one in listed]))
    if n_listed > plan.n_trials:
        names = " and ".join(one.name for one in listed)
        raise ValueError(
            f"There are {n_listed} candidates of {names} alone; n_trials must be at least that, "
            f"got {plan.n_trials}."
        )
    return plan


def _tuple(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(value) for value in np.unique(np.asarray(values, dtype=np.float64)))


def _gram_spread(K: Any) -> float:
    """Half the mean squared distance between the rows that have this Gram matrix."""
    diagonal = K.diagonal()
    spread = float(np.mean(diagonal) - K.mean())
    return spread if spread > 0 else 1.0


def class_weights(class_weight: Any, y: np.ndarray, scoring: Any) -> list[Any]:
    """Values of class_weight to search, from the parameter of the estimator."""
    if not (isinstance(class_weight, str) and class_weight == "auto"):
        return [class_weight]
    if weights_matter(y, scoring) is None or not can_be_weighted(np.unique(y).tolist()):
        return [None]
    return balances(y)


def check_values(name: str, values: Any, *, zero: bool = False) -> None:
    """ValueError unless these are positive numbers, or None; perhaps also 0."""
    if values is None:
        return
    listed = [] if isinstance(values, str) or np.ndim(values) != 1 else list(values)
    if not listed or not all(is_positive(one) or (zero and one == 0) for one in listed):
        least = "numbers of at least 0" if zero else "positive numbers"
        raise ValueError(f"{name} must be None or a list of {least}; got {values!r}.")
