"""Scores of the predictions of a regression, by the scorers of the search."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...common.types import Rows
from ...regression.left_out import LeftOutTargets
from ..scoring.bootstrap_scores import BootstrapScores
from ..scoring.kept import Keeping, keep_values
from ..scoring.quickest_scores import Sample, asked_by, quickest_scores
from ..scoring.responses import LeftOutRegressor
from ..scoring.target_scores import own_digits, target_score
from .scored import Scoring
from .trained import Trained

__all__ = ["TargetScoring"]


class TargetScoring(Scoring):
    """Scores predictions of targets; the loss that breaks ties is that of squared residuals."""

    def left_out(
        self, left_out: Any, trained: Trained, criterion: float | None = None
    ) -> dict[str, Any]:
        """Error and loss of all rows that count, and scores with their standard errors."""
        scores = self._scores(left_out, trained, self.rows, self._standard_errors)
        return {"loo_error": left_out.error, "hinge": left_out.loss, **scores}

    def of_fold(self, left_out: Any, trained: Trained, test: Rows) -> dict[str, Any]:
        """Scores of the test rows of a fold, and their loss."""
        return {"hinge": left_out.loss, **self._scores(left_out, trained, test)}

    def of_left_out_fold(self, left_out: Any, trained: Trained, test: Rows) -> dict[str, Any]:
        """The same if a model of all rows predicts them, with the error."""
        return {**self.of_fold(left_out, trained, test), "loo_error": left_out.error}

    def of_training_rows(self, predicted: Any, trained: Trained, rows: Rows) -> dict[str, float]:
        """Scores of rows that the model was trained on; scorers that fail have none."""
        return self._scores(predicted, trained, rows, keeping=False)["scores"]

    def _called(
        self, scorer: Any, params: Mapping[str, Any], responses: Any, sample: Sample
    ) -> Any:
        known = None if params else own_digits(scorer)
        if known is not None and sample.y.ndim == 1:
            value = known(sample.labels, responses.predict(sample.points))
            if value is not None:
                return value
        return super()._called(scorer, params, responses, sample)

    def _responses(self, left_out: LeftOutTargets, trained: Trained) -> LeftOutRegressor:
        return LeftOutRegressor(left_out, trained.fitted)

    def _keep(self, result: dict[str, Any], name: str, regressor: Any, sample: Sample) -> None:
        keeping = self._work.keeping
        if isinstance(keeping, Keeping) and name == keeping.scorer:
            result["kept"] = keep_values(regressor.asked, keeping)

    def _quick(
        self, scorer: Any, params: Mapping[str, Any], regressor: Any, sample: Sample
    ) -> BootstrapScores | None:
        if asked_by(scorer) != "predict" or target_score(scorer) is None or self._y.ndim > 1:
            return None
        regressor.predict(sample.points)
        return self._drawn(scorer, params, regressor, sample, "")

    def _drawn(
        self, scorer: Any, params: Mapping[str, Any], regressor: Any, sample: Sample, name: str
    ) -> BootstrapScores:
        keeping = Keeping(name, False, sys.maxsize, np.float64)
        kept = keep_values(regressor.asked, keeping)
        return quickest_scores(scorer, params, [kept], sample, name, regressor._fitted)
