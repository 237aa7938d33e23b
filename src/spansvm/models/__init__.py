"""Fitted models as files: skops for this package, LIBSVM's text format for ``svm-predict``."""

from .intervals import interval_of
from .libsvm_file import libsvm_labels, libsvm_reason, save_libsvm, save_libsvm_data, transformed
from .skops_file import (
    MOST_FOLLOWED,
    TRUSTED,
    SavedModel,
    load_model,
    save_model,
    without_training_rows,
)

__all__ = [
    "MOST_FOLLOWED",
    "TRUSTED",
    "SavedModel",
    "interval_of",
    "libsvm_labels",
    "libsvm_reason",
    "load_model",
    "save_libsvm",
    "save_libsvm_data",
    "save_model",
    "transformed",
    "without_training_rows",
]
