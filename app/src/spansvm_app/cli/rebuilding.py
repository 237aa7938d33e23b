"""The Python code with which the report's program reads the file of ``spansvm tune``."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from ..tables import Table
from .grids import STEP
from .request import TuneRequest

__all__ = ["code_of_arguments", "code_of_reading"]


def code_of_reading(request: TuneRequest) -> str:
    """Code that defines `table`, `X` and `y` as the command read them."""
    arguments = [repr(request.data)]
    names = ["read_table"]
    for keyword, value in (("options", request.file), ("roles", request.roles)):
        given = _given(value)
        if given:
            names.append(type(value).__name__)
            arguments.append(f"{keyword}={type(value).__name__}({', '.join(given)})")
    one_line = f"table = read_table({', '.join(arguments)})"
    if len(one_line) > 88:
        one_line = "table = read_table(\n    " + ",\n    ".join(arguments) + ",\n)"
    if request.labels is not None:
        names.append("correct_labels")
        one_line += f"\ntable = correct_labels(table, {request.labels!r})"
    imported = f"from spansvm_app.tables import {', '.join(sorted(names))}"
    return f"{imported}\n\n{one_line}\nX, y = table.X, table.y"


def code_of_arguments(table: Table) -> dict[str, str]:
    """Code of the arguments that ``fit`` needs besides `X` and `y`, by name."""
    columns = {"sample_weight": "weights", "scores": "scores"}
    return {
        f"{STEP}__{name}": f"table.{column}"
        for name, column in columns.items()
        if getattr(table, column) is not None
    }


def _given(value: Any) -> list[str]:
    """The fields of a dataclass that differ from their defaults, as code."""
    given = []
    for field in fields(value):
        own = getattr(value, field.name)
        own = tuple(own) if isinstance(own, list) else own
        default = field.default
        if default is MISSING and field.default_factory is not MISSING:
            default = field.default_factory()
        if own != default:
            given.append(f"{field.name}={own!r}")
    return given
