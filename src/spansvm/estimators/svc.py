"""SpanSVC: the weighted SVM as a scikit-learn classifier with leave-one-out predictions."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..common.listing import ListsProperties
from ..common.memory import parse_budget
from ..common.pairs import labels, shaped
from ..common.types import Array, Rows
from ..common.validation import check_groups, check_parameters, check_rest, rows_of
from ..kernels.functions import kernel_of
from ..kernels.pair_grams import Grams
from ..machine.dual import advice_on_stops, warn_indefinite
from ..multiclass.group_left_out import groups_left_out, sets_of
from ..multiclass.hard_margin import train_without_bounds
from ..multiclass.left_out import LeftOutClasses
from ..multiclass.machines import Machines, PairPaths, TrainedMachines
from ..multiclass.verified import verified_left_out
from .as_svc import arranged, as_svc, keeps_vectors, linear_weights
from .conformal import PredictsSets
from .svc_parameters import CONSTRAINTS
from .training_rows import TrainingRows, check_ties
from .weighting import Weighting, weigh

__all__ = ["SpanSVC"]


class SpanSVC(ListsProperties, ClassifierMixin, TrainingRows, PredictsSets, BaseEstimator):
    """Weighted support vector classifier with leave-one-out predictions.

    Solves the same problem as :class:`sklearn.svm.SVC`, with the same parameters and fitted
    attributes but its own solver.  From the span it also predicts the decision value that each
    training instance would have had if the model had never seen it.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors against the margin.  Multiplied by the class weight, the
        weighting and the sample weight of an instance, it gives the bound ``C_i``.  With
        ``C=inf`` the classes must be separable, and weights other than 0 have no effect.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
    degree : int, default=3
    gamma : {"scale", "auto"} or float, default="scale"
    coef0 : float, default=0.0
    class_weight : dict or "balanced", optional
        Balanced weights are those of all rows, also where one of them is left out.
    weighting : Weighting, optional
        :class:`~spansvm.ClassWeighting`, :class:`~spansvm.SigmoidWeighting`, or your own.
    tol : float, default=1e-3
        Largest violation of the KKT conditions.
    max_iter : int, default=-1
        Maximum number of solver iterations per pair of classes; -1 for the solver's own
        limit, which is generous.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
    break_ties : bool, default=False
    gram_budget : float or str, optional
        Memory for the Gram matrix of the training rows, in bytes or as a string such as "4 GiB";
        by default half of the available memory.  A matrix that does not fit is stored in single
        precision; if that does not fit either, or if rows far from the origin would leave too few
        digits, it is computed in parts as needed.  Parts of up to 8 MB are allowed whatever the
        budget.  Linear kernels with many more rows than features need no matrix.  What else takes
        memory is not counted: a copy of the rows, a matrix of the in-bound vectors, and with more
        than two classes the matrices of the pairs, up to twice as much as that of all rows.
    shrinking, probability, cache_size, verbose, random_state
        Accepted so that programs for SVC run unchanged, with SVC's values and defaults, and without
        effect on the model.  The solver has no shrinking and is deterministic; there always are
        probabilities; `gram_budget` limits the memory; training prints nothing.  Only
        ``to_svc`` reads `probability`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_SV,)
        Rows of the support vectors, class by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
    n_support_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray or sparse matrix of shape (n_classes - 1, n_SV)
        Signed multipliers, in LibSVM's layout; sparse if the training rows are.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
    coef_ : ndarray or sparse matrix of shape (n_pairs, n_features)
        Weights of the features; only for the linear kernel, and sparse if the training rows are.
        Read-only.
    class_weight_ : ndarray of shape (n_classes,)
    n_iter_ : ndarray of shape (n_pairs,)
    fit_status_ : int
        0 if all pairs converged, else 1; with ``C=inf`` 1 also if some pair is not separated.
    shape_fit_ : tuple of int
    loo_error_, loo_decision_function_, loo_predict_, loo_predict_proba_, loo_margin_, loo_ranking_
        Predicted by the span; computed on first access.  If the model was fitted with `groups`,
        each row is left out together with its group.  Too optimistic at the end of a pipeline
        whose earlier steps look at the labels (feature selection): these have seen that of the
        row that is left out, and the model cannot know.
    left_out_ : LeftOutClasses
        The left-out training rows, from which the attributes above are computed.
    left_out_sets_ : list of ndarray, or None
        The rows of the groups that are left out together; None if single rows are.
    machines_ : Machines
        The binary machines, one per pair of classes.
    certificate_ : Certificate
        How far the model is from the solution (KKT conditions, duality gap), and how many left-out
        values are exact; computed on first access.

    See Also
    --------
    sklearn.svm.SVC : The same model, trained by LibSVM.
    spansvm.SpanSearch : Choose hyperparameters by leave-one-out estimates.
    spansvm.analyze : All estimates and bounds for a fitted model.
    spansvm.exact_loo : Exact leave-one-out decision values.

    Notes
    -----
    The model keeps a copy of its training data, from which the leave-one-out values and the
    probabilities are computed on first use.

    The solution is that of SVC if the kernel is positive semidefinite; for other kernels (sigmoid)
    both find a stationary point, not always the same one.  With ``C=inf`` SVC may not end on
    classes that cannot be separated; here a ConvergenceWarning says so.  The other differences:

    - ``support_`` indexes all rows, even if some have zero weight, and negative weights are an
      error; SVC takes them for 0.
    - ``support_vectors_`` is also filled for callable kernels, whose rows must be numeric.
    - A model trained on dense rows predicts sparse ones, and a Gram matrix may be sparse.
    - ``predict_proba`` is always available, and with two classes agrees with ``predict``; with
      more the most probable class may be another, as in SVC.
    - ``max_iter`` and ``n_iter_`` count the steps of another solver.

    The leave-one-out values are predicted by the span.  Where the predicted class could be wrong,
    and for ranking where the value is doubtful, the removal of the row is followed exactly: the
    errors that are counted are those of exact leave-one-out.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import minmax_scale
    >>> from spansvm import SpanSVC
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SpanSVC(C=10).fit(minmax_scale(X), y)
    >>> round(model.loo_error_, 4)
    0.0225
    """

    def __init__(
        self,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        *,
        class_weight: dict | str | None = None,
        weighting: Weighting | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        gram_budget: float | str | None = None,
        shrinking: bool = True,
        probability: bool | str = False,
        cache_size: float = 200,
        verbose: bool | int = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.weighting = weighting
        self.tol = tol
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.gram_budget = gram_budget
        self.shrinking = shrinking
        self.probability = probability
        self.cache_size = cache_size
        self.verbose = verbose
        self.random_state = random_state

    # Training -------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
    ) -> SpanSVC:
        """Train on all pairs of classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (l, d), or of shape (l, l) if precomputed
        y : array-like of shape (l,)
        sample_weight : array-like of shape (l,), optional
            Factors that multiply ``C``, at least 0; 0 leaves the instance out.
        scores : array-like of shape (l,), optional
            Importance scores in [0, 1] for the weighting.
        groups : array-like of shape (l,), optional
            The group of every row.  The model is the same; its leave-one-out values
            (``loo_error_``, ...) then leave out whole groups.

        Returns
        -------
        SpanSVC
            The fitted model.
        """
        self._check_values()
        sets = None
        # A copy: the leave-one-out values are computed later, and the caller may change X.
        X, labels = rows_of(self, X, y=y, copy=True)
        check_classification_targets(labels)
        if groups is not None:
            sets = sets_of(check_groups(groups, labels.size))
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"With kernel='precomputed', X must be a square matrix; its shape is {X.shape}."
            )
        classes, indices = np.unique(labels, return_inverse=True)
        weighed, hard, separated = self, np.isinf(self.C), True
        if hard:
            weighed = copy(self)
            weighed.C = 1.0
        class_weight, bounds = weigh(weighed, labels, sample_weight, scores)
        kernel = kernel_of(self, X)
        grams = Grams(kernel, X, indices, self.gram_budget)
        paths = PairPaths(grams)
        if hard:
            bounds, found, separated = train_without_bounds(
                paths, (bounds > 0).astype(float), tol=self.tol, max_iter=self.max_iter
            )
        else:
            found = paths.train(bounds, tol=self.tol, max_iter=self.max_iter)
        machines = TrainedMachines(X, grams.pair_rows, kernel, bounds, found, self.gram_budget)
        if found.indefinite:
            warn_indefinite(stacklevel=2)
        self.classes_, self.class_weight_ = classes, class_weight
        self._store(machines)
        self.leave_out(sets)
        if not separated:  # of which there was a warning
            self.fit_status_ = 1
        elif self.fit_status_:
            worst = machines.found.gap
            warnings.warn(
                f"The solver stopped early (max_iter={self.max_iter}) with the KKT conditions "
                f"violated by {worst:.2g}. {advice_on_stops(worst)}",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid for any training data, or for predicting."""
        self._check_values()
        check_ties(self.break_ties, self.decision_function_shape)

    def _check_values(self) -> None:
        check_parameters(self, CONSTRAINTS)
        if self.gram_budget is not None:
            parse_budget(self.gram_budget)

    def _store(self, machines: TrainedMachines) -> None:
        """Set the fitted attributes, in LibSVM's layout."""
        self.machines_: Machines = machines
        self.support_, self.support_vectors_ = machines.support, machines.vectors
        self.n_support_, self.dual_coef_, self.intercept_ = arranged(machines)
        self.n_iter_ = machines.found.iterations.astype(np.int32)
        self.fit_status_ = int(not machines.found.converged)
        self.shape_fit_ = machines.X.shape

    def hold(self, machines: TrainedMachines, classes: np.ndarray, class_weight: Array) -> SpanSVC:
        """Take machines that were trained elsewhere as its own, as if by ``fit``."""
        self.classes_, self.class_weight_ = classes, class_weight
        self.n_features_in_ = int(machines.X.shape[1])
        self._store(machines)
        self.leave_out(None)
        return self

    def leave_out(self, sets: list[Rows] | None) -> None:
        """Let the leave-one-out values leave out sets of rows that make up all; None for single."""
        machines = self.machines_
        assert isinstance(machines, TrainedMachines)
        if sets is not None:
            check_rest(machines.bounds > 0, sets)
        self.__dict__.pop("_certificate", None)  # that of other machines or sets
        self.left_out_: LeftOutClasses = (
            verified_left_out(machines) if sets is None else groups_left_out(machines, sets)
        )
        self.left_out_sets_ = sets

    # Prediction -----------------------------------------------------------------------

    def _pair_values(self, X: Any) -> Array:
        """Decision value of every pair, positive for its second class."""
        check_is_fitted(self)
        return self.machines_.decide(rows_of(self, X, reset=False))

    def decision_function(self, X: Any) -> Array:
        """Decision values, in the form of :meth:`sklearn.svm.SVC.decision_function`.

        Returns
        -------
        ndarray
            For two classes of shape (n,), positive for ``classes_[1]``; otherwise of shape
            (n, n_classes), or (n, n_pairs) if ``decision_function_shape="ovo"``.
        """
        values = self._pair_values(X)
        return shaped(values, len(self.classes_), self.decision_function_shape)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class that wins the most pairs."""
        check_is_fitted(self)
        check_ties(self.break_ties, self.decision_function_shape)
        return labels(self._pair_values(X), self.classes_, self.break_ties)

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, calibrated on the leave-one-out decision values.

        One sigmoid per pair of classes is fitted to the decision values that the span predicts
        for the left-out training instances: no folds and no further training.  With more than
        two classes, the pairwise probabilities are coupled.

        With two classes the most probable class always is the predicted one: where the sigmoid
        contradicts the decision, the probability is moved to just beyond 1/2.  With unequal
        weights that can be many rows; see ``predict_calibrated_proba``.

        With more classes it may be another, as in SVC: ``predict`` counts the pairs that a class
        wins, probabilities take account of how surely it wins them.  Neither is always better.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Columns in the order of ``classes_``.
        """
        values = self._pair_values(X)
        return self.left_out_.calibration(values)

    def predict_calibrated_proba(self, X: Any) -> Array:
        """Class probabilities as the sigmoids give them, whatever ``predict`` says.

        For two classes of unequal weight these are the honest ones: such a model predicts the
        heavier class also where the other is more probable.  For more than two classes they are
        those of ``predict_proba``.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Columns in the order of ``classes_``.
        """
        values = self._pair_values(X)
        return self.left_out_.calibration.calibrated(values)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))

    # Other forms of the model ---------------------------------------------------------

    def to_svc(self) -> SVC:
        """The same model as a fitted :class:`sklearn.svm.SVC`, for tools that require one.

        LibSVM then predicts from the support vectors, multipliers and intercepts found here.  It
        would not always find them itself: it trains on kernel values in single precision, too
        coarse for a very large `C` with a tiny `gamma`.

        Returns
        -------
        SVC
            With the parameters that the two estimators share.  `weighting` is not one of them: the
            solution includes it, but another ``fit`` would not.  It has probabilities if
            ``probability=True``: LibSVM computes them from the sigmoids fitted here, so that they
            are those of ``predict_calibrated_proba``, to within the 0.005 at which LibSVM stops.
        """
        check_is_fitted(self)
        return as_svc(self)

    def without_training_rows(self) -> SpanSVC:
        """A copy to save: it predicts and has the leave-one-out values, without the training rows.

        It keeps the support vectors.  :func:`~spansvm.analyze` needs the original model.
        """
        check_is_fitted(self)
        result = copy(self)
        result.__dict__.pop("_certificate", None)
        with self.machines_.holding_grams():
            result.left_out_ = self.left_out_.stored()
        if isinstance(self.machines_, TrainedMachines):
            result.machines_ = self.machines_.without_rows()
        return result

    # scikit-learn ---------------------------------------------------------------------

    @property
    def coef_(self) -> Any:
        """Weights of the features, for the linear kernel; read-only."""
        check_is_fitted(self)
        if not self.machines_.kernel.linear:
            raise AttributeError("coef_ is only available for kernel='linear'.")
        return linear_weights(self.machines_, 1.0 if len(self.classes_) == 2 else -1.0)

    @property
    def _gamma(self) -> float:
        """What `gamma` stood for, under the name that programs read it from in SVC."""
        check_is_fitted(self)
        kernel = self.machines_.kernel
        return kernel.gamma if keeps_vectors(kernel.name) else 0.0

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A model saved before a parameter existed has its default.  Searches copy many models.
        super().__setstate__({**vars(SpanSVC()), **state})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "machines_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed" and not callable(self.kernel)
        return tags
