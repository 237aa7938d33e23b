"""Readable names of parameters: ``C+ (class yes)`` for ``svm__weighting__positive``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .plain import cut

__all__ = ["in_order", "name_parameters"]

_NAMES = {
    "weighting__steepness": "steepness A",
    "weighting__midpoint": "midpoint B",
    "weighting__ceiling": "ceiling C",
    "weighting__floor": "floor sigma",
}

#: Which class a weight belongs to, by its index in ``classes_``; in the order they are shown.
_WEIGHTS = {"weighting__positive": ("C+", -1), "weighting__negative": ("C-", 0)}

#: The longest label that fits on a chart's axis.
_LONGEST_LABEL = 28


def in_order(parameters: Iterable[str]) -> list[str]:
    """Parameters as they are always shown: as given, but the weight ``C+`` before ``C-``.

    Examples
    --------
    >>> from spansvm.report.naming import in_order
    >>> in_order(["svm__gamma", "svm__weighting__negative", "svm__weighting__positive"])
    ['svm__gamma', 'svm__weighting__positive', 'svm__weighting__negative']
    """
    names = list(parameters)
    weights = [name for name in names if _own(name) in _WEIGHTS]
    sorted_weights = iter(sorted(weights, key=lambda name: list(_WEIGHTS).index(_own(name))))
    return [next(sorted_weights) if name in weights else name for name in names]


def name_parameters(parameters: Sequence[str], classes: Sequence[Any]) -> list[str]:
    """Readable names; those that would coincide stay as in the grid.

    Parameters
    ----------
    parameters : sequence of str
        As the grid names them.
    classes : sequence
        Labels, in order.

    Examples
    --------
    >>> from spansvm.report.naming import name_parameters
    >>> name_parameters(["svm__weighting__positive", "svm__gamma"], ["no", "yes"])
    ['C+ (class yes)', 'gamma']
    """
    names = [_name(parameter, classes) for parameter in parameters]
    return [
        name if names.count(name) == 1 else parameter
        for parameter, name in zip(parameters, names, strict=True)
    ]


def _own(parameter: str) -> str:
    return "__".join(parameter.split("__")[-2:])


def _name(parameter: str, classes: Sequence[Any]) -> str:
    own = _own(parameter)
    if own in _WEIGHTS:
        weight, place = _WEIGHTS[own]
        label = cut(classes[place])
        if len(label) > _LONGEST_LABEL:
            label = f"{label[: _LONGEST_LABEL - 1]}…"
        return f"{weight} (class {label})"
    return _NAMES.get(own, parameter.rpartition("__")[2])
