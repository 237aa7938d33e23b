"""Searches and machines for ONNX, by skl2onnx."""

from __future__ import annotations

from .onnx_parser import register_with_onnx
from .randomized import SpanRandomizedSearch
from .spansearch import SpanSearch

__all__ = ["register_onnx"]


def register_onnx() -> None:
    """Make ``skl2onnx.to_onnx`` convert fitted searches, :class:`SpanSVC` and :class:`SpanSVR`.

    A search is converted as the model that it selected; a machine as the SVC or SVR that it is
    equivalent to.  A search does this by itself if skl2onnx has been imported when it is fitted:
    call it in a program that loads a model instead.
    """
    register_with_onnx(SpanSearch, SpanRandomizedSearch)
