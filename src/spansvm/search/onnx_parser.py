"""Searches and machines as skl2onnx converts them: by the model of scikit-learn that they are.

skl2onnx finds out how to convert a model by its class, in a table of its own.  Nothing here imports
skl2onnx, unless it is asked to.
"""

from __future__ import annotations

import sys
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..estimators.svc import SpanSVC
from ..estimators.svr import SpanSVR

__all__ = ["register_with_onnx", "tell_onnx"]

_MACHINES = (SpanSVC, SpanSVR)


def register_with_onnx(*classes: type) -> None:
    """Make skl2onnx convert searches of these classes, and our machines."""
    from skl2onnx import update_registered_parser

    for known in (*classes, *_MACHINES):
        update_registered_parser(known, _parse)


def tell_onnx(search: Any) -> None:
    """The same for the class of a search, where a program uses skl2onnx."""
    if "skl2onnx" in sys.modules:
        register_with_onnx(type(search))


def _as_in_scikit_learn(model: Any) -> Any:
    """What a search selected, or the equivalent of a machine."""
    if isinstance(model, SpanSVC):
        return model.to_svc()
    if isinstance(model, SpanSVR):
        return model.to_svr()
    check_is_fitted(model, "best_estimator_")
    return model.best_estimator_


# The names of its arguments are checked.
def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """The outputs of a converted model; the scope learns how it is computed."""
    from skl2onnx._parse import parse_sklearn

    # A step of a pipeline may be given options by its name, and skl2onnx keeps them by its number.
    own = _as_in_scikit_learn(model)
    options = (scope.options or {}).get(id(model))
    if options:
        scope.add_options(id(own), options)
    return parse_sklearn(scope, own, inputs, custom_parsers=custom_parsers)
