"""Scores of predictions of several labels per row, by the scorers of the search."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...multiclass.several_labels import LeftOutLabels
from ..scoring.bootstrap_scores import BootstrapScores
from ..scoring.column_scores import column_score, is_indicator, lacks_a_label
from ..scoring.kept import Keeping, Kept, keep_errors, keep_values
from ..scoring.label_scores import accuracy, count_score
from ..scoring.quickest_scores import Sample, asked_by, quickest_scores
from ..scoring.responses import LeftOutIndicators, LeftOutOutputs
from .scored import Scoring
from .trained import Trained

__all__ = ["LabelScoring"]


class LabelScoring(Scoring):
    """Scores predictions of several labels; by default, a row is right if all its labels are."""

    def _responses(self, left_out: LeftOutLabels, trained: Trained) -> Any:
        problems = trained.problems
        kind = LeftOutOutputs if isinstance(problems.classes, list) else LeftOutIndicators
        return kind(
            left_out, problems.classes, trained.machine, trained.fitted, agrees=trained.agrees
        )

    def _keep(self, result: dict[str, Any], name: str, classifier: Any, sample: Sample) -> None:
        keeping = self._work.keeping
        if isinstance(keeping, Keeping) and name == keeping.scorer:
            result["kept"] = _kept(classifier.asked, sample, keeping)

    def _quick(
        self, scorer: Any, params: Mapping[str, Any], classifier: Any, sample: Sample
    ) -> BootstrapScores | None:
        """The score of a scorer without calling it; None if it is not known how.

        A score that scikit-learn would warn of, or refuse, is left to scikit-learn.
        """
        if asked_by(scorer) != "predict" or not is_indicator(self._y):
            return None
        if count_score(scorer, np.empty(0)) is not accuracy and column_score(scorer) is None:
            return None
        predicted = classifier.predict(sample.points)
        if lacks_a_label(scorer, sample.labels, predicted):
            return None
        return self._drawn(scorer, params, classifier, sample, "")

    def _drawn(
        self, scorer: Any, params: Mapping[str, Any], classifier: Any, sample: Sample, name: str
    ) -> BootstrapScores:
        errors = set(params) <= {"sample_weight"} and count_score(scorer, np.empty(0)) is accuracy
        keeping = Keeping(name, errors, sys.maxsize, np.float64)
        kept = _kept(classifier.asked, sample, keeping)
        return quickest_scores(scorer, params, [kept], sample, name, classifier._fitted)


def _kept(asked: Mapping[str, Any], sample: Sample, keeping: Keeping) -> Kept | None:
    """What a scorer asked of the classifier; None if that takes too much memory."""
    if keeping.only_errors:
        return keep_errors((asked["predict"] != sample.labels).any(axis=1), keeping)
    # Of each of several labels the probability that a row has it.
    values = {
        method: np.column_stack([own[:, -1] for own in value]) if isinstance(value, list) else value
        for method, value in asked.items()
    }
    return keep_values(values, keeping)
