"""Fitted models as skops files: no pickle, and only types known to be harmless are loaded.

``skops.io.load`` reads the file as the fitted model.  One more member, which it ignores,
``spansvm.json``, holds what else the caller knows of the model, and which command made it.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from sklearn.pipeline import Pipeline

from .. import __version__
from ..errors import UserError, require
from ..estimators.svc import SpanSVC
from ..estimators.svr import SpanSVR
from ..search.committee import Committee, RegressionCommittee
from .archive import add_member, without_addresses

__all__ = [
    "MOST_FOLLOWED",
    "TRUSTED",
    "SavedModel",
    "load_model",
    "save_model",
    "without_training_rows",
]

#: Types that a file may hold besides those that skops itself trusts: types of this package, and
#: plain data of numpy, scipy and scikit-learn.
TRUSTED = (
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    # In every ColumnTransformer of scikit-learn 1.6.
    "sklearn.compose._column_transformer._RemainderColsList",
    "spansvm.multiclass.calibration.PairSigmoids",
    "spansvm.multiclass.calibration.Sigmoid",
    "spansvm.kernels.functions.Kernel",
    "spansvm.multiclass.left_out.LeftOutClasses",
    "spansvm.multiclass.left_out.StoredValues",
    "spansvm.multiclass.machines.Machines",
    "spansvm.estimators.svc.SpanSVC",
    "spansvm.estimators.svr.SpanSVR",
    "spansvm.estimators.weighting.ClassWeighting",
    "spansvm.estimators.weighting.SigmoidWeighting",
    "spansvm.regression.intervals.Jackknife",
    "spansvm.regression.left_out.LeftOutTargets",
    "spansvm.regression.machines.RegressionMachines",
    "spansvm.search.committee.classifier.Committee",
    "spansvm.search.committee.members.Members",
    "spansvm.search.committee.members.SharedExpansion",
    "spansvm.search.committee.regressor.RegressionCommittee",
    "spansvm.search.scoring.corrected.Correction",
)

_MEMBER = "spansvm.json"

#: A regression of more rows is saved without the functions without single rows.
MOST_FOLLOWED = 2000

#: What zipfile, json and skops raise for damaged files.
_DAMAGES = (
    AttributeError,
    BadZipFile,
    EOFError,
    ImportError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    zlib.error,
)


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A saved model.

    Attributes
    ----------
    model : estimator
        Fitted, with predictions, probabilities or intervals, and leave-one-out values, but no
        training rows except support vectors (and those that intervals need).
    metadata : dict
        What :func:`save_model` was given besides the model; empty if that was nothing.
    version : str
        The version of spansvm that saved it.
    command : str
        The command that made it.
    """

    model: Any
    metadata: dict[str, Any]
    version: str
    command: str


def save_model(
    path: str | Path,
    model: Any,
    *,
    metadata: Mapping[str, Any] | None = None,
    command: str = "",
) -> None:
    """Save a fitted model.

    Parameters
    ----------
    path : str or Path
    model : SpanSVC, SVC, SpanSVR, SVR, Pipeline that ends in one, or Committee of them
    metadata : dict, optional
        What else is to be known of it, by name: whatever JSON can hold.
    command : str
        The command that made it.

    Notes
    -----
    Equal models give equal bytes: the file holds no times.

    See Also
    --------
    spansvm.models.load_model : Loads it again.
    spansvm.models.save_libsvm : Saves the SVM alone for LIBSVM's own programs.
    """
    skops = require("skops.io", "models")
    content = skops.dumps(without_training_rows(model), compression=ZIP_DEFLATED)
    unknown = sorted(set(skops.get_untrusted_types(data=content)) - set(TRUSTED))
    if unknown:
        raise UserError(
            f"The model cannot be saved because it holds a {unknown[0]}; use kernels, weightings "
            "and steps from spansvm and scikit-learn."
        )
    about = {
        "metadata": dict(metadata or {}),
        "version": __version__,
        "command": command,
    }
    buffer = io.BytesIO(without_addresses(content))
    with ZipFile(buffer, "a", compression=ZIP_DEFLATED) as archive:
        add_member(archive, _MEMBER, json.dumps(about, indent=1))
    Path(path).write_bytes(buffer.getvalue())


def load_model(path: str | Path) -> SavedModel:
    """Load a model saved by :func:`save_model`; UserError for anything else.

    See Also
    --------
    spansvm.models.save_model : Saves a fitted model.
    """
    skops = require("skops.io", "models")
    path = Path(path)
    if not path.is_file():
        raise UserError(f"There is no file {path}; give a model.skops written by spansvm tune.")
    content = path.read_bytes()
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            about = json.loads(archive.read(_MEMBER))
        unknown = sorted(set(skops.get_untrusted_types(data=content)) - set(TRUSTED))
        model = None if unknown else skops.loads(content, trusted=list(TRUSTED))
        saved = SavedModel(model, _metadata(about), about["version"], about["command"])
    except _DAMAGES as error:
        raise UserError(
            f"{path} is damaged or not a spansvm model; give a model.skops written by spansvm tune."
        ) from error
    if unknown:
        raise UserError(
            f"{path} holds a {unknown[0]}, which could run arbitrary code, and is not loaded; use "
            "only models saved by spansvm."
        )
    if not hasattr(saved.model, "predict"):
        raise UserError(
            f"{path} holds a {type(saved.model).__name__}, which cannot predict; give a "
            "model.skops written by spansvm tune."
        )
    return saved


def _metadata(about: dict[str, Any]) -> dict[str, Any]:
    """What the caller of :func:`save_model` knew; in files of 0.2.0 that is the schema alone."""
    if "metadata" in about:
        return dict(about["metadata"])
    return {} if about["schema"] is None else {"schema": about["schema"]}


def without_training_rows(model: Any) -> Any:
    """The model as it is saved: without its training rows, if they are known.

    With more than 2000 of them, left-out values of a regression are those that the span predicts,
    and its prediction intervals have the same width everywhere: all functions without single rows
    would take minutes, and hundreds of megabytes.
    """
    if isinstance(model, SpanSVR):
        return model.without_training_rows(exact=model.shape_fit_[0] <= MOST_FOLLOWED)
    if isinstance(model, SpanSVC):
        return model.without_training_rows()
    if isinstance(model, (Committee, RegressionCommittee)):
        result = copy(model)
        result.search = None  # which has been searched
        return result
    if isinstance(model, Pipeline):
        result = copy(model)
        name, last = model.steps[-1]
        result.steps = [*model.steps[:-1], (name, without_training_rows(last))]
        return result
    return model
