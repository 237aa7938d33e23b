"""Kernel functions and Gram matrices.

The kernels of LibSVM and scikit-learn, with ``gamma`` resolved once: a
:class:`Kernel` is a function of two sets of rows and no longer depends on the data
from which ``gamma="scale"`` was read.  Results are dense; rows may be sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

__all__ = ["KERNELS", "Kernel", "dense", "resolve_kernel"]

#: The kernels that have a name.
KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")

#: Rows that are turned from inner products into kernel values at a time: they stay in cache.
_BLOCK_ROWS = 32


@dataclass(frozen=True)
class Kernel:
    """A kernel function whose parameters are numbers.

    Attributes
    ----------
    name : str or callable
        One of :data:`KERNELS`, or a function of two sets of rows.
    gamma, degree, coef0 : float, int, float
        As in :class:`sklearn.svm.SVC`; unused ones are kept as given.
    centre : ndarray of shape (d,), optional
        Where the training rows lie; distances are computed from there.
    """

    name: str | Callable[[Any, Any], npt.ArrayLike]
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    centre: np.ndarray | None = field(default=None, compare=False, repr=False)

    def __call__(self, X: Any, Y: Any | None = None) -> np.ndarray:
        """Kernel values between the rows of `X` and those of `Y` (of `X`, if not given).

        For ``"precomputed"``, `X` holds the values already and is returned as it is.
        """
        if not isinstance(self.name, str) or self.name == "precomputed":
            given = X if isinstance(self.name, str) else self.name(X, X if Y is None else Y)
            values = dense(given)
            if Y is None:
                _check_symmetric(values)
            return values
        if self.name == "rbf" and self.centre is not None:
            # Distances do not depend on the origin; near the data they do not cancel.
            X = dense(X) - self.centre
            Y = None if Y is None else dense(Y) - self.centre
        Z = X if Y is None else Y
        values = _inner_products(X, Z)
        if self.name == "linear":
            return values
        if self.name == "rbf":
            left = _squared_norms(X)
            right = left if Y is None else _squared_norms(Z)
        for start in range(0, values.shape[0], _BLOCK_ROWS):
            block = values[start : start + _BLOCK_ROWS]
            if self.name == "rbf":
                block *= 2.0
                block -= left[start : start + _BLOCK_ROWS, None] + right
                np.minimum(block, 0.0, out=block)
                block *= self.gamma
                np.exp(block, out=block)
            else:
                block *= self.gamma
                block += self.coef0
                if self.name == "poly":
                    block[:] = _power(block, self.degree)
                else:
                    np.tanh(block, out=block)
        if self.name == "rbf" and Y is None:
            np.fill_diagonal(values, 1.0)
        return values

    def diagonal(self, X: Any) -> np.ndarray:
        """``K(x, x)`` of every row of `X`; not for ``"precomputed"``."""
        if self.name == "rbf":
            return np.ones(X.shape[0])
        if not isinstance(self.name, str):
            parts = [self(X[i : i + 1], X[i : i + 1]) for i in range(X.shape[0])]
            return np.concatenate(parts).ravel().astype(np.float64)
        values = _squared_norms(X)
        if self.name == "linear":
            return values
        values = self.gamma * values + self.coef0
        return _power(values, self.degree) if self.name == "poly" else np.tanh(values)

    @property
    def definite(self) -> bool:
        """Whether the kernel is known to be positive semidefinite, whatever the rows."""
        return self.name in ("linear", "rbf") or (self.name == "poly" and self.coef0 >= 0)

    @property
    def range(self) -> tuple[float, float] | None:
        """Bounds of the kernel over all possible rows, where there are any: (0, 1) for RBF."""
        return (0.0, 1.0) if self.name == "rbf" else None


def resolve_kernel(
    kernel: str | Callable[[Any, Any], npt.ArrayLike],
    X: Any,
    *,
    gamma: str | float = "scale",
    degree: int = 3,
    coef0: float = 0.0,
) -> Kernel:
    """The kernel that ``SVC(kernel, gamma=gamma, degree=degree, coef0=coef0)`` uses on `X`.

    Parameters
    ----------
    kernel : str or callable
        One of :data:`KERNELS`, or a function of two sets of rows.
    X : array-like or sparse matrix of shape (l, d)
        Training rows; ``gamma="scale"`` is ``1 / (d * X.var())``, ``"auto"`` is ``1 / d``.
    gamma : {"scale", "auto"} or float, default="scale"
    degree : int, default=3
    coef0 : float, default=0.0
    """
    if not callable(kernel) and kernel not in KERNELS:
        raise ValueError(
            f"kernel must be one of {', '.join(KERNELS)} or a callable; got {kernel!r}."
        )
    if not isinstance(degree, Integral) or degree < 0:
        raise ValueError(f"degree must be a whole number of at least 0; got {degree!r}.")
    if not np.isfinite(coef0):
        raise ValueError(f"coef0 must be a finite number; got {coef0!r}.")
    number = 1.0
    if kernel in ("rbf", "poly", "sigmoid"):
        number = _resolve_gamma(gamma, X)
    centre = None
    if kernel == "rbf" and not sparse.issparse(X):
        centre = np.asarray(X, dtype=np.float64).mean(axis=0)
    return Kernel(kernel, gamma=number, degree=int(degree), coef0=float(coef0), centre=centre)


def _check_symmetric(K: np.ndarray) -> None:
    """ValueError unless a matrix that somebody else computed is a Gram matrix."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"The kernel matrix must be square; its shape is {K.shape}.")
    scale = np.abs(K).max(initial=0.0)
    for start in range(0, K.shape[0], _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        if not np.allclose(K[rows], K[:, rows].T, rtol=0.0, atol=1e-6 * scale):
            raise ValueError("The kernel matrix must be symmetric: K(a, b) = K(b, a).")


def _resolve_gamma(gamma: str | float, X: Any) -> float:
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1.0 / X.shape[1]
        if gamma == "scale":
            variance = _squares(X).mean() - X.mean() ** 2 if sparse.issparse(X) else X.var()
            # scikit-learn's answer for constant features, so that models stay the same.
            return 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0
    elif isinstance(gamma, Real) and gamma >= 0 and np.isfinite(gamma):
        return float(gamma)
    raise ValueError(f"gamma must be 'scale', 'auto' or a number of at least 0; got {gamma!r}.")


def _power(base: np.ndarray, exponent: int) -> np.ndarray:
    """``base ** exponent`` by squaring: many times faster than NumPy's for whole exponents."""
    result = np.ones_like(base)
    square = base
    while exponent:
        if exponent & 1:
            result *= square
        exponent >>= 1
        if exponent:
            square = square * square
    return result


def dense(X: Any) -> np.ndarray:
    """`X` as an array, whether it is sparse or not."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def _squares(X: Any) -> Any:
    return X.multiply(X)


def _inner_products(X: Any, Y: Any) -> np.ndarray:
    if sparse.issparse(X) or sparse.issparse(Y):
        return np.ascontiguousarray(dense(X @ Y.T), dtype=np.float64)
    return np.asarray(X, dtype=np.float64) @ np.asarray(Y, dtype=np.float64).T


def _squared_norms(X: Any) -> np.ndarray:
    if sparse.issparse(X):
        return np.asarray(_squares(X).sum(axis=1), dtype=np.float64).ravel()
    X = np.asarray(X, dtype=np.float64)
    return np.einsum("ij,ij->i", X, X)
