"""Searches and machines for ONNX, by skl2onnx."""

from __future__ import annotations

from .automatic.svccv import SVCCV
from .automatic.svrcv import SVRCV
from .onnx_parser import register_with_onnx
from .randomized import SpanRandomizedSearch
from .spansearch import SpanSearch

__all__ = ["register_onnx"]


def register_onnx() -> None:
    """Make ``skl2onnx.to_onnx`` convert fitted searches, and our classifiers and regressors.

    A search, SVCCV or SVRCV is converted as the model that it selected; SpanSVC or SpanSVR as the
    SVC or SVR that it is equivalent to.  A search does this by itself if skl2onnx has been imported
    when it is fitted; in a program that loads a model, call this function.
    """
    register_with_onnx(SpanSearch, SpanRandomizedSearch, SVCCV, SVRCV)
