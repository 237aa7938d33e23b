"""A trained :class:`~spansvm.SpanSVC` as a fitted :class:`sklearn.svm.SVC`.

LibSVM predicts in double precision from support vectors, multipliers and intercepts, whoever found
them: the solution of our solver takes the place of LibSVM's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.svm import SVC

from ..common.pairs import class_pairs
from ..common.types import Array
from ..common.validation import is_bool
from ..kernels.expansion import Expansion
from ..multiclass.calibration import PairSigmoids
from ..multiclass.machines import Machines, TrainedMachines

if TYPE_CHECKING:
    from .svc import SpanSVC

__all__ = ["arranged", "as_svc", "keeps_vectors", "linear_weights", "put_solution"]


def arranged(machines: Machines) -> tuple[np.ndarray, Any, Array]:
    """``n_support_``, ``dual_coef_`` and ``intercept_``, in LibSVM's layout with SVC's signs."""
    n_classes = machines.n_classes
    own = machines.indices[machines.support]
    sign = 1.0 if n_classes == 2 else -1.0
    coefficients = np.zeros((n_classes - 1, own.size))
    for column, (first, second) in enumerate(class_pairs(n_classes)):
        values = sign * machines.coefficients[:, column]
        coefficients[second - 1, own == first] = values[own == first]
        coefficients[first, own == second] = values[own == second]
    n_support = np.bincount(own, minlength=n_classes).astype(np.int32)
    if sparse.issparse(machines.vectors) and keeps_vectors(machines.kernel.name):
        # Zeros are stored explicitly, as in SVC: LibSVM reads only the data array.
        height, width = coefficients.shape
        columns, starts = np.tile(np.arange(width), height), width * np.arange(height + 1)
        form, parts = type(machines.vectors), (coefficients.ravel(), columns, starts)
        return n_support, form(parts, shape=(height, width)), sign * machines.intercepts
    return n_support, coefficients, sign * machines.intercepts


def linear_weights(machines: Expansion, sign: float = 1.0) -> Any:
    """``coef_`` of machines with a linear kernel; read-only, as it is not what predicts."""
    vectors, coefficients = machines.vectors, sign * machines.coefficients.T
    if sparse.issparse(vectors):
        weights = type(vectors)(type(vectors)(coefficients) @ vectors)
        weights.data.flags.writeable = False
        return weights
    weights = np.asarray(coefficients @ vectors)
    weights.flags.writeable = False
    return weights


def as_svc(model: SpanSVC) -> SVC:
    """A fitted SVC that predicts like a fitted SpanSVC; see :meth:`~spansvm.SpanSVC.to_svc`."""
    machines = model.machines_
    kernel, n_classes = machines.kernel, len(model.classes_)
    if callable(kernel.name) and not isinstance(machines, TrainedMachines):
        raise ValueError(
            "With a callable kernel an SVC needs all training rows, and a saved model keeps none: "
            "fit it again."
        )
    # A fit on one row per class, only to create every attribute that SVC sets in ``fit``, whatever
    # the version of scikit-learn.
    rows: Any = np.eye(n_classes)
    if keeps_vectors(kernel.name):
        rows = np.zeros((n_classes, model.shape_fit_[1]))
        if sparse.issparse(model.support_vectors_):
            rows = sparse.csr_matrix(rows)
    svc = SVC(kernel="precomputed" if callable(kernel.name) else kernel.name)
    svc.fit(rows, model.classes_)
    own = model.get_params(deep=False)
    if not _wants_probabilities(model):
        del own["probability"]  # its default is not the same in all versions of scikit-learn
    svc.set_params(**{name: own[name] for name in own.keys() & svc.get_params().keys()})
    svc.class_weight_, svc.shape_fit_ = model.class_weight_, model.shape_fit_
    svc.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        svc.feature_names_in_ = model.feature_names_in_
    svc._gamma = kernel.gamma if keeps_vectors(kernel.name) else 0.0
    if callable(kernel.name):
        svc._BaseLibSVM__Xfit = machines.X  # type: ignore[attr-defined]
    put_solution(svc, machines, lambda: model.left_out_.calibration)
    svc.n_iter_ = svc._num_iter = model.n_iter_.copy()
    svc.fit_status_ = model.fit_status_
    return svc


def put_solution(
    svc: SVC, machines: Machines, calibration: Callable[[], PairSigmoids] | None = None
) -> None:
    """Put the solution of the machines into an SVC that was fitted on the same rows.

    An SVC with probabilities gets those of `calibration`, fitted on leave-one-out values: LibSVM's
    belong to the decision values that are replaced.
    """
    support = machines.support
    if keeps_vectors(svc.kernel):
        # SVC does not count rows of zero weight, except where these indices select kernel values
        # (where SVC itself selects the wrong ones).
        support = (np.cumsum(machines.bounds > 0) - 1)[support]
        vectors = machines.vectors
        svc.support_vectors_ = type(svc.support_vectors_)(vectors) if svc._sparse else vectors
    svc.support_ = support.astype(np.int32)
    svc._n_support, coefficients, svc.intercept_ = arranged(machines)
    svc.dual_coef_ = type(svc.dual_coef_)(coefficients) if svc._sparse else coefficients
    sign = -1.0 if machines.n_classes == 2 else 1.0
    svc._dual_coef_, svc._intercept_ = sign * svc.dual_coef_, sign * svc.intercept_
    if _wants_probabilities(svc) and calibration is not None:
        # P(first class) = 1 / (1 + exp(A f + B)), where f is positive for the first.
        sigmoids = calibration().sigmoids
        svc._probA = np.array([-sigmoid.slope for sigmoid in sigmoids])
        svc._probB = np.array([sigmoid.offset for sigmoid in sigmoids])
        svc._effective_probability = True  # read by scikit-learn 1.9 and 1.10


def _wants_probabilities(model: SVC | SpanSVC) -> bool:
    return is_bool(model.probability) and bool(model.probability)


def keeps_vectors(kernel: Any) -> bool:
    """Whether SVC keeps the support vectors; if not, it uses indices of training rows."""
    return isinstance(kernel, str) and kernel != "precomputed"
