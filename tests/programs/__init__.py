"""Short programs of the kinds that people write to tune an SVC or SVR, and other models next to it.

Each is a function of two classes, ``GridSearchCV`` and ``RandomizedSearchCV``, and is run twice:
with those of scikit-learn and with ours in their place.  It returns a ``Ran``.  ``folds``,
``grids``, ``scores``, ``pipelines``, ``surroundings``, ``special``, ``other_models``,
``regression`` and ``regression_targets`` contain the programs by what is special about them;
``tests/search/test_real_programs.py`` compares the two runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

__all__ = ["PROGRAMS", "Program", "Ran", "data", "program"]


@dataclass
class Ran:
    """What a program returns.

    Attributes
    ----------
    search : fitted search, or None if the search is inside something else
    right : ndarray of bool, or None
        Which of the test rows are predicted correctly.
    facts : dict
        Everything else that a program prints or goes on with: compared by type and shape.
    errors : ndarray of float, or None
        Of a regression: by how much the predictions of the test rows are off.
    """

    search: Any = None
    right: np.ndarray | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    errors: np.ndarray | None = None


@dataclass(frozen=True)
class Program:
    """A program, and what is known to differ.

    Attributes
    ----------
    run : callable
    folds : bool
        Whether its `cv` determines the scores: they are then the same with both classes.  Not so
        where they depend on probabilities, which we calibrate differently, on an early stop, or on
        a search inside something else.
    slack : float
        How much the score of a fold may differ.  Nothing, unless a test row lies on the boundary:
        LibSVM stops at its `tol`, and on which side it puts such a row is its choice.
    values : bool
        Whether scores are of numbers that an SVR predicts: LibSVM's `tol` and rounding move them
        all; ours are those of an exact SVR.
    warns : tuple of str
        Beginnings of our warnings that say the same as scikit-learn's in other words.
    needs : str or None
        A package without which the program cannot run.
    """

    run: Callable[..., Ran]
    folds: bool = True
    slack: float = 0.0
    values: bool = False
    warns: tuple[str, ...] = ()
    needs: str | None = None

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.run.__name__


PROGRAMS: list[Program] = []


def program(**properties: Any) -> Callable[[Callable[..., Ran]], Callable[..., Ran]]:
    """Enter a function in the list."""

    def enter(run: Callable[..., Ran]) -> Callable[..., Ran]:
        PROGRAMS.append(Program(run, **properties))
        return run

    return enter


_LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "cancer": load_breast_cancer,
}


def data(name: str, *, rows: int | None = None, **options: Any) -> Any:
    """``X_train, X_test, y_train, y_test`` of a data set that scikit-learn ships."""
    if name == "digits":
        X, y = load_digits(n_class=4, return_X_y=True)
    else:
        X, y = _LOADERS[name](return_X_y=True, **options)
    return train_test_split(X, y, train_size=rows, random_state=0, stratify=y)


from . import (  # noqa: E402
    folds,  # noqa: F401
    grids,  # noqa: F401
    other_models,  # noqa: F401
    pipelines,  # noqa: F401
    regression,  # noqa: F401
    regression_targets,  # noqa: F401
    scores,  # noqa: F401
    special,  # noqa: F401
    surroundings,  # noqa: F401
)
