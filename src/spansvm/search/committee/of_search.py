"""``committee_`` of a search."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils.validation import check_is_fitted

from ...common.validation import is_bool
from ..candidates.building import machine_settings
from ..candidates.composite import take_apart
from .building import Searched
from .classifier import Committee
from .regressor import RegressionCommittee

__all__ = ["MAX_MEMBERS", "HasCommittee"]

#: Members of a committee by default.
MAX_MEMBERS = 20


class HasCommittee:
    """A search that makes committees of its candidates; the search derives from this class."""

    #: What the search has evaluated; or why there are no committees.
    _for_committee: Searched | str = "the search is not fitted"
    _committee: Committee | RegressionCommittee | None = None

    @property
    def committee_(self) -> Committee | RegressionCommittee:
        """The candidates that could have been the best, as one model; made on first access."""
        if self._committee is None:
            self._committee = self._searched().committee(MAX_MEMBERS)
        return self._committee

    def committee(self, max_members: int = MAX_MEMBERS) -> Committee | RegressionCommittee:
        """A committee of the candidates that could have been the best.

        The best of many candidates is chosen by luck among those that are nearly as good; their
        mean most often predicts better.  Left-out predictions of all candidates are
        found on the first call, and the members are trained on all rows.  The rows that were given
        to ``fit`` must not have changed until then.

        Parameters
        ----------
        max_members : int, default=20
            At most so many candidates, those of the smallest left-out loss.

        Returns
        -------
        Committee or RegressionCommittee
            Fitted.
        """
        check_is_fitted(self)
        if not isinstance(max_members, Integral) or is_bool(max_members) or max_members < 1:
            raise ValueError(f"max_members must be a positive whole number; got {max_members!r}.")
        return self._searched().committee(int(max_members))

    def _searched(self) -> Searched:
        if isinstance(self._for_committee, str):
            raise AttributeError(f"There is no committee: {self._for_committee}.")
        return self._for_committee

    def _remember(self, searched: Searched) -> None:
        """Keep what committees are made of, as far as there are any."""
        estimators = machine_settings(searched.work.estimator, searched.candidates)
        around = {type(take_apart(one).wrapper) for one in estimators}
        unknown = around & {CalibratedClassifierCV, MultiOutputClassifier, OneVsRestClassifier}
        self._committee = None
        self._for_committee = searched
        if unknown:
            names = " and ".join(sorted(kind.__name__ for kind in unknown))
            self._for_committee = (
                f"its members are those of SVC, SpanSVC, SVR and SpanSVR, not of {names}"
            )

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows, and the predictions, which would make a saved search large."""
        state: Any = super().__getstate__()
        if isinstance(state.get("_for_committee"), Searched):
            reason = "the search was saved or copied, and does not have its rows any more"
            state = {**state, "_for_committee": reason}
        return state
