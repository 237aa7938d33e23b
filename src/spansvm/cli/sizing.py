"""How large a search is made if nothing else is asked: on many rows, a sample or an approximation.

What a search on all rows would take is known from a short trial.  If that is minutes, candidates
are compared on a sample and the selected model is trained on all rows; if even one training takes
minutes, the kernel is approximated as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UserError
from ..search.forecast import Forecast
from ..search.progress import duration
from .expectation import COMPONENTS

__all__ = ["ALL", "Size", "choose_size", "parse_sample", "parse_time"]

#: What ``--sample`` takes to search all rows, however long that takes.
ALL = "all"

#: Seconds that a search may take by default, and its last training; what is chosen takes at most
#: this share of them, as forecasts are rough, and the grid may be widened.
_SEARCH, _TRAINING, _SHARE = 180.0, 600.0, 0.3

#: A search that is stopped halfway still has a coarse grid behind it.
_STOPPED = 2.0

#: Sizes of samples: the largest that is quick enough, or the smallest.
_SAMPLES = (20_000, 10_000, 5000, 3000, 2000)

#: Searches on fewer rows are never that long: no trial is needed to know.
FEW_ROWS = 2000

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|m|min|h)?")
_SECONDS = {None: 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Size:
    """How large a search is.

    Attributes
    ----------
    sample, components : int or None
        As ``--sample`` and ``--components`` take them.
    why : str
        In one sentence, if it was not asked for.
    """

    sample: int | None = None
    components: int | None = None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain data, for a search that is resumed."""
        return {"sample": self.sample, "components": self.components}


def choose_size(
    n_rows: int,
    fewest: int,
    forecast: Callable[[int | None], Forecast | None],
    budget: float | None,
) -> Size:
    """The size of a search on so many rows that ends in minutes, or within the budget.

    Parameters
    ----------
    n_rows, fewest : int
        All rows, and how many a sample must have at least.
    forecast : callable
        What the search on all rows would take, with so many components.
    budget : float, optional
        Seconds.
    """
    whole = forecast(None)
    limit = _SEARCH if budget is None else _STOPPED * budget
    if whole is None or whole.seconds <= limit:
        return Size()
    taken = f"on all {n_rows} rows the search would take about {duration(whole.seconds)}"
    components, told = None, ""
    # One training of a model with the kernel itself, and its Gram matrix.
    if float(np.median(whole.costs)) > _TRAINING:
        other = forecast(COMPONENTS)
        if other is not None and other.seconds < whole.seconds:
            components, whole = COMPONENTS, other
            told = (
                f"the kernel is approximated from {COMPONENTS} rows (--components {COMPONENTS}), "
                "as one training would take minutes without that"
            )
    sample = None
    if whole.seconds > limit:
        fewer = [n for n in _SAMPLES if fewest <= n < n_rows] or [fewest]
        quick = _SHARE * limit
        sample = next((n for n in fewer if whole.seconds_for(n) <= quick), fewer[-1])
        chosen = (
            f"candidates are compared on a sample of {sample} rows (--sample {sample}), in about "
            f"{duration(whole.seconds_for(sample))}, and the selected model is trained on all rows"
        )
        told = f"{told}, and {chosen}" if told else chosen
    why = f"{taken[0].upper()}{taken[1:]}, so {told}. --sample {ALL} searches all rows."
    return Size(sample, components, why)


def parse_sample(text: str | None) -> int | str | None:
    """What ``--sample`` asks for: a number of rows, or all of them."""
    if text is None or text == ALL:
        return text
    try:
        return int(text)
    except ValueError:
        raise UserError(f"--sample must be a number of rows, or {ALL}; got '{text}'.") from None


def parse_time(text: str | None) -> float | None:
    """Seconds from a text such as 90, 90s, 5m or 1.5h."""
    if text is None:
        return None
    match = _TIME.fullmatch(text.strip().lower())
    seconds = 0.0 if match is None else float(match[1]) * _SECONDS[match[2]]
    if not seconds > 0:
        raise UserError(f"--budget must be a time such as 90s, 5m or 1h; got '{text}'.")
    return seconds
