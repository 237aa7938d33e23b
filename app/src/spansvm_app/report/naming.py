"""Readable names of parameters: ``C+ (class yes)`` for ``svm__weighting__positive``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..common.wording import listed
from .plain import cut, words

__all__ = ["LONGEST_LABEL", "in_order", "name_parameters", "value_in_words"]

_NAMES = {
    "weighting__steepness": "steepness A",
    "weighting__midpoint": "midpoint B",
    "weighting__ceiling": "ceiling C",
    "weighting__floor": "floor sigma",
}

#: Which class a weight belongs to, by its index in ``classes_``; in the order they are shown.
_WEIGHTS = {"weighting__positive": ("C+", -1), "weighting__negative": ("C-", 0)}

#: The longest label that fits on a chart's axis.
LONGEST_LABEL = 28


def in_order(parameters: Iterable[str]) -> list[str]:
    """Parameters as they are always shown: as given, then weights, ``C+`` before ``C-``.

    Examples
    --------
    >>> from spansvm_app.report.naming import in_order
    >>> in_order(["svm__weighting__negative", "svm__weighting__positive", "svm__gamma"])
    ['svm__gamma', 'svm__weighting__positive', 'svm__weighting__negative']
    """
    last = ["class_weight", *_WEIGHTS]

    def place(name: str) -> int:
        own = name.rpartition("__")[2] if name.endswith("class_weight") else _own(name)
        return last.index(own) if own in last else -1

    return sorted(parameters, key=place)


def value_in_words(value: Any) -> str:
    """The value of a parameter in words; those of ``class_weight`` by class.

    Examples
    --------
    >>> from spansvm_app.report.naming import value_in_words
    >>> value_in_words({"bad": 3.0, "ugly": 10.0}), value_in_words({"bad": 1.0}), value_in_words(2)
    ('bad: 3, ugly: 10', 'none', '2')
    """
    if not isinstance(value, Mapping):
        return words(value)
    if all(weight == 1 for weight in value.values()):
        return "none"
    return listed([f"{cut(label)}: {words(weight)}" for label, weight in value.items()])


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
    >>> from spansvm_app.report.naming import name_parameters
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
        return f"{weight} (class {cut(classes[place], LONGEST_LABEL)})"
    last = parameter.rpartition("__")[2]
    return _NAMES.get(own, "class weights" if last == "class_weight" else last)
