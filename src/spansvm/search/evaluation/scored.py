"""Scores of a candidate's predictions, by the scorers of the search.

Here is decided what the values of left-out rows are worth to a search: an error, a hinge loss that
breaks ties, and scores.  Whoever trains and leaves out rows does not look at them.
"""

from __future__ import annotations

import pickle
import sys
import traceback
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ...common.types import Array, Mask, Rows
from ...multiclass.left_out import LeftOutClasses
from ..candidates.fit_arguments import has_rows, take_rows
from ..scoring.bootstrap_scores import AnyScorer, BootstrapScores
from ..scoring.kept import Keeping, Kept, keep_errors, keep_responses
from ..scoring.label_scores import only_errors, same_digits, warns
from ..scoring.quickest_scores import Sample, asked_by, quickest_scores
from ..scoring.responses import LeftOutClassifier
from ..scoring.standard_errors import StandardErrors
from .trained import Trained
from .work import Work

__all__ = ["Scoring", "failure"]


def failure(exception: Exception) -> dict[str, Any]:
    """An exception, or a substitute that can be sent between processes, and its description.

    The traceback is dropped: it would keep Gram matrices alive.
    """
    error = f"{type(exception).__name__}: {exception}\n{traceback.format_exc()}"
    exception = exception.with_traceback(None)
    exception.__cause__ = exception.__context__ = None
    try:
        pickle.loads(pickle.dumps(exception))
    except Exception:
        exception = RuntimeError(f"{type(exception).__name__}: {exception}")
    return {"exception": exception, "error": error}


class Scoring:
    """Scores predictions of candidates for some of the rows.

    Parameters
    ----------
    work : Work
    X, y
        All rows and labels.
    counted : ndarray of bool
        Which rows count if all are left out.
    """

    def __init__(self, work: Work, X: Any, y: np.ndarray, counted: Mask) -> None:
        self._work, self._X, self._y, self._counted = work, X, y, counted
        self._sample: Sample | None = None

    @cached_property
    def rows(self) -> Rows:
        """The rows that count if all are left out."""
        return np.flatnonzero(self._counted)

    @cached_property
    def needs_values(self) -> bool:
        """Whether the size of left-out values matters to a scorer, and not only their signs."""
        scorers = (self._work.scorers or {}).values()
        return any(asked_by(scorer) != "predict" for scorer in scorers)

    @cached_property
    def _standard_errors(self) -> StandardErrors:
        """Of scores of these rows, of which rows or groups are left out."""
        units, sets = np.arange(len(self._y)), self._work.leaving.sets
        if sets is not None:
            for number, own in enumerate(sets):
                units[own] = number
        return StandardErrors(np.unique(units[self.rows], return_inverse=True)[1])

    def left_out(
        self, left_out: LeftOutClasses, trained: Trained, criterion: float | None = None
    ) -> dict[str, Any]:
        """Error and hinge loss of all rows that count, and scores with their standard errors.

        If a `criterion` is given, it decides in the place of scores.
        """
        wrong = left_out.wrong(trained.machine.break_ties)[self._counted]
        evaluated: dict[str, Any] = {"loo_error": float(wrong.mean()), "hinge": left_out.hinge}
        if criterion is not None:
            return {**evaluated, "scores": {"score": 1.0 - criterion}}
        if self._work.scorers is not None:
            return {
                **evaluated, **self._scores(left_out, trained, self.rows, self._standard_errors)
            }  # fmt: skip
        return {
            **evaluated,
            "scores": {"score": 1.0 - self._share(wrong, self.rows)},
            "errors": {"score": self._standard_errors.of_share(wrong, self._weight(self.rows))},
            "kept": self._keep_errors(wrong),
        }

    def of_fold(self, left_out: LeftOutClasses, trained: Trained, test: Rows) -> dict[str, Any]:
        """Scores of the test rows of a fold, and their hinge loss."""
        if self._work.scorers is not None:
            return {"hinge": left_out.hinge, **self._scores(left_out, trained, test)}
        right = ~left_out.wrong(trained.machine.break_ties)
        score, kept = self._share(right, test), self._keep_errors(~right)
        return {"hinge": left_out.hinge, "scores": {"score": score}, "kept": kept}

    def of_left_out_fold(
        self, left_out: LeftOutClasses, trained: Trained, test: Rows
    ) -> dict[str, Any]:
        """The same if a model of all rows predicts them, with the error."""
        error = left_out.error(trained.machine.break_ties)
        return {**self.of_fold(left_out, trained, test), "loo_error": error}

    def of_training_rows(
        self, predicted: LeftOutClasses, trained: Trained, rows: Rows
    ) -> dict[str, float]:
        """Scores of rows that the model was trained on; scorers that fail have none."""
        if self._work.scorers is not None:
            found = self._scores(predicted, trained, rows, keeping=False)
            return found["scores"]
        right = ~predicted.wrong(trained.machine.break_ties)[predicted.used]
        return {"score": self._share(right, rows)}

    def _weight(self, rows: Rows) -> Array | None:
        """Weights of some rows in the default score, if there are any."""
        weight = self._work.score_params.get("score", {}).get("sample_weight")
        return None if weight is None else np.asarray(weight)[rows]

    def _share(self, some: Mask, rows: Rows) -> float:
        weight = self._weight(rows)
        return float(some.mean() if weight is None else np.average(some, weights=weight))

    def _keep_errors(self, wrong: Mask) -> Kept | None:
        keeping = self._work.keeping
        return keep_errors(wrong, keeping) if isinstance(keeping, Keeping) else None

    def _scores(
        self,
        left_out: Any,
        trained: Trained,
        rows: Rows,
        standard_errors: StandardErrors | None = None,
        keeping: bool = True,
    ) -> dict[str, Any]:
        """Scores of predictions for some rows; a scorer that fails does not affect the others."""
        responses, n = self._responses(left_out, trained), len(self._y)
        sample = self._sample_of(rows)
        result: dict[str, Any] = {"scores": {}, "errors": {}}
        assert self._work.scorers is not None
        for name, scorer in self._work.scorers.items():
            given = self._work.score_params.get(name, {})
            params = {
                key: take_rows(value, rows) if has_rows(value, n) else value
                for key, value in given.items()
            }
            try:
                classifier = responses.given_to(scorer)
                quick = None
                # In folds, scores have the scorer's own digits.
                if standard_errors is not None or same_digits(scorer, given):
                    quick = self._quick(scorer, given, classifier, sample)
                if quick is not None:
                    once = np.ones((1, rows.size), dtype=np.int32)
                    scores = {name: float(quick(once)[0, 0])}
                else:
                    value = self._called(scorer, params, classifier, sample)
                    scores = value if isinstance(value, dict) else {name: float(value)}
                result["scores"] |= scores
                if keeping:
                    self._keep(result, name, classifier, sample)
                if standard_errors is not None:
                    result["errors"] |= {
                        one: standard_errors.of(
                            quick or self._drawn(scorer, given, classifier, sample, one)
                        )
                        for one in scores
                    }
            except Exception as exception:
                result |= failure(exception)
        return result

    def _called(
        self, scorer: Any, params: Mapping[str, Any], responses: Any, sample: Sample
    ) -> Any:
        """What a scorer returns."""
        return scorer(responses, sample.points, sample.labels, **params)

    def _responses(self, left_out: Any, trained: Trained) -> Any:
        """The predictions as scorers expect them."""
        return LeftOutClassifier(
            left_out, trained.problems.classes, trained.machine, trained.fitted,
            agrees=trained.agrees,
        )  # fmt: skip

    def _keep(
        self, result: dict[str, Any], name: str, classifier: LeftOutClassifier, sample: Sample
    ) -> None:
        """Keep the predictions that a scorer asked for, if candidates are selected by it."""
        keeping = self._work.keeping
        if isinstance(keeping, Keeping) and name == keeping.scorer:
            result["kept"] = keep_responses(
                classifier.asked, sample.labels, sample.classes, keeping
            )

    def _quick(
        self,
        scorer: Any,
        params: Mapping[str, Any],
        classifier: LeftOutClassifier,
        sample: Sample,
    ) -> BootstrapScores | None:
        """The score of a scorer without calling it; None if it is not known how.

        scikit-learn's functions check their arguments for longer than they compute.
        """
        method = asked_by(scorer)
        if method is None:
            return None
        predicted = getattr(classifier, method)(sample.points)
        if sample.lacks_a_class or warns(scorer, predicted, sample.classes.size):
            return None
        scores = self._drawn(scorer, params, classifier, sample, "")
        return None if isinstance(scores, AnyScorer) else scores

    def _drawn(
        self,
        scorer: Any,
        params: Mapping[str, Any],
        classifier: LeftOutClassifier,
        sample: Sample,
        name: str,
    ) -> BootstrapScores:
        """The score that a scorer computes from what it asked for, for any draw of the rows."""
        errors = only_errors(scorer, params, sample.classes)
        keeping = Keeping(name, errors, sys.maxsize, np.float64)
        kept = keep_responses(classifier.asked, sample.labels, sample.classes, keeping)
        return quickest_scores(scorer, params, [kept], sample, name, classifier._fitted)

    def _sample_of(self, rows: Rows) -> Sample:
        """What scores need to know of some rows; candidates have the same, one after the other."""
        if self._sample is None or self._sample.rows is not rows:
            self._sample = Sample(rows, self._y, self._X)
        return self._sample
