"""Kernel functions and Gram matrices.

The kernels of LibSVM and scikit-learn, with ``gamma`` resolved once: a
:class:`Kernel` is a function of two sets of rows and no longer depends on the data
that determined ``gamma="scale"``.  Results are dense; rows may be sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..algebra.blas import one_blas_thread
from ..common.stopping import check_stop
from ..core.gaussian import to_gaussian

__all__ = [
    "KERNELS",
    "Kernel",
    "common_part",
    "dense",
    "kernel_arguments",
    "kernel_of",
    "resolve_kernel",
    "values_between",
    "whole_matrix",
]

#: Rows of a whole matrix computed at a time.
_TILE_ROWS = 128

#: Number of rows from which it is estimated what kernel values have in common.
_LOOKED_AT = 500

#: Rows converted from inner products to kernel values at a time: few enough to stay in cache.
_BLOCK_ROWS = 32


@dataclass(frozen=True)
class Kernel:
    """A kernel function whose parameters are numbers.

    Everything specific to a named kernel is one entry of the table at the end of this module.

    Attributes
    ----------
    name : str or callable
        One of :data:`KERNELS`, or a function of two sets of rows.
    gamma, degree, coef0 : float, int, float
        As in :class:`sklearn.svm.SVC`; unused ones are kept as given.
    centre : ndarray of shape (d,), optional
        Mean of the training rows; distances are computed relative to it.
    """

    name: str | Callable[[Any, Any], npt.ArrayLike]
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    centre: np.ndarray | None = field(default=None, compare=False, repr=False)

    def __call__(self, X: Any, Y: Any | None = None) -> np.ndarray:
        """Kernel values between the rows of `X` and those of `Y` (by default `X` itself).

        For ``"precomputed"``, `X` already holds the values and is returned unchanged.
        """
        return self._entry.values(self, X, Y)

    def diagonal(self, X: Any) -> np.ndarray:
        """``K(x, x)`` of every row of `X`; not for ``"precomputed"``."""
        return self._entry.diagonal(self, X)

    @property
    def definite(self) -> bool:
        """Whether the kernel is known to be positive semidefinite, whatever the rows."""
        return self._entry.definite(self)

    @property
    def range(self) -> tuple[float, float] | None:
        """Bounds of the kernel over all possible rows, if there are any: (0, 1) for RBF."""
        return self._entry.range

    @property
    def parameters(self) -> tuple[str, ...]:
        """Which of degree, gamma and coef0 the kernel depends on."""
        return self._entry.parameters

    @property
    def linear(self) -> bool:
        """Whether kernel values are plain inner products of rows."""
        return self.name == "linear"

    @property
    def precomputed(self) -> bool:
        """Whether rows are rows of kernel values."""
        return self.name == "precomputed"

    @property
    def libsvm_name(self) -> str | None:
        """Name of the kernel in LIBSVM's files; None if LIBSVM cannot compute it."""
        return self._entry.libsvm_name

    @property
    def _entry(self) -> _Entry:
        return _TABLE[self.name] if isinstance(self.name, str) else _OF_THE_USER


def kernel_arguments(estimator: Any) -> dict[str, Any]:
    """The parameters of an SVC or SpanSVC that determine its kernel, by name."""
    return {name: getattr(estimator, name) for name in ("kernel", "gamma", "degree", "coef0")}


def kernel_of(estimator: Any, X: Any) -> Kernel:
    """The kernel that an SVC or SpanSVC uses when it is fitted on `X`.

    See Also
    --------
    resolve_kernel : The same from the parameters themselves.
    """
    return resolve_kernel(X=X, **kernel_arguments(estimator))


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

    See Also
    --------
    kernel_of : The kernel of an estimator.
    """
    if not callable(kernel) and kernel not in KERNELS:
        raise ValueError(
            f"kernel must be one of {', '.join(KERNELS)} or a callable; got {kernel!r}."
        )
    if not isinstance(degree, Integral) or degree < 0:
        raise ValueError(f"degree must be a non-negative integer; got {degree!r}.")
    if not (isinstance(coef0, Real) and np.isfinite(float(coef0))):
        raise ValueError(f"coef0 must be a finite number; got {coef0!r}.")
    result = Kernel(kernel, degree=int(degree), coef0=float(coef0))
    if "gamma" in result.parameters:
        result = replace(result, gamma=_resolve_gamma(gamma, X))
    if result._entry.of_distances and not sparse.issparse(X):
        result = replace(result, centre=np.asarray(X, dtype=np.float64).mean(axis=0))
    return result


def whole_matrix(kernel: Kernel, X: Any, dtype: type) -> np.ndarray:
    """All kernel values, in blocks of rows, on as many threads as BLAS would use.

    Each block is computed on one thread, so results do not depend on the number of threads.
    """
    n = X.shape[0]
    values = np.empty((n, n), dtype=dtype)

    def fill(start: int) -> None:
        rows = slice(start, start + _TILE_ROWS)
        block = kernel(X[rows], X[start:])
        values[rows, start:] = block
        for other in range(start, n, _TILE_ROWS):  # the mirror image, in tiles that fit the cache
            tile = block[:, other - start : other - start + _TILE_ROWS]
            values[other : other + _TILE_ROWS, rows] = tile.T

    _in_tiles(kernel, n, fill)
    np.fill_diagonal(values, kernel.diagonal(X))
    return values


def values_between(kernel: Kernel, X: Any, Y: Any) -> np.ndarray:
    """Kernel values of all rows of `X` with those of `Y`, computed as :func:`whole_matrix` does.

    A call of BLAS on several threads leaves them waiting for the next one, at full speed.
    """
    values = np.empty((X.shape[0], Y.shape[0]))

    def fill(start: int) -> None:
        rows = slice(start, start + _TILE_ROWS)
        values[rows] = kernel(X[rows], Y)

    _in_tiles(kernel, X.shape[0], fill)
    return values


def _in_tiles(kernel: Kernel, n: int, fill: Callable[[int], None]) -> None:
    """Call `fill` with the first row of every tile, on as many threads as BLAS would use."""
    starts = range(0, n, _TILE_ROWS)
    # A function of the user need not be safe to call from several threads.
    workers = 1 if callable(kernel.name) else min(one_blas_thread.usual(), len(starts))
    with one_blas_thread:
        if workers == 1:
            for start in starts:
                check_stop()
                fill(start)
        else:
            with ThreadPoolExecutor(workers) as pool:
                for _ in pool.map(fill, starts):
                    check_stop()


def common_part(kernel: Kernel, X: Any) -> float:
    """The largest ``K(x, x)``, in units of the mean squared distance of the points from their mean.

    From up to 500 of the rows.  Where it is large, kernel values are nearly equal: what they have
    in common cancels in a machine, and their digits with it.  Infinite if all points are the same.
    """
    some = X[np.unique(np.linspace(0, X.shape[0] - 1, _LOOKED_AT).astype(np.intp))]
    values = kernel(some)
    diagonal = values.diagonal()
    apart = float(diagonal.mean() - values.mean())
    return float(np.abs(diagonal).max()) / apart if apart > 0.0 else np.inf


def _check_symmetric(K: np.ndarray) -> None:
    """Raise ValueError unless a matrix given by the user is square and symmetric."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"The kernel matrix must be square; its shape is {K.shape}.")
    # Without a copy of the matrix.
    scale = max(float(K.max(initial=0)), -float(K.min(initial=0)))
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
            # As in scikit-learn for constant features, so that models are the same.
            return 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0
    elif isinstance(gamma, Real) and gamma >= 0 and np.isfinite(gamma):
        return float(gamma)
    raise ValueError(f"gamma must be 'scale', 'auto' or a non-negative number; got {gamma!r}.")


def _power(base: np.ndarray, exponent: int) -> np.ndarray:
    """``base ** exponent`` by squaring: many times faster than NumPy for integer exponents."""
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


# The kernels ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Entry:
    """The definition of a kernel.

    Attributes
    ----------
    values : callable
        Kernel values from the kernel, `X` and `Y` (None for `X` with itself).
    diagonal : callable
        ``K(x, x)`` from the kernel and `X`.
    parameters : tuple of str
        Which of degree, gamma and coef0 it depends on, in the order used in LIBSVM's files.
    definite : callable
        Whether it is positive semidefinite with these parameters, whatever the rows.
    range : tuple of float, optional
        Bounds of its values over all possible rows.
    of_distances : bool
        Whether values depend only on differences of rows.
    libsvm_name : str, optional
        Its name in LIBSVM's files.
    """

    values: Callable[[Kernel, Any, Any | None], np.ndarray]
    diagonal: Callable[[Kernel, Any], np.ndarray]
    parameters: tuple[str, ...] = ()
    definite: Callable[[Kernel], bool] = lambda kernel: False
    range: tuple[float, float] | None = None
    of_distances: bool = False
    libsvm_name: str | None = None


def _given(kernel: Kernel, X: Any, Y: Any | None) -> np.ndarray:
    """Values given by the user: `X` itself, or the result of the user's function."""
    if callable(kernel.name):
        values = dense(kernel.name(X, X if Y is None else Y))
        ends = values.min(initial=0), values.max(initial=0)  # NaN if there is one
        if not np.isfinite(ends).all():
            raise ValueError("kernel must return finite numbers; it returned NaN or infinity.")
    else:
        values = dense(X)
    if Y is None:
        _check_symmetric(values)
    return values


def _diagonal_row_by_row(kernel: Kernel, X: Any) -> np.ndarray:
    parts = [kernel(X[i : i + 1], X[i : i + 1]) for i in range(X.shape[0])]
    return np.concatenate(parts).ravel().astype(np.float64)


def _no_diagonal(kernel: Kernel, X: Any) -> np.ndarray:
    raise ValueError(f"The kernel {kernel.name!r} is not a function of rows: it has no diagonal.")


def _linear(kernel: Kernel, X: Any, Y: Any | None) -> np.ndarray:
    return _inner_products(X, X if Y is None else Y)


def _gaussian(kernel: Kernel, X: Any, Y: Any | None) -> np.ndarray:
    if kernel.centre is not None:
        # Distances do not depend on the origin; with one near the data, digits do not cancel.
        X = dense(X) - kernel.centre
        Y = None if Y is None else dense(Y) - kernel.centre
    values = _linear(kernel, X, Y)
    left = _squared_norms(X)
    right = left if Y is None else _squared_norms(Y)
    to_gaussian(values, left, right, float(kernel.gamma))
    if Y is None:
        np.fill_diagonal(values, 1.0)
    return values


def _of_inner_products(
    function: Callable[[Kernel, np.ndarray], np.ndarray], **others: Any
) -> _Entry:
    """The entry of a kernel ``function(gamma x'y + coef0)``; the function may work in place."""

    def values(kernel: Kernel, X: Any, Y: Any | None) -> np.ndarray:
        result = _linear(kernel, X, Y)
        for start in range(0, result.shape[0], _BLOCK_ROWS):
            block = result[start : start + _BLOCK_ROWS]
            block *= kernel.gamma
            block += kernel.coef0
            block[:] = function(kernel, block)
        return result

    def diagonal(kernel: Kernel, X: Any) -> np.ndarray:
        return function(kernel, kernel.gamma * _squared_norms(X) + kernel.coef0)

    return _Entry(values, diagonal, **others)


#: One entry per named kernel: to add a kernel, add it here and nowhere else.
_TABLE = {
    "linear": _Entry(
        values=_linear,
        diagonal=lambda kernel, X: _squared_norms(X),
        definite=lambda kernel: True,
        libsvm_name="linear",
    ),
    "poly": _of_inner_products(
        lambda kernel, products: _power(products, kernel.degree),
        parameters=("degree", "gamma", "coef0"),
        definite=lambda kernel: kernel.coef0 >= 0,
        libsvm_name="polynomial",
    ),
    "rbf": _Entry(
        values=_gaussian,
        diagonal=lambda kernel, X: np.ones(X.shape[0]),
        parameters=("gamma",),
        definite=lambda kernel: True,
        range=(0.0, 1.0),
        of_distances=True,
        libsvm_name="rbf",
    ),
    "sigmoid": _of_inner_products(
        lambda kernel, products: np.tanh(products, out=products),
        parameters=("gamma", "coef0"),
        libsvm_name="sigmoid",
    ),
    "precomputed": _Entry(values=_given, diagonal=_no_diagonal),
}

_OF_THE_USER = _Entry(values=_given, diagonal=_diagonal_row_by_row)

#: The named kernels.
KERNELS = tuple(_TABLE)
