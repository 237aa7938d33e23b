"""Fitted models as files: skops for this package, LIBSVM's text format for ``svm-predict``."""

from .libsvm_file import libsvm_labels, libsvm_reason, save_libsvm, save_libsvm_data, transformed
from .skops_file import TRUSTED, SavedModel, load_model, save_model

__all__ = [
    "TRUSTED",
    "SavedModel",
    "libsvm_labels",
    "libsvm_reason",
    "load_model",
    "save_libsvm",
    "save_libsvm_data",
    "save_model",
    "transformed",
]
