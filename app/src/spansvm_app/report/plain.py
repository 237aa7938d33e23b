"""Values of any kind as plain data for JSON, and as text for a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["MINUS", "cut", "fixed", "number", "percent", "plain", "points", "signed", "words"]

MINUS, _NONE = "\N{MINUS SIGN}", "\N{EN DASH}"

#: Longer text from the data is cut to fit into a table.
_LONGEST_TEXT = 80


def plain(value: Any) -> Any:
    """The value as JSON can hold it: NaN and infinity become None, other objects their text."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    return str(value)


def cut(value: Any, longest: int = _LONGEST_TEXT) -> str:
    """Text from the data on one line, short enough for a table."""
    text = " ".join(str(value).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def number(value: float | None, digits: int = 4) -> str:
    """A number to `digits` significant digits, with a true minus sign; a dash if there is none."""
    if value is None or not math.isfinite(value):
        return _NONE
    value += 0.0  # no minus before 0
    text = f"{value:.0f}" if 10**digits <= abs(value) < 10**9 else f"{value:.{digits}g}"
    return text.replace("-", MINUS)


def fixed(value: float, decimals: int = 2) -> str:
    """A number with so many decimals, such as a score of about 1."""
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0.0 else text.replace("-", MINUS)


def percent(share: float | None) -> str:
    """A share as a percentage with one decimal, two if it is tiny; a dash if there is none.

    Examples
    --------
    >>> from spansvm_app.report.plain import percent
    >>> percent(0.123), percent(0.00047), percent(0.0)
    ('12.3%', '0.05%', '0.0%')
    """
    if share is None or not math.isfinite(share):
        return _NONE
    # The end of an interval above 0 must not look like certainty.
    tiny = 0.00005 < share < 0.0005
    return f"{100 * share:.2f}%" if tiny else f"{100 * share:.1f}%"


def signed(value: float, decimals: int = 3) -> str:
    """A difference with its sign."""
    text = f"{value:+.{decimals}f}"
    return text.lstrip("+-") if float(text) == 0.0 else text.replace("-", MINUS)


def points(share: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return signed(100 * share, 1)


def words(value: Any) -> str:
    """A value for a reader: numbers rounded, everything else as its text."""
    if isinstance(value, Real) and not isinstance(value, (bool, np.bool_)):
        return number(float(value))
    return cut(value)
