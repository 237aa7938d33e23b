"""Steps of a pipeline that look at the labels: leave-one-out cannot evaluate them.

Without folds the steps of a pipeline are fitted once, on all rows.  That is harmless for steps that
look at the features only.  One that looks at the labels, such as a selection of features, has seen
the label of the row that is left out.  Signatures do not tell, as every ``fit`` takes ``y``.  So a
step is fitted twice, with the labels and with permuted ones, and what it makes of the rows is
compared.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .building import content_key, step_settings
from .composite import Parts, fit_transformers, is_absent, resamples
from .fit_arguments import FitParams, take_rows

__all__ = ["BLIND", "LabelStep", "by_folds", "find_label_step", "may_look"]

#: Transformers of scikit-learn that are known not to look at the labels, and need no trial.
#: A test tries them all.
BLIND = frozenset(
    (
        "AdditiveChi2Sampler", "Binarizer", "CountVectorizer", "DictVectorizer", "FactorAnalysis",
        "FastICA", "FeatureHasher", "FunctionTransformer", "GaussianRandomProjection",
        "HashingVectorizer", "IncrementalPCA", "KBinsDiscretizer", "KNNImputer", "KernelCenterer",
        "KernelPCA", "MaxAbsScaler", "MinMaxScaler", "MissingIndicator", "NMF", "Normalizer",
        "Nystroem", "OneHotEncoder", "OrdinalEncoder", "PCA", "PolynomialCountSketch",
        "PolynomialFeatures", "PowerTransformer", "QuantileTransformer", "RBFSampler",
        "RobustScaler", "SimpleImputer", "SkewedChi2Sampler", "SparseRandomProjection",
        "SplineTransformer", "StandardScaler", "TfidfTransformer", "TfidfVectorizer",
        "TruncatedSVD", "VarianceThreshold",
    )
)  # fmt: skip

#: Attributes of the classes of scikit-learn that fit several transformers, with these in them.
_COMPOSITES = {
    "Pipeline": "steps",
    "FeatureUnion": "transformer_list",
    "ColumnTransformer": "transformers",
}

#: How many permutations are tried if a step learns something else from each and yet gives the same
#: rows; and how often one is drawn until it does more than rename the classes.
_TRIALS, _DRAWS = 10, 100

#: Values that differ by less than this share of the largest one of their column are equal.
_EQUAL = 1e-6

_LOOKS = (
    "looks at the labels. Fitted once, on all rows, it has seen the label of the row that is left "
    "out, so leave-one-out would be too optimistic"
)
_RESAMPLES = (
    "makes new training rows. Those that stay would depend on the row that is left out, "
    "so leave-one-out would be too optimistic"
)
_RANDOM = (
    "gives other rows each time it is fitted, even with the same labels, so it is not known "
    "whether it looks at them. If it does, leave-one-out is too optimistic. Fix its random numbers "
    "to find out"
)


@dataclass(frozen=True)
class LabelStep:
    """A step that has to be fitted in each fold.

    Attributes
    ----------
    path, kind : str
        Its name in the pipeline, and its class.
    reason : str
        What is wrong with fitting it once; continues a sentence.
    """

    path: str
    kind: str
    reason: str

    def __str__(self) -> str:
        return f"The step {self.path!r} ({self.kind}) {self.reason}."


def by_folds(step: LabelStep, method: str | None, folds: str) -> str:
    """The method of a search with such a step: `folds`, with a warning.

    ValueError if `method` asks for another one by name.
    """
    if method is not None:
        raise ValueError(
            f"{step} method={method!r} fits every step only once: leave method out. Candidates are "
            "then evaluated by folds, and the step is fitted on the training rows of each. "
            "cv=LeaveOneOut() leaves out single rows that way."
        )
    warnings.warn(
        f"{step} All candidates are evaluated by {folds} instead, and the step is fitted on the "
        "training rows of each fold. Pass cv to choose the folds and to silence this warning.",
        UserWarning,
        stacklevel=4,
    )
    return "kfold"


def find_label_step(
    estimator: Any,
    candidates: Sequence[Mapping[str, Any]],
    X: Any,
    y: np.ndarray,
    params: FitParams = FitParams(),  # noqa: B008 - it is frozen
) -> LabelStep | None:
    """The first step, in any setting of the candidates, that has to be fitted in each fold.

    A step that cannot be fitted is not such a step: the search itself will tell the user.

    Parameters
    ----------
    estimator : estimator
    candidates : sequence of dict
    X, y
        All rows.
    params : FitParams
        Arguments of the steps' ``fit``.
    """
    settings = step_settings(estimator, candidates)
    for parts in settings:
        for path, step in (*parts.steps, *parts.inner):
            if resamples(step):
                return LabelStep(path, type(step).__name__, _RESAMPLES)
    tried = set()
    for parts in settings:
        trials = _trials(parts, y, params)
        key = content_key([(trial.path, trial.step) for trial in trials])
        if key not in tried:
            tried.add(key)
            found = _try_in_turn(trials, X)
            if found is not None:
                return found
    return None


def may_look(parts: Parts) -> bool:
    """Whether some step has to be tried to know whether it looks at the labels."""
    return any(_suspects(step) for _, step in (*parts.steps, *parts.inner))


@dataclass(frozen=True)
class _Trial:
    """A step with the labels and the arguments that it would be fitted with."""

    path: str
    step: Any
    y: np.ndarray
    arguments: Mapping[str, Any]

    def fit(self, X: Any, y: np.ndarray) -> tuple[Any, Any]:
        """A copy of the step, fitted with the same random numbers each time, and its rows."""
        X = take_rows(X, np.arange(len(y)))  # a copy: transformers may work in place
        with _same_random_numbers():
            fitted, rows, _ = fit_transformers(
                [(self.path, self.step)], X, y, {self.path: self.arguments}
            )
        return fitted[self.path], rows

    def reason(self, X: Any, fitted: Any, rows: Any) -> str | None:
        """Why the step has to be fitted in each fold, if it has; `fitted` with the true labels."""
        rng = np.random.default_rng(0)
        for _ in range(_TRIALS):
            try:
                other, others = self.fit(X, _permuted(self.y, rng))
            except Exception:  # it accepts the true labels
                return _LOOKS
            if not _same(rows, others):
                return _LOOKS if _same(rows, self.fit(X, self.y)[1]) else _RANDOM
            if content_key(fitted) == content_key(other):
                return None
            # It has learned something else.  That the rows are the same may be chance.
        return None


def _trials(parts: Parts, y: np.ndarray, params: FitParams) -> list[_Trial]:
    """The steps up to the last one that may look at the labels."""
    trials = [_Trial(path, step, y, params.steps.get(path, {})) for path, step in parts.steps]
    if parts.inner:  # within one-vs-rest, steps are fitted for each class; or for each label
        rest = (y == np.unique(y)[-1]).astype(np.intp) if y.ndim == 1 else _most_even(y)
        trials += [_Trial(path, step, rest, {}) for path, step in parts.inner]
    while trials and not _suspects(trials[-1].step):
        trials.pop()
    return trials


def _most_even(y: np.ndarray) -> np.ndarray:
    """The column of labels whose most frequent class has the fewest rows."""
    largest = [np.unique(column, return_counts=True)[1].max() for column in y.T]
    return y[:, int(np.argmin(largest))]


def _try_in_turn(trials: Sequence[_Trial], X: Any) -> LabelStep | None:
    """The first of these steps that has to be fitted in each fold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the search will give them
        for trial in trials:
            try:
                fitted, rows = trial.fit(X, trial.y)
            except Exception:
                return None
            suspects = _suspects(trial.step)
            reason = trial.reason(X, fitted, rows) if suspects else None
            if reason is not None:
                kind, inside = type(trial.step).__name__, [type(own).__name__ for own in suspects]
                if inside != [kind]:
                    kind += f" with {', '.join(dict.fromkeys(inside))}"
                return LabelStep(trial.path, kind, reason)
            X = rows
    return None


def _suspects(step: Any) -> list[Any]:
    """A step if it may look at the labels, or those in it that may."""
    if is_absent(step) or (isinstance(step, str) and step == "drop"):
        return []
    kind = type(step)
    if not kind.__module__.startswith("sklearn."):  # subclasses may do as they like
        return [step]
    if kind.__name__ not in _COMPOSITES:
        return [] if kind.__name__ in BLIND else [step]
    parts = [part[1] for part in getattr(step, _COMPOSITES[kind.__name__])]
    parts.append(getattr(step, "remainder", None))
    return [suspect for part in parts for suspect in _suspects(part)]


def _permuted(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The labels in another order that does more than rename the classes, if there is one."""
    classes, codes = np.unique(y, return_inverse=True)
    if y.ndim > 1:  # rows with the same labels are a class
        columns = codes.reshape(y.shape)
        classes, codes = np.unique(columns, axis=0, return_inverse=True)
        classes, codes = np.arange(len(classes)), codes.reshape(-1)
    for _ in range(_DRAWS):
        order = rng.permutation(len(y))
        if np.unique(codes * classes.size + codes[order]).size > classes.size:
            break
    return y[order]


@contextmanager
def _same_random_numbers() -> Iterator[None]:
    """A context that has the same random numbers next time, and so has the program after it."""
    of_numpy, of_python = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(of_numpy)  # noqa: NPY002
        random.setstate(of_python)


def _same(ours: Any, theirs: Any) -> bool:
    """Whether transformed rows are the same, up to rounding."""
    if sparse.issparse(ours) and sparse.issparse(theirs):
        ours, theirs = (_canonical(matrix) for matrix in (ours, theirs))
        return bool(
            ours.shape == theirs.shape
            and np.array_equal(ours.indptr, theirs.indptr)
            and np.array_equal(ours.indices, theirs.indices)
            and _close(ours.data, theirs.data)
        )
    if not (hasattr(ours, "shape") and hasattr(theirs, "shape")):
        return content_key(ours) == content_key(theirs)
    return (
        ours.shape == theirs.shape
        and list(getattr(ours, "columns", ())) == list(getattr(theirs, "columns", ()))
        and _close(np.asarray(ours), np.asarray(theirs))
    )


def _canonical(matrix: Any) -> Any:
    matrix = sparse.csr_matrix(matrix, copy=True)
    matrix.sum_duplicates()
    return matrix


def _close(ours: np.ndarray, theirs: np.ndarray) -> bool:
    if not {ours.dtype.kind, theirs.dtype.kind} <= set("biufc"):
        return content_key(ours.tolist()) == content_key(theirs.tolist())
    kind = np.result_type(ours, theirs, 1.0)
    ours, theirs = ours.astype(kind), theirs.astype(kind)
    size = np.abs(ours)
    largest = np.max(size, axis=0, initial=0.0, where=np.isfinite(size))
    with np.errstate(invalid="ignore"):  # of infinite values
        near = np.abs(ours - theirs) <= _EQUAL * largest
    return bool((near | (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))).all())
