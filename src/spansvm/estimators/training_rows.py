"""What a fitted :class:`~spansvm.SpanSVC` says of its training rows: left out, and in its dual."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.types import Array
from ..machine.certificate import Certificate, certify, summed
from ..machine.criteria import SolvedModel
from ..multiclass.left_out import LeftOutClasses
from ..multiclass.machines import Machines, TrainedMachines
from ..multiclass.verified import VerifiedValues

__all__ = ["NO_ROWS", "TrainingRows", "check_ties"]

#: What a model without its training rows says of an attribute that needs them.
NO_ROWS = "A saved model keeps no training rows, so it has no {}: fit it again."


def check_ties(break_ties: bool, decision_function_shape: str) -> None:
    """ValueError if ties are to be broken by values that are not those of classes."""
    if break_ties and decision_function_shape == "ovo":
        raise ValueError("break_ties must be False when decision_function_shape is 'ovo'.")


class TrainingRows:
    """Leave-one-out predictions and errors, computed on first access, and the dual solutions.

    What is left out, single rows or whole groups, is in ``left_out_``.
    """

    classes_: np.ndarray
    left_out_: LeftOutClasses
    machines_: Machines
    break_ties: bool
    decision_function_shape: str

    @property
    def loo_decision_function_(self) -> Array:
        """What ``decision_function`` would return for each row, had it been left out.

        Predicted by the span; where the prediction is doubtful, the removal is followed exactly.
        """
        check_is_fitted(self)
        return self.left_out_.decision_function(self.decision_function_shape)

    @property
    def loo_ranking_(self) -> Array:
        """Leave-one-out values that are comparable between rows; two classes only.

        Ranking scores are computed from these.  Each value comes from a different model; the
        shift that leaving out the row causes in all other values is subtracted.
        """
        check_is_fitted(self)
        if len(self.classes_) != 2:
            raise AttributeError("loo_ranking_ is defined for two classes only.")
        return self.left_out_.values.comparable[:, 0]

    @property
    def loo_predict_(self) -> np.ndarray:
        """What ``predict`` would return for each row, had it been left out."""
        check_is_fitted(self)
        check_ties(self.break_ties, self.decision_function_shape)
        return self.left_out_.labels(self.classes_, self.break_ties)

    @property
    def loo_predict_proba_(self) -> Array:
        """What ``predict_proba`` would return for each row, had it been left out; by the span.

        Out-of-sample probabilities of all training rows, as tools that look for wrong labels or
        stack models expect them.  The values of the left-out rows are those of
        ``loo_ranking_``; the sigmoids that turn them into probabilities are fitted once, on all
        rows.  With two classes the most probable class is the one in ``loo_predict_``; with more it
        may be another (see ``predict_proba``).  Rows of
        zero weight, which the model has not seen, have the probabilities of ``predict_proba``.
        """
        check_is_fitted(self)
        return self.left_out_.probabilities

    @property
    def training_labels_(self) -> np.ndarray:
        """The labels of the training rows."""
        check_is_fitted(self)
        return self.classes_[self.machines_.indices]

    @property
    def loo_margin_(self) -> Array:
        """How far each row, had it been left out, would lie on the side of its own label.

        With two classes ``y_p f^p(x_p)``; with more, the smallest such value over the pairs that
        contain its class.  Where it is negative, the other rows contradict the label: ``argsort``
        lists the most suspicious labels first.  NaN for rows of zero weight.
        """
        check_is_fitted(self)
        return self.left_out_.margin

    @property
    def loo_error_(self) -> float:
        """The leave-one-out error.

        Instances of zero weight are not counted.
        """
        check_is_fitted(self)
        check_ties(self.break_ties, self.decision_function_shape)
        return self.left_out_.error(self.break_ties)

    @property
    def certificate_(self) -> Certificate:
        """How far the model is from the solution, and how many left-out values are exact.

        Computed from the multipliers and the Gram matrix, on first access.
        """
        check_is_fitted(self)
        return self._certificate

    @cached_property
    def _certificate(self) -> Certificate:
        machines, values = self.machines_, self.left_out_.values
        if not isinstance(machines, TrainedMachines):
            raise AttributeError(NO_ROWS.format("certificate_"))
        with machines.holding_grams():
            models = machines.models()
            counts = values.counts if isinstance(values, VerifiedValues) else [None] * len(models)
            pairs = zip(models, counts, strict=True)
            return summed([certify(model.gram, model.solution, counts=own) for model, own in pairs])

    def solved_model(self) -> SolvedModel:
        """The dual solution with its Gram matrix, from which estimates follow; two classes only."""
        check_is_fitted(self)
        if len(self.classes_) != 2:
            raise ValueError(
                f"The model has {len(self.classes_)} classes; the span is defined for two."
            )
        return self.solved_models()[0]

    def solved_models(self) -> list[SolvedModel]:
        """The dual solution of every pair of classes, with its Gram matrix."""
        check_is_fitted(self)
        if not isinstance(self.machines_, TrainedMachines):
            raise ValueError(
                "A saved model keeps no training rows, so its Gram matrix cannot be computed: "
                "fit it again."
            )
        return self.machines_.models()
