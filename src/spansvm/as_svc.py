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

from ._typing import Array
from .calibration import PairSigmoids
from .machines import Machines, TrainedMachines
from .pairs import class_pairs

if TYPE_CHECKING:
    from .svc import SpanSVC

__all__ = ["arranged", "as_svc", "keeps_vectors", "put_solution"]


def arranged(machines: Machines) -> tuple[np.ndarray, Array, Array]:
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
    return n_support, coefficients, sign * machines.intercepts


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
    svc.set_params(**{name: own[name] for name in own.keys() & svc.get_params().keys()})
    svc.class_weight_, svc.shape_fit_ = model.class_weight_, model.shape_fit_
    svc.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        svc.feature_names_in_ = model.feature_names_in_
    svc._gamma = kernel.gamma if keeps_vectors(kernel.name) else 0.0
    if callable(kernel.name):
        svc._BaseLibSVM__Xfit = machines.X  # type: ignore[attr-defined]
    put_solution(svc, machines)
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
    if svc._sparse:
        # Zeros are stored explicitly: LibSVM reads only the data array.
        height, width = coefficients.shape
        columns, starts = np.tile(np.arange(width), height), width * np.arange(height + 1)
        form, parts = type(svc.dual_coef_), (coefficients.ravel(), columns, starts)
        svc.dual_coef_ = form(parts, shape=(height, width))
    else:
        svc.dual_coef_ = coefficients
    sign = -1.0 if machines.n_classes == 2 else 1.0
    svc._dual_coef_, svc._intercept_ = sign * svc.dual_coef_, sign * svc.intercept_
    if svc._probA.size and calibration is not None:
        # P(first class) = 1 / (1 + exp(A f + B)), where f is positive for the first.
        sigmoids = calibration().sigmoids
        svc._probA = np.array([-sigmoid.slope for sigmoid in sigmoids])
        svc._probB = np.array([sigmoid.offset for sigmoid in sigmoids])


def keeps_vectors(kernel: Any) -> bool:
    """Whether SVC keeps the support vectors; if not, it uses indices of training rows."""
    return isinstance(kernel, str) and kernel != "precomputed"
