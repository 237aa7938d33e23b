"""Folds for models that are trained again and again: classes in their shares, groups as a whole."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from .subject import Subject

__all__ = ["N_FOLDS", "folds_of"]

#: How many folds there are, if there are as many rows of the largest class.
N_FOLDS = 10


def folds_of(subject: Subject, most: int = N_FOLDS) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of folds with two classes at least in training; may be empty."""
    y, units = subject.indices, subject.units
    of_class = [np.unique(units[y == index]).size for index in range(subject.classes.size)]
    number = min(most, max(of_class))
    if number < 2:
        return []
    splitter = StratifiedKFold if subject.sets is None else StratifiedGroupKFold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class may have fewer rows than there are folds
        folds = list(splitter(number, shuffle=True, random_state=0).split(y, y, units))
    return folds if all(np.unique(y[train]).size > 1 for train, _ in folds) else []
