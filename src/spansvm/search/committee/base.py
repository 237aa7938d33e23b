"""What committees of classifiers and of regressions have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from ...common.listing import ListsProperties
from ...common.types import Array, Rows
from ..scoring.corrected import Correction
from .correction import Draws
from .members import Members

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BaseCommittee"]


class BaseCommittee(ListsProperties, BaseEstimator):
    """A weighted mean of trained candidates; searches make them."""

    members_: list[dict[str, Any]]
    weights_: Array
    n_features_in_: int
    feature_names_in_: np.ndarray
    loo_score_: float

    _members: Members
    _single: Any
    #: The correction; the draws that it will be computed from; or why there is none.
    _correction: Correction | Draws | str

    def __init__(self, search: Any = None, max_members: int = 20) -> None:
        self.search = search
        self.max_members = max_members

    def fit(self, X: Any, y: npt.ArrayLike, **params: Any) -> Self:
        """Search, and make a committee of the candidates.

        Parameters
        ----------
        X, y, **params
            Arguments of the search's ``fit``.
        """
        if self.search is None:
            raise ValueError(
                f"{type(self).__name__} has no search: give one, as in "
                f"{type(self).__name__}(SpanSearch(...)), or use committee_ of a fitted search."
            )
        search = clone(self.search)
        if search.refit is True:  # the single model is not needed
            search.refit = False
        found = search.fit(X, y, **params).committee(self.max_members)
        if not isinstance(found, type(self)):
            raise TypeError(
                f"The search makes a {type(found).__name__}, not a {type(self).__name__}."
            )
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        own = self.get_params(deep=False)
        for name in vars(found).keys() - own.keys():
            setattr(self, name, getattr(found, name))
        return self

    @property
    def n_kernels_(self) -> int:
        """The number of kernel matrices that predicting takes."""
        check_is_fitted(self)
        return self._members.n_kernels

    @property
    def transformers_(self) -> list[Mapping[str, Any]]:
        """Fitted transformers by the name of their step, for each setting of them."""
        check_is_fitted(self)
        return self._members.transformers

    @property
    def corrected_score_(self) -> float:
        """The score to expect on new rows, by draws of the rows that repeat the weighting."""
        return self._corrected("corrected_score_").score

    @property
    def corrected_interval_(self) -> tuple[float, float]:
        """Its 95% CI."""
        return self._corrected("corrected_interval_").interval

    def _corrected(self, attribute: str) -> Correction:
        check_is_fitted(self)
        if isinstance(self._correction, Draws):
            self._correction = self._correction.correct()
        if isinstance(self._correction, str):
            raise AttributeError(f"There is no {attribute}: {self._correction}.")
        return self._correction

    def _values(self, X: Any) -> list[Array]:
        """Values of the functions of every member."""
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._members.values(X)

    def _only_member(self, method: str) -> Any:
        check_is_fitted(self)
        if self._single is None:
            raise ValueError(
                f"{method} is there for a committee of one member, which is one model; this one "
                f"has {len(self.members_)}. Use best_estimator_ of the search for a single model."
            )
        return self._single

    def _from_left_out(self, mean: Array, rows: Rows, n_rows: int) -> Array:
        """Left-out predictions of all rows: the mean of several of a row, NaN without any."""
        total = np.zeros((n_rows, *mean.shape[1:]))
        np.add.at(total, rows, mean)
        counts = np.bincount(rows, minlength=n_rows).reshape(-1, *[1] * (mean.ndim - 1))
        with np.errstate(invalid="ignore"):
            return total / counts

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "members_")

    def __getstate__(self) -> dict[str, Any]:
        """Without the predictions, and perhaps the data, that would make a saved model large."""
        state: Any = super().__getstate__()
        if isinstance(state.get("_correction"), Draws):
            reason = "it was not asked for before the committee was saved or copied"
            state = {**state, "_correction": reason}
        return state
