"""Ranges instead of lists of values: scipy's and Optuna's distributions, and Optuna's studies.

A range is searched as without a grid (``refining``): a few values of it at first, then finer steps
around the best, never beyond its ends.  Or a study is asked for one candidate after the other, and
told its score.  Optuna's objects are known by what they have; it is imported only to make a study
with a sampler.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ...errors import require
from .refining import Axis, Choices, Refinement, Setting

__all__ = ["DEFAULT_TRIALS", "Plan", "StudyPlan", "has_ranges", "plan_ranges"]

#: Candidates of a search over ranges, unless it is told how many.
DEFAULT_TRIALS = 80

#: Values of a range at first: of a parameter that needs no new Gram matrix, and of another.
_CHEAP, _COSTLY = 8, 4

#: Finer steps are these parts of the first.
_PARTS = (1.0, 0.5, 0.25)

#: Last parts of the names of parameters that do not change the kernel.
_NOT_OF_KERNEL = frozenset(("C", "class_weight", "epsilon", "positive", "negative"))


class Plan(Protocol):
    """What proposes candidates while a search goes on."""

    n_trials: int

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """Those to evaluate at first."""

    def more(self, scores: np.ndarray, best: int, error: float) -> list[dict[str, Any]]:
        """The next ones; none if the search is over."""


def has_ranges(param_grid: Any) -> bool:
    """Whether values of a grid are distributions."""
    return isinstance(param_grid, Mapping) and any(map(_is_range, param_grid.values()))


def _is_range(value: Any) -> bool:
    return hasattr(value, "rvs") or hasattr(value, "choices") or _is_interval(value)


def _is_interval(value: Any) -> bool:
    return hasattr(value, "low") and hasattr(value, "high")


def plan_ranges(param_grid: Mapping[str, Any], n_trials: int) -> Refinement:
    """A plan over ranges and lists of values.

    The coarse stage varies `C` and one parameter of the kernel, `gamma` if it is among them; the
    others are tried around the best.
    """

    def order(name: str, last: str) -> tuple[bool, int]:
        return name.split("__")[-1] != last, list(param_grid).index(name)

    cheap = [name for name in param_grid if name.split("__")[-1] in _NOT_OF_KERNEL]
    costly = [name for name in param_grid if name not in cheap]
    weights = sorted(cheap, key=lambda name: order(name, "C"))
    kernels = sorted(costly, key=lambda name: order(name, "gamma"))
    first, *rest = [*weights[:1], *kernels[:1], *weights[1:], *kernels[1:]]
    settings = {
        name: _setting(name, value, _CHEAP if name in cheap else _COSTLY)
        for name, value in param_grid.items()
    }
    kernel = settings[rest.pop(0)] if weights and kernels else None
    others = [settings[name] for name in rest]
    return Refinement(settings[first], kernel, others, n_trials=n_trials, of_kernel=costly)


def _setting(name: str, value: Any, n_values: int) -> Setting:
    """A parameter from its distribution, or from a list."""
    if hasattr(value, "choices"):
        return Choices(name, tuple(value.choices), ordered=False)
    if not _is_range(value):
        listed = tuple(value)
        numbers = all(isinstance(one, (int, float)) for one in listed)
        return Choices(name, tuple(sorted(listed)) if numbers else listed, ordered=numbers)
    low, high, log = _ends(name, value)
    whole = isinstance(getattr(value, "low", None), int)
    if getattr(value, "step", None) is not None and not (whole and value.step == 1):
        return Choices(name, tuple(np.arange(low, high + value.step / 2, value.step).tolist()))
    if whole:
        spaced = np.geomspace(low, high, 2 * n_values) if log else np.linspace(low, high, n_values)
        return Choices(name, tuple(sorted({round(one) for one in spaced})))
    if low == high:
        return Choices(name, (low,))
    width = float(np.log2(high / low)) if log else float(high - low)
    step = width / (n_values - 1)
    return Axis(
        name,
        unit=low if log else 1.0,
        exponents=tuple((0.0 if log else low) + k * step for k in range(n_values)),
        steps=tuple(step * part for part in _PARTS),
        limits=(0.0, width) if log else (low, high),
        linear=not log,
    )


def _ends(name: str, value: Any) -> tuple[float, float, bool]:
    """The ends of a range, and whether it is one of logarithms."""
    if _is_interval(value):
        return value.low, value.high, bool(getattr(value, "log", False))
    low, high = (float(end) for end in value.support())
    if not np.isfinite([low, high]).all():
        raise ValueError(
            f"The distribution of {name!r} has no ends; a search over ranges needs them. Use "
            "scipy.stats.loguniform(low, high), or SpanRandomizedSearch to draw from it."
        )
    kind = getattr(getattr(value, "dist", None), "name", "")
    return low, high, kind in ("loguniform", "reciprocal")


class StudyPlan:
    """Candidates that an Optuna study proposes, one after the other.

    Parameters
    ----------
    study : optuna.study.Study or optuna.samplers.BaseSampler
        To be maximised; a sampler is that of a new study.
    distributions : dict
        Optuna's distributions by parameter.
    n_trials : int
    """

    def __init__(self, study: Any, distributions: Mapping[str, Any], n_trials: int) -> None:
        if hasattr(study, "sample_independent"):
            optuna = require("optuna", "test")
            study = optuna.create_study(sampler=study, direction="maximize")
        direction = getattr(getattr(study, "direction", None), "name", "MAXIMIZE")
        if direction != "MAXIMIZE":
            raise ValueError(
                "study must be made with direction='maximize': scores are greater if better."
            )
        self.study, self.distributions, self.n_trials = study, dict(distributions), n_trials
        self._trials: list[Any] = []
        self._first = [self._asked()]

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The first candidate."""
        return list(self._first)

    def more(self, scores: np.ndarray, best: int, error: float) -> list[dict[str, Any]]:
        """The next one, after the study was told the score of the last."""
        self.tell(scores)
        return [self._asked()] if len(self._trials) < self.n_trials else []

    def tell(self, scores: np.ndarray) -> None:
        """Tell the study the score of the last candidate."""
        self.study.tell(self._trials[-1], float(scores[-1]))

    def _asked(self) -> dict[str, Any]:
        self._trials.append(self.study.ask(self.distributions))
        return dict(self._trials[-1].params)
