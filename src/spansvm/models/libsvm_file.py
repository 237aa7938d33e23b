"""Models and rows as LIBSVM's text files, for ``svm-predict``.

LIBSVM knows nothing about the steps before the SVM, so it needs transformed rows:
``save_libsvm_data(path, transformed(model, X))``.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR
from sklearn.utils.validation import check_is_fitted

from ..errors import UserError
from ..estimators.svc import SpanSVC
from ..estimators.svr import SpanSVR
from ..kernels.functions import Kernel
from ..search.committee.base import BaseCommittee

__all__ = ["libsvm_labels", "libsvm_reason", "save_libsvm", "save_libsvm_data", "transformed"]

#: LIBSVM reads labels as C's int.
_LARGEST_LABEL = 2**31 - 1


def libsvm_reason(model: Any) -> str | None:
    """Why a fitted model cannot be written for LIBSVM; None if it can."""
    svm = _last_step(model)
    if not isinstance(svm, (SVC, SpanSVC, SVR, SpanSVR)):
        return f"a {type(svm).__name__} is not a support vector machine"
    if callable(svm.kernel):
        return "LIBSVM does not support user-defined kernels"
    if Kernel(svm.kernel).libsvm_name is None:
        return f"LIBSVM needs rows, which a model with kernel '{svm.kernel}' does not have"
    if isinstance(svm, (SVC, SpanSVC)) and svm.break_ties and len(svm.classes_) > 2:
        return "LIBSVM does not break ties between classes by their decision values"
    return None


def libsvm_labels(classes: npt.ArrayLike) -> list[int]:
    """The integers that represent the classes in LIBSVM's files.

    Integers represent themselves; other classes are numbered from 0, in order.
    """
    known = np.asarray(classes)
    if known.dtype.kind in "iu" and np.abs(known).max() <= _LARGEST_LABEL:
        return [int(label) for label in known]
    return list(range(known.size))


def transformed(model: Any, X: Any) -> Any:
    """The rows as the last step of a pipeline receives them; UserError for a committee."""
    if isinstance(model, BaseCommittee):
        raise UserError(
            "A committee has several models, and no LIBSVM model; use model.skops, or leave out "
            "--libsvm."
        )
    return model[:-1].transform(X) if isinstance(model, Pipeline) else X


def save_libsvm(path: str | Path, model: Any) -> None:
    """Write a model's SVM as a LIBSVM model file.

    Parameters
    ----------
    path : str or Path
    model : SpanSVC, SVC, SpanSVR, SVR or Pipeline that ends in one
        Fitted.  UserError if :func:`libsvm_reason` gives a reason.

    See Also
    --------
    spansvm.models.save_libsvm_data : Writes rows for it to predict.
    spansvm.models.save_model : Saves the whole model, with its transformers.
    """
    reason = libsvm_reason(model)
    if reason is not None:
        raise UserError(
            f"The model cannot be written for LIBSVM: {reason}; use save_model instead."
        )
    svm = _last_step(model)
    check_is_fitted(svm)
    kernel = Kernel(svm.kernel, svm._gamma, svm.degree, svm.coef0)
    head, sign = _of_regressor(svm) if isinstance(svm, (SVR, SpanSVR)) else _of_classifier(svm)
    lines = [
        f"svm_type {head.pop('svm_type')}",
        f"kernel_type {kernel.libsvm_name}",
        *(f"{name} {getattr(kernel, name):.17g}" for name in kernel.parameters),
        *(f"{name} {value}" for name, value in head.items()),
        "SV",
    ]
    coefficients = sign * np.asarray(
        svm.dual_coef_.toarray() if sparse.issparse(svm.dual_coef_) else svm.dual_coef_
    )
    with Path(path).open("w", encoding="ascii", newline="\n") as stream:
        stream.write("\n".join(lines) + "\n")
        _write_rows(stream, [_numbers(column) for column in coefficients.T], svm.support_vectors_)


def _of_classifier(svm: SVC | SpanSVC) -> tuple[dict[str, Any], float]:
    """What the file says of a classifier, and the sign of its coefficients."""
    # For two classes scikit-learn flips the sign; LIBSVM's values are positive for the first class.
    sign = -1.0 if len(svm.classes_) == 2 else 1.0
    return {
        "svm_type": "c_svc",
        "nr_class": len(svm.classes_),
        "total_sv": svm.support_.size,
        "rho": _numbers(-sign * svm.intercept_),
        "label": " ".join(str(label) for label in libsvm_labels(svm.classes_)),
        "nr_sv": " ".join(str(count) for count in svm.n_support_),
    }, sign


def _of_regressor(svm: SVR | SpanSVR) -> tuple[dict[str, Any], float]:
    """What the file says of a regression, which has no labels."""
    return {
        "svm_type": "epsilon_svr",
        "nr_class": 2,  # LIBSVM's own number for one machine
        "total_sv": svm.support_.size,
        "rho": _numbers(-svm.intercept_),
    }, 1.0


def save_libsvm_data(
    path: str | Path, X: Any, y: npt.ArrayLike | None = None, *, classes: npt.ArrayLike | None = ()
) -> None:
    """Write rows as a LIBSVM file.

    Parameters
    ----------
    path : str or Path
    X : array-like or sparse matrix of shape (n, d)
        As returned by :func:`transformed`.
    y : array-like of shape (n,), optional
        Labels, or targets of a regression; 0 in all rows if not given.
    classes : array-like, optional
        ``classes_`` of the model, by which :func:`libsvm_labels` numbers the labels; None for a
        regression.

    See Also
    --------
    spansvm.models.save_libsvm : Writes the model.
    spansvm.models.transformed : The rows after a pipeline's transformers.
    """
    labels = ["0"] * X.shape[0]
    if y is not None and classes is None:
        labels = [f"{value:.17g}" for value in np.asarray(y, dtype=np.float64)]
    elif y is not None:
        assert classes is not None
        numbers = dict(zip(np.asarray(classes).tolist(), libsvm_labels(classes), strict=True))
        unknown = set(np.asarray(y).tolist()) - set(numbers)
        if unknown:
            raise UserError(
                f"The label {unknown.pop()} is not one of the model's classes; use "
                f"{', '.join(map(str, numbers))}."
            )
        labels = [str(numbers[label]) for label in np.asarray(y).tolist()]
    with Path(path).open("w", encoding="ascii", newline="\n") as stream:
        _write_rows(stream, labels, X)


def _write_rows(stream: IO[str], starts: list[str], X: Any) -> None:
    rows = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    for i, start in enumerate(starts):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        entries = zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True)
        features = " ".join(f"{index + 1}:{value:.17g}" for index, value in entries)
        # LIBSVM needs the blank even if there are no features.
        stream.write(f"{start} {features}\n")


def _numbers(values: np.ndarray) -> str:
    return " ".join(f"{value:.17g}" for value in values)


def _last_step(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model
